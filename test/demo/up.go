// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// up starts everything anew, applies the manifests and waits until every
// capability runs.
func up(ctx context.Context, o options) error {
	if err := prepareDir(o); err != nil {
		return err
	}
	if o.operator != "" {
		if _, err := os.Stat(o.operator); err != nil {
			return fmt.Errorf("the operator is not built: %w; run `make build`", err)
		}
	}
	begin := time.Now()
	s, err := startDaemon(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("%6.1fs  control plane, AWS emulator and operator are up\n", time.Since(begin).Seconds())
	c, err := connect(s.Kubeconfig)
	if err != nil {
		return err
	}
	capabilities, err := c.applyFiles(ctx, o.manifests)
	if err != nil {
		return err
	}
	if err := c.waitRunning(ctx, o, capabilities, begin); err != nil {
		return fmt.Errorf("%w\n\nThe end of %s:\n%s", err, o.file("operator.log"), tail(o.file("operator.log")))
	}
	if err := c.show(ctx, s, capabilities); err != nil {
		return err
	}
	fmt.Printf(`
Everything goes on running. To look around:
  source %s
  kubectl get nexuscapabilities -A
  kubectl get sib,np -A -o wide
  aws s3 ls
  tail -f %s
  curl -s $AWS_ENDPOINT_URL/_ledger        every AWS request so far
To stop it all: go run ./test/demo down%s
`, o.file("env"), o.file("operator.log"), o.dirFlag())
	return nil
}

// dirFlag is what another verb needs to find this demo.
func (o options) dirFlag() string {
	if filepath.Base(o.dir) == ".demo" {
		return ""
	}
	return " -dir " + o.dir
}

// prepareDir stops an earlier demo and empties the folder.
func prepareDir(o options) error {
	if err := stopEarlier(o); err != nil {
		return err
	}
	if err := cleanDir(o); err != nil {
		return err
	}
	if err := os.MkdirAll(o.file("world"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(o.file(".gitignore"), []byte("*\n"), 0o644)
}

// cleanDir removes what a demo has left, and nothing else.
func cleanDir(o options) error {
	var errs []error
	for _, name := range []string{"world", "state.json", "state.new", "env", "lock", "daemon.log", "operator.log", ".gitignore"} {
		errs = append(errs, os.RemoveAll(o.file(name)))
	}
	_ = os.Remove(o.dir) // if it is empty now
	return errors.Join(errs...)
}

func stopEarlier(o options) error {
	s, err := readState(o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.stop()
}

// startDaemon starts the daemon in its own session, so that it outlives
// this process and its terminal, and waits until it is ready.
func startDaemon(ctx context.Context, o options) (state, error) {
	self, err := os.Executable()
	if err != nil {
		return state{}, err
	}
	log, err := os.Create(o.file("daemon.log"))
	if err != nil {
		return state{}, err
	}
	defer log.Close()
	args := []string{"daemon", "-dir=" + o.dir, "-operator=" + o.operator, "-operator-args=" + o.operatorArgs, fmt.Sprintf("-nodes=%d", o.nodes)}
	for _, crds := range o.crds {
		args = append(args, "-crds="+crds)
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return state{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if s, err := readState(o); err == nil && s.Ready {
			return s, nil
		}
		select {
		case <-ctx.Done():
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGTERM)
			<-ended
			return state{}, ctx.Err()
		case err := <-ended:
			return state{}, fmt.Errorf("the demo did not start (%v):\n%s", err, tail(o.file("daemon.log")))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// down stops the demo and makes sure that nothing of it is left.
func down(_ context.Context, o options) error {
	s, err := readState(o)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("no demo is running")
		return nil
	}
	if err != nil {
		return err
	}
	processes := len(s.survivors())
	if err := s.stop(); err != nil {
		return err
	}
	if alive, err := running(o); err != nil || alive {
		return fmt.Errorf("a daemon still holds %s (%v)", o.file("lock"), err)
	}
	fmt.Printf("stopped %d processes; none is left\n", processes)
	return cleanDir(o)
}

// status tells what runs.
func status(ctx context.Context, o options) error {
	s, err := readState(o)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(s.survivors()) == 0 {
		return errors.New("no demo is running")
	}
	if err != nil {
		return err
	}
	for name, pid := range s.survivors() {
		fmt.Printf("%-24s process %d\n", name, pid)
	}
	fmt.Printf("%-24s %d\n", "operator restarts", s.Restarts)
	c, err := connect(s.Kubeconfig)
	if err != nil {
		return err
	}
	capabilities, err := c.allCapabilities(ctx)
	if err != nil {
		return err
	}
	return c.show(ctx, s, capabilities)
}

// tail returns the last lines of a file.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
