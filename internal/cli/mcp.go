// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/ui"
)

func mcpCommand(p Program, s *connection.Connection) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve what nexusctl shows to an assistant, over the Model Context Protocol",
		Long: "mcp is a server of the Model Context Protocol on standard input and output, which an assistant starts. Its tools list\n" +
			"objects, show their status, tree, cause of trouble and drift, and plan and validate manifests; its resources are the\n" +
			"error codes and the pages of the documentation.\n\n" +
			"It reads with your own kubeconfig, credentials and rights, and changes nothing. Its answers hold no value of a Secret.\n" +
			"The flags for the cluster and for AWS are those of every tool; a tool may choose another namespace.",
		Example: "  nexusctl mcp\n  nexusctl mcp --context staging -n team-a",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&askingVerb{Connection: s, program: p}).serveMCP(cmd.Context(), cmd.Root().PersistentFlags())
		},
	}
}

// serveMCP serves until standard input ends or the command is interrupted.
func (s *askingVerb) serveMCP(ctx context.Context, flags *pflag.FlagSet) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "nexusctl", Title: "Nexus Operator", Version: cmp.Or(s.Version, "unknown")},
		&mcp.ServerOptions{
			Instructions: "Read-only view of Nexus Operator: NexusAICapability objects, AWS resource objects and security intents in a Kubernetes cluster. " +
				"Begin with list or status; explain gives the cause and the remedy of an object that is not ready. Objects are named KIND/NAME, such as ncap/shop.",
		})
	tools := &mcpTools{asked{program: s.program, flags: changedFlags(flags)}}
	tools.addTo(server)
	if err := addMCPResources(server, s.program.Docs); err != nil {
		return err
	}
	err := server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(s.In), Writer: nopWriteCloser{s.Out}})
	if errors.Is(err, io.EOF) {
		return nil // the client has closed standard input
	}
	return err
}

// nopWriteCloser leaves a writer open, because its opener closes it.
type nopWriteCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopWriteCloser) Close() error { return nil }

// mcpTools answers the calls of tools by running the commands of nexusctl.
type mcpTools struct{ asked }

// run runs a command with -o json. The answer holds its output, also when its exit code says that an object is not ready or a manifest is
// invalid, and its notes.
func (t *mcpTools) run(ctx context.Context, q ui.Question) (*mcp.CallToolResult, any, error) {
	printed, notes, err := t.print(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	return answerOf(printed, notes)
}

// answerOf makes an answer of JSON, with notes for the reader.
func answerOf(answer json.RawMessage, notes string) (*mcp.CallToolResult, any, error) {
	content := []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(string(answer))}}
	if notes = strings.TrimSpace(notes); notes != "" {
		content = append(content, &mcp.TextContent{Text: notes})
	}
	return &mcp.CallToolResult{Content: content}, answer, nil
}

// flagsOf are the flags that are set, by their names.
func flagsOf(set map[string]bool) []string {
	var out []string
	for name, is := range set {
		if is {
			out = append(out, "--"+name)
		}
	}
	slices.Sort(out)
	return out
}
