// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const (
	budgetType       = "AWS::Budgets::Budget"
	budgetTypes      = "--types=" + budgetType
	budgetNamespaces = "--ambient-namespaces=ledger-dev"
)

// A budget is made with its topic, follows edits of the amount in place and those of thresholds by another budget, writes nothing at
// rest, and goes without residue with the field and with the capability.
func TestBudget_FollowsEditsRestsAndGoesWithoutResidue(t *testing.T) {
	extent.Full(t)
	b := newBed(t, budgetTypes, budgetNamespaces)
	d := b.controls()
	c := b.Capability("examples/capability-with-budget.yaml")
	b.Create(c)
	b.Running(c)
	only := func(amount float64) string {
		t.Helper()
		made := d.Identifiers(budgetType)
		if len(made) != 1 {
			t.Fatalf("there are the budgets %v", made)
		}
		budget, _ := d.Properties(budgetType, made[0])["Budget"].(map[string]any)
		limit, _ := budget["BudgetLimit"].(map[string]any)
		if limit["Amount"] != amount {
			t.Errorf("the limit is %v, want %v", limit, amount)
		}
		return made[0]
	}
	first := only(500)
	topic := &v1alpha1.SNSTopic{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "ledger-dev-budget"}}
	if err := b.Get(topic); err != nil || topic.Status.ARN == "" {
		t.Errorf("the topic is %+v, %v", topic.Status, err)
	}

	b.Edit(c, func() { c.Spec.Budget.Monthly = 700 })
	b.Running(c)
	b.Quiet()
	if again := only(700); again != first {
		t.Errorf("another amount replaced %s by %s", first, again)
	}
	b.Edit(c, func() { c.Spec.Budget.Thresholds = []nexusv1.BudgetThreshold{{Percent: 50}} })
	b.Running(c)
	b.Quiet()
	if again := only(700); again == first {
		t.Errorf("%s is there although AWS cannot change its notifications", first)
	}

	calls, kube := b.Mark()
	b.Restart(budgetTypes, budgetNamespaces)
	b.Passed("nexusaicapability", "awsresource")
	if writes := b.World.AWS().Since(calls).Writes(); writes.Count() > 0 {
		t.Errorf("a second pass writes to AWS:\n%s", writes)
	}
	for _, w := range b.KubeWrites(kube) {
		t.Errorf("a second pass writes to Kubernetes: %s", w)
	}

	b.Edit(c, func() { c.Spec.Budget = nil })
	b.Running(c)
	b.Quiet()
	if left := d.Identifiers(budgetType); len(left) > 0 {
		t.Errorf("without the field there are the budgets %v", left)
	}
	b.Edit(c, func() { c.Spec.Budget = &nexusv1.BudgetSpec{Monthly: 1} })
	b.Running(c)
	only(1)
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	if left := d.Identifiers(budgetType); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A budget that no administrator allows is named with the flag, and the workloads run without it.
func TestBudget_ThatIsNotAllowedHoldsNoWorkloadBack(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--types=AWS::Kinesis::*", budgetNamespaces)
	b.controls()
	c := b.Capability("examples/capability-with-budget.yaml")
	b.Create(c)
	b.contains(b.Shows(c, "DataServicesReady", metav1.ConditionFalse, "NotPermitted"), budgetType, "--types")
	b.Shows(c, "ComponentsReady", metav1.ConditionTrue, "Ready")
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "ledger-dev-config"}}
	if err := b.Get(settings); err != nil {
		t.Error(err)
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}
