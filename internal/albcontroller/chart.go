// SPDX-License-Identifier: Apache-2.0

package albcontroller

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
)

// The chart of the AWS Load Balancer Controller that this version was written for. Its versions are those of the controller since 3.0.
// https://github.com/aws/eks-charts
const (
	DefaultChartRepo    = "https://aws.github.io/eks-charts"
	DefaultChartVersion = "3.6.0"
)

// registryScheme begins references to charts in registries.
const registryScheme = "oci://"

// ChartSource names the repository or the path of a chart. flag is the name of the flag that sets it.
type ChartSource struct{ Chart, Repo, Version, Flag string }

// isPath reports whether the chart is on this machine.
func (c ChartSource) isPath() bool {
	return strings.HasPrefix(c.Chart, ".") || strings.HasPrefix(c.Chart, "/") || strings.HasSuffix(c.Chart, ".tgz")
}

// Check refuses names that are no chart's.
func (c ChartSource) Check() error {
	switch {
	case c.Chart == "":
		return exit.Usage("%s: the name is empty", c.Flag)
	case strings.HasPrefix(c.Chart, registryScheme):
		if _, err := c.reference(); err != nil {
			return exit.Usage("%s: %w", c.Flag, err)
		}
	case c.isPath():
	case strings.Contains(c.Chart, "/"):
		return exit.Usage("%s: %q is neither a name, nor a path that begins with ./ or /, nor a reference that begins with %s", c.Flag, c.Chart,
			registryScheme)
	case !strings.HasPrefix(c.Repo, "https://") && !strings.HasPrefix(c.Repo, "http://"):
		return exit.Usage("%s-repo: %q is not a URL", c.Flag, c.Repo)
	}
	return nil
}

// reference is the chart in a registry. A reference without a tag or a digest gets the version.
func (c ChartSource) reference() (name.Reference, error) {
	ref := strings.TrimPrefix(c.Chart, registryScheme)
	if last := ref[strings.LastIndex(ref, "/")+1:]; !strings.ContainsAny(last, ":@") {
		ref += ":" + strings.ReplaceAll(c.Version, "+", "_") // as helm push writes versions
	}
	return name.ParseReference(ref)
}

// load reads the chart.
func (c ChartSource) load(ctx context.Context, s *connection.Connection) (*helmrelease.Chart, error) {
	switch {
	case c.isPath():
		chart, err := helmrelease.Load(c.Chart)
		if err != nil {
			return nil, exit.Usage("%s: %w", c.Flag, err)
		}
		return chart, nil
	case strings.HasPrefix(c.Chart, registryScheme):
		ref, err := c.reference()
		if err != nil {
			return nil, exit.Usage("%s: %w", c.Flag, err)
		}
		archive, err := connection.NewRegistries(s).Registry().Artifact(ctx, ref, helmrelease.MediaType)
		if err != nil {
			return nil, fmt.Errorf("downloading chart %s: %w", c.Chart, connection.ExplainRegistry(err))
		}
		return helmrelease.LoadArchive(bytes.NewReader(archive))
	default:
		chart, err := helmrelease.Fetch(ctx, c.Repo, c.Chart, c.Version)
		if err != nil {
			return nil, exit.Precondition(fmt.Errorf("downloading chart %s %s: %w; where the repository cannot be reached, name a copy with %s",
				c.Chart, c.Version, err, c.Flag))
		}
		return chart, nil
	}
}
