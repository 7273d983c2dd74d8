// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/ui"
)

// uiFlags are the flags of the verb.
type uiFlags struct {
	port int
	open bool
	idle time.Duration
}

func uiCommand(p Program, s *connection.Connection) *cobra.Command {
	f := &uiFlags{}
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show capabilities, their causes of trouble and plans on a local web page",
		Long: "ui serves a web page on a loopback address until it is interrupted, and prints the address of the page. The page lists\n" +
			"capabilities and AWS resource objects and follows their changes, shows one of them as a graph with conditions, drift, events and\n" +
			"remedies, plans manifests, and shows the coverage of security intents and what the operator did.\n\n" +
			"It reads with your own kubeconfig, credentials and rights, and changes nothing. Only the address with its token opens the page.\n" +
			"Without -n the page shows all namespaces, or, without the right to that, the namespace of the kubeconfig's context.",
		Example: "  nexusctl ui --open\n  nexusctl ui -n team-a --port 8765",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&askingVerb{Connection: s, program: p}).ui(cmd.Context(), f, cmd.Root().PersistentFlags())
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", 0, "port of the loopback address; 0 chooses a free one")
	flags.BoolVar(&f.open, "open", false, "open the page in the browser")
	flags.DurationVar(&f.idle, "idle-timeout", 0, "end when no page was open for so long; 0 means never")
	return cmd
}

func (f *uiFlags) Check() error {
	switch {
	case f.port < 0 || f.port > 65535:
		return exit.Usage("--port: %d is no port", f.port)
	case f.idle < 0:
		return exit.Usage("--idle-timeout: %s is negative", f.idle)
	default:
		return nil
	}
}

func (s *askingVerb) ui(ctx context.Context, f *uiFlags, flags *pflag.FlagSet) error {
	if err := f.Check(); err != nil {
		return err
	}
	server, err := s.uiServer(ctx, flags)
	if err != nil {
		return err
	}
	server.IdleTimeout = f.idle
	l, err := ui.Listen(ctx, f.port)
	if err != nil {
		return exit.Precondition(fmt.Errorf("--port: %w", err))
	}
	b := &browser{}
	defer b.close()
	return server.Serve(ctx, l, func(address string) {
		_, _ = fmt.Fprintln(s.Out, address)
		s.Say("The page is open to everyone who has this address. Press Ctrl-C to end.")
		if !f.open {
			return
		}
		if err := b.open(ctx, address); err != nil {
			s.Say("The browser was not opened: %v", err)
		}
	})
}

// uiServer prepares the page with the rights of the user.
func (s *askingVerb) uiServer(ctx context.Context, flags *pflag.FlagSet) (*ui.Server, error) {
	if s.program.Page == nil {
		return nil, errors.New("this nexusctl was built without the page")
	}
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, err
	}
	watching, err := client.NewWithWatch(cfg, client.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper()})
	if err != nil {
		return nil, exit.Precondition(fmt.Errorf("reaching the cluster: %w", err))
	}
	namespace, err := s.uiNamespace(ctx, c)
	if err != nil {
		return nil, err
	}
	r := s.ReaderOf(c)
	feed := &ui.Feed{Client: watching, Kinds: r.OwnKinds(), Namespace: namespace}
	if err := feed.Start(ctx); err != nil {
		return nil, connection.ReadFailure(err)
	}
	name := *s.Cluster.Context
	if raw, err := s.Cluster.ToRawKubeConfigLoader().RawConfig(); err == nil {
		name = cmp.Or(name, raw.CurrentContext)
	}
	answers := asked{program: s.program, flags: changedFlags(flags)}
	return &ui.Server{Files: s.program.Page, Ask: answers.print, Reader: r, Feed: feed,
		Session: ui.Session{Version: cmp.Or(s.Version, "unknown"), Context: name, Namespace: namespace}}, nil
}

// uiNamespace is the namespace that -n names, or all namespaces; of a user who may not list those, the namespace of the context.
func (s *askingVerb) uiNamespace(ctx context.Context, c client.Client) (string, error) {
	namespace, err := s.NamespaceOf(false)
	if err != nil || s.EnforcesNamespace() {
		return namespace, err
	}
	switch err := c.List(ctx, &nexusv1.NexusAICapabilityList{}, client.Limit(1)); {
	case apierrors.IsForbidden(err):
		return namespace, nil
	case err != nil:
		return "", connection.ReadFailure(err)
	default:
		return "", nil
	}
}
