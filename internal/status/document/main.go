// SPDX-License-Identifier: Apache-2.0

// Command document writes the documentation of the stable error codes to a file.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

const intro = `<!-- Generated from internal/status/codes.go by make generate. -->
# Error codes

Every failure, and every state that needs a person, has a stable code such as ` + "`NX-IAM-001`" + `. The code stands at the end of the messages of
conditions and of Warning events, and at the end of the errors of nexusctl, which also writes it as ` + "`code`" + ` into JSON and YAML. The
message names the object, the field and the remedy; this page explains the failure in general. ` + "`nexusctl explain NX-IAM-001`" + ` prints
the same without a network.

Codes are never reused or renumbered, so that alerts, runbooks and searches can rely on them. A message that repeats the message of
another object keeps the code of that object, which names the cause. Reasons that mean no failure have no code;
[Conditions and reasons](reasons.md) lists them. [Troubleshooting](troubleshooting.md) starts from symptoms.
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: document FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "document:", err)
		os.Exit(1)
	}
}

// page returns docs/errors.md: an index by reason, and a heading for each code, so that each has an anchor.
func page() string {
	var b strings.Builder
	b.WriteString(intro + index())
	for _, area := range status.Areas() {
		fmt.Fprintf(&b, "\n## %s\n", area.Title)
		for _, c := range status.Codes() {
			if c.Area() == area.ID {
				fmt.Fprintf(&b, "\n### %s\n\n`%s`. %s\n\n**What to do:** %s\n", c.ID, c.Reason, c.Cause, c.Remedy)
			}
		}
	}
	return b.String()
}

// index returns a table from reasons to codes.
func index() string {
	codes := slices.Clone(status.Codes())
	slices.SortFunc(codes, func(a, b status.Code) int { return strings.Compare(a.Reason, b.Reason) })
	var b strings.Builder
	b.WriteString("\n## Codes by reason\n\n| reason | code |\n|---|---|\n")
	for _, c := range codes {
		fmt.Fprintf(&b, "| `%s` | [%s](#%s) |\n", c.Reason, c.ID, strings.ToLower(c.ID))
	}
	return b.String()
}
