// SPDX-License-Identifier: Apache-2.0

// Package docs holds the pages of the documentation for programs that show them.
package docs

import "embed"

// Pages are the pages for users, as Markdown: those of this folder and the reference. Pages for developers, and those of adr and design,
// are left out.
//
//go:embed README.md ai.md any-type.md applications.md aws-prerequisites.md bedrock.md comparison.md components.md configuration.md cost.md deletion.md
//go:embed demo.md drift-events.md editors.md encryption.md errors.md existing.md first-look.md gitops.md https.md ingress.md install.md intents.md
//go:embed mcp.md messaging.md metrics.md migration.md nexusctl.md operations.md plan-gate.md private-networks.md pull-requests.md
//go:embed quick-start.md rbac.md reasons.md resources.md secrets.md security.md sign-in.md sizing.md troubleshooting.md ui.md undo.md versioning.md
//go:embed reference/*.md
var Pages embed.FS
