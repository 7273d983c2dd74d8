// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	platform = "platform" // the cluster
	keys     = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/"

	createCluster = "eks:CreateCluster"
	configure     = "eks:UpdateClusterConfig"
	upgrade       = "eks:UpdateClusterVersion"
	removeCluster = "eks:DeleteCluster"
)

type (
	clusterSpec = v1alpha1.EKSClusterSpec
	clusterEdit = func(s *clusterSpec)
)

func clusterWith(edits ...clusterEdit) *v1alpha1.EKSCluster {
	o := &v1alpha1.EKSCluster{}
	o.Name = platform
	o.Spec = clusterSpec{ClusterName: platform, RoleRef: &v1alpha1.ObjectReference{Name: "control-plane"},
		VPCConfig: &v1alpha1.EKSVPCConfig{SubnetIDs: []v1alpha1.SubnetID{"subnet-0000000a", "subnet-0000000b"}}}
	o.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func running(v string) clusterEdit { return func(s *clusterSpec) { s.Version = &v } }

func logs(of ...string) clusterEdit {
	return func(s *clusterSpec) { s.Logging = &v1alpha1.EKSLogging{ClusterLogging: append([]string{}, of...)} }
}

func reached(public, private bool, cidrs ...string) clusterEdit {
	return func(s *clusterSpec) {
		s.VPCConfig.EndpointPublicAccess, s.VPCConfig.EndpointPrivateAccess, s.VPCConfig.PublicAccessCidrs = &public, &private, cidrs
	}
}

func placedIn(subnets ...v1alpha1.SubnetID) clusterEdit {
	return func(s *clusterSpec) { s.VPCConfig.SubnetIDs = subnets }
}

func groups(of ...v1alpha1.SecurityGroupID) clusterEdit {
	return func(s *clusterSpec) { s.VPCConfig.SecurityGroupIDs = of }
}

func mode(m string) clusterEdit {
	return func(s *clusterSpec) { s.AccessConfig = &v1alpha1.EKSAccessConfig{AuthenticationMode: m} }
}

func protected(v bool) clusterEdit { return func(s *clusterSpec) { s.DeletionProtection = &v } }

func encrypted(key string) clusterEdit {
	return func(s *clusterSpec) { s.Encryption = &v1alpha1.EKSEncryption{ProviderKeyARN: key} }
}

func labeled(k, v string) clusterEdit {
	return func(s *clusterSpec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

// full declares every field.
func full(s *clusterSpec) {
	running("1.31")(s)
	reached(true, true, "203.0.113.0/24", "198.51.100.0/24")(s)
	groups("sg-0000000a")(s)
	logs("api", "audit")(s)
	mode("API_AND_CONFIG_MAP")(s)
	encrypted(keys + "a")(s)
	protected(false)(s)
}

func supported(kind string) clusterEdit {
	return func(s *clusterSpec) { s.UpgradePolicy = &v1alpha1.EKSUpgradePolicy{SupportType: kind} }
}

func byReference(s *clusterSpec) {
	s.VPCConfig.SubnetIDs, s.VPCConfig.SubnetRefs = nil, []v1alpha1.ObjectReference{{Name: "a"}, {Name: "b"}}
	s.VPCConfig.SecurityGroupRefs = []v1alpha1.ObjectReference{{Name: "web"}}
	s.Encryption = &v1alpha1.EKSEncryption{KMSKeyRef: &v1alpha1.ObjectReference{Name: "secrets"}}
}

func clusterTargets(s *kindtest.Subject) {
	s.Targets = map[string]kind.Target{"IAMRole/control-plane": {ID: "control-plane", ARN: roles + "control-plane"},
		"KMSKey/secrets": {ID: "1234abcd-secrets", ARN: keys + "1234abcd-secrets"},
		"Subnet/a":       {ID: "subnet-0000000c"}, "Subnet/b": {ID: "subnet-0000000d"}, "SecurityGroup/web": {ID: "sg-0000000b"}}
}

func found(t *testing.T, r *kindtest.Rig) *types.Cluster {
	t.Helper()
	out, err := api(r).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String(platform)})
	if awsclient.IsNotFound(err) {
		return nil
	}
	kindtest.Must(t, err)
	return out.Cluster
}

func clusterExists(t *testing.T, r *kindtest.Rig) bool { return found(t, r) != nil }

func beforeCluster(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateCluster(t.Context(),
			&eks.CreateClusterInput{Name: aws.String(platform), RoleArn: aws.String(roles + "control-plane"), Version: aws.String("1.31"),
				Tags:               tags,
				ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: []string{"subnet-0000000a", "subnet-0000000b"}}})
		kindtest.Must(t, err)
	}
}

