// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// addChecksums lists the checksums of all files as sha256sum does, and signs the list.
func (r *release) addChecksums(layout string) error {
	sums := map[string]string{}
	for name, content := range r.files {
		sums[name] = checksum(content)
	}
	folder := os.DirFS(layout)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, name)
		sums[path.Join(imageFolder, name)] = checksum(content)
		return err
	})
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&list, "%s  %s\n", sums[name], name)
	}
	r.file(checksumsFile, []byte(list.String()))
	if r.signer == nil {
		r.say("no key was given: nothing is signed")
		return nil
	}
	signature, err := sign(r.signer, []byte(list.String()))
	r.file(checksumsFile+".sig", signature)
	return err
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// sign returns a signature as `cosign verify-blob --key` reads it: in base64, of the SHA-256 digest for ECDSA and of the content for
// Ed25519. Without a source of randomness, crypto/ecdsa signs as RFC 6979 describes: the same content gets the same signature.
func sign(key crypto.Signer, content []byte) ([]byte, error) {
	message, hash := content, crypto.Hash(0)
	if _, ok := key.Public().(*ecdsa.PublicKey); ok {
		sum := sha256.Sum256(content)
		message, hash = sum[:], crypto.SHA256
	}
	signature, err := key.Sign(nil, message, hash)
	if err != nil {
		return nil, err
	}
	return []byte(base64.StdEncoding.EncodeToString(signature) + "\n"), nil
}

// readKey reads a private key that is not encrypted.
func readKey(file string) (crypto.Signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	switch block.Type {
	case "PRIVATE KEY", "EC PRIVATE KEY":
	default:
		return nil, fmt.Errorf("%s holds %s, which is not supported: make a key with openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", file, block.Type)
	}
	var key any
	if block.Type == "EC PRIVATE KEY" {
		key, err = x509.ParseECPrivateKey(block.Bytes)
	} else {
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	switch of := key.(type) {
	case *ecdsa.PrivateKey:
		if of.Curve == elliptic.P256() {
			return of, nil
		}
	case ed25519.PrivateKey:
		return of, nil
	}
	return nil, fmt.Errorf("%s holds another key than ECDSA P-256 or Ed25519", file)
}
