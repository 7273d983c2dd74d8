// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UnprovenLook is the interval of repeated checks while approvals are not protected, and so prove no right to approve.
const UnprovenLook = time.Minute

const pendingPrefix, pendingSuffix = "plan ", " waits for an approval"

// PendingMessage returns the message of the condition PlanApproved while a plan waits.
func PendingMessage(hash string) string { return pendingPrefix + hash + pendingSuffix }

// PendingPlan returns the hash of the plan that waits for an approval according to the conditions of an object; empty for none.
func PendingPlan(conditions []metav1.Condition) string {
	c := meta.FindStatusCondition(conditions, PlanApproved)
	if c == nil || c.Status != metav1.ConditionFalse {
		return ""
	}
	hash, _, _ := strings.Cut(strings.TrimPrefix(c.Message, pendingPrefix), " ")
	return hash
}
