// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	account = "orders" // the ServiceAccount
	roles   = "arn:aws:iam::" + kindtest.Account + ":role/"

	create = "eks:CreatePodIdentityAssociation"
	change = "eks:UpdatePodIdentityAssociation"
	remove = "eks:DeletePodIdentityAssociation"
	tag    = "eks:TagResource"
	untag  = "eks:UntagResource"
)

type (
	spec = v1alpha1.PodIdentityAssociationSpec
	edit = func(s *spec)
)

func associationOf(edits ...edit) *v1alpha1.PodIdentityAssociation {
	o := &v1alpha1.PodIdentityAssociation{}
	o.Name = account
	o.Spec = spec{ClusterName: kindtest.EKSCluster, Namespace: kindtest.Namespace, ServiceAccount: account,
		RoleRef: &v1alpha1.ObjectReference{Name: "orders"}}
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func ref(name string) edit {
	return func(s *spec) { s.RoleRef = &v1alpha1.ObjectReference{Name: name} }
}

func role(arn string) edit { return func(s *spec) { s.RoleRef, s.RoleARN = nil, arn } }

func withoutTags(v bool) edit { return func(s *spec) { s.DisableSessionTags = &v } }

// target is a role in another account.
const target = "arn:aws:iam::444455556666:role/remote"

func targeting(arn string) edit { return func(s *spec) { s.TargetRoleARN = arn } }

// limited gives a session policy, which EKS accepts only without session tags.
func limited(action string) edit {
	return func(s *spec) {
		s.DisableSessionTags = aws.Bool(true)
		s.Policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"*"}]}`
	}
}

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) edit { return func(s *spec) { s.DeletionPolicy = p } }

func api(r *kindtest.Rig) *eks.Client { return eks.NewFromConfig(r.Config) }

// inCluster makes the cluster, two roles that trust EKS Pod Identity and one that does not, and the targets of references.
func inCluster(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	makeCluster(t, s.Rig)
	s.Targets = map[string]kind.Target{}
	for _, name := range []string{"orders", "others"} {
		s.Targets["IAMRole/"+name] = kind.Target{ID: name, ARN: roles + name}
	}
}

func makeCluster(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).CreateCluster(t.Context(),
		&eks.CreateClusterInput{Name: aws.String(kindtest.EKSCluster), RoleArn: aws.String(roles + "cluster"),
			ResourcesVpcConfig: &types.VpcConfigRequest{}})
	kindtest.Must(t, err)
	trusting := iampolicy.PodIdentity{Cluster: "arn:aws:eks:" + kindtest.Region + ":" + kindtest.Account + ":cluster/" + kindtest.EKSCluster,
		Namespace: kindtest.Namespace, Name: account}.Trust()
	other := iampolicy.Statement{Effect: iampolicy.Allow, Principal: iampolicy.Principals{"Service": {"ec2.amazonaws.com"}},
		Action: iampolicy.Values{"sts:AssumeRole"}}
	for name, statement := range map[string]iampolicy.Statement{"orders": trusting, "others": trusting, "untrusting": other} {
		document, err := iampolicy.New(statement).Encode()
		kindtest.Must(t, err)
		_, err = iam.NewFromConfig(r.Config).CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &document})
		kindtest.Must(t, err)
	}
}

// associations returns those of the ServiceAccount.
func associations(t *testing.T, r *kindtest.Rig) []types.PodIdentityAssociation {
	t.Helper()
	list, err := api(r).ListPodIdentityAssociations(t.Context(),
		&eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(kindtest.EKSCluster),
			Namespace: aws.String(kindtest.Namespace), ServiceAccount: aws.String(account)})
	kindtest.Must(t, err)
	var out []types.PodIdentityAssociation
	for _, a := range list.Associations {
		d, err := api(r).DescribePodIdentityAssociation(t.Context(),
			&eks.DescribePodIdentityAssociationInput{ClusterName: a.ClusterName, AssociationId: a.AssociationId})
		kindtest.Must(t, err)
		out = append(out, *d.Association)
	}
	return out
}

func exists(t *testing.T, r *kindtest.Rig) bool { return len(associations(t, r)) > 0 }

func makeAssociation(t *testing.T, r *kindtest.Rig, tags map[string]string) {
	t.Helper()
	_, err := api(r).CreatePodIdentityAssociation(t.Context(),
		&eks.CreatePodIdentityAssociationInput{ClusterName: aws.String(kindtest.EKSCluster),
			Namespace: aws.String(kindtest.Namespace), ServiceAccount: aws.String(account), RoleArn: aws.String(roles + "orders"), Tags: tags})
	kindtest.Must(t, err)
}

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeAssociation(t, r, tags) }
}

// give gives the ServiceAccount another role outside the operator.
func give(arn string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		for _, a := range associations(t, r) {
			_, err := api(r).UpdatePodIdentityAssociation(t.Context(),
				&eks.UpdatePodIdentityAssociationInput{ClusterName: a.ClusterName, AssociationId: a.AssociationId, RoleArn: &arn})
			kindtest.Must(t, err)
		}
	}
}

func deleteAll(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	for _, a := range associations(t, r) {
		_, err := api(r).DeletePodIdentityAssociation(t.Context(),
			&eks.DeletePodIdentityAssociationInput{ClusterName: a.ClusterName, AssociationId: a.AssociationId})
		kindtest.Must(t, err)
	}
}

func ownerTags(uid, cluster string) map[string]string {
	o := engine.Identity{Kind: "PodIdentityAssociation", Namespace: kindtest.Namespace, Name: account, UID: uid, Cluster: cluster}
	return o.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestPodIdentityAssociation(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewPodIdentityAssociation), inCluster, slices.Concat(lives(), refusals(), edits(), owners()))
}

func lives() []kindtest.Case {
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: associationOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "a role by ARN, without session tags, with tags",
			Object: associationOf(role(roles+"orders"), withoutTags(true), tagged("team", "a")), Cause: engine.New, Actions: []string{create}},
		{Name: "a target role and a session policy", Object: associationOf(targeting(target), limited("s3:GetObject")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "in sync", Existing: associationOf(withoutTags(false)), Object: associationOf(withoutTags(false)), Cause: engine.InSync},
		{Name: "deleted by hand, it is created again", Existing: associationOf(), Object: associationOf(), Drift: true, Before: deleteAll,
			Cause: engine.New, Actions: []string{create}},
		{Name: "deleting", Existing: associationOf(), Object: associationOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{remove}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: associationOf(deletion(v1alpha1.DeletionOrphan)),
			Object:   associationOf(deletion(v1alpha1.DeletionOrphan)),
			Deleting: true, Drift: true, Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func refusals() []kindtest.Case {
	refused := func(name, reason string, facts func(s *kindtest.Subject), edits ...edit) kindtest.Case {
		return kindtest.Case{Name: name, Object: associationOf(edits...), Facts: facts, Stalled: reason}
	}
	bounded := func(s *kindtest.Subject) { s.Boundary = "arn:aws:iam::123456789012:policy/bound" }
	return []kindtest.Case{
		refused("a ServiceAccount of another namespace", status.ReasonNotPermitted, nil, func(s *spec) { s.Namespace = "kube-system" }),
		refused("a ServiceAccount of another cluster", status.ReasonNotPermitted, nil, func(s *spec) { s.ClusterName = "staging" }),
		refused("a role outside the provider's path", status.ReasonNotPermitted, func(s *kindtest.Subject) { s.RolePath = "/teams/" },
			role(roles+"orders")),
		refused("any role by ARN where the provider bounds roles", status.ReasonNotPermitted, bounded, role(roles+"orders")),
		refused("a role and a reference", status.ReasonInvalidSpec, nil, func(s *spec) { s.RoleARN = roles + "orders" }),
		refused("no role", status.ReasonInvalidSpec, nil, func(s *spec) { s.RoleRef = nil }),
		refused("a role by its name", status.ReasonInvalidSpec, nil, role("orders")),
		{Name: "session tags beside a session policy that is kept", Existing: associationOf(limited("s3:GetObject")),
			Object: associationOf(withoutTags(false)),
			Cause:  engine.Edited, Stalled: status.ReasonImmutable},
		refused("a namespace in capital letters", status.ReasonInvalidSpec, nil, func(s *spec) { s.Namespace = "Team" }),
	}
}

func edits() []kindtest.Case {
	return []kindtest.Case{
		{Name: "another role", Existing: associationOf(), Object: associationOf(ref("others")), Cause: engine.Edited, Diff: []string{"Role"},
			Actions: []string{change}},
		{Name: "another role set by hand is corrected", Existing: associationOf(), Object: associationOf(), Drift: true,
			Before: give(roles + "others"),
			Cause:  engine.Drifted, Diff: []string{"Role"}, Actions: []string{change}},
		{Name: "session tags switched off", Existing: associationOf(), Object: associationOf(withoutTags(true)), Cause: engine.Edited,
			Diff: []string{"DisableSessionTags"}, Actions: []string{change}},
		{Name: "a target role is set", Existing: associationOf(), Object: associationOf(targeting(target)), Cause: engine.Edited,
			Diff: []string{"TargetRole"}, Actions: []string{change}},
		{Name: "another target role", Existing: associationOf(targeting(target)), Object: associationOf(targeting(target + "2")),
			Cause: engine.Edited, Diff: []string{"TargetRole"}, Actions: []string{change}},
		{Name: "a target role that the object does not name stays", Existing: associationOf(targeting(target)), Object: associationOf(),
			Cause: engine.InSync},
		{Name: "a session policy is changed", Existing: associationOf(limited("s3:GetObject")), Object: associationOf(limited("s3:PutObject")),
			Cause: engine.Edited, Diff: []string{"Policy"}, Actions: []string{change}},
		{Name: "a session policy is set and the tags are left out", Existing: associationOf(), Object: associationOf(limited("s3:GetObject")),
			Cause: engine.Edited, Diff: []string{"Policy", "DisableSessionTags"}, Actions: []string{change}},
		{Name: "tags are added and dropped", Existing: associationOf(tagged("old", "1")), Object: associationOf(tagged("team", "a")),
			Cause: engine.Edited,
			Diff:  []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: associationOf(),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: associationOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's operator has it", Object: associationOf(), Before: before(ownerTags("an-earlier-one", "another")),
			Stalled: status.ReasonConflict},
		{Name: "made by hand, it is a conflict", Object: associationOf(), Before: before(map[string]string{"made": "by hand"}),
			Stalled: status.ReasonConflict},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: associationOf(tagged("team", "a")), Exists: exists, Parents: makeCluster,
		Facts: func(s *kindtest.Subject) {
			s.Targets = map[string]kind.Target{"IAMRole/orders": {ID: "orders", ARN: roles + "orders"},
				"IAMRole/others": {ID: "others", ARN: roles + "others"}}
		},
		Foreign: func(t *testing.T, r *kindtest.Rig) { makeAssociation(t, r, nil) },
		Edited:  associationOf(tagged("team", "b"), ref("others")),
		Invalid: []v1alpha1.Resource{associationOf(tagged("team", "a"), func(s *spec) { s.RoleARN = roles + "orders" })},
	}
}

func TestPodIdentityAssociationSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewPodIdentityAssociation), life())
}

func TestPodIdentityAssociationSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewPodIdentityAssociation), life())
}

func subject(t *testing.T, o *v1alpha1.PodIdentityAssociation) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewPodIdentityAssociation), o)
	inCluster(t, s)
	return s
}

// A capability's workloads may run in another namespace than its objects.
func TestACapabilityNamesAnotherNamespace(t *testing.T) {
	s := subject(t, associationOf(func(s *spec) { s.Namespace = "shop-dev" }))
	s.Trusted = true
	kindtest.Settled(t, s)
	if st := s.Object.(*v1alpha1.PodIdentityAssociation).Status; !strings.HasPrefix(st.AssociationID, "a-") || st.RoleARN != roles+"orders" ||
		!strings.HasSuffix(st.ARN, ":podidentityassociation/production/"+st.AssociationID) {
		t.Errorf("%+v", st)
	}
}

func TestARoleThatIsNotReadyIsWaitedFor(t *testing.T) {
	s := subject(t, associationOf(ref("late")))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "IAMRole/late" {
		t.Errorf("got %v", err)
	}
}

// IAM and EKS show a new role and its trust policy late.
func TestARoleThatDoesNotTrustPodIdentityIsWaitedFor(t *testing.T) {
	s := subject(t, associationOf(role(roles+"untrusting")))
	_, err := s.Pass(t.Context(), nil)
	if _, stalled := status.AsStalled(err); stalled || err == nil ||
		!strings.Contains(err.Error(), "Trust policy of the role provided is invalid") {
		t.Errorf("got %v", err)
	}
}

func TestAClusterThatIsNotInTheAccount(t *testing.T) {
	s := subject(t, associationOf())
	_, err := api(s.Rig).DeleteCluster(t.Context(), &eks.DeleteClusterInput{Name: aws.String(kindtest.EKSCluster)})
	kindtest.Must(t, err)
	_, err = s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Field != "spec.clusterName" || !strings.Contains(st.Message, "no EKS cluster production") {
		t.Fatalf("got %v", err)
	}
	s.Deleting = true
	kindtest.Settled(t, s)
}

func TestPodIdentityAssociationCosts(t *testing.T) {
	s := subject(t, associationOf(tagged("team", "a")))
	const list, describe = "ListPodIdentityAssociations", "DescribePodIdentityAssociation"
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreatePodIdentityAssociation": 1, list: 1, describe: 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{describe: 1}, Change: s.Forget},
		kindtest.Cost{Name: "another role", Calls: map[string]int{describe: 2, "UpdatePodIdentityAssociation": 1},
			Change: func() { s.Edit(associationOf(tagged("team", "a"), ref("others"))) }},
		kindtest.Cost{Name: "delete", Calls: map[string]int{describe: 1, "DeletePodIdentityAssociation": 1},
			Change: func() { s.Deleting = true }})
}
