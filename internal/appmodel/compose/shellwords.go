// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"errors"
	"regexp"
)

// The pieces of a command line: spaces, a text in single or in double quotes, a character behind a backslash, and any other text. In double
// quotes a backslash counts before a quote and before a backslash.
var (
	linePiece    = regexp.MustCompile(`(?s)^(?:(\s+)|'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+))`)
	quotedEscape = regexp.MustCompile(`\\(["\\])`)
)

// shellWords divides a command line at its spaces, except within quotes and behind a backslash. No other syntax of a shell has a meaning,
// as for Compose: https://github.com/compose-spec/compose-spec/blob/main/05-services.md#command
func shellWords(line string) ([]string, error) {
	var out []string
	word, begun := "", false
	for line != "" {
		m := linePiece.FindStringSubmatch(line)
		if m == nil {
			return nil, errors.New("the command has a quote that is not closed, or ends in a backslash")
		}
		line = line[len(m[0]):]
		if m[1] == "" {
			word, begun = word+m[2]+quotedEscape.ReplaceAllString(m[3], "$1")+m[4]+m[5], true
			continue
		}
		if begun {
			out = append(out, word)
		}
		word, begun = "", false
	}
	if begun {
		out = append(out, word)
	}
	return out, nil
}
