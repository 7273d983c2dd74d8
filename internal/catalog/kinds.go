// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/acm"
	"github.com/nexus-operator/nexus-operator/internal/kinds/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/kinds/cognito"
	"github.com/nexus-operator/nexus-operator/internal/kinds/dynamodb"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ec2"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ecr"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ecs"
	"github.com/nexus-operator/nexus-operator/internal/kinds/eks"
	"github.com/nexus-operator/nexus-operator/internal/kinds/elasticache"
	"github.com/nexus-operator/nexus-operator/internal/kinds/glue"
	"github.com/nexus-operator/nexus-operator/internal/kinds/iam"
	"github.com/nexus-operator/nexus-operator/internal/kinds/kms"
	"github.com/nexus-operator/nexus-operator/internal/kinds/lambda"
	"github.com/nexus-operator/nexus-operator/internal/kinds/logs"
	"github.com/nexus-operator/nexus-operator/internal/kinds/rds"
	"github.com/nexus-operator/nexus-operator/internal/kinds/route53"
	"github.com/nexus-operator/nexus-operator/internal/kinds/s3"
	"github.com/nexus-operator/nexus-operator/internal/kinds/secretsmanager"
	"github.com/nexus-operator/nexus-operator/internal/kinds/sns"
	"github.com/nexus-operator/nexus-operator/internal/kinds/sqs"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ssm"
)

// Kinds returns every AWS kind of the operator. Adding a kind is a line here.
func Kinds() []engine.Entry {
	return []engine.Entry{
		engine.For(s3.NewBucket),
		engine.For(dynamodb.NewTable),
		engine.For(iam.NewRole),
		engine.For(glue.NewDatabase),
		engine.For(glue.NewTable),
		engine.For(glue.NewCrawler),
		engine.For(ssm.NewParameterSet),
		engine.For(secretsmanager.NewSecret),
		engine.For(eks.NewPodIdentityAssociation),
		engine.For(ec2.NewVPC),
		engine.For(sqs.NewQueue),
		engine.For(sns.NewTopic),
		engine.For(kms.NewKey),
		engine.For(acm.NewCertificate),
		engine.For(cognito.NewUserPool),
		engine.For(ecr.NewRepository),
		engine.For(ecs.NewCluster),
		engine.For(eks.NewCluster),
		engine.For(elasticache.NewCluster),
		engine.For(lambda.NewFunction),
		engine.For(logs.NewGroup),
		engine.For(route53.NewHostedZone),
		engine.For(route53.NewRecordSet),
		engine.For(ec2.NewRouteTable),
		engine.For(ec2.NewInternetGateway),
		engine.For(ec2.NewSecurityGroup),
		engine.For(ec2.NewSubnet),
		engine.For(ec2.NewElasticIP),
		engine.For(ec2.NewNATGateway),
		engine.For(ec2.NewKeyPair),
		engine.For(ec2.NewInstance),
		engine.For(rds.NewSubnetGroup),
		engine.For(rds.NewInstance),
		engine.For(cloudcontrol.NewResource),
	}
}
