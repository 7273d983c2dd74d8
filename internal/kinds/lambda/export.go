// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a function as it is. Lambda does not tell where code in S3 was.
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

// exportInstance declares how an instance of the function starts, and with what storage.
func exportInstance(out *v1alpha1.LambdaFunctionSpec, have FunctionState) {
	if have.Storage != nil {
		out.EphemeralStorage = &v1alpha1.LambdaEphemeralStorage{Size: *have.Storage}
	}
	if len(*have.Command)+len(*have.EntryPoint)+len(*have.Directory) > 0 {
		out.ImageConfig = &v1alpha1.LambdaImageConfig{Command: *have.Command, EntryPoint: *have.EntryPoint, WorkingDirectory: *have.Directory}
	}
}
