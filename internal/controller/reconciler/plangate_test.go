// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestPlanGate_IsClosedByPatternOrLabel(t *testing.T) {
	space := func(name, value string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{wellknown.LabelPlanGate: value}}}
	}
	broken := errors.New("etcd does not answer")
	c := fake.NewClientBuilder().WithObjects(space("closed", "closed"), space("open", "open"),
		space("prod-a", "")).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if key.Name == "broken" {
				return broken
			}
			return c.Get(ctx, key, o, opts...)
		}}).Build()
	g := PlanGate{Namespaces: []string{"prod-*"}, Client: c}
	for name, want := range map[string]bool{"closed": true, "open": false, "prod-a": true, "gone": false} {
		if is, err := g.IsClosed(t.Context(), name); err != nil || is != want {
			t.Errorf("%s: %v %v", name, is, err)
		}
	}
	if _, err := g.IsClosed(t.Context(), "broken"); !errors.Is(err, broken) {
		t.Errorf("a namespace that cannot be read: %v", err)
	}
}

// Only the refusal by the policy proves that approvals are protected.
func TestPlanGate_ProveNeedsTheRefusalOfThePolicy(t *testing.T) {
	about := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "x"}}
	forbidden := func(why string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "s3buckets"}, "x", errors.New(why))
	}
	for name, tc := range map[string]struct {
		answer        error
		proven, waits bool
	}{
		"refused by the policy": {forbidden("ValidatingAdmissionPolicy 'nexus-operator-approvals' denied request"), true, false},
		"allowed":               {nil, false, true},
		"refused by another":    {forbidden("ValidatingAdmissionPolicy 'another' denied request"), false, false},
		"no answer":             {errors.New("nexus-operator-approvals: connection refused"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{Patch: func(_ context.Context, _ client.WithWatch, _ client.Object,
				p client.Patch, opts ...client.PatchOption) error {
				o := &client.PatchOptions{}
				for _, opt := range opts {
					opt.ApplyToPatch(o)
				}
				if text, err := p.Data(about); err != nil || len(o.DryRun) == 0 || !strings.Contains(string(text), wellknown.AnnotationApprovedPlan) {
					t.Errorf("sent %s with %+v: %v", text, o, err)
				}
				return tc.answer
			}}).Build()
			err := PlanGate{Client: c}.Prove(t.Context(), about)
			waiting, waits := status.AsWaiting(err)
			if (err == nil) != tc.proven || waits != tc.waits || waits && waiting.Reason != status.ReasonPlanPending {
				t.Errorf("got %v", err)
			}
		})
	}
}
