// SPDX-License-Identifier: Apache-2.0

// Command document writes the documentation of the operator's metrics to a file.
package main

import (
	"fmt"
	"os"

	"github.com/nexus-operator/nexus-operator/internal/metrics"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: document FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(metrics.Document()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "document:", err)
		os.Exit(1)
	}
}
