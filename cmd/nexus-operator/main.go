// The nexus-operator keeps AI capabilities and AWS resources as they are declared.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nexus-operator/nexus-operator/internal/controller"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "nexus-operator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := options.Parse(args, os.Getenv)
	if err != nil {
		return err
	}
	log := newLogger(o.LogLevel)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	cfg, err := clusterConfig(o.Kubeconfig)
	if err != nil {
		return err
	}
	mgr, err := controller.New(ctx, cfg, o, controller.Contents{Kinds: kinds(), Engines: engines()}, log)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newLogger(level string) logr.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // options checked it
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: l}))
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
