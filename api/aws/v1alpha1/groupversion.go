// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every AWS resource kind.
const GroupName = "aws-infra-operator.runner.codes"

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme registers every kind of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&AWSProvider{}, &AWSProviderList{},
		&S3Bucket{}, &S3BucketList{},
		&DynamoDBTable{}, &DynamoDBTableList{},
		&GlueDatabase{}, &GlueDatabaseList{},
		&GlueTable{}, &GlueTableList{},
		&GlueCrawler{}, &GlueCrawlerList{},
		&SSMParameterSet{}, &SSMParameterSetList{},
		&SecretsManagerSecret{}, &SecretsManagerSecretList{},
		&IAMRole{}, &IAMRoleList{},
		&VPC{}, &VPCList{},
		&SQSQueue{}, &SQSQueueList{},
		&SNSTopic{}, &SNSTopicList{},
		&KMSKey{}, &KMSKeyList{},
		&CognitoUserPool{}, &CognitoUserPoolList{},
		&ECRRepository{}, &ECRRepositoryList{},
		&Route53HostedZone{}, &Route53HostedZoneList{},
		&Route53RecordSet{}, &Route53RecordSetList{},
		&Certificate{}, &CertificateList{},
		&Subnet{}, &SubnetList{},
		&SecurityGroup{}, &SecurityGroupList{},
		&InternetGateway{}, &InternetGatewayList{},
		&RouteTable{}, &RouteTableList{},
		&ElasticIP{}, &ElasticIPList{},
		&NATGateway{}, &NATGatewayList{},
		&AWSResource{}, &AWSResourceList{},
		&EC2KeyPair{}, &EC2KeyPairList{},
		&EC2Instance{}, &EC2InstanceList{},
		&DBSubnetGroup{}, &DBSubnetGroupList{},
		&RDSInstance{}, &RDSInstanceList{},
		&PodIdentityAssociation{}, &PodIdentityAssociationList{},
		&ECSCluster{}, &ECSClusterList{},
		&EKSCluster{}, &EKSClusterList{},
		&ElastiCacheCluster{}, &ElastiCacheClusterList{},
		&LambdaFunction{}, &LambdaFunctionList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
