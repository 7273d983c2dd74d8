// SPDX-License-Identifier: Apache-2.0

package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxConnectors is the number of sentences in a hundred that may have a connector, in the comments of internal. Those of client-go,
// controller-runtime, Flux and Karpenter have 0.6 to 1.7. It only falls.
const maxConnectors = 1.0

// connector finds the words that join a clause to a sentence where plain English has two sentences, or a noun.
var connector = regexp.MustCompile(`(?i)\b(what|whose|whom|besides|else|meanwhile|hence|` +
	`(of|to|by|in|with|from|for|on|at|under|after|before|behind|below|about|between|against|through|over|beside) which)\b`)

// endOfSentence divides the text of a comment.
var endOfSentence = regexp.MustCompile(`[.:]\s+`)

// sentences returns the sentences of a comment group that have more than three words.
func sentences(g *ast.CommentGroup) (out []string) {
	text := strings.Join(strings.Fields(g.Text()), " ")
	for _, s := range endOfSentence.Split(text, -1) {
		if len(strings.Fields(s)) > 3 {
			out = append(out, s)
		}
	}
	return out
}

func TestLanguage_ConnectorsAreFew(t *testing.T) {
	for text, want := range map[string]bool{
		"frozen returns the reason for which the operator leaves it": true,
		"It keeps what AWS shows":                                    true,
		"frozen returns why the operator leaves the object alone":    false,
		"Each field is as AWS shows it":                              false,
	} {
		if connector.MatchString(text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
	all, joined := map[string]int{}, map[string]int{}
	total, most := 0, 0
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasPrefix(d.Name(), "zz_") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room := strings.Split(filepath.ToSlash(path), "/")[3]
		for _, g := range f.Comments {
			for _, s := range sentences(g) {
				total++
				all[room]++
				if connector.MatchString(s) {
					most++
					joined[room]++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if share := 100 * float64(most) / float64(total); share > maxConnectors {
		t.Errorf("%.1f of 100 sentences in comments have a connector, more than %.1f: write two sentences, or name the thing", share, maxConnectors)
		for room, n := range joined {
			t.Logf("internal/%s: %d of %d", room, n, all[room])
		}
	}
}
