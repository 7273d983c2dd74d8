// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Sign signs a record for an object of a kind. Everything in the metadata of an object can be written by its author; the signature shows
// that the operator wrote the record, when it was about to call AWS for this object.
func (i *Intent) Sign(s kind.Signer, kindName string, obj metav1.Object) error {
	text, err := i.statement(kindName, obj.GetNamespace(), obj.GetName())
	if err != nil {
		return err
	}
	i.Signature, err = s.Sign(text)
	return err
}

// CheckSignature checks whether the operator wrote the record of an object in deletion, if a capability lends the operator's identity to
// its provider. The error is that of the keys.
func (f *Facts) CheckSignature(kindName string, obj metav1.Object, i *Intent) error {
	if obj.GetDeletionTimestamp() == nil || !f.Borrowed || f.Signer == nil || i == nil || i.Signature == "" {
		return nil
	}
	text, err := i.statement(kindName, obj.GetNamespace(), obj.GetName())
	if err == nil {
		f.Signed, err = f.Signer.Verify(text, i.Signature)
	}
	return err
}

// statement returns the signed content: the object, and where its resource is or may be.
func (i *Intent) statement(kindName, namespace, name string) (string, error) {
	text, err := json.Marshal([]any{"intent", kindName, namespace, name, i.UID, i.Home, i.Identity})
	if err != nil {
		return "", fmt.Errorf("encoding what is signed of the intent: %w", err)
	}
	return string(text), nil
}

// provesNothing reports whether an object in deletion rests only on claims of its author: no capability vouches for it, only the operator's
// own identity would serve it, and neither its status nor a signed record shows that a resource of it may exist. The engine makes no call
// for such an object: each answer would show its author which resources exist.
func (f Facts) provesNothing(o Owner) bool {
	return o.Deleting && f.Borrowed && !f.Trusted && !f.Signed && !o.Record.Known
}
