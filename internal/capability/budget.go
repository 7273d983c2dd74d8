// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const (
	budgetField     = "spec.budget"
	typeBudget      = "AWS::Budgets::Budget"
	componentBudget = "budget"
	// budgetPurpose is the purpose of the topic, and begins that of the budget.
	budgetPurpose   = "budget"
	maxThresholds   = 5
	maxEmails       = 10
	maxEmailAddress = 50
)

var (
	currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)
	emailPattern    = regexp.MustCompile(`^[^\s@]+@[^\s@]+[.][^\s@]+$`)
)

// defaultThresholds tell early of what was spent, and of what a month is going to cost.
var defaultThresholds = []nexusv1.BudgetThreshold{{Percent: 80}, {Percent: 100}, {Percent: 100, Costs: nexusv1.CostsForecasted}}

// addBudget makes the budget and its topic. Workloads do not wait for them.
func addBudget(k *compiler) {
	b := k.spec.Budget
	if b == nil {
		return
	}
	arn := k.home.arn("sns", k.names.Of(budgetPurpose))
	topic := k.resource(child{kindTopic, k.names.Of(budgetPurpose), StepSNS, componentBudget}, &awsv1.SNSTopic{Spec: awsv1.SNSTopicSpec{
		TopicName: k.names.Of(budgetPurpose), DisplayName: new(""), KMSMasterKeyID: new(""), Policy: new(k.document(budgetTopicPolicy(k, arn)...)),
	}})
	name := k.names.Of(budgetName(b))
	text, err := json.Marshal(map[string]any{
		"Budget": map[string]any{
			"BudgetName": name, "BudgetType": "COST", "TimeUnit": "MONTHLY",
			"BudgetLimit": map[string]any{"Amount": int64(b.Monthly), "Unit": currencyOf(k, b)},
			"CostFilters": map[string]any{"TagKeyValue": []any{"user:" + tagCapability + "$" + k.names.Prefix()}},
		},
		"NotificationsWithSubscribers": notificationsOf(b, arn),
	})
	if err != nil {
		k.fail(err)
		return
	}
	o := &awsv1.AWSResource{Spec: awsv1.AWSResourceSpec{TypeName: typeBudget, Properties: runtime.RawExtension{Raw: text}}}
	k.resource(child{kindAnyType, name, StepResources, componentBudget}, o, graph.NeedReady(topic)...)
}

// currencyOf is that of the declaration, or that in which AWS bills the partition.
func currencyOf(k *compiler, b *nexusv1.BudgetSpec) string {
	if k.home.partition == "aws-cn" {
		return cmp.Or(b.Currency, "CNY")
	}
	return cmp.Or(b.Currency, "USD")
}