// byHand makes a change outside the operator.
func byHand(in eks.UpdateClusterConfigInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.Name = aws.String(platform)
		_, err := api(r).UpdateClusterConfig(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

// upgradedBy upgrades the cluster outside the operator, as EKS does at the end of extended support.
func upgradedBy(v string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).UpdateClusterVersion(t.Context(), &eks.UpdateClusterVersionInput{Name: aws.String(platform), Version: &v})
		kindtest.Must(t, err)
	}
}

func deleteCluster(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteCluster(t.Context(), &eks.DeleteClusterInput{Name: aws.String(platform)})
	kindtest.Must(t, err)
}

func clusterTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "EKSCluster", Namespace: kindtest.Namespace, Name: platform, UID: uid, Cluster: cluster}.OwnerTags()
}

func TestCluster(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewCluster), func(_ *testing.T, s *kindtest.Subject) { clusterTargets(s) },
		slices.Concat(clusterLives(), clusterRefusals(), clusterEdits(), clusterDrifts(), clusterDeletions(), clusterOwners()))
}

func clusterLives() []kindtest.Case {
	again := func(s *clusterSpec) { s.RecreateOnLoss = true }
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: clusterWith(), Cause: engine.New, Actions: []string{createCluster}},
		{Name: "with every field", Object: clusterWith(full, labeled("team", "a")), Cause: engine.New, Actions: []string{createCluster}},
		{Name: "with references", Object: clusterWith(byReference), Cause: engine.New, Actions: []string{createCluster}},
		{Name: "with all logs, and the private endpoint alone",
			Object: clusterWith(logs("api", "audit", "authenticator", "controllerManager", "scheduler"), reached(false, true)), Cause: engine.New,
			Actions: []string{createCluster}},
		{Name: "with administrators", Object: clusterWith(admins("admins"), creatorIsAdmin(false)), Cause: engine.New,
			Actions: []string{createCluster}},
		{Name: "administrators in sync", Existing: clusterWith(admins("admins", "others"), mode("API")),
			Object: clusterWith(admins("admins", "others"), mode("API")), Cause: engine.InSync},
		{Name: "protected", Object: clusterWith(protected(true)), Cause: engine.New, Actions: []string{createCluster}},
		{Name: "without extended support", Object: clusterWith(supported("STANDARD")), Cause: engine.New, Actions: []string{createCluster}},
		{Name: "in sync", Existing: clusterWith(full), Object: clusterWith(full), Cause: engine.InSync},
		{Name: "a range in another spelling", Existing: clusterWith(reached(true, false, "2001:db8::/32")),
			Object: clusterWith(reached(true, false, "2001:0DB8::/32")), Cause: engine.InSync},
		{Name: "settings that are no longer declared stay as they are",
			Existing: clusterWith(running("1.31"), logs("api"), mode("API"), groups("sg-0000000a")), Object: clusterWith(), Cause: engine.InSync},
		{Name: "a lost cluster is reported, not created again", Existing: clusterWith(), Object: clusterWith(), Drift: true,
			Before: deleteCluster, Stalled: status.ReasonMissing},
		{Name: "and created again where the object says so", Existing: clusterWith(again), Object: clusterWith(again), Drift: true,
			Before: deleteCluster, Cause: engine.New, Actions: []string{createCluster}},
	}
}

