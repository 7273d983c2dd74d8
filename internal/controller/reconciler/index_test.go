// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
)

func TestNewList_IsOfTheKind(t *testing.T) {
	c := cluster(t, nil)
	for _, e := range catalog.Kinds() {
		gvk, err := c.GroupVersionKindFor(NewList(c, e))
		if err != nil || gvk.Kind != e.Name()+"List" {
			t.Errorf("%s: %s, %v", e.Name(), gvk, err)
		}
	}
	defer func() {
		if cause := fmt.Sprint(recover()); !strings.Contains(cause, "S3BucketList is not registered") {
			t.Errorf("a kind that is not registered: %s", cause)
		}
	}()
	NewList(fake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build(), catalog.Kinds()[0])
}
