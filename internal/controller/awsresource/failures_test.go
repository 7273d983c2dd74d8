// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// A failure that Reconcile kept to itself would leave controller_runtime_reconcile_errors_total at 0, and the log without a line.
func TestFailures_AreCountedAndLogged(t *testing.T) {
	for _, c := range []struct {
		name    string
		refuse  error // the answer to the read of the provider
		edit    func(*v1alpha1.S3Bucket)
		logged  string // empty: no failure
		stalled bool
	}{
		{"waiting", nil, edited, "", false},
		{"kubernetes", forbidden, edited, "no right to it", false},
		{"aws", &status.Retrying{Reason: status.ReasonThrottled, Cause: errors.New("AWS throttles s3:CreateBucket")}, edited, "AWS throttles",
			false},
		{"stalled", nil, func(o *v1alpha1.S3Bucket) { edited(o); o.Spec.ProviderRef.Namespace = "elsewhere" },
			"spec.providerRef.namespace", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := bucket(c.edit)
			r := newRoom(t, "S3Bucket", o)
			r.refuse["get AWSProvider"] = c.refuse
			passes, lines := r.run("failures-"+c.name, client.ObjectKeyFromObject(o))
			if n := errorsOf(t, "failures-"+c.name); (n > 0) != (c.logged != "") {
				t.Errorf("%v errors are counted in %d passes", n, passes)
			}
			if all := strings.Join(lines, "\n"); (all != "") != (c.logged != "") || !strings.Contains(all, c.logged) {
				t.Errorf("logged at Error: %q", lines)
			}
			if c.stalled && passes != 1 {
				t.Errorf("a stalled object had %d passes within half a second", passes)
			}
		})
	}
}

// run has a controller of controller-runtime serve one request for half a second. It returns the number of passes and the messages that
// were logged at Error.
func (r *room) run(name string, key client.ObjectKey) (int, []string) {
	r.Helper()
	var mu sync.Mutex
	passes, lines := 0, []string(nil)
	log := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(line, `"error"=`) {
			lines = append(lines, line)
		}
	}, funcr.Options{})
	counted := reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		mu.Lock()
		passes++
		mu.Unlock()
		return r.Reconcile(ctx, req)
	})
	c, err := ctrlcontroller.NewUnmanaged(name,
		ctrlcontroller.Options{Reconciler: counted, RateLimiter: r.retries, LogConstructor: func(*reconcile.Request) logr.Logger { return log }})
	if err != nil {
		r.Fatal(err)
	}
	once := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(reconcile.Request{NamespacedName: key})
		return nil
	})
	ctx, cancel := context.WithTimeout(r.Context(), 500*time.Millisecond)
	defer cancel()
	if err := errors.Join(c.Watch(once), c.Start(ctx)); err != nil {
		r.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return passes, lines
}

// errorsOf returns how many errors controller-runtime counted of a controller.
func errorsOf(t *testing.T, controller string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "controller_runtime_reconcile_errors_total" && isOf(m, controller) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func isOf(m *dto.Metric, controller string) bool {
	return len(m.Label) == 1 && m.Label[0].GetValue() == controller
}
