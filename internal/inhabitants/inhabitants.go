// SPDX-License-Identifier: Apache-2.0

// Package inhabitants finds the objects in a namespace that neither the namespace's owner nor Kubernetes itself created. It
// counts objects of all kinds with a ResourceQuota, which needs no right to read them, and lists the metadata of those that it
// may list.
package inhabitants

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a namespaced kind with objects that can be created, listed and deleted.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the name of the kind in requests, such as s3buckets.
	Resource string
}

// Kinds returns every kind that the API server serves in namespaces, each in one version. An API group that does not answer
// is an error that names it.
func Kinds(ctx context.Context, d discovery.DiscoveryInterfaceWithContext) ([]Kind, error) {
	lists, err := discovery.ServerPreferredNamespacedResourcesWithContext(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its kinds: %w", err)
	}
	var out []Kind
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range l.APIResources {
			if isStored(r.Verbs) {
				out = append(out, Kind{GroupVersionKind: gv.WithKind(r.Kind), Resource: r.Name})
			}
		}
	}
	return out, nil
}

// isStored reports whether a person can create objects of a kind and delete them. Others show derived data, such as the metrics of a pod.
func isStored(verbs []string) bool {
	return slices.Contains(verbs, "list") && slices.Contains(verbs, "create") && slices.Contains(verbs, "delete")
}

// furniture are the objects that every namespace has, or gets with its first pod or Service.
var furniture = map[schema.GroupKind][]string{
	{Kind: "Event"}:                                    nil,
	{Group: "events.k8s.io", Kind: "Event"}:            nil,
	{Kind: "Endpoints"}:                                nil,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: nil,
	{Group: "coordination.k8s.io", Kind: "Lease"}:      nil,
	{Kind: "ConfigMap"}:                                {"kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert"},
	{Kind: "ServiceAccount"}:                           {"default"},
}

// IsFurniture reports whether the cluster keeps an object in every namespace that is in use.
func IsFurniture(k schema.GroupKind, name string) bool {
	names, ok := furniture[k]
	return ok && (names == nil || slices.Contains(names, name))
}

// isFurnished reports whether all objects of a kind are furniture.
func isFurnished(k Kind) bool { return IsFurniture(k.GroupKind(), "") }

// CountName returns the name of the number of objects of a kind in a ResourceQuota.
func (k Kind) CountName() corev1.ResourceName {
	return corev1.ResourceName("count/" + schema.GroupResource{Group: k.Group, Resource: k.Resource}.String())
}

// unlimited is a limit that no namespace reaches.
var unlimited = resource.MustParse("1G")

// Limits returns the limits of a ResourceQuota that counts the objects of kinds and limits none.
func Limits(kinds []Kind) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, k := range kinds {
		if !isFurnished(k) {
			out[k.CountName()] = unlimited
		}
	}
	return out
}

// Counted returns the kinds with objects that a ResourceQuota with Limits has counted, and the kinds that it has not counted.
func Counted(q *corev1.ResourceQuota, kinds []Kind) (present, uncounted []Kind) {
	for _, k := range kinds {
		used, known := q.Status.Used[k.CountName()]
		switch {
		case isFurnished(k):
		case !known:
			uncounted = append(uncounted, k)
		case !used.IsZero():
			present = append(present, k)
		}
	}
	return present, uncounted
}

// Found is the number of objects by kind.
type Found map[string]int

// String implements fmt.Stringer: "1 S3Bucket, 2 Secret".
func (f Found) String() string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(f)) {
		out = append(out, fmt.Sprint(f[kind], " ", kind))
	}
	return strings.Join(out, ", ")
}

// List counts the objects of kinds in a namespace, apart from the owner's and from furniture. It leaves out objects in deletion, and
// objects that belong to an object that it counts or leaves out as the owner's. Kinds that may not be listed are returned.
func List(ctx context.Context, live client.Reader, namespace string, kinds []Kind, isOwn func(client.Object) bool) (Found, []Kind, error) {
	s := scan{namespace: namespace, isOwn: isOwn, covered: map[types.UID]bool{}}
	for _, k := range kinds {
		err := s.list(ctx, live, k)
		switch {
		case apierrors.IsForbidden(err):
			s.unlisted = append(s.unlisted, k)
		case meta.IsNoMatchError(err) || apierrors.IsNotFound(err): // its definition was just deleted
		case err != nil:
			return nil, nil, fmt.Errorf("listing %s in namespace %s: %w", k.Kind, namespace, err)
		}
	}
	found := Found{}
	for _, o := range s.others {
		if !slices.ContainsFunc(o.owners, func(uid types.UID) bool { return s.covered[uid] }) {
			found[o.kind]++
		}
	}
	return found, s.unlisted, nil
}

// scan gathers the objects of a namespace.
type scan struct {
	namespace string
	isOwn     func(client.Object) bool
	// covered are the objects with dependents that need not be counted.
	covered  map[types.UID]bool
	others   []other
	unlisted []Kind
}

// other is an object that is neither the owner's nor furniture.
type other struct {
	kind   string
	owners []types.UID
}

const pageSize = 500

func (s *scan) list(ctx context.Context, live client.Reader, k Kind) error {
	list := &metav1.PartialObjectMetadataList{}
	for {
		list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
		if err := live.List(ctx, list, client.InNamespace(s.namespace), client.Limit(pageSize), client.Continue(list.Continue)); err != nil {
			return err
		}
		for i := range list.Items {
			s.add(k, &list.Items[i])
		}
		if list.Continue == "" {
			return nil
		}
	}
}

func (s *scan) add(k Kind, o *metav1.PartialObjectMetadata) {
	if IsFurniture(k.GroupKind(), o.Name) {
		return
	}
	s.covered[o.UID] = true
	if s.isOwn(o) || o.DeletionTimestamp != nil {
		return
	}
	var owners []types.UID
	for _, r := range o.OwnerReferences {
		if r.UID != o.UID {
			owners = append(owners, r.UID)
		}
	}
	s.others = append(s.others, other{k.Kind, owners})
}
