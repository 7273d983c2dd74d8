// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// inCache is an object as the cache has it once its namespace is full.
func inCache(l *reconciler.LargeObjects, namespace, name string) *v1alpha1.SSMParameterSet {
	o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u", Generation: 1}}
	o.Spec.ProviderRef.Name, o.Spec.Path, o.Spec.Parameters = "aws", "/team",
		map[string]v1alpha1.SSMParameter{"a": {Value: strings.Repeat("x", 1<<20)}}
	l.Trim("SSMParameterSet", o)
	return o
}

func TestReconcile_AnObjectBeyondTheBoundSaysSo(t *testing.T) {
	large := reconciler.NewLargeObjects()
	for i := range reconciler.MostLarge >> 20 {
		inCache(large, "team-a", fmt.Sprint(i))
	}
	beyond, other := inCache(large, "team-a", "beyond"), inCache(large, "team-b", "other")
	r := newRoom(t, "SSMParameterSet", beyond, other)
	r.Large = large
	reasonOf := func(o client.Object) string {
		t.Helper()
		_, _ = r.reconcile(o) // the condition has what it returns
		now := &v1alpha1.SSMParameterSet{}
		if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(o), now); err != nil {
			t.Fatal(err)
		}
		c := meta.FindStatusCondition(now.Status.Conditions, status.Ready)
		if c == nil {
			return ""
		}
		if c.Reason == status.ReasonLimitExceeded &&
			(!strings.Contains(c.Message, "namespace team-a") || !strings.Contains(c.Message, "make it smaller")) {
			t.Errorf("%s", c.Message)
		}
		return c.Reason
	}
	if got := reasonOf(beyond); got != status.ReasonLimitExceeded {
		t.Errorf("beyond the bound: %s", got)
	}
	if e := <-r.events.Events; !strings.Contains(e, "Warning LimitExceeded") {
		t.Errorf("event %s", e)
	}
	if got := reasonOf(other); got == status.ReasonLimitExceeded || got == "" {
		t.Errorf("of another namespace: %s", got)
	}
	large.Forget("SSMParameterSet", client.ObjectKey{Namespace: "team-a", Name: "0"})
	if got := reasonOf(beyond); got == status.ReasonLimitExceeded {
		t.Error("there is room now")
	}
}
