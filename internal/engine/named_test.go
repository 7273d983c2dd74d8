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
	want := []string{"spec.subnetAssociations[0] ec2:subnet subnet-1", "spec.subnetAssociations[1] ec2:subnet subnet-2",
		"spec.vpcID ec2:vpc vpc-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamedIn_FindsIdentifiersInMaps(t *testing.T) {
	o := &v1alpha1.SSMParameterSet{}
	o.Spec.Parameters = map[string]v1alpha1.SSMParameter{"b": {KeyID: "alias/b"}, "a": {KeyID: "alias/a"}, "plain": {}}
	want := []Named{{Field: "spec.parameters[a].keyID", Value: "alias/a", Type: "kms:key"},
		{Field: "spec.parameters[b].keyID", Value: "alias/b", Type: "kms:key"}}
	if got := NamedIn(o); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestDecide_RefusesWhatAnotherNamespaceOwns(t *testing.T) {
	subnet := &v1alpha1.Subnet{}
	subnet.Spec.VPCID = "vpc-0123456789abcdef0"
	theirs := map[string]string{wellknown.TagOwner: "VPC/other/net", wellknown.TagOwnerUID: "theirs", wellknown.TagCluster: us().Cluster}
	ours := us().OwnerTags()
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
		{name: "of a shared namespace", tags: theirs, plan: writes, edit: func(o *Owner) { o.Neighbors.Shared = []string{"other"} }, looks: 1},
		{name: "nobody's, of a type that the administrator allows", plan: writes,
			edit: func(o *Owner) { o.Neighbors.Foreign = []string{"arn:aws:ec2:*:*:vpc/*"} }, looks: 1},
		{name: "nobody's, of another type", plan: writes, edit: func(o *Owner) { o.Neighbors.Foreign = []string{"arn:aws:s3:::*"} },
			want: status.ReasonNotPermitted, looks: 1},
		{name: "of this namespace, of another type", tags: ours, plan: writes,
			edit:  func(o *Owner) { o.Neighbors.Foreign = []string{"arn:aws:s3:::*"} },
			looks: 1},
		{name: "nothing to write", tags: theirs, plan: Plan{Cause: InSync}},
		{name: "a deletion", tags: theirs, plan: writes, edit: func(o *Owner) { o.Deleting = true }},
		{name: "an object that observes", tags: theirs, plan: writes, edit: func(o *Owner) { o.Policy.Management = v1alpha1.ManageObserve }},
		{name: "a look that fails", err: failure, plan: writes, want: "failure", looks: 1},
	} {
		looks := 0
		sc := kind.Scope{Place: kind.Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"},
			Lookups: kind.Lookups{OwnersOf: func(_ context.Context, arns []string) (map[string]map[string]string, error) {
				looks++
				return map[string]map[string]string{arns[0]: c.tags}, c.err
			}}}
		o := us()
		if c.edit != nil {
			c.edit(&o)
		}
		err := refuseOthersResources(t.Context(), sc, o, c.plan, func() []kind.Naming { return namedBy(nil, sc, subnet) })
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

// A name that only resembles that of a resource is no reason to refuse an object; the ARN of another account is.
func TestWhyNotNamed_JudgesWhatIsOutsideOfTheAccount(t *testing.T) {
	o := us()
	o.Neighbors.Foreign = []string{"arn:aws:s3:::*"}
	const elsewhere = "arn:aws:sqs:eu-west-1:999999999999:jobs"
	for _, c := range []struct {
		n       kind.Naming
		refused bool
	}{
		{kind.Naming{Value: elsewhere}, true},
		{kind.Naming{Value: "arn:aws:s3:::code"}, false},
		{kind.Naming{Value: "local"}, false},
		{kind.Naming{Value: "arn:aws:iam::aws:policy/ReadOnlyAccess"}, false},
		{kind.Naming{Value: "alias/aws/s3", ARNs: []string{"arn:aws:kms:eu-west-1:123456789012:alias/aws/s3"}}, false},
		{kind.Naming{Value: "alias/shop", ARNs: []string{"arn:aws:kms:eu-west-1:123456789012:alias/shop"}}, true},
		{kind.Naming{Value: "events", ARNs: []string{"arn:aws:logs:eu-west-1:123456789012:log-group:events"}, Guessed: true}, false},
	} {
		if why := o.whyNotNamed(c.n, nil); (why != "") != c.refused {
			t.Errorf("%+v: %q", c.n, why)
		}
	}
}
