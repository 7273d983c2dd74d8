// SPDX-License-Identifier: Apache-2.0

package sns

import "github.com/nexus-operator/nexus-operator/internal/kind"

// topicFacts returns the facts about an SNSTopic that other packages use.
func topicFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{Kept: "messages whose delivery is tried again stay encrypted with the key that they were published with"},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "sns:Unsubscribe sns:*SubscriptionAttributes"},
				{Actions: "sns:*", On: []string{"${Name}"}},
			},
			// The role of a stream's subscription.
			Passes: []kind.Pass{{For: "sns:Subscribe sns:SetSubscriptionAttributes", To: "sns.amazonaws.com"}},
		},
		Services: awsServices,
		NotSettings: []string{
			"Attributes[ConfirmationWasAuthenticated]", "Attributes[EffectiveDeliveryPolicy]", "Attributes[Endpoint]",
			"Attributes[FifoTopic]", "Attributes[Owner]", "Attributes[PendingConfirmation]", "Attributes[Protocol]",
			"Attributes[RawMessageDelivery]=false", "Attributes[SubscriptionArn]", "Attributes[SubscriptionPrincipal]",
			"Attributes[SubscriptionsConfirmed]", "Attributes[SubscriptionsDeleted]", "Attributes[SubscriptionsPending]",
			"Attributes[TopicArn]", "Attributes[TracingConfig]=PassThrough", "Attributes[EffectiveDeliveryPolicy]",
			"Subscriptions.Owner", "Subscriptions.TopicArn", "Attributes[BeginningArchiveTime]",
		},
		Reach: kind.Everywhere,
		OneValue: map[string]string{
			"KMSMasterKeyRef": kind.AsItsTarget,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::SNS::Topic", "AWS::SNS::Subscription"},
			Properties: map[string]map[string]string{
				"AWS::SNS::Topic": {
					"ArchivePolicy DeliveryStatusLogging FifoThroughputScope MaximumMessageSize SignatureVersion": kind.IsInAnswer,
					"Subscription": "as subscriptions",
				},
				"AWS::SNS::Subscription": {
					"RedrivePolicy":   "as deadLetterQueueRef",
					"Region TopicArn": kind.IsParent,
					"ReplayPolicy":    kind.IsInAnswer,
				},
			},
			Unneeded: map[string]string{
				"sns:*DataProtectionPolicy": "there is no field for data protection",
			},
		},
		ARN: kind.ARNForm{
			Service: "sns",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_sns_topic",
			Identity: []string{"name"},
			Parts: []string{
				"aws_sns_topic_policy",
				"aws_sns_topic_subscription",
			},
		},
	}
}
