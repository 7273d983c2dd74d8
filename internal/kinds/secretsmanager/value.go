// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// value is a secret on its way to AWS. Every way of printing it gives stars.
type value struct {
	text   string
	binary bool
}

const stars = "***"

// String implements fmt.Stringer.
func (value) String() string { return stars }

// GoString implements fmt.GoStringer.
func (value) GoString() string { return stars }

// MarshalJSON implements json.Marshaler.
func (value) MarshalJSON() ([]byte, error) { return json.Marshal(stars) }

func (v value) check() error {
	switch {
	case len(v.text) == 0:
		return errors.New("is empty; Secrets Manager accepts no empty value")
	case len(v.text) > maxValue:
		return fmt.Errorf("has %d bytes; Secrets Manager accepts at most %d", len(v.text), maxValue)
	case !v.binary && !utf8.ValidString(v.text):
		return errors.New("is not UTF-8 text; use secretBinaryRef for other bytes")
	default:
		return nil
	}
}

// members returns the value as the member of a request that it belongs in; the other one is nil.
func (v value) members() (text *string, binary []byte) {
	if v.binary {
		return nil, []byte(v.text)
	}
	return &v.text, nil
}

// version returns the version ID of the value. The same value of the same object has the same ID, so that
// a description of the secret shows whether it was put. The key keeps the values of two objects from being
// compared by their IDs. The same bytes as text and as a binary value are two versions.
func (v value) version(key string) string {
	if v.binary {
		key += "/binary"
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(v.text))
	return uuid(mac.Sum(nil))
}

// uuid formats a hash in the form that AWS recommends for version IDs.
func uuid(h []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// initial is the value that is put once, when the secret is created.
type initial struct {
	// version is its ID; empty when there is no such value.
	version     string
	placeholder map[string]v1alpha1.PlaceholderValue
	generate    *v1alpha1.SecretGenerate
}

// initialOf derives the ID of the first version from names alone, so that the version is recognized after
// the object was deleted and created again, and after its status was lost.
func initialOf(cr *v1alpha1.SecretsManagerSecret) initial {
	in := cr.Spec
	if len(in.Placeholder) == 0 && in.Generate == nil {
		return initial{}
	}
	h := sha256.Sum256([]byte(strings.Join([]string{"initial", cr.Namespace, cr.Name, in.SecretName}, "\n")))
	return initial{version: uuid(h[:]), placeholder: in.Placeholder, generate: in.Generate}
}

// isPopulated reports whether a person replaced the placeholder.
func isPopulated(i initial, current string) bool { return current != "" && current != i.version }

// compose draws the random values and returns the whole value.
func (i initial) compose() (string, error) {
	var g v1alpha1.SecretGenerate
	if i.generate != nil {
		g = *i.generate
	}
	if len(i.placeholder)+len(g.Keys) == 0 {
		return randomPassword(g)
	}
	object := map[string]string{}
	for k, v := range i.placeholder {
		object[k] = string(v)
	}
	for _, k := range g.Keys {
		var err error
		if object[k], err = randomPassword(g); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(object)
	return string(b), err
}

const (
	// alphabet has only letters and digits, so that values fit into URLs, shells and connection strings
	// unquoted.
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	// defaultLength gives 190 bits.
	defaultLength = 32
	// leastAlphabet is the smallest set of characters to draw from: 8 of them, the minimum length, must be
	// hard to guess.
	leastAlphabet = 10
)

func allowedCharacters(exclude string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(exclude, r) {
			return -1
		}
		return r
	}, alphabet)
}

func randomPassword(g v1alpha1.SecretGenerate) (string, error) {
	chars, n := allowedCharacters(g.Exclude), int(g.Length)
	if n == 0 {
		n = defaultLength
	}
	out := make([]byte, n)
	for i := range out {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(chars))))
		if err != nil {
			return "", fmt.Errorf("drawing a random value: %w", err)
		}
		out[i] = chars[k.Int64()]
	}
	return string(out), nil
}

// checkGenerate checks rules that the CRD does not express: that the values can be drawn and fit into a secret.
func checkGenerate(g *v1alpha1.SecretGenerate, placeholder bool) error {
	switch {
	case g == nil:
		return nil
	case placeholder && len(g.Keys) == 0:
		return status.Invalid("spec.generate.keys", "beside a placeholder, name the keys that get random values")
	case len(allowedCharacters(g.Exclude)) < leastAlphabet:
		return status.Invalid("spec.generate.exclude", "leaves fewer than %d characters to draw from", leastAlphabet)
	case max(1, len(g.Keys))*int(g.Length) > maxValue/2: // the rest is for keys and placeholders
		return status.Invalid("spec.generate", "%d values of %d characters do not fit into a secret of %d bytes", len(g.Keys), g.Length, maxValue)
	default:
		return nil
	}
}
