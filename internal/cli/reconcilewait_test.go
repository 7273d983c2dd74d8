// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReconcileWait_SaysWhyACheckTakesLonger(t *testing.T) {
	ready := func(s metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: "Ready", Status: s, Reason: reason, Message: message}
	}
	trying := metav1.Condition{Type: "Reconciling", Status: metav1.ConditionTrue, Reason: "Throttled", Message: "AWS throttles s3:PutBucketPolicy"}
	for want, conditions := range map[string][]metav1.Condition{
		"": {ready(metav1.ConditionTrue, "Ready", "the AWS resource exists and is as declared")},
		" (Retrying: eks:DescribeCluster failed)":        {ready(metav1.ConditionFalse, "Retrying", "eks:DescribeCluster failed"), trying},
		" (Throttled: AWS throttles s3:PutBucketPolicy)": {ready(metav1.ConditionTrue, "Ready", "as declared"), trying},
		" (Waiting)": {ready(metav1.ConditionFalse, "Waiting", "")},
	} {
		if got := reasonOfDelay(conditions); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
