// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func TestHolds_SayWhatUsesTheNetworkInterfaces(t *testing.T) {
	of := func(descriptions ...string) []types.NetworkInterface {
		var out []types.NetworkInterface
		for i, d := range descriptions {
			out = append(out, types.NetworkInterface{NetworkInterfaceId: aws.String(fmt.Sprintf("eni-%d", i)), Description: aws.String(d)})
		}
		return out
	}
	const lambda = "AWS Lambda VPC ENI-fn-0f3c1b2a-1111-4222-8333-123456789abc"
	attached := of("")
	attached[0].Attachment = &types.NetworkInterfaceAttachment{InstanceId: aws.String("i-1")}
	typed := func(kind types.NetworkInterfaceType) []types.NetworkInterface {
		return []types.NetworkInterface{{NetworkInterfaceId: aws.String("eni-0"), InterfaceType: kind}}
	}
	managed := of("Tomorrow's service, broker 1")
	managed[0].RequesterManaged, managed[0].RequesterId = aws.Bool(true), aws.String("amazon-tomorrow")
	for name, tc := range map[string]struct {
		all       []types.NetworkInterface
		more      bool
		want      string
		endsAlone bool
	}{
		"a Lambda function": {of(lambda), false, "1 network interface of Lambda function fn; AWS removes it within about 40 minutes", true},
		"Lambda, in another form": {of("AWS Lambda VPC ENI: fn"), false,
			"1 network interface of Lambda function fn; AWS removes it within about 40 minutes", true},
		"two of a function": {of(lambda, lambda), false,
			"2 network interfaces of Lambda function fn; AWS removes them within about 40 minutes", true},
		"Lambda and another": {of(lambda, "ELB app/web/50dc6c495c0c9188"), false,
			"1 network interface of Lambda function fn, 1 network interface of load balancer web (AWS removes those of Lambda functions within about 40 minutes)", false},
		"a classic load balancer": {of("ELB web"), false, "1 network interface of load balancer web", false},
		"a NAT gateway":           {of("Interface for NAT Gateway nat-0a1"), false, "1 network interface of NAT gateway nat-0a1", false},
		"an endpoint":             {of("VPC Endpoint Interface vpce-0a1"), false, "1 network interface of VPC endpoint vpce-0a1", false},
		"a database":              {of("RDSNetworkInterface"), false, "1 network interface of RDS instances", false},
		"an EKS cluster":          {of("Amazon EKS prod"), false, "1 network interface of EKS cluster prod", false},
		"an instance":             {attached, false, "1 network interface of instance i-1", false},
		"a proxy":                 {of("Network interface for DBProxy orders"), false, "1 network interface of RDS proxy orders", false},
		"a task": {of("arn:aws:ecs:eu-west-2:123456789012:attachment/665d4fbe"), false,
			"1 network interface of ECS task attachment 665d4fbe", false},
		"replication": {of("DMSNetworkInterface"), false, "1 network interface of DMS replication instances", false},
		"nobody":      {of("made by hand"), false, `1 network interface of eni-0 ("made by hand")`, false},
		"a service of tomorrow": {managed, false, `1 network interface of eni-0 ("Tomorrow's service, broker 1", made by amazon-tomorrow)`,
			false},
		"a type of AWS": {typed(types.NetworkInterfaceTypeApiGatewayManaged), false, "1 network interface of an API Gateway VPC link",
			false},
		"the type of Lambda": {typed(types.NetworkInterfaceTypeLambda), false,
			"1 network interface of Lambda functions; AWS removes it within about 40 minutes", true},
		"more than are listed": {of("ELB a", "ELB b", "ELB b", "ELB c", "ELB d", "ELB e", "ELB f"), true,
			"2 network interfaces of load balancer b, 1 network interface of load balancer a, 1 network interface of load balancer c, 1 network interface of load balancer d, 1 network interface of load balancer e, 1 or more others", false},
		"none": {nil, false, "", false},
	} {
		if got := interfacesInWords("", tc.all, tc.more); got.text != tc.want || got.endsAlone != tc.endsAlone {
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		}
	}
}

func TestHolds_KnowEveryTypeOfNetworkInterface(t *testing.T) {
	for _, known := range types.NetworkInterfaceType("").Values() {
		if _, ok := interfaceTypes[known]; !ok {
			t.Errorf("say what makes network interfaces of type %s", known)
		}
	}
}
