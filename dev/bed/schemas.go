// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// schemasPackage is the Python package that ships the schemas of all AWS resource types. Its wheel is a ZIP archive, which the
// tests read without Python. An installed emulator may have brought another version along.
const schemasPackage = "cfn-lint"

// schemasLimit limits how long they are waited for: most tests do without.
const schemasLimit = time.Minute

// provideSchemas downloads the pinned wheel of schemasPackage into the cache, unless it is there. Its errors have one line.
func provideSchemas(ctx context.Context, dev, cache string) error {
	version, err := pinnedPackage(dev, schemasPackage)
	if err != nil {
		return err
	}
	wheel := filepath.Join(cache, "schemas", strings.ReplaceAll(schemasPackage, "-", "_")+"-"+version+"-py3-none-any.whl")
	if _, err := os.Stat(wheel); err == nil {
		return nil
	}
	base, err := basePython()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(wheel), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(wheel), unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	ctx, cancel := context.WithTimeout(ctx, schemasLimit)
	defer cancel()
	// Without a connection, pip ends after seconds instead of minutes.
	cmd := exec.CommandContext(ctx, base, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--timeout", "5",
		"--retries", "0", "--no-deps", "--only-binary", ":all:", "--dest", temp, schemasPackage+"=="+version)
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return fmt.Errorf("pip download %s==%s: %w: %s", schemasPackage, version, err, lines[len(lines)-1])
	}
	say("%-24s v%-8s %s", "schemas of AWS types", version, wheel)
	return os.Rename(filepath.Join(temp, filepath.Base(wheel)), wheel)
}

// pinnedPackage returns the version of a Python package in requirements.txt.
func pinnedPackage(dev, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dev, "requirements.txt"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `==(\S+)$`).FindStringSubmatch(string(text))
	if m == nil {
		return "", fmt.Errorf("dev/requirements.txt does not pin %s", name)
	}
	return m[1], nil
}
