// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/acm"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/bedrock"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/cloudformation"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/cognito"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/dynamodb"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/ec2"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/ecr"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/ecs"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/eks"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/elasticache"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/elb"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/glue"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/lambda"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/logs"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/plain"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/rds"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/route53"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/s3"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/secretsmanager"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/sns"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/sqs"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/ssm"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/sts"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/tag"
)

// Services are the AWS services that have methods for the settings of a test.
type Services struct {
	S3          *s3.Service
	DynamoDB    *dynamodb.Service
	SSM         *ssm.Service
	SQS         *sqs.Service
	SNS         *sns.Service
	RDS         *rds.Service
	ElastiCache *elasticache.Service
	EC2         *ec2.Service
	ECS         *ecs.Service
	EKS         *eks.Service
	Lambda      *lambda.Service
	Logs        *logs.Service
	Route53     *route53.Service
	ACM         *acm.Service
	Tag         *tag.Service

	list []proxy.Service // of all services, in the order of comparison of inventories
}

// catalog has the facts of the services, for uses without a running emulator.
var catalog = sync.OnceValue(func() *proxy.Catalog { return proxy.NewCatalog(newServices().list) })

func newServices() *Services {
	s := &Services{
		S3: &s3.Service{}, DynamoDB: &dynamodb.Service{}, SSM: &ssm.Service{}, SQS: &sqs.Service{}, SNS: &sns.Service{}, RDS: &rds.Service{},
		ElastiCache: &elasticache.Service{}, EC2: &ec2.Service{}, ECS: &ecs.Service{}, EKS: &eks.Service{}, Lambda: &lambda.Service{},
		Logs: &logs.Service{}, Route53: &route53.Service{}, ACM: &acm.Service{}, Tag: &tag.Service{},
	}
	s.list = append([]proxy.Service{
		s.S3, &iam.Service{}, s.DynamoDB, &glue.Service{}, s.SSM, &secretsmanager.Service{}, &cognito.Service{}, s.SQS, s.SNS, s.RDS,
		s.ElastiCache,
		s.EC2, &ecr.Service{}, s.ECS, s.EKS, s.Lambda, s.Logs, &kms.Service{}, s.Route53, s.ACM, &sts.Service{}, s.Tag, &elb.Service{},
		&cloudformation.Service{}, &bedrock.Service{},
	}, plain.Services()...)
	return s
}
