// SPDX-License-Identifier: Apache-2.0

// The nexusctl plans, checks and operates AI capabilities from a terminal or a pipeline. Called kubectl-nexus it is a
// plugin of kubectl.
package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/docs"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/web"
)

// version is that of the release; the Makefile has the linker set it. Without it, it is that of the module.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	// A reader that ends early, such as head, must not end the program between a change and its record: the write fails instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctrl.SetLogger(logr.Discard()) // what a verb has to say it prints
	klog.SetLogger(logr.Discard())
	program := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Docs: docs.Pages, Page: web.Files(),
		Version: cmp.Or(version, metrics.Version()), Getenv: os.Getenv, Clock: clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}}
	os.Exit(program.Run(ctx, os.Args)) //nolint:gocritic // stop has nothing left to release
}
