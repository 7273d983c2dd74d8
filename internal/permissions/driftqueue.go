// SPDX-License-Identifier: Apache-2.0

package permissions

import "github.com/nexus-operator/nexus-operator/internal/iampolicy"

// queueReads are the rights to read a queue of drift events.
var queueReads = []string{"sqs:ReceiveMessage", "sqs:DeleteMessage"}

// DriftQueueReader returns the rights of the identity that reads a queue of drift events.
func DriftQueueReader(queueARN string) iampolicy.Document {
	return iampolicy.New(iampolicy.Statement{Effect: iampolicy.Allow, Action: queueReads, Resource: []string{queueARN}})
}

// allowDriftEvents adds the rights to make and to remove the queue and the rules of drift events.
func (g *grants) allowDriftEvents(scope Scope) {
	if scope.DriftQueue == "" {
		return
	}
	g.allow(target{resources: scope.arns("sqs", scope.DriftQueue)}, "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:GetQueueAttributes",
		"sqs:GetQueueUrl", "sqs:ListQueueTags",
		"sqs:SetQueueAttributes", "sqs:TagQueue")
	g.allow(target{resources: scope.arns("events", "rule/"+scope.DriftQueue+"*")}, "events:DeleteRule", "events:DescribeRule",
		"events:ListTagsForResource", "events:ListTargetsByRule",
		"events:PutRule", "events:PutTargets", "events:RemoveTargets", "events:TagResource")
}
