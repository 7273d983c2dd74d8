// SPDX-License-Identifier: Apache-2.0

package lambda

import "github.com/nexus-operator/nexus-operator/internal/kind"

// functionFacts declares what other packages know about a LambdaFunction.
func functionFacts() kind.Facts {
	return kind.Facts{
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
