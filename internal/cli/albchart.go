// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
)

// The chart of the AWS Load Balancer Controller that this version was written for. Its versions are those of the controller since 3.0.
// https://github.com/aws/eks-charts
const (
	defaultChartRepo    = "https://aws.github.io/eks-charts"
	defaultChartVersion = "3.6.0"
)

// registryScheme begins references to charts in registries.
const registryScheme = "oci://"

// chartSource names the repository or the path of a chart. flag is the name of the flag that sets it.
type chartSource struct{ chart, repo, version, flag string }

// addFlags adds the flags --chart, --chart-repo and --chart-version, with a prefix.
func (c *chartSource) addFlags(flags *pflag.FlagSet, prefix string) {
	c.flag = "--" + prefix + "chart"
	flags.StringVar(&c.chart, prefix+"chart", albRelease, "chart of the AWS Load Balancer Controller: a name in "+c.flag+"-repo, a folder or archive (./PATH), or oci://REGISTRY/REPOSITORY")
	flags.StringVar(&c.repo, prefix+"chart-repo", defaultChartRepo, "URL of the chart repository")
	flags.StringVar(&c.version, prefix+"chart-version", defaultChartVersion, "version of the chart in a repository or registry")
}

// isPath reports whether the chart is on this machine.
func (c chartSource) isPath() bool {
	return strings.HasPrefix(c.chart, ".") || strings.HasPrefix(c.chart, "/") || strings.HasSuffix(c.chart, ".tgz")
}

func (c chartSource) Check() error {
	switch {
	case c.chart == "":
		return exit.Usage("%s: the name is empty", c.flag)
	case strings.HasPrefix(c.chart, registryScheme):
		if _, err := c.reference(); err != nil {
			return exit.Usage("%s: %w", c.flag, err)
		}
	case c.isPath():
	case strings.Contains(c.chart, "/"):
		return exit.Usage("%s: %q is neither a name, nor a path that begins with ./ or /, nor a reference that begins with %s", c.flag, c.chart, registryScheme)
	case !strings.HasPrefix(c.repo, "https://") && !strings.HasPrefix(c.repo, "http://"):
		return exit.Usage("%s-repo: %q is not a URL", c.flag, c.repo)
	}
	return nil
}

// reference is the chart in a registry. A reference without a tag or a digest gets the version.
func (c chartSource) reference() (name.Reference, error) {
	ref := strings.TrimPrefix(c.chart, registryScheme)
	if last := ref[strings.LastIndex(ref, "/")+1:]; !strings.ContainsAny(last, ":@") {
		ref += ":" + strings.ReplaceAll(c.version, "+", "_") // as helm push writes versions
	}
	return name.ParseReference(ref)
}

// loadChart reads the chart.
func (s *shared) loadChart(ctx context.Context, c chartSource) (*helmrelease.Chart, error) {
	switch {
	case c.isPath():
		chart, err := helmrelease.Load(c.chart)
		if err != nil {
			return nil, exit.Usage("%s: %w", c.flag, err)
		}
		return chart, nil
	case strings.HasPrefix(c.chart, registryScheme):
		ref, err := c.reference()
		if err != nil {
			return nil, exit.Usage("%s: %w", c.flag, err)
		}
		way := &pushTarget{shared: s, logins: map[string]login{}}
		archive, err := way.registry().Artifact(ctx, ref, helmrelease.MediaType)
		if err != nil {
			return nil, fmt.Errorf("downloading chart %s: %w", c.chart, explainRegistry(err))
		}
		return helmrelease.LoadArchive(bytes.NewReader(archive))
	default:
		chart, err := helmrelease.Fetch(ctx, c.repo, c.chart, c.version)
		if err != nil {
			return nil, exit.Precondition(fmt.Errorf("downloading chart %s %s: %w; where the repository cannot be reached, name a copy with %s", c.chart, c.version, err, c.flag))
		}
		return chart, nil
	}
}
