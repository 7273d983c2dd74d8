// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"

	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// failCapability is the check of a capability that does not run. It names the cause and the first command that helps.
func (v *verifier) failCapability(title, phase, message string) check.Result {
	see := inspect.ExplainCommand(v.subject)
	if v.cause == nil {
		return check.Fail(title, fmt.Sprintf("phase %s: %s", phase, message), see+" looks for the cause")
	}
	fix := see + " shows more"
	if len(v.cause.Commands) > 0 {
		fix = v.cause.Commands[0] + "; " + fix
	}
	return check.Fail(title, fmt.Sprintf("phase %s; the cause is %s", phase, inspect.CauseText(v.cause)), fix)
}

// consequence skips a check with a failure that follows from the cause that an earlier check names, so that one cause is one failure.
func (v *verifier) consequence(r check.Result) check.Result {
	if v.cause == nil || v.causeCheck == 0 || !r.Consequence {
		return r
	}
	skipped := check.Skip(r.Title, fmt.Sprintf("%s: this follows from check %d", r.Evidence, v.causeCheck))
	skipped.Cause = v.causeCheck
	return skipped
}
