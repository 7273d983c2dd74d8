// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"strings"
)

// The colors of a terminal.
const (
	Green    = "\x1b[32m"
	Yellow   = "\x1b[33m"
	Red      = "\x1b[31m"
	Gray     = "\x1b[90m"
	ColorOff = "\x1b[0m"
)

// Canvas is a terminal that shows a table again and again.
type Canvas struct {
	// Width cuts lines, so that each is one on the screen.
	Width   int
	colored bool
	// drawn is the number of lines that the table has on the screen.
	drawn int
}

// Draw returns the text that replaces the table on the screen.
func (v *Canvas) Draw(lines []string) string {
	var b strings.Builder
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	v.drawn = len(lines)
	return b.String()
}

// IsColored reports whether the terminal shows colors.
func (v *Canvas) IsColored() bool { return v.colored }

// Cut shortens a line to one of the terminal.
func (v *Canvas) Cut(line string) string {
	line = strings.TrimRight(strings.ReplaceAll(line, "\n", " "), " ")
	runes := []rune(line)
	if v.Width <= 0 || len(runes) <= v.Width {
		return line
	}
	return string(runes[:v.Width-1]) + "…"
}

// Paint colors a line where the terminal shows colors.
func (v *Canvas) Paint(color, line string) string {
	if !v.colored {
		return line
	}
	return color + line + ColorOff
}
