// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestVersionIdsTellValuesAndObjectsApart(t *testing.T) {
	id := value{text: "v"}.version("uid")
	if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("%q is no UUID", id)
	}
	text, other, bytes := value{text: "v"}, value{text: "w"}, value{text: "v", binary: true}
	if id != text.version("uid") || id == bytes.version("uid") || id == other.version("uid") || id == text.version("other") {
		t.Error("not one id for one value of one object")
	}
}

func TestTheFirstVersionIsKnownByNames(t *testing.T) {
	of := func(namespace, name, secret string, uid types.UID) string {
		o := secretOf(capability)
		o.Namespace, o.Name, o.Spec.SecretName, o.UID = namespace, name, secret, uid
		return initialOf(o).version
	}
	a := of("ns", "n", "s", "1")
	if a == "" || a != of("ns", "n", "s", "2") || a == of("ns2", "n", "s", "1") || a == of("ns", "n2", "s", "1") ||
		a == of("ns", "n", "s2", "1") {
		t.Error("not one id for one object's name")
	}
	if initialOf(secretOf()).version != "" {
		t.Error("a secret without a first value has a first version")
	}
}

func TestRandomValuesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		v, err := randomPassword(v1alpha1.SecretGenerate{})
		if err != nil || seen[v] {
			t.Fatal("a value came twice", err)
		}
		seen[v] = true
	}
}

func TestExcludedCharactersAreNotDrawn(t *testing.T) {
	v, err := randomPassword(v1alpha1.SecretGenerate{Length: 1024, Exclude: "0O1lI!"})
	if err != nil || len(v) != 1024 || strings.ContainsAny(v, "0O1lI!") {
		t.Error(v, err)
	}
}

func TestKeysAsAWSNamesThem(t *testing.T) {
	for _, c := range []struct {
		want, have string
		same       bool
	}{
		{keyID, keyARN, true}, {keyARN, keyID, true}, {keyARN, keyARN, true}, {"", "", true}, {"", "alias/aws/secretsmanager", true},
		{"", "arn:aws:kms:eu-west-1:123456789012:alias/aws/secretsmanager", true},
		{"alias/mine", "arn:aws:kms:eu-west-1:123456789012:alias/mine", true},
		{"arn:aws:kms:eu-west-1:123456789012:alias/mine", "alias/mine", true},
		{keyID, "", false}, {"", keyARN, false}, {"alias/mine", keyARN, false}, {"34cd-56ef-1234567890ab", keyARN, false},
	} {
		got := aws.ToString(fromKey(&c.want, &c.have))
		if (got == c.want) != c.same {
			t.Errorf("want %q have %q: %q", c.want, c.have, got)
		}
	}
}