func clusterRefusals() []kindtest.Case {
	refused := func(name string, edits ...clusterEdit) kindtest.Case {
		return kindtest.Case{Name: name, Object: clusterWith(edits...), Stalled: status.ReasonInvalidSpec}
	}
	edited := func(name, reason string, from, to *v1alpha1.EKSCluster) kindtest.Case {
		return kindtest.Case{Name: name, Existing: from, Object: to, Stalled: reason}
	}
	byARN := func(s *clusterSpec) { s.RoleRef, s.RoleARN = nil, roles+"control-plane" }
	return []kindtest.Case{
		refused("a name with a dot", func(s *clusterSpec) { s.ClusterName = "team.platform" }),
		refused("a patch version", running("1.31.2")),
		refused("two roles", func(s *clusterSpec) { s.RoleARN = roles + "control-plane" }),
		refused("no role", func(s *clusterSpec) { s.RoleRef = nil }),
		refused("no subnets", func(s *clusterSpec) { s.VPCConfig = nil }),
		refused("one subnet", placedIn("subnet-0000000a")),
		refused("no endpoint", reached(false, false)),
		refused("ranges of addresses of no endpoint", reached(false, true, "203.0.113.0/24")),
		refused("logs of nodes", logs("kubelet")),
		refused("a range that does not begin with its first address", reached(true, false, "203.0.113.7/24")),
		refused("access entries without their mode", mode("CONFIG_MAP"), admins("admins")),
		refused("nobody who may use the cluster", mode("CONFIG_MAP"), creatorIsAdmin(false)),
		refused("an access entry of no user", admins("..]")),
		refused("no key", func(s *clusterSpec) { s.Encryption = &v1alpha1.EKSEncryption{} }),
		{Name: "a role by ARN, which the provider does not allow", Object: clusterWith(byARN),
			Facts: func(s *kindtest.Subject) { s.RolePath = "" }, Stalled: status.ReasonNotPermitted},
		{Name: "a role by ARN, where the provider allows it", Object: clusterWith(byARN), Cause: engine.New, Actions: []string{createCluster}},
		{Name: "nothing to adopt, and too little to create", Object: clusterWith(adopting),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.New, Actions: []string{createCluster},
			Stalled: status.ReasonInvalidSpec, OnRun: true},
		edited("another role", status.ReasonImmutable, clusterWith(byARN),
			clusterWith(byARN, func(s *clusterSpec) { s.RoleARN = roles + "others" })),
		edited("another key", status.ReasonImmutable, clusterWith(full), clusterWith(full, encrypted(keys+"b"))),
		edited("a key for a cluster without one", status.ReasonImmutable, clusterWith(), clusterWith(encrypted(keys+"a"))),
		edited("an earlier mode of authentication", status.ReasonImmutable, clusterWith(mode("API")), clusterWith(mode("CONFIG_MAP"))),
		edited("another name", status.ReasonIdentityChanged, clusterWith(), clusterWith(func(s *clusterSpec) { s.ClusterName = "other" })),
	}
}

// adopting declares only the field that adoption needs: its name.
func adopting(s *clusterSpec) {
	s.RoleRef, s.VPCConfig, s.AdoptionPolicy, s.DeletionPolicy = nil, nil, v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
}

