// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/devworld"
	"github.com/nexus-operator/nexus-operator/internal/devworld/programs"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
)

// devUpFlags holds the flags of dev up.
type devUpFlags struct {
	*devFlags
	operator, source string
	manifests        []string
	nodes            int
	timeout          time.Duration
}

func (s *devVerbs) devUpCommand(world *devFlags) *cobra.Command {
	f := &devUpFlags{devFlags: world}
	cmd := s.devVerb(world, &cobra.Command{
		Use:   "up",
		Short: "Start a local world, and create what manifests declare in it",
		Long: "up starts a local world unless it runs, applies manifests and waits until the capabilities in them run. It ends with the path of a\n" +
			"kubeconfig and the next commands. The first time it builds the programs of the world, which takes 5 to 10 minutes and needs\n" +
			"Go 1.26 or later, Python 3.10 or later and access to a Go module proxy and a Python package index. The operator is the\n" +
			"program nexus-operator beside nexusctl, unless --operator names one or --source a source tree to build it from.",
		Example: "  nexusctl dev up\n  nexusctl dev up -f examples/test-capability.yaml --source .\n  nexusctl dev up --name second --operator bin/nexus-operator --dry-run",
	}, func(ctx context.Context, w devworld.World) error { return s.devUp(ctx, w, f) })
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.manifests, "filename", "f", nil, "files or directories of manifests that are applied")
	flags.StringVar(&f.operator, "operator", "", "the operator's program; default: nexus-operator beside nexusctl")
	flags.StringVar(&f.source, "source", "", "root of the operator's source tree, to build the operator from")
	flags.IntVar(&f.nodes, "nodes", 3, "number of simulated nodes")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute,
		"how long the world and the capabilities may take to be ready; building programs may take longer besides")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be started, and start nothing")
	_ = cmd.MarkFlagDirname("source") // it was defined above
	outputFlag(cmd, &world.output, "text", "json", "yaml")
	return cmd
}

// Check refuses mistakes.
func (f *devUpFlags) Check() error {
	switch {
	case f.timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	case f.nodes < 1 || f.nodes > 100:
		return exit.Usage("--nodes: %d is no number from 1 to 100", f.nodes)
	case f.operator != "" && f.source != "":
		return exit.Usage("--operator and --source name two operators: give one of them")
	}
	if err := devworld.CheckManifests(f.manifests); err != nil {
		return exit.Usage("--filename: %w", err)
	}
	return nil
}

func (s *devVerbs) devUp(ctx context.Context, w devworld.World, f *devUpFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	found, from, err := s.findPrograms(f)
	if err != nil {
		return err
	}
	if f.dryRun {
		return s.planWorld(ctx, w, f, found)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err = s.buildMissing(ctx, w, f, from, &found); err == nil {
		s.Say("Starting the local world in %s, unless it runs.", w.Dir)
		err = w.Up(ctx, devworld.Options{Programs: found.Programs, Operator: found.Operator, Client: self, Nodes: f.nodes, Manifests: f.manifests,
			Timeout: f.timeout})
	}
	if err != nil {
		return s.explainWorld(f.devFlags, err)
	}
	_, err = s.printWorld(ctx, w, f.devFlags, nextText)
	return err
}

// findPrograms looks for the programs of a world. Those that are missing can be built.
func (s *devVerbs) findPrograms(f *devUpFlags) (found plannedWorld, from programs.Source, err error) {
	if found.Operator, err = f.findOperator(); err != nil {
		return found, from, err
	}
	cache, err := s.cacheDir()
	if err != nil {
		return found, from, err
	}
	from = programs.Source{Cache: cache, Folder: s.Getenv("NEXUS_BED_BIN"), Log: s.ErrOut}
	if found.Programs, err = from.Find(); err != nil {
		return found, from, exit.Precondition(err)
	}
	return found, from, nil
}

// buildMissing builds the programs that were not found. A world that runs needs none.
func (s *devVerbs) buildMissing(ctx context.Context, w devworld.World, f *devUpFlags, from programs.Source,
	found *plannedWorld) (err error) {
	if w.Runs() {
		return nil
	}
	if found.Programs == "" {
		s.Say("Building the programs of the local world into %s. This takes 5 to 10 minutes, once.", from.Cache)
		found.Programs, err = from.Build(ctx)
	}
	if found.Operator == "" && err == nil {
		found.Operator = w.OperatorPath()
		err = s.buildOperatorFor(ctx, f, found.Operator)
	}
	return err
}

// nextText ends an up: where the world is, and the next commands.
func nextText(r *devworld.Report, f *devFlags) string {
	return fmt.Sprintf(`The local world runs. Its nodes are simulated: pods become ready without running containers.
Kubeconfig: %s
AWS endpoint: %s
Next:
  source %s
  kubectl get nexuscapabilities -A
  nexusctl dev status -o wide%s
To stop it:
  nexusctl dev down%s
`, r.Kubeconfig, r.AWSEndpoint, console.ShellQuote(r.Env), f.selection(), f.selection())
}

// findOperator returns the absolute path of the operator's program; empty when it is built from --source.
func (f *devUpFlags) findOperator() (string, error) {
	if f.source != "" {
		if _, err := (image.Source{Tree: f.source}).Version(); err != nil {
			return "", exit.Usage("--source: %w: name the root of the operator's source tree", err)
		}
		return "", nil
	}
	path := f.operator
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		path = filepath.Join(filepath.Dir(self), "nexus-operator")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir() && info.Mode()&0o111 != 0:
		return path, nil
	case f.operator != "":
		return "", exit.Usage("--operator: %s is no program", path)
	default:
		return "", exit.Precondition(fmt.Errorf("the operator's program %s does not exist: name it with --operator, or the source tree that it is built from with --source", path))
	}
}

