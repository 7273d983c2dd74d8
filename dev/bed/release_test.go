// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// releases plays the hosts of all releases: each file has its path as content.
type releases struct {
	// files holds the answers by path.
	files map[string][]byte
	// before is called with the path of each request.
	before func(w http.ResponseWriter, path string) (answered bool)
	server *httptest.Server
	dev    string
}

func newReleases(t *testing.T) *releases {
	t.Helper()
	r := &releases{files: map[string][]byte{}, before: func(http.ResponseWriter, string) bool { return false }}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.before(w, q.URL.Path) {
			return
		}
		if content, ok := r.files[q.URL.Path]; ok {
			_, _ = w.Write(content)
			return
		}
		http.NotFound(w, q)
	}))
	t.Cleanup(func() {
		r.server.CloseClientConnections()
		r.server.Close()
	})
	var err error
	if r.dev, err = findDev(); err != nil {
		t.Fatal(err)
	}
	files, err := releaseFiles(r.dev, hosts{}, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		content := []byte(f.name)
		if f.member != "" {
			content = archived(t, f.member, content)
		}
		r.files[f.url] = content
		line := fmt.Sprintf("%x", sha256.Sum256(content))
		switch {
		case strings.HasSuffix(f.sums, "SHA256SUMS"):
			line = strings.Repeat("0", 64) + "  other.tar.gz\n" + line + "  " + path.Base(f.url) + "\n"
		case strings.HasPrefix(f.sums, "/repos/"):
			line = fmt.Sprintf(`{"assets":[{"name":"other","digest":"sha256:00"},{"name":%q,"digest":"sha256:%s"}]}`, path.Base(f.url), line)
		}
		r.files[f.sums] = []byte(line)
	}
	return r
}

// archived returns a gzipped tar archive with one member after another file.
func archived(t *testing.T, member string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for name, text := range map[string][]byte{"README.md": []byte("x"), member: content} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// download downloads everything into a new folder.
func (r *releases) download(t *testing.T) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	url := r.server.URL
	return dir, download(t.Context(), r.dev, dir, hosts{kubernetes: url, github: url, githubAPI: url})
}

// failsWith checks that a download fails with a text, and leaves nothing for a build to trip over.
func (r *releases) failsWith(t *testing.T, text string) {
	t.Helper()
	dir, err := r.download(t)
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %q in it", err, text)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// pathOf is that of a request for a program.
func (r *releases) pathOf(t *testing.T, name string) string {
	t.Helper()
	for p := range r.files {
		if path.Base(p) == name {
			return p
		}
	}
	t.Fatalf("no path for %s", name)
	return ""
}

func TestDownload_ProvidesEveryProgram(t *testing.T) {
	dir, err := newReleases(t).download(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", kubectl} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		info, err2 := os.Stat(filepath.Join(dir, name))
		if err != nil || err2 != nil || string(text) != name || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("%s: %q, %v, %v", name, text, err, err2)
		}
	}
}

func TestDownload_KeepsAnInstalledKubectl(t *testing.T) {
	r := newReleases(t)
	r.before = func(_ http.ResponseWriter, p string) bool {
		if path.Base(p) == kubectl {
			t.Errorf("requested %s", p)
		}
		return false
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, kubectl), []byte("installed"), 0o755); err != nil {
		t.Fatal(err)
	}
	url := r.server.URL
	if err := download(t.Context(), r.dev, dir, hosts{kubernetes: url, github: url, githubAPI: url}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, kubectl)); err != nil || string(text) != "installed" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestDownload_RefusesAWrongChecksum(t *testing.T) {
	for _, name := range []string{"kube-apiserver", "kwok-linux-" + runtime.GOARCH} {
		r := newReleases(t)
		p := r.pathOf(t, name)
		r.files[p] = append(r.files[p], "changed"...)
		r.failsWith(t, "has the checksum")
	}
}

func TestDownload_FailsWithoutAChecksum(t *testing.T) {
	r := newReleases(t)
	r.files[r.pathOf(t, "SHA256SUMS")] = []byte(strings.Repeat("0", 64) + "  other.tar.gz\n")
	r.failsWith(t, "no SHA-256 checksum of etcd-")
}

func TestDownload_FailsWhereAFileIsMissing(t *testing.T) {
	r := newReleases(t)
	delete(r.files, r.pathOf(t, "kube-scheduler"))
	r.failsWith(t, "404")
}

func TestDownload_GivesUpOnAHostThatHangs(t *testing.T) {
	for name, hang := range map[string]func(w http.ResponseWriter){
		"before it answers": func(http.ResponseWriter) {},
		"within the answer": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte("kube"))
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReleases(t)
			released := make(chan struct{})
			t.Cleanup(func() { close(released) })
			r.before = func(w http.ResponseWriter, p string) bool {
				if path.Base(p) != "kube-apiserver" {
					return false
				}
				hang(w)
				<-released
				return true
			}
			begin := time.Now()
			r.failsWith(t, "")
			if took := time.Since(begin); took > 10*patience {
				t.Errorf("gave up after %s", took)
			}
		})
	}
}

func TestKubectl_IsUsedWithinTheVersionSkew(t *testing.T) {
	for _, row := range []struct {
		client, server string
		want           bool
	}{
		{"v1.37.0", "v1.37.2", true},
		{"v1.36.1-eks-abc", "v1.37.2", true},
		{"v1.38.0", "v1.37.2", true},
		{"v1.35.9", "v1.37.2", false},
		{"v0.0.0-master", "v1.37.2", false},
		{"", "v1.37.2", false},
	} {
		if got := withinSkew(row.client, row.server); got != row.want {
			t.Errorf("%s with %s: %v", row.client, row.server, got)
		}
	}
}

func TestKubectl_InstalledOneIsLinked(t *testing.T) {
	installed, out := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\necho '{\"clientVersion\":{\"gitVersion\":\"v1.36.4\"}}'\n"
	if err := os.WriteFile(filepath.Join(installed, kubectl), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", installed+":"+os.Getenv("PATH"))
	if err := linkKubectl("v1.38.1", out); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, kubectl)); err == nil {
		t.Error("one outside of the skew was linked")
	}
	if err := linkKubectl("v1.37.2", out); err != nil {
		t.Fatal(err)
	}
	if got := kubectlVersion(filepath.Join(out, kubectl)); got != "v1.36.4" {
		t.Errorf("the link says %q", got)
	}
	if !usable(filepath.Join(out, kubectl)) {
		t.Error("the link is not usable")
	}
	if err := os.Remove(filepath.Join(installed, kubectl)); err != nil {
		t.Fatal(err)
	}
	if usable(filepath.Join(out, kubectl)) {
		t.Error("the link is usable without the installed program")
	}
}
