// SPDX-License-Identifier: Apache-2.0

package emulator

// Services are the AWS services that the emulator knows, each in its own files. Their methods set what they do.
type Services struct {
	S3             *s3Service
	IAM            *iamService
	DynamoDB       *dynamodbService
	Glue           *glueService
	SSM            *ssmService
	SecretsManager *secretsmanagerService
	Cognito        *cognitoService
	SQS            *sqsService
	SNS            *snsService
	RDS            *rdsService
	ElastiCache    *elasticacheService
	EC2            *ec2Service
	ECR            *ecrService
	ECS            *ecsService
	EKS            *eksService
	Lambda         *lambdaService
	KMS            *kmsService
	Route53        *route53Service
	ACM            *acmService
	STS            *stsService
	Tag            *tagService
	ELB            *elbService
	CloudFormation *cloudformationService
	Bedrock        *bedrockService
}

func newServices(c *core) *Services {
	return &Services{
		S3: &s3Service{base: base{core: c}}, IAM: &iamService{base: base{core: c}}, DynamoDB: &dynamodbService{base: base{core: c}}, Glue: &glueService{base: base{core: c}}, SSM: &ssmService{base: base{core: c}},
		SecretsManager: &secretsmanagerService{base: base{core: c}}, Cognito: &cognitoService{base: base{core: c}}, SQS: &sqsService{base: base{core: c}}, SNS: &snsService{base: base{core: c}},
		RDS: &rdsService{base: base{core: c}}, ElastiCache: &elasticacheService{base: base{core: c}}, EC2: &ec2Service{base: base{core: c}}, ECR: &ecrService{base: base{core: c}}, ECS: &ecsService{base: base{core: c}},
		EKS: &eksService{base: base{core: c}}, Lambda: &lambdaService{base: base{core: c}}, KMS: &kmsService{base: base{core: c}}, Route53: &route53Service{base: base{core: c}}, ACM: &acmService{base: base{core: c}},
		STS: &stsService{base: base{core: c}}, Tag: &tagService{base: base{core: c}}, ELB: &elbService{base: base{core: c}}, CloudFormation: &cloudformationService{base: base{core: c}}, Bedrock: &bedrockService{base: base{core: c}},
	}
}

// all returns the services in the order in which inventories list what they have.
func (s *Services) all() []Service {
	return append([]Service{s.S3, s.IAM, s.DynamoDB, s.Glue, s.SSM, s.SecretsManager, s.Cognito, s.SQS, s.SNS, s.RDS, s.ElastiCache, s.EC2, s.ECR, s.ECS, s.EKS, s.Lambda, s.KMS,
		s.Route53, s.ACM, s.STS, s.Tag, s.ELB, s.CloudFormation, s.Bedrock}, plainServices()...)
}
