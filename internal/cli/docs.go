// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

func docsCommand(s *connection.Connection) *cobra.Command {
	var dir, format string
	cmd := &cobra.Command{
		Use:   "docs --dir DIR",
		Short: "Write the pages of every command, for man or as Markdown",
		Long: "docs writes one page for each command into a directory, which it creates. The date on man pages is that of\n" +
			"SOURCE_DATE_EPOCH where that is set, so that packages can be built again with the same content.",
		Example: "  nexusctl docs --dir /usr/local/share/man/man1\n  nexusctl docs --dir pages --format markdown",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return exit.Usage("--dir: name the directory for the pages")
			}
			return docs(s, cmd.Root(), dir, format)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "directory for the pages")
	cmd.Flags().StringVar(&format, "format", "man", "format of the pages: man or markdown")
	return cmd
}

func docs(s *connection.Connection, root *cobra.Command, dir, format string) error {
	write := map[string]func() error{
		"man": func() error {
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: root.Name() + " " + s.Version, Manual: "Nexus Operator"}, dir)
		},
		"markdown": func() error { return doc.GenMarkdownTree(root, dir) },
	}[format]
	if write == nil {
		return exit.Usage("--format: %q is neither man nor markdown", format)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the pages are for everyone
		return fmt.Errorf("--dir: %w", err)
	}
	root.DisableAutoGenTag = true
	if err := write(); err != nil {
		return err
	}
	s.Say("The pages are in %s.", dir)
	return nil
}
