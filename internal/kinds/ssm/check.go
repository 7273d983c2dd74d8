// SPDX-License-Identifier: Apache-2.0

package ssm

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Limits of Parameter Store, in bytes and levels:
// https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm,
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-su-create.html
const (
	standardSize = 4 << 10
	advancedSize = 8 << 10
	maxLevels    = 15
)

// check refuses parameters that Parameter Store would refuse, before any write.
func check(in v1alpha1.SSMParameterSetSpec, name string) error {
	v := in.Parameters[name]
	field := func(sub string) string { return "spec.parameters[" + name + "]." + sub }
	big := v.Tier == string(types.ParameterTierAdvanced) || v.Tier == string(types.ParameterTierIntelligentTiering)
	switch size := len(v.Value); {
	case size > advancedSize:
		return status.Invalid(field("value"), "has %d bytes; a parameter holds at most %d", size, advancedSize)
	case size > standardSize && !big:
		return status.Invalid(field("value"), "has %d bytes; more than %d need tier Advanced or Intelligent-Tiering", size, standardSize)
	case v.KeyID != "" && v.Type != string(types.ParameterTypeSecureString):
		return status.Invalid(field("keyID"), "only a SecureString is encrypted; set type: SecureString or leave keyID out")
	case strings.Count(in.Path+"/"+name, "/") > maxLevels:
		return status.Invalid("spec.parameters["+name+"]", "a parameter name has at most %d levels", maxLevels)
	}
	return nil
}
