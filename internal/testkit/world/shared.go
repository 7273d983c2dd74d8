// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// shared is the one world of a test binary.
var shared struct {
	sync.Mutex
	options Options
	world   *World
	err     error
	started bool
}

// suite stands for testing.M, and tester for testing.TB. Package testing is not imported: it would be linked into nexusctl, because
// nexusctl uses this world as its local world.
type suite interface{ Run() int }

type tester interface {
	Helper()
	Fatal(args ...any)
}

// cleaner is a tester that ends what a test began.
type cleaner interface {
	tester
	Cleanup(end func())
}

// Main runs the tests of a package and stops the world that they share. Call it
// from TestMain; the world starts with the first call of Shared, so that tests
// which do not need it do not wait for it.
func Main(m suite, o Options) {
	shared.options = o
	code := runTests(m)
	os.Exit(code)
}

func runTests(m suite) (code int) {
	defer func() {
		if err := StopShared(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the test bed:", err)
			code = max(code, 1)
		}
	}()
	return m.Run()
}

// Shared returns the world that the tests of a package share, starting it at
// the first call. A package that calls it must have Main or StopShared run at
// its end. Where the test bed is not built, the test fails and says how to.
func Shared(t tester) *World {
	t.Helper()
	if _, err := BinDir(); err != nil {
		t.Fatal(err)
	}
	shared.Lock()
	defer shared.Unlock()
	if !shared.started {
		shared.started = true
		shared.world, shared.err = Start(context.Background(), shared.options)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.world
}

// StopShared stops the shared world, if it was started.
func StopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.world == nil {
		return nil
	}
	return shared.world.Stop()
}
