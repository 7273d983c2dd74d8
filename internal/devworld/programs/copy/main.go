// SPDX-License-Identifier: Apache-2.0

// Copy writes the files of the module dev that build the programs of a local world into the folder that nexusctl embeds.
// Go embeds no file of another module, and no file named go.mod; so each copy has a suffix.
//
//	go run ./internal/devworld/programs/copy dev internal/devworld/programs/module
package main

import (
	"fmt"
	"os"

	"github.com/nexus-operator/nexus-operator/internal/devworld/programs"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: copy DEV FOLDER")
		os.Exit(2)
	}
	if err := programs.Copy(os.DirFS(os.Args[1]), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "copy:", err)
		os.Exit(1)
	}
}
