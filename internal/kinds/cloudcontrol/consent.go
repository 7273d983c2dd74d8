// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// checkConsent refuses a type that no administrator allows. The rules of a plan without the settings of the operator are not known.
func checkConsent(allowed *kind.AllowedTypes, typeName string) error {
	if allowed == nil {
		return nil
	}
	switch typed := allowed.Kinds[typeName]; {
	case typed != "" && !slices.Contains(allowed.Operator, typeName):
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.typeName", Message: "resources of type " + typeName + " are managed by kind " + typed +
			": create an object of that kind, or have an administrator name the type in --types of the operator"}
	case !kind.AllowsType(allowed.Operator, typeName):
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.typeName", Message: "no administrator allows resources of type " + typeName +
			": have one add the type to --types of the operator (value types of the chart)" + kind.Either(kind.IsGuardedType(typeName), ", by its exact name", "")}
	case len(allowed.Provider) > 0 && !kind.AllowsType(allowed.Provider, typeName):
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.typeName", Message: "the provider does not allow resources of type " + typeName +
			": add the type to spec.types of the AWSProvider, or use another provider" + kind.Either(kind.IsGuardedType(typeName), "; only its exact name allows it", "")}
	default:
		return nil
	}
}
