// SPDX-License-Identifier: Apache-2.0

package albcontroller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// controllerKinds are the kinds of the controller with objects that stand for something in AWS, and have its finalizers.
var controllerKinds = []schema.GroupVersionKind{
	{Group: "elbv2.k8s.aws", Version: "v1beta1", Kind: "TargetGroupBinding"},
	{Group: "aga.k8s.aws", Version: "v1beta1", Kind: "GlobalAccelerator"},
}

// gatewayKind is the kind of the Gateway API with objects that the controller turns into load balancers, if they have its finalizer:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/gateway/gateway/
var gatewayKind = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}

// balancerClass is the class of the Services that get a load balancer from the controller:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/nlb/
const balancerClass = "service.k8s.aws/nlb"

// Removal lists the changes that remove the controller.
type Removal struct {
	enact.Removal
	releases *helmrelease.Releases
	// Users are the objects that need the controller.
	Users []*unstructured.Unstructured
	Notes []string
}

// Delete removes the controller that nexusctl installed, and prints its changes.
func Delete(ctx context.Context, s *connection.Connection, dryRun bool, timeout time.Duration) error {
	cfg, c, err := s.Connect()
	if err != nil {
		return err
	}
	r, err := LookAtRemoval(ctx, s, c, timeout)
	if err != nil {
		return err
	}
	if !r.Ledger.Exists() {
		return exit.Precondition(fmt.Errorf("there is no ConfigMap %s/%s: nexusctl did not install a load balancer controller; remove another one with the tool that installed it", Namespace, install.LedgerName))
	}
	if enact.InAWS(r.Ledger.Records()) {
		cloud, err := s.OpenCloud(ctx, cfg, c, "")
		if err != nil {
			return err
		}
		if err := r.LookAtAWS(ctx, cloud.Account); err != nil {
			return err
		}
	}
	if err := enact.Print(s.Console, r.Changes, r.Notes, dryRun); err != nil {
		return err
	}
	if len(r.Users) > 0 {
		return exit.Precondition(fmt.Errorf("%d objects need the controller: %s; delete them first, so that it removes their load balancers",
			len(r.Users), enact.NamesOf(r.Users)))
	}
	if dryRun {
		return nil
	}
	if err := enact.Remove(ctx, s.Console, r.Removal); err != nil {
		return err
	}
	s.Say("The AWS Load Balancer Controller was removed.")
	return nil
}

