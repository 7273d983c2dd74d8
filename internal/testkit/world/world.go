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
	"slices"
	"time"

	"k8s.io/client-go/dynamic"
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
	options Options
	dir     string
	ownDir  bool
	bin     string
	issuer  string
	ports   []*portLock

	processes []*process // in order of start
	authority *authority
	config    *rest.Config
	client    dynamic.Interface
	proxy     *emulator.Proxy
}

const (
	portEtcd = iota
	portPeer
	portAPI
	portMoto
	portCount
)

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
	w := &World{options: o, bin: o.Programs, issuer: o.Issuer}
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
	for range portCount {
		p, err := reservePort()
		if err != nil {
			return err
		}
		w.ports = append(w.ports, p)
	}
	// The emulator loads while the control plane comes up.
	var moto *process
	if !w.options.NoAWS {
		if err := os.WriteFile(w.file(imagesFile), []byte(images), 0o644); err != nil {
			return err
		}
		moto = w.motoProcess()
		if err := moto.start(); err != nil {
			return err
		}
	}
	if !w.options.NoKubernetes {
		if err := w.startControlPlane(ctx); err != nil {
			return err
		}
	}
	if moto == nil {
		return nil
	}
	if err := w.waitMoto(ctx); err != nil {
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
	if w.options.Dir != "" {
		w.dir = w.options.Dir
		return os.MkdirAll(w.dir, 0o755)
	}
	dir, err := os.MkdirTemp("", "nexus-bed-")
	w.dir, w.ownDir = dir, err == nil
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
	for _, p := range slices.Backward(w.processes) {
		errs = append(errs, p.kill())
	}
	for _, p := range w.ports {
		p.release()
	}
	w.ports = nil
	if w.ownDir && os.Getenv("NEXUS_BED_KEEP") == "" {
		errs = append(errs, os.RemoveAll(w.dir))
		w.ownDir = false
	}
	return errors.Join(errs...)
}

// Dir returns the folder of logs and data.
func (w *World) Dir() string { return w.dir }

// Programs returns the folder of the programs that run, kubectl among them.
func (w *World) Programs() string { return w.bin }

// Issuer returns the issuer of ServiceAccount tokens.
func (w *World) Issuer() string { return w.issuer }

// AWS returns the proxy in front of moto; nil without AWS.
func (w *World) AWS() *emulator.Proxy { return w.proxy }

// ResetAWS empties the AWS emulator, as Proxy.Reset does, and registers the cluster's issuer in IAM, as a person who sets
// up a cluster for IRSA does once per account.
func (w *World) ResetAWS(ctx context.Context) error {
	if err := w.proxy.Reset(); err != nil {
		return err
	}
	_, err := w.proxy.CreateOIDCProvider(ctx, w.issuer)
	return err
}

// MotoURL returns the address of moto itself, for inventories and set-up that
// must not be recorded.
func (w *World) MotoURL() string { return w.loopback("http", w.ports[portMoto]) }

// PIDs returns the process id of every running component.
func (w *World) PIDs() map[string]int {
	pids := map[string]int{}
	for _, p := range w.processes {
		if p.alive() == nil {
			pids[p.name] = p.pid()
		}
	}
	return pids
}

func (w *World) logf(format string, args ...any) {
	fmt.Fprintf(w.options.Log, format+"\n", args...)
}
