// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/osproc"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds/definitions"
	"github.com/nexus-operator/nexus-operator/internal/testkit/rights"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
	"github.com/nexus-operator/nexus-operator/manifests"
)

// operatorPause is the time before a dead operator is started again.
const operatorPause = time.Second

// Hold runs the world and the operator until ctx ends. Up starts a process that calls it, with its output in daemon.log.
func (w World) Hold(ctx context.Context) (err error) {
	lock, ok, err := tryLock(w.file(fileLock))
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("another daemon is running")
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	o, err := w.begin()
	if err != nil {
		return err
	}
	running, err := world.Start(ctx,
		world.Options{Dir: w.file(folderWorld), Log: w.Progress, Nodes: o.Nodes, Programs: o.Programs, CRDs: o.CRDs,
			ManagedPolicies: true, StartTimeout: o.Timeout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	s, err := w.prepareOperator(ctx, o, running)
	if err == nil {
		err = w.runOperator(ctx, o, s)
	}
	return err
}

// begin records this process for other commands, and returns the options to start with.
func (w World) begin() (o Options, err error) {
	if err := (state{PID: os.Getpid()}).write(w); err != nil {
		return o, err
	}
	if o, err = w.readOptions(); err == nil {
		o.CRDs, err = w.definitions(o)
	}
	return o, err
}

// readOptions returns the options that the world was started with.
func (w World) readOptions() (o Options, err error) {
	text, err := os.ReadFile(w.file(fileOptions))
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

// prepareOperator sets up the requirements of the operator and of clients in a new world, and describes it.
func (w World) prepareOperator(ctx context.Context, o Options, running *world.World) (state, error) {
	if err := addCloudControl(running); err != nil {
		return state{}, err
	}
	s := state{PID: os.Getpid(), Components: running.PIDs(), Kubeconfig: running.Kubeconfig(), AWS: running.AWS().URL(),
		Programs:    running.Programs(),
		OwnPrograms: o.ownPrograms(), OperatorArgs: append(slices.Clone(demoSettings), o.OperatorArgs...)}
	if _, err := running.AWS().CreateOIDCProvider(ctx, running.Issuer()); err != nil {
		return s, fmt.Errorf("registering the cluster's issuer in IAM: %w", err)
	}
	if o.Bounded {
		boundary, err := running.AWS().CreatePolicy(ctx, "nexus-boundary")
		if err != nil {
			return s, fmt.Errorf("creating the permissions boundary: %w", err)
		}
		s.OperatorArgs = append(s.OperatorArgs, "--default-permissions-boundary="+boundary)
	}
	objects, err := w.operatorRights()
	if err != nil {
		return s, err
	}
	if s.OperatorKubeconfig, err = rights.Kubeconfig(ctx, running, objects); err != nil {
		return s, err
	}
	return s, s.writeEnv(w)
}

// ownPrograms returns the folders of nexusctl and of the operator, which may hold an older nexusctl. The folder of the program that
// runs is none of them: go run removes the one that it builds into.
func (o Options) ownPrograms() (out []string) {
	for _, program := range []string{o.Client, o.Operator} {
		if dir := filepath.Dir(program); program != "" && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// definitions returns the files of the CustomResourceDefinitions. Those that are built in are the operator's, and those of
// two policy engines without the engines, so that the policies that the operator makes of security intents can be seen.
func (w World) definitions(o Options) ([]string, error) {
	if len(o.CRDs) > 0 {
		return o.CRDs, nil
	}
	bases := w.file(folderCRDs + "/bases")
	if err := os.CopyFS(bases, crd.Bases); err != nil {
		return nil, err
	}
	paths := []string{bases}
	for _, engine := range []string{"kubearmor.yaml", "kyverno.yaml"} {
		path := w.file(folderCRDs + "/" + engine)
		if err := unpack(definitions.Files, engine, path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// unpack writes an embedded file.
func unpack(from fs.FS, name, path string) error {
	text, err := fs.ReadFile(from, name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// operatorRights returns the operator's namespace and ServiceAccount, its rights and the policy that limits it, as an
// installation has them.
func (w World) operatorRights() ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, name := range []string{"00-namespace.yaml", "rbac.yaml"} {
		path := w.file(folderWorld + "/" + name)
		if err := unpack(manifests.Files, name, path); err != nil {
			return nil, err
		}
		objects, err := world.ReadManifests(path)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

// runOperator keeps the operator running, as a Deployment would, and the state
// up to date, until ctx ends.
func (w World) runOperator(ctx context.Context, o Options, s state) error {
	s.Ready = true
	if o.Operator == "" {
		if err := s.write(w); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	log, err := os.Create(w.file(fileOperator))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the operator's own writes are done
	for ; ctx.Err() == nil; s.Restarts++ {
		if s.Health, err = freeAddress(ctx); err != nil {
			return err
		}
		cmd, err := w.startOperator(ctx, o, s, log)
		if err != nil {
			return err
		}
		s.Operator = cmd.Process.Pid
		if err := s.write(w); err != nil {
			return errors.Join(err, cmd.Process.Kill())
		}
		err = waitOperator(ctx, cmd)
		say(w.Progress, "the operator (process %d) has ended: %v", cmd.Process.Pid, err)
		s.Operator = 0
		pause(ctx, operatorPause)
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
	_ = osproc.Terminate(cmd.Process.Pid)
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		_ = cmd.Process.Kill()
		return <-done
	}
}

// demoSettings are the flags for the behavior of the operator of a local world. Objects of any namespace use its identity at the emulator.
var demoSettings = []string{"--ambient-namespaces=*", "--capability-namespaces=*", "--types=" + strings.Join(demoTypes, ",")}

func (w World) startOperator(ctx context.Context, o Options, s state, log io.Writer) (*exec.Cmd, error) {
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--metrics-bind-address=" + metrics, "--health-probe-bind-address=" + s.Health}, s.OperatorArgs...)
	cmd := exec.Command(o.Operator, args...) // waitOperator ends it
	cmd.Dir = w.Dir
	cmd.Stdout, cmd.Stderr = log, log
	var env []string
	for _, pair := range cmd.Environ() {
		if !strings.HasPrefix(pair, "AWS_") {
			env = append(env, pair)
		}
	}
	cmd.Env = append(append(env, s.environment()...), "KUBECONFIG="+s.OperatorKubeconfig)
	return cmd, cmd.Start()
}

func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
