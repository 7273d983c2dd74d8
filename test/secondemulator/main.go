// SPDX-License-Identifier: Apache-2.0

// Secondemulator runs the operator as users get it against an AWS emulator that its authors did not correct, and without the proxy
// of the test bed: a belief about AWS that the operator shares with moto and its corrections shows here. Each AWS kind of the
// examples, resources of fifty types, and one capability are created, checked at rest, edited and deleted. It prints a table, and below
// it what does not hold, in the words of the operator and of the emulator.
//
//	go run ./test/secondemulator
//	go run ./test/secondemulator -kinds SQSQueue,SNSTopic -keep
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// region is that of the examples.
const region = "ap-southeast-1"

// cluster is the EKS cluster of the operator in the examples.
const cluster = "production"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(logr.Discard())         // of the client, which logs nothing
	ctx, cancel := context.WithCancel(ctx) // ends the processes
	err := run(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "secondemulator:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	kinds      string
	types      int
	capability string
	binary     string
	keep       bool
}

func run(ctx context.Context) error {
	var o options
	flag.StringVar(&o.kinds, "kinds", "", "kinds to live, separated by commas, with what their examples need; empty: all")
	flag.IntVar(&o.types, "types", 40, "resource types to live with generated properties, beside those of examples/any-type")
	flag.StringVar(&o.capability, "capability", "examples/nexus-ai-complete.yaml", "file of the capability to live; empty: none")
	flag.StringVar(&o.binary, "operator", "bin/nexus-operator", "the operator's program")
	flag.BoolVar(&o.keep, "keep", false, "keep the folder of the logs")
	flag.Parse()
	schemas, err := awstypes.Bundled()
	if err != nil {
		return err
	}
	lives, err := examples(strings.FieldsFunc(o.kinds, func(r rune) bool { return r == ',' }), schemas, o.types)
	if err != nil {
		return err
	}
	s, err := start(ctx, o, schemas, typesOf(lives))
	if err != nil {
		return err
	}
	defer s.stop()
	if lives, err = s.liveKinds(ctx, lives); err != nil {
		return err
	}
	if o.capability != "" {
		life, err := s.liveCapability(ctx, o.capability)
		if err != nil {
			return err
		}
		lives = append(lives, life)
	}
	fmt.Printf("ministack %s, %s\n\n", version(), time.Now().UTC().Format(time.DateOnly))
	if unknown := report(os.Stdout, lives); unknown > 0 {
		return fmt.Errorf("%d results differ from AWS and are no known gap of the emulator", unknown)
	}
	return nil
}

// stage holds what the lives are lived on.
type stage struct {
	dir     string
	keep    bool
	world   *world.World
	client  client.Client
	url     string // of the emulator itself
	counter *counter
	begin   time.Time
	schemas *awstypes.Types
	types   []string // resource types of the lives
}

// start starts the control plane, the emulator, the counter before it, and the operator.
func start(ctx context.Context, o options, schemas *awstypes.Types, types []string) (*stage, error) {
	program, err := installEmulator(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nexus-second-emulator-")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir, keep: o.keep, begin: time.Now(), schemas: schemas, types: types}
	if err := s.startAll(ctx, program, o.binary); err != nil {
		s.keep = true
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *stage) startAll(ctx context.Context, program, binary string) (err error) {
	if s.world, err = world.Start(ctx,
		world.Options{Dir: filepath.Join(s.dir, "world"), NoAWS: true, CRDs: []string{"config/crd/bases"}}); err != nil {
		return err
	}
	if s.client, err = client.New(s.world.Config(), client.Options{}); err != nil {
		return err
	}
	if s.url, err = startEmulator(ctx, program, s.dir); err != nil {
		return err
	}
	if err := prepareAccount(ctx, s.url, s.world.Issuer()); err != nil {
		return err
	}
	front, err := s.startCounter(ctx)
	if err != nil {
		return err
	}
	return s.startOperator(ctx, binary, front)
}

// startCounter starts the proxy that counts, and returns its address.
func (s *stage) startCounter(ctx context.Context) (string, error) {
	log, err := os.Create(filepath.Join(s.dir, "requests.log"))
	if err != nil {
		return "", err
	}
	if s.counter, err = newCounter(s.url, log, cloudcontrol.Live(account, s.schemas)); err != nil {
		return "", err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: s.counter, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until this process ends
	return "http://" + listener.Addr().String(), nil
}

// startOperator runs the operator with the rights that it ships with. Apart from addresses and from what an administrator has to
// allow, its settings are the defaults, but stalled objects are retried sooner than after a minute.
func (s *stage) startOperator(ctx context.Context, binary, endpoint string) error {
	config, err := operator.Kubeconfig(s.world)
	if err != nil {
		return err
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	args := []string{"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--stalled-interval=10s",
		"--capability-namespaces=*", "--ambient-namespaces=*", "--eks-cluster-name=" + cluster, "--types=" + strings.Join(s.types, ",")}
	env := []string{"KUBECONFIG=" + config, "AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
		"AWS_SECRET_ACCESS_KEY=secret", "OPERATOR_NAMESPACE=" + operator.Namespace, "AWS_PROFILE=", "AWS_CONFIG_FILE=" + os.DevNull}
	return startProcess(ctx, filepath.Join(s.dir, "operator.log"), binary, args, env)
}

// stop stops the control plane; the other processes end with the context.
func (s *stage) stop() {
	var err error
	if s.world != nil {
		err = s.world.Stop()
	}
	if s.keep {
		fmt.Fprintln(os.Stderr, "logs are in", s.dir)
	} else {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "secondemulator:", err)
	}
}

// sayf prints progress.
func (s *stage) sayf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}
