// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"regexp"
	"slices"
	"strings"
)

// Naming is a resource that an object names by an identifier and does not manage.
type Naming struct {
	// Field is the path of the field, such as spec.subnetIDs[0]; Value is its value.
	Field, Value string
	// ARNs lists the resources that the value may mean; it is empty where the value means none in the account of the object.
	ARNs []string
	// Guessed is true if the meaning of the value is derived from the name of a member only, so that it may mean nothing in AWS.
	Guessed bool
}

// Namer is implemented by kinds with specs that name resources in members of a document.
type Namer[CR any] interface {
	// Names returns the resources that the document of a spec names. The scope holds the result of Prepare.
	Names(sc Scope, cr CR) []Naming
}

// ec2ID matches the identifiers of EC2, such as subnet-0123456789abcdef0, in any case.
var ec2ID = regexp.MustCompile(`^(?i)([a-z0-9]+(?:-[a-z]+)*)-[0-9a-f]{8,17}$`)

// ec2Types are the types of resources in ARNs, by the prefixes of identifiers:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
var ec2Types = map[string]string{
	"acl": "network-acl", "ami": "image", "cagw": "carrier-gateway", "cgw": "customer-gateway", "cr": "capacity-reservation",
	"cvpn-endpoint": "client-vpn-endpoint", "dopt": "dhcp-options", "eigw": "egress-only-internet-gateway",
	"eipalloc": "elastic-ip", "eni": "network-interface", "fl": "vpc-flow-log", "h": "dedicated-host", "i": "instance",
	"igw": "internet-gateway", "ipam-pool": "ipam-pool", "key": "key-pair", "lt": "launch-template", "nat": "natgateway",
	"pcx": "vpc-peering-connection", "pl": "prefix-list", "rtb": "route-table", "rs": "route-server", "sg": "security-group",
	"snap": "snapshot", "subnet": "subnet", "tgw": "transit-gateway", "tgw-attach": "transit-gateway-attachment",
	"tgw-mcast-domain": "transit-gateway-multicast-domain", "tgw-ptb": "transit-gateway-policy-table",
	"tgw-rtb": "transit-gateway-route-table", "tmf": "traffic-mirror-filter", "tms": "traffic-mirror-session",
	"tmt": "traffic-mirror-target", "vgw": "vpn-gateway", "vol": "volume", "vpc": "vpc", "vpce": "vpc-endpoint",
	"vpce-svc": "vpc-endpoint-service", "vpn": "vpn-connection",
}

var (
	// withColon are the services with ARNs that have a colon between the type of a resource and its name.
	withColon = []string{"elasticache", "logs", "rds"}
	// inLowerCase are the services that find a name in any case.
	inLowerCase = []string{"elasticache", "rds"}
)

// ARNsOf returns the ARNs of the resources that a value may mean, which names a resource of a type, such as ec2:subnet or s3:bucket, or of
// any type: arn. It returns none for a resource of another account, and for a value that is not an identifier of a resource. RDS finds Shop
// and shop by either name, and its ARN has lower case, as those of buckets, of keys and of EC2 have: the case of a name hides no owner.
func ARNsOf(at Place, resource, value string) []string {
	service, name, _ := strings.Cut(resource, ":")
	switch {
	case strings.HasPrefix(value, "arn:"):
		return oneOf(canonicalARN(at, value))
	case resource == "ecr:image":
		return oneOf(repositoryOf(at, value))
	case service == "ecs" && strings.HasPrefix(value, "FARGATE"): // a capacity provider of AWS
		return nil
	case service == "ec2", resource == "arn":
		return ec2ARNs(at, value)
	case resource == "s3:bucket":
		return []string{joinARN(at.Partition, "s3", "", "", strings.ToLower(value))}
	case resource == "iam:role":
		return []string{joinARN(at.Partition, "iam", "", at.Account, "role/"+strings.TrimPrefix(value, "/"))}
	case service == "route53":
		return []string{joinARN(at.Partition, "route53", "", "", name+"/"+value)}
	case resource == "kms:key":
		key := Either(strings.HasPrefix(value, "alias/"), value, "key/"+strings.ToLower(value))
		return []string{joinARN(at.Partition, "kms", at.Region, at.Account, key)}
	default:
		separator := Either(slices.Contains(withColon, service), ":", "/")
		value = Either(slices.Contains(inLowerCase, service), strings.ToLower(value), value)
		return []string{joinARN(at.Partition, service, at.Region, at.Account, name+separator+value)}
	}
}