func clusterEdits() []kindtest.Case {
	change := func(name string, from, to *v1alpha1.EKSCluster, paths ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: from, Object: to, Cause: engine.Edited, Diff: paths, Actions: []string{configure}}
	}
	return []kindtest.Case{
		change("the endpoints", clusterWith(reached(true, false, "203.0.113.0/24")), clusterWith(reached(false, true)), "PublicAccess",
			"PrivateAccess"),
		change("other ranges of addresses", clusterWith(reached(true, true, "203.0.113.0/24")),
			clusterWith(reached(true, true, "198.51.100.0/24")), "CIDRs"),
		change("other subnets", clusterWith(), clusterWith(placedIn("subnet-0000000a", "subnet-0000000c")), "Subnets"),
		change("other security groups", clusterWith(groups("sg-0000000a")), clusterWith(groups("sg-0000000a", "sg-0000000b")), "Groups"),
		change("other logs", clusterWith(logs("api", "audit")), clusterWith(logs("audit", "scheduler")), "Logs"),
		change("no logs", clusterWith(logs("api", "audit")), clusterWith(logs()), "Logs"),
		change("access entries", clusterWith(mode("CONFIG_MAP")), clusterWith(mode("API_AND_CONFIG_MAP")), "AuthenticationMode"),
		change("a deletion protection", clusterWith(protected(false)), clusterWith(protected(true)), "DeletionProtection"),
		{Name: "another support", Existing: clusterWith(supported("STANDARD")), Object: clusterWith(supported("EXTENDED")), Cause: engine.Edited,
			Diff: []string{"SupportType"}, Actions: []string{configure}},
		{Name: "another administrator", Existing: clusterWith(admins("admins")), Object: clusterWith(admins("admins", "others")),
			Cause:   engine.Edited,
			Diff:    []string{"Entries[" + roles + "others]", "Policies[" + roles + "others " + adminPolicy + "]"},
			Actions: []string{createEntry, associatePolicy}},
		{Name: "an administrator is dropped", Existing: clusterWith(admins("admins", "others")), Object: clusterWith(admins("admins")),
			Cause: engine.Edited,
			Diff:  []string{"Entries[" + roles + "others]"}, Actions: []string{"eks:DeleteAccessEntry"}},
		{Name: "other groups, and a policy for namespaces", Existing: clusterWith(admins("admins")),
			Object: clusterWith(entries(v1alpha1.EKSAccessEntry{PrincipalARN: roles + "admins", KubernetesGroups: []string{"viewers"},
				Policies: []v1alpha1.EKSAccessPolicy{{PolicyName: "AmazonEKSClusterAdminPolicy", Namespaces: []string{"shop", "search"}}}})),
			Cause:   engine.Edited,
			Diff:    []string{"Entries[" + roles + "admins].Groups", "Policies[" + roles + "admins " + adminPolicy + "].Namespaces"},
			Actions: []string{"eks:UpdateAccessEntry", associatePolicy}},
		{Name: "a policy is dropped", Existing: clusterWith(admins("admins")),
			Object: clusterWith(entries(v1alpha1.EKSAccessEntry{PrincipalARN: roles + "admins"})), Cause: engine.Edited,
			Diff: []string{"Policies[" + roles + "admins " + adminPolicy + "]"}, Actions: []string{"eks:DisassociateAccessPolicy"}},
		{Name: "the next version", Existing: clusterWith(running("1.31")), Object: clusterWith(running("1.32")), Cause: engine.Edited,
			Diff: []string{"Version"}, Actions: []string{upgrade}},
		{Name: "an earlier version is what the operator does not return to", Existing: clusterWith(running("1.31")),
			Object: clusterWith(running("1.30")), Cause: engine.InSync},
		{Name: "one update after the other, and the version last", Existing: clusterWith(full),
			Object: clusterWith(full, reached(true, false), logs(), mode("API"), running("1.32")), Cause: engine.Edited,
			Diff: []string{"PrivateAccess", "Logs", "AuthenticationMode", "Version"}, Actions: []string{configure, configure, configure, upgrade}},
		{Name: "tags are added and dropped", Existing: clusterWith(labeled("old", "1")), Object: clusterWith(labeled("team", "a")),
			Cause: engine.Edited,
			Diff:  []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func clusterDrifts() []kindtest.Case {
	restored := func(path string, in eks.UpdateClusterConfigInput) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: clusterWith(full), Object: clusterWith(full), Drift: true, Before: byHand(in),
			Cause: engine.Drifted, Diff: []string{path}, Actions: []string{configure}}
	}
	return []kindtest.Case{
		restored("PrivateAccess",
			eks.UpdateClusterConfigInput{ResourcesVpcConfig: &types.VpcConfigRequest{EndpointPrivateAccess: aws.Bool(false)}}),
		restored("CIDRs", eks.UpdateClusterConfigInput{ResourcesVpcConfig: &types.VpcConfigRequest{PublicAccessCidrs: []string{"0.0.0.0/0"}}}),
		restored("Subnets", eks.UpdateClusterConfigInput{ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: []string{"subnet-0000000a",
			"subnet-0000000e"}}}),
		restored("Groups", eks.UpdateClusterConfigInput{ResourcesVpcConfig: &types.VpcConfigRequest{SecurityGroupIds: []string{"sg-0000000c"}}}),
		restored("Logs", eks.UpdateClusterConfigInput{Logging: &types.Logging{ClusterLogging: []types.LogSetup{{Enabled: aws.Bool(true),
			Types: []types.LogType{"scheduler"}}}}}),
		restored("DeletionProtection", eks.UpdateClusterConfigInput{DeletionProtection: aws.Bool(true)}),
		{Name: "a version that EKS raised is kept", Existing: clusterWith(full), Object: clusterWith(full), Drift: true,
			Before: upgradedBy("1.32"), Cause: engine.InSync},
		{Name: "settings that are not declared may change", Existing: clusterWith(), Object: clusterWith(), Drift: true, Cause: engine.InSync,
			Before: byHand(eks.UpdateClusterConfigInput{AccessConfig: &types.UpdateAccessConfigRequest{AuthenticationMode: "API"}})},
	}
}

