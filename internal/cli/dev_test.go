// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/devworld"
	"github.com/nexus-operator/nexus-operator/internal/devworld/programs"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

func TestExplainWorld_SaysHowToGoOn(t *testing.T) {
	s := newConnection(Program{})
	for _, c := range []struct {
		name        string
		err         error
		interrupted bool
		code        int
		says        string
	}{
		{"interrupted and stopped", &devworld.InterruptedError{Stopped: true}, true, exit.CodeInterrupted,
			"What it had started is stopped. To start it again: nexusctl dev up --name x"},
		{"interrupted, and could not stop", &devworld.InterruptedError{Left: errors.New("etcd runs")}, true, exit.CodeInterrupted,
			"could not stop what it had started: etcd runs. To stop it: nexusctl dev down --name x"},
		{"interrupted, and had started nothing", &devworld.InterruptedError{}, true, exit.CodeInterrupted,
			"A world that was running before runs on: see nexusctl dev status --name x"},
		{"interrupted while building", context.Canceled, true, exit.CodeInterrupted, "has started nothing"},
		{"something is missing", &programs.MissingError{Remedy: "install Go"}, false, exit.CodePrecondition, "install Go"},
		{"too late", &devworld.TimeoutError{Err: errors.New("1 of 1 capabilities are not running after 1s")}, false, exit.CodeTimeout,
			"See nexusctl dev status --name x"},
		{"another failure", errors.New("no disk"), false, exit.CodeFailed, "no disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.interrupted {
				cancel()
			}
			err := (&devVerbs{Console: s.Console}).explainWorld(&devFlags{name: "x"}, c.err)
			said := err.Error()
			if i, ok := errors.AsType[*exit.Interruption](err); ok {
				said = i.Said()
			}
			if code := exit.CodeOf(ctx, err); code != c.code || !strings.Contains(said, c.says) {
				t.Errorf("exit code %d, want %d; %q, want %q", code, c.code, said, c.says)
			}
		})
	}
}

func TestDevFlags_SelectTheSameWorldInAnotherCommand(t *testing.T) {
	for want, f := range map[string]devFlags{"": {name: defaultWorld}, " --name x": {name: "x"},
		" --dir 'a b'": {name: defaultWorld, dir: "a b"}} {
		if got := f.selection(); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}
