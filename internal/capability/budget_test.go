// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// withBudget declares a budget.
func withBudget(edits ...func(*nexusv1.BudgetSpec)) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.Budget = &nexusv1.BudgetSpec{Monthly: 500}
		for _, edit := range edits {
			edit(c.Spec.Budget)
		}
	}
}

// anyBudget draws a budget.
func anyBudget(t *rapid.T) *nexusv1.BudgetSpec {
	out := &nexusv1.BudgetSpec{Monthly: rapid.Int32Range(1, 1e9).Draw(t, "monthly"), Currency: rapid.SampledFrom([]string{"", "EUR"}).Draw(t, "currency")}
	for _, percent := range rapid.SliceOfNDistinct(rapid.Int32Range(1, 1000), 0, 5, rapid.ID).Draw(t, "thresholds") {
		out.Thresholds = append(out.Thresholds, nexusv1.BudgetThreshold{Percent: percent, Costs: rapid.SampledFrom([]nexusv1.BudgetCosts{"", "Actual", "Forecasted"}).Draw(t, "costs")})
	}
	for i := range rapid.IntRange(0, 10).Draw(t, "emails") {
		out.Emails = append(out.Emails, nexusv1.BudgetEmail(fmt.Sprintf("a%d@example.com", i)))
	}
	return out
}

// budgetIn returns the budget of a graph.
func budgetIn(t fatal, g *graph.Graph) *unstructured.Unstructured {
	t.Helper()
	for _, o := range ofKind(g, "AWSResource") {
		if at(t, o, "spec", "typeName") == "AWS::Budgets::Budget" {
			return o
		}
	}
	t.Fatalf("there is no budget")
	return nil
}

func TestBudget_BecomesABudgetAndATopicThatItMayPublishTo(t *testing.T) {
	g := compile(t, minimal(withBudget(func(b *nexusv1.BudgetSpec) { b.Emails = []nexusv1.BudgetEmail{"b@example.com", "a@example.com"} })), facts())
	o := budgetIn(t, g)
	for path, want := range map[string]any{
		"BudgetName": o.GetName(), "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit.Amount": int64(500), "BudgetLimit.Unit": "USD",
	} {
		if got := at(t, o, append([]string{"spec", "properties", "Budget"}, strings.Split(path, ".")...)...); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if got := fmt.Sprint(at(t, o, "spec", "properties", "Budget", "CostFilters", "TagKeyValue")); got != "[user:capability$myapp-dev]" {
		t.Errorf("it counts %s", got)
	}
	var notifications []string
	for _, n := range at(t, o, "spec", "properties", "NotificationsWithSubscribers").([]any) {
		is := n.(map[string]any)["Notification"].(map[string]any)
		notifications = append(notifications, fmt.Sprint(is["NotificationType"], " ", is["Threshold"]))
		var to []string
		for _, s := range n.(map[string]any)["Subscribers"].([]any) {
			to = append(to, s.(map[string]any)["Address"].(string))
		}
		if want := []string{"arn:aws:sns:eu-central-1:123456789012:myapp-dev-budget", "a@example.com", "b@example.com"}; !slices.Equal(to, want) {
			t.Errorf("it notifies %v, want %v", to, want)
		}
	}
	if want := []string{"ACTUAL 80", "ACTUAL 100", "FORECASTED 100"}; !slices.Equal(notifications, want) {
		t.Errorf("it notifies at %v, want %v", notifications, want)
	}

	topic := object(t, g, "SNSTopic/myapp-dev-budget")
	policy, err := iampolicy.Parse(at(t, topic, "spec", "policy").(string))
	if err != nil || len(policy.Statement) != 2 {
		t.Fatalf("the policy of the topic is %v, %v", policy, err)
	}
	s := policy.Statement[1]
	if !slices.Equal(s.Principal["Service"], []string{"budgets.amazonaws.com"}) || !slices.Equal(s.Action, []string{"sns:Publish"}) ||
		!slices.Equal(s.Condition["StringEquals"]["aws:SourceAccount"], []string{"123456789012"}) ||
		!slices.Equal(s.Condition["ArnLike"]["aws:SourceArn"], []string{"arn:aws:budgets::123456789012:*"}) {
		t.Errorf("budgets publish by %+v", s)
	}
}

func TestBudget_IsNamedAfterItsNotifications(t *testing.T) {
	name := func(edits ...func(*nexusv1.BudgetSpec)) string {
		return budgetIn(t, compile(t, minimal(withBudget(edits...)), facts())).GetName()
	}
	same := []func(*nexusv1.BudgetSpec){
		func(b *nexusv1.BudgetSpec) { b.Monthly = 7 }, func(b *nexusv1.BudgetSpec) { b.Actions = nexusv1.BudgetNotify },
		func(b *nexusv1.BudgetSpec) {
			b.Thresholds = []nexusv1.BudgetThreshold{{Percent: 100, Costs: "Forecasted"}, {Percent: 100}, {Percent: 80, Costs: "Actual"}}
		},
	}
	for i, edit := range same {
		if got, want := name(edit), name(); got != want {
			t.Errorf("%d: it is %s, and %s before", i, got, want)
		}
	}
	others := []func(*nexusv1.BudgetSpec){
		func(b *nexusv1.BudgetSpec) { b.Thresholds = []nexusv1.BudgetThreshold{{Percent: 50}} },
		func(b *nexusv1.BudgetSpec) { b.Emails = []nexusv1.BudgetEmail{"a@example.com"} },
	}
	for i, edit := range others {
		if got := name(edit); got == name() {
			t.Errorf("%d: it is %s, as before", i, got)
		}
	}
}

// A budget changes nothing but tags, and neither rights nor settings of the workloads; they do not wait for it either.
func TestBudget_TagsWhatHasCostsAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		c.Spec.Budget = nil
		before := compile(t, c, facts())
		c.Spec.Budget = anyBudget(t)
		after := compile(t, c, facts())
		if n, m := len(before.Nodes()), len(after.Nodes()); m != n+2 {
			t.Fatalf("%d objects became %d", n, m)
		}
		for _, n := range after.Nodes() {
			was, is := before.Node(n.ID)
			if !is {
				if label := n.Object.GetLabels()[capability.LabelComponent]; label != "budget" {
					t.Fatalf("%s is new", n.ID)
				}
				continue
			}
			now := n.Object.DeepCopy()
			tags, _, _ := unstructured.NestedMap(now.Object, "spec", "tags")
			observes, _, _ := unstructured.NestedString(now.Object, "spec", "managementPolicy")
			if _, tagged := tags["capability"]; tagged && observes == "Observe" {
				t.Fatalf("%s observes, and has the tag", n.ID)
			}
			if was, _, _ := unstructured.NestedMap(was.Object.Object, "spec", "tags"); len(was) == 0 {
				unstructured.RemoveNestedField(now.Object, "spec", "tags")
			}
			balances := slices.Contains([]string{"Ingress", "Service", "LoadBalancerConfiguration"}, now.GetKind())
			if !balances && !reflect.DeepEqual(was.Object.Object, now.Object) {
				t.Fatalf("%s changes to %v", n.ID, now.Object)
			}
			for _, edge := range n.After {
				if strings.Contains(edge.To, "budget-") {
					t.Fatalf("%s waits for %s", n.ID, edge.To)
				}
			}
		}
	})
}

