// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationRoleARN makes EKS give the pods of a ServiceAccount the credentials of a role.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const AnnotationRoleARN = "eks.amazonaws.com/role-arn"

// sessionSeconds limits a session of a compiled role: AWS's default.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_update-role-settings.html
const sessionSeconds int32 = 3600

// Names of the identity: of its kinds, steps and access.
const (
	kindRole           = "IAMRole"
	kindAssociation    = "PodIdentityAssociation"
	kindServiceAccount = "ServiceAccount"
	StepIAM            = "IAM"
	StepServiceAccount = "ServiceAccount"
	ofRoles            = "roles"
	maxRolePurpose     = 40
)

// roleNames fits the names of roles in IAM.
var roleNames = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]+$`)

// existingRoles describes the ARNs of roles that exist already.
var existingRoles = existingKind{noun: "role", service: "iam", prefix: "role/", names: roleNames, most: 64, isGlobal: true, hasPath: true, needsOperator: true, arn: func(h home, e existing) string { return cmp.Or(e.store.ARN, h.accountARN("role/"+e.nameIn())) }}

// identityPart holds the roles of the workloads, and the existing roles that they may assume.
func identityPart() part {
	const refusal = "gives rights, which a capability has by access alone"
	return part{
		steps: []Step{{6, StepIAM, nexusv1.PhaseProvisioningIAM, nexusv1.ConditionIdentityReady}},
		kinds: []kindFacts{
			{kind: kindRole, step: StepIAM, removed: removal{stage: removesRoles, steps: []string{StepIAM}}, refusal: refusal,
				existing: &existingRoles},
			{kind: kindAssociation, step: StepIAM, removed: removal{stage: removesRoleUsers}, refusal: refusal, isTemporary: true},
		},
		checks: []turn[checking]{at(60, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
			checkRoles(v, "spec.dataServices.roles", dataOf(&c.Spec).Roles)
		})},
		compile: []func(*compiler){addAssumableRoles, addRoles, addAssociations},
		rights:  []turn[granting]{at(80, roleStatements)},
		values:  roleValues,
		entries: stores[nexusv1.RoleSpec]{
			place: 60, field: ofRoles, at: "spec.dataServices.roles", of: existingRole,
			declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.RoleSpec { return dataOf(s).Roles },
			selected: selectedRoles,
			set:      func(data *nexusv1.DataServicesSpec, list []nexusv1.RoleSpec) { data.Roles = list },
		}.entries(),
	}
}

// accountsPart holds the identities of the workloads in Kubernetes.
func accountsPart() part {
	return part{
		steps:   []Step{{8, StepServiceAccount, nexusv1.PhaseDeploying, nexusv1.ConditionIdentityReady}},
		kinds:   []kindFacts{{kind: kindServiceAccount, version: coreV1, step: StepServiceAccount, removed: removal{stage: removesIdentity, steps: []string{StepServiceAccount}}}},
		checks:  []turn[checking]{at(130, checkPodIdentity)},
		compile: []func(*compiler){addServiceAccounts},
	}
}

// addRoles adds the roles of the workloads: one for each different access.
func addRoles(k *compiler) {
	for _, a := range k.parts.accessSets(k.spec) {
		addRole(k, a)
	}
}

// addRole adds the role of the components with an access. The role's own object makes the trust policy from the cluster's
// issuer; here only the one ServiceAccount is named.
func addRole(k *compiler, a accessSet) {
	name, account := a.role(k.names), a.serviceAccount(k.names)
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:            name,
		Description:         new("Workloads of " + k.names.Prefix() + a.describe()),
		PermissionsBoundary: boundaryOf(k),
		MaxSessionDuration:  new(sessionSeconds),
		ExclusivePolicies:   true,
	}}
	way := identityOf(k.c, k.facts)
	if way.irsa {
		o.Spec.IRSA = &awsv1.IAMRoleIRSA{ServiceAccount: account, Namespace: k.names.WorkloadNamespace()}
	}
	if way.podIdentity {
		o.Spec.PodIdentity = &awsv1.IAMRolePodIdentity{ClusterName: k.facts.EKSCluster, ServiceAccount: account, Namespace: k.names.WorkloadNamespace()}
	}
	if app := k.rightsWithin(a); len(app) > 0 {
		o.Spec.InlinePolicies = append(o.Spec.InlinePolicies, awsv1.IAMInlinePolicy{PolicyName: "app", PolicyDocument: k.document(app...)})
	}
	if extra := extraStatements(k); len(extra) > 0 && !a.limited {
		o.Spec.InlinePolicies = append(o.Spec.InlinePolicies, awsv1.IAMInlinePolicy{PolicyName: "extra", PolicyDocument: k.document(extra...)})
	}
	k.resource(child{kindRole, name, StepIAM, "iam"}, o, beforeRights(k)...)
}

// beforeRights are the edges to what a role gets rights on. Rights that are withheld must go at once, whatever else is not ready: a store that never
// becomes so would keep them.
func beforeRights(k *compiler) []graph.Edge {
	if k.withholds() {
		return nil
	}
	return append(graph.NeedReady(k.grants...), graph.NeedPresent(k.parameterSet)...)
}

// rightsWithin returns the rights of an access: exactly the use of what it lists, and none for an empty one.
func (k *compiler) rightsWithin(a accessSet) []iampolicy.Statement {
	if a.isNone() {
		return nil
	}
	return k.within(a).appStatements()
}

// boundaryOf is the capability's, else the provider's; "" declares none, which is refused for a role that has one in AWS.
func boundaryOf(k *compiler) *string {
	if id := k.spec.Identity; id != nil && id.PermissionsBoundaryARN != "" {
		return &id.PermissionsBoundaryARN
	}
	return &k.facts.Boundary
}

func extraStatements(k *compiler) []iampolicy.Statement {
	if k.spec.Identity == nil {
		return nil
	}
	var out []iampolicy.Statement
	for _, e := range k.spec.Identity.ExtraPolicyStatements {
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
func addServiceAccounts(k *compiler) {
	for _, a := range k.parts.accessSets(k.spec) {
		o := &corev1.ServiceAccount{AutomountServiceAccountToken: new(false)}
		if identityOf(k.c, k.facts).irsa {
			o.Annotations = map[string]string{AnnotationRoleARN: k.home.roleARN(a.role(k.names))}
		}
		k.workload(child{kindServiceAccount, a.serviceAccount(k.names), StepServiceAccount, "identity"}, o)
	}
}

// AppRole names the role of the workloads.
func (n Names) AppRole() string { return n.Of("app-role") }

// ServiceAccount names the identity of the workloads in Kubernetes.
func (n Names) ServiceAccount() string { return n.Of("app-sa") }

func checkRights(v *verdict, id *nexusv1.IdentitySpec, f Facts) {
	if id == nil {
		return
	}
	const at = "spec.identity.extraPolicyStatements"
	v.optional("spec.identity.permissionsBoundaryARN", id.PermissionsBoundaryARN, 2048, boundaryPattern)
	if b := id.PermissionsBoundaryARN; b != "" && f.Boundary != "" && b != f.Boundary {
		v.refuse(status.ReasonNotPermitted, "spec.identity.permissionsBoundaryARN",
			"the provider bounds every role by %s: leave the field out or repeat that", f.Boundary)
	}
	if len(id.ExtraPolicyStatements) == 0 {
		return
	}
	v.require(id.PermissionsBoundaryARN != "", at, "need spec.identity.permissionsBoundaryARN")
	v.require(len(id.ExtraPolicyStatements) <= maxList, at, "at most %d", maxList)
	for i, s := range id.ExtraPolicyStatements {
		checkStatement(v, fmt.Sprintf("%s[%d]", at, i), s)
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if f.Account != "" && f.Boundary != id.PermissionsBoundaryARN {
		v.refuse(status.ReasonNotPermitted, at, "need a spec.providerRef to an AWSProvider whose permissionsBoundaryARN "+
			"is the same as spec.identity.permissionsBoundaryARN: the boundary is an administrator's to choose")
	}
}

func checkStatement(v *verdict, at string, s nexusv1.PolicyStatement) {
	v.require(len(s.Actions) >= 1 && len(s.Actions) <= 32, at+".actions", "1 to 32")
	v.require(len(s.Resources) >= 1 && len(s.Resources) <= 32, at+".resources", "1 to 32")
	for _, a := range s.Actions {
		v.matches(at+".actions", string(a), 128, actionPattern)
		service, _, _ := strings.Cut(string(a), ":")
		v.require(!slices.Contains(ungrantable, service), at+".actions", "actions of %s cannot be granted here", service)
	}
	for _, r := range s.Resources {
		v.matches(at+".resources", string(r), 512, resourcePattern)
	}
}

// rightsPart is spec.identity.
func rightsPart() part {
	return part{checks: []turn[checking]{at(120, func(v *verdict, c *nexusv1.NexusAICapability, f Facts) { checkRights(v, c.Spec.Identity, f) })}}
}
