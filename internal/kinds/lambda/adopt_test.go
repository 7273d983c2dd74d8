// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A function that had another role gets its role before the code, so that the code never runs with the rights of the other one.
func TestParts_NewCodeWaitsForTheRole(t *testing.T) {
	want, have := FunctionState{Role: aws.String("mine")}, FunctionState{Role: aws.String("finance-admin")}
	stageOf := func(field string, want, have FunctionState) int {
		for _, p := range (&function{}).parts() {
			for _, f := range p.Fields {
				if f == field {
					return p.Stage(want, have)
				}
			}
		}
		t.Fatalf("no part has %s", field)
		return 0
	}
	if code, role := stageOf("Source", want, have), stageOf("Role", want, have); code <= role {
		t.Errorf("the code is sent in stage %d, the role in %d", code, role)
	}
	if code, role := stageOf("Source", want, want), stageOf("Role", want, want); code >= role {
		t.Errorf("with the same role, the code is sent in stage %d, the settings in %d", code, role)
	}
}
