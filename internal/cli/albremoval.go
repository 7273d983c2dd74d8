// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// controllerKinds are the kinds of the controller whose objects stand for something in AWS, and have its finalizers.
var controllerKinds = []schema.GroupVersionKind{
	{Group: "elbv2.k8s.aws", Version: "v1beta1", Kind: "TargetGroupBinding"}, {Group: "aga.k8s.aws", Version: "v1beta1", Kind: "GlobalAccelerator"},
}

// gatewayKind is the kind of the Gateway API whose objects the controller turns into load balancers, if they have its finalizer:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/gateway/gateway/
var gatewayKind = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}

// balancerClass is the class of the Services whose load balancers the controller makes:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/nlb/
const balancerClass = "service.k8s.aws/nlb"

func (s *shared) deleteControllerCommand() *cobra.Command {
	f := &deleteFlags{}
	cmd := &cobra.Command{
		Use:   "delete-alb-controller",
		Short: "Remove the AWS Load Balancer Controller that nexusctl installed, with its role",
		Long: "delete-alb-controller removes what nexusctl install-alb-controller created: the release, the definitions of which no objects are left, and\n" +
			"the role with its policies. It refuses to run while Ingresses, Services, Gateways or TargetGroupBindings need the controller: without it, they\n" +
			"could not be deleted, and their load balancers would stay in AWS. A controller that another tool installed stays.",
		Example: "  nexusctl delete-alb-controller --dry-run\n  nexusctl delete-alb-controller --yes",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(f, s.deleteController),
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "really remove; without it, or --dry-run, the command is refused")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", defaultDeployTimeout, "how long to wait for objects to be deleted")
	return cmd
}

// controllerRemoval lists the changes that remove the controller.
type controllerRemoval struct {
	enact.Removal
	releases *helmrelease.Releases
	// users are the objects that need the controller.
	users []*unstructured.Unstructured
	notes []string
}

func (s *shared) deleteController(ctx context.Context, f *deleteFlags) error {
	cfg, c, err := s.Connect()
	if err != nil {
		return err
	}
	r, err := s.lookAtControllerRemoval(ctx, c, f.timeout)
	if err != nil {
		return err
	}
	if !r.Ledger.Exists() {
		return exit.Precondition(fmt.Errorf("there is no ConfigMap %s/%s: nexusctl did not install a load balancer controller; remove another one with the tool that installed it", albNamespace, install.LedgerName))
	}
	if enact.InAWS(r.Ledger.Records()) {
		cloud, err := s.OpenCloud(ctx, cfg, c, "")
		if err != nil {
			return err
		}
		if err := r.lookAtAWS(ctx, cloud.Account); err != nil {
			return err
		}
	}
	if err := enact.Print(s.Console, r.Changes, r.notes, f.dryRun); err != nil {
		return err
	}
	if len(r.users) > 0 {
		return exit.Precondition(fmt.Errorf("%d objects need the controller: %s; delete them first, so that it removes their load balancers", len(r.users), enact.NamesOf(r.users)))
	}
	if f.dryRun {
		return nil
	}
	if err := enact.Remove(ctx, s.Console, r.Removal); err != nil {
		return err
	}
	s.Say("The AWS Load Balancer Controller was removed.")
	return nil
}

// lookAtControllerRemoval finds what is to be removed from the cluster. It only reads.
func (s *shared) lookAtControllerRemoval(ctx context.Context, c client.Client, timeout time.Duration) (*controllerRemoval, error) {
	r := &controllerRemoval{Removal: enact.Removal{Client: c, Timeout: timeout}}
	var err error
	if r.Ledger, err = install.ReadLedger(ctx, c, albNamespace); err != nil || !r.Ledger.Exists() {
		return r, err
	}
	if r.releases, err = helmrelease.Open(s.Cluster, albNamespace); err != nil {
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

// lookAtRelease finds what is to be done about the release, and who needs it.
func (r *controllerRemoval) lookAtRelease(ctx context.Context) error {
	record := releaseRecord()
	have, err := r.releases.Find(albRelease)
	switch {
	case err != nil:
		return fmt.Errorf("reading release %s/%s: %w", albNamespace, albRelease, err)
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
	r.Changes = append(r.Changes, install.Change{Object: record.String(), Action: "uninstall", Removes: &record, Limit: releaseLimit}.Doing(func(context.Context) error {
		return r.releases.Uninstall(albRelease)
	}))
	for _, u := range objects {
		if u.GetKind() != "Deployment" {
			continue
		}
		if err := r.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err == nil { // its pods end before the role does
			r.Changes = append(r.Changes, install.Objects{Client: r.Client}.Remove(install.Record{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID()}))
		} else if !apierrors.IsNotFound(err) {
			return err
		}
	}
	r.users, err = usersOfController(ctx, r.Client)
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
	err := enact.ListObjects(ctx, c, append(slices.Clone(controllerKinds), gatewayKind), func(m *metav1.PartialObjectMetadata, u *unstructured.Unstructured) {
		if u.GetKind() != gatewayKind.Kind || hasFinalizerOf(m, "gateway.k8s.aws/") {
			out = append(out, u)
		}
	})
	return out, err
}

// userOf returns what is kept of an object that needs the controller.
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
		return c.Name == *o.Spec.IngressClassName && c.Spec.Controller == albController
	})
}

func serviceNeeds(o *corev1.Service) bool {
	kind := o.Annotations["service.beta.kubernetes.io/aws-load-balancer-type"]
	wants := kind == "external" || kind == "nlb-ip" || o.Spec.LoadBalancerClass != nil && *o.Spec.LoadBalancerClass == balancerClass
	return hasFinalizerOf(o, "service.k8s.aws/") || o.Spec.Type == corev1.ServiceTypeLoadBalancer && wants
}

// lookAtDefinition removes a definition that has no objects but those of the release. One with others stays, with its record.
func (r *controllerRemoval) lookAtDefinition(ctx context.Context, record install.Record) error {
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
		if err := enact.ListObjects(ctx, r.Client, []schema.GroupVersionKind{k}, func(m *metav1.PartialObjectMetadata, o *unstructured.Unstructured) {
			if m.Annotations[annotationRelease] != albRelease || m.Annotations[annotationReleaseNamespace] != albNamespace {
				others = append(others, o)
			}
		}); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s stays: it has objects (%s); the command removes it when they are gone", record, enact.NamesOf(others)))
		return nil
	}
	r.Changes = append(r.Changes, install.Objects{Client: r.Client}.Remove(record))
	return nil
}

// lookAtAWS finds what is to be removed from the account.
func (r *controllerRemoval) lookAtAWS(ctx context.Context, a *install.Account) error {
	changes, err := enact.RemovalsInAWS(ctx, a, r.Ledger.Records())
	r.Changes = append(r.Changes, changes...)
	return err
}

// belongsToCapability reports whether the operator made an object for a capability.
func belongsToCapability(u *unstructured.Unstructured) bool {
	return u.GetLabels()[wellknown.LabelCapability] != "" && u.GetLabels()[wellknown.LabelManagedBy] == wellknown.OperatorName
}
