// SPDX-License-Identifier: Apache-2.0

// Package defaults has a finding of each linter that has no rule of ours.
package defaults

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

func init() { fmt.Println("loaded") } // want gochecknoinits: don't use `init` function

func unused() {} // want unused: func unused is unused

func Undocumented() {} // want revive: exported: exported function Undocumented should have comment

// Body never closes the body of the response.
func Body(url string) (int, error) {
	resp, err := http.Get(url) // want bodyclose: response body must be closed
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}

// Unchecked ignores an error.
func Unchecked(name string) {
	os.Remove(name) // want errcheck: Error return value of `os.Remove` is not checked
}

// Compared does not see a wrapped error.
func Compared(err error) bool {
	return err == io.ErrUnexpectedEOF // want errorlint: comparing with == will fail on wrapped errors
}

// Vetted prints a number as a string.
func Vetted() {
	fmt.Printf("%s", 1) // want govet: Printf format %s has arg 1 of wrong type int | staticcheck: SA5009
}

// Ineffective assigns what nobody reads.
func Ineffective(n int) int {
	m := n + 1 // want ineffassign: ineffectual assignment to m | staticcheck: SA4006
	m = n + 2
	return m
}

// Misspelled has a text in British English.
func Misspelled() string { return "behaviour" } // want misspell: is a misspelling of `behavior`

// Swallowed returns no error when there is one.
func Swallowed(name string) error {
	_, err := os.Stat(name)
	if err != nil {
		return nil // want nilerr: error is not nil
	}
	return nil
}

// Simplifiable has a finding of each group of staticcheck's checks.
func Simplifiable(in []string) (string, error) {
	for _, s := range in {
		if s == "" == true { // want staticcheck: S1002
			return s, errors.New("empty")
		}
	}
	return fmt.Sprint(len(in)), nil
}

// Started returns one of two texts.
func Started(n int) string {
	if "" == fmt.Sprint(n) { // want staticcheck: ST1017
		return "nothing"
	}
	return "something"
}

// Rewritten can be written in a shorter form.
func Rewritten(w io.Writer, n int) {
	w.Write([]byte(fmt.Sprintf("%d", n))) // want errcheck: Error return value of `w.Write` is not checked | staticcheck: QF1012
}

// Converted converts to the type that the value has.
func Converted(n int) int {
	return int(n) // want unconvert: unnecessary conversion
}

// Largest returns the largest of some numbers.
func Largest() int { return largest(3, []int{1, 2}) }

func largest(least int, of []int) int { // want unparam: largest - least is unused
	out := 0
	for _, n := range of {
		if n > out {
			out = n
		}
	}
	return out
}
