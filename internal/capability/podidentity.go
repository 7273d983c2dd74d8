// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationIdentity on pods is the mode in which they get credentials, where that is not IRSA. It makes pods roll when the
// mode changes: credentials reach pods only when they start.
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
	case f.Identity.AgentReady && f.EKSCluster != "" && f.RegionOf(c) == f.EKSRegion:
		return nexusv1.IdentityPodIdentity
	default:
		return nexusv1.IdentityIRSA
	}
}

// identity is which ways to credentials a capability declares.
type identity struct {
	// mode is IRSA or PodIdentity.
	mode nexusv1.IdentityMode
	// irsa and podIdentity are the ways that the role trusts, and associated is whether the ServiceAccount has an association.
	irsa, podIdentity, associated bool
	// pods is the mode for which pods are started.
	pods nexusv1.IdentityMode
}

// identityOf decides how far a change of the mode is carried out: the role trusts the new way before the old one ends, and
// the old one until all pods have the new one. An association has precedence over IRSA in EKS, so that it is removed before
// pods are started for IRSA.
func identityOf(c *nexusv1.NexusAICapability, f part.Facts) identity {
	i := f.Identity
	if identityMode(c, f) == nexusv1.IdentityPodIdentity {
		out := identity{mode: nexusv1.IdentityPodIdentity, podIdentity: true, associated: true, pods: nexusv1.IdentityPodIdentity}
		out.irsa = i.TrustsIssuer && i.Rolled != nexusv1.IdentityPodIdentity
		return out
	}
	out := identity{mode: nexusv1.IdentityIRSA, irsa: true, pods: nexusv1.IdentityIRSA}
	switch ready := i.TrustsIssuer && i.RoleReady; {
	case !i.TrustsPodIdentity && !i.Associated:
	case i.Associated:
		out.podIdentity, out.associated, out.pods = true, !ready, nexusv1.IdentityPodIdentity
	default:
		out.podIdentity = i.Rolled != nexusv1.IdentityIRSA
	}
	return out
}

// addAssociations give the roles to the ServiceAccounts of the workloads, each once its role trusts EKS Pod Identity.
func addAssociations(k *part.Compiler) {
	if !identityOf(k.Capability, k.Facts).associated {
		return
	}
	for _, a := range k.Parts.AccessSets(k.Spec) {
		role := a.Role(k.Names)
		o := &awsv1.PodIdentityAssociation{Spec: awsv1.PodIdentityAssociationSpec{
			ClusterName: k.Facts.EKSCluster, Namespace: k.Names.WorkloadNamespace(), ServiceAccount: a.ServiceAccount(k.Names),
			RoleRef: &awsv1.ObjectReference{Name: role}, DisableSessionTags: new(false), // the trust policy asks for them
		}}
		k.Resource(part.Child{Kind: kindAssociation, Name: a.Association(k.Names), Step: StepIAM, Component: "iam"}, o, graph.NeedReady(part.KindRole+"/"+role)...)
	}
}

// podAnnotations returns the annotations whose change restarts the pods.
func podAnnotations(k *part.Compiler, checksum string) map[string]string {
	out := map[string]string{part.AnnotationChecksum: checksum}
	if mode := identityOf(k.Capability, k.Facts).pods; mode != nexusv1.IdentityIRSA {
		out[AnnotationIdentity] = string(mode)
	}
	return out
}

// checkPodIdentity refuses the mode where associations cannot be made: by the capability's provider, in the operator's cluster.
func checkPodIdentity(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	const at = "spec.identity.mode"
	part.OneOf(v, at, RequestedIdentity(c), "", nexusv1.IdentityIRSA, nexusv1.IdentityPodIdentity, nexusv1.IdentityAuto)
	if v.First != nil || identityMode(c, f) != nexusv1.IdentityPodIdentity {
		return
	}
	if f.EKSCluster == "" {
		v.Refuse(status.ReasonNotPermitted, at, "the operator does not know the name of its EKS cluster: start it with --eks-cluster-name (EKS_CLUSTER_NAME), or set mode IRSA")
		return
	}
	region := f.RegionOf(c)
	v.Require(region == "" || f.EKSRegion == "" || region == f.EKSRegion, at, "EKS cluster %s is in %s and the capability in %s, where its provider cannot make the association: set mode IRSA", f.EKSCluster, f.EKSRegion, region)
}

