// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// identity gathers how far a change of the mode of the identity has come. It reads nothing for a capability that has and had
// only IRSA, except the role.
func (g Gatherer) identity(ctx context.Context, c *nexusv1.NexusAICapability, f *capability.Facts) error {
	i := capability.IdentityFacts{}
	err := g.roles(ctx, c, &i)
	if err != nil {
		return err
	}
	if mode := capability.RequestedIdentity(c); !i.TrustsPodIdentity && (mode == "" || mode == nexusv1.IdentityIRSA) {
		return nil
	}
	defer func() { f.Identity = i }()
	if c.Status.Identity != nil {
		i.Recorded = *c.Status.Identity
	}
	for _, name := range capability.Associations(c) {
		made := &v1alpha1.PodIdentityAssociation{}
		if err := g.child(ctx, c, name, made); err != nil {
			return err
		}
		i.Associated = i.Associated || made.UID != ""
	}
	if i.Rolled, err = g.rolledIdentity(ctx, c); err != nil {
		return err
	}
	i.AgentReady, err = g.agentFor(ctx, c, i.Recorded)
	return err
}

// roles gathers the trust that the roles of the workloads declare, and whether all roles are ready.
func (g Gatherer) roles(ctx context.Context, c *nexusv1.NexusAICapability, i *capability.IdentityFacts) error {
	issuer, ready := true, true
	for _, name := range capability.Roles(c) {
		role := &v1alpha1.IAMRole{}
		if err := g.child(ctx, c, name, role); err != nil {
			return err
		}
		h := health.OfRole(role)
		ready = ready && h.Ready && !h.Stalled && !h.Unknown
		issuer = issuer && role.Spec.IRSA != nil
		i.TrustsIssuer, i.TrustsPodIdentity = i.TrustsIssuer || role.Spec.IRSA != nil, i.TrustsPodIdentity || role.Spec.PodIdentity != nil
	}
	i.RoleReady = ready && issuer == i.TrustsIssuer
	return nil
}

// agentFor reports whether the agent has ready pods, to a capability that has yet to choose its mode.
func (g Gatherer) agentFor(ctx context.Context, c *nexusv1.NexusAICapability, recorded nexusv1.IdentityStatus) (bool, error) {
	if !capability.IsUndecided(c, recorded) || c.DeletionTimestamp != nil {
		return false, nil
	}
	agent := g.Agent(ctx)
	return agent.IsReady(), agent.Err
}

// child reads an object of the capability; it stays empty where there is none, or one of another owner, and where the operator does
// not serve the kind.
func (g Gatherer) child(ctx context.Context, c *nexusv1.NexusAICapability, name string, o v1alpha1.Resource) error {
	if gvk, err := apiutil.GVKForObject(o, g.Scheme); err != nil || !g.Kinds.Serves(gvk.Kind) {
		return err
	}
	found := o.DeepCopyObject().(v1alpha1.Resource)
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, found)
	if err != nil || !metav1.IsControlledBy(found, c) {
		return client.IgnoreNotFound(err)
	}
	return g.Client.Get(ctx, client.ObjectKeyFromObject(found), o)
}

// rolledIdentity is the mode that all Deployments of c have rolled out completely; empty while that differs or is not known.
func (g Gatherer) rolledIdentity(ctx context.Context, c *nexusv1.NexusAICapability) (nexusv1.IdentityMode, error) {
	names := capability.NamesOf(c)
	var mode nexusv1.IdentityMode
	for _, w := range capability.Workloads(c) {
		if w.Deployment == "" { // a Job has the identity that it started with
			continue
		}
		d := &appsv1.Deployment{}
		err := g.Client.Get(ctx, client.ObjectKey{Namespace: names.WorkloadNamespace(), Name: w.Deployment}, d)
		if err != nil || d.Labels[wellknown.LabelCapabilityUID] != string(c.UID) || d.Spec.Selector == nil {
			return "", client.IgnoreNotFound(err)
		}
		pods := &corev1.PodList{}
		if err := g.Client.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
			return "", err
		}
		has := nexusv1.IdentityMode(d.Spec.Template.Annotations[capability.AnnotationIdentity])
		if has == "" {
			has = nexusv1.IdentityIRSA
		}
		if !health.RolledOutWithCredentials(d, pods.Items) || mode != "" && mode != has {
			return "", nil
		}
		mode = has
	}
	return mode, nil
}

// Agent reads the DaemonSet of the EKS Pod Identity Agent, its pods and the nodes from the API server: errors are in the result.
func (g Gatherer) Agent(ctx context.Context) capability.Agent {
	nodes, err := clusterfacts.ReadNodes(ctx, g.Live, g.AutoMode)
	if err != nil {
		return capability.Agent{Known: true, Err: refusedRead(err)}
	}
	out := capability.Agent{Known: true, Ready: int32(len(nodes.Auto) + len(nodes.WithAgent)), Without: nodes.WithoutAgent(),
		ToCome: nodes.Enabled && nodes.IsAuto()}
	err = g.Live.Get(ctx, client.ObjectKey{Namespace: capability.AgentNamespace, Name: capability.AgentName}, &appsv1.DaemonSet{})
	out.Found, out.Err = err == nil, refusedRead(client.IgnoreNotFound(err))
	return out
}

// refusedRead adds the remedy to the error of a read that RBAC refuses.
func refusedRead(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return &status.Stalled{Reason: status.ReasonAccessDenied, Cause: err,
		Message: err.Error() + ": grant the right (config/rbac/role.yaml), or set spec.identity.mode: IRSA"}
}
