// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// interfaceUsers are the descriptions that services of AWS give the network interfaces that they make, with the noun of what
// uses such an interface. Read only; the first match counts.
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
	{"node", regexp.MustCompile(`^aws-K8S-(i-\w+)`)},
}

// userOf names what uses a network interface: an instance, what its description names, or the interface itself.
func userOf(n types.NetworkInterface) (user string, ofLambda bool) {
	for _, u := range interfaceUsers {
		if m := u.description.FindStringSubmatch(aws.ToString(n.Description)); m != nil {
			return strings.TrimSpace(u.noun + " " + strings.Join(m[1:], "")), strings.HasPrefix(u.noun, "Lambda")
		}
	}
	if n.Attachment != nil && aws.ToString(n.Attachment.InstanceId) != "" {
		return "instance " + *n.Attachment.InstanceId, false
	}
	return aws.ToString(n.NetworkInterfaceId), false
}

// interfacesInWords names what uses network interfaces, with the number of interfaces of each. Lambda removes its interfaces
// some time after the function: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
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
