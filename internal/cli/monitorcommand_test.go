// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

func TestMonitor_RefusesMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"format":          {[]string{"-o", "yaml"}, 2, `--output: "yaml"`},
		"end":             {[]string{"--wait-for", "pizza"}, 2, `--wait-for: "pizza"`},
		"no time":         {[]string{"--timeout", "0s"}, 2, "--timeout: 0s"},
		"two names":       {[]string{"a/b", "c/d"}, 2, "at most 1 arg"},
		"no name":         {[]string{"a/"}, 2, `"a/" names no capability`},
		"two namespaces":  {[]string{"a/b", "-n", "c"}, 2, "contradict each other"},
		"no cluster":      {[]string{"a/b", "--kubeconfig", "nowhere"}, 4, "nowhere"},
		"no cluster, any": {nil, 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := run(t, append([]string{"monitor"}, tc.args...)...)
			if code != tc.code || out != "" || errs == "" || !strings.Contains(errs, tc.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q, want %d and %q", code, out, errs, tc.code, tc.want)
			}
		})
	}
	if out, _, code := run(t, "monitor", "--help"); code != 0 || !strings.Contains(out, "Examples:\n  nexusctl monitor") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestVerify_RefusesMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"format":     {[]string{"-o", "xml"}, 2, `--output: "xml"`},
		"group":      {[]string{"--only", "resources,pizza"}, 2, `--only: "pizza" is none of capability, resources`},
		"no time":    {[]string{"--timeout", "-1s"}, 2, "--timeout: -1s"},
		"two names":  {[]string{"a/b", "c/d"}, 2, "at most 1 arg"},
		"no name":    {[]string{"a/b/c"}, 2, `"a/b/c" names no capability`},
		"no cluster": {[]string{"ncap/b", "--kubeconfig", "nowhere"}, 4, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"verify-capability", "verify"} {
				out, errs, code := run(t, append([]string{verb}, tc.args...)...)
				if code != tc.code || out != "" || !strings.Contains(errs, tc.want) {
					t.Errorf("%s: exit code %d, stdout %q, stderr %q, want %d and %q", verb, code, out, errs, tc.code, tc.want)
				}
			}
		})
	}
	if out, _, code := run(t, "verify-capability", "--help"); code != 0 || !strings.Contains(out, "Examples:\n  nexusctl verify-capability") ||
		!strings.Contains(out, "  policies    the security intents") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
