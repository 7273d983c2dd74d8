// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func keysIn(clock *clocktesting.FakePassiveClock, funcs interceptor.Funcs, objs ...client.Object) (*SigningKeys, client.Client) {
	c := fake.NewClientBuilder().WithObjects(objs...).WithInterceptorFuncs(funcs).Build()
	return &SigningKeys{Client: c, Namespace: "nexus-system", Clock: clock}, c
}

func signingSecret(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: SigningKeySecret}, Data: data}
}

func TestSigningKeys_AreMadeOnFirstUseAndKept(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	s, c := keysIn(clock, interceptor.Funcs{})
	if keys, err := s.Existing(t.Context()); len(keys) > 0 || err != nil {
		t.Fatalf("%v, %v: a plan made a key", keys, err)
	}
	keys, err := s.Ensured(t.Context())
	if err != nil || len(keys) != 1 || len(keys[0]) != signingKeyBytes {
		t.Fatalf("%v, %v", keys, err)
	}
	other := &SigningKeys{Client: c, Namespace: "nexus-system", Clock: clock}
	if same, err := other.Ensured(t.Context()); err != nil || !bytes.Equal(same[0], keys[0]) {
		t.Errorf("%v, %v: another instance has another key", same, err)
	}
}

func TestSigningKeys_OfTwoInstancesOneCreates(t *testing.T) {
	theirs := bytes.Repeat([]byte("t"), signingKeyBytes)
	s, _ := keysIn(clocktesting.NewFakePassiveClock(time.Unix(0, 0)), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, _ client.Object, _ ...client.CreateOption) error {
			if err := c.Create(ctx, signingSecret(map[string][]byte{currentKey: theirs})); err != nil {
				return err
			}
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, SigningKeySecret)
		}})
	if keys, err := s.Ensured(t.Context()); err != nil || len(keys) != 1 || !bytes.Equal(keys[0], theirs) {
		t.Errorf("%v, %v", keys, err)
	}
}

// After a restore into another cluster, an administrator adds the key of the earlier one.
func TestSigningKeys_AKeyThatIsAddedVerifies(t *testing.T) {
	key, old := bytes.Repeat([]byte("k"), signingKeyBytes), bytes.Repeat([]byte("o"), signingKeyBytes)
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	s, c := keysIn(clock, interceptor.Funcs{}, signingSecret(map[string][]byte{currentKey: key}))
	if keys, err := s.Ensured(t.Context()); err != nil || len(keys) != 1 {
		t.Fatalf("%v, %v", keys, err)
	}
	secret := signingSecret(nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["earlier-cluster"], secret.Data["note"] = old, []byte("too short")
	if err := c.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(time.Unix(61, 0))
	if keys, err := s.Ensured(t.Context()); err != nil || len(keys) != 2 || !bytes.Equal(keys[0], key) || !bytes.Equal(keys[1], old) {
		t.Errorf("%v, %v", keys, err)
	}
}

func TestSigningKeys_FailuresNameTheRemedy(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, SigningKeySecret, nil)
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	short, _ := keysIn(clock, interceptor.Funcs{}, signingSecret(map[string][]byte{currentKey: []byte("short")}))
	unreadable, _ := keysIn(clock,
		interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return forbidden
		}})
	unwritable, _ := keysIn(clock,
		interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return forbidden }})
	for says, s := range map[string]*SigningKeys{"restore it from a backup": short, "may not get Secret": unreadable,
		"may not create Secret": unwritable} {
		keys, err := s.Ensured(t.Context())
		if stalled, ok := status.AsStalled(err); !ok || !strings.Contains(stalled.Message, says) || keys != nil {
			t.Errorf("%v, %v, want %q", keys, err, says)
		}
	}
}
