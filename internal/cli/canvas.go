// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
)

// The colors of a terminal.
const (
	colorGreen  = "\x1b[32m"
	colorYellow = "\x1b[33m"
	colorRed    = "\x1b[31m"
	colorGray   = "\x1b[90m"
	colorOff    = "\x1b[0m"
)

// canvas is a terminal on which a table is drawn again and again.
type canvas struct {
	// width cuts lines, so that each is one on the screen.
	width   int
	colored bool
	// drawn is the number of lines that the table has on the screen.
	drawn int
}

// draw returns what replaces the table on the screen.
func (v *canvas) draw(lines []string) string {
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

func (v *canvas) cut(line string) string {
	line = strings.TrimRight(strings.ReplaceAll(line, "\n", " "), " ")
	runes := []rune(line)
	if v.width <= 0 || len(runes) <= v.width {
		return line
	}
	return string(runes[:v.width-1]) + "…"
}

func (v *canvas) paint(color, line string) string {
	if !v.colored {
		return line
	}
	return color + line + colorOff
}
