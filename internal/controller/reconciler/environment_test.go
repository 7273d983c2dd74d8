// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var (
	forbidden   = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("the operator has no right to it"))
	unavailable = apierrors.NewServiceUnavailable("etcd does not answer")
)

// cluster is a client of a cluster in memory; a refusal, if there is one, answers every read.
func cluster(t *testing.T, refusal error, objs ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithIndex(&nexusv1.NexusAICapability{}, NameIndex, IndexName)
	if refusal != nil {
		b = b.WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return refusal
			},
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return refusal },
		})
	}
	return b.Build()
}

func app(edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app", UID: "cap-1",
		Finalizers: []string{"example.com/keep"}}}
	c.Spec.CapabilityName, c.Spec.Environment = "shop", "dev"
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func suspended(c *nexusv1.NexusAICapability) { c.Spec.Suspend = true }
func going(c *nexusv1.NexusAICapability) {
	c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1000, 0)}
}
func paused(c *nexusv1.NexusAICapability) {
	c.Annotations = map[string]string{wellknown.AnnotationPaused: "true"}
}

func TestNewest_ReadsPastACacheThatLacksOurWrite(t *testing.T) {
	ref := apply.Ref{Kind: nexusv1.GroupVersion.WithKind("NexusAICapability"), Namespace: "ns", Name: "app"}
	old := app(func(c *nexusv1.NexusAICapability) { c.ResourceVersion, c.Status.Message = "5", "old" })
	fresh := app(func(c *nexusv1.NexusAICapability) { c.ResourceVersion = "9" })
	for name, tc := range map[string]struct {
		wrote   string
		cache   client.Reader
		live    client.Reader
		version string
		refused error
	}{
		"nothing was written":              {"", cluster(t, nil, old), cluster(t, unavailable), "5", nil},
		"the cache has the write":          {"5", cluster(t, nil, old), cluster(t, unavailable), "5", nil},
		"the cache lacks the write":        {"9", cluster(t, nil, old), cluster(t, nil, fresh), "9", nil},
		"and the API server is silent":     {"9", cluster(t, nil, old), cluster(t, unavailable), "", unavailable},
		"the cache may not be read at all": {"", cluster(t, forbidden), cluster(t, nil, fresh), "", forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			a := &apply.Applier{}
			if tc.wrote != "" {
				a.Wrote(ref, tc.wrote)
			}
			c := &nexusv1.NexusAICapability{}
			err := Environment{Client: tc.cache.(client.Client), Live: tc.live}.Newest(t.Context(), a, ref, c)
			if !errors.Is(err, tc.refused) || tc.refused == nil && c.ResourceVersion != tc.version {
				t.Errorf("version %s, %v", c.ResourceVersion, err)
			}
			if tc.version == "9" && c.Status.Message != "" {
				t.Errorf("a field that the newer object lacks is still %q", c.Status.Message)
			}
		})
	}
}

func TestFrozen_FollowsTheControllerOfAnObject(t *testing.T) {
	owned := func(edit func(*metav1.OwnerReference)) *v1alpha1.S3Bucket {
		ref := metav1.OwnerReference{APIVersion: "nexus.ai/v1", Kind: "NexusAICapability", Name: "app", UID: "cap-1", Controller: new(true)}
		edit(&ref)
		return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "media", OwnerReferences: []metav1.OwnerReference{ref}}}
	}
	same := func(*metav1.OwnerReference) {}
	for name, tc := range map[string]struct {
		capability *nexusv1.NexusAICapability
		object     *v1alpha1.S3Bucket
		want       bool
	}{
		"it runs":                      {app(), owned(same), false},
		"it is suspended":              {app(suspended), owned(same), true},
		"it is suspended and goes":     {app(suspended, going), owned(same), false},
		"it is paused and goes":        {app(paused, going), owned(same), true},
		"an earlier one of the name":   {app(suspended), owned(func(r *metav1.OwnerReference) { r.UID = "cap-0" }), false},
		"one that does not exist":      {app(suspended), owned(func(r *metav1.OwnerReference) { r.Name = "nobody" }), false},
		"an owner, not the controller": {app(suspended), owned(func(r *metav1.OwnerReference) { r.Controller = nil }), false},
		"something else of that name":  {app(suspended), owned(func(r *metav1.OwnerReference) { r.Kind = "App" }), false},
		"one of another namespace":     {app(suspended, func(c *nexusv1.NexusAICapability) { c.Namespace = "other" }), owned(same), false},
	} {
		if got, err := (Environment{Client: cluster(t, nil, tc.capability)}).Frozen(t.Context(), tc.object); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, refusal := range []error{forbidden, unavailable} {
		if got, err := (Environment{Client: cluster(t, refusal)}).Frozen(t.Context(), owned(same)); got || !errors.Is(err, refusal) {
			t.Errorf("an object whose capability cannot be read: %v, %v", got, err)
		}
	}
}

