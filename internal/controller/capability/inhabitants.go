// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/inhabitants"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// countPoll is the pause before a ResourceQuota is read again that has not counted all kinds.
	countPoll = time.Second
	// dependentsGrace limits how long objects of kinds that the operator may not list may be dependents of its own workloads, such as
	// ReplicaSets. The garbage collector deletes dependents after their owners.
	dependentsGrace = 10 * time.Second
	// podsGrace is the same while pods of the capability run: other controllers keep objects for pods.
	podsGrace = 2 * time.Minute
)

// othersInNamespace counts the objects in a namespace that was made for a capability, apart from the capability's. While they cannot
// all be counted, it returns an error that says why, and the namespace stays.
func (r remover) othersInNamespace(ctx context.Context, c *nexusv1.NexusAICapability, namespace string) (inhabitants.Found, error) {
	if going, err := reconciler.Terminating(ctx, r.live, namespace); going || err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	kinds, err := inhabitants.Kinds(ctx, r.discovery)
	if err != nil {
		return nil, undiscovered(namespace, err)
	}
	quota, err := r.countObjects(ctx, c, namespace, kinds)
	if err != nil {
		return nil, err
	}
	present, uncounted := inhabitants.Counted(quota, kinds)
	if len(uncounted) > 0 {
		return nil, &status.Waiting{Reason: status.ReasonInUse, After: countPoll, For: fmt.Sprintf(
			"ResourceQuota %s/%s to count the objects in the namespace, which goes only if all are this capability's: %s not counted yet; %s",
			namespace, quota.Name, kindsOf(uncounted), howToKeep(namespace))}
	}
	readable, unlisted := divide(present, mayHoldOwn)
	found, refused, err := inhabitants.List(ctx, r.live, namespace, readable, func(o client.Object) bool { return isOwn(c, o) })
	unlisted = append(unlisted, refused...)
	if err != nil || len(found) > 0 || len(unlisted) == 0 {
		return found, err
	}
	if err := r.waitForDependents(ctx, c, quota, unlisted); err != nil {
		return nil, err
	}
	for _, k := range unlisted {
		used := quota.Status.Used[k.CountName()]
		found[k.Kind] += int(used.Value())
	}
	return found, nil
}

// builtIn lists the kinds of Kubernetes and of policy engines that may have objects of the operator, or of a controller for it, in the
// namespace of a capability. The operator has the right to list these, and its own kinds. Objects of other kinds always belong to others,
// and their number is enough.
var builtIn = []schema.GroupKind{
	{Kind: "ConfigMap"}, {Kind: "Pod"}, {Kind: "ResourceQuota"}, {Kind: "Service"}, {Kind: "ServiceAccount"},
	{Group: "apps", Kind: "Deployment"}, {Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, {Group: "policy", Kind: "PodDisruptionBudget"},
	{Group: "batch", Kind: "CronJob"}, {Group: "batch", Kind: "Job"}, {Group: "networking.k8s.io", Kind: "Ingress"}, {Group: "networking.k8s.io", Kind: "NetworkPolicy"},
	{Group: "security.kubearmor.com", Kind: "KubeArmorPolicy"}, {Group: "kyverno.io", Kind: "Policy"},
	{Group: "gateway.networking.k8s.io", Kind: "Gateway"}, {Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
	{Group: "gateway.k8s.aws", Kind: "LoadBalancerConfiguration"}, {Group: "gateway.k8s.aws", Kind: "TargetGroupConfiguration"},
	{Group: "cilium.io", Kind: "CiliumNetworkPolicy"}, {Group: "networking.k8s.aws", Kind: "ApplicationNetworkPolicy"},
	{Group: "security.istio.io", Kind: "AuthorizationPolicy"}, {Group: "security.istio.io", Kind: "PeerAuthentication"},
}

// mayHoldOwn reports whether objects of a kind may be the operator's.
func mayHoldOwn(k inhabitants.Kind) bool {
	return slices.Contains([]string{nexusv1.GroupVersion.Group, v1alpha1.GroupName, intentv1alpha1.GroupName}, k.Group) || slices.Contains(builtIn, k.GroupKind())
}

func divide(kinds []inhabitants.Kind, by func(inhabitants.Kind) bool) (yes, no []inhabitants.Kind) {
	for _, k := range kinds {
		if by(k) {
			yes = append(yes, k)
		} else {
			no = append(no, k)
		}
	}
	return yes, no
}

// isOwn reports whether an object in a capability's namespace is the capability's, or the operator's for a security intent.
func isOwn(c *nexusv1.NexusAICapability, o client.Object) bool {
	labels := o.GetLabels()
	return labels[wellknown.LabelCapabilityUID] == string(c.UID) ||
		labels[wellknown.LabelManagedBy] == apply.FieldOwner && labels[wellknown.LabelPolicyOwner] != ""
}

// countObjects has a ResourceQuota without limits count the objects in a namespace, of all kinds.
func (r remover) countObjects(
	ctx context.Context, c *nexusv1.NexusAICapability, namespace string, kinds []inhabitants.Kind,
) (*corev1.ResourceQuota, error) {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: capability.NamesOf(c).Inhabitants()}}
	q.Spec.Hard = inhabitants.Limits(kinds)
	m, err := toManifest(r.scheme, q)
	if err != nil {
		return nil, err
	}
	if _, err := r.applier.Apply(ctx, capabilityfacts.OwnerOf(c), m); err != nil {
		return nil, err
	}
	live := &corev1.ResourceQuota{}
	return live, r.live.Get(ctx, client.ObjectKeyFromObject(q), live)
}

// waitForDependents returns an error while counted objects may be dependents of the capability's workloads.
func (r remover) waitForDependents(
	ctx context.Context, c *nexusv1.NexusAICapability, q *corev1.ResourceQuota, counted []inhabitants.Kind,
) error {
	pod, err := r.pods.thatRemain(ctx, c)
	if err != nil {
		return err
	}
	grace, until := dependentsGrace, "the garbage collector"
	if pod != "" {
		grace, until = podsGrace, "pod "+pod+" to end"
	}
	if left := grace - r.clock.Now().Sub(q.CreationTimestamp.Time); left > 0 {
		return &status.Waiting{Reason: status.ReasonInUse, After: min(left, countPoll), For: fmt.Sprintf("%s: namespace %s holds objects of the kinds %s", until, q.Namespace, kindsOf(counted))}
	}
	return nil
}

// undiscovered says that the kinds of the API server are not all known, so that any of them may be in a namespace.
func undiscovered(namespace string, err error) error {
	failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err)
	if !ok {
		return err
	}
	var groups []string
	for gv := range failed {
		groups = append(groups, gv.String())
	}
	slices.Sort(groups)
	return &status.Stalled{Reason: status.ReasonInUse, Cause: err, Message: fmt.Sprintf(
		"namespace %s goes only if all objects in it are this capability's, and the API groups %s do not answer: repair or delete their APIServices; %s",
		namespace, strings.Join(groups, ", "), howToKeep(namespace))}
}

// howToKeep is the way out for a person who does not want to wait.
func howToKeep(namespace string) string {
	return fmt.Sprintf("to keep the namespace, run kubectl label namespace %s %s-", namespace, wellknown.LabelCapabilityUID)
}

func kindsOf(kinds []inhabitants.Kind) string {
	const most = 5
	var names []string
	for _, k := range kinds {
		if len(names) == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(kinds)-most)
		}
		names = append(names, k.Kind)
	}
	return strings.Join(names, ", ")
}
