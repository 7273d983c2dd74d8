// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/optree"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
)

const root = "../.."

// small is a release of the real chart and schemas, with a program of one line in place of the two, for this machine and Windows.
func small(t *testing.T, dir string) *release {
	t.Helper()
	tree := optree.Write(t, "hello")
	if err := os.CopyFS(filepath.Join(tree, "cmd/nexusctl"), os.DirFS(filepath.Join(tree, "cmd/nexus-operator"))); err != nil {
		t.Fatal(err)
	}
	return &release{root: root, dir: dir, version: "9.8.7", url: defaultURL, repository: "registry.example/nexus-operator",
		time:      time.Unix(1_700_000_000, 0).UTC(),
		platforms: []platform{{"linux", runtime.GOARCH}, {"windows", "amd64"}}, log: io.Discard,
		compile: func(ctx context.Context, command, output string, p platform) error {
			return image.Program{Tree: tree, Command: "/cmd/" + command, Release: "9.8.7"}.Build(ctx, output, "linux", runtime.GOARCH)
		}}
}

// read returns the files below a folder by their paths.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRelease_TwoRunsGiveTheSameFiles(t *testing.T) {
	extent.Full(t)
	key := newKey(t)
	var runs []map[string][]byte
	dir := filepath.Join(t.TempDir(), "9.8.7")
	for range 2 { // the second run replaces the folder
		r := small(t, dir)
		r.signer = key
		if err := r.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, read(t, dir))
	}
	for name := range runs[0] {
		if !bytes.Equal(runs[0][name], runs[1][name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}
	if len(runs[0]) != len(runs[1]) {
		t.Errorf("%d and %d files", len(runs[0]), len(runs[1]))
	}
	files := runs[0]
	checkNames(t, files)
	checkSums(t, files, dir)
	checkSignature(t, key.Public(), files)
	checkArchives(t, files)
	checkKrew(t, files)
	checkLayout(t, dir)
	checkManifests(t, files)
	checkChart(t, files)
}

func checkNames(t *testing.T, files map[string][]byte) {
	t.Helper()
	var top []string
	for name := range files {
		if !strings.Contains(name, "/") {
			top = append(top, strings.ReplaceAll(name, runtime.GOARCH, "ARCH"))
		}
	}
	slices.Sort(top)
	want := []string{"SHA256SUMS", "SHA256SUMS.sig", "nexus-operator-9.8.7-crds.yaml", "nexus-operator-9.8.7-linux-ARCH.spdx.json",
		"nexus-operator-9.8.7.tgz",
		"nexus-operator-9.8.7.yaml", "nexus.yaml", "nexusctl-9.8.7-linux-ARCH.spdx.json", "nexusctl-9.8.7-linux-ARCH.tar.gz",
		strings.ReplaceAll("nexusctl-9.8.7-windows-amd64.spdx.json", runtime.GOARCH, "ARCH"),
		strings.ReplaceAll("nexusctl-9.8.7-windows-amd64.zip", runtime.GOARCH, "ARCH"),
		"schemas-9.8.7.tar.gz"}
	slices.Sort(want)
	if !slices.Equal(top, want) {
		t.Errorf("the release has\n%q, want\n%q", top, want)
	}
	if files["schemas/nexus.ai/nexusaicapability_v1.json"] == nil {
		t.Error("the schemas are missing")
	}
}

// checkSums has sha256sum check the folder, and looks for files that the list leaves out.
func checkSums(t *testing.T, files map[string][]byte, dir string) {
	t.Helper()
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "--quiet", checksumsFile)
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	listed := strings.Count(string(files[checksumsFile]), "\n")
	if listed != len(files)-2 {
		t.Errorf("%d of %d files are listed", listed, len(files)-2)
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func checkSignature(t *testing.T, key crypto.PublicKey, files map[string][]byte) {
	t.Helper()
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(files[checksumsFile+".sig"])))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(files[checksumsFile])
	if !ecdsa.VerifyASN1(key.(*ecdsa.PublicKey), sum[:], signature) {
		t.Error("the signature is wrong")
	}
}

