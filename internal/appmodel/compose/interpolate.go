// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// interpolation is a text after its variables were replaced.
type interpolation struct {
	value string
	// used are the variables with values in the text, and missing are those that have none and no default.
	used, missing []string
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// interpolate replaces $NAME and ${NAME} with its defaults, as Compose does:
// https://github.com/compose-spec/compose-spec/blob/main/12-interpolation.md
func interpolate(text string, variables map[string]string) (interpolation, error) {
	out := interpolation{}
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 || at == len(text)-1 {
			out.value += text
			return out, nil
		}
		out.value += text[:at]
		rest := text[at+1:]
		switch rest[0] {
		case '$':
			out.value, text = out.value+"$", rest[1:]
		case '{':
			end := closing(rest)
			if end < 0 {
				return out, fmt.Errorf("%q has no closing brace; write $$ for a dollar sign", "${")
			}
			if err := out.braced(rest[1:end], variables); err != nil {
				return out, err
			}
			text = rest[end+1:]
		default:
			name := variable.FindString(rest)
			if name == "" {
				out.value, text = out.value+"$", rest
				continue
			}
			out.put(name, variables)
			text = rest[len(name):]
		}
	}
}

// closing returns the index of the brace that closes the first one.
func closing(text string) int {
	depth := 0
	for i, r := range text {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// put adds the value of a variable.
func (t *interpolation) put(name string, variables map[string]string) {
	v, known := variables[name]
	if !known {
		t.missing = append(t.missing, name)
		return
	}
	t.used = append(t.used, name)
	t.value += v
}

// braced adds the value of the expression between braces.
func (t *interpolation) braced(inside string, variables map[string]string) error {
	name := variable.FindString(inside)
	if name == "" {
		return errors.New("the braces of a variable hold no name; write $$ for a dollar sign")
	}
	operator, argument := cutOperator(inside[len(name):])
	v, known := variables[name]
	set := known && (v != "" || !strings.HasPrefix(operator, ":"))
	switch operator {
	case "", "?", ":?":
		t.put(name, variables)
		return nil
	case "-", ":-":
		if set {
			t.put(name, variables)
			return nil
		}
	case "+", ":+":
		if !set {
			return nil
		}
	default:
		return fmt.Errorf("${%s} has the unknown operator %q", name, operator)
	}
	inner, err := interpolate(argument, variables)
	if err != nil {
		return err
	}
	t.value += inner.value
	t.used, t.missing = append(t.used, inner.used...), append(t.missing, inner.missing...)
	return nil
}

// cutOperator divides the text after a name between braces into the operator and its argument.
func cutOperator(text string) (operator, argument string) {
	length := min(1, len(text))
	if len(text) > 1 && text[0] == ':' {
		length = 2
	}
	return text[:length], text[length:]
}

// Variables reads the variables of an env file: lines of NAME=VALUE, comments and quotes.
func Variables(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		name, v, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !found || strings.HasPrefix(line, "#") || variable.FindString(name) != name || name == "" {
			continue
		}
		out[name] = unquoted(strings.TrimSpace(v))
	}
	return out
}

// unquoted removes quotes around a value, or a comment behind one without quotes.
func unquoted(v string) string {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') {
		if end := strings.IndexByte(v[1:], v[0]); end >= 0 {
			return v[1 : end+1]
		}
	}
	plain, _, _ := strings.Cut(v, " #")
	return strings.TrimSpace(plain)
}