func joinARN(partition, service, region, account, resource string) string {
	return strings.Join([]string{"arn", partition, service, region, account, resource}, ":")
}

func oneOf(arn string) []string {
	if arn == "" {
		return nil
	}
	return []string{arn}
}

// ec2ARNs returns the ARNs of the resource that an EC2 identifier names. The prefix gives the type, independent of the name of the field.
// ARNs of images and snapshots have no account in the reference of AWS, and the tagging API may show them with it.
func ec2ARNs(at Place, id string) []string {
	match := ec2ID.FindStringSubmatch(id)
	if match == nil {
		return nil
	}
	id = strings.ToLower(id)
	switch of := ec2Types[strings.ToLower(match[1])]; of {
	case "":
		return nil
	case "image", "snapshot":
		return []string{joinARN(at.Partition, "ec2", at.Region, "", of+"/"+id), joinARN(at.Partition, "ec2", at.Region, at.Account, of+"/"+id)}
	default:
		return []string{joinARN(at.Partition, "ec2", at.Region, at.Account, of+"/"+id)}
	}
}

// canonicalARN returns an ARN without the part behind the resource; empty for an ARN of another account, and for a text that is not an ARN.
func canonicalARN(at Place, arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[4] != "" && parts[4] != at.Account {
		return ""
	}
	if parts[2] == "ec2" && parts[3] == at.Region { // which knows i-0123 and instance/i-0123
		if arns := ec2ARNs(at, parts[5][strings.LastIndex(parts[5], "/")+1:]); len(arns) > 0 {
			return arns[len(arns)-1]
		}
	}
	parts[5] = canonicalResource(parts[2], parts[5])
	return strings.Join(parts, ":")
}

// canonicalResource returns the resource in an ARN of a service, without the path of an object of a bucket, the version of a function, a
// state machine or a parameter, the stream of a table or of a group of logs, the consumer of a stream, the subscription of a topic, and the
// key of a value in a secret.
func canonicalResource(service, resource string) string {
	id, isKey := strings.CutPrefix(resource, "key/")
	switch service {
	case "s3":
		return firstOf(resource, "/", Either(strings.HasPrefix(resource, "accesspoint/"), 2, 1))
	case "kms":
		return Either(isKey, "key/"+strings.ToLower(id), resource)
	case "lambda":
		return firstOf(firstOf(resource, ":", 2), "/", 1)
	case "logs", "secretsmanager", "states":
		return firstOf(resource, ":", 2)
	case "sns", "ssm":
		return firstOf(resource, ":", 1)
	case "dynamodb", "kinesis":
		return firstOf(resource, "/", 2)
	default:
		return Either(slices.Contains(inLowerCase, service), strings.ToLower(resource), resource)
	}
}

// firstOf returns the first n words of a text.
func firstOf(text, separator string, n int) string {
	words := strings.Split(text, separator)
	return strings.Join(words[:min(n, len(words))], separator)
}

// repositoryOf returns the ARN of the repository of an image, in the form ACCOUNT.dkr.ecr.REGION.DOMAIN/REPOSITORY:TAG, with dkr.ecr-fips
// for the endpoints that meet FIPS, and with dkr-ecr for those that serve IPv6 too:
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
func repositoryOf(at Place, image string) string {
	host, path, _ := strings.Cut(image, "/")
	host = strings.NewReplacer(".dkr.ecr-fips.", ".dkr.ecr.", ".dkr-ecr.", ".dkr.ecr.", ".dkr-ecr-fips.",
		".dkr.ecr.").Replace(strings.ToLower(host))
	words := strings.SplitN(host, ".", 5)
	if len(words) < 5 || words[0] != at.Account || words[2] != "ecr" {
		return ""
	}
	repository, _, _ := strings.Cut(path, "@")
	repository, _, _ = strings.Cut(repository, ":")
	return strings.Join([]string{"arn", at.Partition, "ecr", words[3], at.Account, "repository/" + repository}, ":")
}

