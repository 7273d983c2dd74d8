// SPDX-License-Identifier: Apache-2.0

package docblocks

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Mark says how test/demo runs a block of commands, or why it does not. It follows the language of the block:
//
//	sh run [fails] [full] [last] [unordered] [with FILE]...
//	sh skip REASON [TEST...]
type Mark struct {
	Run bool
	// Fails is true for commands that must fail; Full for a block that is left to full runs; Last for a block that runs after all pages,
	// because it removes objects that they need.
	Fails, Full, Last bool
	// Unordered is true for a transcript that has its lines in another order at another time.
	Unordered bool
	// With names the scripts in test/demo/testdata that run before the block, in the same shell.
	With []string
	// Reason is one of Reasons, why the block is not run.
	Reason string
	// Tests prove the statements of the block.
	Tests []string
}

// Reasons are all reasons not to run a block of commands in the demo.
var Reasons = map[string]string{
	"aws":     "needs a real AWS account: the emulator lacks the operation",
	"program": "needs a program that is not part of the test bed",
	"tested":  "builds for minutes, or needs a separate world, in the tests that the mark names",
	"tests":   "runs tests and benchmarks: test/docs checks that they exist",
}

var testNamed = regexp.MustCompile(`^Test[A-Z0-9_]\w*$`)

// IsOfCommands reports whether the block must have a mark: it has commands, or the prompt of a transcript.
func (b Block) IsOfCommands() bool {
	return b.Language == "sh" || b.Language == "console" || b.isUnnamedTranscript()
}

func (b Block) isUnnamedTranscript() bool {
	return b.Language == "" &&
		slices.ContainsFunc(strings.Split(b.Text, "\n"), func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "$ ") })
}

// ReadMark reads the mark of a block of commands.
func (b Block) ReadMark() (Mark, error) {
	words := strings.Fields(b.Info)
	switch {
	case b.isUnnamedTranscript():
		return Mark{}, errors.New("it shows commands after a prompt, and its language is not console")
	case len(words) == 0:
		return Mark{}, errors.New("it has no mark: write `run`, or `skip` and a reason, after the language (docs/testing.md)")
	case words[0] == "run":
		return readRun(words[1:])
	case words[0] == "skip":
		return readSkip(words[1:])
	default:
		return Mark{}, fmt.Errorf("its mark begins with %q, want run or skip", words[0])
	}
}

func readRun(words []string) (Mark, error) {
	m := Mark{Run: true}
	flags := map[string]*bool{"fails": &m.Fails, "full": &m.Full, "last": &m.Last, "unordered": &m.Unordered}
	for i := 0; i < len(words); i++ {
		if words[i] == "with" && i+1 < len(words) {
			i++
			m.With = append(m.With, words[i])
			continue
		}
		flag := flags[words[i]]
		if flag == nil {
			return Mark{}, fmt.Errorf("its mark has the unknown word %q", words[i])
		}
		*flag = true
	}
	return m, nil
}

func readSkip(words []string) (Mark, error) {
	if len(words) == 0 || Reasons[words[0]] == "" {
		return Mark{}, fmt.Errorf("its mark gives no known reason to skip it: %q", strings.Join(words, " "))
	}
	m := Mark{Reason: words[0], Tests: words[1:]}
	if m.Reason == "tested" && len(m.Tests) == 0 {
		return Mark{}, errors.New("its mark names no test")
	}
	for _, name := range m.Tests {
		if !testNamed.MatchString(name) {
			return Mark{}, fmt.Errorf("its mark names %q, which is no name of a test", name)
		}
	}
	return m, nil
}
