// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestNamedIn_FindsIdentifiersWhereverTheyStand(t *testing.T) {
	table := &v1alpha1.RouteTable{}
	table.Spec.VPCID = "vpc-1"
	table.Spec.SubnetAssociations = &[]v1alpha1.SubnetID{"subnet-1", "subnet-2"}
	var got []string
	for _, n := range NamedIn(table) {
		got = append(got, n.Field+" "+n.Type+" "+n.Value)
	}
	slices.Sort(got)
	want := []string{"spec.subnetAssociations[0] ec2:subnet subnet-1", "spec.subnetAssociations[1] ec2:subnet subnet-2", "spec.vpcID ec2:vpc vpc-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamedIn_FindsIdentifiersInMaps(t *testing.T) {
	o := &v1alpha1.SSMParameterSet{}
	o.Spec.Parameters = map[string]v1alpha1.SSMParameter{"b": {KeyID: "alias/b"}, "a": {KeyID: "alias/a"}, "plain": {}}
	want := []Named{{Field: "spec.parameters[a].keyID", Value: "alias/a", Type: "kms:key"}, {Field: "spec.parameters[b].keyID", Value: "alias/b", Type: "kms:key"}}
	if got := NamedIn(o); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestNamed_ARNs(t *testing.T) {
	sc := kind.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	for _, c := range []struct{ resource, value, want string }{
		{"ec2:subnet", "subnet-1", "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-1"},
		{"ec2:internet-gateway", "igw-1", "arn:aws:ec2:eu-west-1:123456789012:internet-gateway/igw-1"},
		{"ec2:internet-gateway", "vgw-1", ""},
		{"rds:subgrp", "shop", "arn:aws:rds:eu-west-1:123456789012:subgrp:shop"},
		{"s3:bucket", "code", "arn:aws:s3:::code"},
		{"route53:hostedzone", "Z1", "arn:aws:route53:::hostedzone/Z1"},
		{"kms:key", "1234", "arn:aws:kms:eu-west-1:123456789012:key/1234"},
		{"kms:key", "alias/shop", "arn:aws:kms:eu-west-1:123456789012:alias/shop"},
		{"kms:key", "arn:aws:kms:us-east-1:123456789012:key/1234", "arn:aws:kms:us-east-1:123456789012:key/1234"},
		{"iam:role", "team/app", "arn:aws:iam::123456789012:role/team/app"},
		{"arn", "arn:aws:lambda:eu-west-1:123456789012:function:shop:live", "arn:aws:lambda:eu-west-1:123456789012:function:shop"},
		{"arn", "arn:aws:s3:::code/path", "arn:aws:s3:::code"},
		{"arn", "arn:aws:sqs:eu-west-1:999999999999:jobs", ""},
		{"arn", "ops@example.com", ""},
		{"arn", "arn:nonsense", ""},
		{"ecr:image", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/a/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/a/shop"},
		{"ecr:image", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/shop@sha256:12", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"ecr:image", "999999999999.dkr.ecr.eu-west-1.amazonaws.com/shop:v1", ""},
		{"ecr:image", "shop:v1", ""},
		{"ecr:image", "123456789012.dkr.ecr-fips.eu-west-1.amazonaws.com/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"ecr:image", "123456789012.dkr-ecr.eu-west-1.on.aws/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"ecr:image", "123456789012.DKR.ECR.eu-west-1.amazonaws.com/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"rds:subgrp", "SHOP", "arn:aws:rds:eu-west-1:123456789012:subgrp:shop"},
		{"ec2:security-group", "sg-0ABC", "arn:aws:ec2:eu-west-1:123456789012:security-group/sg-0abc"},
		{"s3:bucket", "Code", "arn:aws:s3:::code"},
		{"kms:key", "AB12", "arn:aws:kms:eu-west-1:123456789012:key/ab12"},
		{"kms:key", "alias/Shop", "arn:aws:kms:eu-west-1:123456789012:alias/Shop"},
		{"kms:key", "arn:aws:kms:us-east-1:123456789012:key/AB12", "arn:aws:kms:us-east-1:123456789012:key/ab12"},
	} {
		if got := (Named{Value: c.value, Type: c.resource}).arn(sc); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.resource, c.value, got, c.want)
		}
	}
}

func TestDecide_RefusesWhatAnotherNamespaceOwns(t *testing.T) {
	subnet := &v1alpha1.Subnet{}
	subnet.Spec.VPCID = "vpc-1"
	theirs := map[string]string{wellknown.TagOwner: "VPC/other/net", wellknown.TagOwnerUID: "theirs", wellknown.TagCluster: us().Cluster}
	writes := Plan{Cause: New, Steps: []kind.Step{{Action: "ec2:CreateSubnet"}}}
	failure := errors.New("throttled")
	for _, c := range []struct {
		name  string
		tags  map[string]string
		err   error
		plan  Plan
		edit  func(*Owner)
		want  string
		looks int
	}{
		{name: "another namespace's", tags: theirs, plan: writes, want: status.ReasonNotPermitted, looks: 1},
		{name: "nobody's", plan: writes, looks: 1},
		{name: "of a shared namespace", tags: theirs, plan: writes, edit: func(o *Owner) { o.Shared = []string{"other"} }, looks: 1},
		{name: "nothing to write", tags: theirs, plan: Plan{Cause: InSync}},
		{name: "a deletion", tags: theirs, plan: writes, edit: func(o *Owner) { o.Deleting = true }},
		{name: "an object that observes", tags: theirs, plan: writes, edit: func(o *Owner) { o.Management = v1alpha1.ManageObserve }},
		{name: "a look that fails", err: failure, plan: writes, want: "failure", looks: 1},
	} {
		looks := 0
		sc := kind.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1", OwnersOf: func(_ context.Context, arns []string) (map[string]map[string]string, error) {
			looks++
			return map[string]map[string]string{arns[0]: c.tags}, c.err
		}}
		o := us()
		if c.edit != nil {
			c.edit(&o)
		}
		err := refuseOthersResources(t.Context(), sc, o, subnet, c.plan)
		got := ""
		if s, ok := status.AsStalled(err); ok {
			got = s.Reason
		} else if err != nil {
			got = "failure"
		}
		if got != c.want || looks != c.looks {
			t.Errorf("%s: %v after %d looks", c.name, err, looks)
		}
	}
}

// Members that are only known at run time may contain the ARN of any resource.
func TestNamedIn_FindsARNsInProperties(t *testing.T) {
	o := &v1alpha1.AWSResource{}
	o.Spec.Properties.Raw = []byte(`{"Name":"a","Targets":[{"Arn":"arn:aws:sqs:eu-west-1:123456789012:jobs"}],"Encryption":{"KeyId":"arn:aws:kms:eu-west-1:123456789012:key/1"}}`)
	want := []Named{
		{Field: "spec.properties.Encryption.KeyId", Value: "arn:aws:kms:eu-west-1:123456789012:key/1", Type: "arn"},
		{Field: "spec.properties.Targets[0].Arn", Value: "arn:aws:sqs:eu-west-1:123456789012:jobs", Type: "arn"},
	}
	if got := NamedIn(o); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
