// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"fmt"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// VersionNote reports whether a version that counts as the declared one runs; why says that AWS never downgrades the resource.
func VersionNote(asDeclared bool, declared, running, why string) kind.Note {
	if asDeclared {
		return kind.Note{Type: v1alpha1.ConditionVersionAsDeclared, Reason: status.ReasonReady, True: true, Message: "the declared version runs"}
	}
	return kind.Note{Type: v1alpha1.ConditionVersionAsDeclared, Reason: status.ReasonImmutable, Message: fmt.Sprintf(
		"version %s runs, which is later than the declared %s: %s; declare %s", running, declared, why, running)}
}
