// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// hosts holds the addresses under which the projects publish releases.
type hosts struct{ kubernetes, github, githubAPI string }

var releaseHosts = hosts{kubernetes: "https://dl.k8s.io", github: "https://github.com", githubAPI: "https://api.github.com"}

// patience limits the time to connect, to the answer, and between two pieces of the answer. After it, everything is compiled
// instead.
const patience = 3 * time.Second

// releaseFile is a program in a release.
type releaseFile struct {
	name string
	// url is that of the program, or of a gzipped tar archive that has it as member.
	url, member string
	// sums is the page with the SHA-256 checksum of what url returns.
	sums string
}

// releaseFiles returns where the programs of the pinned versions are for a platform. The checksums are those that each project
// publishes: Kubernetes one file a program, etcd a list, and kwok none but those that GitHub shows of the files of a release.
func releaseFiles(dev string, h hosts, arch string) ([]releaseFile, error) {
	versions := map[string]string{}
	for _, module := range []string{kubernetes, etcd, kwok} {
		version, err := pinned(dev, module)
		if err != nil {
			return nil, err
		}
		versions[module] = version
	}
	var files []releaseFile
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", kubectl} {
		url := fmt.Sprintf("%s/release/%s/bin/linux/%s/%s", h.kubernetes, versions[kubernetes], arch, name)
		files = append(files, releaseFile{name: name, url: url, sums: url + ".sha256"})
	}
	v := versions[etcd]
	archive := fmt.Sprintf("etcd-%s-linux-%s", v, arch)
	base := h.github + "/etcd-io/etcd/releases/download/" + v
	files = append(files, releaseFile{name: "etcd", url: base + "/" + archive + ".tar.gz", member: archive + "/etcd", sums: base + "/SHA256SUMS"})
	v = versions[kwok]
	return append(files, releaseFile{name: "kwok", url: fmt.Sprintf("%s/kubernetes-sigs/kwok/releases/download/%s/kwok-linux-%s", h.github, v, arch),
		sums: h.githubAPI + "/repos/kubernetes-sigs/kwok/releases/tags/" + v}), nil
}

// download fetches the released programs that out does not have yet. An error leaves none of them behind.
func download(ctx context.Context, dev, out string, h hosts) error {
	if runtime.GOOS != "linux" {
		return errors.New("the projects release no server programs for " + runtime.GOOS)
	}
	files, err := releaseFiles(dev, h, runtime.GOARCH)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: patience}).DialContext, TLSHandshakeTimeout: patience, ResponseHeaderTimeout: patience}}
	var running sync.WaitGroup
	failed := make([]error, len(files))
	begin := time.Now()
	for i, f := range files {
		if _, err := os.Stat(filepath.Join(out, f.name)); err == nil {
			continue // an installed kubectl
		}
		running.Go(func() {
			if failed[i] = f.fetch(ctx, client, out); failed[i] != nil {
				cancel() // one that must be compiled makes the others as good as compiled
				return
			}
			say("%-24s downloaded after %.0f s", f.name, time.Since(begin).Seconds())
		})
	}
	running.Wait()
	if err := firstCause(failed); err != nil {
		for _, f := range files {
			_ = os.Remove(filepath.Join(out, f.name)) // the build replaces it
		}
		return err
	}
	return nil
}

// firstCause prefers an error to the cancellations that it has caused.
func firstCause(all []error) (first error) {
	for _, err := range all {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// fetch downloads, verifies and writes a program.
func (f releaseFile) fetch(ctx context.Context, client *http.Client, out string) error {
	page, err := get(ctx, client, f.sums)
	if err != nil {
		return err
	}
	want, err := f.checksum(page)
	if err != nil {
		return fmt.Errorf("%s: %w", f.sums, err)
	}
	content, err := get(ctx, client, f.url)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("%s has the checksum %s, and %s says %s", f.url, got, f.sums, want)
	}
	if f.member != "" {
		if content, err = extract(content, f.member); err != nil {
			return fmt.Errorf("%s: %w", f.url, err)
		}
	}
	return os.WriteFile(filepath.Join(out, f.name), content, 0o755)
}

// checksum finds that of the file in a page: the checksum alone, lines of checksums and names, or GitHub's description of a
// release.
func (f releaseFile) checksum(page []byte) (string, error) {
	name := path.Base(f.url)
	var release struct {
		Assets []struct{ Name, Digest string }
	}
	if json.Unmarshal(page, &release) == nil {
		for _, a := range release.Assets {
			if sum, ok := strings.CutPrefix(a.Digest, "sha256:"); ok && a.Name == name {
				return sum, nil
			}
		}
		return "", errors.New("no SHA-256 checksum of " + name)
	}
	for line := range strings.Lines(string(page)) {
		fields := strings.Fields(line)
		if len(fields) == 1 || len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == name {
			return strings.ToLower(fields[0]), nil
		}
	}
	return "", errors.New("no SHA-256 checksum of " + name)
}

// extract returns a member of a gzipped tar archive.
func extract(archive []byte, member string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(unzipped); ; {
		header, err := t.Next()
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", member, err)
		}
		if header.Name == member {
			return io.ReadAll(t)
		}
	}
}

// get returns the content of a URL. A host that sends nothing for longer than the patience is an error.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read to its end
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, answer.Status)
	}
	stalled := time.AfterFunc(patience, func() { cancel(fmt.Errorf("%s sent nothing for %s", url, patience)) })
	defer stalled.Stop()
	var content bytes.Buffer
	for piece := make([]byte, 1<<16); ; {
		n, err := answer.Body.Read(piece)
		stalled.Reset(patience)
		content.Write(piece[:n])
		if errors.Is(err, io.EOF) {
			return content.Bytes(), nil
		}
		if err != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
}
