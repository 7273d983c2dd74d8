// SPDX-License-Identifier: Apache-2.0

package docblocks

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadMark_KnowsEveryForm(t *testing.T) {
	for info, want := range map[string]Mark{
		"run":                           {Run: true},
		"run fails":                     {Run: true, Fails: true},
		"run full last with a with b":   {Run: true, Full: true, Last: true, With: []string{"a", "b"}},
		"skip aws":                      {Reason: "aws", Tests: []string{}},
		"skip tested TestA TestB_Works": {Reason: "tested", Tests: []string{"TestA", "TestB_Works"}},
	} {
		got, err := Block{Language: "sh", Info: info}.ReadMark()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", info, got, err)
		}
	}
}

func TestReadMark_RefusesMistakes(t *testing.T) {
	for info, want := range map[string]string{
		"": "has no mark", "runs": `begins with "runs"`, "run fail": `unknown word "fail"`, "run with": `unknown word "with"`,
		"skip": "no known reason", "skip lazy": "no known reason", "skip tested": "names no test", "skip tested soon": `"soon"`,
	} {
		if _, err := (Block{Language: "sh", Info: info}).ReadMark(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", info, err, want)
		}
	}
	for _, b := range Of("p.md", "```\n$ make demo\n```\n\n```\nno command\n```\n\n```sh run\na\n```\n") {
		_, err := b.ReadMark()
		if wrong := err != nil; b.IsOfCommands() && wrong != (b.Language == "") {
			t.Errorf("%+v: %v", b, err)
		}
	}
}
