// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// OwnTypes are the Go types of the operator's own kinds.
func OwnTypes() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme), intentv1alpha1.AddToScheme(scheme))
}
