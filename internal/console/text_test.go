// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestTextIsWrappedAtWords(t *testing.T) {
	got := Wrap(strings.Repeat("word ", 40)+strings.Repeat("x", 100), "  ")
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
		if !strings.HasPrefix(line, "  ") || len(line) > Columns && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%q", line)
		}
	}
}

func TestWithContext_EndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	cancel()
	_, err := WithContext(ctx, func() ([]byte, error) { <-release; return nil, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
