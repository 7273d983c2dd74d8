// SPDX-License-Identifier: Apache-2.0

// Package budget is spec.budget.
package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/messages"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const (
	budgetField = "spec.budget"
	typeBudget  = "AWS::Budgets::Budget"
	// budgetPurpose is the purpose of the topic, and begins that of the budget.
	budgetPurpose = "budget"
)

// defaultThresholds notify early of the actual costs, and of the forecasted costs of the month.
var defaultThresholds = []nexusv1.BudgetThreshold{{Percent: 80}, {Percent: 100}, {Percent: 100, Costs: nexusv1.CostsForecasted}}

// addBudget makes the budget and its topic. Workloads do not wait for them.
func addBudget(k *part.Compiler) {
	b := k.Spec.Budget
	if b == nil {
		return
	}
	arn := k.Home.ARN("sns", k.Names.Of(budgetPurpose))
	topic := k.Resource(part.Child{Kind: messages.KindTopic, Name: k.Names.Of(budgetPurpose), Step: messages.StepSNS,
		Component: part.ComponentBudget}, &awsv1.SNSTopic{Spec: awsv1.SNSTopicSpec{
		TopicName: k.Names.Of(budgetPurpose), DisplayName: new(""), KMSMasterKeyID: new(""),
		Policy: new(k.Document(budgetTopicPolicy(k, arn)...)),
	}})
	name := k.Names.Of(budgetName(b))
	text, err := json.Marshal(map[string]any{
		"Budget": map[string]any{
			"BudgetName": name, "BudgetType": "COST", "TimeUnit": "MONTHLY",
			"BudgetLimit": map[string]any{"Amount": int64(b.Monthly), "Unit": currencyOf(k, b)},
			"CostFilters": map[string]any{"TagKeyValue": []any{"user:" + part.TagCapability + "$" + k.Names.Prefix()}},
		},
		"NotificationsWithSubscribers": notificationsOf(b, arn),
	})
	if err != nil {
		k.Fail(err)
		return
	}
	o := &awsv1.AWSResource{Spec: awsv1.AWSResourceSpec{TypeName: typeBudget, Properties: runtime.RawExtension{Raw: text}}}
	k.Resource(part.Child{Kind: part.KindAnyType, Name: name, Step: part.StepResources, Component: part.ComponentBudget}, o,
		graph.NeedReady(topic)...)
}

// currencyOf returns the declared currency, or the billing currency of the partition.
func currencyOf(k *part.Compiler, b *nexusv1.BudgetSpec) string {
	if k.Home.Partition == "aws-cn" {
		return cmp.Or(b.Currency, "CNY")
	}
	return cmp.Or(b.Currency, "USD")
}

// budgetName is the purpose of a budget. AWS cannot change notifications, so that others make another budget, with another name.
func budgetName(b *nexusv1.BudgetSpec) string {
	return budgetPurpose + "-" + part.HashOf(map[string]any{"notifications": notificationsOf(b, "")})
}

// notificationsOf returns the notifications of a budget in an order that does not depend on that of the declaration.
func notificationsOf(b *nexusv1.BudgetSpec, topic string) (out []any) {
	subscribers := []any{map[string]any{"SubscriptionType": "SNS", "Address": topic}}
	emails := slices.Clone(b.Emails)
	slices.Sort(emails)
	for _, email := range emails {
		subscribers = append(subscribers, map[string]any{"SubscriptionType": "EMAIL", "Address": string(email)})
	}
	for _, t := range thresholdsOf(b) {
		out = append(out, map[string]any{"Notification": map[string]any{
			"NotificationType": strings.ToUpper(string(t.Costs)), "ComparisonOperator": "GREATER_THAN", "Threshold": int64(t.Percent),
			"ThresholdType": "PERCENTAGE",
		}, "Subscribers": slices.Clone(subscribers)})
	}
	return out
}

// thresholdsOf returns the thresholds in order, each with its costs.
func thresholdsOf(b *nexusv1.BudgetSpec) []nexusv1.BudgetThreshold {
	out := slices.Clone(b.Thresholds)
	if len(out) == 0 {
		out = slices.Clone(defaultThresholds)
	}
	for i := range out {
		out[i].Costs = cmp.Or(out[i].Costs, nexusv1.CostsActual)
	}
	slices.SortFunc(out, func(a, b nexusv1.BudgetThreshold) int {
		return cmp.Or(strings.Compare(string(a.Costs), string(b.Costs)), cmp.Compare(a.Percent, b.Percent))
	})
	return out
}

// budgetTopicPolicy leaves the topic to the identities of its account, and lets the budgets of the account publish.
// https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-sns-policy.html
func budgetTopicPolicy(k *part.Compiler, arn string) []iampolicy.Statement {
	return []iampolicy.Statement{
		messages.TopicPolicy(k, nexusv1.TopicSpec{Name: budgetPurpose}),
		{Sid: "Budgets", Principal: iampolicy.Principals{"Service": {"budgets.amazonaws.com"}}, Action: []string{"sns:Publish"},
			Resource: []string{arn},
			Condition: iampolicy.Conditions{
				"StringEquals": {"aws:SourceAccount": {k.Home.Account}},
				"ArnLike":      {"aws:SourceArn": {"arn:" + k.Home.Partition + ":budgets::" + k.Home.Account + ":*"}},
			}},
	}
}

// Part is spec.budget.
func Part() part.Part {
	return part.Part{
		Checks: []part.Turn[part.Checking]{part.At(110,
			func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkBudget(v, c) })},
		Compile: []func(*part.Compiler){addBudget},
	}
}

func checkBudget(v *part.Verdict, c *nexusv1.NexusAICapability) {
	b := c.Spec.Budget
	if b == nil {
		return
	}
	seen := map[string]bool{}
	for i, t := range b.Thresholds {
		key := fmt.Sprintf("%d percent of %s costs", t.Percent, cmp.Or(t.Costs, nexusv1.CostsActual))
		v.Require(!seen[key], part.Entry(budgetField+".thresholds", i), "%s is there twice", key)
		seen[key] = true
	}
	for i, email := range b.Emails {
		v.Require(!seen[string(email)], part.Entry(budgetField+".emails", i), "%q is there twice", email)
		seen[string(email)] = true
	}
	parts := v.Parts.ObjectsByName(c)
	for _, name := range []string{budgetPurpose, budgetName(b)} {
		_, taken := parts[name]
		v.Require(!taken, budgetField, "another part of the capability has the name %s: choose another name for it", name)
	}
}
