// SPDX-License-Identifier: Apache-2.0

package enact

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestNotEstablished_WaitsForADefinition(t *testing.T) {
	established := func(value string) any {
		return []any{map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": value}}
	}
	for name, c := range map[string]struct {
		conditions any
		waits      bool
	}{
		"null, as the API server shows a new one": {nil, true},
		"none":            {[]any{}, true},
		"not established": {established("False"), true},
		"established":     {established("True"), false},
	} {
		waits, err := NotEstablished(&unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": c.conditions}}})
		if err != nil || (waits != "") != c.waits {
			t.Errorf("%s: %q, %v", name, waits, err)
		}
	}
	if waits, err := NotEstablished(&unstructured.Unstructured{Object: map[string]any{}}); err != nil || waits == "" {
		t.Errorf("without a status: %q, %v", waits, err)
	}
}