func clusterDeletions() []kindtest.Case {
	deleting := func(name string, o *v1alpha1.EKSCluster, actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Cause: engine.Deleting, Actions: actions}
	}
	gone, guarded := deleting("deleting what is gone", clusterWith()), deleting("a protected cluster is kept", clusterWith(protected(true)))
	gone.Cause, gone.Before = engine.Gone, deleteCluster
	guarded.Cause, guarded.Waiting = "", status.ReasonDeletionProtected
	orphan := deleting("Orphan removes the owner tags and nothing else",
		clusterWith(func(s *clusterSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }), untag)
	orphan.Diff = ownerPaths
	lifted := deleting("a protection that was set by hand is lifted with consent", clusterWith(protected(false)), configure)
	lifted.Before = byHand(eks.UpdateClusterConfigInput{DeletionProtection: aws.Bool(true)})
	return []kindtest.Case{gone, guarded, orphan, lifted, deleting("deleting", clusterWith(), removeCluster)}
}

func clusterOwners() []kindtest.Case {
	earlier := beforeCluster(clusterTags("an-earlier-one", kindtest.Cluster))
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: clusterWith(), Before: earlier, Cause: engine.Edited,
			Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: clusterWith(func(s *clusterSpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: earlier, Stalled: status.ReasonConflict},
		{Name: "another cluster's operator has it", Object: clusterWith(), Before: beforeCluster(clusterTags("an-earlier-one", "another")),
			Stalled: status.ReasonConflict},
		{Name: "nobody's is left alone", Object: clusterWith(), Before: beforeCluster(nil), Stalled: status.ReasonConflict},
		{Name: "and adopted by its name where both sides allow", Object: clusterWith(adopting),
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true },
			Before: beforeCluster(map[string]string{"theirs": "1"}), Cause: engine.Edited, Diff: ownerPaths, Actions: []string{tag}},
	}
}

func clusterLife() kindtest.Life {
	return kindtest.Life{
		Sample: clusterWith(running("1.31"), logs("api"), labeled("team", "a")), Exists: clusterExists,
		Foreign: beforeCluster(map[string]string{"theirs": "1"}), Facts: clusterTargets,
		Edited:  clusterWith(running("1.32"), logs("audit"), reached(true, true), labeled("team", "b")),
		Invalid: []v1alpha1.Resource{clusterWith(labeled("team", "a"), logs("kubelet"))},
	}
}

func TestClusterSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewCluster), clusterLife())
}

func TestClusterSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewCluster), clusterLife()) }

func clusterSubject(t *testing.T, edits ...clusterEdit) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewCluster), clusterWith(edits...))
	clusterTargets(s)
	return s
}

// slow lets EKS take ten minutes for each request, by the clock of the subject.
func slow(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	s.Rig.AWS.SetClock(func() time.Time { return s.Clock })
	s.Rig.AWS.EKS.SetControlPlanesTake(10 * time.Minute)
	t.Cleanup(func() { s.Rig.AWS.SetClock(nil); s.Rig.AWS.EKS.SetControlPlanesTake(0) })
}

