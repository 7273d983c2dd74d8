// SPDX-License-Identifier: Apache-2.0

// Generate writes down the schemas of a few AWS resource types, as the wheel of cfn-lint ships them that `make bed` downloads.
//
//	go run ./internal/testkit/awstypes/generate internal/testkit/awstypes/excerpt.json
package main

import (
	"fmt"
	"os"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE")
		os.Exit(2)
	}
	text, err := awstypes.MakeExcerpt()
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
