// SPDX-License-Identifier: Apache-2.0

package kms

import "github.com/nexus-operator/nexus-operator/internal/kind"

// keyFacts returns the facts about a KMSKey that other packages use.
func keyFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{Kept: "an alias may move, by which others named the key"},
		Rights: kind.Rights{
			// AWS chooses the identifiers. For an action on an alias, it evaluates the alias and the key, and a key that an object adopts
			// has no tag yet when it gets an alias.
			Calls: []kind.Right{
				{Actions: "kms:ListAliases"},
				{Actions: "kms:CreateKey", If: kind.GivesTag},
				{Actions: "kms:ListResourceTags", On: []string{"key/*"}},
				{Actions: "kms:TagResource", If: kind.GivesTag}, // of a key that does not exist yet, AWS knows no ARN
				{Actions: "kms:TagResource", On: []string{"key/*"}, If: kind.HasTagOrIsAdopted},
				{Actions: "kms:*Alias", On: []string{"alias/${Name}"}},
				{Actions: "kms:*Alias", On: []string{"key/*"}, If: kind.HasTagOrIsAdopted},
				{Actions: "kms:*", On: []string{"key/*"}, If: kind.HasTag},
			},
			// A multi-Region key: https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-auth.html
			ServiceRoles: map[string]string{"mrk.kms.amazonaws.com": "kms:CreateKey"},
		},
		Services: awsServices,
		NotSettings: []string{
			"KeyMetadata.AWSAccountId", "KeyMetadata.CustomerMasterKeySpec", "KeyMetadata.EncryptionAlgorithms",
			"KeyMetadata.KeyAgreementAlgorithms", "KeyMetadata.KeyManager", "KeyMetadata.KeyState", "KeyMetadata.MacAlgorithms",
			"KeyMetadata.MultiRegionConfiguration.MultiRegionKeyType", "KeyMetadata.MultiRegionConfiguration.PrimaryKey",
			"KeyMetadata.Origin=AWS_KMS", "KeyMetadata.SigningAlgorithms", "KeyMetadata.CurrentKeyMaterialId",
			"RotationPeriodInDays=365", "KeyId", "Aliases.AliasArn", "Aliases.TargetKeyId",
		},
		Reach: kind.Everywhere,
		OneValue: map[string]string{
			"KeySpec KeyUsage MultiRegion": kind.KeptFromCreation,
			"PendingWindowInDays":          kind.OfTheDeletion,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::KMS::Key", "AWS::KMS::Alias"},
			Properties: map[string]map[string]string{
				"AWS::KMS::Key": {
					"BypassPolicyLockoutSafetyCheck": kind.IsRequest,
				},
				"AWS::KMS::Alias": {
					"AliasName":   "as aliases",
					"TargetKeyId": kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"kms:UpdateAlias": "an alias of another key is a conflict",
			},
		},
		ARN: kind.ARNForm{
			Service: "kms",
			Prefix:  "key/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_kms_key",
			Identity: []string{"key_id"},
			Parts: []string{
				"aws_kms_alias",
				"aws_kms_key_policy",
			},
		},
	}
}
