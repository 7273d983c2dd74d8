// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const root = "../.."

// copyOfTree copies what the image is built from to another folder.
func copyOfTree(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "api", "cmd", "config", "internal", "charts"} {
		from := filepath.Join(root, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(filepath.Join(to, name), os.DirFS(from))
		} else {
			err = copyFile(from, filepath.Join(to, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// builtImage builds for this machine's architecture and returns the folder, and the image as a client would read it.
func builtImage(t *testing.T, tree string) (dir, digest string, image v1.Image) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "image")
	digest, err := build(t.Context(), tree, dir, []string{runtime.GOARCH})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := v1.NewHash(digest)
	if err != nil {
		t.Fatal(err)
	}
	index, err := outer.ImageIndex(hash)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if image, err = index.Image(manifest.Manifests[0].Digest); err != nil {
		t.Fatal(err)
	}
	return dir, digest, image
}

func TestImage_IsReproducibleAndHoldsOnlyWhatIsListed(t *testing.T) {
	extent.Full(t) // it compiles the operator as for users, with other flags than the tests
	dir, digest, image := builtImage(t, root)
	_, again, _ := builtImage(t, copyOfTree(t))
	if digest != again {
		t.Errorf("built in another folder the digest is %s, not %s", again, digest)
	}
	files := checkFiles(t, image)
	checkConfig(t, image)
	checkBinary(t, files["nexus-operator"])
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(files["etc/ssl/certs/ca-certificates.crt"]) ||
		!strings.Contains(subjects(t, files["etc/ssl/certs/ca-certificates.crt"]), "Amazon Root CA 1") {
		t.Error("the certificates lack the authority of AWS")
	}
	checkBillOfMaterials(t, filepath.Join(dir, "nexus-operator-linux-"+runtime.GOARCH+".spdx.json"), files["nexus-operator"])
}

// checkFiles compares the image's file system with testdata/files.txt and returns the files.
func checkFiles(t *testing.T, image v1.Image) map[string][]byte {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close()
	files, got := map[string][]byte{}, ""
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 0 {
			t.Errorf("%s has the time %s", h.Name, h.ModTime)
		}
		got += fmt.Sprintf("%s %d:%d %s\n", h.FileInfo().Mode(), h.Uid, h.Gid, h.Name)
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/files.txt")
	if err != nil || got != string(want) {
		t.Errorf("the image holds\n%swant (testdata/files.txt)\n%s%v", got, want, err)
	}
	return files
}

func checkConfig(t *testing.T, of v1.Image) {
	t.Helper()
	c, err := of.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	release, err := image.Source{Tree: root}.Version()
	if err != nil {
		t.Fatal(err)
	}
	if c.Config.User != "65532:65532" || strings.Join(c.Config.Entrypoint, " ") != "/nexus-operator" || c.OS != "linux" ||
		c.Architecture != runtime.GOARCH ||
		c.Config.Labels["org.opencontainers.image.version"] != release || len(c.Config.Env) > 0 {
		t.Errorf("%+v", c)
	}
}

// checkBinary runs the binary where it finds nothing but itself, and checks that it is static and stripped.
func checkBinary(t *testing.T, binary []byte) {
	t.Helper()
	if limit := program.MaxBytes["nexus-operator"]; int64(len(binary)) > limit {
		t.Errorf("the binary has %d bytes, more than %d: see docs/design/0038", len(binary), limit)
	}
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary is not static: it has %s", p.Type)
		}
	}
	if f.Section(".symtab") != nil || f.Section(".debug_info") != nil {
		t.Error("the binary is not stripped")
	}
	path := filepath.Join(t.TempDir(), "nexus-operator")
	if err := os.WriteFile(path, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, "--help")
	command.Env = []string{}
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "--capability-namespaces") {
		t.Errorf("--help: %v\n%s", err, out)
	}
	release, err := image.Source{Tree: root}.Version()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput(); err != nil || string(out) != release+"\n" {
		t.Errorf("--version: %v\n%s", err, out)
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(info.String(), own) || bytes.Contains(binary, []byte(own)) {
		t.Errorf("the binary names the folder %s", own)
	}
}

// checkBillOfMaterials compares the document with the build information, read anew.
func checkBillOfMaterials(t *testing.T, path string, binary []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Packages      []struct{ Name, VersionInfo, SPDXID string }
		Relationships []struct{ RelationshipType, RelatedSPDXElement string }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{info.Main.Path: true, "std": true, "golang.org/x/crypto/x509roots/fallback": true}
	for _, m := range info.Deps {
		want[m.Path] = true
	}
	ids := map[string]bool{}
	for _, p := range document.Packages {
		if !want[p.Name] || p.VersionInfo == "" || ids[p.SPDXID] {
			t.Errorf("unexpected %+v", p)
		}
		ids[p.SPDXID] = true
		delete(want, p.Name)
	}
	if len(want) > 0 || len(document.Packages) < 50 {
		t.Errorf("%d packages; %v are missing", len(document.Packages), want)
	}
	for _, r := range document.Relationships {
		if r.RelationshipType == "DEPENDS_ON" && !ids[r.RelatedSPDXElement] {
			t.Errorf("%s does not exist", r.RelatedSPDXElement)
		}
	}
}

func subjects(t *testing.T, text []byte) string {
	t.Helper()
	var out strings.Builder
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(c.Subject.String() + "\n")
	}
	return out.String()
}
