// SPDX-License-Identifier: Apache-2.0

package ecr

import "github.com/nexus-operator/nexus-operator/internal/kind"

// repositoryFacts returns the facts about an ECRRepository that other packages use.
func repositoryFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{NotKept: "the key is immutable, and compared with that of the repository"},
		Rights: kind.Rights{
			Calls: []kind.Right{{Actions: "ecr:*", On: []string{"repository/${Name}"}}},
			Encrypts: map[string]string{ // https://docs.aws.amazon.com/AmazonECR/latest/userguide/encryption-at-rest.html
				"ecr:CreateRepository": "kms:CreateGrant kms:DescribeKey kms:RetireGrant",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"RegistryId", "RepositoryName", "Repositories.RegistryId",
		},
		Declarable: true,
		Schemas: kind.Schemas{
			Types: []string{"AWS::ECR::Repository"},
			Properties: map[string]map[string]string{
				"AWS::ECR::Repository": {
					"EmptyOnDelete":              "as forceDelete",
					"ImageScanningConfiguration": "as scanOnPush",
					"RepositoryPolicyText":       "as repositoryPolicy",
				},
			},
		},
		ARN: kind.ARNForm{
			Service: "ecr",
			Prefix:  "repository/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_ecr_repository",
			Identity: []string{"name"},
			Parts: []string{
				"aws_ecr_lifecycle_policy",
				"aws_ecr_repository_policy",
			},
		},
	}
}
