// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestTheSampleCatalogOfPatchesIsValid(t *testing.T) {
	text, err := os.ReadFile("../../examples/catalogs/virtual-patches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		t.Fatal(err)
	}
	known, err := intent.ParsePatches(c.Data["patches.yaml"])
	if err != nil || len(known) != 3 || len(known["CVE-2021-44228"].Processes) != 4 {
		t.Errorf("%v %v", known, err)
	}
}

func TestACatalogWithAMistakeIsRefused(t *testing.T) {
	const good = `{version: 1, patches: [{cve: CVE-2021-4034, references: ["https://example.com"], processes: [{path: /usr/bin/pkexec}]}]}`
	if _, err := intent.ParsePatches(good); err != nil {
		t.Fatal(err)
	}
	for problem, change := range map[string][2]string{
		"version is 2":           {"version: 1", "version: 2"},
		"is not a CVE":           {"CVE-2021-4034", "PwnKit"},
		"at least one public":    {`references: ["https://example.com"], `, ""},
		"start with https":       {"https://", "http://"},
		"0 paths":                {`processes: [{path: /usr/bin/pkexec}]`, "processes: []"},
		"absolute path":          {"/usr/bin/pkexec", "pkexec"},
		"without patterns":       {"/usr/bin/pkexec", "/usr/bin/*"},
		"unknown field":          {"processes", "procs"},
		"CVE-2021-4034 is there": {"]}]}", `]}, {cve: CVE-2021-4034, references: ["https://a.b"], files: [{path: /a/}]}]}`},
	} {
		if _, err := intent.ParsePatches(strings.Replace(good, change[0], change[1], 1)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", problem, err)
		}
	}
}
