// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// SigningKeySecret is the Secret in the operator's namespace with the keys that sign owner records.
	SigningKeySecret = wellknown.SigningKeySecret
	// currentKey is the entry of the Secret that signs. Every entry verifies.
	currentKey = "key"
	// signingKeyBytes is the size of a new key.
	signingKeyBytes = 32
	// signingKeysLast limits how long keys are used before they are read again. Another instance may create the Secret, and people may add
	// a key.
	signingKeysLast = time.Minute
)

// SigningKeys are the operator's keys. It signs records with them in places that others can write, too.
type SigningKeys struct {
	// Client reads Secrets live.
	Client client.Client
	// Namespace is the operator's.
	Namespace string
	Clock     clock.PassiveClock

	mu   sync.Mutex
	keys [][]byte
	read time.Time
}

// Existing returns the keys, the one that signs first; none where the Secret does not exist yet. The error is *status.Stalled
// where the operator may not read the Secret.
func (s *SigningKeys) Existing(ctx context.Context) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current(ctx)
}

// Ensured returns the keys as Existing does, and creates the Secret with a new key where it does not exist.
func (s *SigningKeys) Ensured(ctx context.Context) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.current(ctx)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	key := make([]byte, signingKeyBytes)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("making a signing key: %w", err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: SigningKeySecret,
		Labels: map[string]string{"app.kubernetes.io/name": "nexus-operator"}}, Data: map[string][]byte{currentKey: key}}
	if err := s.Client.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, s.explain("create", err)
	}
	return s.readSecret(ctx) // of several instances that create it, one succeeds
}

// current returns the keys that were read within the last minute, or reads the Secret.
func (s *SigningKeys) current(ctx context.Context) ([][]byte, error) {
	if len(s.keys) > 0 && s.Clock.Since(s.read) < signingKeysLast {
		return s.keys, nil
	}
	return s.readSecret(ctx)
}

func (s *SigningKeys) readSecret(ctx context.Context) ([][]byte, error) {
	secret := &corev1.Secret{}
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: SigningKeySecret}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain("get", err)
	}
	signing := secret.Data[currentKey]
	if len(signing) < signingKeyBytes {
		return nil, &status.Stalled{Reason: status.ReasonCredentialsMissing, Message: fmt.Sprintf(
			"Secret %s of the operator has no %s of at least %d bytes: restore it from a backup, or delete it to have another one made",
			SigningKeySecret, currentKey, signingKeyBytes)}
	}
	s.keys, s.read = [][]byte{signing}, s.Clock.Now()
	for _, name := range slices.Sorted(maps.Keys(secret.Data)) {
		if old := secret.Data[name]; name != currentKey && len(old) >= signingKeyBytes {
			s.keys = append(s.keys, old)
		}
	}
	return s.keys, nil
}

func (s *SigningKeys) explain(verb string, err error) error {
	if apierrors.IsForbidden(err) {
		return &status.Stalled{Reason: status.ReasonAccessDenied,
			Message: fmt.Sprintf("the operator may not %s Secret %s in its namespace: apply config/rbac and config/admission of this version", verb,
				SigningKeySecret)}
	}
	return fmt.Errorf("%s Secret %s: %w", verb, SigningKeySecret, err)
}
