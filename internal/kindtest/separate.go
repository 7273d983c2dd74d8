// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Separate is an answer of AWS that shows a setting which no field says.
type Separate struct {
	// Setting is the name that an import gives it.
	Setting string
	// Operation is the call that shows it, such as "S3 GetBucketAbac".
	Operation string
	// Output is the answer; a zero one shows no setting.
	Output any
}

// ReadsSeparately compares the settings that an import of a kind reads separately with rows: each makes its call, and finds the setting
// in the row's answer and not in an empty one.
func ReadsSeparately[CR, S any](t *testing.T, build func(aws.Config) kind.Kind[CR, S], have S, rows []Separate) {
	t.Helper()
	var asked []string
	var answer any
	exporter, ok := build(answering(&asked, &answer)).(kind.Exporter[CR, S])
	if !ok {
		t.Fatal("the kind exports nothing")
	}
	for i, s := range exporter.SeparateSettings() {
		if i >= len(rows) || rows[i].Setting != s.Setting {
			t.Errorf("%s has no row, or not at its place", s.Setting)
			continue
		}
		row := rows[i]
		for _, output := range []any{row.Output, reflect.New(reflect.TypeOf(row.Output).Elem()).Interface()} {
			asked, answer = nil, output
			found, err := s.Read(t.Context(), have)
			if wanted := output == row.Output; found != wanted || err != nil || !slices.Equal(asked, []string{row.Operation}) {
				t.Errorf("%s: found %t, error %v by %q, expected %t by %s", s.Setting, found, err, asked, wanted, row.Operation)
			}
		}
	}
}

// readSeparately reads a setting of a resource that does not have it, and compares the declared right with that of the call.
func readSeparately(t *testing.T, s *Subject, setting engine.SeparateSetting) {
	t.Helper()
	mark := s.Rig.AWS.Mark()
	has, err := setting.Read(t.Context())
	if f := awsclient.Classify(err); has || err != nil && f.Class != awsclient.NotFound {
		t.Errorf("%s: found %t, error %v", setting.Setting, has, awsErr(err))
	}
	for _, c := range s.Rig.AWS.Since(mark) {
		if c.Action() != setting.Action {
			t.Errorf("%s is read with %s, and declares %s", setting.Setting, c.Action(), setting.Action)
		}
	}
}

// answering is the configuration of an AWS that always gives the same answer, and notes the operations.
func answering(asked *[]string, answer *any) aws.Config {
	return aws.Config{Region: "eu-west-1", APIOptions: []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Answer",
			func(ctx context.Context, _ middleware.InitializeInput, _ middleware.InitializeHandler) (out middleware.InitializeOutput,
				_ middleware.Metadata, _ error) {
				*asked = append(*asked, fmt.Sprintf("%s %s", awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)))
				out.Result = *answer
				return out, middleware.Metadata{}, nil
			}), middleware.After)
	}}}
}
