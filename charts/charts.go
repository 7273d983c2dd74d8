// SPDX-License-Identifier: Apache-2.0

// Package charts holds the files of the Helm chart that programs need, too.
package charts

import (
	"embed"
	"io/fs"
)

//go:embed nexus-operator/files/crd/*.yaml
var definitions embed.FS

// Definitions returns the CustomResourceDefinitions, one YAML file each.
func Definitions() fs.FS {
	files, err := fs.Sub(definitions, "nexus-operator/files/crd")
	if err != nil {
		panic(err) // no valid path
	}
	return files
}
