// SPDX-License-Identifier: Apache-2.0

package demoscrape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Options say which demo to run.
type Options struct {
	Root      string        // folder of the repository
	Folder    string        // existing folder for programs, samples and the demo's files
	Interval  time.Duration // between scrapes
	Manifests []string      // capabilities to apply, relative to Root, beside the demo's own one with intents
}

// Demo is a running demo whose operator is scraped.
type Demo struct {
	*Scraper
	// Began is the time at which scraping began, before the operator started.
	Began time.Time
	// Output holds what the demo printed when it was up.
	Output string

	options Options
	state   state
}

// state is the part of the demo's state.json that is needed here.
type state struct{ Kubeconfig, AWS, Programs string }

// Start builds the operator, begins to scrape it, and starts the demo. It returns when all capabilities of the demo are
// running. The demo outlives the process if Close is not called.
func Start(ctx context.Context, o Options) (*Demo, error) {
	if out, err := run(ctx, o.Root, "go", "build", "-ldflags=-s -w", "-o", o.Folder, "./cmd/nexus-operator", "./test/demo"); err != nil {
		return nil, fmt.Errorf("building the operator and the demo: %w\n%s", err, out)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	d := &Demo{Began: time.Now(), options: o}
	if d.Scraper, err = NewScraper(filepath.Join(o.Folder, "samples"), address, o.Interval); err != nil {
		return nil, err
	}
	if err := d.up(ctx, address); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Demo) up(ctx context.Context, address string) error {
	// The namespace is that of trouble.yaml, whose provider assumes a role with the operator's own identity.
	flags := "--metrics-bind-address=" + address + " --ambient-namespaces=trouble-dev"
	args := []string{"up", "-dir", d.folder(), "-operator", filepath.Join(d.options.Folder, "nexus-operator"), "-operator-args", flags}
	for _, file := range d.options.Manifests {
		args = append(args, "-f", file)
	}
	var err error
	if d.Output, err = run(ctx, d.options.Root, filepath.Join(d.options.Folder, "demo"), args...); err != nil {
		return fmt.Errorf("starting the demo: %w\n%s", err, d.Output)
	}
	text, err := os.ReadFile(filepath.Join(d.folder(), "state.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &d.state)
}

// Down stops the demo, and with it the operator. Scraping goes on.
func (d *Demo) Down() error {
	// The context of the run may be over.
	out, err := run(context.Background(), d.options.Root, filepath.Join(d.options.Folder, "demo"), "down", "-dir", d.folder())
	if err != nil {
		return fmt.Errorf("stopping the demo: %w\n%s", err, out)
	}
	return nil
}

// Close stops the demo and the scraper.
func (d *Demo) Close() error { return errors.Join(d.Down(), d.Scraper.Close()) }

func (d *Demo) folder() string { return filepath.Join(d.options.Folder, "demo-files") }

// Kubectl runs the test bed's kubectl in the demo and returns what it prints.
func (d *Demo) Kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(d.state.Programs, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.state.Kubeconfig)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// settled is true when every object is ready and every capability is running.
const settled = `sum(nexus_resources) == sum(nexus_resources{state="Ready"}) and sum(nexus_capabilities) == sum(nexus_capabilities{phase="Running"})`

// WaitUntilSettled waits until the metrics report every object as ready, and returns when that was.
func (d *Demo) WaitUntilSettled(ctx context.Context) (time.Time, error) {
	return d.WaitFor(ctx, settled)
}

// WaitFor waits until each of the queries has a result, and returns when that was.
func (d *Demo) WaitFor(ctx context.Context, queries ...string) (time.Time, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		now := time.Now()
		// The end of the context ends the wait, which names the missing result, and not a query.
		missing, err := d.withoutResult(context.WithoutCancel(ctx), queries, now)
		if err != nil || missing == "" {
			return now, err
		}
		select {
		case <-ctx.Done():
			return now, fmt.Errorf("%w: no result of %s", ctx.Err(), missing)
		case <-tick.C:
		}
	}
}

// withoutResult returns the first of the queries that has no result.
func (d *Demo) withoutResult(ctx context.Context, queries []string, at time.Time) (string, error) {
	for _, query := range queries {
		vector, err := d.Instant(ctx, query, at)
		if err != nil {
			return "", err
		}
		if len(vector) == 0 {
			return query, nil
		}
	}
	return "", nil
}

func run(ctx context.Context, folder, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
