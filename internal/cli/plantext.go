// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// signs stand before what happens; the word follows.
var signs = map[plan.Action]string{plan.Create: "+", plan.Update: "~", plan.Delete: "-", plan.None: " "}

var words = map[plan.Action]string{plan.Create: "create", plan.Update: "update", plan.Delete: "delete", plan.None: "no change"}

var riskWords = map[plan.Risk]string{plan.Safe: "safe", plan.Disrupts: "disrupts what runs", plan.Destroys: "destroys the resource", plan.DataLoss: "deletes data"}

// textOf is a plan for a terminal. Items that stay as they are are shown only when wide.
func textOf(p plan.Plan, wide bool) string {
	var b strings.Builder
	for _, it := range p.Items {
		if wide || it.Changes() || it.Problem != nil || it.Waits != "" {
			writeItem(&b, it)
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(summaryOf(p) + "\n")
	return b.String()
}

func writeItem(b *strings.Builder, it plan.Item) {
	fmt.Fprintf(b, "%s %s: %s%s\n", signs[it.Action], titleOf(it), words[it.Action], riskSuffix(it.Risk))
	if it.Problem != nil {
		fmt.Fprintf(b, "    ! %s: %s\n", it.Problem.Reason, problemText(it.Problem))
	}
	if it.Waits != "" {
		fmt.Fprintf(b, "    … waits for %s\n", it.Waits)
	}
	writeFields(b, it.Fields)
	if it.AWS != nil {
		writeResource(b, it.AWS)
	}
}

func writeResource(b *strings.Builder, r *plan.Resource) {
	fmt.Fprintf(b, "    %s AWS%s: %s%s\n", signs[r.Action], placeOf(r), words[r.Action], riskSuffix(r.Risk))
	if r.Reason != "" {
		fmt.Fprintf(b, "        %s\n", r.Reason)
	}
	for _, f := range r.Fields {
		fmt.Fprintf(b, "        %s: %s\n", f.Path, changeOf(f))
	}
	for _, c := range r.Calls {
		fmt.Fprintf(b, "        call %s%s%s\n", c.Action, timesOf(c.Count), riskSuffix(c.Risk))
	}
}

func writeFields(b *strings.Builder, fields []plan.Field) {
	for _, f := range fields {
		fmt.Fprintf(b, "    %s: %s\n", f.Path, changeOf(f))
	}
}

func titleOf(it plan.Item) string {
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

func problemText(p *plan.Problem) string {
	text := p.Message
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	return status.WithCode(p.Reason, text, math.MaxInt)
}

func changeOf(f plan.Field) string {
	return cmp.Or(f.Have, "(none)") + " -> " + cmp.Or(f.Want, "(none)")
}

func timesOf(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" x%d", n)
}

// riskSuffix names a risk; what is safe needs no words.
func riskSuffix(r plan.Risk) string {
	if r == "" || r == plan.Safe {
		return ""
	}
	return " (" + riskWords[r] + ")"
}

func summaryOf(p plan.Plan) string {
	if p.Empty() {
		return "No changes."
	}
	s := p.Summary
	text := fmt.Sprintf("Plan: %d to create, %d to update, %d to delete; %d AWS calls.", s.Create, s.Update, s.Delete, s.Calls)
	if s.Problems > 0 {
		text += fmt.Sprintf(" Problems: %d.", s.Problems)
	}
	if s.Waits > 0 {
		text += fmt.Sprintf(" Waiting: %d.", s.Waits)
	}
	if s.Risk != "" && s.Risk != plan.Safe {
		text += " At worst it " + riskWords[s.Risk] + "."
	}
	return text
}

// markdownOf is a plan for a pull request.
func markdownOf(p plan.Plan) string {
	var b strings.Builder
	b.WriteString("### " + summaryOf(p) + "\n")
	var rows []plan.Item
	for _, it := range p.Items {
		if it.Changes() || it.Problem != nil || it.Waits != "" {
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
			inAWS = words[it.AWS.Action]
			if it.AWS.Risk == plan.Destroys || it.AWS.Risk == plan.DataLoss {
				risk = it.AWS.Risk
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", titleOf(it), words[it.Action], inAWS, riskWords[risk])
	}
	b.WriteString("\n<details><summary>Every field and call</summary>\n\n```text\n" + textOf(p, false) + "```\n\n</details>\n")
	return b.String()
}
