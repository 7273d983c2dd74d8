// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/osproc"
)

// Program is nexusctl with everything it takes from outside.
type Program struct {
	// Kinds returns every AWS kind; called by verbs that need them.
	Kinds func() []engine.Entry
	// Engines returns every policy engine; called by verbs that need them.
	Engines func() []intent.Engine
	// CRDs are the CustomResourceDefinitions of the operator.
	CRDs fs.FS
	// Docs are the pages of the documentation, which nexusctl mcp offers.
	Docs fs.FS
	// Page has the files of the page that nexusctl ui serves.
	Page fs.FS
	// Version is that of the binary.
	Version string
	// Getenv reads an environment variable.
	Getenv func(string) string
	Clock  clock.PassiveClock
	genericiooptions.IOStreams
}

// newConnection returns the connection of a program before its flags are read.
func newConnection(p Program) *connection.Connection {
	return &connection.Connection{
		Console: &console.Console{IOStreams: p.IOStreams, Getenv: p.Getenv, Clock: p.Clock},
		Product: connection.Product{Kinds: p.Kinds, Engines: p.Engines, CRDs: p.CRDs, Version: p.Version},
		Cluster: genericclioptions.NewConfigFlags(true),
	}
}

// Run runs the program with arguments and returns the exit code. The first argument is the name of the program.
func (p Program) Run(ctx context.Context, args []string) int {
	ctx = exit.CountUncut(ctx)
	root, say := p.Command(nameOf(args)), (&console.Console{IOStreams: p.IOStreams}).Say
	root.SetArgs(args[1:])
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if osproc.IsBrokenPipe(err) { // the reader of the output has seen enough
		return exit.CodeNoReader
	}
	code := exit.CodeOf(ctx, err)
	if text := err.Error(); text != "" {
		say("%s: %s", root.DisplayName(), withStableCode(code, exit.Shortened(code, onOneLine(err))))
	}
	if code == exit.CodeInterrupted {
		interrupted, _ := errors.AsType[*exit.Interruption](err)
		say("%s", interrupted.Said())
	}
	return code
}

// onOneLine puts cobra's message about an unknown command, with the commands that have similar names, on one line.
func onOneLine(err error) error {
	text, alike, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !found || !exit.IsUnknownCommand(err) {
		return err
	}
	return fmt.Errorf("%s: did you mean %s?", text, strings.Join(strings.Fields(alike), ", "))
}

// nameOf returns how the program was called: as a plugin it is part of kubectl.
// https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
func nameOf(args []string) string {
	if strings.HasPrefix(filepath.Base(args[0]), "kubectl-nexus") {
		return "kubectl nexus"
	}
	return "nexusctl"
}

// Command builds the tree of commands, under the name of the program in the command line.
func (p Program) Command(name string) *cobra.Command {
	s := newConnection(p)
	first, alias, plugin := strings.Cut(name, " ")
	root := &cobra.Command{
		Use:   first,
		Short: "Plan, check and operate AI capabilities on Kubernetes and AWS",
		Long: "nexusctl works with NexusAICapability objects, AWS resource objects and security intents:\n" +
			"it says what the operator would do before anything does it, and checks manifests without a cluster.",
		SilenceUsage: true, SilenceErrors: true,
		Version:     cmp.Or(p.Version, "unknown"),
		Annotations: map[string]string{},
	}
	if plugin {
		root.Annotations[cobra.CommandDisplayNameAnnotation] = first + " " + alias
	}
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		s.Cluster.WithWrapConfigFn(connection.LeadToAPIServer(cmd.Context()))
	}
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.ErrOut)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usage("%w", err) })
	flags := root.PersistentFlags()
	s.Cluster.AddFlags(flags)
	flags.StringVar(&s.Profile, "profile", "", "profile of the shared AWS configuration (AWS_PROFILE)")
	flags.StringVar(&s.Region, "region", "", "AWS region of capabilities that name none; default: the operator's own (AWS_REGION)")
	flags.StringVar(&s.Endpoint, "endpoint-url", "", "base URL of AWS, for an emulator or a private endpoint (AWS_ENDPOINT_URL)")
	flags.StringVar(&s.OperatorNamespace, "operator-namespace", "", "namespace of the operator (OPERATOR_NAMESPACE; default nexus-system)")
	addCommands(root, p, s)
	(&completer{Connection: s}).addCompletions(root)
	return root
}

// slowVerbs print their result when they have read everything.
var slowVerbs = []string{"plan", "diff", "import", "list", "status", "tree", "explain", "drift", "verify-capability", "scan"}

// addCommands adds the commands in the groups of the help.
func addCommands(root *cobra.Command, p Program, s *connection.Connection) {
	ui := func(s *connection.Connection) *cobra.Command { return uiCommand(p, s) }
	mcp := func(s *connection.Connection) *cobra.Command { return mcpCommand(p, s) }
	dev := func(s *connection.Connection) *cobra.Command { return devCommand(s.Console) }
	for _, g := range []struct {
		id, title string
		commands  []func(*connection.Connection) *cobra.Command
	}{
		{"plan", "Before a change:", []func(*connection.Connection) *cobra.Command{
			initCommand, planCommand, diffCommand, validateCommand, renderCommand, schemaCommand, importCommand, iamCommand,
		}},
		{"look", "See what is:", []func(*connection.Connection) *cobra.Command{
			listCommand, statusCommand, treeCommand, explainCommand, driftCommand, monitorCommand, verifyCommand, ui, mcp,
		}},
		{"act", "Have the operator act:", []func(*connection.Connection) *cobra.Command{
			reconcileCommand, approveCommand, suspendCommand, resumeCommand, undoCommand, deleteNowCommand, secretsCommand, rolloutCommand,
		}},
		{"install", "Install and remove:", []func(*connection.Connection) *cobra.Command{
			scanCommand, deployCommand, updateCommand, deleteCommand, fixIRSACommand, installControllerCommand, deleteControllerCommand,
			driftEventsCommand, kubeconfigCommand, tokenCommand,
		}},
		{"build", "Build and try:", []func(*connection.Connection) *cobra.Command{buildCommand, e2eCommand, dev}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			cmd := command(s)
			cmd.GroupID = g.id
			if slices.Contains(slowVerbs, cmd.Name()) {
				showing(s.Console, cmd)
			}
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(versionCommand(s), docsCommand(s))
}

// arguments makes a validator of positional arguments. Its errors are errors of usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return exit.Usage("%w", err)
		}
		return nil
	}
}
