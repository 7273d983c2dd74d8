// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// AnnotationRoleARN makes EKS give the pods of a ServiceAccount the credentials of a role.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const AnnotationRoleARN = "eks.amazonaws.com/role-arn"

// sessionSeconds limits a session of a compiled role: AWS's default.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_update-role-settings.html
const sessionSeconds int32 = 3600

// identityPart holds the roles of the workloads, and the existing roles that they may assume.
func identityPart() part {
	const refusal = "gives rights, which a capability has by access alone"
	return part{
		steps: []Step{{6, StepIAM, nexusv1.PhaseProvisioningIAM, nexusv1.ConditionIdentityReady}},
		kinds: []kindFacts{
			{kind: kindRole, step: StepIAM, removed: removal{stage: removesRoles, steps: []string{StepIAM}}, refusal: refusal,
				existing: &existingKind{noun: "role", service: "iam", prefix: "role/", names: regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]+$`), most: 64}},
			{kind: kindAssociation, step: StepIAM, removed: removal{stage: removesRoleUsers}, refusal: refusal, isTemporary: true},
			// Resources act as service roles until they are gone.
			{kind: kindRole, removed: removal{stage: removesResources + 10, serviceRoles: true}},
		},
		check: turn[checking]{60, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
			checkRoles(v, "spec.dataServices.roles", dataOf(&c.Spec).Roles)
		}},
		compile: []func(*compiler){addAssumableRoles, addRoles, addAssociations},
		rights:  turn[granting]{80, roleStatements},
		values:  roleValues,
		entries: entries{
			place: 60, field: ofRoles,
			names: func(s *nexusv1.NexusAICapabilitySpec) []string { return namesIn(selectedRoles(s), nameOfRole) },
			keep: func(a accessSet, _ *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
				data.Roles = keep(a, ofRoles, data.Roles, nameOfRole)
			},
			objects: func(c *nexusv1.NexusAICapability) []namedObject {
				return objectsOf(c, selectedRoles(&c.Spec), existingRole)
			},
			existing: func(s *nexusv1.NexusAICapabilitySpec) []existing {
				return existingOfList("spec.dataServices.roles", dataOf(s).Roles, existingRole)
			},
		},
	}
}

// accountsPart holds the identities of the workloads in Kubernetes.
func accountsPart() part {
	return part{
		steps:   []Step{{8, StepServiceAccount, nexusv1.PhaseDeploying, nexusv1.ConditionIdentityReady}},
		kinds:   []kindFacts{{kind: kindServiceAccount, step: StepServiceAccount, removed: removal{stage: removesIdentity, steps: []string{StepServiceAccount}}}},
		check:   turn[checking]{130, checkPodIdentity},
		compile: []func(*compiler){addServiceAccounts},
	}
}

// namespacePart is the namespace of the workloads.
func namespacePart() part {
	return part{
		steps: []Step{{7, StepNamespace, nexusv1.PhaseDeploying, nexusv1.ConditionNamespaceReady}},
		kinds: []kindFacts{
			{kind: kindQuota, step: StepNamespace, removed: removal{stage: removesIdentity + 20, steps: []string{StepNamespace}}},
			{kind: kindNamespace, step: StepNamespace, removed: removal{stage: removesIdentity + 20}},
		},
		compile: []func(*compiler){addNamespace},
	}
}

// addRoles adds the roles of the workloads: one for each different access.
func addRoles(k *compiler) {
	for _, a := range accessSets(k.spec) {
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

// addNamespace makes the workload namespace when it is not the capability's own, closed to pods that do not
// meet the restricted standard, which the workloads here do.
func addNamespace(k *compiler) {
	if !k.madeNamespace() {
		return
	}
	o := &corev1.Namespace{}
	o.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	k.add(child{kindNamespace, k.names.WorkloadNamespace(), StepNamespace, "namespace"}, kube[kindNamespace], o, nil)
	addQuota(k)
}

// addServiceAccounts adds the identities of the workloads in Kubernetes: one for each role.
func addServiceAccounts(k *compiler) {
	for _, a := range accessSets(k.spec) {
		o := &corev1.ServiceAccount{AutomountServiceAccountToken: new(false)}
		if identityOf(k.c, k.facts).irsa {
			o.Annotations = map[string]string{AnnotationRoleARN: k.home.roleARN(a.role(k.names))}
		}
		k.workload(child{kindServiceAccount, a.serviceAccount(k.names), StepServiceAccount, "identity"}, o)
	}
}
