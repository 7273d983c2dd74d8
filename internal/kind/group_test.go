// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"errors"
	"testing"
)

func TestGroup_PanicsWhereItIsWaitedFor(t *testing.T) {
	var g Group
	g.Go(func() error { panic("a member is missing") })
	g.Go(func() error { return nil })
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	t.Error(g.Wait())
}

func TestGroup_EndsItsContextWithTheFirstError(t *testing.T) {
	g, ctx := NewGroup(t.Context())
	g.SetLimit(1)
	refused := errors.New("refused")
	g.Go(func() error { return refused })
	g.Go(func() error { <-ctx.Done(); return ctx.Err() })
	if err := g.Wait(); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}
