// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins kubectl, which is built by its path: importing it keeps its modules in go.mod and go.sum.
package tools

import _ "k8s.io/kubernetes/cmd/kubectl"
