// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/osproc"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

// The exit codes of every verb.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitPrecondition = 4
	// exitDataLoss is that of a plan that deletes data, where the caller asked for it.
	exitDataLoss    = 5
	exitTimeout     = 124
	exitInterrupted = 130
	// exitNoReader is that of programs that SIGPIPE ends.
	exitNoReader = 141
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

// failure is an error with an exit code. A failure without an error says nothing: the verb has said it.
type failure struct {
	code int
	err  error
}

// Error implements error.
func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

// Unwrap returns the error.
func (f *failure) Unwrap() error { return f.err }

// usage is a mistake in the command line or in a manifest.
func usage(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// precondition is something that must be there first: a cluster, credentials, a permission.
func precondition(err error) error { return &failure{code: exitPrecondition, err: err} }

// shared are the flags that every verb has, and what verbs make of them.
type shared struct {
	Program
	cluster *genericclioptions.ConfigFlags

	profile, endpoint, region, operatorNamespace string
	operatorArgs                                 []string
	// assumed is true when the operator's settings are known from nowhere, and its defaults stand for them.
	assumed bool
	// types are the schemas of AWS resource types; nil until a command reads them.
	types *bundled.Bundle
	// work shows on a terminal what the command works on; nil where nothing shows it.
	work *working
}

// Run runs the program with arguments, of which the first is its name, and returns the exit code.
func (p Program) Run(ctx context.Context, args []string) int {
	ctx = countUncut(ctx)
	root := p.Command(nameOf(args))
	root.SetArgs(args[1:])
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if osproc.IsBrokenPipe(err) { // whoever read the output has seen enough
		return exitNoReader
	}
	code := codeOf(ctx, err)
	if text := err.Error(); text != "" {
		p.say("%s: %s", root.DisplayName(), withStableCode(code, shortened(code, onOneLine(err))))
	}
	if code == exitInterrupted {
		interrupted, _ := errors.AsType[*interruption](err)
		p.say("%s", interrupted.said())
	}
	return code
}

// onOneLine puts what cobra says of an unknown command, with the commands whose names are alike, on one line.
func onOneLine(err error) error {
	text, alike, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !found || !isUnknownCommand(err) {
		return err
	}
	return fmt.Errorf("%s: did you mean %s?", text, strings.Join(strings.Fields(alike), ", "))
}

// isUnknownCommand reports whether cobra knows no such command; it has no type for the error.
func isUnknownCommand(err error) bool { return strings.HasPrefix(err.Error(), "unknown command") }

// shortened leaves out of an interruption which read it ended: nothing failed there. Errors that came with it stay.
func shortened(code int, err error) error {
	if code == exitInterrupted && !isJoined(err) && errors.Is(err, context.Canceled) {
		return &interruption{}
	}
	return err
}

// isJoined reports whether an error is made of several.
func isJoined(err error) bool {
	_, joined := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	return joined
}

// say writes a line to standard error, where nothing can be done about a failure.
func (p Program) say(format string, args ...any) { _, _ = fmt.Fprintf(p.ErrOut, format+"\n", args...) }

// nameOf returns how the program was called: as a plugin it is part of kubectl.
// https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
func nameOf(args []string) string {
	if strings.HasPrefix(filepath.Base(args[0]), "kubectl-nexus") {
		return "kubectl nexus"
	}
	return "nexusctl"
}

func codeOf(ctx context.Context, err error) int {
	f, known := errors.AsType[*failure](err)
	_, noAccess := errors.AsType[*plan.AccessError](err)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case known:
		return f.code
	case noAccess, apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), isUnreachable(err):
		return exitPrecondition
	case isUnknownCommand(err):
		return exitUsage
	default:
		return exitFailed
	}
}

// isUnreachable reports whether the API server gave no answer.
func isUnreachable(err error) bool {
	_, failed := errors.AsType[*url.Error](err)
	return failed
}

// Command builds the tree of commands, under the name by which the program was called.
func (p Program) Command(name string) *cobra.Command {
	s := &shared{Program: p, cluster: genericclioptions.NewConfigFlags(true)}
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
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { s.cluster.WithWrapConfigFn(leadToAPIServer(cmd.Context())) }
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.ErrOut)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%w", err) })
	flags := root.PersistentFlags()
	s.cluster.AddFlags(flags)
	flags.StringVar(&s.profile, "profile", "", "profile of the shared AWS configuration (AWS_PROFILE)")
	flags.StringVar(&s.region, "region", "", "AWS region of capabilities that name none; default: the operator's own (AWS_REGION)")
	flags.StringVar(&s.endpoint, "endpoint-url", "", "base URL of AWS, for an emulator or a private endpoint (AWS_ENDPOINT_URL)")
	flags.StringVar(&s.operatorNamespace, "operator-namespace", "", "namespace of the operator (OPERATOR_NAMESPACE; default nexus-system)")
	s.addCommands(root)
	s.addCompletions(root)
	return root
}

// slowVerbs print their result when they have read everything.
var slowVerbs = []string{"plan", "diff", "import", "list", "status", "tree", "explain", "drift", "verify-capability", "scan"}

// addCommands adds the commands in the groups in which the help lists them.
func (s *shared) addCommands(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"plan", "Before a change:", []*cobra.Command{s.initCommand(), s.planCommand(), s.diffCommand(), s.validateCommand(), s.renderCommand(), s.schemaCommand(), s.importCommand(), s.iamCommand()}},
		{"look", "See what is:", []*cobra.Command{s.listCommand(), s.statusCommand(), s.treeCommand(), s.explainCommand(), s.driftCommand(), s.monitorCommand(), s.verifyCommand(), s.uiCommand(), s.mcpCommand()}},
		{"act", "Have the operator act:", []*cobra.Command{s.reconcileCommand(), s.approveCommand(), s.suspendCommand(), s.resumeCommand(), s.undoCommand(), s.deleteNowCommand(), s.secretsCommand(), s.rolloutCommand()}},
		{"install", "Install and remove:", []*cobra.Command{s.scanCommand(), s.deployCommand(), s.updateCommand(), s.deleteCommand(), s.fixIRSACommand(), s.installControllerCommand(),
			s.deleteControllerCommand(), s.driftEventsCommand(), s.kubeconfigCommand(), s.tokenCommand()}},
		{"build", "Build and try:", []*cobra.Command{s.buildCommand(), s.e2eCommand(), s.devCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			if slices.Contains(slowVerbs, cmd.Name()) {
				s.showing(cmd)
			}
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(s.versionCommand(), s.docsCommand())
}

// arguments makes a validator of positional arguments whose mistakes are mistakes of usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage("%w", err)
		}
		return nil
	}
}
