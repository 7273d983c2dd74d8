// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/image"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "-" + p.arch }

// allPlatforms lists the platforms that nexusctl is built for.
var allPlatforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
	{"windows", "arm64"}}

// release is a release that is being made.
type release struct {
	// root is the source tree, and dir the folder of the files.
	root, dir string
	version   string
	// url begins the addresses of the files, as krew downloads them.
	url string
	// repository is that of the operator's image; empty for the chart's own.
	repository string
	platforms  []platform
	time       time.Time
	// signer signs the checksums; nil for no signature.
	signer  crypto.Signer
	compile func(ctx context.Context, command, output string, p platform) error
	log     io.Writer

	// files are the finished files by their names.
	files map[string][]byte
}

func (r *release) say(format string, args ...any) { fmt.Fprintf(r.log, format+"\n", args...) }

// file adds a file of the release.
func (r *release) file(name string, content []byte) {
	r.files[name] = content
	r.say("%s", name)
}

// write makes all files, and then the folder, which is complete at any time.
func (r *release) write(ctx context.Context) error {
	if err := r.checkTarget(); err != nil {
		return err
	}
	r.files = map[string][]byte{}
	r.say("release %s of %s", r.version, r.time.Format(time.RFC3339))
	work, err := os.MkdirTemp("", "nexus-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // a temporary folder
	steps := []func(context.Context, string) error{r.addChart, r.addSchemas, r.addPrograms, r.addImage, r.addKrew}
	for _, step := range steps {
		if err := step(ctx, work); err != nil {
			return err
		}
	}
	if err := r.addChecksums(filepath.Join(work, imageFolder)); err != nil {
		return err
	}
	return r.replaceTarget(work)
}

// checksumsFile lists every other file, and shows that a folder is that of a release.
const checksumsFile = "SHA256SUMS"

// imageFolder is the OCI layout of the operator's image.
const imageFolder = "image"

// checkTarget refuses to replace a folder that is not that of a release.
func (r *release) checkTarget() error {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.dir, checksumsFile)); err != nil {
		return fmt.Errorf("%s is not empty and holds no release: name another folder", r.dir)
	}
	return nil
}

// replaceTarget writes the files beside the folder, and then puts them in its place.
func (r *release) replaceTarget(work string) error {
	if err := os.MkdirAll(filepath.Dir(r.dir), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(r.dir), ".nexus-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // it is renamed where all went well
	for name, content := range r.files {
		path := filepath.Join(temporary, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			return err
		}
	}
	layout := os.DirFS(filepath.Join(work, imageFolder))
	if err := errors.Join(os.CopyFS(filepath.Join(temporary, imageFolder), layout), os.Chmod(temporary, 0o755)); err != nil {
		return err
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	return os.Rename(temporary, r.dir)
}

// pullRequestScripts are the scripts with which pipelines plan pull requests; that for GitLab takes them from the archive.
func (r *release) pullRequestScripts() ([]packedFile, error) {
	paths, err := filepath.Glob(filepath.Join(r.root, ".github/actions/plan/*.sh"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("finding the scripts for pull requests: %w", cmp.Or(err, fs.ErrNotExist))
	}
	var out []packedFile
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		out = append(out, packedFile{"pull-requests/" + filepath.Base(path), 0o755, content})
	}
	return out, nil
}

// addPrograms builds nexusctl for every platform, and packs it with the license, and where Bash may be with the scripts.
func (r *release) addPrograms(ctx context.Context, work string) error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	scripts, err := r.pullRequestScripts()
	if err != nil {
		return err
	}
	for _, p := range r.platforms {
		r.say("building nexusctl for %s", p)
		output := filepath.Join(work, "nexusctl-"+p.String())
		if err := r.compile(ctx, "nexusctl", output, p); err != nil {
			return err
		}
		binary, err := os.ReadFile(output)
		if err != nil {
			return err
		}
		files := []packedFile{{"LICENSE", 0o644, license}, {p.programName(), 0o755, binary}}
		if p.system != "windows" {
			files = append(files, scripts...)
		}
		packed, err := pack(r.archiveName(p), r.time, files)
		if err != nil {
			return err
		}
		r.file(r.archiveName(p), packed)
		name := fmt.Sprintf("nexusctl-%s-%s", r.version, p)
		bill, err := image.BillOfMaterials(binary, name, r.version)
		if err != nil {
			return err
		}
		r.file(name+".spdx.json", bill)
	}
	return nil
}

// programName is nexusctl with the extension that the operating system needs.
func (p platform) programName() string {
	if p.system == "windows" {
		return "nexusctl.exe"
	}
	return "nexusctl"
}

// archiveName is the archive of nexusctl for a platform.
func (r *release) archiveName(p platform) string {
	extension := ".tar.gz"
	if p.system == "windows" {
		extension = ".zip"
	}
	return fmt.Sprintf("nexusctl-%s-%s%s", r.version, p, extension)
}

// addImage builds the operator's image for the Linux platforms.
func (r *release) addImage(ctx context.Context, work string) error {
	source := image.Source{Tree: r.root, Release: r.version, Binaries: map[string]string{}}
	for _, p := range r.platforms {
		if p.system != "linux" {
			continue
		}
		r.say("building the operator for %s", p)
		output := filepath.Join(work, "nexus-operator-"+p.String())
		if err := r.compile(ctx, "nexus-operator", output, p); err != nil {
			return err
		}
		source.Arches, source.Binaries[p.arch] = append(source.Arches, p.arch), output
	}
	built, err := image.Operator(ctx, source)
	if err != nil {
		return err
	}
	for name, document := range built.Documents {
		r.file(strings.Replace(name, "nexus-operator-", "nexus-operator-"+r.version+"-", 1), document)
	}
	built.Documents = nil
	digest, err := built.Content.Digest()
	if err != nil {
		return err
	}
	r.say("%s/ with digest %s", imageFolder, digest)
	return built.WriteLayout(filepath.Join(work, imageFolder))
}