func TestBudget_CountsResourcesByTheirTag(t *testing.T) {
	c := minimal(withBudget(), withAI(knowledge, safety, chat, sessions), data(func(d *nexusv1.DataServicesSpec) {
		d.DynamoDB = &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "orders"}}}
	}))
	g := compile(t, c, facts())
	for id, want := range map[string]string{
		"DynamoDBTable/myapp-dev-orders": "myapp-dev", "SecretsManagerSecret/myapp-dev-openai": "myapp-dev", "AWSResource/myapp-dev-knowledge": "myapp-dev",
		"AWSResource/myapp-dev-chat": "myapp-dev", "IAMRole/myapp-dev-app-role": "",
	} {
		if got, _, _ := unstructured.NestedString(object(t, g, id).Object, "spec", "tags", "capability"); got != want {
			t.Errorf("%s has the tag %q, want %q", id, got, want)
		}
	}
	if ingress := ofKind(g, "Ingress"); len(ingress) != 1 || !strings.HasSuffix(ingress[0].GetAnnotations()["alb.ingress.kubernetes.io/tags"], ",capability=myapp-dev") {
		t.Errorf("the load balancer has not the tag: %v", ingress)
	}
}

// Tags of a type that AWS fixes at the creation would refuse a budget that is declared later.
func TestBudget_TagsOnlyTypesWhoseTagsCanChange(t *testing.T) {
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(capability.BilledTypes), "AWS::Budgets::Budget") {
		text, err := b.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		typ, err := awsschema.Parse(text)
		if err != nil || typ.Tags.Property() == "" || typ.Tags.AreFixed() {
			t.Errorf("%s has no tags that can change: %v", name, err)
		}
	}
}

