// SPDX-License-Identifier: Apache-2.0

package secretset

import (
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// readValue reads the value of a key from a file, or from standard input when the path is "-". An empty value is a mistake.
func (s *Setter) readValue(ctx context.Context, key, path string) (string, error) {
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		read = func() ([]byte, error) { return io.ReadAll(s.In) }
		if f, ok := s.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return s.askForValue(ctx, key, int(f.Fd()))
		}
	}
	b, err := console.WithContext(ctx, read)
	if err != nil {
		return "", exit.Usage("reading the value of %s: %w", key, err)
	}
	return valueOf(key, string(b))
}

// askForValue reads a line from a terminal that does not show it.
func (s *Setter) askForValue(ctx context.Context, key string, terminal int) (string, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	s.Say("Value of %s (it is not shown):", key)
	b, err := console.WithContext(ctx, func() ([]byte, error) { return term.ReadPassword(terminal) })
	if err != nil {
		_ = term.Restore(terminal, before) // an interrupted read leaves the terminal without echo
		return "", err
	}
	return valueOf(key, string(b))
}

// valueOf removes the newline that ends a file.
func valueOf(key, text string) (string, error) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if text == "" {
		return "", exit.Usage("the value of %s is empty", key)
	}
	return text, nil
}
