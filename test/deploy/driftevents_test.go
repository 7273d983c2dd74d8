// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
)

// events runs a verb below drift-events, with the ledger in a namespace that every cluster has.
func (x *person) events(args ...string) nexusctl.Answer {
	x.Helper()
	return x.runs(append([]string{"drift-events", "--operator-namespace", "default"}, args...)...)
}

// leftOfEvents are the names of all queues and rules.
func (x *person) leftOfEvents() string {
	x.Helper()
	queues, err := sqs.NewFromConfig(x.config()).ListQueues(x.Ctx(), &sqs.ListQueuesInput{})
	if err != nil {
		x.Fatal(err)
	}
	rules, err := eventbridge.NewFromConfig(x.config()).ListRules(x.Ctx(), &eventbridge.ListRulesInput{})
	if err != nil {
		x.Fatal(err)
	}
	names := queues.QueueUrls
	for _, r := range rules.Rules {
		names = append(names, aws.ToString(r.Name))
	}
	return strings.Join(names, " ")
}

// The life of the queue and its rules: a dry run, a run that fails in the middle, the rest, a second run that writes nothing, a repair
// and the removal, all with the rights that the installer's policy has.
func TestDriftEvents_AreInstalledOnceAndRemovedWhole(t *testing.T) {
	x := newPerson(t)
	start := x.World.AWS().Mark()
	x.wants(x.events("install", "--dry-run"), 0, "would: create the queue of drift events", "would: create the rule", "sqs:ReceiveMessage",
		"--drift-events-queue=https://sqs.ap-southeast-1.amazonaws.com/"+account+"/nexus-drift-events")
	if w := x.writes(start); len(w) > 0 || x.leftOfEvents() != "" {
		t.Errorf("a dry run wrote %v, %s", w, x.leftOfEvents())
	}
	x.wants(x.events("uninstall", "--yes"), 4, "records no queue or rule named nexus-drift-events")

	x.World.AWS().Fault(emulator.Match{Service: "events", Op: "PutTargets"},
		emulator.Fail(400, "AccessDeniedException",
			"User: arn:aws:iam::"+account+":user/x is not authorized to perform: events:PutTargets on resource: arn:aws:events:ap-southeast-1:"+
				account+":rule/nexus-drift-events"))
	x.wants(x.events("install"), 4, "events:PutTargets", "2 of 5 changes were made", "run the command again")
	x.World.AWS().ClearFaults()
	x.wants(x.events("status"), 0, "rule/nexus-drift-events, ENABLED, does not send to the queue yet",
		"rule/nexus-drift-events-heartbeat, Missing")
	x.wants(x.events("install"), 0, "will: send its events to arn:aws:sqs:ap-southeast-1:"+account+":nexus-drift-events")

	mark := x.World.AWS().Mark()
	x.wants(x.events("install"), 0, "The queue and the rules are as they should be.")
	x.wants(x.events("status"), 0, "0 messages wait", "rule/nexus-drift-events-heartbeat, ENABLED, sends to the queue")
	if w := x.writes(mark); len(w) > 0 {
		t.Errorf("a second run wrote %v", w)
	}
	x.repairsDriftEvents()

	x.wants(x.events("uninstall"), 2, "add --yes")
	x.wants(x.events("uninstall", "--dry-run"), 0, "would: delete the rule with its targets", "would: delete the queue of drift events")
	x.wants(x.events("uninstall", "--yes"), 0, "The queue and the rules of drift events were removed.")
	x.usesOnlyTheRightsOfInstallers(start)
	if left := x.leftOfEvents(); left != "" {
		t.Errorf("left: %s", left)
	}
	x.wants(x.events("uninstall", "--yes"), 4, "records no queue or rule named nexus-drift-events")
}

// repairsDriftEvents has a person open the queue to everyone and switch a rule off. The command shows both and sets them right.
func (x *person) repairsDriftEvents() {
	x.Helper()
	queues, rules := sqs.NewFromConfig(x.config()), eventbridge.NewFromConfig(x.config())
	at, err := queues.GetQueueUrl(x.Ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String("nexus-drift-events")})
	if err != nil {
		x.Fatal(err)
	}
	open := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}]}`
	if _, err := queues.SetQueueAttributes(x.Ctx(),
		&sqs.SetQueueAttributesInput{QueueUrl: at.QueueUrl, Attributes: map[string]string{"Policy": open}}); err != nil {
		x.Fatal(err)
	}
	if _, err := rules.DisableRule(x.Ctx(), &eventbridge.DisableRuleInput{Name: aws.String("nexus-drift-events-heartbeat")}); err != nil {
		x.Fatal(err)
	}
	x.wants(x.events("install"), 0, "will: set the attributes of the queue of drift events", "will: set the rule", "-state: DISABLED",
		"+state: ENABLED")
	x.wants(x.events("install"), 0, "The queue and the rules are as they should be.")
}

// A queue or a rule that nexusctl did not make is neither changed nor removed.
func TestDriftEvents_LeaveTheQueueOfOthers(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	queues, rules := sqs.NewFromConfig(x.config()), eventbridge.NewFromConfig(x.config())
	out, err := queues.CreateQueue(x.Ctx(), &sqs.CreateQueueInput{QueueName: aws.String("nexus-drift-events")})
	if err != nil {
		t.Fatal(err)
	}
	mark := x.World.AWS().Mark()
	x.wants(x.events("install"), 4,
		"arn:aws:sqs:ap-southeast-1:"+account+":nexus-drift-events exists and was not created by nexusctl for this cluster", "--name")
	if _, err := queues.DeleteQueue(x.Ctx(), &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
		t.Fatal(err)
	}
	rule := aws.String("nexus-drift-events-heartbeat")
	if _, err := rules.PutRule(x.Ctx(), &eventbridge.PutRuleInput{Name: rule, ScheduleExpression: aws.String("rate(1 hour)")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = rules.DeleteRule(context.Background(), &eventbridge.DeleteRuleInput{Name: rule}) })
	x.wants(x.events("install"), 4, "rule/nexus-drift-events-heartbeat exists and was not created by nexusctl for this cluster")
	if w := x.writes(mark); len(w) > 0 {
		t.Errorf("the refused runs wrote %v", w)
	}
}
