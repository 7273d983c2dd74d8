// SPDX-License-Identifier: Apache-2.0

package ssm

import "github.com/nexus-operator/nexus-operator/internal/kind"

// parameterSetFacts returns the facts about an SSMParameterSet that other packages use.
func parameterSetFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{Kept: "a parameter without a declared key keeps the one that it has"},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "ssm:DescribeParameters"},
				{Actions: "ssm:GetServiceSetting", On: []string{"servicesetting/ssm/parameter-store/*"}},
				{Actions: "ssm:*", On: []string{"parameter/${Name}"}},
			},
			// GenerateDataKey of advanced parameters:
			// https://docs.aws.amazon.com/systems-manager/latest/userguide/secure-string-parameter-kms-encryption.html
			Encrypts: map[string]string{
				"ssm:PutParameter":  "kms:Encrypt kms:GenerateDataKey",
				"ssm:GetParameters": "kms:Decrypt",
			},
			Decided: map[string]string{
				"ssm GetServiceSetting ssm:UpdateServiceSetting": "the text refers to who changes the setting",
			},
		},
		Services: awsServices,
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
