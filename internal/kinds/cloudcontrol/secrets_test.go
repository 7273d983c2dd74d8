// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// A person with the right to read objects does not see values in them that AWS shows only to people with rights to the resource.
func TestStatus_ShowsNoSecretThatAWSAssigned(t *testing.T) {
	const key, text = "AWS::AppSync::ApiKey", "da2-0123456789abcdef"
	types, _ := bundledTypes(t)
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(key, `{"ApiId":"a1b2c3"}`)), types)
	kindtest.Settled(t, b.Subject)
	id := b.resource().Status.Identifier
	kindtest.Must(t, b.double.Set(key, id, "ApiKey", text))
	kindtest.Must(t, b.double.Set(key, id, "ApiKeyId", "k-1"))
	kindtest.Settled(t, b.Subject)
	published := string(b.resource().Status.Properties.Raw)
	if strings.Contains(published, text) || !strings.Contains(published, `"ApiKeyId":"k-1"`) {
		t.Error(published)
	}
	if _, referable := b.resource().ReferableAttributes()["properties.ApiKey"]; referable {
		t.Error("other objects can refer to the secret")
	}
}

func TestAssigned_LeavesOutSecretsWhereverTheyAre(t *testing.T) {
	schema, err := awsschema.Parse([]byte(`{"typeName":"AWS::New::Thing","primaryIdentifier":["/properties/Id"],"readOnlyProperties":["/properties/Id","/properties/Output","/properties/Credentials","/properties/ApiToken"],
		"properties":{"Id":{"type":"string"},"Output":{},"Credentials":{},"ApiToken":{},"Name":{"type":"string"}}}`))
	kindtest.Must(t, err)
	have := State{schema: schema}.assigned(map[string]any{
		"Id": "a", "Name": "declared", "ApiToken": "x",
		"Output": map[string]any{"Url": "https://example.com", "AdminPassword": "x",
			"Users": []any{map[string]any{"UserName": "u", "private_key": "x"}}},
		"Credentials": []any{map[string]any{"SecretArn": "arn:aws:a", "Value": "x"}, "x"},
	})
	want := "map[Credentials:[map[SecretArn:arn:aws:a]] Id:a Output:map[Url:https://example.com Users:[map[UserName:u]]]]"
	if got := fmt.Sprint(have); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// looksSecret matches more names than the rule on names of secrets does.
var looksSecret = regexp.MustCompile(`(?i)secret|passw|passphrase|token|credential|(api|access|private|stream|specific|shared|auth)_?key|(activation|registration|support|verification)_?code|challenge|^value$`)

// The file lists each property that AWS assigns and that may be a secret by its name, with the treatment of the texts in it.
func TestAssigned_SecretsOfEveryTypeAreDecided(t *testing.T) {
	all, schemaOf := bundledTypes(t)
	var lines []string
	decided := map[string]bool{}
	for _, name := range all.Names() {
		schema := schemaOf(name)
		for _, property := range schema.Properties() {
			key := name + " " + property
			_, known := assignedSecrets[key]
			if !schema.At(property).Rule().ReadOnly || !known && !looksSecret.MatchString(property) {
				continue
			}
			decided[key] = known
			hidden := isAssignedSecret(name, []string{property})
			if hidden && schema.Identity.Contains(property) {
				t.Errorf("%s is secret and part of the identifier, which the status shows", key)
			}
			lines = append(lines, map[bool]string{true: "hidden    ", false: "published "}[hidden]+key)
		}
	}
	for key := range assignedSecrets {
		if !decided[key] {
			t.Errorf("AWS assigns no %s", key)
		}
	}
	path, have := filepath.Join("testdata", "assigned-secrets.txt"), strings.Join(lines, "\n")+"\n"
	if os.Getenv("NEXUS_UPDATE") != "" {
		kindtest.Must(t, os.WriteFile(path, []byte(have), 0o600))
	}
	want, err := os.ReadFile(path)
	kindtest.Must(t, err)
	if have != string(want) {
		t.Errorf("%s has others: look at what a new type assigns, decide in assignedSecrets where the rule is wrong, and run the test with NEXUS_UPDATE=1", path)
	}
}
