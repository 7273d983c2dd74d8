// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// completed asks for a completion as the script of a shell does, without a cluster.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	out, errs, code := run(t, append([]string{cobra.ShellCompRequestCmd}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || !strings.HasPrefix(lines[len(lines)-1], ":") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	return lines[:len(lines)-1]
}

func TestCompletion_WithoutAClusterKnowsWordsAndKinds(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // of all completions
	}{
		"kinds":            {[]string{"tree", "s3"}, "s3bucket/"},
		"kinds of objects": {[]string{"plan", "securityintent"}, "securityintent/ securityintentbinding/"},
		"codes": {[]string{"explain", "NX-IAM-00"},
			"NX-IAM-001 NX-IAM-002 NX-IAM-003 NX-IAM-004 NX-IAM-005 NX-IAM-006 NX-IAM-007 NX-IAM-008 NX-IAM-009"},
		"kinds of an import":  {[]string{"import", "kms"}, "kmskey/"},
		"components":          {[]string{"build", "app", ""}, "backend frontend"},
		"formats":             {[]string{"plan", "-o", ""}, "text wide markdown json yaml"},
		"objects":             {[]string{"explain", "s3bucket/"}, ""},
		"capabilities":        {[]string{"monitor", ""}, ""},
		"namespaces":          {[]string{"tree", "--namespace", ""}, ""},
		"contexts":            {[]string{"tree", "--context", ""}, ""},
		"one object is there": {[]string{"tree", "s3bucket/a", "s3"}, ""},
		"several are allowed": {[]string{"status", "s3bucket/a", "s3"}, "s3bucket/"},
	} {
		if got := completed(t, tc.args...); strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
