// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name    = "myapp-dev-llm-query"
	account = "arn:aws:iam::" + kindtest.Account

	trust         = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	readOne       = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":"arn:aws:s3:::one/*"}]}`
	readTwo       = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":"arn:aws:s3:::two/a+b%20*"}]}`
	everything    = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	administrator = account + ":policy/AdministratorAccess"

	boundary = account + ":policy/boundary"
	policyA  = account + ":policy/a"
	policyB  = account + ":policy/b"
)

type spec = v1alpha1.IAMRoleSpec

func roleOf(edits ...func(s *spec)) *v1alpha1.IAMRole {
	r := &v1alpha1.IAMRole{}
	r.Name = name
	r.Spec.RoleName = name
	r.Spec.AssumeRolePolicyDocument = trust
	for _, edit := range edits {
		edit(&r.Spec)
	}
	return r
}

// capability is a role as a capability compiles it.
func capability(s *spec) {
	s.AssumeRolePolicyDocument, s.IRSA = "", &v1alpha1.IAMRoleIRSA{ServiceAccount: "llm-query"}
	s.InlinePolicies = policies("access", readOne)
}

func policies(namesAndDocs ...string) []v1alpha1.IAMInlinePolicy {
	var out []v1alpha1.IAMInlinePolicy
	for p := range slices.Chunk(namesAndDocs, 2) {
		out = append(out, v1alpha1.IAMInlinePolicy{PolicyName: p[0], PolicyDocument: p[1]})
	}
	return out
}

func inline(namesAndDocs ...string) func(s *spec) {
	return func(s *spec) { s.InlinePolicies = policies(namesAndDocs...) }
}

func attach(arns ...v1alpha1.IAMPolicyARN) func(s *spec) {
	return func(s *spec) { s.ManagedPolicyArns = arns }
}

func exclusive(s *spec) { s.ExclusivePolicies = true }

func described(d string) func(s *spec) { return func(s *spec) { s.Description = &d } }

func session(n int32) func(s *spec) { return func(s *spec) { s.MaxSessionDuration = &n } }

func bound(arn string) func(s *spec) { return func(s *spec) { s.PermissionsBoundary = &arn } }

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

func api(r *kindtest.Rig) *iam.Client { return iam.NewFromConfig(r.Config) }

// trusted is the scope of an object that a capability made; the managed policies exist in the account.
func trusted(t *testing.T) func(s *kindtest.Subject) {
	return func(s *kindtest.Subject) {
		s.Trusted = true
		makePolicies(t, s.Rig)
	}
}

func makePolicies(t *testing.T, r *kindtest.Rig) {
	for _, p := range []string{"a", "b", "boundary", "AdministratorAccess"} {
		_, err := api(r).CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: &p, PolicyDocument: aws.String(readOne)})
		kindtest.Must(t, err)
	}
}

func createRole(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateRole(t.Context(),
			&iam.CreateRoleInput{RoleName: aws.String(name), AssumeRolePolicyDocument: aws.String(trust), Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
}

func putPolicy(policy, doc string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutRolePolicy(t.Context(),
			&iam.PutRolePolicyInput{RoleName: aws.String(name), PolicyName: &policy, PolicyDocument: &doc})
		kindtest.Must(t, err)
	}
}

func attachPolicy(arn string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: aws.String(name), PolicyArn: &arn})
		kindtest.Must(t, err)
	}
}

func both(a, b func(*testing.T, *kindtest.Rig)) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { t.Helper(); a(t, r); b(t, r) }
}

func exists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	_, err := api(r).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String(name)})
	if err != nil && !awsclient.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "IAMRole", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

const (
	create  = "iam:CreateRole"
	update  = "iam:UpdateRole"
	retrust = "iam:UpdateAssumeRolePolicy"
	put     = "iam:PutRolePolicy"
	drop    = "iam:DeleteRolePolicy"
	att     = "iam:AttachRolePolicy"
	detach  = "iam:DetachRolePolicy"
	fence   = "iam:PutRolePermissionsBoundary"
	tag     = "iam:TagRole"
	untag   = "iam:UntagRole"
	remove  = "iam:DeleteRole"
)

func putBoundary(arn string) func(t *testing.T, r *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		_, err := api(r).PutRolePermissionsBoundary(t.Context(),
			&iam.PutRolePermissionsBoundaryInput{RoleName: aws.String(name), PermissionsBoundary: &arn})
		kindtest.Must(t, err)
	}
}

func TestRole(t *testing.T) {
	cases := slices.Concat(lives(), edits(), drifts(), deletions(), owners(), profileRows())
	for i := range cases {
		if facts := cases[i].Facts; facts == nil {
			cases[i].Facts = trusted(t)
		} else {
			cases[i].Facts = func(s *kindtest.Subject) { trusted(t)(s); facts(s) }
		}
	}
	kindtest.Run(t, engine.For(NewRole), cases)
}

func lives() []kindtest.Case {
	full := roleOf(described("for tests"), session(7200), bound(boundary), inline("one", readOne, "two", readTwo), attach(policyA, policyB),
		tagged("team", "a"))
	full.Spec.Path = "/nexus/team/"
	return []kindtest.Case{
		{Name: "absent is created, and its policies are granted", Object: roleOf(capability), Cause: engine.New,
			Actions: []string{create, "iam:PutRolePolicy"}},
		{Name: "with all that a role can have", Object: full, Cause: engine.New,
			Actions: []string{create, "iam:PutRolePolicy", "iam:PutRolePolicy", "iam:AttachRolePolicy", "iam:AttachRolePolicy"}},
		{Name: "a document that AWS wrote differently is the same", Existing: roleOf(inline("one", readOne)),
			Object: roleOf(inline("one",
				strings.NewReplacer(`["s3:GetObject"]`, ` "s3:GetObject" `, `"arn:aws:s3:::one/*"`, `["arn:aws:s3:::one/*"]`).Replace(readOne))),
			Cause: engine.InSync},
		{Name: "a document with plus and percent signs is the same", Existing: roleOf(inline("two", readTwo)),
			Object: roleOf(inline("two", readTwo)), Drift: true, Cause: engine.InSync},
		{Name: "the single form of a policy is an entry of the list", Existing: roleOf(inline("one", readOne)),
			Object: roleOf(func(s *spec) { s.InlinePolicy = &policies("one", readOne)[0] }), Cause: engine.InSync},
		{Name: "no description is the same as an empty one", Existing: roleOf(), Object: roleOf(described("")), Cause: engine.InSync},
		{Name: "no boundary is the same as an empty one", Existing: roleOf(), Object: roleOf(bound("")), Cause: engine.InSync},
		{Name: "what is no longer declared stays as it is", Existing: roleOf(described("d"), session(7200), bound(boundary)), Object: roleOf(),
			Cause: engine.InSync},
		{Name: "a role that vanished is recreated: it holds no data", Existing: roleOf(), Object: roleOf(), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String(name)})
				kindtest.Must(t, err)
			}, Cause: engine.New, Actions: []string{create}},
	}
}

func edits() []kindtest.Case {
	long := strings.Replace(readOne, "one/*", strings.Repeat("x", 9000), 1)
	return []kindtest.Case{
		{Name: "a policy's document", Existing: roleOf(inline("one", readOne)), Object: roleOf(inline("one", readTwo)),
			Cause: engine.Edited, Diff: []string{"Inline[one]"}, Actions: []string{put}},
		{Name: "one more policy", Existing: roleOf(inline("one", readOne)), Object: roleOf(inline("one", readOne, "two", readTwo)),
			Cause: engine.Edited, Diff: []string{"Inline[two]"}, Actions: []string{put}},
		{Name: "a dropped policy is deleted", Existing: roleOf(inline("one", readOne)), Object: roleOf(),
			Cause: engine.Edited, Diff: []string{"Inline[one]"}, Actions: []string{drop}},
		{Name: "a renamed policy is put before the old one goes", Existing: roleOf(inline("one", readOne)),
			Object: roleOf(inline("two", readOne)),
			Cause:  engine.Edited, Diff: []string{"Inline[one]", "Inline[two]"}, Actions: []string{put, drop}},
		{Name: "a renamed policy goes first where there is no room for both", Existing: roleOf(inline("one", long)),
			Object: roleOf(inline("two", long)),
			Cause:  engine.Edited, Diff: []string{"Inline[one]", "Inline[two]"}, Actions: []string{drop, put}},
		{Name: "managed policies change", Existing: roleOf(attach(policyA)), Object: roleOf(attach(policyB)),
			Cause: engine.Edited, Diff: []string{"Attached[" + policyA + "]", "Attached[" + policyB + "]"}, Actions: []string{att, detach}},
		{Name: "the description, and the session stays", Existing: roleOf(described("a"), session(7200)),
			Object: roleOf(described("b"), session(7200)),
			Cause:  engine.Edited, Diff: []string{"Description"}, Actions: []string{update}},
		{Name: "an empty description clears it", Existing: roleOf(described("a"), session(7200)), Object: roleOf(described(""), session(7200)),
			Cause: engine.Edited, Diff: []string{"Description"}, Actions: []string{update}},
		{Name: "the session, and the description stays", Existing: roleOf(described("a")), Object: roleOf(described("a"), session(7200)),
			Cause: engine.Edited, Diff: []string{"MaxSession"}, Actions: []string{update}},
		{Name: "the trust", Existing: roleOf(),
			Object: roleOf(func(s *spec) { s.AssumeRolePolicyDocument = strings.Replace(trust, "glue", "lambda", 1) }),
			Cause:  engine.Edited, Diff: []string{"Trust"}, Actions: []string{retrust}},
		{Name: "a boundary", Existing: roleOf(), Object: roleOf(bound(boundary), inline("one", readOne)),
			Cause: engine.Edited, Diff: []string{"Boundary", "Inline[one]"}, Actions: []string{fence, put}},
		{Name: "two trusts are refused", Object: roleOf(func(s *spec) { s.IRSA = &v1alpha1.IAMRoleIRSA{ServiceAccount: "sa"} }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "two policies of one name are refused",
			Object:  roleOf(inline("one", readOne), func(s *spec) { s.InlinePolicy = &policies("one", readTwo)[0] }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "an empty boundary does not remove one", Existing: roleOf(bound(boundary), inline("one", readOne)), Object: roleOf(bound("")),
			Stalled: status.ReasonNotPermitted},
		{Name: "another boundary does not replace one", Existing: roleOf(bound(boundary)),
			Object: roleOf(bound(administrator), inline("one", readOne)), Stalled: status.ReasonNotPermitted},
		{Name: "a role taken over keeps its boundary", Object: roleOf(bound("")),
			Before:  both(createRole(ownerTags("an-earlier-one", kindtest.Cluster)), putBoundary(boundary)),
			Stalled: status.ReasonNotPermitted},
		{Name: "a tag replaces a default tag of another case", Object: roleOf(tagged("owner", "a")), Cause: engine.New, Actions: []string{create},
			Facts: func(s *kindtest.Subject) { s.DefaultTags = map[string]string{"Owner": "default"} }},
		{Name: "a tag of another case is replaced", Existing: roleOf(tagged("Owner", "a")), Object: roleOf(tagged("owner", "b")),
			Cause: engine.Edited, Diff: []string{"Tags[owner]"}, Actions: []string{tag}},
		{Name: "a tag of another case with the same value is the same", Existing: roleOf(tagged("Owner", "a")),
			Object: roleOf(tagged("owner", "a")), Cause: engine.InSync},
		{Name: "tags are added and dropped", Existing: roleOf(tagged("old", "1")), Object: roleOf(tagged("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "the path cannot change", Existing: roleOf(), Object: roleOf(func(s *spec) { s.Path = "/elsewhere/" }),
			Stalled: status.ReasonImmutable},
	}
}

func drifts() []kindtest.Case {
	return []kindtest.Case{
		{Name: "the provider's boundary replaces another", Existing: roleOf(), Object: roleOf(), Drift: true,
			Facts:  func(s *kindtest.Subject) { s.Boundary = boundary },
			Before: putBoundary(policyA), Cause: engine.Drifted, Diff: []string{"Boundary"}, Actions: []string{fence}},
		{Name: "a boundary put by an administrator stays", Existing: roleOf(), Object: roleOf(), Drift: true, Before: putBoundary(policyA),
			Cause: engine.InSync},
		{Name: "a policy that was edited is restored", Existing: roleOf(inline("one", readOne)), Object: roleOf(inline("one", readOne)),
			Drift:  true,
			Before: putPolicy("one", readTwo), Cause: engine.Drifted, Diff: []string{"Inline[one]"}, Actions: []string{put}},
		{Name: "a policy of others stays", Existing: roleOf(inline("one", readOne), attach(policyA)),
			Object: roleOf(inline("one", readOne), attach(policyA)), Drift: true,
			Before: both(putPolicy("theirs", readTwo), attachPolicy(policyB)), Cause: engine.InSync},
		{Name: "a foreign inline policy leaves an exclusive role", Existing: roleOf(inline("one", readOne), exclusive),
			Object: roleOf(inline("one", readOne), exclusive), Drift: true,
			Before: putPolicy("evil", everything), Cause: engine.Drifted, Diff: []string{"Undeclared[evil]"}, Actions: []string{drop}},
		{Name: "AdministratorAccess leaves an exclusive role", Existing: roleOf(inline("one", readOne), exclusive),
			Object: roleOf(inline("one", readOne), exclusive), Drift: true,
			Before: attachPolicy(administrator), Cause: engine.Drifted, Diff: []string{"Undeclared[" + administrator + "]"},
			Actions: []string{detach}},
		{Name: "a changed session duration is restored", Existing: roleOf(described("d"), session(3600)),
			Object: roleOf(described("d"), session(3600)), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).UpdateRole(t.Context(),
					&iam.UpdateRoleInput{RoleName: aws.String(name), Description: aws.String("d"), MaxSessionDuration: aws.Int32(43200)})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"MaxSession"}, Actions: []string{update}},
		{Name: "several foreign policies leave an exclusive role", Existing: roleOf(inline("one", readOne), exclusive),
			Object: roleOf(inline("one", readOne), exclusive), Drift: true,
			Before: both(both(putPolicy("theirs", readTwo), putPolicy("and-theirs", readTwo)), attachPolicy(policyB)),
			Cause:  engine.Drifted, Diff: []string{"Undeclared[and-theirs]", "Undeclared[" + policyB + "]", "Undeclared[theirs]"},
			Actions: []string{drop, drop, detach}},
		{Name: "exclusive and dropped at once", Existing: roleOf(inline("one", readOne), exclusive),
			Object: roleOf(inline("two", readOne), exclusive),
			Before: putPolicy("theirs", readTwo), Cause: engine.Edited, Diff: []string{"Inline[one]", "Inline[two]", "Undeclared[theirs]"},
			Actions: []string{drop, put, drop}},
		{Name: "a detached policy is attached again", Existing: roleOf(attach(policyA)), Object: roleOf(attach(policyA)), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: aws.String(name), PolicyArn: aws.String(policyA)})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"Attached[" + policyA + "]"}, Actions: []string{att}},
		{Name: "a trust that was widened is restored", Existing: roleOf(), Object: roleOf(), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String(name),
					PolicyDocument: aws.String(strings.Replace(trust, `{"Service":"glue.amazonaws.com"}`, `{"AWS":"*"}`, 1))})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"Trust"}, Actions: []string{retrust}},
	}
}

func deletions() []kindtest.Case {
	row := func(n string, edits []func(*spec), c kindtest.Case) kindtest.Case {
		c.Name, c.Existing, c.Object, c.Deleting, c.Drift = n, roleOf(edits...), roleOf(edits...), true, true
		return c
	}
	whole := []func(*spec){inline("one", readOne), attach(policyA)}
	profile := func(t *testing.T, r *kindtest.Rig) {
		_, err := api(r).CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("p")})
		kindtest.Must(t, err)
		_, err = api(r).AddRoleToInstanceProfile(t.Context(),
			&iam.AddRoleToInstanceProfileInput{InstanceProfileName: aws.String("p"), RoleName: aws.String(name)})
		kindtest.Must(t, err)
	}
	return []kindtest.Case{
		row("deleting removes the policies first", whole, kindtest.Case{Cause: engine.Deleting, Actions: []string{drop, detach, remove}}),
		row("deleting a role with a boundary", []func(*spec){bound(boundary)}, kindtest.Case{Cause: engine.Deleting, Actions: []string{remove}}),
		row("deleting a bare role", nil, kindtest.Case{Cause: engine.Deleting, Actions: []string{remove}}),
		row("deleting waits for an inline policy of others", whole,
			kindtest.Case{Before: putPolicy("theirs", readTwo), Waiting: status.ReasonInUse}),
		row("deleting waits for an attached policy of others", nil, kindtest.Case{Before: attachPolicy(policyB), Waiting: status.ReasonInUse}),
		row("deleting waits for an instance profile", []func(*spec){exclusive}, kindtest.Case{Before: profile, Waiting: status.ReasonInUse}),
		row("an exclusive role is deleted with the policies of others", append([]func(*spec){exclusive}, whole...),
			kindtest.Case{Before: both(putPolicy("theirs", readTwo), attachPolicy(policyB)),
				Cause: engine.Deleting, Actions: []string{drop, drop, detach, detach, remove}}),
		row("deleting with Orphan removes only the owner tags", append([]func(*spec){deletion(v1alpha1.DeletionOrphan)}, whole...),
			kindtest.Case{Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}}),
	}
}

func owners() []kindtest.Case {
	always := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: roleOf(),
			Before: createRole(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "adoptionPolicy Never refuses an earlier object's role", Object: roleOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: createRole(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: roleOf(), Before: createRole(ownerTags("uid-of-"+name, "another")),
			Stalled: status.ReasonConflict},
		{Name: "an untagged role is left alone", Object: roleOf(), Before: createRole(nil), Stalled: status.ReasonConflict},
		{Name: "an untagged role is adopted with allowAdoption and a boundary", Object: roleOf(always), Before: createRole(nil),
			Facts: func(s *kindtest.Subject) {
				s.AllowAdoption, s.Boundary = true, "arn:aws:iam::123456789012:policy/team"
			}, Cause: engine.Edited, Diff: append([]string{"Boundary"}, ownerPaths...), Actions: []string{fence, tag}},
		{Name: "an untagged role is not adopted without a boundary", Object: roleOf(always), Before: createRole(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Stalled: status.ReasonNotPermitted},
		{Name: "the role of the operator itself is never adopted", Object: roleOf(always), Before: createRole(nil),
			Facts: func(s *kindtest.Subject) {
				s.AllowAdoption, s.Boundary = true, "arn:aws:iam::123456789012:policy/team"
				s.Callers = []string{"arn:aws:sts::123456789012:assumed-role/" + name + "/session"}
			}, Stalled: status.ReasonNotPermitted},
	}
}

func life(t *testing.T, edits ...func(*spec)) kindtest.Life {
	with := func(more ...func(*spec)) *v1alpha1.IAMRole { return roleOf(slices.Concat(edits, more)...) }
	return kindtest.Life{
		Sample: with(inline("one", readOne), attach(policyA)), Exists: exists,
		Facts: trusted(t), Adopter: func(s *kindtest.Subject) { s.Boundary = boundary },
		Foreign: createRole(map[string]string{"owner": "somebody"}),
		Invalid: []v1alpha1.Resource{with(inline("one", "no JSON"), attach(policyA)), with(func(s *spec) { s.AssumeRolePolicyDocument = "{}" })},
		Edited:  with(inline("one", readTwo, "two", readTwo), session(7200), tagged("team", "b")),
	}
}

func TestRoleSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewRole), life(t)) }

func TestRoleSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewRole), life(t)) }

func TestExclusiveRoleSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewRole), life(t, exclusive))
}

func TestIAMShowsARoleLate(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(capability))
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetEventualConsistency("iam", time.Minute)
	t.Cleanup(func() { r.AWS.SetEventualConsistency("iam", 0); r.AWS.SetClock(nil) })
	s.Trusted = true
	_, err := s.Pass(t.Context(), nil)
	if _, ok := status.AsWaiting(err); !ok {
		t.Fatalf("got %v, want to wait", err)
	}
	s.Clock = s.Clock.Add(2 * time.Minute) // reads show it
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatalf("%v\n%s", err, r.AWS.Calls())
	}
}

func TestRoleCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(capability))
	s.Trusted = true
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got := r.AWS.Calls().Writes(); got.Count() != 2 {
		t.Errorf("create took %d writes, want 2:\n%s", got.Count(), got)
	}
	mark := r.AWS.Mark()
	_, err = s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	// The rig asks about the issuer each time; a session asks once for all roles of a provider.
	perRole := func(c emulator.Call) bool { return c.Op != "GetOpenIDConnectProvider" }
	if got := r.AWS.Since(mark).Filter(perRole); got.Count() != 2 {
		t.Errorf("a check took %d calls, want 2:\n%s", got.Count(), got)
	}
	mark = r.AWS.Mark()
	s.Deleting = true
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	// A look of four calls, two deletes, and no second look.
	if got := r.AWS.Since(mark); got.Count() != 6 || got.Writes().Count() != 2 {
		t.Errorf("delete took %d calls, want 6 with 2 writes:\n%s", got.Count(), got)
	}
}

func TestExclusiveRoleCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(inline("one", readOne), exclusive))
	s.Trusted = true
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	// Create, put, a look of four.
	if got := r.AWS.Calls(); got.Count() != 6 || got.Writes().Count() != 2 {
		t.Errorf("create took %d calls, want 6 with 2 writes:\n%s", got.Count(), got)
	}
	mark := r.AWS.Mark()
	_, err = s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	if got := r.AWS.Since(mark); got.Count() != 4 {
		t.Errorf("a check took %d calls, want 4:\n%s", got.Count(), got)
	}
}

func inlineNamesIn(t *testing.T, r *kindtest.Rig) []string {
	t.Helper()
	out, err := api(r).ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: aws.String(name)})
	kindtest.Must(t, err)
	return out.PolicyNames
}

func TestForeignPolicyIsReportedUnderReport(t *testing.T) {
	report := func(s *spec) { s.DriftPolicy = v1alpha1.DriftReport }
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(capability, exclusive, report))
	trusted(t)(s)
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	putPolicy("evil", everything)(t, s.Rig)
	attachPolicy(administrator)(t, s.Rig)
	mark := s.Rig.AWS.Mark()
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	drift := s.Object.(*v1alpha1.IAMRole).Status.Drift
	want := []v1alpha1.DriftEntry{{Path: "Undeclared[" + administrator + "]", Want: "(unset)", Have: undeclaredAttached},
		{Path: "Undeclared[evil]", Want: "(unset)", Have: undeclaredInline}}
	if !slices.Equal(drift, want) {
		t.Errorf("status.drift is %+v, want %+v", drift, want)
	}
	if w := s.Rig.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Errorf("Report wrote to AWS:\n%s", w)
	}
}

// A policy that was written and not seen since is still removed when the spec drops it.
func TestPolicyIsRecordedBeforeItIsSeen(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(inline("one", readOne), attach(policyA)))
	s.Trusted = true // policy a does not exist, so attaching it fails
	if _, err := s.Settle(t.Context(), nil); err == nil {
		t.Fatal("attached a policy that is not there")
	}
	st := s.Object.(*v1alpha1.IAMRole).Status
	if !slices.Equal(st.ManagedPolicyNames, []string{"one"}) || !slices.Equal(st.AttachedPolicyArns, []string{policyA}) {
		t.Fatalf("%+v", st)
	}
	s.Edit(roleOf())
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatal(err)
	}
	names, err := api(r).ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: aws.String(name)})
	kindtest.Must(t, err)
	st = s.Object.(*v1alpha1.IAMRole).Status
	if len(names.PolicyNames)+len(st.ManagedPolicyNames)+len(st.AttachedPolicyArns) > 0 {
		t.Fatalf("%v left, %+v", names.PolicyNames, st)
	}
}

func TestPublishedFields(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(capability))
	s.Trusted = true
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	st := s.Object.(*v1alpha1.IAMRole).Status
	if st.ARN != account+":role/"+name || st.RoleArn != st.ARN || !strings.HasPrefix(st.RoleId, "AROA") || st.ID != name ||
		st.CreationTime == nil {
		b, _ := json.Marshal(st)
		t.Errorf("%s", b)
	}
}

func TestRole_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewRole),
		kindtest.List{Field: "inlinePolicies", Object: roleOf(capability), Edited: roleOf(capability, inline("access", readOne, "more", readOne)),
			Facts: trusted(t), Add: putPolicy("theirs", everything),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.Contains(inlineNamesIn(t, r), "theirs")
			}},
		kindtest.List{Field: "managedPolicyArns", Object: roleOf(capability), Edited: roleOf(capability, attach(policyA)), Facts: trusted(t),
			Add: attachPolicy(administrator),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				out, err := api(r).ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(name)})
				kindtest.Must(t, err)
				return slices.ContainsFunc(out.AttachedPolicies,
					func(p types.AttachedPolicy) bool { return aws.ToString(p.PolicyArn) == administrator })
			}})
}
