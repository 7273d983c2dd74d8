// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
)

// console is the place where a command runs: its streams, its environment and its clock.
type console struct {
	genericiooptions.IOStreams
	// Getenv reads an environment variable.
	Getenv func(string) string
	Clock  clock.PassiveClock
	// work shows on a terminal the object that the command works on; nil where nothing shows it.
	work *working
}

// say writes a line to standard error, where nothing can be done about a failure.
func (s *console) say(format string, args ...any) { _, _ = fmt.Fprintf(s.ErrOut, format+"\n", args...) }

// printingTo returns the console of a command within another one, whose output goes elsewhere.
func (s *console) printingTo(out io.Writer) *console {
	own := *s
	own.Out = out
	return &own
}

// canvas is the terminal to draw on; nil when lines are to be printed.
func (s *console) canvas(output string) *canvas {
	out := s.terminal(s.Out)
	if output != "text" || out == nil {
		return nil
	}
	return &canvas{width: widthOf(out), colored: s.Getenv("NO_COLOR") == ""}
}

// report prints what was done about an object.
func (s *console) report(title, done, note string) error {
	if note != "" {
		s.say("%s: %s", title, note)
	}
	_, err := fmt.Fprintf(s.Out, "%s: %s\n", title, done)
	return err
}
