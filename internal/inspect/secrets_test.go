// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestPlaceholderKeys_LeaveOutGeneratedOnes(t *testing.T) {
	o := &v1alpha1.SecretsManagerSecret{}
	if got := PlaceholderKeys(o); got != nil {
		t.Errorf("without a placeholder: %q", got)
	}
	o.Spec.Placeholder = map[string]v1alpha1.PlaceholderValue{"token": "", "hook": "", "id": ""}
	o.Spec.Generate = &v1alpha1.SecretGenerate{Keys: []string{"hook"}}
	if got := PlaceholderKeys(o); !slices.Equal(got, []string{"id", "token"}) {
		t.Errorf("%q", got)
	}
}
