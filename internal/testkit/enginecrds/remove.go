// SPDX-License-Identifier: Apache-2.0

package enginecrds

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// removal is longer than five minutes, the period of the API server's repeated look at every definition.
	removal = 6 * time.Minute
	// patience limits how long a deletion may take before the definition is edited.
	patience = 15 * time.Second
)

// Remove deletes an engine's definitions and returns when they are gone. The API server was seen, about once in a hundred
// deletions of a definition that is a second old, not to finish one for more than 90 seconds. Its controller looks at a definition again
// when a change affects more than its own condition, so a deletion that takes long is asked for again, with an edit.
func Remove(tb testing.TB, c client.Client, engine string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	for _, d := range Definitions(tb, engine) {
		remove(ctx, tb, c, d)
	}
}

func remove(ctx context.Context, tb testing.TB, c client.Client, d client.Object) {
	tb.Helper()
	refused := c.Delete(ctx, d)
	asked := time.Now()
	for deadline := asked.Add(removal); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		err := c.Get(ctx, client.ObjectKeyFromObject(d), d)
		if apierrors.IsNotFound(err) {
			return
		}
		if time.Since(asked) < patience {
			continue
		}
		tb.Logf("%s is still there (delete: %v, get: %v), asking again: %+v", d.GetName(), refused, err, d)
		edit := `{"metadata":{"annotations":{"bed/deletion-asked-at":"` + time.Now().Format(time.RFC3339Nano) + `"}}}`
		_ = c.Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(edit)))
		refused, asked = c.Delete(ctx, d), time.Now()
	}
	tb.Fatalf("%s is still there (delete: %v): %+v", d.GetName(), refused, d)
}
