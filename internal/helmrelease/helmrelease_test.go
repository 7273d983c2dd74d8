// SPDX-License-Identifier: Apache-2.0

package helmrelease

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
)

func chartIn(t *testing.T, values string) *Chart {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\nappVersion: v1\n",
		"values.yaml": values} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDigest_IdentifiesTheFiles(t *testing.T) {
	one, same, other := chartIn(t, "a: 1\n"), chartIn(t, "a: 1\n"), chartIn(t, "a: 2\n")
	if one.Digest != same.Digest || one.Digest == other.Digest || len(one.Digest) != 40 {
		t.Errorf("%s %s %s", one.Digest, same.Digest, other.Digest)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty folder is a chart")
	}
}

func TestArchiveURL_MayBeRelative(t *testing.T) {
	for reference, want := range map[string]string{
		"x-1.tgz":                     "https://example.com/charts/x-1.tgz",
		"https://example.org/x-1.tgz": "https://example.org/x-1.tgz",
	} {
		if got, err := archiveURL("https://example.com/charts/", reference); err != nil || got != want {
			t.Errorf("%s: %s %v", reference, got, err)
		}
	}
}

func TestMergeValues_PutsSingleOnesOverFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("a: {b: 2, c: 2}\nd: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := MergeValues(map[string]any{"a": map[string]any{"b": 1, "e": 1}}, []string{file}, []string{"a.c=3"})
	a, _ := got["a"].(map[string]any)
	if err != nil || a["e"] != 1 || a["b"] != float64(2) || a["c"] != int64(3) || got["d"] != float64(2) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := MergeValues(nil, []string{file + "x"}, nil); err == nil {
		t.Error("a file that does not exist has values")
	}
}

func TestRelease_IsBusyForAWhile(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pending, deployed := Release{status: common.StatusPendingUpgrade, since: began}, Release{status: common.StatusDeployed, since: began}
	if !pending.IsBusy(began.Add(time.Minute)) || pending.IsBusy(began.Add(time.Hour)) || deployed.IsBusy(began) {
		t.Error("only an operation that began lately makes a release busy")
	}
}
