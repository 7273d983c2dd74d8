// SPDX-License-Identifier: Apache-2.0

// Package world starts and stops an isolated Kubernetes control plane and AWS
// emulator for tests: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler and kwok (fake nodes and pods) built from Go modules, and moto
// behind a recording, fault-injecting proxy. All of it listens on free loopback
// ports and dies with the process that started it.
//
//	func TestMain(m *testing.M) { world.Main(m, world.Options{}) }
//
//	func TestX(t *testing.T) {
//		w := world.Shared(t)
//		c, err := client.New(w.Config(), client.Options{})
//		...
//	}
package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// DefaultIssuer is the issuer of ServiceAccount tokens: of the form that EKS
// has, since IAM accepts no issuer with a port.
const DefaultIssuer = "https://oidc.eks.ap-southeast-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"

// Options holds the parts to start. The zero value is a whole world with one node.
type Options struct {
	Dir   string    // where logs and data go; empty: a temporary folder, removed by Stop unless NEXUS_BED_KEEP is set
	Log   io.Writer // progress, one line a step; nil: silent
	Nodes int       // fake nodes; 0: one

	Programs string // folder of the programs that run; empty: that of BinDir

	NoKubernetes bool // only moto and its proxy
	NoAWS        bool // only the control plane

	// CRDs are files or folders of CustomResourceDefinitions, installed before
	// the controller manager starts: its garbage collector notices kinds that
	// come later only every 30 seconds.
	CRDs []string

	Issuer          string   // of ServiceAccount tokens, https; empty: DefaultIssuer
	APIServerArgs   []string // further flags of kube-apiserver
	GOGC            int      // of the Go programs, as the variable of this name, in percent; 0: 200
	MotoEnv         []string // further environment of moto, KEY=value
	ManagedPolicies bool     // moto knows the AWS managed policies (half a second more per start and reset)

	StartTimeout time.Duration // 0: three minutes, which a start takes where several share two busy cores
}

// World is a running test bed.
type World struct {
	components *components
	cluster    *controlPlane
	proxy      *emulator.Proxy
	ownDir     bool
}

// Start brings up a world and waits until it is usable: the API server ready,
// the default ServiceAccount there, every node Ready, moto answering. When it
// fails nothing is left running, and the error carries the end of the log of
// the component that failed.
func Start(ctx context.Context, o Options) (*World, error) {
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.Issuer == "" {
		o.Issuer = DefaultIssuer
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 3 * time.Minute
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Programs == "" {
		bin, err := BinDir()
		if err != nil {
			return nil, err
		}
		o.Programs = bin
	}
	parts := &components{options: o}
	w := &World{components: parts, cluster: &controlPlane{components: parts}}
	ctx, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the test bed: %w", err), w.Stop())
	}
	return w, nil
}

func (w *World) start(ctx context.Context) error {
	if err := w.prepareDir(); err != nil {
		return err
	}
	parts, o := w.components, w.components.options
	if err := parts.reservePorts(); err != nil {
		return err
	}
	// The emulator loads while the control plane comes up.
	var moto *process
	if !o.NoAWS {
		if err := os.WriteFile(parts.file(imagesFile), []byte(images), 0o644); err != nil {
			return err
		}
		moto = parts.moto()
		if err := moto.start(); err != nil {
			return err
		}
	}
	if !o.NoKubernetes {
		if err := w.cluster.start(ctx); err != nil {
			return err
		}
	}
	if moto == nil {
		return nil
	}
	if err := parts.waitMoto(ctx); err != nil {
		return err
	}
	return w.startProxy()
}

// latencyVariable delays every answer of AWS by its value, such as 700ms.
const latencyVariable = "NEXUS_BED_AWS_LATENCY"

func (w *World) startProxy() (err error) {
	if w.proxy, err = emulator.Start(w.MotoURL()); err != nil {
		return err
	}
	if text := os.Getenv(latencyVariable); text != "" {
		latency, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s: %w", latencyVariable, err)
		}
		w.proxy.SetLatency(latency)
	}
	return nil
}

func (w *World) prepareDir() error {
	parts := w.components
	if parts.options.Dir != "" {
		parts.dir = parts.options.Dir
		return os.MkdirAll(parts.dir, 0o755)
	}
	dir, err := os.MkdirTemp("", "nexus-bed-")
	parts.dir, w.ownDir = dir, err == nil
	return err
}

// Stop kills every component, waits for their end and frees ports and files.
// It may be called twice.
func (w *World) Stop() error {
	var errs []error
	if w.proxy != nil {
		errs = append(errs, w.proxy.Close())
		w.proxy = nil
	}
	errs = append(errs, w.components.stop())
	if w.ownDir && os.Getenv("NEXUS_BED_KEEP") == "" {
		errs = append(errs, os.RemoveAll(w.components.dir))
		w.ownDir = false
	}
	return errors.Join(errs...)
}

// Dir returns the folder of logs and data.
func (w *World) Dir() string { return w.components.dir }

// Programs returns the folder of the programs that run, kubectl among them.
func (w *World) Programs() string { return w.components.options.Programs }

// Issuer returns the issuer of ServiceAccount tokens.
func (w *World) Issuer() string { return w.components.options.Issuer }

// AWS returns the proxy in front of moto; nil without AWS.
func (w *World) AWS() *emulator.Proxy { return w.proxy }

// ResetAWS empties the AWS emulator, as Proxy.Reset does, and registers the cluster's issuer in IAM, as a person who sets
// up a cluster for IRSA does once per account.
func (w *World) ResetAWS(ctx context.Context) error {
	if err := w.proxy.Reset(); err != nil {
		return err
	}
	_, err := w.proxy.CreateOIDCProvider(ctx, w.Issuer())
	return err
}

// MotoURL returns the address of moto itself, for inventories and set-up that
// must not be recorded.
func (w *World) MotoURL() string { return w.components.loopback("http", portMoto) }

// PIDs returns the process id of every running component.
func (w *World) PIDs() map[string]int {
	pids := map[string]int{}
	for _, p := range w.components.processes {
		if p.alive() == nil {
			pids[p.name] = p.pid()
		}
	}
	return pids
}

// Config returns a new client configuration with every right, without client-side
// rate limits.
func (w *World) Config() *rest.Config { return rest.CopyConfig(w.cluster.config) }

// Kubeconfig returns the path of a kubeconfig file with every right.
func (w *World) Kubeconfig() string { return w.components.kubeconfig() }

// UserConfig returns a client configuration of a user of that name and those groups, authenticated by a certificate. RBAC decides its
// rights: with it, a test runs an operator under the rights that it ships with.
func (w *World) UserConfig(name string, groups ...string) (*rest.Config, error) {
	return w.cluster.userConfig(name, groups)
}
