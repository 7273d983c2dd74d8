// SPDX-License-Identifier: Apache-2.0

// Package console is where a command of nexusctl runs: its streams, environment and clock, and the texts that it prints on them.
package console

import (
	"context"
	"fmt"
	"io"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
)

// Console is the place where a command runs: its streams, its environment and its clock.
type Console struct {
	genericiooptions.IOStreams
	// Getenv reads an environment variable.
	Getenv func(string) string
	Clock  clock.PassiveClock
	// work shows on a terminal the object that the command works on; nil where nothing shows it.
	work *working
}

// Say writes a line to standard error, where nothing can be done about a failure.
func (s *Console) Say(format string, args ...any) { _, _ = fmt.Fprintf(s.ErrOut, format+"\n", args...) }

// PrintingTo returns the console of a command within another one, with its output redirected.
func (s *Console) PrintingTo(out io.Writer) *Console {
	own := *s
	own.Out = out
	return &own
}

// Canvas is the terminal to draw on; nil when lines are to be printed.
func (s *Console) Canvas(output string) *Canvas {
	out := s.terminal(s.Out)
	if output != "text" || out == nil {
		return nil
	}
	return &Canvas{Width: widthOf(out), colored: s.Getenv("NO_COLOR") == ""}
}

// Report prints the change of an object.
func (s *Console) Report(title, done, note string) error {
	if note != "" {
		s.Say("%s: %s", title, note)
	}
	_, err := fmt.Fprintf(s.Out, "%s: %s\n", title, done)
	return err
}

// WithContext returns early when the context ends: a read from a terminal or a pipe cannot be cut off.
func WithContext(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		b, err := read()
		done <- result{b, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.b, r.err
	}
}