// waits makes a pass every three minutes for nine minutes, and lets the ten minutes pass. All passes must wait for the state.
func waits(t *testing.T, s *kindtest.Subject, state string, usable bool) {
	t.Helper()
	for range 3 {
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !strings.Contains(w.For, "the cluster is "+state) ||
			w.Usable != usable {
			t.Fatalf("got %v, want to wait while it is %s\n%s", err, state, s.Rig.AWS.Calls())
		}
		s.Clock = s.Clock.Add(3 * time.Minute)
	}
	s.Clock = s.Clock.Add(2 * time.Minute)
}

func statusOf(s *kindtest.Subject) v1alpha1.EKSClusterStatus {
	return s.Object.(*v1alpha1.EKSCluster).Status
}

func TestAClusterIsKeptByDefault(t *testing.T) {
	o := clusterWith(func(s *clusterSpec) { s.DeletionPolicy = "" })
	if got := engine.DeletionPolicyOf(o, engine.For(NewCluster).Meta()); got != v1alpha1.DeletionRetain {
		t.Errorf("got %s", got)
	}
}

// EKS makes one update at a time, and a worker waits for none of them.
func TestAClusterIsAwaitedWhileEKSMakesAndChangesIt(t *testing.T) {
	s := clusterSubject(t, running("1.31"))
	slow(t, s)
	waits(t, s, "CREATING", false)
	if c := meta.FindStatusCondition(statusOf(s).Conditions, status.Ready); c == nil || c.Status != metav1.ConditionFalse ||
		!strings.Contains(c.Message, "for more than 5 minutes") {
		t.Errorf("%+v", c)
	}
	kindtest.Settled(t, s)
	s.Edit(clusterWith(running("1.33"), reached(true, true), logs("api"), mode("API")))
	for range 5 { // the endpoints, logs, the mode, two versions
		waits(t, s, "UPDATING", true)
	}
	kindtest.Settled(t, s)
	s.Deleting = true
	waits(t, s, "DELETING", false)
	kindtest.Settled(t, s)
	if failed := s.Rig.AWS.Calls().Failed().Writes(); len(failed) > 0 || clusterExists(t, s.Rig) {
		t.Errorf("EKS refused\n%s", failed)
	}
	for op, want := range map[string]int{"CreateCluster": 1, "UpdateClusterConfig": 3, "UpdateClusterVersion": 2, "DeleteCluster": 1} {
		if n := s.Rig.AWS.Calls().Match("eks", op, "").Count(); n != want {
			t.Errorf("%d calls of %s, want %d\n%s", n, op, want, s.Rig.AWS.Calls())
		}
	}
}

// Another person may have begun an update since the look.
func TestAnUpdateThatRunsIsNoFailure(t *testing.T) {
	s := clusterSubject(t, logs("api"))
	kindtest.Settled(t, s)
	s.Edit(clusterWith(logs("audit")))
	s.Rig.AWS.Fault(emulator.Match{Service: "eks", Op: "UpdateClusterConfig", Times: 1},
		emulator.Fail(409, "ResourceInUseException", "Cannot LoggingUpdate because cluster platform currently has update x in progress"))
	_, err := s.Pass(t.Context(), nil)
	if _, stalled := status.AsStalled(err); err == nil || stalled {
		t.Errorf("got %v", err)
	}
	kindtest.Settled(t, s)
}

func TestAVersionThatEKSRaisedIsReported(t *testing.T) {
	s := clusterSubject(t, running("1.31"))
	kindtest.Settled(t, s)
	shown := func(want metav1.ConditionStatus, says string) {
		t.Helper()
		c := meta.FindStatusCondition(statusOf(s).Conditions, v1alpha1.ConditionVersionAsDeclared)
		if c == nil || c.Status != want || !strings.Contains(c.Message, says) || !statusOf(s).Ready {
			t.Errorf("%+v", c)
		}
	}
	shown(metav1.ConditionTrue, "the declared version runs")
	upgradedBy("1.32")(t, s.Rig)
	kindtest.Settled(t, s)
	shown(metav1.ConditionFalse, "version 1.32 runs, which is later than the declared 1.31: the operator downgrades no cluster; declare 1.32")
	s.Edit(clusterWith(running("1.32")))
	kindtest.Settled(t, s)
	shown(metav1.ConditionTrue, "the declared version runs")
}

