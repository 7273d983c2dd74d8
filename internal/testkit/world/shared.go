// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the one world of a test binary.
var shared struct {
	sync.Mutex
	options Options
	world   *World
	err     error
	started bool
}

// Main runs the tests of a package and stops the world that they share. Call it
// from TestMain; the world starts with the first call of Shared, so that tests
// which do not need it do not wait for it.
func Main(m *testing.M, o Options) {
	shared.options = o
	code := runTests(m)
	os.Exit(code)
}

func runTests(m *testing.M) (code int) {
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
func Shared(t testing.TB) *World {
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
