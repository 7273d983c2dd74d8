// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// The placeholders of identifiers that AWS is yet to assign, and of a UID that is not known yet.
var (
	unknownSecret = regexp.MustCompile(`<known after SecretsManagerSecret/[^>]+>`)
	unknownKey    = regexp.MustCompile(`<known after KMSKey/([^>]+)>`)
	unknownUID    = regexp.MustCompile(`<known after (SSMParameterSet/[^>]+)>`)
)

// printed is an object as JSON.
func printed(t fatal, n graph.Node) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(n.Object.Object); err != nil {
		t.Fatalf("%s: %v", n.ID, err)
	}
	return b.String()
}

// unknownPool are the identifiers of a user pool and the ARN of a certificate, and unknownChecksum that of settings, which name the pool.
var (
	unknownPool = regexp.MustCompile(`(arn:aws[a-z-]*:acm:[^"]*/)?(<known after (CognitoUserPool|Certificate)/[^>]*>|assigned)`)
	// unknownPart matches values that AWS assigns to the resources of AI parts.
	unknownPart     = regexp.MustCompile(`<known after AWSResource/[^>]*>|assigned-to-[a-z0-9-]+`)
	unknownChecksum = regexp.MustCompile(`"nexus.ai/config-checksum":"[^"]*"`)
)

func nothing(string) bool { return false }

// withoutParts returns a text with the same word for each ARN of a resource of an AI part, and for each value that AWS assigns to one. The
// text after an ARN stays.
func withoutParts(text string, owned map[string]capability.Proof) string {
	var arns []string
	for id, p := range owned {
		if kindOf(id) == "AWSResource" && p.ARN != "" {
			arns = append(arns, p.ARN)
		}
	}
	slices.SortFunc(arns, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	for _, arn := range arns {
		text = strings.ReplaceAll(text, arn, "part")
	}
	return unknownPart.ReplaceAllString(text, "part")
}

func TestExpect_CompilesAsOnceEverythingExists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		f := bounded(c, facts())
		if c.Spec.ProviderRef != nil {
			f.Provider.Region = cmp.Or(c.Spec.Region, "eu-west-1")
		}
		expectation := capability.Expect(f, c, nothing)
		expected, err := capability.Compile(c, expectation)
		if err != nil {
			t.Fatalf("%v", err)
		}
		f.Owned = everything(t, expected, c, f)
		existing := compile(t, c, f)
		if len(expected.Nodes()) != len(existing.Nodes()) {
			t.Fatalf("%d objects, and %d once everything exists", len(expected.Nodes()), len(existing.Nodes()))
		}
		for _, n := range expected.Nodes() {
			got := unknownChecksum.ReplaceAllString(unknownPool.ReplaceAllString(printed(t, n), assigned), "checksum")
			got = withoutParts(got, expectation.Owned)
			got = unknownKey.ReplaceAllString(got, keyOf+"$1")
			got = unknownUID.ReplaceAllString(unknownSecret.ReplaceAllString(got, "AbCdEf"), "uid-of-$1")
			want, _ := existing.Node(n.ID)
			if want := withoutParts(unknownChecksum.ReplaceAllString(unknownPool.ReplaceAllString(printed(t, want), assigned), "checksum"), f.Owned); got != want {
				t.Fatalf("%s is\n%s\nand once everything exists\n%s", n.ID, got, want)
			}
		}
	})
}

func TestExpect_NothingOfWhatIsDisputed(t *testing.T) {
	c := example(t, "test-capability.yaml")
	disputed := "S3Bucket/myapp-dev-call-data"
	g, err := capability.Compile(c, capability.Expect(facts(), c, func(id string) bool { return id == disputed }))
	if err != nil {
		t.Fatal(err)
	}
	role, _ := json.Marshal(object(t, g, "IAMRole/myapp-dev-app-role").Object)
	if strings.Contains(string(role), "s3:::myapp-dev-call-data") || !strings.Contains(string(role), "s3:::myapp-dev-journey-logs") {
		t.Errorf("the role of the application has rights on the disputed bucket, or none on another: %s", role)
	}
}

func TestExpect_KeepsWhatIsProven(t *testing.T) {
	c := example(t, "test-capability.yaml")
	f := facts()
	f.Owned = map[string]capability.Proof{"SecretsManagerSecret/myapp-dev-openai": {ARN: "arn:aws:secretsmanager:ap-southeast-1:123456789012:secret:myapp/dev/openai-XyZ123", UID: "u"}}
	if got := capability.Expect(f, c, nothing).Owned["SecretsManagerSecret/myapp-dev-openai"]; got.ARN != f.Owned["SecretsManagerSecret/myapp-dev-openai"].ARN || got.UID != "u" {
		t.Errorf("%+v", got)
	}
	if len(f.Owned) != 1 {
		t.Errorf("the facts were changed: %v", f.Owned)
	}
}