// budgetName is the purpose of a budget. AWS cannot change notifications, so that others make another budget, with another name.
func budgetName(b *nexusv1.BudgetSpec) string {
	return budgetPurpose + "-" + hashOf(map[string]any{"notifications": notificationsOf(b, "")})
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
			"NotificationType": strings.ToUpper(string(t.Costs)), "ComparisonOperator": "GREATER_THAN", "Threshold": int64(t.Percent), "ThresholdType": "PERCENTAGE",
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
func budgetTopicPolicy(k *compiler, arn string) []iampolicy.Statement {
	return []iampolicy.Statement{
		topicPolicy(k, nexusv1.TopicSpec{Name: budgetPurpose}),
		{Sid: "Budgets", Principal: iampolicy.Principals{"Service": {"budgets.amazonaws.com"}}, Action: []string{"sns:Publish"}, Resource: []string{arn},
			Condition: iampolicy.Conditions{
				"StringEquals": {"aws:SourceAccount": {k.home.account}},
				"ArnLike":      {"aws:SourceArn": {"arn:" + k.home.partition + ":budgets::" + k.home.account + ":*"}},
			}},
	}
}

// BilledTypes are the types of AWSResources that get the tag.
var BilledTypes = allParts().billedTypes()

// billedTypes are the types of the resources that the parts become and whose costs a budget counts.
func (ps parts) billedTypes() (out []string) {
	for _, p := range ps {
		out = append(out, p.billed...)
	}
	return out
}

// tagForBudget sets the tag by which the budget counts the costs of a resource; without a budget, tags stay as they are.
func tagForBudget(k *compiler, kind string, o awsv1.Resource) {
	common := o.CommonSpec()
	if k.spec.Budget == nil || common.ManagementPolicy == awsv1.ManageObserve {
		return
	}
	billed := k.parts.factsOf(kind).isBilled
	if r, is := o.(*awsv1.AWSResource); is {
		billed = slices.Contains(k.parts.billedTypes(), r.Spec.TypeName)
	}
	if !billed {
		return
	}
	tags := map[string]awsv1.TagValue{}
	for key, value := range common.Tags {
		tags[key] = value
	}
	tags[tagCapability] = awsv1.TagValue(k.names.Prefix())
	common.Tags = tags
}

// deletionPolicyOf decides about the AWS resource of an object. A budget holds no data, and one that is retained would
// go on sending notifications about a capability that is gone.
func (ps parts) deletionPolicyOf(c *nexusv1.NexusAICapability, kind, component string, o awsv1.Resource) awsv1.DeletionPolicy {
	policy := ps.childDeletionPolicy(c, kind, o)
	if component == componentBudget && policy == awsv1.DeletionRetain {
		return awsv1.DeletionDelete
	}
	return policy
}

// awaitsBudget reports whether an object with these labels belongs to a budget, and the declared budget is not ready: the former one
// notifies until then.
func (o Observed) awaitsBudget(labels map[string]string) bool {
	return labels[LabelComponent] == componentBudget && slices.ContainsFunc(o.views(), func(v view) bool {
		return v.Object.GetLabels()[LabelComponent] == componentBudget && !v.isDone()
	})
}

// budgetPart is spec.budget.
func budgetPart() part {
	return part{
		checks:  []turn[checking]{at(110, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) { checkBudget(v, c) })},
		compile: []func(*compiler){addBudget},
	}
}

func checkBudget(v *verdict, c *nexusv1.NexusAICapability) {
	b := c.Spec.Budget
	if b == nil {
		return
	}
	v.require(b.Monthly >= 1 && b.Monthly <= 1e9, budgetField+".monthly", "1 to 1000000000")
	v.optional(budgetField+".currency", b.Currency, 3, currencyPattern)
	oneOf(v, budgetField+".actions", b.Actions, "", nexusv1.BudgetNotify)
	v.require(len(b.Thresholds) <= maxThresholds, budgetField+".thresholds", "at most %d", maxThresholds)
	seen := map[string]bool{}
	for i, t := range b.Thresholds {
		at := entry(budgetField+".thresholds", i)
		v.require(t.Percent >= 1 && t.Percent <= 1000, at+".percent", "1 to 1000")
		oneOf(v, at+".costs", t.Costs, "", nexusv1.CostsActual, nexusv1.CostsForecasted)
		key := fmt.Sprintf("%d percent of %s costs", t.Percent, cmp.Or(t.Costs, nexusv1.CostsActual))
		v.require(!seen[key], at, "%s is there twice", key)
		seen[key] = true
	}
	v.require(len(b.Emails) <= maxEmails, budgetField+".emails", "at most %d", maxEmails)
	for i, email := range b.Emails {
		at := entry(budgetField+".emails", i)
		v.matches(at, string(email), maxEmailAddress, emailPattern)
		v.require(!seen[string(email)], at, "%q is there twice", email)
		seen[string(email)] = true
	}
	parts := v.parts.objectsByName(c)
	for _, name := range []string{budgetPurpose, budgetName(b)} {
		_, taken := parts[name]
		v.require(!taken, budgetField, "another part of the capability has the name %s: choose another name for it", name)
	}
}
