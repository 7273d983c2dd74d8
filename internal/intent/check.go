// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// CheckIntent validates a SecurityIntent: it returns a *status.Stalled that names the field, or nil.
func CheckIntent(i *v1alpha1.SecurityIntent) error {
	e, known := Lookup(i.Spec.Intent.ID)
	if !known {
		return &status.Stalled{Reason: ReasonUnknownIntent, Field: "spec.intent.id",
			Message: fmt.Sprintf("%q is not in the catalog of intents; docs/intents.md lists it", i.Spec.Intent.ID)}
	}
	params := map[string][]string{}
	for k, v := range i.Spec.Intent.Params {
		params[k] = v
	}
	if problem := e.Check(params); problem != "" {
		return &status.Stalled{Reason: ReasonInvalidParams, Field: "spec.intent", Message: problem}
	}
	return nil
}
