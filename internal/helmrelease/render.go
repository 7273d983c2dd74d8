// SPDX-License-Identifier: Apache-2.0

package helmrelease

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// Render returns the objects that a release of the chart would consist of, as one text of YAML documents, each with a comment that names
// its template. It asks no cluster: templates see the Kubernetes version of this program's libraries.
func (c *Chart) Render(ctx context.Context, name, namespace string, over map[string]any) (string, error) {
	do := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	do.ReleaseName, do.Namespace, do.DryRunStrategy, do.SkipCRDs = name, namespace, action.DryRunClient, true
	of, err := chart.NewAccessor(c.chart)
	if err != nil {
		return "", fmt.Errorf("chart %s: %w", c.Name(), err)
	}
	if err := action.CheckDependencies(c.chart, of.MetaDependencies()); err != nil {
		return "", fmt.Errorf("chart %s: %w; run helm dependency build", c.Name(), err)
	}
	made, err := do.RunWithContext(ctx, c.chart, over)
	if err != nil {
		return "", fmt.Errorf("rendering chart %s: %w", c.Name(), err)
	}
	have, ok := made.(*release.Release)
	if !ok {
		return "", fmt.Errorf("rendering chart %s: the release is of a kind that this version does not know", c.Name())
	}
	var out strings.Builder
	out.WriteString(have.Manifest)
	for _, h := range have.Hooks {
		_, _ = fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", h.Path, h.Manifest) // a builder takes everything
	}
	return out.String(), nil
}
