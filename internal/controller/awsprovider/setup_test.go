// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

func bucketOf(namespace, name, provider string) *v1alpha1.S3Bucket {
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	o.Spec.ProviderRef.Name = provider
	return o
}

func TestEventsWakeTheProviderThatTheyConcern(t *testing.T) {
	named := capabilityOf("app")
	named.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "own"}
	for _, c := range []struct {
		name string
		find func(context.Context, client.Object) []reconcile.Request
		obj  client.Object
		want string
	}{
		{"the end of a dependent", providerOf, bucketOf(team, "b", "aws"), "team/aws"},
		{"a capability that resumes", providerOfResumed, capabilityOf("app"), "team/app-dev"},
		{"a capability with a provider of its user's", providerOfResumed, named, "team/own"},
	} {
		if got := c.find(t.Context(), c.obj); len(got) != 1 || got[0].String() != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// A provider in deletion noticed only after ten seconds that an object had moved to another provider.
func TestLeaving_WakesTheProviderThatIsNoLongerUsed(t *testing.T) {
	h, before, after := leaving(), bucketOf(team, "b", "aws"), bucketOf(team, "b", "other")
	edited := bucketOf(team, "b", "aws")
	edited.Spec.BucketName = "logs"
	for _, c := range []struct {
		name string
		send func(workqueue.TypedRateLimitingInterface[reconcile.Request])
		want string
	}{
		{"a new object", func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			h.Create(t.Context(), event.CreateEvent{Object: before}, q)
		}, ""},
		{"an edit", func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: edited}, q)
		}, ""},
		{"another provider", func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
		}, "team/aws"},
		{"a deletion", func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			h.Delete(t.Context(), event.DeleteEvent{Object: after}, q)
		}, "team/other"},
	} {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		c.send(q)
		got := ""
		for range q.Len() {
			r, _ := q.Get()
			got += r.String()
		}
		q.ShutDown()
		if got != c.want {
			t.Errorf("%s wakes %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDependents_AreNamedOverAllKindsOfANamespace(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for _, e := range catalog.Kinds() {
		builder.WithIndex(e.New(), reconciler.ProviderIndex,
			func(o client.Object) []string { return []string{o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name} })
	}
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "r"}}
	role.Spec.ProviderRef.Name = "aws"
	c := builder.WithObjects(bucketOf(team, "a", "aws"), bucketOf(team, "b", "other"), bucketOf("other", "c", "aws"), role).Build()
	list := func(e engine.Entry) client.ObjectList { return reconciler.NewList(c, e) }
	for name, want := range map[string][]string{"aws": {"IAMRole team/r", "S3Bucket team/a"}, "other": {"S3Bucket team/b"}, "none": nil} {
		if users, err := FindDependents(c, catalog.Kinds(), list)(t.Context(), team, name); !slices.Equal(users, want) || err != nil {
			t.Errorf("%s has dependents %q, want %q: %v", name, users, want, err)
		}
	}
	failing := interceptor.NewClient(c,
		interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, l client.ObjectList, _ ...client.ListOption) error {
			if _, roles := l.(*v1alpha1.IAMRoleList); roles {
				return errOutage
			}
			return nil
		}})
	if _, err := FindDependents(failing, catalog.Kinds(), list)(t.Context(), team, "aws"); !errors.Is(err, errOutage) ||
		!strings.Contains(err.Error(), "IAMRole") {
		t.Errorf("a kind that cannot be listed is said to be unused: %v", err)
	}
}
