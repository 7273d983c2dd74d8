// SPDX-License-Identifier: Apache-2.0

package helmrelease

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli/values"
	repo "helm.sh/helm/v4/pkg/repo/v1"
	"sigs.k8s.io/yaml"
)

// MediaType is that of the archive of a chart in a registry: https://helm.sh/docs/topics/registries/
const MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// maxDownload limits the bytes of an answer of a repository. Indexes of large repositories have about 20 MB.
const maxDownload = 64 << 20

// downloadTimeout bounds the time of an answer of a repository.
const downloadTimeout = 2 * time.Minute

// Chart is a Helm chart.
type Chart struct {
	chart *chart.Chart
	// Digest identifies the files of the chart. It is valid as the value of a label.
	Digest string
}

// Load reads a chart from a folder or an archive on this machine.
func Load(path string) (*Chart, error) {
	c, err := loader.Load(path)
	return newChart(c, err)
}

// LoadArchive reads a chart from an archive.
func LoadArchive(archive io.Reader) (*Chart, error) {
	c, err := loader.LoadArchive(archive)
	return newChart(c, err)
}

func newChart(c *chart.Chart, err error) (*Chart, error) {
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	files := slices.Clone(c.Raw)
	slices.SortFunc(files, func(x, y *common.File) int { return strings.Compare(x.Name, y.Name) })
	sum := sha256.New()
	for _, f := range files {
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", f.Name, len(f.Data), f.Data) // a hash takes everything
	}
	return &Chart{chart: c, Digest: hex.EncodeToString(sum.Sum(nil))[:40]}, nil
}

// Name is the name of the chart.
func (c *Chart) Name() string { return c.chart.Name() }

// Version is the version of the chart.
func (c *Chart) Version() string { return c.chart.Metadata.Version }

// AppVersion is the version of the application that the chart installs.
func (c *Chart) AppVersion() string { return c.chart.AppVersion() }

// Definitions are the files of the chart's folder crds, which Helm installs with the first release and never again.
func (c *Chart) Definitions() [][]byte {
	var out [][]byte
	for _, d := range c.chart.CRDObjects() {
		out = append(out, d.File.Data)
	}
	return out
}

// Fetch downloads a version of a chart from a repository, and checks the digest that its index names.
func Fetch(ctx context.Context, repository, name, version string) (*Chart, error) {
	base := strings.TrimSuffix(repository, "/") + "/"
	text, err := download(ctx, base+"index.yaml")
	if err != nil {
		return nil, err
	}
	index := &repo.IndexFile{}
	if err := yaml.Unmarshal(text, index); err != nil {
		return nil, fmt.Errorf("the index of chart repository %s: %w", repository, err)
	}
	at := slices.IndexFunc(index.Entries[name], func(v *repo.ChartVersion) bool {
		return v != nil && v.Metadata != nil && v.Version == version && len(v.URLs) > 0
	})
	if at < 0 {
		return nil, fmt.Errorf("chart repository %s has no version %s of chart %s", repository, version, name)
	}
	found := index.Entries[name][at]
	archive, err := archiveURL(base, found.URLs[0])
	if err != nil {
		return nil, err
	}
	if text, err = download(ctx, archive); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if have := hex.EncodeToString(sum[:]); found.Digest != "" && found.Digest != have {
		return nil, fmt.Errorf("%s has the SHA-256 digest %s, and the index of its repository names %s: do not use it", archive, have,
			found.Digest)
	}
	return LoadArchive(bytes.NewReader(text))
}

// archiveURL is the address of an archive, which an index may give relative to the repository's own.
func archiveURL(base, reference string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	r, err := url.Parse(reference)
	if err != nil {
		return "", err
	}
	return b.ResolveReference(r).String(), nil
}

func download(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	q.Header.Set("User-Agent", "nexusctl")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDownload+1))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, answer.Status)
	}
	if len(text) > maxDownload {
		return nil, fmt.Errorf("%s has more than %d bytes", address, maxDownload)
	}
	return text, nil
}

// MergeValues puts the values of files, and then single ones such as replicaCount=1, over others, as helm does.
func MergeValues(under map[string]any, files, single []string) (map[string]any, error) {
	over, err := (&values.Options{ValueFiles: files, Values: single}).MergeValues(nil)
	if err != nil {
		return nil, err
	}
	return loader.MergeMaps(under, over), nil
}
