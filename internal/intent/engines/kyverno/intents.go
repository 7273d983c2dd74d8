// SPDX-License-Identifier: Apache-2.0

package kyverno

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// answer holds the part of a Kyverno policy for an intent that does not depend on the selected pods.
type answer struct {
	claim intent.Claim
	// rule is the policy's only one; none makes no object.
	rule map[string]any
	// spec adds to that of the policy, annotations to its annotations.
	spec        map[string]any
	annotations map[string]string
	// operations that the rule is for; none are all.
	operations []string
}

func answerTo(id string) func(intent.Rule) answer {
	switch id {
	case "escapeToHost":
		return escapeToHost
	case "cocoWorkload":
		return cocoWorkload
	default:
		return nil
	}
}

// escapeToHost holds pods to a Pod Security Standard.
func escapeToHost(r intent.Rule) answer {
	action := "Enforce"
	if r.Audit() {
		action = "Audit"
	}
	claim := intent.Enforces(r)
	if !r.Audit() {
		claim = intent.Partly(r, intent.ReasonOnCreateOnly,
			"only pods created from now on are held: those that run already are reported (kubectl get policyreports), so restart their workloads")
	}
	return answer{
		claim: claim,
		rule: map[string]any{
			"name":     "pod-security-standard",
			"validate": map[string]any{"podSecurity": map[string]any{"level": r.Param("psaLevel", "baseline"), "version": "latest"}},
		},
		// Deprecated since Kyverno 1.13 in favor of failureAction of the rule, which earlier releases refuse. All releases that
		// serve kyverno.io/v1 take it, and those that do not serve it get policies in CEL.
		// https://github.com/kyverno/kyverno/blob/010dfe540ffabf21277c0ca3eaade493ba035518/api/kyverno/v1/spec_types.go
		spec: map[string]any{"validationFailureAction": action},
	}
}

// cocoWorkload gives pods a runtime class when they are created, and only then: the field cannot change afterwards, and every other change
// to a pod that lacks it would be refused. Kyverno would extend the rule to the templates of controllers, and so change manifests that
// other owners keep in Git; the annotation prevents that.
func cocoWorkload(r intent.Rule) answer {
	if r.Audit() {
		return answer{claim: intent.Not(r, intent.ReasonAuditUnsupported,
			"Kyverno gives pods a runtime class or leaves them alone: there is nothing that only reports")}
	}
	class := r.Param("runtimeClass", "kata-clh")
	return answer{
		claim: intent.Partly(r, intent.ReasonOnCreateOnly,
			fmt.Sprintf("only pods created from now on run in RuntimeClass %s: restart the workloads that run already", class)),
		rule: map[string]any{
			"name":   "runtime-class",
			"mutate": map[string]any{"patchStrategicMerge": map[string]any{"spec": map[string]any{"runtimeClassName": class}}},
		},
		annotations: map[string]string{"pod-policies.kyverno.io/autogen-controllers": "none"},
		operations:  []string{"CREATE"},
	}
}

func list(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
