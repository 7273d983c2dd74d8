// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins kwok, which plays nodes and pods. It needs newer client
// libraries than the pinned control plane, hence its own module.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
