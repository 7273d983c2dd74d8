// SPDX-License-Identifier: Apache-2.0

// Package must ends tests that cannot go on after an error.
package must

import "testing"

// Succeed ends the test after an error.
func Succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a function that returns a value, and ends the test after an error: must.Get(os.ReadFile(path))(t).
func Get[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		Succeed(t, err)
		return v
	}
}
