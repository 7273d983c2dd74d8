// SPDX-License-Identifier: Apache-2.0

//go:build linux

package cli_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
)

// terminal opens a pseudo terminal: https://man7.org/linux/man-pages/man7/pty.7.html
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

func TestInit_AsksOnATerminal(t *testing.T) {
	person, program := terminal(t)
	target := filepath.Join(t.TempDir(), "out.yaml")
	lines := []string{"", "shop", "", "-", "-", "frontend,backend", "registry.example/web:1", "3000", "registry.example/api:1", "", "",
		"documents", "", "", "", "", "", "", "", ""}
	if _, err := person.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
	_, errs, code := initWith(t, program, "-o", target)
	text, err := os.ReadFile(target)
	if code != 0 || err != nil || !strings.Contains(errs, "Port on which frontend answers requests (- for none) [8080]: ") {
		t.Fatalf("%d %v %s", code, err, errs)
	}
	for _, want := range []string{"capabilityName: shop", "port: 3000", "- name: documents"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestInit_WritesNothingWhenTheInputEnds(t *testing.T) {
	person, program := terminal(t)
	target := filepath.Join(t.TempDir(), "out.yaml")
	if _, err := person.WriteString("dev\nshop\n\x04"); err != nil { // Ctrl-D
		t.Fatal(err)
	}
	_, errs, code := initWith(t, program, "-o", target)
	if _, err := os.Stat(target); err == nil || code != 2 || !strings.Contains(errs, "nothing was written") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestInit_AnInterruptionWritesNothing(t *testing.T) {
	_, program := terminal(t)
	target := filepath.Join(t.TempDir(), "out.yaml")
	ctx, interrupt := context.WithCancel(t.Context())
	asked := &noticing{of: "Name of the application", do: interrupt}
	p := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Getenv: func(string) string { return "" },
		Clock:     clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: program, Out: io.Discard, ErrOut: asked}}
	code := p.Run(ctx, []string{"nexusctl", "init", "-o", target, "--environment", "dev"})
	if _, err := os.Stat(target); err == nil || code != 130 || !strings.Contains(asked.text.String(), "no file was written") {
		t.Errorf("%d %s", code, asked.text.String())
	}
}

// noticing calls a function when a text is written.
type noticing struct {
	text strings.Builder
	of   string
	do   func()
}

func (n *noticing) Write(b []byte) (int, error) {
	n.text.Write(b)
	if strings.Contains(string(b), n.of) {
		n.do()
	}
	return len(b), nil
}
