// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// The state of a key decides which requests KMS accepts: https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
func TestKMS_RefusesChangesByTheStateOfTheKey(t *testing.T) {
	p := proxy(t)
	c, ctx := kms.NewFromConfig(config(p.URL())), t.Context()
	out, err := c.CreateKey(ctx, &kms.CreateKeyInput{})
	must.Succeed(t, err)
	id := out.KeyMetadata.KeyId
	rotate := func() string {
		_, err := c.EnableKeyRotation(ctx, &kms.EnableKeyRotationInput{KeyId: id})
		return code(err)
	}
	describe := func() string {
		_, err := c.UpdateKeyDescription(ctx, &kms.UpdateKeyDescriptionInput{KeyId: id, Description: aws.String("d")})
		return code(err)
	}
	for _, step := range []struct {
		state            string
		to               func() error
		rotate, describe string
	}{
		{"enabled", func() error { return nil }, "", ""},
		{"disabled", func() error { _, err := c.DisableKey(ctx, &kms.DisableKeyInput{KeyId: id}); return err }, "DisabledException", ""},
		{"pending deletion", func() error {
			_, err := c.ScheduleKeyDeletion(ctx, &kms.ScheduleKeyDeletionInput{KeyId: id})
			return err
		}, "KMSInvalidStateException", "KMSInvalidStateException"},
		{"restored, which disables it", func() error { _, err := c.CancelKeyDeletion(ctx, &kms.CancelKeyDeletionInput{KeyId: id}); return err },
			"DisabledException", ""},
	} {
		must.Succeed(t, step.to())
		if r, d := rotate(), describe(); r != step.rotate || d != step.describe {
			t.Errorf("%s: rotation %q, description %q, want %q and %q", step.state, r, d, step.rotate, step.describe)
		}
	}
}
