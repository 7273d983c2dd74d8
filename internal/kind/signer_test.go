// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"errors"
	"testing"
)

func TestSigner_TheFirstKeySignsAndEachVerifies(t *testing.T) {
	with := func(keys ...string) Signer {
		return SignerWith(func() (out [][]byte, err error) {
			for _, k := range keys {
				out = append(out, []byte(k))
			}
			return out, nil
		})
	}
	sign := func(s Signer) string {
		out, err := s.Sign("text")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	a, b := sign(with("a")), sign(with("b", "a"))
	if a == b || len(a) != 64 {
		t.Errorf("%q, %q", a, b)
	}
	for _, c := range []struct {
		s               Signer
		text, signature string
		want            bool
	}{
		{with("a"), "text", a, true}, {with("b", "a"), "text", a, true}, {with("b"), "text", a, false}, {with("a"), "other", a, false},
		{with("a"), "text", "", false}, {with("a"), "text", "no hex", false}, {with("a"), "text", a[:32], false}, {with(), "text", a, false},
	} {
		if got, err := c.s.Verify(c.text, c.signature); got != c.want || err != nil {
			t.Errorf("%q of %q: %v, %v", c.signature, c.text, got, err)
		}
	}
	if got := sign(with()); got != "" {
		t.Errorf("a signature without a key: %q", got)
	}
	failure := errors.New("the Secret cannot be read")
	failing := SignerWith(func() ([][]byte, error) { return nil, failure })
	_, signing := failing.Sign("text")
	if _, err := failing.Verify("text", a); !errors.Is(err, failure) || !errors.Is(signing, failure) {
		t.Errorf("%v, %v", err, signing)
	}
}
