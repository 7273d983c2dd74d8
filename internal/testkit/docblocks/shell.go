// SPDX-License-Identifier: Apache-2.0

package docblocks

import (
	"regexp"
	"slices"
	"strings"
)

// Command is a simple command of a shell: a program and its arguments, without quotes. Parts that the shell would expand stay as they are
// written, such as $NAME, except for the output of another command, which is $().
type Command struct {
	Line  int
	Words []string
	// Input is the here-document on the standard input.
	Input string
}

// Shell divides a text into its simple commands, those within $( ) included. It knows only the syntax of a shell that pages use.
func Shell(text string, line int) []Command {
	s := &shell{text: text, line: line}
	s.read()
	return slices.DeleteFunc(s.out, func(c Command) bool { return len(c.Words) == 0 })
}

type shell struct {
	text string
	at   int
	line int

	out     []Command
	command Command
	word    strings.Builder
	inWord  bool
	// ends are the words that end the here-documents of this line, and reading the commands that they belong to.
	ends    []string
	reading []int
	// redirected is true when the next word is a file.
	redirected bool
}

// read reads the whole text.
func (s *shell) read() {
	s.command.Line = s.line
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch c := s.text[s.at]; {
		case strings.HasPrefix(rest, "\\\n"):
			s.endWord()
			s.skip(2)
		case c == '\\' && len(rest) > 1:
			s.add(rest[1:2])
			s.skip(2)
		case c == '\'':
			s.quoted(rest)
		case c == '"':
			s.doubleQuoted()
		case strings.HasPrefix(rest, "$("):
			s.substitution()
		case c == '#' && !s.inWord:
			s.skip(len(strings.SplitN(rest, "\n", 2)[0]))
		default:
			s.plain(rest)
		}
	}
	s.endCommand()
}

// plain reads text outside quotes.
func (s *shell) plain(rest string) {
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "<<"):
		s.here(rest)
	case c == '\n':
		s.endCommand()
		s.skip(1)
		s.bodies()
		s.command.Line = s.line
	case strings.HasPrefix(rest, ">&"), strings.HasPrefix(rest, "&>"):
		s.skip(2)
		s.redirected = true
	case c == '<' || c == '>':
		if w := s.word.String(); w == "1" || w == "2" { // the number of a stream is no word
			s.word.Reset()
			s.inWord = false
		}
		s.endWord()
		s.skip(1)
		s.redirected = true
	case strings.ContainsRune(";|&()", rune(c)):
		s.endCommand()
		s.skip(1)
	case c == ' ' || c == '\t':
		s.endWord()
		s.skip(1)
	default:
		s.add(rest[:1])
		s.skip(1)
	}
}

func (s *shell) skip(n int) {
	s.line += strings.Count(s.text[s.at:s.at+n], "\n")
	s.at += n
}

func (s *shell) add(text string) {
	s.word.WriteString(text)
	s.inWord = true
}

// quoted reads a text between single quotes.
func (s *shell) quoted(rest string) {
	inner, _, _ := strings.Cut(rest[1:], "'")
	s.add(inner)
	s.skip(min(len(inner)+2, len(rest)))
}

// doubleQuoted reads a text between double quotes.
func (s *shell) doubleQuoted() {
	s.skip(1)
	s.add("")
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case rest[0] == '"':
			s.skip(1)
			return
		case rest[0] == '\\' && len(rest) > 1:
			s.add(rest[1:2])
			s.skip(2)
		case strings.HasPrefix(rest, "$("):
			s.substitution()
		default:
			s.add(rest[:1])
			s.skip(1)
		}
	}
}

// substitution reads the commands within $( ).
func (s *shell) substitution() {
	start, depth := s.at+2, 1
	end := start
	for ; end < len(s.text) && depth > 0; end++ {
		switch s.text[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	s.out = append(s.out, Shell(s.text[start:max(start, end-1)], s.line)...)
	s.add("$()")
	s.skip(end - s.at)
}

var hereWord = regexp.MustCompile(`^<<-?\s*['"]?(\w+)['"]?`)

// here notes a here-document. Its text follows the line.
func (s *shell) here(rest string) {
	m := hereWord.FindStringSubmatch(rest)
	if m == nil {
		s.skip(2)
		return
	}
	s.ends, s.reading = append(s.ends, m[1]), append(s.reading, len(s.out))
	s.skip(len(m[0]))
}

// bodies reads the here-documents of the line before.
func (s *shell) bodies() {
	for i, end := range s.ends {
		m := regexp.MustCompile(`(?m)^\s*` + end + `$`).FindStringIndex(s.text[s.at:])
		if m == nil {
			m = []int{len(s.text) - s.at, len(s.text) - s.at}
		}
		if s.reading[i] < len(s.out) {
			s.out[s.reading[i]].Input = s.text[s.at : s.at+m[0]]
		}
		s.skip(m[1])
	}
	s.ends, s.reading = nil, nil
}

// endWord ends a word; a file that input or output is led to is none.
func (s *shell) endWord() {
	if s.inWord && !s.redirected {
		s.command.Words = append(s.command.Words, s.word.String())
	}
	if s.inWord {
		s.redirected = false
	}
	s.word.Reset()
	s.inWord = false
}

var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)

// keywords of the shell stand before a command.
var keywords = []string{"do", "done", "then", "else", "fi", "if", "while", "until", "!", "{", "}", "export"}

// endCommand ends a command, without keywords and assignments before it. The head of a loop is no command.
func (s *shell) endCommand() {
	s.endWord()
	words := s.command.Words
	for len(words) > 0 && (slices.Contains(keywords, words[0]) || assignment.MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) > 0 && words[0] != "for" {
		s.command.Words = words
		s.out = append(s.out, s.command)
	}
	s.command = Command{Line: s.line}
	s.redirected = false
}
