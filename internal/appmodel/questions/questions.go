// SPDX-License-Identifier: Apache-2.0

package questions

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Interview asks for values that no flag gives.
type Interview struct {
	// Flag returns the values of a flag, and whether the command line sets it.
	Flag func(name string) (values []string, set bool)
	// ReadLine reads a line from the terminal; nil where no one can answer, so that the defaults count.
	ReadLine func() (string, error)
	// Out shows the questions.
	Out io.Writer
}

// ErrNoAnswers is the end of the input before the last question.
var ErrNoAnswers = errors.New("the input ended before the last question")

// question is one thing to know, with the flag that answers it.
type question struct {
	flag, text, fallback string
	// required is true where an empty answer is none.
	required bool
	check    func(string) error
}

// ask returns the answer of the flag, of the person, or the default.
func (i *Interview) ask(q question) (string, error) {
	if q.check == nil {
		q.check = func(string) error { return nil }
	}
	if values, set := i.Flag(q.flag); set {
		answer := strings.Join(values, ",")
		if err := q.judge(answer); err != nil {
			return "", fmt.Errorf("--%s: %w", q.flag, err)
		}
		return answer, nil
	}
	if i.ReadLine != nil {
		return i.askPerson(q)
	}
	if err := q.judge(q.fallback); err != nil {
		return "", fmt.Errorf("--%s: %w", q.flag, err)
	}
	return q.fallback, nil
}

// judge checks an answer.
func (q question) judge(answer string) error {
	if answer == "" && q.required {
		return errors.New("there is no default: name it with the flag")
	}
	if answer == "" {
		return nil
	}
	return q.check(answer)
}

// askPerson asks until the answer is valid.
func (i *Interview) askPerson(q question) (string, error) {
	for {
		hint := ""
		if q.fallback != "" {
			hint = " [" + q.fallback + "]"
		}
		if _, err := fmt.Fprintf(i.Out, "%s%s: ", q.text, hint); err != nil {
			return "", err
		}
		line, err := i.ReadLine()
		if errors.Is(err, io.EOF) {
			_, _ = fmt.Fprintln(i.Out)
			return "", ErrNoAnswers
		}
		if err != nil {
			return "", err
		}
		answer := q.meant(strings.TrimSpace(line))
		wrong := q.judge(answer)
		if wrong == nil {
			return answer, nil
		}
		if answer == "" {
			wrong = errors.New("an answer is needed")
		}
		if _, err := fmt.Fprintf(i.Out, "  %v\n", wrong); err != nil {
			return "", err
		}
	}
}

// meant returns the answer that a line stands for: an empty one is the default, and - is none.
func (q question) meant(line string) string {
	switch {
	case line == "":
		return q.fallback
	case line == "-" && !q.required:
		return ""
	default:
		return line
	}
}

// askYes asks a question that has two answers.
func (i *Interview) askYes(q question) (bool, error) {
	q.check = func(text string) error {
		if !slices.Contains([]string{"y", "yes", "n", "no", "true", "false"}, strings.ToLower(text)) {
			return fmt.Errorf("%q: answer yes or no", text)
		}
		return nil
	}
	answer, err := i.ask(q)
	return strings.HasPrefix(strings.ToLower(answer), "y") || strings.EqualFold(answer, "true"), err
}

// askList asks for names that commas separate.
func (i *Interview) askList(q question, check func([]string) error) ([]string, error) {
	q.check = func(text string) error { return check(listOf(text)) }
	answer, err := i.ask(q)
	return listOf(answer), err
}

func listOf(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// pairs reads the values NAME=VALUE of a flag.
func (i *Interview) pairs(flag string) ([][2]string, error) {
	values, _ := i.Flag(flag)
	var out [][2]string
	for _, v := range values {
		name, text, found := strings.Cut(v, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("--%s: %q: write NAME=VALUE", flag, v)
		}
		out = append(out, [2]string{name, text})
	}
	return out, nil
}
