// SPDX-License-Identifier: Apache-2.0

package ecr

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a repository as it is, where a spec can: a mutability with exceptions is left unmanaged.
func exported(cr *v1alpha1.ECRRepository, have RepositoryState) {
	out := &cr.Spec
	switch types.ImageTagMutability(aws.ToString(have.Mutability)) {
	case types.ImageTagMutabilityMutable, types.ImageTagMutabilityImmutable:
		out.ImageTagMutability = have.Mutability
	}
	out.ScanOnPush = have.ScanOnPush
	if encryption := aws.ToString(have.EncryptionType); encryption == string(types.EncryptionTypeAes256) || encryption == string(types.EncryptionTypeKms) {
		out.EncryptionConfiguration = &v1alpha1.ECREncryption{EncryptionType: encryption, KMSKey: aws.ToString(have.KMSKey)}
	}
	if text := aws.ToString(have.Lifecycle); text != "" {
		out.LifecyclePolicy = &v1alpha1.ECRLifecyclePolicy{PolicyText: text}
	}
	out.RepositoryPolicy = kind.NonEmpty(have.Policy)
}
