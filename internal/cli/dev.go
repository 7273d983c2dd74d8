// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/devworld"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

const devAPIVersion = "dev.nexus.ai/v1alpha1"

// defaultWorld is the name of the local world that a command line without --name means.
const defaultWorld = "default"

// devFlags say which local world is meant.
type devFlags struct {
	dir, name string
	output    string
	dryRun    bool
}

// localWorld is a local world as JSON or YAML.
type localWorld struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	*devworld.Report
}

// devVerbs are the commands about local worlds.
type devVerbs struct {
	*console.Console
}

func devCommand(s *console.Console) *cobra.Command {
	f := &devFlags{}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a local world: a control plane, simulated nodes, an AWS emulator and the operator",
		Long: "dev runs a Kubernetes control plane, simulated nodes, an AWS emulator and the operator as processes of this machine, without\n" +
			"containers and without an AWS account. Pods become ready without running containers, and no engine enforces policies.\n" +
			"The programs are built once, with the Go and the Python of this machine, and kept in a cache (NEXUS_CACHE).",
		Example: "  nexusctl dev up -f capability.yaml\n  nexusctl dev status\n  nexusctl dev down",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Usage("name one of the commands %s", strings.Join(commandNames(cmd.Commands()), ", "))
		},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dir, "dir", "", "folder of the world's state and logs; default: the folder dev/NAME of the cache")
	flags.StringVar(&f.name, "name", defaultWorld, "name of the world; several can run at once")
	_ = cmd.MarkPersistentFlagDirname("dir") // it was defined above
	_ = cmd.RegisterFlagCompletionFunc("name", completeWorlds)
	verbs := &devVerbs{Console: s}
	cmd.AddCommand(verbs.devUpCommand(f), verbs.devStatusCommand(f), verbs.devDownCommand(f), verbs.devDaemonCommand(f))
	return cmd
}

// commandNames returns the names that help lists.
func commandNames(commands []*cobra.Command) []string {
	var out []string
	for _, c := range commands {
		if c.IsAvailableCommand() {
			out = append(out, c.Name())
		}
	}
	return out
}

