//go:build tools

// Package tools pins kwok, which plays nodes and pods. It needs newer client
// libraries than the pinned control plane, hence a module of its own.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
