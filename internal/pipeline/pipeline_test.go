// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/exit"
)

func TestInterruptedIn_NamesTheStep(t *testing.T) {
	if i, ok := errors.AsType[*exit.Interruption](interruptedIn(6, context.Canceled)); !ok ||
		i.Said() != "The command was interrupted in step 6. The steps before it are done." {
		t.Errorf("%+v", i)
	}
	if i, ok := errors.AsType[*exit.Interruption](interruptedIn(4, &exit.Interruption{Changed: []string{"Role a"}, Left: 2})); !ok ||
		!strings.Contains(i.Said(), "in step 4. The steps before it are done. The command was interrupted. Changed: Role a. Not changed: 2.") {
		t.Errorf("%+v", i)
	}
}
