// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"slices"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// declarable are the classes that a spec can declare.
var declarable = []string{"STANDARD", "INFREQUENT_ACCESS", "DELIVERY"}

// exported declares a log group as it is, without a retention that is not set or that a policy of the account decides.
func exported(cr *v1alpha1.LogGroup, have GroupState) {
	out := &cr.Spec
	out.LogGroupClass = kind.Either(slices.Contains(declarable, *have.Class), have.Class, nil)
	if have.RetentionPolicy == "" && *have.Class != "DELIVERY" {
		out.RetentionInDays = kind.NonZero(have.Retention)
	}
	out.KMSKeyID, out.DeletionProtectionEnabled = kind.NonEmpty(have.KMSKey), have.DeletionProtection
}

// undeclarable names a class that no spec can declare.
func undeclarable(have GroupState) []string {
	if slices.Contains(declarable, *have.Class) {
		return nil
	}
	return []string{fmt.Sprintf("logGroupClass %s, which a LogGroup does not declare; the log group keeps it", *have.Class)}
}
