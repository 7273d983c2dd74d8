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

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// value is a secret on its way to AWS. It prints as stars, whatever prints it.
type value struct{ text string }

const stars = "***"

// String implements fmt.Stringer.
func (value) String() string { return stars }

// GoString implements fmt.GoStringer.
func (value) GoString() string { return stars }

// MarshalJSON implements json.Marshaler.
func (value) MarshalJSON() ([]byte, error) { return json.Marshal(stars) }

func checkValue(v []byte) error {
	switch {
	case len(v) == 0:
		return errors.New("is empty, which Secrets Manager does not take")
	case len(v) > maxValue:
		return fmt.Errorf("has %d bytes, Secrets Manager takes %d", len(v), maxValue)
	case !utf8.Valid(v):
		return errors.New("is not UTF-8 text")
	default:
		return nil
	}
}

// versionOf is the version id of a value: the same value of the same object has the same id, so that
// a description of the secret tells whether it was put. Without the key nobody can compare values of
// two objects by their ids.
func versionOf(key string, v []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(v)
	return uuid(mac.Sum(nil))
}

// uuid is the form that AWS recommends for version ids.
func uuid(h []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// initial is the value that is put once, with the secret.
type initial struct {
	// version is its id, "" when there is no such value.
	version     string
	placeholder map[string]v1alpha1.PlaceholderValue
	generate    *v1alpha1.SecretGenerate
}

// initialOf derives the id of the first version from names alone: it is known again after the object
// was deleted and made anew, and when its status is lost.
func initialOf(cr *v1alpha1.SecretsManagerSecret) initial {
	in := cr.Spec
	if len(in.Placeholder) == 0 && in.Generate == nil {
		return initial{}
	}
	h := sha256.Sum256([]byte(strings.Join([]string{"initial", cr.Namespace, cr.Name, in.SecretName}, "\n")))
	return initial{version: uuid(h[:]), placeholder: in.Placeholder, generate: in.Generate}
}

// populated says that a person put a value in the placeholder's place.
func populated(i initial, current string) bool { return current != "" && current != i.version }

// compose draws the random values and writes the whole value.
func (i initial) compose() (string, error) {
	var g v1alpha1.SecretGenerate
	if i.generate != nil {
		g = *i.generate
	}
	if len(i.placeholder)+len(g.Keys) == 0 {
		return random(g)
	}
	object := map[string]string{}
	for k, v := range i.placeholder {
		object[k] = string(v)
	}
	for _, k := range g.Keys {
		var err error
		if object[k], err = random(g); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(object)
	return string(b), err
}

const (
	// letters and digits only: a value shall fit into URLs, shells and connection strings unquoted.
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	// defaultLength gives 190 bits.
	defaultLength = 32
	// leastAlphabet keeps 8 characters, the least length, from being guessed at leisure.
	leastAlphabet = 10
)

func allowed(exclude string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(exclude, r) {
			return -1
		}
		return r
	}, alphabet)
}

func random(g v1alpha1.SecretGenerate) (string, error) {
	chars, n := allowed(g.Exclude), int(g.Length)
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

// check repeats the rules of the CRD that span fields, and adds what it cannot say.
func check(in v1alpha1.SecretsManagerSecretSpec) error {
	ref, placeholder, g := in.SecretStringRef != nil, len(in.Placeholder) > 0, in.Generate
	switch {
	case ref && placeholder:
		return status.Invalid("spec.placeholder", "set at most one of secretStringRef and placeholder")
	case ref && g != nil:
		return status.Invalid("spec.generate", "set at most one of secretStringRef and generate")
	case placeholder && g != nil && len(g.Keys) == 0:
		return status.Invalid("spec.generate.keys", "beside a placeholder, name the keys that get random values")
	}
	if d := aws.ToInt64(in.RecoveryWindowInDays); d != 0 && (d < 7 || d > 30) {
		return status.Invalid("spec.recoveryWindowInDays", "is 0 or 7 to 30")
	}
	return checkGenerate(g)
}

func checkGenerate(g *v1alpha1.SecretGenerate) error {
	switch {
	case g == nil:
		return nil
	case len(allowed(g.Exclude)) < leastAlphabet:
		return status.Invalid("spec.generate.exclude", "leaves fewer than %d characters to draw from", leastAlphabet)
	case g.Length != 0 && g.Length < 8:
		return status.Invalid("spec.generate.length", "is at least 8")
	case max(1, len(g.Keys))*int(g.Length) > maxValue/2: // the rest is for keys and placeholders
		return status.Invalid("spec.generate", "%d values of %d characters do not fit into a secret of %d bytes", len(g.Keys), g.Length, maxValue)
	default:
		return nil
	}
}
