// SPDX-License-Identifier: Apache-2.0

package lambda_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	kindlambda "github.com/nexus-operator/nexus-operator/internal/kinds/lambda"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestFunction_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kindlambda.NewFunction, kindlambda.FunctionState{FunctionName: "f"}, []kindtest.Separate{
		{Setting: "aliases", Operation: "Lambda ListAliases", Output: &lambda.ListAliasesOutput{Aliases: make([]types.AliasConfiguration, 1)}},
		{Setting: "codeSigningConfigArn", Operation: "Lambda GetFunctionCodeSigningConfig",
			Output: &lambda.GetFunctionCodeSigningConfigOutput{CodeSigningConfigArn: aws.String("arn")}},
		{Setting: "eventInvokeConfigs", Operation: "Lambda ListFunctionEventInvokeConfigs",
			Output: &lambda.ListFunctionEventInvokeConfigsOutput{FunctionEventInvokeConfigs: make([]types.FunctionEventInvokeConfig, 1)}},
		{Setting: "eventSourceMappings", Operation: "Lambda ListEventSourceMappings",
			Output: &lambda.ListEventSourceMappingsOutput{EventSourceMappings: make([]types.EventSourceMappingConfiguration, 1)}},
		{Setting: "functionUrlConfigs", Operation: "Lambda ListFunctionUrlConfigs",
			Output: &lambda.ListFunctionUrlConfigsOutput{FunctionUrlConfigs: make([]types.FunctionUrlConfig, 1)}},
		{Setting: "policy", Operation: "Lambda GetPolicy", Output: &lambda.GetPolicyOutput{Policy: aws.String("{}")}},
		{Setting: "provisionedConcurrencyConfigs", Operation: "Lambda ListProvisionedConcurrencyConfigs",
			Output: &lambda.ListProvisionedConcurrencyConfigsOutput{ProvisionedConcurrencyConfigs: make([]types.ProvisionedConcurrencyConfigListItem, 1)}},
		{Setting: "recursiveLoop", Operation: "Lambda GetFunctionRecursionConfig",
			Output: &lambda.GetFunctionRecursionConfigOutput{RecursiveLoop: types.RecursiveLoopAllow}},
		{Setting: "runtimeManagementConfig", Operation: "Lambda GetRuntimeManagementConfig",
			Output: &lambda.GetRuntimeManagementConfigOutput{UpdateRuntimeOn: types.UpdateRuntimeOnManual}},
	})
}
