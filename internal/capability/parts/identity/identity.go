// SPDX-License-Identifier: Apache-2.0

// Package identity is spec.identity: the roles of the workloads, how their pods get the credentials of these, and the existing roles that
// they may assume.
package identity

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationRoleARN makes EKS give the pods of a ServiceAccount the credentials of a role.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const AnnotationRoleARN = "eks.amazonaws.com/role-arn"

// Names of the identity: of its kinds, steps and access.
const (
	KindAssociation    = "PodIdentityAssociation"
	KindServiceAccount = "ServiceAccount"
	StepIAM            = "IAM"
	StepServiceAccount = "ServiceAccount"
	ofRoles            = "roles"
)

// roleNames fits the names of roles in IAM.
var roleNames = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]+$`)

// existingRoles describes the ARNs of roles that exist already.
var existingRoles = part.ExistingKind{Noun: "role", Service: "iam", Prefix: "role/", Names: roleNames, Most: 64, IsGlobal: true,
	HasPath: true, NeedsOperator: true, ARN: func(h part.Home, e part.Existing) string {
		return cmp.Or(e.Store.ARN, h.AccountARN("role/"+e.NameIn()))
	}}

// Part holds the roles of the workloads, and the existing roles that they may assume.
func Part() part.Part {
	const refusal = "gives rights, which a capability has by access alone"
	return part.Part{
		Steps: []part.Step{{Number: 6, Name: StepIAM, Phase: nexusv1.PhaseProvisioningIAM, Condition: nexusv1.ConditionIdentityReady}},
		Kinds: []part.KindFacts{
			{Kind: part.KindRole, Step: StepIAM, Removed: part.Removal{Stage: part.RemovesRoles, Steps: []string{StepIAM}}, Refusal: refusal,
				Existing: &existingRoles},
			{Kind: KindAssociation, Step: StepIAM, Removed: part.Removal{Stage: part.RemovesRoleUsers}, Refusal: refusal, IsTemporary: true},
		},
		Compile: []func(*part.Compiler){addAssumableRoles, addRoles, addAssociations},
		Rights:  []part.Turn[part.Granting]{part.At(80, roleStatements)},
		Values:  roleValues,
		Entries: part.Stores[nexusv1.RoleSpec]{
			Place: 60, Field: ofRoles, At: "spec.dataServices.roles", Of: existingRole,
			Declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.RoleSpec { return part.DataOf(s).Roles },
			Selected: selectedRoles,
			Set:      func(data *nexusv1.DataServicesSpec, list []nexusv1.RoleSpec) { data.Roles = list },
		}.Entries(),
	}
}

// Accounts holds the identities of the workloads in Kubernetes.
func Accounts() part.Part {
	return part.Part{
		Steps: []part.Step{{Number: 8, Name: StepServiceAccount, Phase: nexusv1.PhaseDeploying, Condition: nexusv1.ConditionIdentityReady}},
		Kinds: []part.KindFacts{{Kind: KindServiceAccount, Version: part.CoreV1, Step: StepServiceAccount,
			Removed: part.Removal{Stage: part.RemovesIdentity, Steps: []string{StepServiceAccount}}}},
		Checks:  []part.Turn[part.Checking]{part.At(130, checkPodIdentity)},
		Compile: []func(*part.Compiler){addServiceAccounts},
	}
}

// addRoles adds the roles of the workloads: one for each different access.
func addRoles(k *part.Compiler) {
	for _, a := range k.Parts.AccessSets(k.Spec) {
		addRole(k, a)
	}
}

// addRole adds the role of the components with an access. The role's own object makes the trust policy from the cluster's
// issuer; here only the one ServiceAccount is named.
func addRole(k *part.Compiler, a part.AccessSet) {
	name, account := a.Role(k.Names), a.ServiceAccount(k.Names)
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:            name,
		Description:         new("Workloads of " + k.Names.Prefix() + a.Describe()),
		PermissionsBoundary: part.BoundaryOf(k),
		MaxSessionDuration:  new(part.SessionSeconds),
		ExclusivePolicies:   true,
	}}
	way := WaysOf(k.Capability, k.Facts)
	if way.irsa {
		o.Spec.IRSA = &awsv1.IAMRoleIRSA{ServiceAccount: account, Namespace: k.Names.WorkloadNamespace()}
	}
	if way.podIdentity {
		o.Spec.PodIdentity = &awsv1.IAMRolePodIdentity{ClusterName: k.Facts.Cluster.EKSName, ServiceAccount: account,
			Namespace: k.Names.WorkloadNamespace()}
	}
	if app := k.RightsWithin(a); len(app) > 0 {
		o.Spec.InlinePolicies = append(o.Spec.InlinePolicies, awsv1.IAMInlinePolicy{PolicyName: "app", PolicyDocument: k.Document(app...)})
	}
	if extra := ExtraStatements(k); len(extra) > 0 && !a.Limited {
		o.Spec.InlinePolicies = append(o.Spec.InlinePolicies, awsv1.IAMInlinePolicy{PolicyName: "extra", PolicyDocument: k.Document(extra...)})
	}
	k.Resource(part.Child{Kind: part.KindRole, Name: name, Step: StepIAM, Component: "iam"}, o, beforeRights(k)...)
}

// beforeRights returns the edges to the resources that a role gets rights on. Rights that are withheld must be removed at once, and wait
// for no other object: a store that never becomes ready would keep them.
func beforeRights(k *part.Compiler) []graph.Edge {
	if k.Withholds() {
		return nil
	}
	return append(graph.NeedReady(k.Grants...), graph.NeedPresent(k.ParameterSet)...)
}

// ExtraStatements are the declared statements, which only the role with everything has.
func ExtraStatements(k *part.Compiler) []iampolicy.Statement {
	if k.Spec.Identity == nil {
		return nil
	}
	var out []iampolicy.Statement
	for _, e := range k.Spec.Identity.ExtraPolicyStatements {
		s := iampolicy.Statement{}
		for _, a := range e.Actions {
			s.Action = append(s.Action, string(a))
		}
		for _, r := range e.Resources {
			s.Resource = append(s.Resource, string(r))
		}
		out = append(out, s)
	}
	return out
}

// addServiceAccounts adds the identities of the workloads in Kubernetes: one for each role.
func addServiceAccounts(k *part.Compiler) {
	for _, a := range k.Parts.AccessSets(k.Spec) {
		o := &corev1.ServiceAccount{AutomountServiceAccountToken: new(false)}
		if WaysOf(k.Capability, k.Facts).irsa {
			o.Annotations = map[string]string{AnnotationRoleARN: k.Home.RoleARN(a.Role(k.Names))}
		}
		k.Workload(part.Child{Kind: KindServiceAccount, Name: a.ServiceAccount(k.Names), Step: StepServiceAccount, Component: "identity"}, o)
	}
}

func checkRights(v *part.Verdict, id *nexusv1.IdentitySpec, p part.ProviderFacts) {
	if id == nil {
		return
	}
	const at = "spec.identity.extraPolicyStatements"
	if b := id.PermissionsBoundaryARN; b != "" && p.Boundary != "" && b != p.Boundary {
		v.Refuse(status.ReasonNotPermitted, "spec.identity.permissionsBoundaryARN",
			"the provider bounds every role by %s: leave the field out or repeat that", p.Boundary)
	}
	if len(id.ExtraPolicyStatements) == 0 {
		return
	}
	v.Require(id.PermissionsBoundaryARN != "", at, "need spec.identity.permissionsBoundaryARN")
	for i, s := range id.ExtraPolicyStatements {
		checkStatement(v, fmt.Sprintf("%s[%d]", at, i), s)
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if p.Account != "" && p.Boundary != id.PermissionsBoundaryARN {
		v.Refuse(status.ReasonNotPermitted, at, "need a spec.providerRef to an AWSProvider whose permissionsBoundaryARN "+
			"is the same as spec.identity.permissionsBoundaryARN: the boundary is an administrator's to choose")
	}
}

func checkStatement(v *part.Verdict, at string, s nexusv1.PolicyStatement) {
	for _, a := range s.Actions {
		service, _, _ := strings.Cut(string(a), ":")
		v.Require(!slices.Contains(ungrantable, service), at+".actions", "actions of %s cannot be granted here", service)
	}
}

// Rights is spec.identity.
func Rights() part.Part {
	return part.Part{Checks: []part.Turn[part.Checking]{part.At(120,
		func(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
			checkRights(v, c.Spec.Identity, f.Provider)
		})}}
}

var ungrantable = []string{"iam", "organizations", "account", "sts"}