// queueURL matches the URLs of queues, as
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html shows them, with those
// of the endpoints that existed before.
var queueURL = regexp.MustCompile(`^(?i)https?://(?:sqs(?:-fips)?\.([a-z0-9-]+)\.|([a-z0-9-]+)\.queue\.|queue\.)[a-z0-9.-]+(?::\d+)?/(\d{12})/([A-Za-z0-9_.-]+)$`)

// bucketOf returns the bucket of a location in S3, and false for any other text. Locations are s3://BUCKET/KEY, and URLs and names of hosts
// of the forms BUCKET.s3.REGION.amazonaws.com and s3.REGION.amazonaws.com/BUCKET:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
func bucketOf(value string) (bucket string, ok bool) {
	scheme, rest, hasScheme := strings.Cut(value, "://")
	switch scheme = strings.ToLower(scheme); {
	case !hasScheme:
		rest = value
	case scheme == "s3", scheme == "s3a", scheme == "s3n":
		bucket = firstOf(rest, "/", 1)
		return bucket, bucket != ""
	case scheme != "https" && scheme != "http":
		return "", false
	}
	host, path, _ := strings.Cut(rest, "/")
	host, isAWS := strings.CutSuffix(strings.TrimSuffix(firstOf(strings.ToLower(host), ":", 1), ".cn"), ".amazonaws.com")
	labels := strings.Split(host, ".")
	for i, label := range slices.Backward(labels) {
		if !isAWS || label != "s3" && !strings.HasPrefix(label, "s3-") {
			continue
		}
		bucket = Either(i > 0, strings.Join(labels[:i], "."), firstOf(path, "/", 1))
		return bucket, bucket != ""
	}
	return "", false
}

// ARNsByForm returns the ARNs of the resources that a value means by its form, wherever it is: an ARN, also with another one in it, an
// identifier of EC2, an image of a repository, the URL of a queue, or a place in a bucket.
func ARNsByForm(at Place, value string) []string {
	if url := queueURL.FindStringSubmatch(value); url != nil {
		region := strings.ToLower(url[1] + url[2])
		return Either(url[3] == at.Account,
			[]string{joinARN(at.Partition, "sqs", Either(region == "", at.Region, region), at.Account, url[4])}, nil)
	}
	if bucket, ok := bucketOf(value); ok && strings.Contains(value, "://") {
		return ARNsOf(at, "s3:bucket", bucket)
	}
	if arns := nestedARNs(at, value); len(arns) > 0 {
		return arns
	}
	if arns := ARNsOf(at, "arn", value); len(arns) > 0 {
		return arns
	}
	return ARNsOf(at, "ecr:image", value)
}

// ARNsOfHost returns the ARN of the bucket that the name of a host in S3 may mean. It may be that of a principal, too, such as
// logging.s3.amazonaws.com.
func ARNsOfHost(at Place, value string) []string {
	if bucket, ok := bucketOf(value); ok && !strings.Contains(value, "://") {
		return ARNsOf(at, "s3:bucket", bucket)
	}
	return nil
}

// nestedARNs returns the ARNs inside another ARN, such as the ARN of a function in the URI of an API Gateway integration:
// https://docs.aws.amazon.com/apigateway/latest/api/API_Integration.html
func nestedARNs(at Place, value string) []string {
	if !strings.HasPrefix(value, "arn:") || strings.Count(value, "arn:") < 2 {
		return nil
	}
	var out []string
	for _, part := range strings.Split(value, "arn:")[1:] {
		out = append(out, oneOf(canonicalARN(at, "arn:"+part))...)
	}
	return out
}
