// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// patternsText has a line for each pattern of the schemas: the pattern, a tab, and its requirement in words.
//
//go:embed patterns.txt
var patternsText string

// wordsOfPatterns is patternsText by the pattern.
var wordsOfPatterns = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(patternsText) {
		pattern, words, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out[pattern] = words
	}
	return out
})

// brokenPattern finds the pattern in an error of the API server's library.
var brokenPattern = regexp.MustCompile(`(?s)^should match '(.*)'$`)

// inWords describes the requirement of a broken pattern. Other details, and those of patterns without words, stay as they are.
func inWords(detail string) string {
	m := brokenPattern.FindStringSubmatch(detail)
	if m == nil {
		return detail
	}
	if words := wordsOfPatterns()[m[1]]; words != "" {
		return "must be " + words
	}
	return detail
}
