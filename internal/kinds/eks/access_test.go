// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	adminPolicy     = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
	createEntry     = "eks:CreateAccessEntry"
	associatePolicy = "eks:AssociateAccessPolicy"
)

func entries(of ...v1alpha1.EKSAccessEntry) clusterEdit {
	return func(s *clusterSpec) { s.AccessEntries = of }
}

// admins declares roles as administrators of the cluster.
func admins(names ...string) clusterEdit {
	var all []v1alpha1.EKSAccessEntry
	for _, name := range names {
		all = append(all, v1alpha1.EKSAccessEntry{PrincipalARN: roles + name,
			Policies: []v1alpha1.EKSAccessPolicy{{PolicyName: "AmazonEKSClusterAdminPolicy"}}})
	}
	return entries(all...)
}

func creatorIsAdmin(v bool) clusterEdit {
	return func(s *clusterSpec) {
		if s.AccessConfig == nil {
			s.AccessConfig = &v1alpha1.EKSAccessConfig{}
		}
		s.AccessConfig.BootstrapClusterCreatorAdminPermissions = &v
	}
}

func principalsOf(t *testing.T, s *kindtest.Subject) []string {
	t.Helper()
	out, err := api(s.Rig).ListAccessEntries(t.Context(), &eks.ListAccessEntriesInput{ClusterName: aws.String(platform)})
	kindtest.Must(t, err)
	return out.AccessEntries
}

// A cluster with the default mode of EKS can be used by no one but the operator's identity, and no one can change that.
func TestANewClusterTakesAccessEntries(t *testing.T) {
	s := clusterSubject(t)
	kindtest.Settled(t, s)
	if got := found(t, s.Rig).AccessConfig; got == nil || got.AuthenticationMode != "API_AND_CONFIG_MAP" {
		t.Errorf("%+v", got)
	}
	s.Edit(clusterWith(admins("admins")))
	kindtest.Settled(t, s)
	if got := principalsOf(t, s); !slices.Equal(got, []string{roles + "admins"}) {
		t.Errorf("%q", got)
	}
	s = clusterSubject(t, admins("admins"), creatorIsAdmin(false))
	kindtest.Settled(t, s)
	if got := found(t, s.Rig).AccessConfig; got == nil || got.BootstrapClusterCreatorAdminPermissions == nil ||
		*got.BootstrapClusterCreatorAdminPermissions {
		t.Errorf("%+v", got)
	}
}

// Entries of others, such as those of nodes, stay; those of the operator go with the declaration.
func TestAccessEntriesOfOthersAreLeftAlone(t *testing.T) {
	s := clusterSubject(t, admins("admins"))
	kindtest.Settled(t, s)
	_, err := api(s.Rig).CreateAccessEntry(t.Context(),
		&eks.CreateAccessEntryInput{ClusterName: aws.String(platform), PrincipalArn: aws.String(roles + "nodes"), Type: aws.String("EC2_LINUX")})
	kindtest.Must(t, err)
	s.Edit(clusterWith())
	kindtest.Settled(t, s)
	if got := principalsOf(t, s); !slices.Equal(got, []string{roles + "nodes"}) {
		t.Errorf("%q", got)
	}
}

func TestAnAccessEntryThatWasRemovedIsMadeAgain(t *testing.T) {
	s := clusterSubject(t, admins("admins"))
	kindtest.Settled(t, s)
	_, err := api(s.Rig).DeleteAccessEntry(t.Context(),
		&eks.DeleteAccessEntryInput{ClusterName: aws.String(platform), PrincipalArn: aws.String(roles + "admins")})
	kindtest.Must(t, err)
	kindtest.Settled(t, s)
	out, err := api(s.Rig).ListAssociatedAccessPolicies(t.Context(),
		&eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(platform), PrincipalArn: aws.String(roles + "admins")})
	kindtest.Must(t, err)
	if len(out.AssociatedAccessPolicies) != 1 || aws.ToString(out.AssociatedAccessPolicies[0].PolicyArn) != adminPolicy {
		t.Errorf("%+v", out.AssociatedAccessPolicies)
	}
}

