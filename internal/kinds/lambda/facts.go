// SPDX-License-Identifier: Apache-2.0

package lambda

import "github.com/nexus-operator/nexus-operator/internal/kind"

// functionFacts returns the facts about a LambdaFunction that other packages use.
func functionFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
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
