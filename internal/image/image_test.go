// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/nexus-operator/nexus-operator/internal/buildflags"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
	"github.com/nexus-operator/nexus-operator/internal/testkit/optree"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
)

func TestMain(m *testing.M) {
	engine.Main()
	m.Run()
}

var anybody = image.Registry{Keychain: authn.DefaultKeychain, Agent: "test"}

func tag(t *testing.T, host, path string) name.Tag {
	t.Helper()
	ref, err := name.NewTag(host + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// contents are the files of an image.
func contents(t *testing.T, of v1.Image) map[string]string {
	t.Helper()
	stream := mutate.Extract(of)
	defer stream.Close()
	out := map[string]string{}
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			out[h.Name] = string(must.Get(io.ReadAll(r))(t))
		}
	}
}

// operator builds the image of a small tree.
func operator(t *testing.T, s image.Source) *image.Built {
	t.Helper()
	built, err := image.Operator(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(built.Close)
	return built
}

func TestOperator_OfSeveralArchitecturesIsPushed(t *testing.T) {
	extent.Full(t)
	var began []string
	source := image.Source{Tree: optree.Write(t, "one"), Arches: image.Architectures, Began: func(arch string) { began = append(began, arch) }}
	built, again := operator(t, source), operator(t, image.Source{Tree: optree.Write(t, "one"), Arches: image.Architectures})
	digest := must.Get(built.Content.Digest())(t).String()
	if other := must.Get(again.Content.Digest())(t).String(); digest != other || strings.Join(began, " ") != "amd64 arm64" {
		t.Errorf("%s and %s, after %v", digest, other, began)
	}
	ref := tag(t, registry.Start(t), "nexus-operator:v1")
	if have, err := anybody.Digest(t.Context(), ref); have != "" || err != nil {
		t.Errorf("before: %q %v", have, err)
	}
	sent := int64(0)
	r := anybody
	r.Progress = func(n, _ int64) { sent = n }
	if err := r.Push(t.Context(), ref, built.Content); err != nil {
		t.Fatal(err)
	}
	if have, err := anybody.Digest(t.Context(), ref); have != digest || err != nil || sent == 0 {
		t.Errorf("after: %q %v, want %s; %d bytes were sent", have, err, digest, sent)
	}
	index := must.Get(remote.Index(ref))(t)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	for i, m := range must.Get(index.IndexManifest())(t).Manifests {
		if m.Platform.Architecture != image.Architectures[i] {
			t.Errorf("%d: %v", i, m.Platform)
		}
		if files := contents(t, must.Get(index.Image(m.Digest))(t)); len(files) != 2 || files["nexus-operator"] == "" {
			t.Errorf("%d files", len(files))
		}
	}
}

func TestOperator_TakesBinariesThatCanRun(t *testing.T) {
	tree := optree.Write(t, "one")
	compiled := operator(t, image.Source{Tree: tree, Arches: []string{"arm64"}})
	build := func(pkg string, env ...string) string {
		path := filepath.Join(t.TempDir(), "binary")
		args := append([]string{"build", "-trimpath", "-ldflags=-s -w -buildid= -X main.version=" + optree.Release, "-o", path},
			buildflags.All()...)
		cmd := exec.CommandContext(t.Context(), "go", append(args, pkg)...)
		cmd.Dir, cmd.Env = tree, append(os.Environ(), append(env, "CGO_ENABLED=0", "GOFLAGS=")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	linux := build("./cmd/nexus-operator", "GOOS=linux", "GOARCH=arm64")
	ready := operator(t, image.Source{Binaries: map[string]string{"arm64": linux}, Release: optree.Release, Arches: []string{"arm64"}})
	if a, b := must.Get(compiled.Content.Digest())(t), must.Get(ready.Content.Digest())(t); a != b {
		t.Errorf("compiled %s, from the same binary %s", a, b)
	}
	if err := os.MkdirAll(filepath.Join(tree, "cmd/other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "cmd/other/main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		build("./cmd/nexus-operator", "GOOS=darwin", "GOARCH=arm64"): "is no Linux executable for arm64",
		build("./cmd/nexus-operator", "GOOS=linux", "GOARCH=amd64"):  "is no Linux executable for arm64",
		build("./cmd/other", "GOOS=linux", "GOARCH=arm64"):           "is not the operator",
		filepath.Join(tree, "go.mod"):                                "is no Linux executable",
		filepath.Join(tree, "none"):                                  "no such file",
	} {
		_, err := image.Operator(t.Context(), image.Source{Binaries: map[string]string{"arm64": path}, Release: "1", Arches: []string{"arm64"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestWriteLayout_ReplacesOnlyLayouts(t *testing.T) {
	source := image.Source{Tree: optree.Write(t, "one"), Arches: []string{"amd64"}}
	dir := filepath.Join(t.TempDir(), "new", "image")
	for range 2 {
		if err := operator(t, source).WriteLayout(dir); err != nil {
			t.Fatal(err)
		}
	}
	manifest := must.Get(must.Get(layout.ImageIndexFromPath(dir))(t).IndexManifest())(t)
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != optree.Release {
		t.Errorf("%+v", manifest)
	}
	if _, err := os.Stat(filepath.Join(dir, "nexus-operator-linux-amd64.spdx.json")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); len(left) != 1 || err != nil {
		t.Errorf("%v %v are left beside the layout", left, err)
	}
	precious := t.TempDir()
	file := filepath.Join(precious, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := operator(t, source).WriteLayout(precious)
	if _, ok := errors.AsType[*image.NotLayoutError](err); !ok {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(file); string(text) != "mine" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}

// sources is a folder to build an application from.
func sources(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestApp_IsBuiltByEveryEngine(t *testing.T) {
	for _, called := range image.Engines {
		t.Run(called, func(t *testing.T) {
			bin := engine.Install(t, called)
			t.Setenv("PATH", bin)
			if found, err := image.FindProgram(image.Engines...); found != called || err != nil {
				t.Errorf("found %q %v", found, err)
			}
			ref := tag(t, registry.Start(t), "team/backend:v1")
			app := image.App{Engine: called, Dir: sources(t, "app.Dockerfile", "main.py"), Args: []string{"A=b"}, Log: io.Discard,
				Platforms: []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}}
			if _, err := app.Build(t.Context(), ref.Name()); err == nil || !strings.Contains(err.Error(), called+" build: exit status 1") {
				t.Errorf("without a Dockerfile: %v", err)
			}
			app.File = filepath.Join(app.Dir, "app.Dockerfile")
			built := must.Get(app.Build(t.Context(), ref.Name()))(t)
			defer built.Close()
			if err := anybody.Push(t.Context(), ref, built.Content); err != nil {
				t.Fatal(err)
			}
			arm := must.Get(remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: "arm64"})))(t)
			if files := contents(t, arm); files["main.py"] != "main.py" || len(files) != 2 {
				t.Errorf("%v", files)
			}
			config := must.Get(arm.ConfigFile())(t)
			if config.Architecture != "arm64" || strings.Join(config.Config.Env, " ") != "A=b" {
				t.Errorf("%+v", config)
			}
			if log := engine.Log(t, bin); !strings.Contains(log, "--tag "+ref.Name()+"-linux-arm64 --platform linux/arm64") {
				t.Errorf("the engine was called with\n%s", log)
			}
		})
	}
}

func TestApp_RefusesAnImageForAnotherPlatform(t *testing.T) {
	t.Setenv("PATH", engine.Install(t, "docker"))
	app := image.App{Engine: "docker", Dir: sources(t, "Dockerfile", "only-amd64"),
		Platforms: []v1.Platform{{OS: "linux", Architecture: "arm64"}}, Log: io.Discard}
	if _, err := app.Build(t.Context(), "app:v1"); err == nil || !strings.Contains(err.Error(), "linux/amd64 instead of linux/arm64") {
		t.Errorf("%v", err)
	}
	app.Platforms = nil
	built := must.Get(app.Build(t.Context(), "app:v1"))(t)
	defer built.Close()
	if _, ok := built.Content.(v1.Image); !ok {
		t.Errorf("%T", built.Content)
	}
	if _, err := image.FindProgram("podman", "buildah"); err == nil ||
		!strings.Contains(err.Error(), "podman, buildah: not found on the PATH") {
		t.Errorf("%v", err)
	}
}

func TestStatic_AddsFilesToEveryPlatform(t *testing.T) {
	host := registry.Start(t)
	base := tag(t, host, "web:stable")
	if err := anybody.Push(t.Context(), base,
		operator(t, image.Source{Tree: optree.Write(t, "one"), Arches: image.Architectures}).Content); err != nil {
		t.Fatal(err)
	}
	dir := sources(t, "index.html", "js/app.js")
	static := image.Static{Base: base, Dir: dir, Path: "/srv/www/"}
	ref := tag(t, host, "frontend:v1")
	built := must.Get(static.Build(t.Context(), anybody, "frontend"))(t)
	if err := os.Chmod(filepath.Join(dir, "index.html"), 0o640); err != nil { // which is not in the image
		t.Fatal(err)
	}
	again := must.Get(static.Build(t.Context(), anybody, "frontend"))(t)
	if a, b := must.Get(built.Content.Digest())(t), must.Get(again.Content.Digest())(t); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if err := anybody.Push(t.Context(), ref, built.Content); err != nil {
		t.Fatal(err)
	}
	for _, arch := range image.Architectures {
		got := must.Get(remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch})))(t)
		if files := contents(t, got); files["srv/www/js/app.js"] != "js/app.js" || files["srv/www/index.html"] != "index.html" ||
			files["nexus-operator"] == "" {
			t.Errorf("%s: %d files", arch, len(files))
		}
	}
	static.Platforms = []v1.Platform{{OS: "linux", Architecture: "s390x"}}
	if _, err := static.Build(t.Context(), anybody, ""); err == nil || !strings.Contains(err.Error(), "no image for some of the platforms") {
		t.Errorf("%v", err)
	}
}

func TestStatic_OnASingleImageRefusesLinks(t *testing.T) {
	host := registry.Start(t)
	base := tag(t, host, "web:stable")
	if err := anybody.Push(t.Context(), base, must.Get(random.Image(100, 1))(t)); err != nil {
		t.Fatal(err)
	}
	static := image.Static{Base: base, Dir: sources(t, "index.html"), Path: "www"}
	if built := must.Get(static.Build(t.Context(), anybody, ""))(t); contents(t, built.Content.(v1.Image))["www/index.html"] != "index.html" {
		t.Error("the file is not in the image")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(static.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := static.Build(t.Context(), anybody, ""); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("%v", err)
	}
	static.Dir = t.TempDir()
	if _, err := static.Build(t.Context(), anybody, ""); err == nil || !strings.Contains(err.Error(), "has no files") {
		t.Errorf("%v", err)
	}
}

func TestPush_EndsWithItsContext(t *testing.T) {
	ref := tag(t, registry.Start(t), "app:v1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := anybody
	r.Progress = func(int64, int64) {}
	if err := r.Push(ctx, ref, must.Get(random.Image(100, 1))(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
