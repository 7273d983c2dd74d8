// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// ProviderIndex is the cache's index of AWS resource objects by spec.providerRef.name.
const ProviderIndex = "spec.providerRef.name"

// NewList returns an empty list of a kind. It panics for a kind that is not registered, which is a defect seen at start.
func NewList(c client.Client, e engine.Entry) client.ObjectList {
	obj, err := c.Scheme().New(v1alpha1.GroupVersion.WithKind(e.Name() + "List"))
	if err != nil {
		panic(fmt.Sprintf("%sList is not registered: %v", e.Name(), err)) // wrong wiring, seen at start
	}
	return obj.(client.ObjectList)
}
