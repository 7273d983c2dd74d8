// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestReconcile_ACapabilityBeyondTheBoundSaysSo(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	b.Large = reconciler.NewLargeObjects()
	for i := range reconciler.MostLarge >> 20 {
		full := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: fmt.Sprint(i), Annotations: map[string]string{"a": strings.Repeat("x", 1<<20)}}}
		b.Large.Trim(Kind, full)
	}
	shown := c.DeepCopy()
	shown.Annotations = map[string]string{"a": strings.Repeat("x", 1<<20)}
	b.Large.Trim(Kind, shown)
	b.stale = shown
	if _, err := b.reconcile(c); err == nil {
		t.Error("it is not tried again")
	}
	b.read(c)
	b.is(c, status.Ready, metav1.ConditionFalse, status.ReasonLimitExceeded)
	b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonLimitExceeded)
	if writes, events := b.written(), b.emitted(); len(writes) > 1 || len(events) != 1 || !strings.Contains(events[0], "make it smaller") {
		t.Errorf("writes %q, events %q", writes, events)
	}
	b.Large.Forget(Kind, client.ObjectKey{Namespace: b.ns, Name: "0"})
	b.pass(c)
	if writes := b.written(); len(writes) < 3 {
		t.Errorf("there is room, and it only writes %q", writes)
	}
}
