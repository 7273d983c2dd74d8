// SPDX-License-Identifier: Apache-2.0

// Package catalog lists the kinds and the engines.
package catalog

import (
	_ "github.com/nexus-operator/nexus-operator/internal/intent/engines/kyverno"
	_ "github.com/nexus-operator/nexus-operator/internal/kinds/s3"
)
