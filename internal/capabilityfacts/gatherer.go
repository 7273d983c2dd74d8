// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"context"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Settings holds the settings of the administrator and of the cluster that apply to every capability.
type Settings struct {
	// ClusterID names the cluster in tags.
	ClusterID string
	// Regions lists the regions that a capability may name; DefaultRegion serves a capability that names none.
	Regions       []string
	DefaultRegion string
	// AllowedIngressGroups are patterns of the ALB groups that a capability may join.
	AllowedIngressGroups []string
	OperatorNamespace    string
	// AllowedExternalARNs are patterns of ARNs that limit the allowedExternalARNs of providers; none does not.
	AllowedExternalARNs []string
	// DriftEventsQueue is the URL of the operator's queue; {shard} in it stands for any number.
	DriftEventsQueue string
	// DefaultBoundary is the permissions boundary of generated providers; empty is none.
	DefaultBoundary string
	// EKSCluster is the name of the operator's cluster in EKS, and EKSRegion its region; empty while they are not known.
	EKSCluster, EKSRegion string
	// InjectsCredentials is true where the cluster gave the operator's own pod its credentials.
	InjectsCredentials bool
	// AutoMode asks EKS about EKS Auto Mode; nil leaves it to the nodes.
	AutoMode clusterfacts.AutoMode
	// WorkloadNamespaces are the namespaces (patterns) that may be created for workloads, each with NamespaceQuota.
	WorkloadNamespaces []string
	NamespaceQuota     corev1.ResourceList
	// NoDrain is true if the API server does not know the lifecycle hook that drains pods; see LacksDrain.
	NoDrain bool
	// DeletionGrace has the defaults of spec.deletion.graceful.
	DeletionGrace capability.DefaultGrace
	// Kinds are the AWS kinds that the operator serves. No object of another kind is read or applied.
	Kinds options.Kinds
}

// SettingsOf returns the settings from the operator's options. The regions are those that a capability may name.
func SettingsOf(o options.Options, clusterID string, regions []string) Settings {
	return Settings{ClusterID: clusterID, Regions: regions, DefaultRegion: o.AWS.Region, EKSCluster: o.AWS.EKSCluster, EKSRegion: o.AWS.Region,
		InjectsCredentials: o.AWS.InjectsCredentials, AllowedIngressGroups: o.Guards.AllowedIngressGroups,
		AllowedExternalARNs: o.Guards.AllowedExternalARNs,
		DriftEventsQueue:    o.AWS.DriftEventsQueue, OperatorNamespace: o.Namespace,
		DefaultBoundary: o.Guards.DefaultPermissionsBoundary, WorkloadNamespaces: o.Guards.WorkloadNamespaces,
		NamespaceQuota: o.Guards.WorkloadNamespaceQuota,
		DeletionGrace:  capability.DefaultGrace{All: o.Grace.Deletion, Production: o.Grace.Production}, Kinds: o.Kinds}
}

// Facts returns the facts that follow from the settings alone, without a look at the cluster.
func (s Settings) Facts(c *nexusv1.NexusAICapability) capability.Facts {
	f := capability.Facts{Regions: s.Regions, Region: s.DefaultRegion, OperatorNamespace: s.OperatorNamespace}
	f.Cluster.ID, f.Cluster.NoDrain = s.ClusterID, s.NoDrain
	f.Cluster.EKSName, f.Cluster.EKSRegion = s.EKSCluster, s.EKSRegion
	f.Limits.AllowedIngressGroups, f.Limits.AllowedExternalARNs = s.AllowedIngressGroups, s.AllowedExternalARNs
	f.Limits.NamespaceQuota = s.NamespaceQuota
	if c.Spec.ProviderRef == nil {
		f.Limits.DefaultBoundary, f.Provider.Boundary = s.DefaultBoundary, s.DefaultBoundary
	}
	return f
}

// Gatherer gathers facts about capabilities.
type Gatherer struct {
	Settings
	Client client.Reader
	// Live reads the API server directly, for objects that are not cached.
	Live   client.Reader
	Scheme *runtime.Scheme
}

// Gather returns the facts that Compile needs from outside the capability. Errors are those of the API server.
func (g Gatherer) Gather(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Facts, error) {
	f, err := g.gather(ctx, c)
	if err != nil {
		return f, err
	}
	return f, g.intents(ctx, c, &f)
}

// gather returns all facts but those about intents.
func (g Gatherer) gather(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Facts, error) {
	f := g.Facts(c)
	var err error
	if f.Owned, err = g.owned(ctx, c); err != nil {
		return f, err
	}
	if err = g.traffic(ctx, c, &f); err != nil {
		return f, err
	}
	if err = g.identity(ctx, c, &f); err != nil {
		return f, err
	}
	p := &v1alpha1.AWSProvider{}
	err = g.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: capability.ProviderName(c)}, p)
	if err != nil {
		return f, client.IgnoreNotFound(err)
	}
	f.Provider.Region, f.Provider.RolePath = p.Spec.Region, p.Spec.RolePathPrefix
	g.external(c, p, &f)
	switch {
	case c.Spec.ProviderRef != nil:
		f.Provider.Boundary = p.Spec.PermissionsBoundaryARN
	case c.DeletionTimestamp != nil:
		// The provider keeps its boundary until the deletion is done, even if the operator is restarted with other options.
		f.Limits.DefaultBoundary, f.Provider.Boundary = p.Spec.PermissionsBoundaryARN, p.Spec.PermissionsBoundaryARN
	}
	if status.ReadyAt(p.Status.Conditions, p.Generation) {
		f.Provider.Account, f.Provider.Partition = p.Status.AccountID, p.Status.Partition
	}
	return f, nil
}

