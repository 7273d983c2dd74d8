// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// record says how long something took, in seconds.
type record struct {
	Name string
	// Wall is the time that has passed, CPU the processor time of the process and all that it has started.
	Wall, CPU float64
}

// records are the times of a run.
type records struct {
	// Extent is which tests ran.
	Extent string
	// Steps are the builds.
	Steps, Packages, Tests []record
	Total                  record
}

// measure returns the record of a process that has ended.
func measure(name string, wall time.Duration, state *os.ProcessState) record {
	r := record{Name: name, Wall: wall.Seconds()}
	if state != nil {
		r.CPU = (state.UserTime() + state.SystemTime()).Seconds()
	}
	return r
}

// readRecords returns those of an earlier run, or none.
func readRecords(path string) (r records, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

func (r *records) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// testsOf begins the names of steps that build tests.
const testsOf = "tests of "

// addBuild records the building of a batch.
func (r *records) addBuild(b *batch, wall time.Duration, state *os.ProcessState) {
	name := testsOf + b.module
	name += b.compiled.words()
	step := measure(name, wall, state)
	if i := slices.IndexFunc(r.Steps, func(x record) bool { return x.Name == name }); i >= 0 {
		r.Steps[i].Wall += step.Wall
		r.Steps[i].CPU += step.CPU
		return
	}
	r.Steps = append(r.Steps, step)
}

// wall returns how long a package took, all its lanes together; 0 when it is not known.
func (r *records) wall(p testPackage) (sum float64) {
	for _, x := range r.Packages {
		if name, _, _ := strings.Cut(x.Name, " "); name == p.path {
			sum += x.Wall
		}
	}
	return sum
}

// test returns how long a test took; 0 when it is not known.
func (r *records) test(p testPackage, test string) float64 {
	if i := slices.IndexFunc(r.Tests, func(x record) bool { return x.Name == p.path+" "+test }); i >= 0 {
		return r.Tests[i].Wall
	}
	return 0
}

// slowest sets how many tests the table has.
const slowest = 40

// printTimes prints the times of the last run as Markdown.
func printTimes(out io.Writer, path string) error {
	r, err := readRecords(path)
	if err != nil {
		return err
	}
	if len(r.Packages) == 0 {
		return fmt.Errorf("%s has no times: run make test first", path)
	}
	fmt.Fprintf(out, "Extent %s: %.0f s, %.0f s of processor time.\n\n", cmp.Or(r.Extent, "sample"), r.Total.Wall, r.Total.CPU)
	byCPU := func(a, b record) int { return cmp.Compare(b.CPU, a.CPU) }
	slices.SortFunc(r.Packages, byCPU)
	slices.SortFunc(r.Tests, func(a, b record) int { return cmp.Compare(b.Wall, a.Wall) })
	return errors.Join(table(out, "Build", r.Steps), table(out, "Package", r.Packages),
		table(out, "Test", r.Tests[:min(slowest, len(r.Tests))]))
}

func table(out io.Writer, head string, rows []record) error {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintf(w, "| %s\t| s\t| processor s\t|\n|---\t|---:\t|---:\t|\n", head)
	for _, x := range rows {
		fmt.Fprintf(w, "| %s\t| %.1f\t| %.1f\t|\n", x.Name, x.Wall, x.CPU)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// ticks sets how often per second Linux counts processor time in /proc.
const ticks = 100

// processorTime returns what a process and all below it have used so far, with those that have ended; 0 where there is no /proc. It
// looks at no other process: a run asks thousands of times, and a look at all of them took 70 s of its processor time.
func processorTime(root int) time.Duration {
	var total int64
	for next := []int{root}; len(next) > 0; next = next[1:] {
		dir := fmt.Sprintf("/proc/%d", next[0])
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // it has ended
		}
		total += parseStat(string(text))
		threads, err := filepath.Glob(dir + "/task/[0-9]*/children")
		if err != nil {
			continue
		}
		for _, path := range threads {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // the thread has ended
			}
			for _, field := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(field); err == nil {
					next = append(next, pid)
				}
			}
		}
	}
	return time.Duration(total) * time.Second / ticks
}

// parseStat reads a line of /proc/PID/stat: the ticks that a process and its children that have ended have used. See proc_pid_stat(5).
func parseStat(line string) (used int64) {
	// The name of the program, in parentheses, may have blanks.
	fields := strings.Fields(line[strings.LastIndex(line, ")")+1:])
	if len(fields) < 15 {
		return 0
	}
	for _, field := range fields[11:15] {
		n, _ := strconv.ParseInt(field, 10, 64)
		used += n
	}
	return used
}