// unpack returns the files of a compressed tar archive.
func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 1_700_000_000 {
			t.Errorf("%s has the time %s", h.Name, h.ModTime)
		}
		if out[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// checkArchives starts the packed program, and looks into the one for Windows.
func checkArchives(t *testing.T, files map[string][]byte) {
	t.Helper()
	packed := unpack(t, files["nexusctl-9.8.7-linux-"+runtime.GOARCH+".tar.gz"])
	path := filepath.Join(t.TempDir(), "nexusctl")
	if err := os.WriteFile(path, packed["nexusctl"], 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("%v: %s", err, out)
	}
	names := slices.Sorted(maps.Keys(packed))
	if want := []string{"LICENSE", "nexusctl", "pull-requests/forge.sh", "pull-requests/install.sh",
		"pull-requests/plan-pull-request.sh"}; !slices.Equal(names, want) {
		t.Errorf("the archive has %q", names)
	}
	archive := files["nexusctl-9.8.7-windows-amd64.zip"]
	zipped, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	if len(zipped.File) != 2 || zipped.File[0].Name != "LICENSE" || zipped.File[1].Name != "nexusctl.exe" {
		t.Errorf("%v", zipped.File)
	}
}

func checkKrew(t *testing.T, files map[string][]byte) {
	t.Helper()
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict(files[krewFile], &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Spec.Version != "v9.8.7" || plugin.Metadata["name"] != "nexus" || len(plugin.Spec.Platforms) != 2 ||
		len(plugin.Spec.ShortDescription) > 50 {
		t.Errorf("%+v", plugin)
	}
	for _, p := range plugin.Spec.Platforms {
		base, name := filepath.Split(p.URI)
		if base != "https://github.com/nexus-operator/nexus-operator/releases/download/v9.8.7/" || p.SHA256 != checksum(files[name]) {
			t.Errorf("%+v", p)
		}
	}
}

func checkLayout(t *testing.T, dir string) {
	t.Helper()
	index, err := layout.ImageIndexFromPath(filepath.Join(dir, imageFolder))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
}

func checkManifests(t *testing.T, files map[string][]byte) {
	t.Helper()
	all := string(files["nexus-operator-9.8.7.yaml"])
	for _, part := range []string{"image: registry.example/nexus-operator:9.8.7\n", "app.kubernetes.io/version: 9.8.7\n",
		"kind: ValidatingAdmissionPolicy\n"} {
		if !strings.Contains(all, part) {
			t.Errorf("the manifests lack %q", part)
		}
	}
	if namespace, deployment := strings.Index(all, "kind: Namespace\n"), strings.Index(all, "kind: Deployment\n"); namespace < 0 ||
		namespace > deployment {
		t.Error("the Namespace does not come first")
	}
	definitions := string(files["nexus-operator-9.8.7-crds.yaml"])
	kinds := 0
	for name := range files {
		if strings.HasPrefix(name, "schemas/") {
			kinds++
		}
	}
	if n := strings.Count(definitions, "\nkind: CustomResourceDefinition\n"); n != kinds || n < 30 ||
		strings.Contains(definitions, "kind: Deployment") {
		t.Errorf("%d definitions, %d schemas", n, kinds)
	}
}

// checkChart compares the packed files with those of the tree. Helm has rendered the manifests from the package.
func checkChart(t *testing.T, files map[string][]byte) {
	t.Helper()
	packed := unpack(t, files["nexus-operator-9.8.7.tgz"])
	for name, content := range read(t, filepath.Join(root, chartFolder)) {
		got := string(packed["nexus-operator/"+name])
		delete(packed, "nexus-operator/"+name)
		switch name {
		case "Chart.yaml":
			if !strings.Contains(got, "\nversion: 9.8.7\nappVersion: 9.8.7\n") {
				t.Errorf("%s", got)
			}
		case "values.yaml":
			if !strings.Contains(got, "\n  repository: registry.example/nexus-operator\n") ||
				strings.Count(got, "\n") != strings.Count(string(content), "\n") {
				t.Errorf("%s", got)
			}
		default:
			if got != string(content) {
				t.Errorf("%s differs", name)
			}
		}
	}
	if len(packed) > 0 {
		t.Errorf("too many: %q", slices.Collect(maps.Keys(packed)))
	}
}

func TestRelease_ReplacesOnlyFoldersOfReleases(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := small(t, dir).write(t.Context()); err == nil || !strings.Contains(err.Error(), "holds no release") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestVersion_IsOneThatTagsAndNamesCanHave(t *testing.T) {
	for text, want := range map[string]string{"1.2.3": "1.2.3", "v1.2.3": "1.2.3", "0.1.0-rc.1": "0.1.0-rc.1", "1.2": "", "": "", "latest": "",
		"1.2.3+build": "", "01.2.3": ""} {
		if got, err := parseVersion(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
}

func TestPlatforms_AreThoseOfARelease(t *testing.T) {
	if all, err := parsePlatforms(""); err != nil || len(all) != 6 {
		t.Errorf("%v %v", all, err)
	}
	if some, err := parsePlatforms("linux/arm64,darwin/arm64"); err != nil ||
		!slices.Equal(some, []platform{{"linux", "arm64"}, {"darwin", "arm64"}}) {
		t.Errorf("%v %v", some, err)
	}
	for _, text := range []string{"linux", "plan9/amd64", "darwin/arm64", "linux/amd64,"} {
		if _, err := parsePlatforms(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestSourceDate_IsThatOfTheCommit(t *testing.T) {
	at, err := sourceDate(t.Context(), root, "")
	if err != nil || at.Year() < 2025 {
		t.Errorf("%s %v", at, err)
	}
	if at, err := sourceDate(t.Context(), t.TempDir(), "86400"); err != nil || at.Unix() != 86400 {
		t.Errorf("%s %v", at, err)
	}
	if _, err := sourceDate(t.Context(), t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("%v", err)
	}
}

func TestKey_SignsAsCosignVerifies(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	message := []byte("sums")
	for _, key := range []crypto.Signer{newKey(t), edwards} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		read, err := readKey(writePEM(t, "PRIVATE KEY", der))
		if err != nil {
			t.Fatal(err)
		}
		one, err := sign(read, message)
		if err != nil {
			t.Fatal(err)
		}
		two, _ := sign(read, message)
		if !bytes.Equal(one, two) {
			t.Errorf("%T: two signatures of the same content differ", key)
		}
		raw, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(string(one)))
		if public, ok := key.Public().(ed25519.PublicKey); ok && !ed25519.Verify(public, message, raw) {
			t.Error("the signature is wrong")
		}
	}
	for kind, want := range map[string]string{"ENCRYPTED SIGSTORE PRIVATE KEY": "not supported", "PRIVATE KEY": "key"} {
		if _, err := readKey(writePEM(t, kind, []byte("x"))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func decodeJSON(t *testing.T, text []byte) any {
	t.Helper()
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The programs of a release start, and know its version.
func TestRelease_OfTheRealProgramsStarts(t *testing.T) {
	extent.Full(t) // it compiles both programs as for users, with other flags than the tests
	dir := filepath.Join(t.TempDir(), "release")
	r := small(t, dir)
	r.platforms = []platform{{"linux", runtime.GOARCH}}
	r.compile = func(ctx context.Context, command, output string, p platform) error {
		return image.Program{Tree: root, Command: "/cmd/" + command, Release: r.version}.Build(ctx, output, p.system, p.arch)
	}
	if err := r.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	packed := unpack(t, read(t, dir)["nexusctl-9.8.7-linux-"+runtime.GOARCH+".tar.gz"])
	for name, content := range map[string][]byte{"nexusctl": packed["nexusctl"], "nexus-operator": operatorOf(t, dir)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
		if limit := program.MaxBytes[name]; int64(len(content)) > limit {
			t.Errorf("%s has %d bytes, more than %d: see docs/design/0038 and 0043", name, len(content), limit)
		}
		if out, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput(); err != nil ||
			!strings.Contains(string(out), "9.8.7") {
			t.Errorf("%s --version: %v\n%s", name, err, out)
		}
	}
}

// operatorOf unpacks the operator from the image of a release.
func operatorOf(t *testing.T, dir string) []byte {
	t.Helper()
	outer, err := layout.ImageIndexFromPath(filepath.Join(dir, imageFolder))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	of, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	stream := mutate.Extract(of)
	defer stream.Close()
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("looking for the operator: %v", err)
		}
		if h.Name != "nexus-operator" {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
}
