package engine

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SameDocument says whether two IAM policy documents mean the same. AWS returns them in another form
// than they were sent: single values for lists of one and back, lists in another order, and
// a principal "123456789012" as arn:aws:iam::123456789012:root.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
func SameDocument(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(normalise("", x), normalise("", y))
}

// unordered are the elements of a statement whose lists are sets.
var unordered = []string{"Action", "NotAction", "Resource", "NotResource", "AWS", "Service", "Federated", "CanonicalUser"}

var accountRoot = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):root$`)

func normalise(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = normalise(below(key, k), e)
		}
		return out
	case []any:
		return normaliseList(key, v)
	case string:
		if m := accountRoot.FindStringSubmatch(v); m != nil && key == "AWS" {
			return m[1]
		}
		return v
	case bool:
		// Condition values are strings to AWS: {"Bool": {"aws:SecureTransport": false}} comes back quoted.
		if inCondition(key) {
			return strconv.FormatBool(v)
		}
		return v
	default:
		return v
	}
}

// below is the key of an element of a map: everything below a Condition stays marked as such.
func below(parent, key string) string {
	if parent == "Condition" || inCondition(parent) {
		return conditionKey + key
	}
	return key
}

func inCondition(key string) bool { return strings.HasPrefix(key, conditionKey) }

// conditionKey marks everything below a Condition, where every list is a set.
const conditionKey = "Condition/"

func normaliseList(key string, v []any) any {
	out := make([]any, len(v))
	for i, e := range v {
		out[i] = normalise(key, e)
	}
	if slices.Contains(unordered, key) || inCondition(key) {
		slices.SortFunc(out, func(a, b any) int {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return strings.Compare(string(x), string(y))
		})
		out = slices.CompactFunc(out, reflect.DeepEqual)
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}
