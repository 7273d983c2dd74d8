// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// secretsVerb is a run of one of the commands of secrets.
type secretsVerb struct {
	*connection.Connection
}

func (s *secretsVerb) secretsStatus(ctx context.Context, f *driftFlags) error {
	report, err := reportOf(ctx, s.Connection, f.everywhere, "No secret in %s is for people to fill in.", (*inspect.Reader).Secrets)
	if err != nil {
		return err
	}
	empty := func(o inspect.SecretStatus) bool { return o.FilledIn != metav1.ConditionTrue }
	return printJudged(s.Connection, f.output, report, !f.exitCode || !slices.ContainsFunc(report.Secrets, empty),
		func() string { return textOfSecrets(report, s.Clock.Now(), f.everywhere) })
}

func textOfSecrets(report *inspect.SecretReport, now time.Time, everywhere bool) string {
	if len(report.Secrets) == 0 {
		return ""
	}
	header := []string{"NAME", "SECRET", "FILLED IN", "KEYS", "AGE"}
	if everywhere {
		header = append([]string{"NAMESPACE"}, header...)
	}
	rows := [][]string{header}
	for _, o := range report.Secrets {
		row := []string{o.Name, o.Secret, string(o.FilledIn), strings.Join(o.Keys, ","), console.Age(now, &o.Created)}
		if everywhere {
			row = append([]string{o.Namespace}, row...)
		}
		rows = append(rows, row)
	}
	return console.Table(rows)
}