// While an administrator cannot be given a policy, the one before stays: without either, no one could use the cluster.
func TestAnAdministratorStaysUntilTheNextOneHasItsPolicy(t *testing.T) {
	s := clusterSubject(t, admins("alice"))
	kindtest.Settled(t, s)
	refused := s.Rig.AWS.Fault(emulator.Match{Service: "eks", Op: "AssociateAccessPolicy"},
		emulator.Fail(400, "InvalidParameterException", "The policyArn parameter format is not valid"))
	s.Edit(clusterWith(admins("bob")))
	if _, err := s.Settle(t.Context(), nil); err == nil {
		t.Error("the policy was not refused")
	}
	if got := principalsOf(t, s); !slices.Contains(got, roles+"alice") {
		t.Errorf("nobody can use the cluster: %q", got)
	}
	refused.Remove()
	s.Edit(clusterWith(admins("bob")))
	kindtest.Settled(t, s)
	if got := principalsOf(t, s); !slices.Equal(got, []string{roles + "bob"}) {
		t.Errorf("%q", got)
	}
}

// With mode API, EKS ignores the ConfigMap: principals that it names and that have no access entry are locked out.
func TestTheConfigMapCountsUntilAccessEntriesAreMade(t *testing.T) {
	s := clusterSubject(t)
	kindtest.Settled(t, s)
	refused := s.Rig.AWS.Fault(emulator.Match{Service: "eks", Op: "AssociateAccessPolicy"},
		emulator.Fail(400, "InvalidParameterException", "The policyArn parameter format is not valid"))
	s.Edit(clusterWith(mode("API"), admins("alice")))
	if _, err := s.Settle(t.Context(), nil); err == nil {
		t.Error("the policy was not refused")
	}
	if got := found(t, s.Rig).AccessConfig.AuthenticationMode; got != "API_AND_CONFIG_MAP" {
		t.Errorf("%s while no user of the ConfigMap has an access entry", got)
	}
	refused.Remove()
	s.Edit(clusterWith(mode("API"), admins("alice")))
	kindtest.Settled(t, s)
	if got := found(t, s.Rig).AccessConfig.AuthenticationMode; got != "API" {
		t.Error(got)
	}
}

// EKS accepts an update and makes it later. One that fails leaves the cluster ACTIVE, with the old value.
// The change of each setting that an update makes may fail later.
func TestAnUpdateOfSupportThatFailsLaterIsExplained(t *testing.T) {
	s := clusterSubject(t, supported("STANDARD"))
	kindtest.Settled(t, s)
	s.Rig.AWS.EKS.FailControlPlaneUpdates("the account has no such support")
	s.Edit(clusterWith(supported("EXTENDED")))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || !strings.Contains(st.Message, "the account has no such support") ||
		strings.Contains(st.Message, "another writer") {
		t.Errorf("got %v", err)
	}
}

func TestAnUpdateThatFailsLaterIsExplained(t *testing.T) {
	s := clusterSubject(t, running("1.31"))
	kindtest.Settled(t, s)
	s.Rig.AWS.EKS.FailControlPlaneUpdates("insufficient free IP addresses")
	s.Edit(clusterWith(running("1.32")))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || !strings.Contains(st.Message, "insufficient free IP addresses (subnet-0000000a)") ||
		strings.Contains(st.Message, "another writer") {
		t.Errorf("got %v", err)
	}
	shown := func() *metav1.Condition {
		return meta.FindStatusCondition(statusOf(s).Conditions, v1alpha1.ConditionLastUpdateSucceeded)
	}
	if c := shown(); c == nil || c.Status != metav1.ConditionFalse ||
		!strings.Contains(c.Message, "IpNotAvailable: insufficient free IP addresses") {
		t.Errorf("%+v", c)
	}
	s.Rig.AWS.EKS.FailControlPlaneUpdates("")
	s.Edit(clusterWith(running("1.33")))
	kindtest.Settled(t, s)
	if c := shown(); c == nil || c.Status != metav1.ConditionTrue || aws.ToString(found(t, s.Rig).Version) != "1.33" {
		t.Errorf("%+v", c)
	}
}
