// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestOfCapability_FindsTheCapabilityOfAChild(t *testing.T) {
	owner := func(kind string, controller *bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: kind, Name: "app", UID: "1", Controller: controller}}
	}
	for name, tc := range map[string]struct {
		owners     []metav1.OwnerReference
		annotation string
		want       string
	}{
		"in its namespace":         {owner("NexusAICapability", new(true)), "", "workloads/app"},
		"in another namespace":     {nil, "team/app", "team/app"},
		"both: the controller":     {owner("NexusAICapability", new(true)), "team/other", "workloads/app"},
		"controlled by others":     {owner("ReplicaSet", new(true)), "", ""},
		"owned, not controlled":    {owner("NexusAICapability", nil), "", ""},
		"an annotation of no form": {nil, "app", ""},
		"nobody's":                 {nil, "", ""},
	} {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "workloads", Name: "m", OwnerReferences: tc.owners}}
		if tc.annotation != "" {
			o.Annotations = map[string]string{wellknown.AnnotationCapability: tc.annotation}
		}
		got := ""
		for _, r := range ofCapability(t.Context(), o) {
			got += r.String()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// indexed is a directory of capabilities that a cache has, with its indexes.
func indexed(t *testing.T, refusal error, objs ...client.Object) directory {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(nexusv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...)
	for field, index := range indexes {
		b = b.WithIndex(&nexusv1.NexusAICapability{}, field, index)
	}
	if refusal != nil {
		b = b.WithInterceptorFuncs(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return refusal }})
	}
	return directory{b.Build()}
}

func named(namespace, name string, edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.CapabilityName, c.Spec.Environment = name, "dev"
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func TestEventsOfOthers_WakeTheCapabilitiesConcerned(t *testing.T) {
	uses := func(c *nexusv1.NexusAICapability) { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"} }
	asks := func(c *nexusv1.NexusAICapability) {
		c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "dns"}}}
	}
	ready := func(c *nexusv1.NexusAICapability) { c.Status.Ready = true }
	cluster := []client.Object{named("a", "one", uses, ready), named("b", "two", uses, asks), named("a", "three", asks, ready), named("b", "one")}
	object := func(namespace, name string) client.Object {
		return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	d := indexed(t, nil, cluster...)
	for name, tc := range map[string]struct {
		wake func(directory) []reconcile.Request
		want []string
	}{
		"a provider":                   {func(d directory) []reconcile.Request { return d.usersOf(t.Context(), object("a", "shared")) }, []string{"a/one"}},
		"a generated provider":         {func(d directory) []reconcile.Request { return d.usersOf(t.Context(), object("b", "one-dev")) }, []string{"b/one"}},
		"a provider that nobody uses":  {func(d directory) []reconcile.Request { return d.usersOf(t.Context(), object("c", "shared")) }, nil},
		"a capability of its names":    {func(d directory) []reconcile.Request { return d.rivals(t.Context(), cluster[0]) }, []string{"b/one"}},
		"a capability without a rival": {func(d directory) []reconcile.Request { return d.rivals(t.Context(), cluster[2]) }, nil},
		"an IngressClass":              {func(d directory) []reconcile.Request { return d.reached(t.Context(), object("", "alb")) }, []string{"b/one", "b/two"}},
		"an intent":                    {func(d directory) []reconcile.Request { return d.boundTo(t.Context(), object("", "dns")) }, []string{"a/three", "b/two"}},
	} {
		var got []string
		for _, req := range tc.wake(d) {
			got = append(got, req.String())
		}
		if slices.Sort(got); !slices.Equal(got, tc.want) {
			t.Errorf("%s wakes %q, want %q", name, got, tc.want)
		}
		if got := tc.wake(indexed(t, forbidden, cluster...)); len(got) > 0 {
			t.Errorf("%s, without a list: %v", name, got)
		}
	}
}

