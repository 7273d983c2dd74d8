// SPDX-License-Identifier: Apache-2.0

package promtool

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	rulesFile = "charts/nexus-operator/files/alerts/rules.yaml"
	testsFile = "testdata/alerts_test.yaml"
	runbook   = "docs/operations.md"
)

// tools is the folder of promtool.
var tools string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if tools, err = os.MkdirTemp("", "nexus-promtool-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(tools)
	return m.Run()
}

// built builds the pinned promtool once, with the flags of all tests. The tag leaves out service discovery, and with it the
// clients of every cloud; the others are those of the Makefile.
var built = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(tools, "promtool")
	cmd := exec.Command("go", "build", "-tags=remove_all_sd,grpcnotrace,kustomize_disable_go_plugin_support", "-ldflags=-s -w", "-o", binary,
		"github.com/prometheus/prometheus/cmd/promtool")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building promtool: %w\n%s", err, out)
	}
	return binary, nil
})

// promtool runs promtool in a folder.
func promtool(t *testing.T, folder string, args ...string) (string, error) {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// workspace returns a folder with the rules, changed by edit, and their tests.
func workspace(t *testing.T, edit func(string) string) string {
	t.Helper()
	folder := t.TempDir()
	for from, to := range map[string]string{filepath.Join(root, rulesFile): "rules.yaml", testsFile: "alerts_test.yaml"} {
		text := read(t, from)
		if to == "rules.yaml" {
			text = edit(text)
		}
		if err := os.WriteFile(filepath.Join(folder, to), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func unchanged(text string) string { return text }

func TestAlerts_PassPromtool(t *testing.T) {
	folder := workspace(t, unchanged)
	for _, args := range [][]string{{"check", "rules", "--lint-fatal", "--lint=all", "rules.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		if out, err := promtool(t, folder, args...); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}

// Each alert's tests must notice when its expression is never true, and when it is always true. All alerts are broken at once:
// promtool reports every case that fails with its alert, and no alert asks for another one.
func TestAlerts_TestsNoticeABrokenExpression(t *testing.T) {
	for _, broken := range []string{"vector(1) > 2", "vector(1)"} {
		out, err := promtool(t, workspace(t, func(text string) string { return withExpression(t, text, broken) }), "test", "rules",
			"alerts_test.yaml")
		if err == nil {
			t.Errorf("every expression is %q, and the tests pass", broken)
		}
		for _, rule := range alerts(t) {
			if strings.Contains(rule.Expr, "ALERTS") {
				t.Errorf("%s asks for other alerts: break it alone", rule.Alert)
			}
			if !strings.Contains(out, "alertname: "+rule.Alert+",") {
				t.Errorf("%s as %q: its cases pass\n%s", rule.Alert, broken, out)
			}
		}
	}
}

// withExpression replaces the expression and the delay of every alert.
func withExpression(t *testing.T, text, expression string) string {
	t.Helper()
	file := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file["groups"].([]any) {
		for _, r := range group.(map[string]any)["rules"].([]any) {
			rule := r.(map[string]any)
			rule["expr"] = expression
			delete(rule, "for")
		}
	}
	out, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(filepath.Join(root, rulesFile), false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []rulefmt.Rule
	for _, g := range groups.Groups {
		out = append(out, g.Rules...)
	}
	if len(out) < 10 {
		t.Fatalf("only %d alerts", len(out))
	}
	return out
}

func TestAlerts_HaveACaseThatFiresAndASilentOne(t *testing.T) {
	file := struct {
		Tests []struct {
			Cases []struct {
				Alert string `json:"alertname"`
				Want  []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}{}
	if err := yaml.Unmarshal([]byte(read(t, testsFile)), &file); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for i, test := range file.Tests {
		for _, c := range test.Cases {
			if len(c.Want) > 0 {
				fires[c.Alert] = true
			} else if i == 0 { // the healthy operator
				silent[c.Alert] = true
			}
		}
	}
	for _, rule := range alerts(t) {
		if !fires[rule.Alert] || !silent[rule.Alert] {
			t.Errorf("%s: fires in a test: %t, is silent with a healthy operator: %t", rule.Alert, fires[rule.Alert], silent[rule.Alert])
		}
		delete(fires, rule.Alert)
	}
	for alert := range fires {
		t.Errorf("%s is tested and does not exist", alert)
	}
}

func TestAlerts_LeadToTheirSectionOfTheRunbook(t *testing.T) {
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^### (Nexus[A-Za-z]+)$`).FindAllStringSubmatch(read(t, filepath.Join(root, runbook)), -1) {
		sections = append(sections, m[1])
	}
	for _, rule := range alerts(t) {
		if !slices.Contains(sections, rule.Alert) || rule.Annotations["runbook_url"] != "#"+strings.ToLower(rule.Alert) {
			t.Errorf("%s: the runbook has no such section, or annotation runbook_url %q does not lead there", rule.Alert,
				rule.Annotations["runbook_url"])
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" ||
			rule.Annotations["description"] == "" {
			t.Errorf("%s: severity, summary or description is missing", rule.Alert)
		}
		sections = slices.DeleteFunc(sections, func(s string) bool { return s == rule.Alert })
	}
	if len(sections) > 0 {
		t.Errorf("the runbook explains %q, which do not exist", sections)
	}
}
