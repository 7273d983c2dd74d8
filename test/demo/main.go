// SPDX-License-Identifier: Apache-2.0

// Demo brings the whole system up on one machine: a real control plane, an AWS
// emulator and the operator, with capabilities running on it, one of them with
// security intents.
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
)

// options are the flags of all verbs.
type options struct {
	dir          string
	operator     string
	operatorArgs string
	crds         listFlag
	manifests    listFlag
	intents      string
	timeout      time.Duration
	nodes        int
}

// listFlag is a flag that may be repeated.
type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

// defaultCRDs are our own kinds, and those of two policy engines without the
// engines, so that what security intents become there can be seen.
func defaultCRDs() listFlag {
	return listFlag{"config/crd/bases", "internal/testkit/enginecrds/kubearmor.yaml", "internal/testkit/enginecrds/kyverno.yaml"}
}

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
	flags.StringVar(&o.operatorArgs, "operator-args", "", "further flags of the operator, separated by blanks")
	flags.Var(&o.crds, "crds", "file or folder of CustomResourceDefinitions; may be repeated; default "+strings.Join(defaultCRDs(), ","))
	flags.Var(&o.manifests, "f", "file of objects to apply; may be repeated")
	flags.StringVar(&o.intents, "intents", "examples/capability-with-intents.yaml", "file of a capability with security intents, applied after the others; empty: none")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long capabilities may take to run")
	flags.IntVar(&o.nodes, "nodes", 3, "fake nodes of the cluster")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	}
	if len(o.crds) == 0 {
		o.crds = defaultCRDs()
	}
	if o.intents != "" {
		o.manifests = append(o.manifests, o.intents)
	}
	paths := []*string{&o.dir, &o.operator}
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
