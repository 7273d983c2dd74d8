// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// missing are the errors about resources that do not exist, by service, and by
// operation where it differs. %s is the resource.
var missing = map[string]awsError{
	"s3":                                 {http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"},
	"iam":                                {http.StatusNotFound, "NoSuchEntity", "The entity with name %s cannot be found."},
	"iam.GetRole":                        {http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found."},
	"iam.GetRolePolicy":                  {http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found."},
	"glue":                               {http.StatusBadRequest, "EntityNotFoundException", "Entity %s not found."},
	"dynamodb.DescribeContinuousBackups": {http.StatusBadRequest, "TableNotFoundException", "Table not found: %s"},
	"ssm":                                {http.StatusBadRequest, "ParameterNotFound", "Parameter %s not found."},
	"ssm.ListTagsForResource":            {http.StatusBadRequest, "InvalidResourceId", "The resource ID %s is not valid. Verify that you entered the correct ID and try again."},
	"secretsmanager":                     {http.StatusBadRequest, resourceNotFound, "Secrets Manager can't find the specified secret."},
	"sqs":                                {http.StatusBadRequest, "QueueDoesNotExist", "The specified queue does not exist."},
	"sns":                                {http.StatusNotFound, "NotFound", "Topic does not exist"},
	"sns.ListTagsForResource":            {http.StatusNotFound, "ResourceNotFound", "Resource does not exist"},
	"kms":                                {http.StatusBadRequest, "NotFoundException", "Key '%s' does not exist"},
	"rds":                                {http.StatusNotFound, "DBInstanceNotFound", "DBInstance %s not found."},
	"rds.DescribeDBSubnetGroups":         {http.StatusNotFound, "DBSubnetGroupNotFoundFault", "DB subnet group '%s' does not exist."},
	"elasticache":                        {http.StatusNotFound, "CacheClusterNotFound", "CacheCluster not found: %s"},
	"ec2.DescribeVpcs":                   {http.StatusBadRequest, "InvalidVpcID.NotFound", "The vpc ID '%s' does not exist"},
	"ec2.DescribeVpcAttribute":           {http.StatusBadRequest, "InvalidVpcID.NotFound", "The vpc ID '%s' does not exist"},
	"ec2.DescribeSubnets":                {http.StatusBadRequest, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist"},
	"ec2.DescribeSecurityGroups":         {http.StatusBadRequest, "InvalidGroup.NotFound", "The security group '%s' does not exist"},
	"ec2.DescribeInternetGateways":       {http.StatusBadRequest, "InvalidInternetGatewayID.NotFound", "The internetGateway ID '%s' does not exist"},
	"ec2.DescribeRouteTables":            {http.StatusBadRequest, "InvalidRouteTableID.NotFound", "The routeTable ID '%s' does not exist"},
	"ec2.DescribeAddresses":              {http.StatusBadRequest, "InvalidAllocationID.NotFound", "The allocation ID '%s' does not exist"},
	"ec2.DescribeKeyPairs":               {http.StatusBadRequest, "InvalidKeyPair.NotFound", "The key pair '%s' does not exist"},
	"ec2.DescribeNatGateways":            {http.StatusBadRequest, "NatGatewayNotFound", "The Nat Gateway %s was not found"},
	"ec2.DeleteNatGateway":               {http.StatusBadRequest, "NatGatewayNotFound", "The Nat Gateway %s was not found"},
	"ec2":                                {http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '%s' does not exist"},
	"elasticloadbalancing":               {http.StatusBadRequest, "LoadBalancerNotFound", "Load balancer '%s' not found"},
	"elasticloadbalancing.DescribeTargetGroups": {http.StatusBadRequest, "TargetGroupNotFound", "Target group '%s' not found"},
	"route53":                            {http.StatusNotFound, "NoSuchHostedZone", "No hosted zone found with ID: %s"},
	"ecr":                                {http.StatusBadRequest, "RepositoryNotFoundException", "The repository with name '%s' does not exist in the registry"},
	"ecs":                                {http.StatusBadRequest, "ClusterNotFoundException", "Cluster not found."},
	"eks.DescribePodIdentityAssociation": {http.StatusNotFound, resourceNotFound, "The specified association %s was not found."},
	"eks":                                {http.StatusNotFound, resourceNotFound, "No cluster found for name: %s."},
	"lambda":                             {http.StatusNotFound, resourceNotFound, "Function not found: %s"},
	"":                                   {http.StatusBadRequest, resourceNotFound, "Requested resource not found: %s"},
}

const resourceNotFound = "ResourceNotFoundException"

// notFound returns what a service says of a resource that does not exist.
func notFound(d *request) awsError {
	for _, key := range []string{d.service + "." + d.op, d.service, ""} {
		if e, ok := missing[key]; ok {
			e.message = strings.ReplaceAll(e.message, "%s", d.resource)
			return e
		}
	}
	return awsError{}
}

func notFoundAnswer(d *request) *answer {
	if d.service == "ecs" && d.op == "DescribeClusters" {
		return noCluster(d)
	}
	a := errorAnswer(d, notFound(d))
	if d.service == "sqs" {
		a.header.Set("X-Amzn-Query-Error", "AWS.SimpleQueueService.NonExistentQueue;Sender")
	}
	return a
}

// isNotFound reports whether an answer says that the resource does not exist.
// Answers to HEAD have no body.
func isNotFound(d *request, a *answer) bool {
	if a.ok() {
		return isClusterGone(d, a)
	}
	return errorCode(a) == notFound(d).code || d.http.Method == http.MethodHead && a.status == http.StatusNotFound
}

// hideResources answers a read as if some of the resources that it names did
// not exist.
func hideResources(d *request, a *answer, names []string) *answer {
	if d.service != "ssm" || d.op != "GetParameters" || !a.ok() {
		return notFoundAnswer(d)
	}
	var body struct {
		Parameters        []map[string]any
		InvalidParameters []string
	}
	if json.Unmarshal(a.body, &body) != nil {
		return a
	}
	hidden := func(parameter map[string]any) bool { return slices.Contains(names, text(parameter["Name"])) }
	body.Parameters = slices.DeleteFunc(body.Parameters, hidden)
	for _, name := range names {
		if !slices.Contains(body.InvalidParameters, name) {
			body.InvalidParameters = append(body.InvalidParameters, name)
		}
	}
	return a.withJSON(body)
}

// withJSON returns the answer with another body.
func (a *answer) withJSON(body any) *answer {
	text, err := json.Marshal(body)
	if err != nil {
		return a
	}
	return a.withBody(text)
}

// withBody returns the answer with another body, without the checksum of DynamoDB.
func (a *answer) withBody(body []byte) *answer {
	header := a.header.Clone()
	header.Del("X-Amz-Crc32")
	return &answer{a.status, header, body}
}
