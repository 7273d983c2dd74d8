// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// annotationRestarted is the annotation that kubectl rollout restart sets, too, so that each tool shows the restarts of the other.
const annotationRestarted = "kubectl.kubernetes.io/restartedAt"

// UpdateOptions holds the flags of update.
type UpdateOptions struct {
	DryRun  bool
	Timeout time.Duration
}

// Update replaces the operator's pods.
func Update(ctx context.Context, s *connection.Connection, f *UpdateOptions) error {
	if f.Timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	}
	_, c, err := s.Connect()
	if err != nil {
		return err
	}
	namespace := s.NamespaceOfOperator()
	workloads, err := inspect.Workloads(ctx, c, namespace)
	if err != nil {
		return err
	}
	if len(workloads) == 0 {
		return exit.Precondition(fmt.Errorf("namespace %s has neither a Deployment nor a StatefulSet %s: install the operator, or name its namespace with --operator-namespace", namespace, connection.OperatorName))
	}
	for _, w := range workloads {
		if _, err := restart(ctx, s.Console, c, restartTarget{workload: w, namespace: namespace, dryRun: f.DryRun, timeout: f.Timeout,
			seeAlso: "nexusctl status"}); err != nil {
			return err
		}
	}
	return nil
}

func digestText(digests []string) string {
	if len(digests) == 0 {
		return "digest not known"
	}
	return strings.Join(digests, ", ")
}
