// SPDX-License-Identifier: Apache-2.0

// Package glue imports a neighbor.
package glue

import _ "github.com/nexus-operator/nexus-operator/internal/kinds/s3" // want depguard: not allowed from list 'kinds'
