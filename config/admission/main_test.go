// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/awsprovider"
	"github.com/nexus-operator/nexus-operator/internal/controller/intentbinding"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// copyRoles copies config/rbac and replaces words in it.
func copyRoles(t *testing.T, words ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"role.yaml", "leader_election_role.yaml", "secrets_role.yaml", "signing_key_role.yaml",
		"service_account.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "rbac", f))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), []byte(strings.NewReplacer(words...).Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func generated(t *testing.T, rbac string) string {
	t.Helper()
	output := filepath.Join(t.TempDir(), "policy.yaml")
	if err := generate(rbac, output); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestGenerate_FollowsServiceAccountAndRoles(t *testing.T) {
	shipped, err := os.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if generated(t, copyRoles(t)) != string(shipped) {
		t.Error("policy.yaml is not up to date: run make generate")
	}
	other := generated(t, copyRoles(t, "namespace: nexus-system", "namespace: ops", "- deployments", "- replicasets"))
	if strings.Contains(other, "nexus-system") || !strings.Contains(other, "'system:serviceaccount:ops:nexus-operator'") {
		t.Error("the policy does not follow the namespace of the ServiceAccount")
	}
	if strings.Contains(other, "apps/deployments") || !strings.Contains(other, "'apps/replicasets'") {
		t.Error("the policy does not follow the resources of the roles")
	}
	for _, never := range []string{"rbac.authorization.k8s.io", "'/pods'", "pods/exec", "finalizers'",
		"admissionregistration.k8s.io/validating", "daemonsets"} {
		if strings.Contains(string(shipped), never) {
			t.Errorf("the policy lists %s", never)
		}
	}
}

func TestGenerate_FailsWithoutServiceAccountOrRoles(t *testing.T) {
	for want, words := range map[string][]string{
		"service_account.yaml: must hold one ServiceAccount":                             {"kind: ServiceAccount", "kind: ConfigMap"},
		"service_account.yaml: must hold one ServiceAccount with a name and a namespace": {"name: nexus-operator\n", "generateName: x\n"},
		"role.yaml: no rule allows a write":                                              {"rules:", "others:"},
		"leader_election_role.yaml: error":                                               {"kind: Role\nmetadata:", "kind: [Role\nmetadata:"},
	} {
		if err := generate(copyRoles(t, words...), filepath.Join(t.TempDir(), "policy.yaml")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestMarks_AreThoseOfTheApplier(t *testing.T) {
	if ownerLabels[0] != wellknown.LabelCapabilityUID || ownerLabels[1] != intentbinding.LabelPolicyOwner ||
		ownerAnnotations[0] != apply.AnnotationOwner || ownerAnnotations[1] != apply.AnnotationOrphanedFrom ||
		secretFinalizer != awsprovider.SecretFinalizer || ownGroups[0] != nexusv1.GroupVersion.Group {
		t.Error("the policy looks for other marks than those that the operator writes")
	}
}

func TestRole_NamesTheLeaseOfEveryShard(t *testing.T) {
	text, err := os.ReadFile("../rbac/leader_election_role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n---\n")
	role := rbacv1.Role{}
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	named := slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Equal(r.ResourceNames, shard.Leases()) })
	if !named {
		t.Errorf("no rule of %v names the leases %v", role.Rules, shard.Leases())
	}
	policy := generated(t, copyRoles(t))
	for _, lease := range shard.Leases() {
		if !strings.Contains(policy, quote(lease)) {
			t.Errorf("the policy refuses Lease %s", lease)
		}
	}
}

// https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/validating-admission-policy-v1/ lists the defaults.
func TestPolicy_StatesTheDefaultsOfWhatItMatches(t *testing.T) {
	m := policyFor("user", nil).Spec.MatchConstraints
	if m.MatchPolicy == nil || *m.MatchPolicy != admissionv1.Equivalent || m.NamespaceSelector == nil || m.ObjectSelector == nil {
		t.Errorf("%+v", m)
	}
	for _, r := range slices.Concat(m.ResourceRules, m.ExcludeResourceRules) {
		if r.Scope == nil || *r.Scope != admissionv1.AllScopes {
			t.Errorf("%v: no scope", r.Resources)
		}
	}
}

func TestApprovals_AreUpToDateAndNamedAsTheOperatorKnowsThem(t *testing.T) {
	shipped, err := os.ReadFile("approvals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "approvals.yaml")
	if err := write(output, approvalsPolicy(), bindingOf(approvals)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(output); err != nil || string(text) != string(shipped) {
		t.Errorf("approvals.yaml is not up to date: run make generate (%v)", err)
	}
	if approvals != wellknown.ApprovalsPolicy || approvedPlan != wellknown.AnnotationApprovedPlan || approve != wellknown.ApproveVerb {
		t.Error("the policy and the operator name approvals in different ways")
	}
}
