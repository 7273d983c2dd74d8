// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"encoding/json"
	"slices"
	"testing"
)

const declaredType = `{"typeName": "AWS::Test::Thing", "primaryIdentifier": ["/properties/Name"], "required": ["Name", "Mode", "Password"],
	"readOnlyProperties": ["/properties/Arn", "/properties/Rules/*/Id", "/properties/Set/State"], "writeOnlyProperties": ["/properties/Password"],
	"properties": {"Name": {"type": "string"}, "Arn": {"type": "string"}, "Mode": {"type": "string", "default": "fast"}, "Size": {"type": "integer", "default": 5},
		"Password": {"type": "string"}, "Rules": {"type": "array", "items": {"type": "object", "properties": {"Id": {"type": "string"}, "Size": {"type": "integer", "default": 5}}}},
		"Set": {"type": "object", "properties": {"State": {"type": "string"}, "Size": {"type": "integer", "default": 5}}},
		"Tags": {"type": "array", "items": {"type": "object", "properties": {"Key": {"type": "string"}, "Value": {"type": "string"}}}}}}`

// A person declares neither properties that AWS assigns, nor defaults, nor tags; required properties stay.
func TestDeclarable_LeavesOutWhatNobodyDeclares(t *testing.T) {
	thing, err := Parse([]byte(declaredType))
	if err != nil {
		t.Fatal(err)
	}
	for shown, want := range map[string]string{
		`{"Name":"a","Arn":"arn:a","Mode":"fast","Size":5,"Tags":[{"Key":"k","Value":"v"}]}`: `{"Mode":"fast","Name":"a"}`,
		`{"Name":"a","Mode":"slow","Size":6,"Set":{"State":"up","Size":5}}`:                  `{"Mode":"slow","Name":"a","Size":6}`,
		`{"Name":"a","Set":{"State":"up","Size":7}}`:                                         `{"Name":"a","Set":{"Size":7}}`,
		`{"Name":"a","Rules":[{"Id":"1","Size":5},{"Id":"2","Size":null}],"Set":{}}`:         `{"Name":"a","Rules":[{"Size":5},{}],"Set":{}}`,
	} {
		properties := map[string]any{}
		if err := json.Unmarshal([]byte(shown), &properties); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(thing.Declarable(properties)); err != nil || string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", shown, got, want)
		}
	}
	declared := map[string]any{"Name": "a", "Mode": "fast"}
	if got := thing.RequiredHidden(declared); !slices.Equal(got, []string{"Password"}) {
		t.Errorf("%v", got)
	}
	if got := OfExisting(thing.Problems(map[string]any{"Name": "a"}, nil)); len(got) != 1 || got[0].At != "Mode" {
		t.Errorf("%v", got)
	}
}

const formsType = `{"typeName": "AWS::Test::Forms", "primaryIdentifier": ["/properties/Name"], "required": ["Name"],
	"writeOnlyProperties": ["/properties/Arn", "/properties/Actions/*/Secret", "/properties/Token", "/properties/Pin"],
	"oneOf": [{"required": ["Name", "Type"]}, {"required": ["Name", "Arn"]}], "dependencies": {"User": ["Token"], "Door": ["Token", "Pin"], "Gate": ["Token", "Type"]},
	"properties": {"Name": {"type": "string"}, "Type": {"type": "string"}, "Arn": {"type": "string"}, "User": {"type": "string"}, "Door": {"type": "string"}, "Gate": {"type": "string"},
		"Token": {"type": "string"}, "Pin": {"type": "string"},
		"Actions": {"type": "array", "items": {"type": "object", "anyOf": [{"required": ["Secret"]}, {"required": ["Existing"]}],
			"properties": {"Secret": {"type": "string"}, "Existing": {"type": "boolean"}, "Port": {"type": "integer"}}}}}}`

// A value that lacks only properties that AWS never shows is valid for an existing resource, and invalid for a new one.
func TestOfExisting_SparesWhatAFormNeedsAndAWSNeverShows(t *testing.T) {
	thing, err := Parse([]byte(formsType))
	if err != nil {
		t.Fatal(err)
	}
	for shown, want := range map[string]struct {
		hidden, left []string
	}{
		`{"Name":"a","Type":"t"}`: {},
		`{"Name":"a"}`:            {hidden: []string{"Arn"}},
		`{"Name":"a","Type":"t","Actions":[{"Port":1}]}`:        {hidden: []string{"Actions[0].Secret"}},
		`{"Name":"a","Type":"t","Actions":[{"Existing":true}]}`: {},
		`{"Name":"a","Type":"t","Actions":[{"Port":"1"}]}`:      {hidden: []string{"Actions[0].Secret"}, left: []string{"Actions[0].Port"}},
		`{"Name":"a","Actions":[{"Port":1}]}`:                   {hidden: []string{"Actions[0].Secret", "Arn"}},
		`{"Name":"a","Type":"t","User":"u"}`:                    {hidden: []string{"Token"}},
		`{"Name":"a","Type":"t","Door":"d"}`:                    {hidden: []string{"Token and Pin"}},
		`{"Name":"a","Arn":"arn:a","Gate":"g"}`:                 {left: []string{""}},
		`{"Name":"a","Type":"t","Arn":"arn:a"}`:                 {left: []string{""}},
	} {
		properties := map[string]any{}
		if err := json.Unmarshal([]byte(shown), &properties); err != nil {
			t.Fatal(err)
		}
		var left []string
		all := thing.Problems(properties, nil)
		for _, p := range OfExisting(all) {
			left = append(left, p.At)
		}
		if got := thing.RequiredHidden(properties); !slices.Equal(got, want.hidden) || !slices.Equal(left, want.left) ||
			len(all) != len(want.hidden)+len(want.left) {
			t.Errorf("%s: hidden %v, left %v of %+v", shown, got, left, all)
		}
	}
}

func TestIgnoreProblem_NamesWhatCannotBeLeftAlone(t *testing.T) {
	thing, err := Parse([]byte(declaredType))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, refused := range map[string]bool{"/Size": false, "/Rules/*/Size": false, "/Password": false, "/Rules/Size": true,
		"/Rules/*/Id": true, "/Name": true, "/Arn": true, "/Tags/*/Key": true, "/None": true} {
		if text := thing.IgnoreProblem(pointer); (text != "") != refused {
			t.Errorf("%s: %q", pointer, text)
		}
	}
	left := PathsOf([]string{"/Rules/*/Size", "/Set"})
	for at, want := range map[string]bool{"Rules.*.Size": true, "Rules": false, "Set": true, "Set.Size": true, "Size": false} {
		if got := left.Contain(PathOf(at)); got != want {
			t.Errorf("%s: %t", at, got)
		}
	}
}
