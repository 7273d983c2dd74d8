// SPDX-License-Identifier: Apache-2.0

package ecr

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// lifecycleAs returns the wanted lifecycle policy where the one that ECR shows means the same: ECR answers with the rules in the order of
// their priorities, and the order of tags means nothing.
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
func lifecycleAs(want, have *string) *string {
	if want == nil || *want == *have {
		return have
	}
	w, isPolicy := orderedLifecycle(*want)
	h, isOther := orderedLifecycle(*have)
	return kind.Either(isPolicy && isOther && reflect.DeepEqual(w, h), want, have)
}

// orderedLifecycle returns a lifecycle policy in an order that is the same for all that mean the same.
func orderedLifecycle(text string) (policy map[string]any, ok bool) {
	if json.Unmarshal([]byte(text), &policy) != nil {
		return nil, false
	}
	rules, _ := policy["rules"].([]any)
	slices.SortStableFunc(rules, func(a, b any) int { return cmp.Compare(priorityOf(a), priorityOf(b)) })
	for _, rule := range rules {
		r, _ := rule.(map[string]any)
		selection, _ := r["selection"].(map[string]any)
		for _, name := range []string{"tagPrefixList", "tagPatternList"} {
			tags, _ := selection[name].([]any)
			if len(tags) == 0 {
				delete(selection, name)
			}
			slices.SortFunc(tags, func(a, b any) int { return cmp.Compare(textOf(a), textOf(b)) })
		}
	}
	return policy, true
}

func priorityOf(rule any) float64 {
	r, _ := rule.(map[string]any)
	n, _ := r["rulePriority"].(float64)
	return n
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
