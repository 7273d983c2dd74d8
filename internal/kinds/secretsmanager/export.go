// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a secret as it is. Its value stays in AWS: nothing declares it.
func exported(cr *v1alpha1.SecretsManagerSecret, have SecretState) {
	cr.Spec.Description, cr.Spec.KmsKeyId, cr.Spec.ResourcePolicy = kind.NonEmpty(have.Description), kind.NonEmpty(have.KMSKeyID), kind.NonEmpty(have.Policy)
	if r := have.Rotation; r.LambdaARN != "" && r.Days != nil {
		cr.Spec.Rotation = &v1alpha1.SecretRotation{LambdaARN: r.LambdaARN, AutomaticallyAfterDays: r.Days}
	}
}
