// SPDX-License-Identifier: Apache-2.0

package sns

import (
	"encoding/json"
	"maps"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// deliveryDefaults are the members that SNS adds to a delivery policy that leaves them out.
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
var deliveryDefaults = map[string]any{
	"minDelayTarget": 20.0, "maxDelayTarget": 20.0, "numRetries": 3.0, "numMaxDelayRetries": 0.0, "numNoDelayRetries": 0.0, "numMinDelayRetries": 0.0,
	"backoffFunction": "linear", "disableSubscriptionOverrides": false, "headerContentType": "text/plain; charset=UTF-8",
}

// deliveryAs returns want if SNS answers with the same delivery policy, filled in; otherwise have.
func deliveryAs(want, have *string) *string {
	w, h := deliveryIn(want), deliveryIn(have)
	if w != nil && h != nil && reflect.DeepEqual(withoutDefaults(w), withoutDefaults(h)) {
		return want
	}
	return have
}

// deliveryIn returns nil for a text that is no JSON object.
func deliveryIn(policy *string) (out map[string]any) {
	if json.Unmarshal([]byte(aws.ToString(policy)), &out) != nil {
		return nil
	}
	return out
}

// withoutDefaults removes the members that have their defaults, and objects without any other.
func withoutDefaults(policy map[string]any) map[string]any {
	out := maps.Clone(policy)
	for name, value := range policy {
		nested, isObject := value.(map[string]any)
		if isObject {
			nested = withoutDefaults(nested)
			out[name] = nested
		}
		if fallback, ok := deliveryDefaults[name]; value == nil || isObject && len(nested) == 0 || ok && reflect.DeepEqual(value, fallback) {
			delete(out, name)
		}
	}
	return out
}
