// SPDX-License-Identifier: Apache-2.0

// Package v1 has types only.
package v1

import (
	_ "github.com/nexus-operator/nexus-operator/internal/options" // want depguard: not allowed from list 'types'
	_ "sigs.k8s.io/controller-runtime/pkg/handler"                // want depguard: not allowed from list 'types'
)
