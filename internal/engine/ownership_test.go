// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// published is a role or a VPC with everything that a reference reads.
func published(ownership v1alpha1.Ownership) v1alpha1.CommonStatus {
	return v1alpha1.CommonStatus{ID: "x", ARN: "arn:aws:iam::123456789012:role/x", Ownership: ownership}
}

func TestTargetOf_GivesWhatItsObjectOwnsOrMayUse(t *testing.T) {
	disputed := []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonConflict}}
	once := metav1.NewTime(noon)
	for _, c := range []struct {
		name   string
		policy v1alpha1.ManagementPolicy
		status v1alpha1.CommonStatus
		// role and vpc are the results of a reference to an IAMRole and to a VPC; empty for a target.
		role, vpc string
	}{
		{name: "its own", status: published(v1alpha1.OwnershipOwned)},
		{name: "not proven to be its own", status: published(v1alpha1.OwnershipDisputed), role: "Waiting", vpc: "Waiting"},
		{name: "observed before", status: published(v1alpha1.OwnershipObserved), role: "Waiting", vpc: "Waiting"},
		{name: "another's that was observed before", status: published(v1alpha1.OwnershipObservedForeign), role: "Waiting", vpc: "Waiting"},
		{name: "observed, of nobody", policy: v1alpha1.ManageObserve, status: published(v1alpha1.OwnershipObserved), role: "NotPermitted"},
		{name: "observed, its own", policy: v1alpha1.ManageObserve, status: published(v1alpha1.OwnershipOwned), role: "NotPermitted"},
		{name: "observed, another's", policy: v1alpha1.ManageObserve, status: published(v1alpha1.OwnershipObservedForeign), role: "NotPermitted",
			vpc: "NotPermitted"},
		{name: "observed by an earlier version", policy: v1alpha1.ManageObserve, status: published(""), role: "NotPermitted", vpc: "Waiting"},
		{name: "of an earlier version, without a proof", status: published(""), role: "Waiting", vpc: "Waiting"},
		{name: "of an earlier version, with the proof", status: v1alpha1.CommonStatus{ID: "x", ARN: "arn:x", CreationTime: &once}},
		{name: "of an earlier version, in conflict",
			status: v1alpha1.CommonStatus{ID: "x", ARN: "arn:x", CreationTime: &once, Conditions: disputed}, role: "Waiting", vpc: "Waiting"},
		{name: "owned, in conflict by now",
			status: v1alpha1.CommonStatus{ID: "x", ARN: "arn:x", Ownership: v1alpha1.OwnershipOwned, Conditions: disputed}, role: "Waiting",
			vpc: "Waiting"},
	} {
		role, vpc := &v1alpha1.IAMRole{}, &v1alpha1.VPC{}
		role.Spec.ManagementPolicy, vpc.Spec.ManagementPolicy = c.policy, c.policy
		role.Status.CommonStatus, vpc.Status.CommonStatus = c.status, c.status
		for kindName, target := range map[string]v1alpha1.Resource{"IAMRole": role, "VPC": vpc} {
			want := map[string]string{"IAMRole": c.role, "VPC": c.vpc}[kindName]
			got, err := TargetOf(Referrer{}, named(kindName), "x", target)
			reason := ""
			if s, ok := status.AsStalled(err); ok {
				reason = s.Reason
			} else if w, ok := status.AsWaiting(err); ok {
				reason = w.Reason
			}
			if reason != want || want == "" && got.ARN != c.status.ARN {
				t.Errorf("%s, %s: %+v, %v, want %q", c.name, kindName, got, err, want)
			}
		}
	}
}

// ownershipAfter returns the owner in a status after a look at a resource with the tags.
func ownershipAfter(t *testing.T, o Owner, tags map[string]string) v1alpha1.Ownership {
	t.Helper()
	d := decider[*v1alpha1.S3Bucket, struct{}]{o: o, seen: kind.Seen[struct{}]{Exists: true, Tags: tags}}
	verdict, _ := Judge(o, tags, d.seen.Created)
	return d.ownership(verdict)
}

