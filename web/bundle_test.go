// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/web"
)

// maxCompressed limits the bundle, in bytes.
const maxCompressed = 400_000

func TestBundle_IsSmall(t *testing.T) {
	var all bytes.Buffer
	z, err := gzip.NewWriterLevel(&all, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = fs.WalkDir(web.Files(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		found++
		b, err := fs.ReadFile(web.Files(), path)
		if err != nil {
			return err
		}
		_, err = z.Write(b)
		return err
	})
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if found < 5 || all.Len() > maxCompressed || all.Len() < 10_000 {
		t.Errorf("%d files with %d compressed bytes", found, all.Len())
	}
}

// The bundle is built from the sources beside it; build.mjs writes their hash.
func TestBundle_IsThatOfTheSources(t *testing.T) {
	files := []string{"build.mjs", "package.json", "package-lock.json"}
	err := filepath.WalkDir("src", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s\n%s", f, b)
	}
	recorded, err := fs.ReadFile(web.Files(), "sources.txt")
	if err != nil || strings.TrimSpace(string(recorded)) != fmt.Sprintf("%x", hash.Sum(nil)) {
		t.Errorf("the bundle is older than its sources: run npm ci && npm run build in web (%v)", err)
	}
}

// The page loads nothing from elsewhere, and the libraries' licenses are in the bundle.
func TestBundle_NamesNoOtherHost(t *testing.T) {
	for _, name := range []string{"index.html", "app.css"} {
		b, err := fs.ReadFile(web.Files(), name)
		if err != nil || bytes.Contains(b, []byte("//")) {
			t.Errorf("%s names an address (%v)", name, err)
		}
	}
	licenses, err := fs.ReadFile(web.Files(), "LICENSES")
	for _, library := range []string{"preact 11", "@dagrejs/dagre 3"} {
		if err != nil || !strings.Contains(string(licenses), library) {
			t.Errorf("no license of %s (%v)", library, err)
		}
	}
}
