// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// codeExplanation explains a stable error code.
type codeExplanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	status.Code
}

// isCode reports whether an argument is meant to be an error code rather than KIND/NAME.
func isCode(arg string) bool {
	return !strings.Contains(arg, "/") && strings.HasPrefix(strings.ToUpper(arg), "NX-")
}

// explainCode prints the cause and the remedy of an error code.
func explainCode(s *console.Console, id, output string) error {
	c, known := status.LookupCode(id)
	if !known {
		return exit.Usage("%q is no error code of this version of nexusctl", id)
	}
	e := codeExplanation{APIVersion: inspect.APIVersion, Kind: "ErrorCode", Code: c}
	return console.PrintAs(s.Out, output, e, func() string {
		return fmt.Sprintf("%s: %s\n\nCause:\n%s\nWhat to do:\n%s", c.ID, c.Reason, console.Wrap(c.Cause, "  "), console.Wrap(c.Remedy, "  "))
	})
}

// withStableCode returns the text of an error with its stable code at the end. An interruption has none.
func withStableCode(code int, err error) string {
	text := err.Error()
	if code == exit.CodeInterrupted {
		return text
	}
	if _, stable := status.SplitCode(text); stable != "" {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, cmp.Or(status.CodeOf(reasonOf(err)), codeOfExit(code, err)))
}

// reasonOf returns the reason of a failure of an object or of an AWS call; empty for other errors.
func reasonOf(err error) string {
	if f := awsclient.Classify(err); f.Service != "" || f.Operation != "" {
		err = awsclient.ExplainOnce(err, "")
	}
	if s, ok := status.AsStalled(err); ok {
		return s.Reason
	}
	if r, ok := status.AsRetrying(err); ok {
		return r.Reason
	}
	if w, ok := status.AsWaiting(err); ok {
		return w.Reason
	}
	return ""
}

// codeOfExit returns the code of an error without a reason: by the API server's answer, or otherwise by the exit code.
func codeOfExit(code int, err error) string {
	_, noAccess := errors.AsType[*plan.AccessError](err)
	switch {
	case code == exit.CodeUsage:
		return status.CodeUsage
	case code == exit.CodeTimeout:
		return status.CodeTimeout
	case noAccess:
		return status.CodePrecondition
	case apierrors.IsForbidden(err):
		return status.CodeForbidden
	case apierrors.IsUnauthorized(err):
		return status.CodeUnauthorized
	case exit.IsUnreachable(err):
		return status.CodeNoAPIServer
	case code == exit.CodePrecondition:
		return status.CodePrecondition
	default:
		return status.CodeFailed
	}
}
