// SPDX-License-Identifier: Apache-2.0

// Package plantext writes plans for people, as text and as Markdown.
package plantext

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// signs stand before the name of an action; the word follows.
var signs = map[plan.Action]string{plan.Create: "+", plan.Update: "~", plan.Delete: "-", plan.None: " "}

// Words name actions.
var Words = map[plan.Action]string{plan.Create: "create", plan.Update: "update", plan.Delete: "delete", plan.None: "no change"}

var riskWords = map[plan.Risk]string{plan.Safe: "safe", plan.Disrupts: "disrupts what runs", plan.Destroys: "destroys the resource",
	plan.DataLoss: "deletes data"}

// Text is a plan for a terminal. Items that stay as they are are shown only when wide.
func Text(p plan.Plan, wide bool) string {
	var b strings.Builder
	for _, it := range p.Items {
		if wide || isWorthShowing(it) {
			writeItem(&b, it)
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(summaryOf(p) + "\n")
	return b.String()
}

// isWorthShowing reports whether an item says anything that a reviewer has to know.
func isWorthShowing(it plan.Item) bool {
	return it.Changes() || it.Problem != nil || it.Waits != "" || it.Approval != nil || it.AWS != nil && it.AWS.Reported
}

func writeItem(b *strings.Builder, it plan.Item) {
	sign, word := signs[it.Action], Words[it.Action]
	if it.Action == plan.None && it.Changes() {
		sign, word = signs[it.AWS.Action], Words[it.AWS.Action]+" in AWS alone"
	}
	fmt.Fprintf(b, "%s %s: %s%s\n", sign, TitleOf(it), word, consequenceOf(it))
	if it.Note != "" {
		fmt.Fprintf(b, "    %s\n", it.Note)
	}
	if it.Problem != nil {
		fmt.Fprintf(b, "    ! %s: %s\n", it.Problem.Reason, ProblemText(it.Problem))
	}
	if it.Waits != "" {
		fmt.Fprintf(b, "    … waits for %s\n", it.Waits)
	}
	form := changeOf
	if it.Action == plan.Create {
		form = contentOf
	}
	writeFields(b, "    ", it.Fields, form)
	if it.Approval != nil {
		fmt.Fprintf(b, "    needs approval: plan %s\n", cmp.Or(it.Approval.Hash, "that the operator makes once the edit is applied"))
	}
	if it.AWS != nil {
		writeResource(b, it.AWS)
	}
}

func writeResource(b *strings.Builder, r *plan.Resource) {
	word := Words[r.Action]
	if r.Reported {
		word = "differs"
	}
	fmt.Fprintf(b, "    %s AWS%s: %s%s\n", signs[r.Action], placeOf(r), word, riskSuffix(r.Risk))
	if r.Reason != "" {
		fmt.Fprintf(b, "        %s\n", r.Reason)
	}
	form := changeOf
	if r.Reported {
		form = differenceOf
	}
	writeFields(b, "        ", r.Fields, form)
	for _, f := range r.Ignored {
		fmt.Fprintf(b, "        ignored %s: %s\n", f.Path, differenceOf(f))
	}
	for _, c := range r.Calls {
		fmt.Fprintf(b, "        call %s%s%s\n", c.Action, timesOf(c.Count), riskSuffix(c.Risk))
	}
	if r.Approval != nil {
		fmt.Fprintf(b, "        needs approval: plan %s\n", cmp.Or(r.Approval.Hash, "that is known once the objects that it refers to exist"))
	}
}

func writeFields(b *strings.Builder, indent string, fields []plan.Field, form func(plan.Field) string) {
	for _, f := range fields {
		if len(f.Statements) > 0 {
			fmt.Fprintf(b, "%s%s:\n", indent, f.Path)
			writeStatements(b, indent+"    ", f.Statements)
			continue
		}
		fmt.Fprintf(b, "%s%s: %s%s\n", indent, f.Path, form(f), fieldNote(f))
	}
}

// fieldNote returns the reason that may keep a value from changing, in parentheses.
func fieldNote(f plan.Field) string {
	if f.Note == "" {
		return ""
	}
	return " (" + f.Note + ")"
}

// writeStatements prints the statements and values that a policy document gains and loses: an added or removed statement on one line, and
// below a changed one each value that it gains or loses.
func writeStatements(b *strings.Builder, indent string, changes []iampolicy.StatementChange) {
	for _, c := range changes {
		head := c.Effect
		if c.Sid != "" {
			head += " (" + c.Sid + ")"
		}
		if c.Widens {
			head += " [allows more]"
		}
		fmt.Fprintf(b, "%s%s %s\n", indent, statementSigns[c.Change], head)
		for _, e := range c.Elements {
			writeElement(b, indent+"    ", e)
		}
	}
}

var statementSigns = map[iampolicy.ChangeKind]string{iampolicy.StatementAdded: "+", iampolicy.StatementRemoved: "-",
	iampolicy.StatementChanged: "~"}

func writeElement(b *strings.Builder, indent string, e iampolicy.ElementChange) {
	for _, v := range e.Removed {
		fmt.Fprintf(b, "%s- %s %s\n", indent, e.Element, v)
	}
	for _, v := range e.Added {
		fmt.Fprintf(b, "%s+ %s %s\n", indent, e.Element, v)
	}
}

// TitleOf names the object of an item.
func TitleOf(it plan.Item) string {
	if it.Namespace == "" {
		return it.Kind + " " + it.Name
	}
	return it.Kind + " " + it.Namespace + "/" + it.Name
}

func placeOf(r *plan.Resource) string {
	if r.Account == "" {
		return ""
	}
	return " " + r.Account + "/" + r.Region
}

// ProblemText is a problem with its remedy.
func ProblemText(p *plan.Problem) string {
	text := p.Message
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	return status.WithCode(p.Reason, text, math.MaxInt)
}

// maxShown bounds a value on a terminal, in characters. JSON and YAML have the whole value.
const maxShown = 240

// contentOf is the value that a field of a new object gets.
func contentOf(f plan.Field) string { return cmp.Or(excerpt(f.Want, 0), `""`) }

// changeOf describes the change of a value.
func changeOf(f plan.Field) string {
	have, want := bothOf(f)
	return have + " -> " + want
}

// differenceOf describes a difference that stays.
func differenceOf(f plan.Field) string {
	have, want := bothOf(f)
	return have + ", declared is " + want
}

// bothOf are both values of a field, of long values only the part that differs.
func bothOf(f plan.Field) (found, declared string) {
	have, want := folded(f.Have), folded(f.Want)
	from := 0
	if have != "" && want != "" {
		for from < min(len(have), len(want)) && have[from] == want[from] {
			from++
		}
	}
	have, want = excerpt(have, from), excerpt(want, from)
	return cmp.Or(have, "(none)"), cmp.Or(want, "(none)")
}

// excerpt cuts a long value to the part around the first difference.
func excerpt(text string, from int) string {
	if len(text) <= maxShown {
		return text
	}
	begin := max(0, min(from, len(text)-1)-maxShown/4)
	for begin > 0 && !utf8.RuneStart(text[begin]) {
		begin--
	}
	rest := text[begin:]
	if cut := []rune(rest); len(cut) > maxShown {
		rest = string(cut[:maxShown]) + "…"
	}
	if begin > 0 {
		rest = "…" + rest
	}
	return rest
}

// digest matches a checksum that says nothing but that something changed.
var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func folded(text string) string {
	if digest.MatchString(text) {
		return text[:12] + "…"
	}
	return text
}

func timesOf(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" x%d", n)
}

// consequenceOf says how long a deletion can be undone, and names the risk of the item.
func consequenceOf(it plan.Item) string {
	text := recoverableText(it.Recoverable)
	switch {
	case text == "":
		return riskSuffix(it.Risk)
	case it.Risk != "" && it.Risk != plan.Safe:
		text += ", then " + riskWords[it.Risk]
	}
	return inParentheses(text)
}

func recoverableText(r *plan.Recoverable) string {
	switch {
	case r == nil:
		return ""
	case r.Until != "":
		return "recoverable until " + r.Until
	default:
		return "recoverable for " + r.For
	}
}

func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// riskSuffix names a risk; a safe change needs no words.
func riskSuffix(r plan.Risk) string {
	if r == plan.Safe {
		return ""
	}
	return inParentheses(riskWords[r])
}

func summaryOf(p plan.Plan) string {
	s := p.Summary
	if len(p.Items) == 0 {
		return "There is nothing to plan."
	}
	if p.Empty() && s.Reported > 0 {
		return fmt.Sprintf("No changes. Not corrected: %s.", status.Counted(s.Reported, "object differs", "objects differ")+
			" from AWS, and only reports it")
	}
	if p.Empty() {
		return "No changes."
	}
	text := fmt.Sprintf("Plan: %d to create, %d to update, %d to delete; %s.", s.Create, s.Update, s.Delete, callsOf(s.Calls))
	if s.Problems > 0 {
		text += fmt.Sprintf(" Problems: %d.", s.Problems)
	}
	if s.Waits > 0 {
		text += fmt.Sprintf(" Waiting: %d.", s.Waits)
	}
	if s.Reported > 0 {
		text += fmt.Sprintf(" Not corrected: %d.", s.Reported)
	}
	if s.Risk != "" && s.Risk != plan.Safe {
		text += " At worst it " + riskWords[s.Risk] + "."
	}
	return text
}

func callsOf(n int) string {
	return status.Counted(n, "AWS call", "AWS calls")
}

// Painted gives each line the color of its sign.
func Painted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		sign, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
		if color, ok := signColors[sign]; ok {
			lines[i] = color + strings.TrimSuffix(line, "\n") + console.ColorOff + "\n"
		}
	}
	return strings.Join(lines, "")
}

