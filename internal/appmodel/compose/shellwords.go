// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"errors"
	"strings"
)

// shellWords divides a command line at its spaces, except within quotes and behind a backslash. Nothing else of a shell has a meaning, as
// for Compose: https://github.com/compose-spec/compose-spec/blob/main/05-services.md#command
func shellWords(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	begun, escaped, quote := false, false, rune(0)
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			begun, quote = true, r
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("the command has a quote that is not closed, or ends in a backslash")
	}
	if begun {
		out = append(out, word.String())
	}
	return out, nil
}
