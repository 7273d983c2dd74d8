// SPDX-License-Identifier: Apache-2.0

package ssm

import "github.com/nexus-operator/nexus-operator/internal/kind"

// parameterSetFacts returns the facts about an SSMParameterSet that other packages use.
func parameterSetFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
		NotSettings: []string{
			"Parameters.DataType=text", "Parameters.LastModifiedUser", "Parameters.Version", "Parameters.ARN", "Parameters.Name",
			"Parameters.Tier", "Parameters.KeyId", "Parameters.Type",
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::SSM::Parameter"},
			Unneeded: map[string]string{
				"ssm:DeleteParameter": "DeleteParameters deletes several",
			},
		},
		Terraform: kind.Terraform{
			Type:     "aws_ssm_parameter",
			Identity: []string{"name"},
		},
	}
}
