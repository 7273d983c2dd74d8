// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// wantCovered is the least share of statements, in percent, that tests run, by room.
var wantCovered = []struct {
	room    string
	percent float64
}{
	{"internal/controller", 80},
	{"internal/awsclient", 90},
	{"internal/engine", 90},
}

// covered counts the statements of a room.
type covered struct{ run, all int }

// readProfile reads a coverage profile and counts by folder. A block that several test binaries report
// is counted once, as run if any of them ran it.
func readProfile(name, module string) (map[string]covered, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type block struct {
		statements int
		run        bool
	}
	blocks := map[string]block{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		line := s.Text()
		if line == "" || strings.HasPrefix(line, "mode:") {
			continue
		}
		at, statements, count, err := parseBlock(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		blocks[at] = block{statements, blocks[at].run || count > 0}
	}
	out := map[string]covered{}
	for at, b := range blocks {
		file, _, _ := strings.Cut(at, ":")
		dir := strings.TrimPrefix(path.Dir(file), module+"/")
		c := out[dir]
		c.all += b.statements
		if b.run {
			c.run += b.statements
		}
		out[dir] = c
	}
	return out, s.Err()
}

// parseBlock reads "module/dir/file.go:1.2,3.4 5 6": the place, its statements, and how often it ran.
func parseBlock(line string) (at string, statements, count int, err error) {
	fields := strings.Fields(line)
	if len(fields) == 3 {
		var err1, err2 error
		statements, err1 = strconv.Atoi(fields[1])
		count, err2 = strconv.Atoi(fields[2])
		if err1 == nil && err2 == nil && strings.Contains(fields[0], ":") {
			return fields[0], statements, count, nil
		}
	}
	return "", 0, 0, fmt.Errorf("not a line of a coverage profile: %q", line)
}

func coverageRows(by map[string]covered) []row {
	var rows []row
	for _, w := range wantCovered {
		c := covered{}
		for dir, d := range by {
			if under(dir, w.room) {
				c.run, c.all = c.run+d.run, c.all+d.all
			}
		}
		percent := 100 * float64(c.run) / float64(max(1, c.all))
		var findings []string
		switch {
		case c.all == 0:
			findings = []string{"the profile does not speak of it"}
		case percent < w.percent:
			findings = []string{fmt.Sprintf("%d of %d statements are run by no test", c.all-c.run, c.all)}
		}
		rows = append(rows, atMost("coverage of "+w.room, fmt.Sprintf("≥ %.0f %%", w.percent), fmt.Sprintf("%.1f %%", percent), findings))
	}
	return rows
}
