// SPDX-License-Identifier: Apache-2.0

package helmrelease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// labelDigest is the label of a release with the digest of its chart.
const labelDigest = "nexus.ai/chart-digest"

// maxHistory limits the revisions of a release that are kept, as helm does by default.
const maxHistory = 10

// abandonedAfter bounds the time of an operation on a release. helm and nexusctl end theirs earlier.
const abandonedAfter = 10 * time.Minute

// Releases reads and writes the releases of a namespace.
type Releases struct {
	cfg       *action.Configuration
	namespace string
}

// Open prepares to look at the releases of a namespace. It makes no request.
func Open(getter genericclioptions.RESTClientGetter, namespace string) (*Releases, error) {
	cfg := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := cfg.Init(getter, namespace, "secret"); err != nil {
		return nil, err
	}
	if c, ok := cfg.KubeClient.(*kube.Client); ok { // otherwise objects without a namespace would go into that of the kubeconfig
		c.Namespace = namespace
	}
	return &Releases{cfg: cfg, namespace: namespace}, nil
}

// Release is the last revision of a release.
type Release struct {
	// Version is that of its chart, Revision that of the release, and Status one of those of helm status.
	Version  string
	Revision int
	Status   string
	// Digest identifies the files of its chart; empty for a release that this package did not make.
	Digest string
	// Labels apply to the release itself; helm keeps them at an upgrade.
	Labels map[string]string
	// Values holds the values that were set.
	Values map[string]any
	// Manifest are its objects.
	Manifest string

	status common.Status
	since  time.Time
}

// Find returns a release; nil when there is none. Errors are those of the API server.
func (r *Releases) Find(name string) (*Release, error) {
	have, err := r.last(name)
	if have == nil || err != nil {
		return nil, err
	}
	out := &Release{Revision: have.Version, Labels: have.Labels, Digest: have.Labels[labelDigest], Values: have.Config,
		Manifest: have.Manifest}
	if have.Chart != nil && have.Chart.Metadata != nil {
		out.Version = have.Chart.Metadata.Version
	}
	if have.Info != nil {
		out.status, out.Status, out.since = have.Info.Status, have.Info.Status.String(), have.Info.LastDeployed
	}
	return out, nil
}

func (r *Releases) last(name string) (*release.Release, error) {
	found, err := r.cfg.Releases.Last(name)
	if errors.Is(err, driver.ErrReleaseNotFound) || errors.Is(err, driver.ErrNoDeployedReleases) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	have, ok := found.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("release %s/%s is of a kind that this version does not know", r.namespace, name)
	}
	return have, nil
}

// IsDeployed reports whether the last operation on the release has succeeded.
func (r *Release) IsDeployed() bool { return r.status == common.StatusDeployed }

// IsEnding reports whether the release is being uninstalled, or is kept only as history.
func (r *Release) IsEnding() bool {
	return r.status == common.StatusUninstalling || r.status == common.StatusUninstalled
}

// IsBusy reports whether another operation on the release may be running. One that began long ago was interrupted.
func (r *Release) IsBusy(now time.Time) bool {
	return r.status.IsPending() && now.Sub(r.since) < abandonedAfter
}

// Request describes the wanted state of a release.
type Request struct {
	Name   string
	Chart  *Chart
	Values map[string]any
	// Labels are set on the release itself, not on its objects.
	Labels map[string]string
	// Force takes over fields that another tool has set.
	Force bool
}

// labels returns the labels of the release, with the digest of the chart.
func (q Request) labels() map[string]string {
	out := map[string]string{labelDigest: q.Chart.Digest}
	for key, value := range q.Labels {
		out[key] = value
	}
	return out
}

// Install creates a release without its definitions. It does not wait until the objects are ready.
func (r *Releases) Install(ctx context.Context, q Request) error {
	do := action.NewInstall(r.cfg)
	do.ReleaseName, do.Namespace, do.Labels = q.Name, r.namespace, q.labels()
	do.SkipCRDs, do.WaitStrategy, do.ForceConflicts = true, kube.HookOnlyStrategy, q.Force
	_, err := do.RunWithContext(ctx, q.Chart.chart, q.Values)
	return r.settle(q.Name, err)
}

// Upgrade replaces chart and values of a release, also of one with a last operation that failed or was interrupted.
func (r *Releases) Upgrade(ctx context.Context, q Request) error {
	if err := r.settle(q.Name, nil); err != nil {
		return err
	}
	do := action.NewUpgrade(r.cfg)
	do.Namespace, do.Labels, do.MaxHistory = r.namespace, q.labels(), maxHistory
	do.ResetValues, do.SkipCRDs, do.WaitStrategy, do.ForceConflicts = true, true, kube.HookOnlyStrategy, q.Force
	_, err := do.RunWithContext(ctx, q.Name, q.Chart.chart, q.Values)
	return r.settle(q.Name, err)
}

// settle records an unfinished operation as failed, for instance because an answer was lost: helm refuses every operation on a release with
// a pending one.
func (r *Releases) settle(name string, err error) error {
	have, lookErr := r.last(name)
	if have == nil || lookErr != nil || have.Info == nil || !have.Info.Status.IsPending() {
		return err
	}
	have.SetStatus(common.StatusFailed, "the operation was interrupted")
	return errors.Join(err, r.cfg.Releases.Update(have))
}

// Uninstall deletes the objects of a release, and then its history. It is no error if there is none.
func (r *Releases) Uninstall(name string) error {
	do := action.NewUninstall(r.cfg)
	do.IgnoreNotFound, do.WaitStrategy, do.DeletionPropagation = true, kube.HookOnlyStrategy, "foreground"
	_, err := do.Run(name)
	return err
}
