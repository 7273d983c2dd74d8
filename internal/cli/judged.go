// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// reportOf returns a report about the namespace of the flags, or about all of them. Where it has no entry, that is said with the
// namespace, which must exist.
func reportOf[R interface{ Len() int }](ctx context.Context, s *connection.Connection, everywhere bool, none string,
	read func(r *inspect.Reader, ctx context.Context, namespace string) (R, error)) (report R, err error) {
	r, err := s.Reader()
	if err != nil {
		return report, err
	}
	namespace, err := s.NamespaceOf(everywhere)
	if err != nil {
		return report, err
	}
	if report, err = read(r, ctx, namespace); err != nil {
		return report, err
	}
	if report.Len() > 0 {
		return report, nil
	}
	if err := refuseMissingNamespace(ctx, r.Client, namespace, 0); err != nil {
		return report, err
	}
	s.Say(none, cmp.Or(namespace, "any namespace"))
	return report, nil
}

// printJudged prints data, and fails where the judgment of it is that something is wrong.
func printJudged(s *connection.Connection, output string, data any, isRight bool, text func() string) error {
	if err := console.PrintAs(s.Out, output, data, text); err != nil {
		return err
	}
	if !isRight {
		return &exit.Failure{Code: exit.CodeFailed}
	}
	return nil
}
