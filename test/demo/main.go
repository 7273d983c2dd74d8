// SPDX-License-Identifier: Apache-2.0

// Demo brings the whole system up on one machine from the source tree: a real control plane, an AWS emulator and the operator,
// with capabilities running on it, one of them with security intents. The world is that of nexusctl dev.
//
//	go run ./test/demo up -f examples/test-capability.yaml
//	source .demo/env; kubectl get nexuscapabilities -A
//	go run ./test/demo down
//
// Everything runs in the background below one process, the daemon; its files
// lie in .demo/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/devworld"
)

// options are the flags of all verbs.
type options struct {
	dir          string
	operator     string
	client       string
	operatorArgs string
	crds         listFlag
	manifests    listFlag
	intents      string
	timeout      time.Duration
	nodes        int
	bounded      bool
}

// listFlag is a flag that may be repeated.
type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

const usage = "usage: demo up|down|status [flags]"

var verbs = map[string]func(context.Context, options) error{"up": up, "down": down, "status": status, "daemon": daemon}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || verbs[args[0]] == nil {
		return errors.New(usage)
	}
	o, err := parse(args[1:])
	if err != nil {
		return err
	}
	return verbs[args[0]](ctx, o)
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", ".demo", "folder of logs, state and the env file")
	flags.StringVar(&o.operator, "operator", "bin/nexus-operator", "the operator's program; empty: none")
	flags.StringVar(&o.client, "client", "test/demo/bin/nexusctl", "nexusctl, which the env file puts on the PATH; empty: none")
	flags.StringVar(&o.operatorArgs, "operator-args", "", "further flags of the operator, separated by blanks")
	flags.Var(&o.crds, "crds", "file or folder of CustomResourceDefinitions; may be repeated; default: those that are built in")
	flags.Var(&o.manifests, "f", "file of objects to apply; may be repeated")
	flags.StringVar(&o.intents, "intents", "examples/capability-with-intents.yaml",
		"file of a capability with security intents, applied after the others; empty: none")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long capabilities may take to run")
	flags.BoolVar(&o.bounded, "bounded", false, "give the roles of capabilities a permissions boundary, which those that use models need")
	flags.IntVar(&o.nodes, "nodes", 3, "fake nodes of the cluster")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	}
	if o.intents != "" {
		o.manifests = append(o.manifests, o.intents)
	}
	paths := []*string{&o.dir, &o.operator, &o.client}
	for i := range o.crds {
		paths = append(paths, &o.crds[i])
	}
	for _, path := range paths {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return o, err
		}
		*path = absolute
	}
	return o, nil
}

// world is the demo's.
func (o options) world() devworld.World {
	return devworld.World{Dir: o.dir, Daemon: []string{"daemon"}, Clock: clock.RealClock{}, Progress: os.Stdout}
}

// daemon holds the world; up starts it in the background.
func daemon(ctx context.Context, o options) error { return o.world().Hold(ctx) }

// up starts everything anew, applies the manifests and waits until every
// capability runs.
func up(ctx context.Context, o options) error {
	if o.operator != "" {
		if _, err := os.Stat(o.operator); err != nil {
			return fmt.Errorf("the operator is not built: %w; run `make build`", err)
		}
	}
	w := o.world()
	if _, err := w.Down(ctx); err != nil {
		return err
	}
	if err := w.Up(ctx, devworld.Options{Operator: o.operator, Client: o.client, OperatorArgs: strings.Fields(o.operatorArgs), CRDs: o.crds,
		Nodes: o.nodes, Bounded: o.bounded,
		Manifests: o.manifests, Timeout: o.timeout}); err != nil {
		return err
	}
	if err := w.Show(ctx, os.Stdout); err != nil {
		return err
	}
	fmt.Printf(`
Everything goes on running. To look around:
  source %s
  kubectl get nexuscapabilities -A
  kubectl get sib,np -A -o wide
  aws s3 ls
  tail -f %s
  curl -s $AWS_ENDPOINT_URL/_ledger        every AWS request so far
To stop it all: go run ./test/demo down%s
`, filepath.Join(o.dir, "env"), filepath.Join(o.dir, "operator.log"), o.dirFlag())
	return nil
}

// dirFlag returns the flag with which another verb finds this demo.
func (o options) dirFlag() string {
	if filepath.Base(o.dir) == ".demo" {
		return ""
	}
	return " -dir " + o.dir
}

// down stops the demo and makes sure that nothing of it is left.
func down(ctx context.Context, o options) error {
	stopped, err := o.world().Down(ctx)
	if err != nil {
		return err
	}
	if len(stopped) == 0 {
		fmt.Println("no demo is running")
		return nil
	}
	fmt.Printf("stopped %d processes; none is left\n", len(stopped))
	return nil
}

// status tells what runs.
func status(ctx context.Context, o options) error {
	r, err := o.world().Status(ctx)
	if err != nil {
		return err
	}
	if r.Kubeconfig == "" {
		return errors.New("no demo is running")
	}
	for _, p := range r.Processes {
		if p.Running {
			fmt.Printf("%-24s process %d\n", p.Name, p.PID)
		}
	}
	fmt.Printf("%-24s %d\n", "operator restarts", r.OperatorRestarts)
	return o.world().Show(ctx, os.Stdout)
}
