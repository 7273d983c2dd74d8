// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"unicode"
)

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// escape keeps the characters of a text from being read as Markdown, outside code.
func escape(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("<", "&lt;", "*", `\*`, "[", `\[`).Replace(parts[i])
	}
	return strings.Join(parts, "`")
}

// prose is a description as a paragraph.
func prose(text string) string { return escape(oneLine(text)) }

// cell is a description in a table, where a vertical bar would end the cell.
func cell(text string) string {
	return strings.ReplaceAll(prose(text), "|", "&#124;")
}

// pattern shows a regular expression as code. One with a vertical bar cannot be a code span in every table of Markdown:
// it becomes an HTML element in which every special character is a character reference.
func pattern(expression string) string {
	if !strings.ContainsAny(expression, "|`") {
		return "`" + expression + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range expression {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}
