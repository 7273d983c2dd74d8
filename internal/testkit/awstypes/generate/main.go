// SPDX-License-Identifier: Apache-2.0

// Generate writes down the schemas of AWS resource types, as the wheel of cfn-lint ships them that `make bed` downloads: those of a few
// types for tests, and those of all types for nexusctl.
//
//	go run ./internal/testkit/awstypes/generate internal/testkit/awstypes/excerpt.json internal/awsschema/bundled/schemas.zip
package main

import (
	"fmt"
	"os"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate EXCERPT BUNDLE")
		os.Exit(2)
	}
	for i, content := range []func() ([]byte, error){awstypes.MakeExcerpt, awstypes.MakeBundle} {
		text, err := content()
		if err == nil {
			err = os.WriteFile(os.Args[i+1], text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}
