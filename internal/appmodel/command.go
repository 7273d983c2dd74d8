// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// The bounds of command and args.
const (
	maxWords = 64
	maxWord  = 4096
)

// Words of command lines that contain $(NAME) for a variable of the container: as the value of an option, and elsewhere.
var (
	optionFromVariable = regexp.MustCompile(`=\$\([-._a-zA-Z0-9]+\)$`)
	fromVariable       = regexp.MustCompile(`\$\([-._a-zA-Z0-9]+\)`)
)

// withoutVariables returns the words without the names of variables, which have their values elsewhere.
func withoutVariables(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fromVariable.ReplaceAllString(optionFromVariable.ReplaceAllString(w, "="), "0")
	}
	return out
}

// SetWords writes the words of a command line into command or args of a component. A line that may have a secret is not written.
func (a *App) SetWords(c *Component, at string, to *[]nexusv1.CommandArgument, words []string) {
	tooLong := func(w string) bool { return len(w) > maxWord }
	hasControls := func(w string) bool { return strings.ContainsFunc(w, isControl) }
	switch {
	case MayHaveSecret(withoutVariables(words)):
		a.Notef(c.Name, at, "is not carried over: it may have a secret; read that from a variable, as $(NAME) in command and args")
		return
	case len(words) > maxWords || slices.ContainsFunc(words, tooLong):
		a.Notef(c.Name, at, "is not carried over: command and args have at most %d words of %d characters each", maxWords, maxWord)
		return
	case slices.ContainsFunc(words, hasControls):
		a.Notef(c.Name, at, "is not carried over: it has control characters")
		return
	}
	*to = nil
	for _, w := range words {
		*to = append(*to, nexusv1.CommandArgument(w))
	}
}
