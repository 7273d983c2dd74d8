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

func TestOnlyDeletes_IgnoresCreatesAndUpdates(t *testing.T) {
	p, o := onlyDeletes{}, bucketOf(team, "b", "aws")
	if p.Create(event.CreateEvent{Object: o}) || p.Update(event.UpdateEvent{ObjectOld: o, ObjectNew: o}) || !p.Delete(event.DeleteEvent{Object: o}) {
		t.Error("a provider is looked at whenever a dependent changes, or not when it goes")
	}
}

func TestDependents_AreNamedOverAllKindsOfANamespace(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for _, e := range catalog.Kinds() {
		builder.WithIndex(e.New(), reconciler.ProviderIndex, func(o client.Object) []string { return []string{o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name} })
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
	failing := interceptor.NewClient(c, interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, l client.ObjectList, _ ...client.ListOption) error {
		if _, roles := l.(*v1alpha1.IAMRoleList); roles {
			return errOutage
		}
		return nil
	}})
	if _, err := FindDependents(failing, catalog.Kinds(), list)(t.Context(), team, "aws"); !errors.Is(err, errOutage) || !strings.Contains(err.Error(), "IAMRole") {
		t.Errorf("a kind that cannot be listed is said to be unused: %v", err)
	}
}
