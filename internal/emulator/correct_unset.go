// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"net/http"
)

// unset are AWS's answers about settings that nobody made and that moto does not know, by service and operation.
var unset = map[string]string{
	"dynamodb DescribeContributorInsights":         `{"ContributorInsightsStatus": "DISABLED"}`,
	"dynamodb DescribeKinesisStreamingDestination": `{"KinesisDataStreamDestinations": []}`,
	"sns GetDataProtectionPolicy":                  `<GetDataProtectionPolicyResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><GetDataProtectionPolicyResult/></GetDataProtectionPolicyResponse>`,
	"lambda ListFunctionUrlConfigs":                `{"FunctionUrlConfigs": []}`,
	"lambda ListProvisionedConcurrencyConfigs":     `{"ProvisionedConcurrencyConfigs": []}`,
	"lambda GetFunctionRecursionConfig":            `{"RecursiveLoop": "Terminate"}`,
	"lambda GetRuntimeManagementConfig":            `{"UpdateRuntimeOn": "Auto"}`,
	"cognito-idp GetLogDeliveryConfiguration":      `{}`,
}

// showUnset answers for reads of settings that moto does not know.
func showUnset(_ context.Context, _ *Proxy, x *exchange) *answer {
	if x.service == "s3" && x.op == "GetBucketMetadataConfiguration" {
		return errorAnswer(x.request, awsError{http.StatusNotFound, "MetadataConfigurationNotFound", "The metadata configuration does not exist"})
	}
	body, known := unset[x.service+" "+x.op]
	if !known {
		return nil
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {contentTypeOf(body)}}, []byte(body)}
}

func contentTypeOf(body string) string {
	if body[0] == '<' {
		return "text/xml"
	}
	return "application/json"
}

// showCredits: moto gives all instances the standard option. Those of the types that the suite uses begin with the unlimited one.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode-concepts.html
func showCredits(_ context.Context, _ *Proxy, _ *exchange, a *answer) *answer {
	a.body = bytes.ReplaceAll(a.body, []byte("<cpuCredits>standard</cpuCredits>"), []byte("<cpuCredits>unlimited</cpuCredits>"))
	return a
}
