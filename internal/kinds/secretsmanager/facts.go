// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import "github.com/nexus-operator/nexus-operator/internal/kind"

// secretFacts returns the facts about a SecretsManagerSecret that other packages use.
func secretFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {"secretsmanager:DescribeSecret ExternalSecretRotationRoleArn"},
		},
		EarlierKeys: kind.EarlierKeys{Kept: "a version of the secret stays encrypted with the key that it was put with"},
		Rights: kind.Rights{
			Calls: []kind.Right{{Actions: "secretsmanager:*", On: []string{"secret:${Name}"}}},
			Needs: []kind.Need{
				// The functions that rotate secrets are those of AWS, which have names with a fixed prefix. An administrator allows others:
				// https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_available-rotation-templates.html
				{For: "secretsmanager:RotateSecret", Actions: "lambda:InvokeFunction", On: []string{"function:SecretsManager*"}},
			},
			// Without the right to encrypt, UpdateSecret with another key succeeds and leaves the versions under the former one:
			// https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
			Encrypts: map[string]string{
				"secretsmanager:CreateSecret secretsmanager:PutSecretValue secretsmanager:UpdateSecret": "kms:Decrypt kms:Encrypt kms:GenerateDataKey",
			},
			Decided: map[string]string{
				"secretsmanager CreateSecret secretsmanager:ReplicateSecretToRegions": "there is no field for replicas",
				"secretsmanager GetSecretValue secretsmanager:GetSecretValue":         "the operator reads no values; nexusctl does with the user's rights",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"ARN", "Name", "CreatedDate", "VersionIdsToStages", "secretsmanager.ListSecretVersionIds",
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::SecretsManager::Secret", "AWS::SecretsManager::ResourcePolicy", "AWS::SecretsManager::RotationSchedule"},
			Properties: map[string]map[string]string{
				"AWS::SecretsManager::Secret": {
					"GenerateSecretString": "as generate",
					"ReplicaRegions":       "as replicationStatus",
					"SecretString":         "as secretStringRef",
				},
				"AWS::SecretsManager::ResourcePolicy": {
					"BlockPublicPolicy": kind.IsRequest,
					"SecretId":          kind.IsParent,
				},
				"AWS::SecretsManager::RotationSchedule": {
					"HostedRotationLambda":      "the function is another resource",
					"RotateImmediatelyOnUpdate": kind.IsRequest,
					"SecretId":                  kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"secretsmanager:GetRandomPassword secretsmanager:GetSecretValue":      "the operator makes values and reads none",
				"secretsmanager:*Replication secretsmanager:ReplicateSecretToRegions": "there is no field for replicas",
			},
		},
		ARN: kind.ARNForm{
			Service: "secretsmanager",
			Prefix:  "secret:",
			Without: ":",
			Name:    nameWithoutSuffix,
		},
		Terraform: kind.Terraform{
			Type:     "aws_secretsmanager_secret",
			Identity: []string{"name"},
			Parts:    []string{"aws_secretsmanager_secret_"},
		},
	}
}

// suffixOfSecrets is the length of the hyphen and the random characters that end the ARN of a secret.
const suffixOfSecrets = 7

// nameWithoutSuffix returns the name of a secret: its ARN has random characters after it.
func nameWithoutSuffix(rest, _ string) string {
	if len(rest) > suffixOfSecrets {
		return rest[:len(rest)-suffixOfSecrets]
	}
	return rest
}
