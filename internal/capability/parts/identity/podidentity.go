// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationIdentity on pods is their identity mode, unless that is IRSA. It makes pods roll when the mode changes: credentials reach pods
// only when they start.
const AnnotationIdentity = "nexus.ai/identity-mode"

// RequestedIdentity is the mode that the spec asks for; empty is IRSA.
func RequestedIdentity(c *nexusv1.NexusAICapability) nexusv1.IdentityMode {
	if c.Spec.Identity == nil {
		return ""
	}
	return c.Spec.Identity.Mode
}

// IsUndecided reports whether the mode is Auto and has not chosen yet.
func IsUndecided(c *nexusv1.NexusAICapability, recorded nexusv1.IdentityStatus) bool {
	return RequestedIdentity(c) == nexusv1.IdentityAuto && (recorded.Mode == "" || recorded.Requested != nexusv1.IdentityAuto)
}

// identityMode is IRSA or PodIdentity. Auto chooses once: nodes and agents that come and go would otherwise restart the pods.
func identityMode(c *nexusv1.NexusAICapability, f part.Facts) nexusv1.IdentityMode {
	switch requested := RequestedIdentity(c); {
	case requested == "":
		return nexusv1.IdentityIRSA
	case requested != nexusv1.IdentityAuto:
		return requested
	case !IsUndecided(c, f.Identity.Recorded):
		return f.Identity.Recorded.Mode
	case f.Identity.AgentReady && f.Cluster.EKSName != "" && f.RegionOf(c) == f.Cluster.EKSRegion:
		return nexusv1.IdentityPodIdentity
	default:
		return nexusv1.IdentityIRSA
	}
}

// Ways holds the ways to credentials that a capability declares.
type Ways struct {
	// Mode is IRSA or PodIdentity.
	Mode nexusv1.IdentityMode
	// irsa and podIdentity are the ways that the role trusts, and associated is whether the ServiceAccount has an association.
	irsa, podIdentity, associated bool
	// Pods is the mode of new pods.
	Pods nexusv1.IdentityMode
}

// WaysOf decides how far a change of the mode is carried out: the role trusts the new way before the old one ends, and
// the old one until all pods have the new one. An association has precedence over IRSA in EKS, so that it is removed before
// pods are started for IRSA.
func WaysOf(c *nexusv1.NexusAICapability, f part.Facts) Ways {
	i := f.Identity
	if identityMode(c, f) == nexusv1.IdentityPodIdentity {
		out := Ways{Mode: nexusv1.IdentityPodIdentity, podIdentity: true, associated: true, Pods: nexusv1.IdentityPodIdentity}
		out.irsa = i.TrustsIssuer && i.Rolled != nexusv1.IdentityPodIdentity
		return out
	}
	out := Ways{Mode: nexusv1.IdentityIRSA, irsa: true, Pods: nexusv1.IdentityIRSA}
	switch ready := i.TrustsIssuer && i.RoleReady; {
	case !i.TrustsPodIdentity && !i.Associated:
	case i.Associated:
		out.podIdentity, out.associated, out.Pods = true, !ready, nexusv1.IdentityPodIdentity
	default:
		out.podIdentity = i.Rolled != nexusv1.IdentityIRSA
	}
	return out
}

// addAssociations give the roles to the ServiceAccounts of the workloads, each once its role trusts EKS Pod Identity.
func addAssociations(k *part.Compiler) {
	if !WaysOf(k.Capability, k.Facts).associated {
		return
	}
	for _, a := range k.Parts.AccessSets(k.Spec) {
		role := a.Role(k.Names)
		o := &awsv1.PodIdentityAssociation{Spec: awsv1.PodIdentityAssociationSpec{
			ClusterName: k.Facts.Cluster.EKSName, Namespace: k.Names.WorkloadNamespace(), ServiceAccount: a.ServiceAccount(k.Names),
			RoleRef: &awsv1.ObjectReference{Name: role}, DisableSessionTags: new(false), // the trust policy asks for them
		}}
		k.Resource(part.Child{Kind: KindAssociation, Name: a.Association(k.Names), Step: StepIAM, Component: "iam"}, o,
			graph.NeedReady(part.KindRole+"/"+role)...)
	}
}

// PodAnnotations returns the annotations that restart the pods when they change.
func PodAnnotations(k *part.Compiler, checksum string) map[string]string {
	out := map[string]string{part.AnnotationChecksum: checksum}
	if mode := WaysOf(k.Capability, k.Facts).Pods; mode != nexusv1.IdentityIRSA {
		out[AnnotationIdentity] = string(mode)
	}
	return out
}

// checkPodIdentity refuses the mode where associations cannot be made: by the capability's provider, in the operator's cluster.
func checkPodIdentity(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	const at = "spec.identity.mode"
	if identityMode(c, f) != nexusv1.IdentityPodIdentity {
		return
	}
	if f.Cluster.EKSName == "" {
		v.Refuse(status.ReasonNotPermitted, at, "the operator does not know the name of its EKS cluster: start it with --eks-cluster-name (EKS_CLUSTER_NAME), or set mode IRSA")
		return
	}
	region := f.RegionOf(c)
	v.Require(region == "" || f.Cluster.EKSRegion == "" || region == f.Cluster.EKSRegion, at,
		"EKS cluster %s is in %s and the capability in %s, where its provider cannot make the association: set mode IRSA",
		f.Cluster.EKSName, f.Cluster.EKSRegion, region)
}

// HasAssociation reports whether a graph gives a role to pods through EKS Pod Identity.
func HasAssociation(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes(), func(n graph.Node) bool { return n.Object.GetKind() == KindAssociation })
}

// SignInHost is the host of STS that the pods of a capability call for their credentials; "" where the EKS Pod Identity Agent
// gives them, and while the region is not known.
func SignInHost(c *nexusv1.NexusAICapability, f part.Facts) string {
	if f.RegionOf(c) == "" || WaysOf(c, f).Pods == nexusv1.IdentityPodIdentity {
		return ""
	}
	return f.HomeOf(c).Service("sts")
}
