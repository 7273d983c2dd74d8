// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package main pins Helm, which test/demo builds by its path: importing it keeps its modules in go.sum.
package main

import _ "helm.sh/helm/v4/cmd/helm"
