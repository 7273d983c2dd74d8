// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// identifiersIn returns the texts that may be the identifier of the resource that an ARN names.
func identifiersIn(arn string) []string {
	out := []string{arn}
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		out = append(out, parts[5][strings.LastIndexAny(parts[5], "/:")+1:])
	}
	return out
}

// arnOf returns the ARN among the properties of a resource; empty where it has none.
func arnOf(f *found) string {
	if strings.HasPrefix(f.identifier, "arn:") {
		return f.identifier
	}
	for _, name := range slices.Sorted(maps.Keys(f.properties)) {
		lower := strings.ToLower(name)
		text, _ := f.properties[name].(string)
		if (lower == "arn" || strings.HasSuffix(lower, "arn") && strings.HasSuffix(text, f.identifier)) && strings.HasPrefix(text, "arn:") {
			return text
		}
	}
	return ""
}

// maxPublished limits the properties in the status, in bytes.
const maxPublished = 4 << 10

// publishedProperties returns as many of the properties as fit into the status, in the order of their names; nil for none.
func publishedProperties(assigned map[string]any) *runtime.RawExtension {
	out, size := map[string]any{}, 0
	for _, name := range slices.Sorted(maps.Keys(assigned)) {
		text, err := json.Marshal(assigned[name])
		if n := len(name) + len(text) + 4; err == nil && size+n <= maxPublished {
			out[name], size = assigned[name], size+n
		}
	}
	if len(out) == 0 {
		return nil
	}
	text, _ := json.Marshal(out) // it was read as JSON
	return &runtime.RawExtension{Raw: text}
}