func TestAClusterWithNodesIsHeld(t *testing.T) {
	s := clusterSubject(t)
	kindtest.Settled(t, s)
	c := api(s.Rig)
	for i := range 6 {
		_, err := c.CreateNodegroup(t.Context(),
			&eks.CreateNodegroupInput{ClusterName: aws.String(platform), NodegroupName: aws.String(fmt.Sprintf("group-%d", i)),
				NodeRole: aws.String(roles + "nodes"), Subnets: []string{"subnet-0000000a"}})
		kindtest.Must(t, err)
	}
	_, err := c.CreateFargateProfile(t.Context(),
		&eks.CreateFargateProfileInput{ClusterName: aws.String(platform), FargateProfileName: aws.String("batch"),
			PodExecutionRoleArn: aws.String(roles + "pods"),
			Selectors:           []types.FargateProfileSelector{{Namespace: aws.String("batch")}}})
	kindtest.Must(t, err)
	held := func(says string) {
		t.Helper()
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, says) {
			t.Errorf("got %v", err)
		}
	}
	s.Deleting = true
	held("it has 6 node groups and 1 Fargate profiles (group-0, group-1, group-2, group-3, group-4 and others)")
	for i := range 6 {
		_, err := c.DeleteNodegroup(t.Context(),
			&eks.DeleteNodegroupInput{ClusterName: aws.String(platform), NodegroupName: aws.String(fmt.Sprintf("group-%d", i))})
		kindtest.Must(t, err)
	}
	held("it has 0 node groups and 1 Fargate profiles (batch)")
	_, err = c.DeleteFargateProfile(t.Context(),
		&eks.DeleteFargateProfileInput{ClusterName: aws.String(platform), FargateProfileName: aws.String("batch")})
	kindtest.Must(t, err)
	kindtest.Settled(t, s)
	if clusterExists(t, s.Rig) {
		t.Error("the cluster is left")
	}
}

// No one deletes resources of controllers in the cluster once the cluster is gone, and they keep the networks.
func TestAClusterIsHeldByWhatItsControllersMade(t *testing.T) {
	s := clusterSubject(t)
	kindtest.Settled(t, s)
	network := ec2.NewFromConfig(s.Rig.Config)
	vpc, err := network.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	kindtest.Must(t, err)
	subnet, err := network.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String("10.0.0.0/24")})
	kindtest.Must(t, err)
	interfaceOf := func(description string, tags ...ec2types.Tag) func() {
		in := &ec2.CreateNetworkInterfaceInput{SubnetId: subnet.Subnet.SubnetId, Description: &description}
		if len(tags) > 0 {
			in.TagSpecifications = []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: tags}}
		}
		made, err := network.CreateNetworkInterface(t.Context(), in)
		kindtest.Must(t, err)
		return func() {
			_, err := network.DeleteNetworkInterface(t.Context(),
				&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: made.NetworkInterface.NetworkInterfaceId})
			kindtest.Must(t, err)
		}
	}
	arn := "arn:aws:elasticloadbalancing:" + kindtest.Region + ":" + kindtest.Account + ":loadbalancer/"
	s.Rig.AWS.Tag.SetTagged("elbv2.k8s.aws/cluster", platform, arn+"app/k8s-shop/50dc6c495c0c9188", arn+"net/deleted-before/60dc6c495c0c9188")
	s.Rig.AWS.Tag.SetTagged("kubernetes.io/cluster/"+platform, "owned", arn+"classic")
	s.Rig.AWS.EKS.SetClusterCapabilities("argocd")
	deleteALB, deleteClassic := interfaceOf("ELB app/k8s-shop/50dc6c495c0c9188"), interfaceOf("ELB classic")
	deletePods := interfaceOf("aws-K8S-i-1", ec2types.Tag{Key: aws.String("cluster.k8s.amazonaws.com/name"), Value: aws.String(platform)})
	interfaceOf("ELB app/others/70dc6c495c0c9188")
	s.Deleting = true
	for _, step := range []struct {
		says string
		end  func()
	}{
		{"the EKS capabilities of the cluster to be deleted: 1 (argocd)", func() { s.Rig.AWS.EKS.SetClusterCapabilities() }},
		{"the load balancers that controllers in the cluster made to be deleted: 2 (classic, k8s-shop)", deleteALB},
		{"1 (classic); delete the Services, Ingresses and Gateways", deleteClassic},
		{"the network interfaces that nodes of the cluster made to be deleted: 1 (eni-", deletePods},
	} {
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, step.says) {
			t.Errorf("%s: got %v", step.says, err)
		}
		step.end()
	}
	kindtest.Settled(t, s)
	if clusterExists(t, s.Rig) {
		t.Error("the cluster is left")
	}
}

