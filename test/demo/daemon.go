// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// operatorPause is how long a dead operator stays down.
const operatorPause = time.Second

// daemon holds the world and the operator until it receives the signal to end. It runs in
// the background, its output in daemon.log.
func daemon(ctx context.Context, o options) (err error) {
	lock, ok, err := lockDemo(o)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("another daemon is running")
	}
	defer lock.Close()
	s := state{PID: os.Getpid()}
	if err := s.write(o); err != nil {
		return err
	}
	w, err := world.Start(ctx, world.Options{Dir: o.file("world"), Log: os.Stdout, Nodes: o.nodes, CRDs: o.crds, ManagedPolicies: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	if _, err := w.AWS().CreateOIDCProvider(ctx, w.Issuer()); err != nil {
		return fmt.Errorf("registering the cluster's issuer in IAM: %w", err)
	}
	s.Components, s.Kubeconfig, s.AWS = w.PIDs(), w.Kubeconfig(), w.AWS().URL()
	if s.Programs, err = world.BinDir(); err != nil {
		return err
	}
	if s.OperatorKubeconfig, err = operator.Kubeconfig(w); err != nil {
		return err
	}
	if err := s.writeEnv(o); err != nil {
		return err
	}
	return runOperator(ctx, o, s)
}

// runOperator keeps the operator running, as a Deployment would, and the state
// up to date, until ctx ends.
func runOperator(ctx context.Context, o options, s state) error {
	s.Ready = true
	if o.operator == "" {
		if err := s.write(o); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	log, err := os.Create(o.file("operator.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	for ; ctx.Err() == nil; s.Restarts++ {
		cmd, err := operatorCommand(o, s, log)
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		s.Operator = cmd.Process.Pid
		if err := s.write(o); err != nil {
			return errors.Join(err, cmd.Process.Kill())
		}
		err = waitOperator(ctx, cmd)
		fmt.Printf("the operator (process %d) has ended: %v\n", cmd.Process.Pid, err)
		s.Operator = 0
		select {
		case <-ctx.Done():
		case <-time.After(operatorPause):
		}
	}
	return nil
}

// waitOperator waits for the end of the operator; when ctx ends it asks it to
// stop, and after five seconds kills it.
func waitOperator(ctx context.Context, cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		_ = cmd.Process.Kill()
		return <-done
	}
}

func operatorCommand(o options, s state, log io.Writer) (*exec.Cmd, error) {
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := []string{"--capability-namespaces=*", "--leader-elect=false", "--metrics-bind-address=" + metrics, "--health-probe-bind-address=" + health}
	cmd := exec.Command(o.operator, append(args, strings.Fields(o.operatorArgs)...)...)
	cmd.Dir = o.dir
	cmd.Stdout, cmd.Stderr = log, log
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "AWS_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(append(cmd.Env, s.environment()...), "KUBECONFIG="+s.OperatorKubeconfig)
	return cmd, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
