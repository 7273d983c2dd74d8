// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// interfaceUsers are the descriptions that services of AWS give the network interfaces that they make, with the noun for the user of such
// an interface. Read only; the first match counts.
var interfaceUsers = []struct {
	noun        string
	description *regexp.Regexp // its group, if it has one, is the name of the user
}{
	{"Lambda function", regexp.MustCompile(`^AWS Lambda VPC ENI-(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)},
	{"Lambda function", regexp.MustCompile(`^AWS Lambda VPC ENI[-:] ?(.+)$`)},
	{"load balancer", regexp.MustCompile(`^ELB (?:app/|net/|gwy/)?([^/]+)`)},
	{"NAT gateway", regexp.MustCompile(`^Interface for NAT Gateway (nat-\w+)`)},
	{"VPC endpoint", regexp.MustCompile(`^VPC Endpoint Interface (vpce-\w+)`)},
	{"transit gateway attachment", regexp.MustCompile(`^Network Interface for Transit Gateway Attachment (tgw-attach-\w+)`)},
	{"EKS cluster", regexp.MustCompile(`^Amazon EKS (.+)$`)},
	{"EFS mount target of", regexp.MustCompile(`^EFS mount target for (fs-\w+)`)},
	{"ElastiCache cluster", regexp.MustCompile(`^ElastiCache (.+)$`)},
	{"directory", regexp.MustCompile(`directory (d-\w+)`)},
	{"RDS instances", regexp.MustCompile(`^RDSNetworkInterface$`)},
	{"RDS proxy", regexp.MustCompile(`^Network interface for DBProxy (.+)$`)},
	{"DMS replication instances", regexp.MustCompile(`^DMSNetworkInterface$`)},
	{"Redshift clusters", regexp.MustCompile(`^RedshiftNetworkInterface$`)},
	{"OpenSearch domain", regexp.MustCompile(`^ES (.+)$`)},
	{"DAX cluster", regexp.MustCompile(`^DAX (.+)$`)},
	{"MSK cluster", regexp.MustCompile(`^Amazon MSK network interface for cluster (\S+)`)},
	{"ECS task attachment", regexp.MustCompile(`^arn:[\w-]+:ecs:\S+:attachment/([\w-]+)`)},
	{"Glue jobs with role", regexp.MustCompile(`^Attached to Glue using role: (\S+)`)},
	{"WorkSpaces", regexp.MustCompile(`(?i)^created by amazon workspaces`)},
	{"node", regexp.MustCompile(`^aws-K8S-(i-\w+)`)},
}

// interfaceTypes are the nouns for the users of interfaces by type, if AWS describes them in no known way; empty for types that AWS gives
// to interfaces of instances, tasks and pods.
var interfaceTypes = map[types.NetworkInterfaceType]string{
	types.NetworkInterfaceTypeInterface:                     "",
	types.NetworkInterfaceTypeEfa:                           "",
	types.NetworkInterfaceTypeEfaOnly:                       "",
	types.NetworkInterfaceTypeTrunk:                         "",
	types.NetworkInterfaceTypeBranch:                        "",
	types.NetworkInterfaceTypeNatGateway:                    "a NAT gateway",
	types.NetworkInterfaceTypeLoadBalancer:                  "a load balancer",
	types.NetworkInterfaceTypeNetworkLoadBalancer:           "a Network Load Balancer",
	types.NetworkInterfaceTypeGatewayLoadBalancer:           "a Gateway Load Balancer",
	types.NetworkInterfaceTypeGatewayLoadBalancerEndpoint:   "a Gateway Load Balancer endpoint",
	types.NetworkInterfaceTypeVpcEndpoint:                   "a VPC endpoint",
	types.NetworkInterfaceTypeTransitGateway:                "a transit gateway attachment",
	types.NetworkInterfaceTypeLambda:                        "Lambda functions",
	types.NetworkInterfaceTypeQuicksight:                    "QuickSight",
	types.NetworkInterfaceTypeGlobalAcceleratorManaged:      "Global Accelerator",
	types.NetworkInterfaceTypeApiGatewayManaged:             "an API Gateway VPC link",
	types.NetworkInterfaceTypeIotRulesManaged:               "rules of AWS IoT",
	types.NetworkInterfaceTypeAwsCodestarConnectionsManaged: "a connection to a code repository",
}

// userOf names the user of a network interface: the one in its description, an instance, the service that it was made for, or otherwise the
// interface itself with AWS's words about it.
func userOf(n types.NetworkInterface) (user string, ofLambda bool) {
	ofLambda = n.InterfaceType == types.NetworkInterfaceTypeLambda
	for _, u := range interfaceUsers {
		if m := u.description.FindStringSubmatch(aws.ToString(n.Description)); m != nil {
			return strings.TrimSpace(u.noun + " " + strings.Join(m[1:], "")), ofLambda || strings.HasPrefix(u.noun, "Lambda")
		}
	}
	if n.Attachment != nil && aws.ToString(n.Attachment.InstanceId) != "" {
		return "instance " + *n.Attachment.InstanceId, false
	}
	if noun := interfaceTypes[n.InterfaceType]; noun != "" {
		return noun, ofLambda
	}
	return aws.ToString(n.NetworkInterfaceId) + aboutInterface(n), false
}

// aboutInterface returns the description and the creator of an interface with an unknown user, in parentheses.
func aboutInterface(n types.NetworkInterface) string {
	var words []string
	if d := aws.ToString(n.Description); d != "" {
		words = append(words, strconv.Quote(status.Truncate(d, 80)))
	}
	maker := cmp.Or(aws.ToString(kind.NonNil(n.Operator).Principal), aws.ToString(n.RequesterId))
	if isManaged := aws.ToBool(n.RequesterManaged) || aws.ToBool(kind.NonNil(n.Operator).Managed); isManaged && maker != "" {
		words = append(words, "made by "+maker)
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// interfacesInWords names the users of network interfaces, with the number of interfaces of each. Lambda removes its interfaces some time
// after the function: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
func interfacesInWords(property string, all []types.NetworkInterface, more bool) found {
	const most = 5
	numbers, lambdas := map[string]int{}, 0
	for _, n := range all {
		user, ofLambda := userOf(n)
		numbers[user]++
		lambdas += kind.Either(ofLambda, 1, 0)
	}
	users := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[b], numbers[a]), cmp.Compare(a, b))
	})
	var parts []string
	rest := len(all)
	for _, user := range users[:min(most, len(users))] {
		parts = append(parts, fmt.Sprintf("%d network interface%s%s of %s", numbers[user], kind.Either(numbers[user] == 1, "", "s"), property, user))
		rest -= numbers[user]
	}
	if rest > 0 || more {
		parts = append(parts, fmt.Sprintf("%d%s others", rest, kind.Either(more, " or more", "")))
	}
	f := found{text: strings.Join(parts, ", ")}
	switch {
	case lambdas == 0:
	case lambdas == len(all) && !more:
		f.endsAlone, f.text = true, f.text+kind.Either(lambdas == 1, "; AWS removes it within about 40 minutes", "; AWS removes them within about 40 minutes")
	default:
		f.text += " (AWS removes those of Lambda functions within about 40 minutes)"
	}
	return f
}