func TestStrongestClaim_LeavesOutThoseThatCannotRun(t *testing.T) {
	other := func(name string, edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
		c := app(edits...)
		c.Name, c.CreationTimestamp = name, metav1.Unix(2000, 0)
		return c
	}
	first := app(func(c *nexusv1.NexusAICapability) { c.CreationTimestamp = metav1.Unix(1000, 0) })
	created := func(c *nexusv1.NexusAICapability) {
		c.Status.Resources = []nexusv1.ResourceStatus{{Kind: "S3Bucket", ARN: "arn:aws:s3:::a"}}
	}
	for name, tc := range map[string]struct {
		have []client.Object
		want string
	}{
		"nobody":                              {nil, ""},
		"the older":                           {[]client.Object{other("b"), first}, "app"},
		"the only one that may run":           {[]client.Object{app(suspended), other("b")}, "b"},
		"none that may run":                   {[]client.Object{app(suspended), other("b", going)}, ""},
		"one that holds something, suspended": {[]client.Object{first, other("b", created, suspended)}, "b"},
		"other names": {[]client.Object{other("b",
			func(c *nexusv1.NexusAICapability) { c.Spec.Environment = "prod" })}, ""},
	} {
		got, err := StrongestClaim(t.Context(), cluster(t, nil, tc.have...), capability.Names{Capability: "shop", Environment: "dev"})
		if err != nil || got == nil && tc.want != "" || got != nil && got.Name != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := StrongestClaim(t.Context(), cluster(t, forbidden), capability.Names{}); !apierrors.IsForbidden(err) {
		t.Errorf("names that cannot be checked are free: %v", err)
	}
}

func TestTerminating(t *testing.T) {
	ns := func(deleted *metav1.Time) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", DeletionTimestamp: deleted, Finalizers: []string{"example.com/keep"}}}
	}
	for name, tc := range map[string]struct {
		cluster client.Client
		want    bool
		refused bool
	}{
		"in use":       {cluster(t, nil, ns(nil)), false, false},
		"in deletion":  {cluster(t, nil, ns(&metav1.Time{Time: time.Unix(1000, 0)})), true, false},
		"gone":         {cluster(t, nil), false, true},
		"not readable": {cluster(t, forbidden), false, true},
	} {
		if got, err := Terminating(t.Context(), tc.cluster, "ns"); got != tc.want || (err != nil) != tc.refused {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestRequeueAtRest_ComesAfterEverythingElse(t *testing.T) {
	if res := RequeueAtRest(time.Minute); res.RequeueAfter != time.Minute || res.Priority == nil || *res.Priority >= 0 {
		t.Errorf("%+v", res)
	}
}

func TestStalledFor(t *testing.T) {
	stalled := []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonConflict},
		{Type: status.Stall, Status: metav1.ConditionTrue, Reason: status.ReasonAccessDenied}}
	passed := []metav1.Condition{{Type: status.Stall, Status: metav1.ConditionFalse, Reason: status.ReasonAccessDenied}}
	if !StalledFor(stalled, status.ReasonAccessDenied) || StalledFor(stalled, status.ReasonConflict) ||
		StalledFor(passed, status.ReasonAccessDenied) || StalledFor(nil, "") {
		t.Error("an object is stalled by its Stalled condition, while that is true, and for its reason alone")
	}
}
