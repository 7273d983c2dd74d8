// SPDX-License-Identifier: Apache-2.0

package lambda

import "github.com/nexus-operator/nexus-operator/internal/kind"

// functionFacts returns the facts about a LambdaFunction that other packages use.
func functionFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {"lambda:GetFunction Configuration.Role"},
		},
		EarlierKeys: kind.EarlierKeys{Kept: "published versions and their snapshots keep the key of their time"},
		Rights: kind.Rights{
			Calls: []kind.Right{{Actions: "lambda:*", On: []string{"function:${Name}"}}},
			// Images are in the operator's own repositories. An administrator allows others, and the archives in S3: the operator reads
			// no objects of other buckets. https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
			Needs: []kind.Need{
				{For: "lambda:GetFunction", Actions: "lambda:ListTags", On: []string{"function:${Name}"}},
				{For: "lambda:CreateFunction", Actions: "ec2:DescribeSecurityGroups ec2:DescribeSubnets ec2:DescribeVpcs"},
				{For: "lambda:CreateFunction", Actions: "ecr:BatchGetImage ecr:GetDownloadUrlForLayer ecr:GetRepositoryPolicy " +
					"ecr:SetRepositoryPolicy", On: []string{"repository/${Name}"}},
				// also of other accounts
				{For: "lambda:CreateFunction", Actions: "lambda:GetLayerVersion", On: []string{"arn:${Partition}:lambda:*:*:layer:*"}},
			},
			Encrypts: map[string]string{ // https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars-encryption.html
				"lambda:CreateFunction lambda:UpdateFunctionConfiguration": "kms:CreateGrant kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey",
				"lambda:GetFunction": "kms:Decrypt",
			},
			Passes: []kind.Pass{{For: "lambda:CreateFunction lambda:UpdateFunctionConfiguration", To: "lambda.amazonaws.com"}},
			Decided: map[string]string{
				"lambda:CreateFunction lambda:PassCapacityProvider": "there is no field for capacity providers",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"Code.Location", "Code.RepositoryType", "Code.ResolvedImageUri", "Configuration.CodeSize", "Configuration.ConfigSha256",
			"Configuration.LastUpdateStatus", "Configuration.LastUpdateStatusReason", "Configuration.LastUpdateStatusReasonCode",
			"Configuration.Layers.CodeSize", "Configuration.RevisionId", "Configuration.RuntimeVersionConfig.RuntimeVersionArn",
			"Configuration.SnapStart.ApplyOn=None", "Configuration.SnapStart.OptimizationStatus", "Configuration.State",
			"Configuration.StateReason", "Configuration.StateReasonCode", "Configuration.Version", "Configuration.VpcConfig.VpcId",
			"Configuration.LoggingConfig.LogFormat=Text", "Configuration.LoggingConfig.LogGroup=/aws/lambda/*",
		},
		Declarable: true,
		OneValue: map[string]string{
			"KMSKeyRef": kind.AsItsTarget,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Lambda::Function"},
			Properties: map[string]map[string]string{
				"AWS::Lambda::Function": {
					"FunctionScalingConfig":    "it is of versions with a capacity provider, which an import reports as capacityProviderConfig",
					"PackageType":              "as imageURI",
					"PublishToLatestPublished": kind.IsRequest,
				},
			},
			Unneeded: map[string]string{
				"elasticfilesystem:* s3files:*": "there is no field for file systems",
				"lambda:*CodeSigningConfig lambda:*RecursionConfig lambda:*RuntimeManagementConfig lambda:AssociateRuntimeAlias lambda:PublishVersion lambda:PutFunctionScalingConfig lambda:PassCapacityProvider": "there are no fields for these",
				"s3:GetObject s3:GetObjectVersion": "an administrator allows the archives with code, as aws-prerequisites.md says",
			},
		},
		ARN: kind.ARNForm{
			Service: "lambda",
			Prefix:  "function:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_lambda_function",
			Identity: []string{"function_name"},
		},
	}
}
