// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/shard"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestFailureClass_TellsWhoMustAct(t *testing.T) {
	group := schema.GroupResource{Resource: "s3buckets"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"success":              {nil, ""},
		"waiting":              {&status.Waiting{For: "AWS"}, ""},
		"a lost race":          {apierrors.NewConflict(group, "x", errors.New("newer")), ""},
		"a stalled object":     {fmt.Errorf("wrapped: %w", &status.Stalled{Message: "denied"}), metrics.ClassStalled},
		"a throttled call":     {&status.Retrying{Reason: status.ReasonThrottled, Cause: errors.New("slow down")}, metrics.ClassAWS},
		"a missing right":      {apierrors.NewForbidden(group, "x", errors.New("no")), metrics.ClassKubernetes},
		"an API server's end":  {apierrors.NewServiceUnavailable("etcd"), metrics.ClassKubernetes},
		"a dead webhook":       {apierrors.NewInternalError(errors.New(`failed calling webhook "v.example.com": EOF`)), metrics.ClassKubernetes},
		"a request timeout":    {fmt.Errorf("reading: %w", context.DeadlineExceeded), metrics.ClassKubernetes},
		"an unexpected result": {errors.New("unexpected"), metrics.ClassError},
	} {
		if got := failureClass(c.err); got != c.want {
			t.Errorf("%s is counted as %q, want %q", name, got, c.want)
		}
	}
}

func TestCounted_CountsFailuresOfTheController(t *testing.T) {
	registry := prometheus.NewRegistry()
	recorder, err := metrics.NewRecorder(registry, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fail := error(nil)
	r := Environment{Metrics: recorder}.Counted("s3bucket",
		reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, fail }))
	ended, end := context.WithCancel(t.Context())
	end()
	for _, pass := range []struct {
		ctx context.Context
		err error
	}{{t.Context(), nil}, {t.Context(), errors.New("unexpected")}, {ended, errors.New("the operator ends")}} {
		fail = pass.err
		if _, err := r.Reconcile(pass.ctx, reconcile.Request{}); !errors.Is(err, pass.err) {
			t.Errorf("returns %v, want %v", err, pass.err)
		}
	}
	counts := map[string]float64{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == metrics.ReconcileFailures.Name {
				counts[classOf(m)] = m.GetCounter().GetValue()
			}
		}
	}
	if len(counts) != 4 || counts[metrics.ClassError] != 1 || counts[metrics.ClassStalled] != 0 {
		t.Errorf("counted %v, want one error and zeros", counts)
	}
}

func TestCounted_DropsRequestsOfOtherShards(t *testing.T) {
	passes := map[string]int{}
	count := reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
		passes[r.Namespace]++
		return reconcile.Result{}, nil
	})
	for i := range 2 {
		r := Environment{Shard: shard.Shard{Index: i, Count: 2}}.Counted("s3bucket", count)
		for _, namespace := range []string{"team-a", "team-b", ""} {
			if _, err := r.Reconcile(t.Context(),
				reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "x"}}); err != nil {
				t.Fatal(err)
			}
			if owns := (shard.Shard{Index: i, Count: 2}).Owns(namespace); owns && passes[namespace] != 1 {
				t.Errorf("shard %d made %d passes for its namespace %q", i, passes[namespace], namespace)
			}
		}
	}
	if len(passes) != 3 || passes["team-a"] != 1 || passes["team-b"] != 1 || passes[""] != 1 {
		t.Errorf("two shards made the passes %v, want one each", passes)
	}
}

func classOf(m *dto.Metric) string {
	for _, l := range m.Label {
		if l.GetName() == "class" {
			return l.GetValue()
		}
	}
	return ""
}
