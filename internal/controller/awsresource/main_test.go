// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	world.Main(m, world.Options{CRDs: []string{"../../../config/crd/bases"}})
}
