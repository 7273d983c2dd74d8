// SPDX-License-Identifier: Apache-2.0

// Record runs the demo for a while, first healthy and then with trouble, and writes what the dashboards' queries return and
// what the demo prints. The script dev/docs/screenshots draws the pictures of the documentation from it.
//
//	go run ./record -out FOLDER
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nexus-operator/nexus-operator/dev/promtool/demoscrape"
)

const (
	interval = 5 * time.Second
	// timeout limits each wait for the demo.
	timeout = 5 * time.Minute
)

// commands holds what the quick start has its reader run, in the demo.
var commands = [][]string{
	{"get", "nexuscapabilities", "-A"},
	{"get", "nexus", "-n", "myapp-dev"},
}

func main() {
	out := flag.String("out", "", "folder for the recording")
	root := flag.String("root", "../..", "folder of the repository")
	healthy := flag.Duration("healthy", 3*time.Minute, "how long the demo is healthy")
	troubled := flag.Duration("troubled", 3*time.Minute, "how long the demo has trouble")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := record(ctx, *root, *out, *healthy, *troubled); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, root, out string, healthy, troubled time.Duration) (err error) {
	folder, err := os.MkdirTemp("", "nexus-record-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	manifests := []string{"examples/test-capability.yaml", "examples/nexus-ai-complete.yaml"}
	d, err := demoscrape.Start(ctx, demoscrape.Options{Root: root, Folder: folder, Interval: interval, Manifests: manifests})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := os.WriteFile(filepath.Join(out, "demo.txt"), []byte(d.Output), 0o644); err != nil {
		return err
	}
	if err := recordCommands(ctx, d, out); err != nil {
		return err
	}
	if err := pause(ctx, healthy); err != nil {
		return err
	}
	trouble := time.Now()
	if err := d.MakeTrouble(ctx); err != nil {
		return err
	}
	if err := pause(ctx, troubled); err != nil {
		return err
	}
	return recordDashboards(ctx, d, root, filepath.Join(out, "dashboards.json"), trouble)
}

// recording holds what dashboards.json holds. Times are in seconds since the epoch.
type recording struct {
	From    int64 `json:"from"`
	To      int64 `json:"to"`
	Trouble int64 `json:"trouble"`
	// Step is the time between two points, in seconds.
	Step float64 `json:"step"`
	// Results lists the results of all queries by "file of the dashboard/ID of the panel/refId".
	Results map[string][]demoscrape.Series `json:"results"`
}

// recordCommands writes the commands and what they print.
func recordCommands(ctx context.Context, d *demoscrape.Demo, out string) error {
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := d.WaitUntilSettled(waiting); err != nil {
		return err
	}
	var text []byte
	for _, args := range commands {
		printed, err := d.Kubectl(ctx, "", args...)
		if err != nil {
			return err
		}
		text = append(text, '$')
		for _, arg := range append([]string{"kubectl"}, args...) {
			text = append(append(text, ' '), arg...)
		}
		text = append(append(text, '\n'), printed...)
	}
	return os.WriteFile(filepath.Join(out, "kubectl.txt"), text, 0o644)
}

// recordDashboards evaluates the queries of all dashboards over the whole run.
func recordDashboards(ctx context.Context, d *demoscrape.Demo, root, file string, trouble time.Time) error {
	dashboards, err := demoscrape.Dashboards(root)
	if err != nil {
		return err
	}
	window := demoscrape.Window{From: d.Began, To: time.Now(), Step: interval}
	out := recording{From: window.From.Unix(), To: window.To.Unix(), Trouble: trouble.Unix(), Step: interval.Seconds(),
		Results: map[string][]demoscrape.Series{}}
	for name, board := range dashboards {
		for _, p := range board.Panels {
			for _, t := range p.Targets {
				key := fmt.Sprintf("%s/%d/%s", name, p.ID, t.RefID)
				if out.Results[key], err = d.Result(ctx, t, board.Expand(t.Expr, nil), window); err != nil {
					return err
				}
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
