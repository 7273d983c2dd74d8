// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// correction makes up for one deviation of the emulator from AWS. before may
// answer the request in the emulator's place; after may change its answer. The
// requests that they make themselves are not in the ledger.
type correction struct {
	name    string
	service string
	ops     []string // empty: all
	before  func(ctx context.Context, p *Proxy, x *exchange) *answer
	after   func(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer
}

// corrections is the table of all of them, in the order of application.
var corrections = []correction{
	{name: "requests signed with another clock", before: refuseSkewedRequest},
	{name: "names that AWS refuses", before: refuseBadName},
	{name: "writes are remembered", after: recordWrite},
	{name: "accounts of assumed roles are remembered", service: "sts", after: recordAccount},

	{name: "names of Network Load Balancers", service: "elasticloadbalancing", ops: []string{"CreateLoadBalancer", "DescribeLoadBalancers"}, after: nameNetworkBalancers},

	{name: "bucket exists already", service: "s3", ops: []string{"CreateBucket"}, before: noteExistingBucket},
	{name: "bucket of another account", service: "s3", ops: []string{"CreateBucket"}, after: refuseTakenName},
	{name: "defaults and tags of new buckets", service: "s3", ops: []string{"CreateBucket"}, before: disableACLs, after: finishBucket},
	{name: "tags of deleted buckets", service: "s3", ops: []string{"DeleteBucket", "PutBucketTagging", "GetBucketTagging"}, after: hideOldTags},
	{name: "access control by tags of buckets", service: "s3", ops: []string{"GetBucketAbac", "PutBucketAbac"}, before: controlAccessByTags},
	{name: "access control by tags of buckets", service: "s3", ops: []string{"PutBucketTagging"}, before: refuseTagging},
	{name: "access control by tags of buckets", service: "s3", ops: []string{"TagResource", "UntagResource"}, before: tagBucket},
	{name: "system tags of buckets", service: "s3", ops: []string{"PutBucketTagging"}, before: checkSystemTags},
	{name: "system tags of buckets", service: "s3", ops: []string{"GetBucketTagging"}, after: addSystemTags},
	{name: "default encryption", service: "s3", ops: []string{"GetBucketEncryption"}, after: defaultEncryption},
	{name: "conditions in policies of buckets", service: "s3", ops: []string{"PutBucketPolicy"}, before: hideConditions},
	{name: "conditions in policies of buckets", service: "s3", ops: []string{"GetBucketPolicy"}, after: showConditions},
	{name: "replication that S3 refuses", service: "s3", ops: []string{"PutBucketReplication"}, before: refuseReplication},
	{name: "replication that S3 refuses", service: "s3", ops: []string{"PutBucketVersioning"}, before: refuseSuspension},
	{name: "configurations of buckets", service: "s3", ops: documentOps("Put"), after: keepDocument},
	{name: "configurations of buckets", service: "s3", ops: documentOps("Get"), after: showDocument},
	{name: "configurations of buckets", service: "s3", ops: []string{"DeleteBucket"}, after: forgetDocuments},
	{name: "secret in its recovery window", service: "secretsmanager", ops: []string{"CreateSecret"}, after: secretScheduledForDeletion},
	{name: "cleared descriptions of secrets", service: "secretsmanager", ops: []string{"CreateSecret", "UpdateSecret", "DescribeSecret"}, after: clearedDescription},
	{name: "rotations of secrets", service: "secretsmanager", ops: []string{"RotateSecret", "CancelRotateSecret"}, before: rotateSecret},
	{name: "rotations of secrets", service: "secretsmanager", ops: []string{"CreateSecret", "DescribeSecret"}, after: showRotation},
	{name: "public policies of secrets", service: "secretsmanager", ops: []string{"PutResourcePolicy"}, before: refusePublicPolicy},
	{name: "role to be assumed", service: "sts", ops: []string{"AssumeRole"}, before: checkAssumedRole},
	{name: "role to be assumed with a token", service: "sts", ops: []string{"AssumeRoleWithWebIdentity"}, before: assumeWithToken},

	{name: "tags of roles", service: "iam", ops: []string{"TagRole", "UntagRole"}, before: dropRoleTags},
	{name: "audiences of OIDC providers", service: "iam", ops: []string{"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider"}, before: changeAudiences},

	{name: "tables take their time: changes", service: "dynamodb", before: tableNotReady},
	{name: "tables take their time: states", service: "dynamodb", ops: []string{"CreateTable", "DescribeTable"}, after: tableCreating},
	{name: "changes of tables that DynamoDB refuses, and streams", service: "dynamodb", ops: []string{"CreateTable", "UpdateTable"}, before: checkTableUpdate},
	{name: "one tag of each key", service: "dynamodb", ops: []string{"TagResource"}, before: dropReplacedTags},
	{name: "encryption, classes, limits, streams and indexes of tables", service: "dynamodb", ops: []string{"CreateTable", "UpdateTable", "DeleteTable", "DescribeTable"}, after: finishTable},

	{name: "NAT gateways: the end of deleted ones", service: "ec2", before: finishNATGateways},
	{name: "NAT gateways: repeated requests", service: "ec2", ops: []string{"CreateNatGateway"}, before: repeatCreation, after: recordNATGateway},
	{name: "NAT gateways: their deletion", service: "ec2", ops: []string{"DeleteNatGateway"}, before: refuseUnknownNATGateway, after: recordNATGatewayDeletion},
	{name: "NAT gateways: their states and tags", service: "ec2", ops: []string{"DescribeNatGateways"}, after: showNATGateways},
	{name: "instances: metadata options that AWS refuses", service: "ec2", ops: []string{"RunInstances", "ModifyInstanceMetadataOptions"}, before: refuseMetadataOptions},
	{name: "instances: repeated requests", service: "ec2", ops: []string{"RunInstances"}, before: repeatCreation, after: recordLaunch},
	{name: "instances: requests that AWS refuses", service: "ec2", ops: []string{"StartInstances", "StopInstances", "ModifyInstanceAttribute"}, before: refuseByInstanceState},
	{name: "instances: their states take their time", service: "ec2", ops: []string{"StartInstances", "StopInstances", "TerminateInstances"}, after: recordInstanceState},
	{name: "instances: monitoring", service: "ec2", ops: []string{"MonitorInstances", "UnmonitorInstances"}, before: monitorInstances},
	{name: "instances: replaced profiles", service: "ec2", ops: []string{"ReplaceIamInstanceProfileAssociation"}, before: replaceProfile},
	{name: "instances: their states", service: "ec2", ops: []string{"DescribeInstances"}, after: showInstances},
	{name: "networks in use are kept", service: "ec2", ops: []string{"DeleteSubnet", "DeleteSecurityGroup", "DeleteVpc", "DetachInternetGateway", "ReleaseAddress"}, before: refuseForOthers},
	{name: "one gateway for each network, one route table for each subnet", service: "ec2", ops: []string{"AttachInternetGateway", "AssociateRouteTable"}, before: refuseForOthers},
	{name: "associations of deleted subnets", service: "ec2", ops: []string{"DeleteSubnet"}, before: disassociateSubnet},
	{name: "descriptions of rules", service: "ec2", ops: []string{"UpdateSecurityGroupRuleDescriptionsIngress", "UpdateSecurityGroupRuleDescriptionsEgress"}, before: replaceDescriptions},

	{name: "clusters of EKS", service: "eks", ops: []string{"CreateCluster", "DescribeCluster"}, after: showEKSCluster},
	{name: "networks of clusters", service: "eks", after: networkOfCluster},
	{name: "storage of new DB instances", service: "rds", ops: []string{"CreateDBInstance"}, before: checkNewStorage},
	{name: "requests about DB instances that AWS refuses", service: "rds", ops: []string{"ModifyDBInstance", "DeleteDBInstance"}, before: refuseDatabaseRequest},
	{name: "storage of DB instances", service: "rds", ops: []string{"ModifyDBInstance"}, before: checkStorage},
	{name: "changes of DB instances take their time", service: "rds", ops: []string{"ModifyDBInstance"}, before: holdModification},
	{name: "DB instances take their time", service: "rds", ops: []string{"DescribeDBInstances"}, before: prepareDatabase},
	{name: "states and ports of DB instances", service: "rds", ops: []string{"CreateDBInstance", "ModifyDBInstance", "DeleteDBInstance", "DescribeDBInstances"}, after: showDatabase},
	{name: "DB subnet groups that AWS refuses", service: "rds", ops: []string{"CreateDBSubnetGroup", "ModifyDBSubnetGroup"}, before: refuseSubnetGroup},
	{name: "changed DB subnet groups stay", service: "rds", ops: []string{"ModifyDBSubnetGroup"}, before: noteSubnetGroup, after: restoreSubnetGroup},
	{name: "DB subnet groups in use are kept", service: "rds", ops: []string{"DeleteDBSubnetGroup"}, before: keepUsedSubnetGroup},

	{name: "crawlers can be updated", service: "glue", ops: []string{"UpdateCrawler"}, before: updateCrawler},
	{name: "the throughput of Parameter Store can be read", service: "ssm", ops: []string{"GetServiceSetting"}, before: throughputSetting},
	{name: "queues rest after their deletion", service: "sqs", ops: []string{"CreateQueue"}, before: refuseRecentQueue},
	{name: "creating a queue again", service: "sqs", ops: []string{"CreateQueue"}, before: createQueueAgain},
	{name: "the policy of a queue", service: "sqs", ops: []string{"SetQueueAttributes"}, before: noteQueuePolicy, after: restoreQueuePolicy},
	{name: "attributes of subscriptions that SNS refuses", service: "sns", ops: []string{"Subscribe", "SetSubscriptionAttributes"}, before: checkSubscription},
	{name: "attributes of subscriptions that SNS does not show", service: "sns", ops: []string{"GetSubscriptionAttributes"}, after: hideEmptyAttributes},
	{name: "subscriptions wait for their confirmation", service: "sns", ops: []string{"ListSubscriptionsByTopic"}, after: hidePendingSubscriptions},
	{name: "keys that are scheduled for deletion or disabled", service: "kms", before: refuseByKeyState},
	{name: "scans that a request ends", service: "ecr", ops: []string{"PutImageScanningConfiguration"}, after: endScanning},
	{name: "requests about cache clusters", service: "elasticache", ops: []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster"}, before: prepareCacheCluster},
	{name: "cache clusters", service: "elasticache", ops: []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster", "DescribeCacheClusters"}, after: showCacheCluster},
	{name: "tags of cache clusters", service: "elasticache", ops: []string{"ListTagsForResource", "AddTagsToResource", "RemoveTagsFromResource"}, before: refuseCacheTags},
	{name: "clusters that exist", service: "ecs", ops: []string{"CreateCluster"}, before: createCluster},
	{name: "requests about clusters that ECS refuses", service: "ecs", ops: []string{"PutClusterCapacityProviders", "DeleteCluster"}, before: refuseClusterRequest},
	{name: "capacity providers of Managed Instances belong to a cluster", service: "ecs", ops: []string{"DescribeCapacityProviders"}, before: describeProviders},
	{name: "capacity providers of clusters take their time", service: "ecs", ops: []string{"DescribeClusters"}, after: showCluster},
	{name: "images that do not exist", service: "lambda", ops: []string{"CreateFunction", "UpdateFunctionCode"}, before: refuseMissingImage},
	{name: "functions that Lambda changes", service: "lambda", ops: []string{"UpdateFunctionCode", "UpdateFunctionConfiguration", "PutFunctionConcurrency"}, before: refuseFunctionRequest},
	{name: "settings and states of functions", service: "lambda", ops: []string{"CreateFunction", "UpdateFunctionCode", "UpdateFunctionConfiguration", "PutFunctionConcurrency", "DeleteFunctionConcurrency", "DeleteFunction"}, after: recordFunction},
	{name: "settings and states of functions", service: "lambda", ops: []string{"GetFunction", "GetFunctionConfiguration"}, after: showFunction},
	{name: "caller references are unique", service: "route53", ops: []string{"CreateHostedZone"}, before: refuseUsedReference},
	{name: "hosted zones with records are kept", service: "route53", ops: []string{"DeleteHostedZone"}, before: keepZoneWithRecords},
	{name: "VPCs of private zones", service: "route53", ops: []string{"AssociateVPCWithHostedZone", "DisassociateVPCFromHostedZone"}, before: refuseAssociation},
	{name: "changes of records", service: "route53", ops: []string{"ChangeResourceRecordSets"}, before: checkChanges},
	{name: "changes of records take their time", service: "route53", ops: []string{"ChangeResourceRecordSets", "GetChange"}, after: showChange},
	{name: "names of zones and records", service: "route53", after: escapeNames},
	{name: "tags of hosted zones", service: "route53", ops: []string{"ListTagsForResource", "ChangeTagsForResource"}, before: checkZoneTags},
	{name: "keys of certificates", service: "acm", ops: []string{"RequestCertificate"}, after: recordCertificate},
	{name: "certificates in use are kept", service: "acm", ops: []string{"DeleteCertificate"}, before: keepUsedCertificate},
	{name: "states of certificates", service: "acm", ops: []string{"DescribeCertificate"}, after: showCertificate},
	{name: "domains of user pools are unique", service: "cognito-idp", ops: []string{"CreateUserPoolDomain"}, before: refuseTakenDomain},
	{name: "user pools in use are kept", service: "cognito-idp", ops: []string{"DeleteUserPool"}, before: refuseUserPoolDeletion},
	{name: "settings of user pools that updates keep and reset", service: "cognito-idp", ops: []string{"UpdateUserPool"}, before: checkPoolUpdate, after: finishPoolUpdate},
	{name: "changes of MFA that Cognito refuses", service: "cognito-idp", ops: []string{"SetUserPoolMfaConfig"}, before: refuseMFA},
	{name: "MFA of user pools", service: "cognito-idp", ops: []string{"DescribeUserPool"}, after: showMFA},
	{name: "dates of app clients", service: "cognito-idp", ops: []string{"CreateUserPoolClient"}, after: dateClient},
	{name: "settings of app clients that updates reset", service: "cognito-idp", ops: []string{"UpdateUserPoolClient"}, after: resetClient},
	{name: "tags of the first parameters", service: "ssm", ops: []string{"PutParameter", "AddTagsToResource", "ListTagsForResource"}, before: prepareParameterTags},
	{name: "resources that the emulator does not have", service: "tag", ops: []string{"GetResources"}, after: addTagged},
	{name: "settings that only imports read", before: showUnset},
	{name: "credits of instances", service: "ec2", ops: []string{"DescribeInstanceCreditSpecifications"}, after: showCredits},
	{name: "what AWS rewrites", after: rewriteAnswer},
	{name: "operations that do not exist", after: notImplemented},
	{name: "reads lag behind writes", after: lagBehindWrites},
	{name: "fields that the client does not know", after: addUnknownFields},
}

func (c *correction) applies(x *exchange) bool {
	if c.service != "" && x.double != nil {
		return false
	}
	return (c.service == "" || c.service == x.service) && (len(c.ops) == 0 || slices.Contains(c.ops, x.op))
}

// SetTableCreating lets DynamoDB tables be CREATING for so long after their
// creation, during which changes to them are refused as AWS does. Zero ends it.
func (p *Proxy) SetTableCreating(d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.creating = d
}

// SetHigherThroughput turns Parameter Store's higher throughput on or off, as far as its setting shows.
func (p *Proxy) SetHigherThroughput(on bool) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.raised = on
}

// notImplemented: for an operation that it lacks moto answers 500 (REST
// services: 404) with a page of HTML, which clients try again several times and
// then cannot read. AWS has the operation; here the test gets a clear answer at
// once, which no client retries.
func notImplemented(_ context.Context, _ *Proxy, x *exchange, a *answer) *answer {
	if !isErrorPage(a) {
		return a
	}
	return errorAnswer(x.request, awsError{http.StatusNotImplemented, "NotImplemented",
		"the emulator does not implement " + x.service + "." + x.op + ", or has failed in it: see its log"})
}

func isErrorPage(a *answer) bool {
	return a.status == http.StatusInternalServerError && bytes.Contains(a.body, []byte("<title>500 Internal Server Error</title>")) ||
		a.status == http.StatusNotFound && bytes.Contains(a.body, []byte("<title>404 Not Found</title>"))
}

// isRead reports whether an operation changes nothing. The emulator fails in some of these when another request changes what it
// is listing, as in ssm.DescribeParameters, and answers them when asked again.
func isRead(op string) bool {
	return strings.HasPrefix(op, "Describe") || strings.HasPrefix(op, "Get") || strings.HasPrefix(op, "List")
}

// ask makes a request of the proxy's own in the account and region of a
// client's request. It does not enter the ledger and needs no rights.
func (p *Proxy) ask(ctx context.Context, x *exchange, method, uri string, header http.Header, body []byte) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.backend+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("Authorization", scope(x.accessKey, x.region, x.service))
	return p.roundTrip(r)
}

// askJSON calls an operation of a JSON service.
func (p *Proxy) askJSON(ctx context.Context, x *exchange, op string, body any) (*answer, map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	target := x.http.Header.Get("X-Amz-Target")
	header := http.Header{
		"X-Amz-Target": {target[:len(target)-len(x.op)] + op},
		"Content-Type": {x.http.Header.Get("Content-Type")},
	}
	a, err := p.ask(ctx, x, http.MethodPost, "/", header, text)
	if err != nil {
		return nil, nil, err
	}
	parsed := map[string]any{}
	_ = json.Unmarshal(a.body, &parsed)
	return a, parsed, nil
}

// scope is an Authorization header that tells moto account, region and service;
// it checks no signature.
func scope(accessKey, region, service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + accessKey + "/20250101/" + region + "/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
}
