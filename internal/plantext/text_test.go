// SPDX-License-Identifier: Apache-2.0

package plantext

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nexus-operator/nexus-operator/internal/plan"
)

func TestLongValuesAreCutAroundTheirDifference(t *testing.T) {
	long := strings.Repeat("é", 300)
	got := changeOf(plan.Field{Have: long + "old" + long, Want: long + "new" + long})
	if !strings.Contains(got, "old") || !strings.Contains(got, "new") || len([]rune(got)) > 2*maxShown+16 || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
	if sum := strings.Repeat("0123456789abcdef", 4); changeOf(plan.Field{Want: sum}) != "(none) -> 0123456789ab…" {
		t.Errorf("%q", changeOf(plan.Field{Want: sum}))
	}
}

func TestPlansOfNothingDoNotSayThatNothingChanges(t *testing.T) {
	if text, markdown := Text(plan.Of(nil), false), Markdown(plan.Of(nil)); text != "There is nothing to plan.\n" ||
		markdown != "### There is nothing to plan.\n" {
		t.Errorf("%q, %q", text, markdown)
	}
}

func TestPlansSayHowLongADeletionCanBeUndone(t *testing.T) {
	deleted := func(risk plan.Risk, of *plan.Recoverable) plan.Item {
		return plan.Item{Kind: "S3Bucket", Name: "a", Action: plan.Delete, Risk: risk, Recoverable: of,
			AWS: &plan.Resource{Action: plan.Delete, Risk: risk}}
	}
	for want, it := range map[string]plan.Item{
		"- S3Bucket a: delete (recoverable until 2026-05-01T12:00:00Z)\n": deleted(plan.Safe, &plan.Recoverable{Until: "2026-05-01T12:00:00Z"}),
		"- S3Bucket a: delete (recoverable for 24h, then deletes data)\n": deleted(plan.DataLoss, &plan.Recoverable{For: "24h"}),
		"- S3Bucket a: delete (deletes data)\n":                           deleted(plan.DataLoss, nil),
		"- S3Bucket a: delete\n":                                          deleted(plan.Safe, nil),
	} {
		p := plan.Of([]plan.Item{it})
		if text, markdown := Text(p, false), Markdown(p); !strings.HasPrefix(text, want) || !strings.Contains(markdown, want) ||
			it.Recoverable != nil && !strings.Contains(markdown, "| delete (recoverable ") {
			t.Errorf("no %q in\n%s\n%s", want, text, markdown)
		}
	}
}

// An arrow would announce a correction.
func TestPlansSayWhatDiffersWithoutAnArrow(t *testing.T) {
	text := Text(plan.Of([]plan.Item{{Kind: "S3Bucket", Name: "a", Action: plan.None, AWS: &plan.Resource{Action: plan.None, Reported: true,
		Fields: []plan.Field{{Path: "Versioning.Enabled", Have: "false", Want: "true"}, {Path: "Tags[a]", Have: "b"}}}}}), false)
	for _, want := range []string{"Versioning.Enabled: false, declared is true\n", "Tags[a]: b, declared is (none)\n"} {
		if !strings.Contains(text, want) || strings.Contains(text, "->") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPlansWithoutChangesSaySo(t *testing.T) {
	same := plan.Of([]plan.Item{{Kind: "Service", Name: "a", Action: plan.None}})
	if got := Text(same, false); got != "No changes.\n" {
		t.Errorf("%q", got)
	}
	if got := Text(same, true); !strings.Contains(got, "Service a: no change") {
		t.Errorf("wide: %q", got)
	}
	if got := Markdown(same); got != "### No changes.\n" {
		t.Errorf("%q", got)
	}
}

// A value in a manifest must not write into the comment on a pull request.
func TestMarkdown_NoValueEndsTheBlockOfText(t *testing.T) {
	text := Markdown(plan.Of([]plan.Item{{Kind: "ConfigMap", Name: "a", Action: plan.Create,
		Fields: []plan.Field{{Path: "data.a", Want: "x\n````\n@everybody\n"}}}}))
	if _, block, found := strings.Cut(text, "\n`````text\n"); !found || !strings.HasSuffix(block, "\n`````\n\n</details>\n") ||
		strings.Count(text, "`````") != 2 {
		t.Errorf("%s", text)
	}
}