// completeWorlds completes the names of the worlds in the cache.
func completeWorlds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cache, err := devworld.CacheDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	entries, err := os.ReadDir(filepath.Join(cache, "dev"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// world is the one that the flags name.
func (s *devVerbs) world(f *devFlags) (devworld.World, error) {
	w := devworld.World{Daemon: []string{"dev", "daemon"}, Clock: s.Clock, Progress: s.ErrOut}
	if f.dir != "" && f.name != defaultWorld {
		return w, exit.Usage("--dir and --name name two worlds: give one of them")
	}
	if problems := validation.IsDNS1123Label(f.name); len(problems) > 0 {
		return w, exit.Usage("--name: %q: %s", f.name, problems[0])
	}
	dir := f.dir
	if dir == "" {
		cache, err := s.cacheDir()
		if err != nil {
			return w, err
		}
		dir = filepath.Join(cache, "dev", f.name)
	}
	var err error
	w.Dir, err = filepath.Abs(dir)
	return w, err
}

// cacheDir is the folder of programs and worlds.
func (s *devVerbs) cacheDir() (string, error) {
	dir, err := devworld.CacheDir()
	if err != nil {
		return "", exit.Precondition(fmt.Errorf("finding the folder of the cache: %w: set NEXUS_CACHE", err))
	}
	return dir, nil
}

// selection is the flag that names the same world in another command line.
func (f *devFlags) selection() string {
	switch {
	case f.dir != "":
		return " --dir " + console.ShellQuote(f.dir)
	case f.name != defaultWorld:
		return " --name " + f.name
	default:
		return ""
	}
}

// devVerb makes a command about the world that the flags name.
func (s *devVerbs) devVerb(f *devFlags, cmd *cobra.Command, run func(context.Context, devworld.World) error) *cobra.Command {
	cmd.Args = arguments(cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		w, err := s.world(f)
		if err != nil {
			return err
		}
		return run(cmd.Context(), w)
	}
	return cmd
}

func (s *devVerbs) devDaemonCommand(f *devFlags) *cobra.Command {
	cmd := &cobra.Command{Use: "daemon", Short: "Hold a local world; dev up starts it in the background", Hidden: true}
	return s.devVerb(f, cmd, func(ctx context.Context, w devworld.World) error {
		w.Progress = s.Out
		return w.Hold(ctx)
	})
}

func (s *devVerbs) devStatusCommand(f *devFlags) *cobra.Command {
	cmd := s.devVerb(f, &cobra.Command{
		Use:   "status",
		Short: "Show whether a local world runs, with its processes and capabilities",
		Long: "status lists the processes of a local world and the capabilities in it, and exits with 1 when it does not run or a process has\n" +
			"ended. With -o wide it also lists what exists in AWS and in the namespaces of the capabilities.",
		Example: "  nexusctl dev status\n  nexusctl dev status -o wide\n  KUBECONFIG=$(nexusctl dev status -o json | jq -r .kubeconfig) kubectl get nodes",
	}, func(ctx context.Context, w devworld.World) error { return s.devStatus(ctx, w, f) })
	outputFlag(cmd, &f.output, "text", "wide", "json", "yaml")
	return cmd
}

func (s *devVerbs) devStatus(ctx context.Context, w devworld.World, f *devFlags) error {
	r, err := s.printWorld(ctx, w, f, statusText)
	switch {
	case err != nil:
		return err
	case !r.Running:
		return &exit.Failure{Code: exit.CodeFailed}
	case f.output == "wide":
		return w.Show(ctx, s.Out)
	default:
		return nil
	}
}

// printWorld prints a world as it is now.
func (s *devVerbs) printWorld(ctx context.Context, w devworld.World, f *devFlags,
	text func(*devworld.Report, *devFlags) string) (*devworld.Report, error) {
	r, err := w.Status(ctx)
	if err == nil {
		err = console.PrintAs(s.Out, f.output, localWorld{devAPIVersion, "LocalWorld", r}, func() string { return text(r, f) })
	}
	return r, err
}

// statusText describes a world for people.
func statusText(r *devworld.Report, f *devFlags) string {
	if r.Kubeconfig == "" {
		return fmt.Sprintf("No local world runs in %s: start one with nexusctl dev up%s.\n", r.Dir, f.selection())
	}
	rows := [][]string{{"PROCESS", "PID", "STATE"}}
	for _, p := range r.Processes {
		state := "Running"
		if !p.Running {
			state = "Ended, see " + p.Log
		}
		rows = append(rows, []string{p.Name, strconv.Itoa(p.PID), state})
	}
	text := console.Table(rows)
	if len(r.Capabilities) > 0 {
		rows = [][]string{{"CAPABILITY", "PHASE", "STEPS"}}
		for _, c := range r.Capabilities {
			rows = append(rows, []string{c.Namespace + "/" + c.Name, c.Phase, c.Progress})
		}
		text += "\n" + console.Table(rows)
	}
	return text + fmt.Sprintf("\nOperator restarts: %d\nKubeconfig: %s\nAWS endpoint: %s\n", r.OperatorRestarts, r.Kubeconfig, r.AWSEndpoint)
}

func (s *devVerbs) devDownCommand(f *devFlags) *cobra.Command {
	cmd := s.devVerb(f, &cobra.Command{
		Use:   "down",
		Short: "Stop a local world and remove its state",
		Long: "down stops every process that dev up has started, and removes the files of the world with all that was created in it. The\n" +
			"programs stay in the cache. Processes are recognized by number and time of start, so that no other process is ever stopped.",
		Example: "  nexusctl dev down\n  nexusctl dev down --name second --dry-run",
	}, func(ctx context.Context, w devworld.World) error { return s.devDown(ctx, w, f) })
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be stopped and removed, and change nothing")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

// stopped is the report of down.
type stopped struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	DryRun     bool   `json:"dryRun"`
	Dir        string `json:"dir"`
	// Processes are the names of those that ran.
	Processes []string `json:"processes"`
	// Removed is true when there were files of a world.
	Removed bool `json:"removed"`
}

func (s *devVerbs) devDown(ctx context.Context, w devworld.World, f *devFlags) error {
	done := stopped{APIVersion: devAPIVersion, Kind: "StoppedWorld", DryRun: f.dryRun, Dir: w.Dir, Processes: []string{}, Removed: w.Exists()}
	stop := w.Down
	if f.dryRun {
		stop = w.RunningProcesses
	}
	names, err := stop(ctx)
	if err != nil {
		return s.explainWorld(f, err)
	}
	done.Processes = append(done.Processes, names...)
	return console.PrintAs(s.Out, f.output, done, done.Text)
}

func (d stopped) Text() string {
	verb := map[bool]string{false: "Stopped", true: "Would stop"}[d.DryRun]
	switch {
	case len(d.Processes) > 0:
		return fmt.Sprintf("%s %d processes (%s), and %s %s.\n", verb, len(d.Processes), strings.Join(d.Processes, ", "),
			map[bool]string{false: "removed", true: "remove"}[d.DryRun], d.Dir)
	case d.Removed:
		return fmt.Sprintf("No process runs; %s %s.\n", map[bool]string{false: "removed", true: "would remove"}[d.DryRun], d.Dir)
	default:
		return fmt.Sprintf("No local world runs in %s.\n", d.Dir)
	}
}