// buildOperatorFor builds the operator from the source tree.
func (s *devVerbs) buildOperatorFor(ctx context.Context, f *devUpFlags, path string) error {
	if _, err := image.FindProgram("go"); err != nil {
		return exit.Precondition(fmt.Errorf("%w: install Go (https://go.dev/doc/install), or name the operator's program with --operator", err))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	s.Say("Building the operator from %s.", f.source)
	if err := image.BuildOperator(ctx, f.source, path); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// explainWorld gives an error of a local world its exit code and a remedy.
func (s *devVerbs) explainWorld(f *devFlags, err error) error {
	if interrupted, ok := errors.AsType[*devworld.InterruptedError](err); ok {
		if interrupted.Left != nil {
			return &exit.Interruption{Text: fmt.Sprintf("The command was interrupted, and could not stop what it had started: %v. To stop it: nexusctl dev down%s", interrupted.Left, f.selection())}
		}
		if interrupted.Stopped {
			return &exit.Interruption{Text: "The command was interrupted. What it had started is stopped. To start it again: nexusctl dev up" +
				f.selection()}
		}
		return &exit.Interruption{Text: "The command was interrupted. A world that was running before runs on: see nexusctl dev status" +
			f.selection()}
	}
	if errors.Is(err, context.Canceled) {
		return &exit.Interruption{Text: "The command was interrupted while it built programs, and has started nothing. Compiled packages stay in the cache of Go. To continue: nexusctl dev up" + f.selection()}
	}
	if _, missing := errors.AsType[*programs.MissingError](err); missing {
		return exit.Precondition(err)
	}
	if _, late := errors.AsType[*devworld.TimeoutError](err); late {
		return &exit.Failure{Code: exit.CodeTimeout,
			Err: fmt.Errorf("not done within --timeout: %w\n\nSee nexusctl dev status%s, or give a longer --timeout", err, f.selection())}
	}
	return err
}

// plannedWorld is the report of a dry run of up.
type plannedWorld struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Dir        string `json:"dir"`
	// Running is true when the world runs, so that nothing would be started.
	Running bool `json:"running"`
	// Programs is the folder of the programs; empty when they would be built.
	Programs string `json:"programs,omitempty"`
	// Operator is the operator's program; empty when it would be built from Source.
	Operator  string   `json:"operator,omitempty"`
	Source    string   `json:"source,omitempty"`
	Nodes     int      `json:"nodes"`
	Manifests []string `json:"manifests,omitempty"`
}

// planWorld describes the world that up would start.
func (s *devVerbs) planWorld(ctx context.Context, w devworld.World, f *devUpFlags, p plannedWorld) error {
	r, err := w.Status(ctx)
	if err != nil {
		return err
	}
	p.APIVersion, p.Kind, p.Dir, p.Running = devAPIVersion, "PlannedWorld", w.Dir, r.Running
	p.Source, p.Nodes, p.Manifests = f.source, f.nodes, f.manifests
	return console.PrintAs(s.Out, f.output, p, p.Text)
}

func (p plannedWorld) Text() string {
	var b strings.Builder
	if p.Running {
		fmt.Fprintf(&b, "The local world in %s runs already; nothing would be started.\n", p.Dir)
	} else {
		programs, operator := p.Programs, p.Operator
		if programs == "" {
			programs = "would be built with Go and Python"
		}
		if operator == "" {
			operator = "would be built from " + p.Source
		}
		fmt.Fprintf(&b, "Would start a local world in %s:\n  programs   %s\n  operator   %s\n  processes  %s\n  nodes      %d, simulated\n",
			p.Dir, programs, operator, strings.Join(devworld.ProcessNames, ", "), p.Nodes)
	}
	for _, file := range p.Manifests {
		fmt.Fprintf(&b, "Would apply %s.\n", file)
	}
	return b.String()
}
