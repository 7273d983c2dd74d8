// SPDX-License-Identifier: Apache-2.0

// Package docs holds the pages of the documentation for programs that show them.
package docs

import "embed"

// Pages are the pages for users, as Markdown: those of this folder and the reference. Decisions (adr) are left out.
//
//go:embed *.md reference/*.md
var Pages embed.FS
