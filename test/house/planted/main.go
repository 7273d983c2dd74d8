// SPDX-License-Identifier: Apache-2.0

// Planted shows that each linter and each rule of .golangci.yml reports what it exists for:
//
//	go run ./test/house/planted GOLANGCI-LINT
//
// It copies test/house/testdata/lint beside go.mod and .golangci.yml into a temporary folder, runs gofmt, go vet and golangci-lint
// there, and compares what they report with the comments `// want` of the copied files.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	config = ".golangci.yml"
	sample = "test/house/testdata/lint"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: planted GOLANGCI-LINT")
		os.Exit(2)
	}
	problems, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		fmt.Println("the linters do not report what", sample, "expects; its README.md explains the comments")
		os.Exit(1)
	}
}

// run returns what is reported and not planted, planted and not reported, and the rules that have no planted line.
func run(golangci string) ([]string, error) {
	folder, err := os.MkdirTemp("", "planted-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := plant(folder); err != nil {
		return nil, err
	}
	wanted, err := wantedIn(folder)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	found, err := lint(folder, golangci)
	if err != nil {
		return nil, err
	}
	unshown, err := rulesWithoutFinding(text, found)
	if err != nil {
		return nil, err
	}
	return append(append(compare(wanted, found), unshown...), silentTools(folder)...), nil
}

// plant fills the folder.
func plant(folder string) error {
	if err := os.CopyFS(folder, os.DirFS(sample)); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum", config} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lint returns what golangci-lint reports, including several findings in one line.
func lint(folder, golangci string) ([]finding, error) {
	cmd := exec.Command(golangci, "run", "--output.json.path", "stdout", "--show-stats=false", "--uniq-by-line=false",
		"--max-issues-per-linter=0", "--max-same-issues=0", "--allow-parallel-runners", "./...")
	cmd.Dir = folder
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	var report struct {
		Issues []struct {
			FromLinter, Text string
			Pos              struct {
				Filename string
				Line     int
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("golangci-lint: %w\n%s", err, stderr.Bytes())
	}
	var found []finding
	for _, i := range report.Issues {
		found = append(found, finding{file: filepath.ToSlash(i.Pos.Filename), line: i.Pos.Line, linter: i.FromLinter, text: i.Text})
	}
	return found, nil
}

// silentTools returns the tools that make vet runs apart from golangci-lint and that do not report a line that they must report.
func silentTools(folder string) []string {
	unformatted := filepath.Join(folder, "unformatted.go")
	if err := os.WriteFile(unformatted, []byte("package  planted\n"), 0o600); err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, tool := range []struct {
		wanted  string
		command []string
	}{
		{"unformatted.go", []string{"gofmt", "-l", "."}},
		{"fmt.Printf format %s has arg 1 of wrong type int", []string{"go", "vet", "./internal/defaults"}},
	} {
		cmd := exec.Command(tool.command[0], tool.command[1:]...)
		cmd.Dir = folder
		reported, _ := cmd.CombinedOutput() // a finding is a failure
		if !strings.Contains(string(reported), tool.wanted) {
			out = append(out, fmt.Sprintf("%s does not report %q but:\n%s", strings.Join(tool.command, " "), tool.wanted, reported))
		}
	}
	return out
}