func TestOwnership_FollowsFromTheLastLook(t *testing.T) {
	full := us()
	observing := us()
	observing.Policy.Management = v1alpha1.ManageObserve
	elsewhere, beside, earlier := full.OwnerTags(), full.OwnerTags(), full.OwnerTags()
	elsewhere[wellknown.TagOwner] = full.Kind + "/other/x"
	beside[wellknown.TagOwner] = full.Kind + "/" + full.Namespace + "/other"
	beside[wellknown.TagOwnerUID], elsewhere[wellknown.TagOwnerUID], earlier[wellknown.TagOwnerUID] = "theirs", "theirs", "earlier"
	shared := observing
	shared.Neighbors.Shared = []string{"other"}
	for _, c := range []struct {
		name string
		o    Owner
		tags map[string]string
		want v1alpha1.Ownership
	}{
		{"its own", full, full.OwnerTags(), v1alpha1.OwnershipOwned},
		{"another's", full, elsewhere, v1alpha1.OwnershipDisputed},
		{"nobody's", full, nil, v1alpha1.OwnershipDisputed},
		{"an earlier object's, whose tags are to be replaced", full, earlier, ""},
		{"observed, nobody's", observing, nil, v1alpha1.OwnershipObserved},
		{"observed, its own", observing, full.OwnerTags(), v1alpha1.OwnershipOwned},
		{"observed, of the namespace", observing, beside, v1alpha1.OwnershipObserved},
		{"observed, of another namespace", observing, elsewhere, v1alpha1.OwnershipObservedForeign},
		{"observed, of a shared namespace", shared, elsewhere, v1alpha1.OwnershipObserved},
	} {
		if got := ownershipAfter(t, c.o, c.tags); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestForgetObserved_KeepsWhatTheObjectOwns(t *testing.T) {
	for ownership, forgotten := range map[v1alpha1.Ownership]bool{"": false, v1alpha1.OwnershipOwned: false, v1alpha1.OwnershipDisputed: false,
		v1alpha1.OwnershipObserved: true, v1alpha1.OwnershipObservedForeign: true} {
		for _, policy := range []v1alpha1.ManagementPolicy{v1alpha1.ManageFull, v1alpha1.ManageObserve} {
			o := &v1alpha1.Subnet{}
			o.Spec.ManagementPolicy = policy
			o.Status.ID, o.Status.ARN, o.Status.VPCID, o.Status.Ownership, o.Status.Ready = "subnet-1", "arn:subnet-1", "vpc-1", ownership, true
			ForgetObserved(o)
			gone := forgotten && policy == v1alpha1.ManageFull
			if s := o.Status; (s.ID == "") != gone || (s.ARN == "") != gone || (s.VPCID == "") != gone || !s.Ready {
				t.Errorf("%s, %q: %+v", policy, ownership, s)
			}
		}
	}
}

func TestMayUse_NamespacesAndClusters(t *testing.T) {
	o := Owner{Identity: Identity{Namespace: "ns", Cluster: "c1", UID: "u"},
		Neighbors: Neighbors{Previous: []string{"c0"}, Shared: []string{"platform", "c2/network"}}}
	for tags, want := range map[[3]string]bool{
		{"", "", ""}: true, {"", "", "u"}: true, {"", "", "theirs"}: false,
		{"VPC/ns/x", "c1", "theirs"}: true, {"VPC/ns/x", "c0", "theirs"}: true, {"VPC/ns/x", "c2", "theirs"}: false,
		{"VPC/other/x", "c1", "theirs"}: false, {"VPC/platform/x", "c1", "theirs"}: true, {"VPC/platform/x", "c2", "theirs"}: false,
		{"VPC/network/x", "c2", "theirs"}: true, {"VPC/network/x", "c1", "theirs"}: false, {"nonsense", "c1", "theirs"}: false,
	} {
		have := map[string]string{wellknown.TagOwner: tags[0], wellknown.TagCluster: tags[1], wellknown.TagOwnerUID: tags[2]}
		if got := o.mayUse(have); got != want {
			t.Errorf("%q: %v", tags, got)
		}
	}
}

// The name in AWS may be another one than that of the object.
func TestConflict_NamesTheResourceInAWS(t *testing.T) {
	type state struct {
		Bucket string `drift:"identity"`
		Policy string
	}
	if got := nameOf(state{Bucket: "myapp-logs", Policy: "p"}); got != "the AWS resource myapp-logs" {
		t.Errorf("%q", got)
	}
	if got := nameOf(state{}); got != "the AWS resource" {
		t.Errorf("%q", got)
	}
}

// named is a kind with only a name.
type named string

func (n named) Name() string           { return string(n) }
func (named) New() v1alpha1.Resource   { return nil }
func (named) Meta() kind.Meta          { return kind.Meta{} }
func (named) ExportIdentity() []string { return nil }
func (named) Bind(aws.Config) Binding  { return nil }
