// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/validate"
)

func TestValidate_JSONHasAVerdictForEachObject(t *testing.T) {
	path := file(t, "apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a, namespace: b}\nspec: {version: 1}\n---\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
	out, errs, code := run(t, "validate", "-f", path, "-o", "json")
	var v validate.Validation
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 2 || v.Valid || len(v.Objects) != 2 ||
		!strings.Contains(errs, "1 of 2 objects are invalid") {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	capability, foreign := v.Objects[0], v.Objects[1]
	if capability.Valid || !capability.Checked || capability.Namespace != "b" ||
		!strings.Contains(strings.Join(capability.Problems, "\n"), "spec.version: ") {
		t.Errorf("%+v", capability)
	}
	if !foreign.Valid || foreign.Checked || len(foreign.Problems) > 0 {
		t.Errorf("%+v", foreign)
	}
	out, _, code = run(t, "validate", "-f", file(t, "kind: A\nkind: B\n"), "-o", "json")
	v = validate.Validation{}
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 2 || v.Valid || len(v.Files) != 1 ||
		!strings.Contains(v.Files[0].Problems[0], `key "kind" is set twice`) {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
	if out, _, code := run(t, "validate", "-f", capabilityFile, "-o", "json"); code != 0 || !strings.Contains(out, `"valid": true`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
