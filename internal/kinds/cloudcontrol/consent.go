// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// guardedServices have types that give rights, or change how an account is managed.
var guardedServices = []string{"IAM", "Organizations", "SSO", "CloudFormation", "IdentityStore", "RolesAnywhere"}

// isGuarded reports whether only the exact name of a type allows it: the type gives rights, or is that of a policy of a resource.
func isGuarded(typeName string) bool {
	parts := strings.Split(typeName, "::")
	return len(parts) == 3 && (slices.Contains(guardedServices, parts[1]) || strings.HasSuffix(parts[2], "Policy") || strings.HasSuffix(parts[2], "Permission"))
}

// allows reports whether one of the patterns allows a type.
func allows(patterns []string, typeName string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		service, isPattern := strings.CutSuffix(pattern, "*")
		return pattern == typeName || isPattern && strings.HasPrefix(typeName, service) && !isGuarded(typeName)
	})
}

// checkConsent refuses a type that no administrator allows. The rules of a plan without the settings of the operator are not known.
func checkConsent(allowed *kind.AllowedTypes, typeName string) error {
	if allowed == nil {
		return nil
	}
	switch typed := allowed.Kinds[typeName]; {
	case typed != "" && !slices.Contains(allowed.Operator, typeName):
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.typeName", Message: "resources of type " + typeName + " are managed by kind " + typed +
			": create an object of that kind, or have an administrator name the type in --types of the operator"}
	case !allows(allowed.Operator, typeName):
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.typeName", Message: "no administrator allows resources of type " + typeName +
			": have one add the type to --types of the operator (value types of the chart)" + kind.Either(isGuarded(typeName), ", by its exact name", "")}
	case len(allowed.Provider) > 0 && !allows(allowed.Provider, typeName):
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.typeName", Message: "the provider does not allow resources of type " + typeName +
			": add the type to spec.types of the AWSProvider, or use another provider" + kind.Either(isGuarded(typeName), "; only its exact name allows it", "")}
	default:
		return nil
	}
}
