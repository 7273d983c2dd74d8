// SPDX-License-Identifier: Apache-2.0

package awstypes

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestTypes_AreThoseThatAWSPublishes(t *testing.T) {
	extent.Full(t)
	types := Published(t)
	if n := len(types.Names()); n < 1800 {
		t.Errorf("%d types", n)
	}
	hasStream(t, types)
	if _, err := Open("nowhere-1"); err == nil {
		t.Error("a region that does not exist has types")
	}
	made, err := MakeExcerpt()
	if err != nil || string(made) != string(excerpt) {
		t.Errorf("excerpt.json is not what the wheel contains, run `make awstypes`: %v", err)
	}
	bundle, err := MakeBundle()
	if checkedIn, unread := os.ReadFile("../../awsschema/bundled/schemas.zip"); err != nil || unread != nil ||
		string(bundle) != string(checkedIn) {
		t.Errorf("schemas.zip is not what the wheel contains, run `make awstypes`: %v, %v", err, unread)
	}
}

func hasStream(t *testing.T, types *Types) {
	t.Helper()
	text, err := types.Schema("AWS::Kinesis::Stream")
	var schema struct {
		TypeName string         `json:"typeName"`
		Handlers map[string]any `json:"handlers"`
	}
	if err != nil || json.Unmarshal(text, &schema) != nil || schema.TypeName != "AWS::Kinesis::Stream" || len(schema.Handlers) < 4 {
		t.Errorf("%+v, %v", schema, err)
	}
	if text, err := types.Schema("AWS::No::Type"); text != nil || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// Tests with the excerpt need neither the cache nor PyPI, and read the content of the pinned package.
func TestExcerpt_IsOfThePinnedPackage(t *testing.T) {
	t.Setenv("NEXUS_CACHE", t.TempDir())
	types, err := Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	hasStream(t, types)
	version, err := pinned()
	var c content
	if err != nil || json.Unmarshal(excerpt, &c) != nil || c.Source != "cfn-lint "+version || len(c.Date) != len("2006-01-02") {
		t.Errorf("run `make bed awstypes`: %s of %s, %v", c.Source, c.Date, err)
	}
	if names := types.Names(); strings.Join(names, " ") != strings.Join(excerpted, " ") {
		t.Errorf("run `make awstypes`: %v", names)
	}
	if err := types.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open("us-east-1"); err == nil || !strings.Contains(err.Error(), "make bed") {
		t.Errorf("without the wheel: %v", err)
	}
}

// A schema may have a property that is called description.
func TestExcerpt_LeavesOutTextsAlone(t *testing.T) {
	text, err := minified([]byte(`{ "description": "of the type", "properties": { "description": { "type": "string", "description": "of it" } }, "enum": [ "<a>" ] }`))
	if want := `{"enum":["<a>"],"properties":{"description":{"type":"string"}}}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