// LookAtRemoval finds the objects to remove from the cluster. It only reads.
func LookAtRemoval(ctx context.Context, s *connection.Connection, c client.Client, timeout time.Duration) (*Removal, error) {
	r := &Removal{Removal: enact.Removal{Client: c, Timeout: timeout}}
	var err error
	if r.Ledger, err = install.ReadLedger(ctx, c, Namespace); err != nil || !r.Ledger.Exists() {
		return r, err
	}
	if r.releases, err = helmrelease.Open(s.Cluster, Namespace); err != nil {
		return nil, err
	}
	if slices.Contains(r.Ledger.Records(), releaseRecord()) {
		if err := r.lookAtRelease(ctx); err != nil {
			return nil, err
		}
	}
	for _, record := range r.Ledger.Records() {
		if record.IsDefinition() {
			if err := r.lookAtDefinition(ctx, record); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// lookAtRelease finds the changes to the release, and the objects that need it.
func (r *Removal) lookAtRelease(ctx context.Context) error {
	record := releaseRecord()
	have, err := r.releases.Find(Release)
	switch {
	case err != nil:
		return fmt.Errorf("reading release %s/%s: %w", Namespace, Release, err)
	case have == nil:
		r.Changes = append(r.Changes, install.Forget(record, "do nothing: it does not exist any more"))
		return nil
	case !isOurRelease(have, r.Ledger):
		r.Changes = append(r.Changes, install.Forget(record, "leave it: its labels do not say that nexusctl created it"))
		return nil
	}
	objects, err := objectsOfRelease(r.Client, have)
	if err != nil {
		return err
	}
	r.Changes = append(r.Changes,
		install.Change{Object: record.String(), Action: "uninstall", Removes: &record, Limit: releaseLimit}.Doing(func(context.Context) error {
			return r.releases.Uninstall(Release)
		}))
	for _, u := range objects {
		if u.GetKind() != "Deployment" {
			continue
		}
		if err := r.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err == nil { // its pods end before the role does
			r.Changes = append(r.Changes,
				install.Objects{Client: r.Client}.Remove(install.Record{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(),
					Name: u.GetName(), UID: u.GetUID()}))
		} else if !apierrors.IsNotFound(err) {
			return err
		}
	}
	r.Users, err = usersOfController(ctx, r.Client)
	return err
}

// usersOfController lists the objects that stand for load balancers of the controller.
func usersOfController(ctx context.Context, c client.Client) ([]*unstructured.Unstructured, error) {
	classes, ingresses, services := &networkingv1.IngressClassList{}, &networkingv1.IngressList{}, &corev1.ServiceList{}
	for _, list := range []client.ObjectList{classes, ingresses, services} {
		if err := c.List(ctx, list); err != nil {
			return nil, err
		}
	}
	var out []*unstructured.Unstructured
	for i := range ingresses.Items {
		if o := &ingresses.Items[i]; ingressNeeds(o, classes.Items) {
			out = append(out, userOf(o, networkingv1.SchemeGroupVersion.WithKind("Ingress")))
		}
	}
	for i := range services.Items {
		if o := &services.Items[i]; serviceNeeds(o) {
			out = append(out, userOf(o, corev1.SchemeGroupVersion.WithKind("Service")))
		}
	}
	err := enact.ListObjects(ctx, c, append(slices.Clone(controllerKinds), gatewayKind),
		func(m *metav1.PartialObjectMetadata, u *unstructured.Unstructured) {
			if u.GetKind() != gatewayKind.Kind || hasFinalizerOf(m, "gateway.k8s.aws/") {
				out = append(out, u)
			}
		})
	return out, err
}

// userOf returns a short form of an object that needs the controller.
func userOf(o client.Object, k schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k)
	u.SetNamespace(o.GetNamespace())
	u.SetName(o.GetName())
	u.SetLabels(o.GetLabels())
	return u
}

// hasFinalizerOf reports whether an object waits for a controller of a domain.
func hasFinalizerOf(o client.Object, domain string) bool {
	return slices.ContainsFunc(o.GetFinalizers(), func(f string) bool { return strings.Contains(f, domain) })
}

func ingressNeeds(o *networkingv1.Ingress, classes []networkingv1.IngressClass) bool {
	if hasFinalizerOf(o, "ingress.k8s.aws/") || o.Annotations["kubernetes.io/ingress.class"] == "alb" {
		return true
	}
	return o.Spec.IngressClassName != nil && slices.ContainsFunc(classes, func(c networkingv1.IngressClass) bool {
		return c.Name == *o.Spec.IngressClassName && c.Spec.Controller == IngressController
	})
}

func serviceNeeds(o *corev1.Service) bool {
	kind := o.Annotations["service.beta.kubernetes.io/aws-load-balancer-type"]
	wants := kind == "external" || kind == "nlb-ip" || o.Spec.LoadBalancerClass != nil && *o.Spec.LoadBalancerClass == balancerClass
	return hasFinalizerOf(o, "service.k8s.aws/") || o.Spec.Type == corev1.ServiceTypeLoadBalancer && wants
}

// lookAtDefinition removes a definition that has no objects but those of the release. One with others stays, with its record.
func (r *Removal) lookAtDefinition(ctx context.Context, record install.Record) error {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(record.APIVersion)
	u.SetKind(record.Kind)
	err := r.Client.Get(ctx, client.ObjectKey{Name: record.Name}, u)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	var others []*unstructured.Unstructured
	if err == nil {
		k, err := enact.KindOfDefinition(u)
		if err != nil {
			return err
		}
		if err := enact.ListObjects(ctx, r.Client, []schema.GroupVersionKind{k},
			func(m *metav1.PartialObjectMetadata, o *unstructured.Unstructured) {
				if m.Annotations[annotationRelease] != Release || m.Annotations[annotationReleaseNamespace] != Namespace {
					others = append(others, o)
				}
			}); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		r.Notes = append(r.Notes,
			fmt.Sprintf("%s stays: it has objects (%s); the command removes it when they are gone", record, enact.NamesOf(others)))
		return nil
	}
	r.Changes = append(r.Changes, install.Objects{Client: r.Client}.Remove(record))
	return nil
}

// LookAtAWS finds the resources to remove from the account.
func (r *Removal) LookAtAWS(ctx context.Context, a *install.Account) error {
	changes, err := enact.RemovalsInAWS(ctx, a, r.Ledger.Records())
	r.Changes = append(r.Changes, changes...)
	return err
}

// BelongsToCapability reports whether the operator made an object for a capability.
func BelongsToCapability(u *unstructured.Unstructured) bool {
	return u.GetLabels()[wellknown.LabelCapability] != "" && u.GetLabels()[wellknown.LabelManagedBy] == wellknown.OperatorName
}
