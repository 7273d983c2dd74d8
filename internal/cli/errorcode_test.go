// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/aws/smithy-go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestErrorsEndWithTheirCode(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	noAnswer := &url.Error{Op: "Get", URL: "https://example.com", Err: errors.New("connection refused")}
	denied := &smithy.OperationError{ServiceID: "S3", OperationName: "CreateBucket",
		Err: &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}}
	conflict := &status.Stalled{Reason: status.ReasonConflict, Message: "it has another owner"}
	for name, tc := range map[string]struct {
		err  error
		code string
	}{
		"a mistake":                      {exit.Usage("no"), "NX-CLI-001"},
		"an object's failure in a usage": {exit.Usage("a: %w", conflict), "NX-SPEC-005"},
		"something is missing":           {exit.Precondition(errors.New("no cluster")), "NX-CLI-002"},
		"credentials are missing":        {&plan.AccessError{Err: errors.New("no profile")}, "NX-CLI-002"},
		"a right is missing":             {fmt.Errorf("listing: %w", apierrors.NewForbidden(pods, "a", nil)), "NX-CLI-003"},
		"a missing right, said so":       {exit.Precondition(apierrors.NewForbidden(pods, "a", nil)), "NX-CLI-003"},
		"credentials have expired":       {apierrors.NewUnauthorized("expired"), "NX-CLI-004"},
		"no API server":                  {noAnswer, "NX-CLI-005"},
		"no time":                        {&exit.Failure{Code: exit.CodeTimeout, Err: errors.New("not done")}, "NX-CLI-006"},
		"another failure":                {errors.New("disk full"), "NX-CLI-007"},
		"another failure of the verb":    {&exit.Failure{Code: exit.CodeFailed, Err: errors.New("odd")}, "NX-CLI-007"},
		"AWS refuses":                    {exit.Precondition(denied), "NX-IAM-001"},
		"AWS does not answer":            {&smithy.OperationError{ServiceID: "S3", OperationName: "HeadBucket", Err: noAnswer}, "NX-AWS-002"},
		"a reason":                       {fmt.Errorf("b: %w", conflict), "NX-SPEC-005"},
		"a provider is not ready":        {&status.Waiting{Reason: status.ReasonProviderNotReady, For: "AWSProvider/a"}, "NX-IAM-015"},
	} {
		t.Run(name, func(t *testing.T) {
			want := tc.err.Error() + " (" + tc.code + ")"
			if got := withStableCode(exit.CodeOf(t.Context(), tc.err), tc.err); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestErrorsKeepTheCodeThatTheyHave(t *testing.T) {
	err := errors.New("NexusAICapability a/b: taken (NX-SPEC-003)")
	if got := withStableCode(exit.CodeFailed, err); got != err.Error() {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := withStableCode(exit.CodeOf(ctx, ctx.Err()), ctx.Err()); got != "context canceled" {
		t.Errorf("an interruption has a code: %q", got)
	}
}
