// SPDX-License-Identifier: Apache-2.0

// Command release makes the files of a release: nexusctl for every platform, the operator's image, the chart, manifests, JSON
// schemas, a manifest for krew, documents of what the programs were built from, checksums, and their signature. The same commit
// gives the same bytes.
//
//	release [flags] ROOT DIR VERSION     write the files of a release to DIR
//	release schemas ROOT DIR             write the JSON schemas alone
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/image"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// defaultURL names the downloads of a release on GitHub, with its version to be filled in.
const defaultURL = "https://github.com/nexus-operator/nexus-operator/releases/download/v{version}"

func run(ctx context.Context, args []string, out io.Writer) error {
	r := release{platforms: allPlatforms, log: out}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.url, "url", defaultURL, "address that the files will be downloaded from; {version} stands for the version")
	flags.StringVar(&r.repository, "image", "",
		"repository that the chart and the manifests pull the operator's image from; empty for the chart's own")
	flags.Func("platforms", "systems and architectures such as linux/amd64,darwin/arm64; empty for all of a release",
		func(text string) (err error) {
			r.platforms, err = parsePlatforms(text)
			return err
		})
	key := flags.String("key", "", "PEM file with a private key (ECDSA P-256 or Ed25519) that signs the checksums; empty for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 3 && flags.Arg(0) == "schemas" {
		return writeSchemas(flags.Arg(1), flags.Arg(2))
	}
	if flags.NArg() != 3 {
		return errors.New("usage: release [-platforms LIST] [-key FILE] [-image REPOSITORY] [-url URL] ROOT DIR VERSION | release schemas ROOT DIR")
	}
	r.root, r.dir = flags.Arg(0), filepath.Clean(flags.Arg(1))
	if err := checkTree(ctx, r.root); err != nil {
		fmt.Fprintln(out, "warning:", err)
	}
	var err error
	if r.version, err = parseVersion(flags.Arg(2)); err != nil {
		return err
	}
	if *key != "" {
		if r.signer, err = readKey(*key); err != nil {
			return err
		}
	}
	if r.time, err = sourceDate(ctx, r.root, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	r.compile = func(ctx context.Context, command, output string, p platform) error {
		return image.Program{Tree: r.root, Command: "/cmd/" + command, Release: r.version}.Build(ctx, output, p.system, p.arch)
	}
	return r.write(ctx)
}

// checkTree reports that the tree differs from its commit: then the release does not belong to the commit that its time names.
func checkTree(ctx context.Context, root string) error {
	status, err := exec.CommandContext(ctx, "git", "-C", root, "status", "--porcelain").Output()
	if err != nil {
		return fmt.Errorf("git status: %w", err)
	}
	if len(status) > 0 {
		return errors.New("the tree has changes that are not committed")
	}
	return nil
}

// parsePlatforms reads a list of platforms, all of which a release has. The image needs one of Linux.
func parsePlatforms(text string) ([]platform, error) {
	if text == "" {
		return allPlatforms, nil
	}
	var out []platform
	linux := false
	for item := range strings.SplitSeq(text, ",") {
		system, arch, _ := strings.Cut(item, "/")
		p := platform{system, arch}
		if !slices.Contains(allPlatforms, p) {
			return nil, fmt.Errorf("%q is none of %v", item, allPlatforms)
		}
		out, linux = append(out, p), linux || system == "linux"
	}
	if !linux {
		return nil, errors.New("the image needs a platform of Linux")
	}
	return out, nil
}

// semver is a version without build information, which neither tags of images nor names of files may contain.
var semver = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// parseVersion accepts a version with or without the v of a tag.
func parseVersion(text string) (string, error) {
	version := strings.TrimPrefix(text, "v")
	if !semver.MatchString(version) {
		return "", fmt.Errorf("version %q: write it as 1.2.3 or 1.2.3-rc.1", text)
	}
	return version, nil
}

// sourceDate is the time that all files get: the one of the variable SOURCE_DATE_EPOCH, else that of the commit. See
// https://reproducible-builds.org/specs/source-date-epoch/
func sourceDate(ctx context.Context, root, epoch string) (time.Time, error) {
	if epoch == "" {
		command := exec.CommandContext(ctx, "git", "-C", root, "log", "-1", "--format=%ct")
		out, err := command.Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("reading the time of the commit: %w; outside a repository, set SOURCE_DATE_EPOCH", err)
		}
		epoch = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
