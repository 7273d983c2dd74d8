// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a function as it is. Lambda does not report the location of code in S3.
func exported(cr *v1alpha1.LambdaFunction, have FunctionState) {
	out := &cr.Spec
	out.Role, out.Runtime, out.Handler = *kind.NonNil(have.Role), *kind.NonNil(have.Runtime), *kind.NonNil(have.Handler)
	if *have.PackageType == string(types.PackageTypeImage) {
		out.Code = &v1alpha1.LambdaCode{ImageURI: *kind.NonNil(have.ImageURI)}
		out.Runtime, out.Handler = "", ""
	}
	out.Description, out.Timeout, out.MemorySize = kind.NonEmpty(have.Description), have.Timeout, have.MemorySize
	exportInstance(out, have)
	out.KMSKeyARN = kind.NonEmpty(have.Key)
	if have.Architecture != nil {
		out.Architectures = []string{*have.Architecture}
	}
	if len(have.Variables) > 0 {
		out.Environment = &v1alpha1.LambdaEnvironment{Variables: map[string]v1alpha1.LambdaVariable{}}
		for name, value := range have.Variables {
			out.Environment.Variables[name] = v1alpha1.LambdaVariable(value)
		}
	}
	if len(*have.Subnets) > 0 {
		out.VPCConfig = &v1alpha1.LambdaVPCConfig{SubnetIDs: *have.Subnets, SecurityGroupIDs: *have.Groups}
	}
	if len(*have.Layers) > 0 {
		out.Layers = have.Layers
	}
	if arn := kind.NonEmpty(have.DeadLetters); arn != nil {
		out.DeadLetterConfig = &v1alpha1.LambdaDeadLetterConfig{TargetARN: arn}
	}
	if mode := kind.NonEmpty(have.Tracing); mode != nil {
		out.TracingConfig = &v1alpha1.LambdaTracingConfig{Mode: *mode}
	}
	if *have.Reserved != unreserved {
		out.ReservedConcurrentExecutions = have.Reserved
	}
}

// exportInstance declares the start of an instance of the function, and its storage.
func exportInstance(out *v1alpha1.LambdaFunctionSpec, have FunctionState) {
	if have.Storage != nil {
		out.EphemeralStorage = &v1alpha1.LambdaEphemeralStorage{Size: *have.Storage}
	}
	if len(*have.Command)+len(*have.EntryPoint)+len(*have.Directory) > 0 {
		out.ImageConfig = &v1alpha1.LambdaImageConfig{Command: *have.Command, EntryPoint: *have.EntryPoint, WorkingDirectory: *have.Directory}
	}
}

// separateSettings are the settings of a function that no field says, with one read for each.
func (f *function) separateSettings() []kind.SeparateSetting[FunctionState] {
	return []kind.SeparateSetting[FunctionState]{
		kind.ReadSeparately(kind.ImportRead{Setting: "aliases", Action: "lambda:ListAliases"}, f.api.ListAliases,
			func(have FunctionState) *lambda.ListAliasesInput {
				return &lambda.ListAliasesInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.ListAliasesOutput) bool { return len(out.Aliases) > 0 }),
		kind.ReadSeparately(kind.ImportRead{Setting: "codeSigningConfigArn", Action: "lambda:GetFunctionCodeSigningConfig"}, f.api.GetFunctionCodeSigningConfig,
			func(have FunctionState) *lambda.GetFunctionCodeSigningConfigInput {
				return &lambda.GetFunctionCodeSigningConfigInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.GetFunctionCodeSigningConfigOutput) bool {
				return aws.ToString(out.CodeSigningConfigArn) != ""
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "eventInvokeConfigs", Action: "lambda:ListFunctionEventInvokeConfigs"}, f.api.ListFunctionEventInvokeConfigs,
			func(have FunctionState) *lambda.ListFunctionEventInvokeConfigsInput {
				return &lambda.ListFunctionEventInvokeConfigsInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.ListFunctionEventInvokeConfigsOutput) bool {
				return len(out.FunctionEventInvokeConfigs) > 0
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "eventSourceMappings", Action: "lambda:ListEventSourceMappings"}, f.api.ListEventSourceMappings,
			func(have FunctionState) *lambda.ListEventSourceMappingsInput {
				return &lambda.ListEventSourceMappingsInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.ListEventSourceMappingsOutput) bool { return len(out.EventSourceMappings) > 0 }),
		kind.ReadSeparately(kind.ImportRead{Setting: "functionUrlConfigs", Action: "lambda:ListFunctionUrlConfigs"}, f.api.ListFunctionUrlConfigs,
			func(have FunctionState) *lambda.ListFunctionUrlConfigsInput {
				return &lambda.ListFunctionUrlConfigsInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.ListFunctionUrlConfigsOutput) bool { return len(out.FunctionUrlConfigs) > 0 }),
		kind.ReadSeparately(kind.ImportRead{Setting: "policy", Action: "lambda:GetPolicy"}, f.api.GetPolicy,
			func(have FunctionState) *lambda.GetPolicyInput {
				return &lambda.GetPolicyInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.GetPolicyOutput) bool { return out.Policy != nil }),
		kind.ReadSeparately(kind.ImportRead{Setting: "provisionedConcurrencyConfigs", Action: "lambda:ListProvisionedConcurrencyConfigs"}, f.api.ListProvisionedConcurrencyConfigs,
			func(have FunctionState) *lambda.ListProvisionedConcurrencyConfigsInput {
				return &lambda.ListProvisionedConcurrencyConfigsInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.ListProvisionedConcurrencyConfigsOutput) bool {
				return len(out.ProvisionedConcurrencyConfigs) > 0
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "recursiveLoop", Action: "lambda:GetFunctionRecursionConfig"}, f.api.GetFunctionRecursionConfig,
			func(have FunctionState) *lambda.GetFunctionRecursionConfigInput {
				return &lambda.GetFunctionRecursionConfigInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.GetFunctionRecursionConfigOutput) bool {
				return out.RecursiveLoop == types.RecursiveLoopAllow
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "runtimeManagementConfig", Action: "lambda:GetRuntimeManagementConfig"}, f.api.GetRuntimeManagementConfig,
			func(have FunctionState) *lambda.GetRuntimeManagementConfigInput {
				return &lambda.GetRuntimeManagementConfigInput{FunctionName: &have.FunctionName}
			},
			func(out *lambda.GetRuntimeManagementConfigOutput) bool {
				return out.UpdateRuntimeOn != "" && out.UpdateRuntimeOn != types.UpdateRuntimeOnAuto
			}),
	}
}
