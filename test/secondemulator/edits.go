// SPDX-License-Identifier: Apache-2.0

package main

import "sigs.k8s.io/controller-runtime/pkg/client"

// edits are merge patches of the specification, by kind: a setting of the resource itself where one can be changed, else a tag.
var edits = map[string]string{
	"Certificate":            `{"tags": {"stage": "edited"}}`,
	"CognitoUserPool":        `{"passwordPolicy": {"minimumLength": 14}}`,
	"DBSubnetGroup":          `{"description": "Edited"}`,
	"DynamoDBTable":          `{"pointInTimeRecovery": false}`,
	"EC2Instance":            `{"tags": {"stage": "edited"}}`,
	"EC2KeyPair":             `{"tags": {"stage": "edited"}}`,
	"ECRRepository":          `{"scanOnPush": false}`,
	"ECSCluster":             `{"settings": [{"name": "containerInsights", "value": "disabled"}]}`,
	"EKSCluster":             `{"logging": {"clusterLogging": ["api"]}}`,
	"ElastiCacheCluster":     `{"preferredMaintenanceWindow": "mon:04:00-mon:05:00"}`,
	"ElasticIP":              `{"tags": {"stage": "edited"}}`,
	"GlueCrawler":            `{"schedule": "cron(15 3 * * ? *)"}`,
	"GlueDatabase":           `{"description": "Edited"}`,
	"GlueTable":              `{"parameters": {"classification": "parquet"}}`,
	"IAMRole":                `{"description": "Edited"}`,
	"InternetGateway":        `{"tags": {"stage": "edited"}}`,
	"KMSKey":                 `{"description": "Edited"}`,
	"LambdaFunction":         `{"memorySize": 1024}`,
	"LogGroup":               `{"retentionInDays": 7}`,
	"NATGateway":             `{"tags": {"stage": "edited"}}`,
	"PodIdentityAssociation": `{"tags": {"stage": "edited"}}`,
	"RDSInstance":            `{"backupRetentionPeriod": 3}`,
	"Route53HostedZone":      `{"comment": "Edited"}`,
	"Route53RecordSet":       `{"ttl": 60}`,
	"RouteTable":             `{"tags": {"stage": "edited"}}`,
	"S3Bucket":               `{"versioning": {"enabled": true}, "tags": {"stage": "edited"}, "corsRules": [{"allowedOrigins": ["*"], "allowedMethods": ["GET"]}]}`,
	"SecretsManagerSecret":   `{"description": "Edited"}`,
	"SecurityGroup":          `{"egressRules": [{"ipProtocol": "tcp", "fromPort": 5432, "toPort": 5432, "cidrBlocks": ["10.0.0.0/8"]}]}`,
	"SNSTopic":               `{"displayName": "Edited"}`,
	"SQSQueue":               `{"visibilityTimeout": 60}`,
	"SSMParameterSet":        `{"parameters": {"bucket": {"value": "edited"}}}`,
	"Subnet":                 `{"mapPublicIpOnLaunch": false, "tags": {"stage": "edited"}}`,
	"VPC":                    `{"enableDnsHostnames": false}`,
}

// capabilityEdit is a merge patch of the specification of a capability.
const capabilityEdit = `{"dataServices": {"queues": [{"name": "edited"}]}}`

// patchOfSpec returns a merge patch of an object for one of its specification.
func patchOfSpec(spec string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(`{"spec": `+spec+`}`))
}