func TestTheOperatorDoesNotDeleteTheClusterThatItRunsIn(t *testing.T) {
	s := clusterSubject(t, func(s *clusterSpec) { s.ClusterName = kindtest.EKSCluster })
	kindtest.Settled(t, s)
	s.Deleting = true
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, "which it runs in") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedClusterIsReportedAndDeleted(t *testing.T) {
	s := clusterSubject(t)
	kindtest.Settled(t, s)
	s.Rig.AWS.EKS.BreakControlPlanes("the role cannot be assumed")
	t.Cleanup(func() { s.Rig.AWS.EKS.BreakControlPlanes("") })
	_, err := s.Pass(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonRefusedByAWS ||
		!strings.Contains(st.Message, "is FAILED: Other: the role cannot be assumed") {
		t.Errorf("got %v", err)
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	if clusterExists(t, s.Rig) {
		t.Error("the cluster is left")
	}
}

func TestAReferenceOfAClusterThatIsNotReadyIsWaitedFor(t *testing.T) {
	for _, waitsFor := range []string{"IAMRole/control-plane", "KMSKey/secrets", "Subnet/a", "SecurityGroup/web"} {
		s := clusterSubject(t, byReference)
		delete(s.Targets, waitsFor)
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.For != waitsFor || s.Rig.AWS.Calls().Count() > 0 {
			t.Errorf("%s: got %v", waitsFor, err)
		}
	}
}

func TestClusterPublishesWhatOthersNeed(t *testing.T) {
	s := clusterSubject(t, full)
	kindtest.Settled(t, s)
	st, of := statusOf(s), kindtest.Region+":"+kindtest.Account
	if st.ARN != "arn:aws:eks:"+of+":cluster/"+platform || st.ID != platform || st.ClusterName != platform || st.Status != "ACTIVE" ||
		st.Version != "1.31" || st.PlatformVersion != "eks.4" ||
		!strings.HasPrefix(st.ClusterSecurityGroupID, "sg-") || st.CertificateAuthority == "" {
		t.Errorf("%+v", st)
	}
	for name, v := range s.Object.(*v1alpha1.EKSCluster).ReferableAttributes() {
		if v == "" && name != "vpcID" || strings.Contains(name, "endpoint") && !strings.HasPrefix(v, "https://") || name == "oidcIssuer" &&
			!strings.HasPrefix(v, "https://oidc.eks.") {
			t.Errorf("%s is %q", name, v)
		}
	}
}

func TestClusterCosts(t *testing.T) {
	s := clusterSubject(t, running("1.31"), labeled("team", "a"))
	const describe = "DescribeCluster"
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreateCluster": 1, describe: 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{describe: 1}, Change: s.Forget},
		kindtest.Cost{Name: "logs and a version",
			Calls: map[string]int{describe: 3, "ListUpdates": 2, "DescribeUpdate": 1, "UpdateClusterConfig": 1, "UpdateClusterVersion": 1},
			Change: func() {
				s.Edit(clusterWith(running("1.32"), logs("api"), labeled("team", "a")))
			}},
		kindtest.Cost{Name: "delete",
			Calls: map[string]int{describe: 2, "ListNodegroups": 1, "ListFargateProfiles": 1, "ListCapabilities": 1, "GetResources": 3,
				"DescribeNetworkInterfaces": 1, "DeleteCluster": 1}, Change: func() { s.Deleting = true }})
}
