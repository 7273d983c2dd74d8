// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Signer signs texts with a key that only the operator has. It is for owners that are kept where others can write, too.
type Signer interface {
	// Sign returns the signature of a text.
	Sign(text string) (string, error)
	// Verify reports whether the signature of a text is the operator's.
	Verify(text, signature string) (bool, error)
}

// SignerWith returns a signer with the keys that a function returns: the first one signs, and each of them verifies. Without
// keys nothing is verified, and signatures are empty.
func SignerWith(keys func() ([][]byte, error)) Signer { return signer(keys) }

type signer func() ([][]byte, error)

// Sign implements Signer.
func (s signer) Sign(text string) (string, error) {
	keys, err := s()
	if err != nil || len(keys) == 0 {
		return "", err
	}
	return hex.EncodeToString(macOf(keys[0], text)), nil
}

// Verify implements Signer.
func (s signer) Verify(text, signature string) (bool, error) {
	keys, err := s()
	if err != nil {
		return false, err
	}
	have, err := hex.DecodeString(signature)
	if err != nil || len(have) == 0 {
		return false, nil //nolint:nilerr // a signature that cannot be read is a wrong one
	}
	for _, key := range keys {
		if hmac.Equal(have, macOf(key, text)) {
			return true, nil
		}
	}
	return false, nil
}

func macOf(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
