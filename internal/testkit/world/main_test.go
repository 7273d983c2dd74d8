// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{CRDs: []string{"testdata/crd.yaml"}}) }
