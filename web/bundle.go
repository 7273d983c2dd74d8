// SPDX-License-Identifier: Apache-2.0

// Package web holds the bundle of the page that nexusctl ui serves. Its sources are in src; npm run build writes dist, which is
// checked in, so that programs are built without Node.js.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files are the files of the page, with index.html at the top.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the pattern above names the folder
	}
	return files
}
