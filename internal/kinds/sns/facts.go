// SPDX-License-Identifier: Apache-2.0

package sns

import "github.com/nexus-operator/nexus-operator/internal/kind"

// topicFacts declares what other packages know about an SNSTopic.
func topicFacts() kind.Facts {
	return kind.Facts{
		Schemas: kind.Schemas{
			Types: []string{"AWS::SNS::Topic", "AWS::SNS::Subscription"},
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
