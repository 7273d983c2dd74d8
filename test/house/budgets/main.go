// SPDX-License-Identifier: Apache-2.0

// Budgets measures the production code against the sizes and habits that the design allows, prints a
// table of them and fails when one is broken:
//
//	go run ./test/house/budgets [-root DIR] [-thresholds FILE] [-coverage PROFILE]
//
// Production code is every Go file under api, cmd and internal but for tests, generated files and the
// test bed. It is parsed, never compiled, so that a run takes a second or two and needs no network.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the source tree")
	thresholds := flag.String("thresholds", "test/house/thresholds.json", "floors that only rise, relative to the tree")
	coverage := flag.String("coverage", "", "a profile of go test -coverprofile; without one coverage is not judged")
	flag.Parse()
	ok, err := run(*root, *thresholds, *coverage)
	if err != nil {
		fmt.Fprintln(os.Stderr, "budgets:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(root, thresholds, coverage string) (ok bool, err error) {
	t, err := loadTree(root)
	if err != nil {
		return false, err
	}
	floors, err := readFloors(root, thresholds)
	if err != nil {
		return false, err
	}
	rows := measure(t, floors)
	if coverage != "" {
		covered, err := readProfile(coverage, t.module)
		if err != nil {
			return false, err
		}
		rows = append(rows, coverageRows(covered)...)
	}
	return report(os.Stdout, rows), nil
}

// measure takes every measurement that needs no tests to be run.
func measure(t *tree, f floors) []row {
	var rows []row
	for _, part := range [][]row{
		sizeRows(t), widthRows(t, f), typeRows(t), kindRows(t, f), duplicateRows(t), testRows(t, f), documentedRows(t), habitRows(t),
		stateRows(t),
	} {
		rows = append(rows, part...)
	}
	return rows
}
