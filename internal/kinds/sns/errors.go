// SPDX-License-Identifier: Apache-2.0

package sns

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/sns/latest/api
var awsServices = []kind.ServiceFacts{
	{
		Service: "sns",
		Rows: []kind.ErrorRow{
			{Code: "NotFound|ResourceNotFound", Class: awsclient.NotFound},
			{Code: "InvalidParameter", Message: "principalnotfound", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "InvalidParameter", Message: "already exists", Class: awsclient.Exists},
			{Code: "TopicLimitExceeded|SubscriptionLimitExceeded", Class: awsclient.Limit},
			{Code: "FilterPolicyLimitExceeded|ReplayLimitExceeded", Class: awsclient.Limit},
			// "A tag has been added to a resource with the same ARN as a deleted resource. Wait a short while and then retry the operation."
			{Code: "StaleTag", Class: awsclient.Transient},
			{Code: "InvalidState|TagPolicy", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "GetTopicAttributes", Code: "NotFound", Message: "Topic does not exist", Status: 404, Class: awsclient.NotFound},
			{Operation: "CreateTopic", Code: "InvalidParameter",
				Message: "Invalid parameter: Attributes Reason: Topic already exists with different attributes", Status: 400,
				Class: awsclient.Exists},
			{Operation: "CreateTopic", Code: "TopicLimitExceeded", Status: 403, Class: awsclient.Limit},
			{Operation: "CreateTopic", Code: "AuthorizationError", Status: 403, Class: awsclient.Denied},
			{Operation: "Subscribe", Code: "FilterPolicyLimitExceeded", Status: 403, Class: awsclient.Limit},
			{Operation: "TagResource", Code: "StaleTag", Status: 400, Class: awsclient.Transient},
			{Operation: "TagResource", Code: "TagPolicy", Status: 400, Class: awsclient.Invalid},
			{Operation: "SetTopicAttributes", Code: "InvalidParameter", Message: "Invalid parameter: Policy Error: PrincipalNotFound",
				Status: 400, Class: awsclient.Propagating},
		},
	},
}
