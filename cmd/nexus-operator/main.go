// SPDX-License-Identifier: Apache-2.0

// The nexus-operator keeps AI capabilities and AWS resources as they are declared.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/tracing/otlp"
)

// gcPercent is the GOGC of the operator, in percent, unless the variable is set: garbage is collected at 1.6 times what is in use.
// With the default, at twice as much, the operator needs about a fifth more memory in a burst, and some per cent less CPU time.
const gcPercent = 60

// memoryShare is the share of the container's memory limit, in percent, that Go's memory may reach before garbage is collected more often
// than gcPercent says. The rest is for what a cycle of the collector allocates meanwhile, and for the pages of the binary.
const memoryShare = 75

// version is that of the release; the Makefile has the linker set it. Without it, it is that of the module.
var version string

func main() {
	// Only profiles of the heap use samples of allocations, and the operator serves none. They take some per cent of its CPU time.
	runtime.MemProfileRate = 0
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(os.Getenv("MEMORY_LIMIT")))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "nexus-operator:", err)
		os.Exit(1)
	}
}

// memoryLimit returns Go's memory limit in bytes for the value of MEMORY_LIMIT, which is the container's limit in bytes, as the downward
// API writes it. No limit, or one that is no number, leaves Go without one.
func memoryLimit(container string) int64 {
	limit, err := strconv.ParseInt(container, 10, 64)
	if err != nil || limit <= 0 {
		return math.MaxInt64
	}
	return limit / 100 * memoryShare
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == iamPolicyCommand {
		return printIAMPolicies(os.Stdout, args[1:])
	}
	if len(args) == 1 && args[0] == "--version" {
		_, err := fmt.Println(cmp.Or(version, metrics.Version()))
		return err
	}
	o, err := options.Parse(args, environment(namespaceFile))
	if err != nil {
		return err
	}
	log := newLogger(o.Log.Level, o.Log.Format)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	cfg, err := clusterConfig(o.Kubeconfig)
	if err != nil {
		return err
	}
	stopTracing, err := otlp.Start(ctx, otlp.Settings{Endpoint: strings.TrimSuffix(o.Trace.Endpoint, "/"), SampleRatio: o.Trace.SampleRatio,
		Version: cmp.Or(version, metrics.Version())})
	if err != nil {
		return err
	}
	defer func() { _ = stopTracing(context.Background()) }()
	mgr, err := controller.New(ctx, cfg, o, controller.Contents{Kinds: catalog.Kinds(), Engines: catalog.Engines()}, log)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// namespaceFile is the file in which Kubernetes tells a pod its namespace:
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// environment reads variables. OPERATOR_NAMESPACE defaults to the text of a file that exists in pods only.
func environment(namespaceFile string) func(string) string {
	return func(name string) string {
		value := os.Getenv(name)
		if value == "" && name == "OPERATOR_NAMESPACE" {
			own, _ := os.ReadFile(namespaceFile)
			return string(bytes.TrimSpace(own))
		}
		return value
	}
}

func newLogger(level, format string) logr.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // options checked it
	settings := &slog.HandlerOptions{Level: l}
	if format == "text" {
		return logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, settings))
	}
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, settings))
}

// clusterConfig reads --kubeconfig, else KUBECONFIG, else the pod's own ServiceAccount.
func clusterConfig(path string) (*rest.Config, error) {
	if path == "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		if cfg, err := rest.InClusterConfig(); err == nil {
			return cfg, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster (--kubeconfig, KUBECONFIG, in-cluster): %w", err)
	}
	return cfg, nil
}