func TestCompilations_AreKeptWhileNothingChanges(t *testing.T) {
	remembered := newMemories()
	k := &compilations{memories: remembered}
	c := named("ns", "app", func(c *nexusv1.NexusAICapability) { c.UID, c.Generation = "1", 1 })
	c.Spec.Version, c.Spec.Frontend.Image, c.Spec.Backend.Image = "1.0.0", "front:1", "back:1"
	facts := capability.Facts{Region: "eu-central-1"}
	first, err := k.compile(t.Context(), c, facts)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := k.compile(t.Context(), c.DeepCopy(), capability.Facts{Region: "eu-central-1"}); again != first {
		t.Error("the same capability and facts are compiled again")
	}
	for name, edit := range map[string]func(*nexusv1.NexusAICapability, *capability.Facts){
		"an edit":      func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.Generation = 2 },
		"a new object": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.UID = "2" },
		"its deletion": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.DeletionTimestamp = new(metav1.Now()) },
		"another fact": func(_ *nexusv1.NexusAICapability, f *capability.Facts) { f.Provider.Account = "123456789012" },
		"a new proof": func(_ *nexusv1.NexusAICapability, f *capability.Facts) {
			f.Owned = map[string]capability.Proof{"S3Bucket/a": {ARN: "a"}}
		},
	} {
		before, _ := k.compile(t.Context(), c, facts)
		other, f := c.DeepCopy(), facts
		edit(other, &f)
		if got, _ := k.compile(t.Context(), other, f); got == before {
			t.Errorf("%s is not compiled", name)
		}
	}
	remembered.forget(client.ObjectKeyFromObject(c))
	if len(remembered.all) > 0 {
		t.Error("a capability that is gone is kept")
	}
	// A refused specification is refused again without a compilation, and repaired by an edit.
	c.Spec.Environment = "no such environment"
	if _, err := k.compile(t.Context(), c, facts); err == nil {
		t.Fatal("it compiles")
	}
	if _, err := k.compile(t.Context(), c, facts); reconciler.ReasonOf(err) != status.ReasonInvalidSpec {
		t.Errorf("%v", err)
	}
}

func TestChangesMade_CollectOverTheRollout(t *testing.T) {
	change := func(names ...string) (out []nexusv1.RolloutChange) {
		for _, n := range names {
			out = append(out, capability.NewChange("Deployment", n, "Updated", nil))
		}
		return out
	}
	rolling := func(uid types.UID, generation, observed int64, state nexusv1.RolloutState) *nexusv1.NexusAICapability {
		c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: string(uid), UID: uid, Generation: generation}}
		c.Status.ObservedGeneration = observed
		c.Status.Rollout = &nexusv1.RolloutStatus{Generation: observed, State: state}
		return c
	}
	m := newMemories()
	for i, tc := range []struct {
		capability *nexusv1.NexusAICapability
		changes    []nexusv1.RolloutChange
		want       []nexusv1.RolloutChange
	}{
		{rolling("1", 2, 1, nexusv1.RolloutComplete), change("a"), change("a")},
		{rolling("1", 2, 1, nexusv1.RolloutComplete), change("b"), change("a", "b")},                               // the status was refused
		{rolling("2", 2, 1, nexusv1.RolloutComplete), change("c"), change("c")},                                    // another capability
		{rolling("1", 2, 2, nexusv1.RolloutProgressing), nil, change("a", "b")},                                    // under way
		{rolling("1", 3, 2, nexusv1.RolloutProgressing), change("d"), change("d")},                                 // another edit
		{rolling("1", 3, 3, nexusv1.RolloutComplete), change("drift"), change("drift")},                            // complete
		{rolling("1", 3, 3, nexusv1.RolloutProgressing), change("e"), change("e")},                                 // forgotten since
		{&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: "3", UID: "3"}}, change("f"), change("f")}, // the first look
	} {
		if got := m.addChanges(tc.capability, tc.changes); !slices.EqualFunc(got, tc.want, func(a, b nexusv1.RolloutChange) bool { return a.Name == b.Name }) {
			t.Errorf("pass %d: %+v, want %+v", i, got, tc.want)
		}
	}
	ended := rolling("2", 2, 1, nexusv1.RolloutComplete)
	m.stopApplying(ended)
	if got := m.addChanges(ended, nil); len(got) > 0 {
		t.Errorf("of a capability in deletion: %+v", got)
	}
}