// Agent describes the EKS Pod Identity Agent, a DaemonSet of the add-on eks-pod-identity-agent.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
type Agent struct {
	// Known is false where nothing was looked at.
	Known bool
	// Found is true when the DaemonSet exists, and Ready is on how many nodes the agent is ready: those with a ready pod of the DaemonSet,
	// and those of EKS Auto Mode, which have it built in.
	Found bool
	Ready int32
	// ToCome says that the first node to come is one of EKS Auto Mode.
	ToCome bool
	// Without are the nodes on which no agent is ready, and PodNodes those on which pods of the capability run, both sorted.
	Without, PodNodes []string
	// Err is why it could not be read.
	Err error
}

// IsReady reports whether pods get credentials on at least one node, or on the first one to come.
func (a Agent) IsReady() bool { return a.Ready > 0 || a.ToCome }

// AgentNamespace and AgentName are those of the DaemonSet.
const (
	AgentNamespace = "kube-system"
	AgentName      = "eks-pod-identity-agent"
)

// reportIn adds to the state of an association that is as declared whether pods get credentials by it. Other objects do not
// wait for that: pods get the credentials as soon as the agent runs.
func (a Agent) reportIn(s State, cluster string) State {
	what := "the EKS Pod Identity Agent (DaemonSet " + AgentNamespace + "/" + AgentName + ")"
	switch {
	case !a.Known:
		return s
	case a.Err == nil && a.IsReady():
		return a.reportNodesIn(s)
	case a.Err != nil:
		s.Unknown, s.Reason, s.Message = true, status.ReasonRetrying, "it is not known whether "+what+" runs: "+a.Err.Error()
		if st, stalled := status.AsStalled(a.Err); stalled {
			s.Stalled, s.Reason = true, st.Reason
		}
	case a.Found:
		s.Stalled, s.Reason, s.Message = true, status.ReasonPodIdentityAgentMissing, what+" has no ready pods, so that pods get no credentials: see kubectl describe daemonset "+AgentName+" -n "+AgentNamespace
	default:
		s.Stalled, s.Reason = true, status.ReasonPodIdentityAgentMissing
		s.Message = fmt.Sprintf("%s does not exist, so that pods get no credentials: install it with aws eks create-addon --cluster-name %s --addon-name %s, or set spec.identity.mode: IRSA", what, cluster, AgentName)
	}
	return s
}

// maxAgentless limits the nodes without the agent that a message names.
const maxAgentless = 5

// reportNodesIn adds the nodes without the agent on which pods of the capability run: those get no credentials.
func (a Agent) reportNodesIn(s State) State {
	var lacking []string
	for _, n := range a.PodNodes {
		if slices.Contains(a.Without, n) {
			lacking = append(lacking, n)
		}
	}
	if len(lacking) == 0 {
		return s
	}
	names := strings.Join(lacking[:min(len(lacking), maxAgentless)], ", ")
	if more := len(lacking) - maxAgentless; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	s.Stalled, s.Reason = true, status.ReasonPodIdentityAgentMissing
	s.Message = fmt.Sprintf("pods of the capability run on nodes on which no EKS Pod Identity Agent is ready, and get no credentials there: %s; let DaemonSet %s/%s run on these nodes, keep the pods off them by nodeSelector, or set spec.identity.mode: IRSA",
		names, AgentNamespace, AgentName)
	return s
}

// HasAssociation reports whether a graph gives a role to pods through EKS Pod Identity.
func HasAssociation(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes(), func(n graph.Node) bool { return n.Object.GetKind() == kindAssociation })
}
