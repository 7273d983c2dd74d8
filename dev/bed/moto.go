// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// motoSeries is the emulator whose deviations from AWS the test proxy corrects.
const motoSeries = "5.2."

// motoProbe prints interpreter, version of moto; it fails where the server's
// extra dependencies are missing.
const motoProbe = `import sys, importlib.metadata as m, importlib.util as u
assert sys.version_info >= (3, 10)
missing = [n for n in ("flask", "flask_cors", "werkzeug", "boto3") if u.find_spec(n) is None]
assert not missing, missing
print(sys.executable); print(m.version("moto"))`

// launcher starts the emulator; it lies beside the script moto_server.
//
//go:embed moto_server.py
var launcher []byte

// prepareMoto writes out/moto_server, a two-line script around an interpreter
// that has the emulator: the machine's own, or one in a virtual environment.
func prepareMoto(dev, cache, out string) error {
	python, version := installedMoto()
	if python == "" {
		var err error
		if python, version, err = virtualMoto(dev, cache); err != nil {
			return fmt.Errorf("preparing moto: %w", err)
		}
	}
	say("%-24s v%-8s %s", "moto", version, python)
	if err := os.WriteFile(filepath.Join(out, "moto_server.py"), launcher, 0o644); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$(dirname \"$0\")/moto_server.py\" \"$@\"\n", python)
	return os.WriteFile(filepath.Join(out, "moto_server"), []byte(script), 0o755)
}

// usable reports whether a program is there and, if it is a script that runs another program by its quoted path, whether that
// one is there too.
func usable(program string) bool {
	f, err := os.Open(program)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // nothing was written
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	if !bytes.HasPrefix(head, []byte("#!")) {
		return true
	}
	_, rest, _ := strings.Cut(string(head[:n]), "\nexec '")
	path, _, quoted := strings.Cut(rest, "'")
	if !quoted {
		return true
	}
	_, err = os.Stat(path)
	return err == nil
}

// installedMoto looks at the interpreter behind an installed moto_server, then
// at python3. NEXUS_BED_MOTO=venv ignores both.
func installedMoto() (python, version string) {
	if os.Getenv("NEXUS_BED_MOTO") == "venv" {
		return "", ""
	}
	for _, candidate := range []string{shebang("moto_server"), "python3"} {
		if candidate == "" {
			continue
		}
		if python, version, err := probe(candidate); err == nil && strings.HasPrefix(version, motoSeries) {
			return python, version
		}
	}
	return "", ""
}

func probe(python string) (executable, version string, err error) {
	out, err := exec.Command(python, "-c", motoProbe).Output()
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		return "", "", errors.New("unexpected answer of " + python)
	}
	return lines[0], lines[1], nil
}

func shebang(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(fields) != 1 || !strings.Contains(fields[0], "python") {
		return ""
	}
	return fields[0]
}

// virtualMoto installs the pinned requirements into a virtual environment named
// after their hash. The environment cannot be moved once made, so a marker
// file, written last, says that it is complete.
func virtualMoto(dev, cache string) (python, version string, err error) {
	requirements := filepath.Join(dev, "requirements.txt")
	text, err := os.ReadFile(requirements)
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(text)
	env := filepath.Join(cache, "moto", hex.EncodeToString(sum[:])[:16])
	python = filepath.Join(env, "bin", "python3")
	marker := filepath.Join(env, "complete")
	if _, err := os.Stat(marker); err == nil {
		if _, version, err := probe(python); err == nil {
			return python, version, nil
		}
	}
	begin := time.Now()
	if err := install(env, python, requirements); err != nil {
		return "", "", err
	}
	if _, version, err = probe(python); err != nil {
		return "", "", err
	}
	say("%-24s %14.0f s", "virtual environment", time.Since(begin).Seconds())
	return python, version, os.WriteFile(marker, nil, 0o644)
}

func install(env, python, requirements string) error {
	if err := os.RemoveAll(env); err != nil {
		return err
	}
	base, err := basePython()
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{base, "-m", "venv", env},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", requirements},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

// basePython returns a Python new enough for moto 5.2.
func basePython() (string, error) {
	for _, name := range []string{"python3", "python3.13", "python3.12", "python3.11", "python3.10"} {
		if exec.Command(name, "-c", "import sys, venv; assert sys.version_info >= (3, 10)").Run() == nil {
			return name, nil
		}
	}
	return "", missingError("install Python 3.10 or later with the venv module (Debian: apt-get install python3-venv): the AWS emulator needs it")
}