func TestBudget_IsDeletedWhereDataIsRetained(t *testing.T) {
	c := minimal(withBudget(), func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = nexusv1.DeletionRetain })
	g := compile(t, c, facts())
	for _, o := range []*unstructured.Unstructured{budgetIn(t, g), object(t, g, "SNSTopic/myapp-dev-budget")} {
		if policy := at(t, o, "spec", "deletionPolicy"); policy != "Delete" {
			t.Errorf("%s has the deletionPolicy %v", o.GetName(), policy)
		}
	}
}

func TestBudget_IsRefusedByItsFields(t *testing.T) {
	thresholds := func(list ...nexusv1.BudgetThreshold) func(*nexusv1.BudgetSpec) {
		return func(b *nexusv1.BudgetSpec) { b.Thresholds = list }
	}
	emails := func(list ...nexusv1.BudgetEmail) func(*nexusv1.BudgetSpec) {
		return func(b *nexusv1.BudgetSpec) { b.Emails = list }
	}
	for name, tc := range map[string]struct {
		edit  edit
		field string
	}{
		"nothing":           {withBudget(func(b *nexusv1.BudgetSpec) { b.Monthly = 0 }), "spec.budget.monthly"},
		"less than nothing": {withBudget(func(b *nexusv1.BudgetSpec) { b.Monthly = -1 }), "spec.budget.monthly"},
		"no currency":       {withBudget(func(b *nexusv1.BudgetSpec) { b.Currency = "euro" }), "spec.budget.currency"},
		"unknown action":    {withBudget(func(b *nexusv1.BudgetSpec) { b.Actions = "stop" }), "spec.budget.actions"},
		"no threshold":      {withBudget(thresholds(nexusv1.BudgetThreshold{})), "spec.budget.thresholds[0].percent"},
		"threshold twice":   {withBudget(thresholds(nexusv1.BudgetThreshold{Percent: 9}, nexusv1.BudgetThreshold{Percent: 9, Costs: "Actual"})), "spec.budget.thresholds[1]"},
		"unknown costs":     {withBudget(thresholds(nexusv1.BudgetThreshold{Percent: 9, Costs: "all"})), "spec.budget.thresholds[0].costs"},
		"many thresholds":   {withBudget(thresholds(make([]nexusv1.BudgetThreshold, 6)...)), "spec.budget.thresholds"},
		"no email":          {withBudget(emails("team")), "spec.budget.emails[0]"},
		"email twice":       {withBudget(emails("a@example.com", "a@example.com")), "spec.budget.emails[1]"},
		"many emails":       {withBudget(emails(make([]nexusv1.BudgetEmail, 11)...)), "spec.budget.emails"},
		"topic of its name": {func(c *nexusv1.NexusAICapability) { withBudget()(c); topic(nexusv1.TopicSpec{Name: "budget"})(c) }, "spec.budget"},
	} {
		t.Run(name, func(t *testing.T) {
			c := minimal()
			tc.edit(c)
			stalled, is := status.AsStalled(capability.Validate(c, facts()))
			if !is || stalled.Field != tc.field {
				t.Errorf("the refusal is %v, want one of %s", stalled, tc.field)
			}
		})
	}
}

// isOfBudget reports whether a node is a budget or its topic. No role has rights on these.
func isOfBudget(g *graph.Graph, id string) bool {
	n, ok := g.Node(id)
	return ok && n.Object.GetLabels()[capability.LabelComponent] == "budget"
}

// The former budget notifies until its successor is ready, and goes at once with the field.
func TestBudget_StaysUntilItsSuccessorIsReady(t *testing.T) {
	labels := map[string]string{capability.LabelComponent: "budget"}
	for name, tc := range map[string]struct {
		declared, ready bool
		budget          bool
	}{
		"its successor is ready": {declared: true, ready: true},
		"its successor is not":   {declared: true, budget: true},
		"no budget is declared":  {ready: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := minimal()
			if tc.declared {
				withBudget()(c)
			}
			o := capability.Observed{Capability: c, Facts: facts(), Graph: compile(t, c, facts()), States: map[string]capability.State{}}
			for _, n := range o.Graph.Nodes() {
				o.States[n.ID] = capability.State{Applied: true, Ready: n.Object.GetLabels()[capability.LabelComponent] != "budget" || tc.ready, Live: n.Object}
			}
			if got := o.AppliesStill(labels); got != tc.budget {
				t.Errorf("that the former budget stays is %v, want %v", got, tc.budget)
			}
			if got := o.AppliesStill(map[string]string{capability.LabelComponent: "resources"}); got {
				t.Errorf("that other resources stay is %v", got)
			}
		})
	}
}