var signColors = map[string]string{"+": console.Green, "~": console.Yellow, "-": console.Red, "!": console.Red}

// Markdown is a plan for a pull request.
func Markdown(p plan.Plan) string {
	var b strings.Builder
	b.WriteString("### " + summaryOf(p) + "\n")
	var rows []plan.Item
	for _, it := range p.Items {
		if isWorthShowing(it) {
			rows = append(rows, it)
		}
	}
	if len(rows) == 0 {
		return b.String()
	}
	b.WriteString("\n| Object | Kubernetes | AWS | Risk |\n|---|---|---|---|\n")
	for _, it := range rows {
		inAWS, risk := "", it.Risk
		if it.AWS != nil {
			inAWS = Words[it.AWS.Action]
			if it.AWS.Reported {
				inAWS = "differs, not corrected"
			}
			if it.AWS.Risk == plan.Destroys || it.AWS.Risk == plan.DataLoss {
				risk = it.AWS.Risk
			}
		}
		fmt.Fprintf(&b, "| %s | %s%s | %s | %s |\n", TitleOf(it), Words[it.Action], inParentheses(recoverableText(it.Recoverable)), inAWS,
			riskWords[risk])
	}
	text := Text(p, false)
	fence := fenceAround(text)
	b.WriteString("\n<details><summary>Every field and call</summary>\n\n" + fence + "text\n" + text + fence + "\n\n</details>\n")
	return b.String()
}

// backquotes matches the characters that may end a block of text in Markdown.
var backquotes = regexp.MustCompile("`+")

// fenceAround returns a fence that no value in the text ends: https://spec.commonmark.org/0.31.2/#fenced-code-blocks
func fenceAround(text string) string {
	fence := "```"
	for _, found := range backquotes.FindAllString(text, -1) {
		if len(found) >= len(fence) {
			fence = found + "`"
		}
	}
	return fence
}
