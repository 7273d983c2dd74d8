// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestReferences_AreFoundAtAnyDepth(t *testing.T) {
	references, secrets := References([]byte(`{"A":{"$ref":"KMSKey/a","field":"status.arn"},"B":[{"C":{"$secret":"b","key":"k"}},{"D":{"$ref":"IAMRole/d","field":"status.id"}}],
		"Schema":{"$ref":"#/definitions/x"},"Wrong":{"$ref":"KMSKey/w"},"Text":"$ref"}`))
	if len(references) != 2 || references[0] != (Reference{"KMSKey", "a", "arn"}) || references[1] != (Reference{"IAMRole", "d", "id"}) ||
		len(secrets) != 1 || secrets[0] != (SecretKey{"b", "k"}) {
		t.Errorf("%+v %+v", references, secrets)
	}
	if references, secrets := References([]byte(`{`)); len(references)+len(secrets) > 0 {
		t.Errorf("%+v %+v", references, secrets)
	}
}

func TestCheck_NamesThePlace(t *testing.T) {
	for text, says := range map[string]string{
		`{"A":{"$ref":"KMSKey/a","field":"status.arn"},"B":{"$ref":"https://example.com/x"}}`: "",
		`{"A":[{"B":{"$ref":"KMSKey/a"}}]}`:                                                   "spec.properties.A[0].B",
		`{"A":{"$secret":"b"}}`:                                                               "spec.properties.A",
		`{"A":{"$secret":"b","key":"../k"}}`:                                                  "spec.properties.A",
		`{`:                                                                                   "spec.properties",
	} {
		err := Check("spec.properties", []byte(text))
		s, refused := status.AsStalled(err)
		if refused != (says != "") || refused && s.Field != says {
			t.Errorf("%s: %v", text, err)
		}
	}
}
