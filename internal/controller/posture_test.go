// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

var (
	kubeArmorPolicy = schema.GroupVersionKind{Group: "security.kubearmor.com", Version: "v1", Kind: "KubeArmorPolicy"}
	kyvernoPolicy   = schema.GroupVersionKind{Group: "kyverno.io", Version: "v1", Kind: "Policy"}
	kyvernoCluster  = schema.GroupVersionKind{Group: "kyverno.io", Version: "v1", Kind: "ClusterPolicy"}
	istioAuthz      = schema.GroupVersionKind{Group: "security.istio.io", Version: "v1", Kind: "AuthorizationPolicy"}
	istioPeer       = schema.GroupVersionKind{Group: "security.istio.io", Version: "v1", Kind: "PeerAuthentication"}
	networkPolicy   = networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")
)

// install has the API server serve an engine's kinds until the test ends.
func (h *home) install(engines ...string) {
	h.Helper()
	for _, e := range engines {
		for _, d := range enginecrds.Definitions(h.T, e) {
			if err := h.c.Create(h.ctx(), d); err != nil && !apierrors.IsAlreadyExists(err) {
				h.Fatal(err)
			}
			h.Cleanup(func() { h.uninstall(e) })
			h.eventually(d.GetName()+" to be established", func() error {
				if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(d), d); err != nil {
					return err
				}
				conds, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions")
				for _, c := range conds {
					if c := c.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
						return nil
					}
				}
				return fmt.Errorf("%v", conds)
			})
		}
	}
}

func (h *home) uninstall(engine string) {
	h.Helper()
	enginecrds.Remove(h.T, h.c, engine)
}

var allEngines = []string{enginecrds.KubeArmor, enginecrds.Kyverno, enginecrds.Istio, enginecrds.Cilium}

// declared makes a SecurityIntent that ends with the test, named after it and its id.
func (h *home) declared(id string, action intentv1alpha1.Action, params intentv1alpha1.Params) *intentv1alpha1.SecurityIntent {
	h.Helper()
	i := h.unmade(id, action, params)
	h.make(i)
	return i
}

func (h *home) unmade(id string, action intentv1alpha1.Action, params intentv1alpha1.Params) *intentv1alpha1.SecurityIntent {
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(h.Name()) + "-" + id)
	i := &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name[max(0, len(name)-63):]}}
	i.Name = strings.TrimLeft(i.Name, "-")
	i.Spec.Intent = intentv1alpha1.Intent{ID: id, Action: action, Params: params, Description: "says " + id}
	return i
}

// make creates objects that end with the test.
func (h *home) make(objs ...client.Object) {
	h.Helper()
	for _, o := range objs {
		if err := h.c.Create(h.ctx(), o); err != nil {
			h.Fatal(err)
		}
		h.Cleanup(func() { _ = h.c.Delete(context.Background(), o) })
	}
}

func (h *home) binds(ns, name string, labels map[string]string,
	intents ...*intentv1alpha1.SecurityIntent) *intentv1alpha1.SecurityIntentBinding {
	b := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	b.Spec.Selector.WorkloadSelector = &intentv1alpha1.LabelSelector{MatchLabels: labels}
	b.Spec.Intents = named(intents)
	return b
}

func named(intents []*intentv1alpha1.SecurityIntent) []intentv1alpha1.MatchIntent {
	out := make([]intentv1alpha1.MatchIntent, len(intents))
	for i := range intents {
		out[i].Name = intents[i].Name
	}
	return out
}

func (h *home) over(name string, ns intentv1alpha1.NamespaceSelector,
	intents ...*intentv1alpha1.SecurityIntent) *intentv1alpha1.ClusterSecurityIntentBinding {
	b := &intentv1alpha1.ClusterSecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Spec.Selector.NsSelector = ns
	b.Spec.Intents = named(intents)
	return b
}

var app = map[string]string{"app": "web"}

func (h *home) object(gvk schema.GroupVersionKind, ns, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, h.c.Get(h.ctx(), client.ObjectKey{Namespace: ns, Name: name}, u)
}

// there waits for an object.
func (h *home) there(gvk schema.GroupVersionKind, ns, name string) *unstructured.Unstructured {
	h.Helper()
	var u *unstructured.Unstructured
	h.eventually(gvk.Kind+" "+ns+"/"+name+" to exist", func() (err error) {
		u, err = h.object(gvk, ns, name)
		return err
	})
	return u
}

// gone waits for an object's end.
func (h *home) gone(gvk schema.GroupVersionKind, ns, name string) {
	h.Helper()
	h.eventually(gvk.Kind+" "+ns+"/"+name+" to be gone", func() error {
		u, err := h.object(gvk, ns, name)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return nil
		}
		return fmt.Errorf("still there: %v %v", err, u)
	})
}

// derived lists the existing engine objects of a namespace, or of cluster scope, as Kind/name.
func (h *home) derived(ns string, gvks ...schema.GroupVersionKind) []string {
	h.Helper()
	var out []string
	for _, gvk := range gvks {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := h.c.List(h.ctx(), l, client.InNamespace(ns)); err != nil {
			if meta.IsNoMatchError(err) {
				continue
			}
			h.Fatal(err)
		}
		for i := range l.Items {
			out = append(out, l.Items[i].GetKind()+"/"+l.Items[i].GetName())
		}
	}
	slices.Sort(out)
	return out
}

// alter changes a live object as a person would.
func (h *home) alter(o client.Object, change func()) {
	h.Helper()
	h.eventually("editing "+o.GetName(), func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change()
		return h.c.Update(h.ctx(), o, client.FieldOwner("person"))
	})
}

// writes counts the operator's writes of derived objects and statuses while something is done, once it
// has become quiet.
func (h *home) writes(do func()) []world.AuditEvent {
	h.Helper()
	a := h.w.Audit()
	mark, err := a.Mark()
	if err != nil {
		h.Fatal(err)
	}
	do()
	last := -1
	for {
		events, err := a.Since(mark, world.AuditFilter{UserAgent: "nexus-operator", Writes: true})
		if err != nil {
			h.Fatal(err)
		}
		events = slices.DeleteFunc(events, func(e world.AuditEvent) bool { return e.Resource == "events" || e.Resource == "leases" })
		if len(events) == last {
			return events
		}
		last = len(events)
		time.Sleep(500 * time.Millisecond)
	}
}

func (h *home) covers(o client.Object, id, engine, level, reason string) {
	h.Helper()
	h.eventually(fmt.Sprintf("%s to say of %s by %s: %s %s", o.GetName(), id, engine, level, reason), func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		var coverage []intentv1alpha1.Coverage
		switch o := o.(type) {
		case *intentv1alpha1.SecurityIntentBinding:
			coverage = o.Status.Coverage
		case *intentv1alpha1.ClusterSecurityIntentBinding:
			coverage = o.Status.Coverage
		case *intentv1alpha1.NimbusPolicy:
			coverage = o.Status.Coverage
		}
		for _, c := range coverage {
			if c.Intent == id && c.Engine == engine && string(c.Level) == level && c.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("%+v", coverage)
	})
}

// namespace makes one for a test.
func (h *home) namespace(labels map[string]string) string {
	h.Helper()
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetGenerateName("i-")
	ns.SetLabels(labels)
	h.make(ns)
	return ns.GetName()
}
