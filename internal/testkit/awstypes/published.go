// SPDX-License-Identifier: Apache-2.0

package awstypes

import "github.com/nexus-operator/nexus-operator/internal/testkit/extent"

// tester is the part of testing.TB that is used.
type tester interface {
	Helper()
	Name() string
	Cleanup(func())
	Fatal(args ...any)
	Skip(args ...any)
}

// Published returns all types in full runs, and those of the excerpt in the sample. Where the wheel is missing, a run of everything
// fails, and a run of a part, such as that of CI, leaves the test out: no change must wait for PyPI.
func Published(t tester) *Types {
	t.Helper()
	open := Excerpt
	if extent.IsFull(t) {
		open = func() (*Types, error) { return Open("us-east-1") }
	}
	types, err := open()
	switch {
	case err != nil && !extent.IsAll(t):
		t.Skip(extent.Left + ": " + err.Error())
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = types.Close() })
	return types
}