// owned gathers the AWS resources that the capability's children own. It does not rely on labels, because users can edit them.
func (g Gatherer) owned(ctx context.Context, c *nexusv1.NexusAICapability) (map[string]capability.Proof, error) {
	out, owners := map[string]capability.Proof{}, map[string]bool{}
	for _, kind := range capability.ProvingKinds(c) {
		if !g.Kinds.Serves(kind) {
			continue
		}
		made, err := g.Scheme.New(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err != nil {
			return nil, err
		}
		list := made.(client.ObjectList)
		if err := g.Client.List(ctx, list, client.InNamespace(c.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			child := o.(v1alpha1.Resource)
			if id, proof, ok := capability.Prove(c, kind, child); ok {
				out[id] = proof
			}
			if st := child.CommonStatus(); st.ARN != "" && st.OwnsResource() && !capability.IsExisting(child) {
				owners[st.ARN] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return capability.WithOwners(c, out, owners), nil
}

// intents gathers the flows that the capability's SecurityIntents close: egress to AWS, with the remedy, and ingress from load balancers to
// the pods. An intent that does not exist closes nothing yet.
func (g Gatherer) intents(ctx context.Context, c *nexusv1.NexusAICapability, f *capability.Facts) error {
	signIn := capability.SignInHost(c, *f)
	for _, name := range IntentsOf(c) {
		si := &intentv1alpha1.SecurityIntent{}
		if err := g.Client.Get(ctx, client.ObjectKey{Name: name}, si); client.IgnoreNotFound(err) != nil {
			return err
		} else if err != nil {
			continue
		}
		if err := g.closedToBalancers(ctx, c, si, f); err != nil {
			return err
		}
		remedy := intent.ClosesEgressToAWS(si, intent.WayToAWS{SignIn: signIn})
		if remedy == "" {
			continue
		}
		if open, err := g.isOpenByIPv6(ctx, si, signIn); err != nil {
			return err
		} else if !open {
			if f.ClosesEgress == nil {
				f.ClosesEgress = map[string]string{}
			}
			f.ClosesEgress[name] = remedy
		}
	}
	return nil
}

// closedToBalancers adds which components a SecurityIntent closes to their load balancers. It reads the namespace of the pods, and whether
// they have IPv6 addresses, only where that makes the difference.
func (g Gatherer) closedToBalancers(
	ctx context.Context, c *nexusv1.NexusAICapability, si *intentv1alpha1.SecurityIntent, f *capability.Facts,
) error {
	for _, b := range capability.BalancedComponents(c, *f) {
		way := intent.WayIn{IPv6: true, Mesh: true, Ports: []string{strconv.Itoa(int(b.Port))}}
		if intent.ClosesWayIn(si, way) == nil {
			continue
		}
		var err error
		if way.IPv6 = false; intent.ClosesWayIn(si, way) == nil {
			if way.IPv6, err = clusterfacts.IsIPv6(ctx, g.Live); err != nil {
				return err
			}
		}
		ns := &corev1.Namespace{}
		if way.Mesh = false; intent.ClosesWayIn(si, way) == nil {
			err := g.Live.Get(ctx, client.ObjectKey{Name: capability.NamesOf(c).WorkloadNamespace()}, ns)
			if client.IgnoreNotFound(err) != nil && !apierrors.IsForbidden(err) {
				return err
			}
			way.Mesh = intent.MeshOf(ns.Labels) != intent.OutsideMesh
		}
		if closed := intent.ClosesWayIn(si, way); closed != nil {
			f.ClosedToBalancers = append(f.ClosedToBalancers,
				capability.ClosedToBalancer{Intent: si.Name, Component: b.Component, To: closed.To, Remedy: closed.Remedy})
		}
	}
	return nil
}

// isOpenByIPv6 reports whether pods have IPv6 addresses and an intent leaves the way to AWS open to those. It reads the API
// server only where that makes the difference.
func (g Gatherer) isOpenByIPv6(ctx context.Context, si *intentv1alpha1.SecurityIntent, signIn string) (bool, error) {
	if intent.ClosesEgressToAWS(si, intent.WayToAWS{IPv6: true, SignIn: signIn}) != "" {
		return false, nil
	}
	return clusterfacts.IsIPv6(ctx, g.Live)
}

// IntentsOf returns the names of the SecurityIntents that the capability names, sorted and distinct.
func IntentsOf(c *nexusv1.NexusAICapability) []string {
	if c.Spec.Security == nil {
		return nil
	}
	var out []string
	for _, i := range c.Spec.Security.Intents {
		out = append(out, i.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// OwnerOf returns the capability as the sole owner of the fields that it declares in its children. Controllers of the cluster write to
// ServiceAccounts and Namespaces.
func OwnerOf(c *nexusv1.NexusAICapability) apply.Owner {
	return apply.Owner{UID: c.UID, Namespace: c.Namespace, Name: c.Name, Kind: nexusv1.GroupVersion.WithKind("NexusAICapability"),
		Sole: true, Shared: []schema.GroupKind{{Kind: "ServiceAccount"}, {Kind: "Namespace"}}, Namespaces: NamespacesOf(c)}
}

// NamespacesOf returns the namespaces of a capability's children: its own and that of its workloads.
func NamespacesOf(c *nexusv1.NexusAICapability) []string {
	return slices.Compact([]string{c.Namespace, capability.NamesOf(c).WorkloadNamespace()})
}

// traffic gathers the facts that the DNS records of the host need.
func (g Gatherer) traffic(ctx context.Context, c *nexusv1.NexusAICapability, f *capability.Facts) (err error) {
	if f.Balancer.Name, err = g.balancer(ctx, c, f); err != nil {
		return err
	}
	if err = g.gateway(ctx, c, f); err != nil {
		return err
	}
	if f.Zone, err = g.zone(ctx, c); err != nil {
		return err
	}
	f.HasCNAME, err = g.hasCNAME(ctx, c, *f)
	return err
}

// hasCNAME reports whether the host of c has a CNAME record that an earlier load balancer or an earlier version left.
func (g Gatherer) hasCNAME(ctx context.Context, c *nexusv1.NexusAICapability, f capability.Facts) (bool, error) {
	name := capability.CNAMEObject(c, f)
	if name == "" || !g.Kinds.Serves("Route53RecordSet") {
		return false, nil
	}
	record := &v1alpha1.Route53RecordSet{}
	if err := g.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, record); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return record.Status.ID != "" && metav1.IsControlledBy(record, c), nil
}

// balancer is the address of the load balancer of c's own Ingress, for the records of its host.
func (g Gatherer) balancer(ctx context.Context, c *nexusv1.NexusAICapability, f *capability.Facts) (string, error) {
	namespace, name, ok := capability.IngressWithRecords(c)
	if !ok {
		return "", nil
	}
	in := &networkingv1.Ingress{}
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, in)
	if err != nil || in.Labels[wellknown.LabelCapabilityUID] != string(c.UID) {
		return "", client.IgnoreNotFound(err)
	}
	if f.Balancer.IPAddressType, err = g.ipAddressType(ctx, in); err != nil {
		return "", err
	}
	var told []string
	for _, b := range in.Status.LoadBalancer.Ingress {
		told = append(told, b.Hostname, b.IP)
	}
	return addressOf(told, f), nil
}

// addressOf returns the first host name in the status of a load balancer. If it has none, the facts get all its addresses, and the first of
// them is returned.
func addressOf(told []string, f *capability.Facts) string {
	for _, text := range told {
		a, err := netip.ParseAddr(text)
		if err == nil {
			f.Balancer.Addresses = append(f.Balancer.Addresses, a.Unmap())
		} else if text != "" {
			f.Balancer.Addresses = nil
			return text
		}
	}
	if len(f.Balancer.Addresses) == 0 {
		return ""
	}
	return f.Balancer.Addresses[0].String()
}

// ipAddressType is that of the load balancers of an Ingress's class, where the parameters of the class say it.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/ingress_class/
func (g Gatherer) ipAddressType(ctx context.Context, in *networkingv1.Ingress) (string, error) {
	class := &networkingv1.IngressClass{}
	err := g.Client.Get(ctx, client.ObjectKey{Name: ptr.Deref(in.Spec.IngressClassName, "")}, class)
	p := class.Spec.Parameters
	if err != nil || p == nil || p.Kind != "IngressClassParams" {
		return "", client.IgnoreNotFound(err)
	}
	versions := map[string]string{"elbv2.k8s.aws": "v1beta1", "eks.amazonaws.com": "v1"}
	params, err := g.optional(ctx,
		schema.GroupVersionKind{Group: ptr.Deref(p.APIGroup, ""), Version: versions[ptr.Deref(p.APIGroup, "")], Kind: p.Kind}, "", p.Name)
	kind, _, _ := unstructured.NestedString(params, "spec", "ipAddressType")
	return kind, err
}

// zone is the ID of the hosted zone of c's host, from the status of the object that stands for it.
func (g Gatherer) zone(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	name, made := capability.ZoneObject(c)
	if name == "" || !g.Kinds.Serves("Route53HostedZone") {
		return "", nil
	}
	z := &v1alpha1.Route53HostedZone{}
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, z)
	if err != nil || made && !metav1.IsControlledBy(z, c) {
		return "", client.IgnoreNotFound(err)
	}
	return z.Status.ID, nil
}
