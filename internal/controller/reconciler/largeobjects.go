// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// MostLarge bounds the size in bytes of the large objects of one namespace that the operator keeps and works for.
const MostLarge = 16 << 20

// LargeObjects keeps account of the large objects of each namespace. The API server accepts objects of more than a megabyte, and the
// cache has all objects of the operator's kinds: those beyond the bound of their namespace are in the cache without their long contents.
type LargeObjects struct {
	mu sync.Mutex
	// sizes holds the sizes of the large objects that are admitted, by namespace.
	sizes map[string]map[largeKey]int
}

type largeKey struct{ kind, name string }

// NewLargeObjects returns an empty account.
func NewLargeObjects() *LargeObjects { return &LargeObjects{sizes: map[string]map[largeKey]int{}} }

// Trim takes the long contents out of an object that is beyond the bound of its namespace. It is for a transform of a cache, which may
// see an object once more after that.
func (l *LargeObjects) Trim(kind string, o client.Object) {
	if _, trimmed := apply.TrimmedSize(o); trimmed {
		return
	}
	size := apply.SizeOf(o)
	if !l.admit(kind, client.ObjectKeyFromObject(o), size) {
		apply.Trim(o, size)
		return
	}
	apply.Unmark(o)
}

// Transform is Trim for a cache of one kind.
func (l *LargeObjects) Transform(kind string) func(any) (any, error) {
	return func(obj any) (any, error) {
		o, ok := obj.(client.Object)
		if !ok {
			return obj, nil
		}
		_, err := apply.WithoutUnusedFields(o)
		l.Trim(kind, o)
		return o, err
	}
}

// Beyond reports whether an object of the cache lacks its contents, and whether its namespace still has no room for it.
func (l *LargeObjects) Beyond(kind string, o client.Object) (trimmed, full bool) {
	size, trimmed := apply.TrimmedSize(o)
	if !trimmed || l == nil {
		return trimmed, false
	}
	return true, !l.admit(kind, client.ObjectKeyFromObject(o), size)
}

// TooLarge is the failure of an object if the operator has no memory for its contents.
func TooLarge(o client.Object, stays string) error {
	return &status.Stalled{Reason: status.ReasonLimitExceeded, Message: fmt.Sprintf(
		"the large objects of namespace %s have more than %d MiB together, and this one is beyond that: make it smaller, delete others, or divide them among namespaces. %s until then",
		o.GetNamespace(), MostLarge>>20, stays)}
}

// Forget gives the room of an object that is gone to others.
func (l *LargeObjects) Forget(kind string, key types.NamespacedName) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(kind, key)
}

func (l *LargeObjects) remove(kind string, key types.NamespacedName) {
	delete(l.sizes[key.Namespace], largeKey{kind, key.Name})
	if len(l.sizes[key.Namespace]) == 0 {
		delete(l.sizes, key.Namespace)
	}
}

// admit reports whether there is room for an object, and takes it.
func (l *LargeObjects) admit(kind string, key types.NamespacedName, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(kind, key)
	if size <= apply.LargeObject {
		return true
	}
	sum := size
	for _, n := range l.sizes[key.Namespace] {
		sum += n
	}
	if sum > MostLarge {
		return false
	}
	if l.sizes[key.Namespace] == nil {
		l.sizes[key.Namespace] = map[largeKey]int{}
	}
	l.sizes[key.Namespace][largeKey{kind, key.Name}] = size
	return true
}
