// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// askForEverything lets the only look read aliases of all names.
func askForEverything(want, _ *KeyState) bool {
	want.Everything = true
	return false
}

// exported declares a key as it is. An alias that no spec may declare is exported all the same: the schema refuses it, so that
// keys of AWS show as such.
func exported(cr *v1alpha1.KMSKey, have KeyState) {
	out := &cr.Spec
	out.KeyUsage, out.KeySpec, out.Description, out.KeyPolicy = aws.ToString(have.Usage), aws.ToString(have.Spec), kind.NonEmpty(have.Description), kind.NonEmpty(have.Policy)
	out.EnableKeyRotation = have.Rotation
	if aws.ToBool(have.MultiRegion) {
		out.MultiRegion = have.MultiRegion
	}
	if !aws.ToBool(have.Enabled) {
		out.Enabled = have.Enabled
	}
	for _, name := range kind.SortedKeys(have.Aliases) {
		out.Aliases = append(out.Aliases, v1alpha1.KMSAlias(name))
	}
}
