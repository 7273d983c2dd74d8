// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestFunction_ListsOfOthers(t *testing.T) {
	facts := func(s *kindtest.Subject) { withParents(t, s) }
	object := functionOf(variables("A1", "b"), reaches([]string{"subnet-0a"}, []string{"sg-0a"}))
	configured := func(in lambda.UpdateFunctionConfigurationInput) func(*testing.T, *kindtest.Rig) {
		return func(t *testing.T, r *kindtest.Rig) {
			t.Helper()
			in.FunctionName = aws.String(stored)
			_, err := api(r).UpdateFunctionConfiguration(t.Context(), &in)
			kindtest.Must(t, err)
		}
	}
	has := func(is func(*types.FunctionConfiguration) bool) func(*testing.T, *kindtest.Rig) bool {
		return func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			return is(observed(t, r).Configuration)
		}
	}
	kindtest.Lists(t, engine.For(NewFunction),
		kindtest.List{Field: "architectures", Fixed: true},          // it has one element
		kindtest.List{Field: "imageConfig.command", Fixed: true},    // arguments of one program
		kindtest.List{Field: "imageConfig.entryPoint", Fixed: true}, // arguments of one program
		kindtest.List{Field: "vpcConfig.subnetRefs", Fixed: true},   // the same list for Lambda
		kindtest.List{Field: "vpcConfig.securityGroupRefs", Fixed: true},
		kindtest.List{Field: "layers", Object: functionOf(zipped("v1.zip"), layers()), Facts: facts, Exact: true,
			Add: configured(lambda.UpdateFunctionConfigurationInput{Layers: []string{toolsLayer}}),
			Has: has(func(d *types.FunctionConfiguration) bool { return len(d.Layers) > 0 })},
		kindtest.List{Field: "environment.variables", Object: object, Facts: facts, Exact: true,
			Add: configured(lambda.UpdateFunctionConfigurationInput{Environment: &types.Environment{Variables: map[string]string{"A1": "b",
				"THEIRS": "1"}}}),
			Has: has(func(d *types.FunctionConfiguration) bool { return d.Environment.Variables["THEIRS"] != "" })},
		kindtest.List{Field: "vpcConfig.subnetIds", Object: object, Facts: facts, Exact: true,
			Add: configured(lambda.UpdateFunctionConfigurationInput{VpcConfig: &types.VpcConfig{SubnetIds: []string{"subnet-0a", "subnet-0b"},
				SecurityGroupIds: []string{"sg-0a"}}}),
			Has: has(func(d *types.FunctionConfiguration) bool { return len(d.VpcConfig.SubnetIds) > 1 })},
		kindtest.List{Field: "vpcConfig.securityGroupIds", Object: object, Facts: facts, Exact: true,
			Add: configured(lambda.UpdateFunctionConfigurationInput{VpcConfig: &types.VpcConfig{SubnetIds: []string{"subnet-0a"},
				SecurityGroupIds: []string{"sg-0a", "sg-0b"}}}),
			Has: has(func(d *types.FunctionConfiguration) bool { return len(d.VpcConfig.SecurityGroupIds) > 1 })})
}
