// SPDX-License-Identifier: Apache-2.0

// Package albcontroller installs and removes the AWS Load Balancer Controller, with its role and its Helm release.
package albcontroller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// The AWS Load Balancer Controller: the name of its release, ServiceAccount and chart, and the namespace that its documentation
// installs it into: https://docs.aws.amazon.com/eks/latest/userguide/lbc-helm.html
const (
	Release   = "aws-load-balancer-controller"
	Namespace = "kube-system"
	Title     = "the AWS Load Balancer Controller"
)

// releaseLimit limits how long Helm may take for a release, without the wait for its pods.
const releaseLimit = 2 * time.Minute

// Report is the report of install-alb-controller.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// InstalledBy names who installed the controller: nexusctl, or the tool that is left to it.
	InstalledBy string `json:"installedBy"`
	// Chart and Version are those of the Helm chart, AppVersion that of the controller; empty for another's controller.
	Chart      string `json:"chart,omitempty"`
	Version    string `json:"version,omitempty"`
	AppVersion string `json:"appVersion,omitempty"`
	// Role is the ARN of the controller's role.
	Role string `json:"role,omitempty"`
	// DryRun is true when the changes were not made.
	DryRun  bool             `json:"dryRun"`
	Changes []install.Change `json:"changes"`
	// Notes are remarks for people: limits, and steps that are left to them.
	Notes []string `json:"notes,omitempty"`
}

// Options holds the flags of install-alb-controller.
type Options struct {
	Chart                               ChartSource
	Values, Set                         []string
	Cluster, VPC, Role, RoleARN, Output string
	DryRun, Force, BesideAutoMode       bool
	// ProviderFollows is true where the OIDC provider of the cluster is created before the controller.
	ProviderFollows bool
	Timeout         time.Duration
}

// Check refuses invalid options.
func (f *Options) Check() error {
	switch {
	case f.Timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	case f.Role == "":
		return exit.Usage("--role: the name is empty")
	default:
		return f.Chart.Check()
	}
}

// Installer is one installation of the controller, with its findings.
type Installer struct {
	*connection.Connection
	flags    *Options
	cfg      *rest.Config
	client   client.Client
	ledger   *install.Ledger
	releases *helmrelease.Releases
	Report   Report
	Chart    *helmrelease.Chart
	request  helmrelease.Request
	// before are the changes that the release needs first; release is that of the release, nil for none.
	before      []install.Change
	release     *install.Change
	definitions []*unstructured.Unstructured
}

// New returns an installation that has not looked at anything yet.
func New(s *connection.Connection, f *Options) *Installer {
	return &Installer{Connection: s, flags: f, Report: Report{APIVersion: enact.APIVersion, Kind: "LoadBalancerController",
		InstalledBy: "nexusctl", Role: f.RoleARN, DryRun: f.DryRun, Changes: []install.Change{}}}
}

// Install installs or upgrades the controller, and prints its changes.
func Install(ctx context.Context, s *connection.Connection, f *Options) error {
	b := New(s, f)
	judge, err := b.Look(ctx)
	if err != nil {
		return err
	}
	foreign := b.Chart == nil
	if err := enact.Reported(s.Console, f.Output, f.DryRun || foreign, &b.Report, func() error { return b.Make(ctx) }); err != nil {
		return err
	}
	return judge
}

// Look finds the changes to make. It only reads. judge is the fault of a controller that is left to another tool.
func (b *Installer) Look(ctx context.Context) (judge, err error) {
	if b.cfg, b.client, err = b.Connect(); err != nil {
		return nil, err
	}
	if b.ledger, err = install.ReadLedger(ctx, b.client, Namespace); err != nil {
		return nil, err
	}
	if b.releases, err = helmrelease.Open(b.Cluster, Namespace); err != nil {
		return nil, err
	}
	have, err := b.releases.Find(Release)
	if err != nil {
		return nil, fmt.Errorf("reading release %s/%s: %w", Namespace, Release, err)
	}
	if !isOurRelease(have, b.ledger) {
		foreign, err := findForeignController(ctx, b.client, have)
		if err != nil {
			return nil, err
		}
		if foreign != nil {
			b.Report.InstalledBy, b.Report.Role = foreign.by, ""
			b.Report.Notes = append(b.Report.Notes, foreign.seen)
			return foreign.judge(), nil
		}
		if err := b.refuseBesideAutoMode(ctx); err != nil {
			return nil, err
		}
	}
	return nil, b.lookAtOwn(ctx, have)
}

// refuseBesideAutoMode returns an error where EKS Auto Mode creates the load balancers, as deploy does without the controller there.
func (b *Installer) refuseBesideAutoMode(ctx context.Context) error {
	if b.flags.BesideAutoMode {
		return nil
	}
	auto, err := clusterfacts.HasAutoMode(ctx, b.client, b.AutoModeOf(b.flags.Cluster))
	if err != nil || !auto {
		return err
	}
	return exit.Precondition(fmt.Errorf("%s would be a second one in this cluster: %s; install it nevertheless with --beside-auto-mode", Title,
		AutoModeRemedy))
}

// lookAtOwn finds the changes to a controller that is ours, or is to be.
func (b *Installer) lookAtOwn(ctx context.Context, have *helmrelease.Release) (err error) {
	name := b.EKSCluster(b.flags.Cluster)
	if name == "" {
		return exit.Usage("--cluster-name: the name of the EKS cluster is not known: %s puts it into the tags of its load balancers", Title)
	}
	if b.Chart, err = b.flags.Chart.load(ctx, b.Connection); err != nil {
		return err
	}
	b.Report.Chart, b.Report.Version, b.Report.AppVersion = b.Chart.Name(), b.Chart.Version(), b.Chart.AppVersion()
	o, err := b.OfflineOptions()
	if err != nil {
		return err
	}
	region, vpc := o.AWS.Region, b.flags.VPC
	if vpc == "" || b.flags.RoleARN == "" {
		if region, vpc, err = b.lookAtAWS(ctx, name); err != nil {
			return err
		}
	}
	values, err := helmrelease.MergeValues(map[string]any{"clusterName": name, "region": region, "vpcId": vpc,
		"serviceAccount": map[string]any{
			"create": true, "name": Release, "annotations": map[string]any{capability.AnnotationRoleARN: b.Report.Role}}}, b.flags.Values,
		b.flags.Set)
	if err != nil {
		return exit.Usage("%w", err)
	}
	b.request = helmrelease.Request{Name: Release, Chart: b.Chart, Values: values, Labels: map[string]string{install.TagCreatedBy: "nexusctl"},
		Force: b.flags.Force}
	if err := b.lookAtDefinitions(ctx); err != nil {
		return err
	}
	if err := b.lookAtRelease(ctx, have); err != nil {
		return err
	}
	b.Report.Changes = append(b.Report.Changes, b.before...)
	if b.release != nil {
		b.Report.Changes = append(b.Report.Changes, *b.release)
	}
	return nil
}

// lookAtAWS finds the cluster's network, and the changes to the role.
func (b *Installer) lookAtAWS(ctx context.Context, cluster string) (region, vpc string, err error) {
	cloud, err := b.OpenCloud(ctx, b.cfg, b.client, cluster)
	if err != nil {
		return "", "", err
	}
	region, vpc = cloud.Session.Region, b.flags.VPC
	if vpc == "" {
		found, err := install.FindCluster(ctx, cloud.Session, cluster)
		if missing, ok := errors.AsType[*install.NoClusterError](err); ok {
			return "", "", exit.Precondition(fmt.Errorf("%w: correct --cluster-name or --region, or name the network with --vpc-id", missing))
		}
		if err != nil {
			return "", "", err
		}
		vpc = found.VPC
	}
	if b.flags.RoleARN != "" {
		return region, vpc, nil
	}
	provider, err := b.trustedProvider(ctx, cloud)
	if err != nil {
		return "", "", err
	}
	scope := permissions.Scope{Partition: cloud.Session.Partition, Region: region, Account: cloud.Session.Account}
	documents, err := permissions.LoadBalancerController(scope, permissions.Balancer{Cluster: cluster, VPC: vpc})
	if err != nil {
		return "", "", err
	}
	b.Report.Role, b.before, err = cloud.Account.Roles.Look(ctx,
		install.Role{Name: b.flags.Role, Of: Title, Description: "AWS Load Balancer Controller in Kubernetes", Policies: documents,
			Trust: iampolicy.ServiceAccount{Provider: provider, Audience: kind.STSAudience, Namespace: Namespace, Name: Release}})
	if foreign, ok := errors.AsType[*install.ForeignError](err); ok {
		return "", "", exit.Precondition(foreign)
	}
	return region, vpc, err
}

// trustedProvider returns the ARN of the cluster's OIDC provider, which exists or is created first.
func (b *Installer) trustedProvider(ctx context.Context, cloud *connection.Cloud) (string, error) {
	issuer, err := cloud.Issuer(ctx)
	if err != nil {
		return "", exit.Precondition(err)
	}
	provider, missing, err := cloud.Account.Providers.Look(ctx, issuer)
	if err == nil && len(missing) > 0 && !b.flags.ProviderFollows {
		err = exit.Precondition(fmt.Errorf("IAM does not accept the tokens of the cluster's ServiceAccounts yet (%s): run nexusctl deploy or nexusctl fix-irsa first", provider))
	}
	return provider, err
}

// lookAtDefinitions finds the changes to the definitions of the chart. Helm would never upgrade these.
func (b *Installer) lookAtDefinitions(ctx context.Context) error {
	for _, file := range b.Chart.Definitions() {
		objects, err := install.Decode(file)
		if err != nil {
			return fmt.Errorf("the definitions of chart %s: %w", b.Chart.Name(), err)
		}
		for _, u := range objects { // leftovers of generators of definitions
			unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
			unstructured.RemoveNestedField(u.Object, "status")
		}
		b.definitions = append(b.definitions, objects...)
	}
	changes, err := install.Objects{Client: b.client, Force: b.flags.Force}.Apply(ctx, b.definitions, b.ledger)
	if err != nil {
		return enact.ExplainConflict(err)
	}
	b.before = append(b.before, changes...)
	return nil
}

// releaseRecord names the release in the ledger.
func releaseRecord() install.Record {
	return install.Record{APIVersion: install.ReleaseVersion, Kind: install.ReleaseKind, Namespace: Namespace, Name: Release}
}

// isOurRelease reports whether both proofs hold: the ledger has the release, and the release has our label.
func isOurRelease(have *helmrelease.Release, l *install.Ledger) bool {
	return have != nil && have.Labels[install.TagCreatedBy] == "nexusctl" && slices.Contains(l.Records(), releaseRecord())
}

// lookAtRelease finds the changes to the release.
func (b *Installer) lookAtRelease(ctx context.Context, have *helmrelease.Release) error {
	record := releaseRecord()
	change := install.Change{Object: record.String(), Creates: &record, Limit: releaseLimit}
	chart := b.Chart.Name() + " " + b.Chart.Version()
	if have == nil {
		change.Action = "install chart " + chart
		change = change.Doing(func(ctx context.Context) error { return b.releases.Install(ctx, b.request) })
		b.release = &change
		return nil
	}
	switch {
	case have.IsEnding():
		return exit.Precondition(fmt.Errorf("%s is %s: end that with nexusctl delete-alb-controller, and run the command again", record,
			have.Status))
	case have.IsBusy(b.Clock.Now()):
		return exit.Precondition(fmt.Errorf("%s is %s: another helm or nexusctl is at work on it: run the command again when it is done", record,
			have.Status))
	}
	missing, err := b.missingObjects(ctx, have)
	if err != nil {
		return err
	}
	change.Diff, err = install.Diff(map[string]any{"chart": have.Version, "values": have.Values},
		map[string]any{"chart": b.Chart.Version(), "values": b.request.Values})
	if err != nil || have.IsDeployed() && have.Digest == b.Chart.Digest && len(missing) == 0 && sameValues(have.Values, b.request.Values) {
		return err
	}
	change.Action = "upgrade to chart " + chart
	if len(missing) > 0 {
		change.Action += ", which restores " + enact.NamesOf(missing)
	}
	change = change.Doing(func(ctx context.Context) error { return b.releases.Upgrade(ctx, b.request) })
	b.release = &change
	return nil
}

// sameValues compares values as they are stored, in JSON.
func sameValues(have, want map[string]any) bool {
	x, err := json.Marshal(have)
	y, err2 := json.Marshal(want)
	return err == nil && err2 == nil && string(x) == string(y)
}

// missingObjects lists the objects of a release that are gone.
func (b *Installer) missingObjects(ctx context.Context, have *helmrelease.Release) ([]*unstructured.Unstructured, error) {
	objects, err := objectsOfRelease(b.client, have)
	var out []*unstructured.Unstructured
	for _, u := range objects {
		err := b.client.Get(ctx, client.ObjectKeyFromObject(u), u.DeepCopy())
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			out = append(out, u)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", console.TitleOf(u), err)
		}
	}
	return out, err
}

// objectsOfRelease reads the objects of a release. Those that name no namespace are in that of the release.
func objectsOfRelease(c client.Client, r *helmrelease.Release) ([]*unstructured.Unstructured, error) {
	objects, err := install.Decode([]byte(r.Manifest))
	for _, u := range objects {
		if namespaced, err := c.IsObjectNamespaced(u); err == nil && namespaced && u.GetNamespace() == "" {
			u.SetNamespace(Namespace)
		}
	}
	return objects, err
}

// Make makes the changes and waits until the controller is ready.
func (b *Installer) Make(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, enact.SaveLedger(ctx, b.ledger)) }()
	if err := enact.PlanRecorded(ctx, b.ledger, b.Report.Changes); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, b.flags.Timeout)
	defer cancel()
	if err := enact.Recorded(ctx, b.Console, b.ledger, b.before); err != nil {
		return err
	}
	if b.release != nil {
		if err := b.makeRelease(ctx, limited); err != nil {
			return err
		}
	}
	return b.waitForPods(ctx, limited)
}

// makeRelease installs or upgrades the release when its definitions are served.
func (b *Installer) makeRelease(ctx, limited context.Context) error {
	for _, u := range b.definitions {
		if err := b.waitForReady(ctx, limited, u, enact.NotEstablished); err != nil {
			return err
		}
	}
	if err := b.forgetServedKinds(); err != nil {
		return err
	}
	return enact.Recorded(ctx, b.Console, b.ledger, []install.Change{*b.release})
}

// waitForPods waits until the Deployments of the release are ready.
func (b *Installer) waitForPods(ctx, limited context.Context) error {
	have, err := b.releases.Find(Release)
	if err != nil || have == nil {
		return cmp.Or(err, fmt.Errorf("%s is gone", releaseRecord()))
	}
	objects, err := objectsOfRelease(b.client, have)
	for _, u := range objects {
		if u.GetKind() != "Deployment" {
			continue
		}
		if err := b.waitForReady(ctx, limited, u, enact.RolloutLeft); err != nil {
			return err
		}
	}
	if err == nil {
		b.Say("The AWS Load Balancer Controller in namespace %s is ready, with chart %s %s.", Namespace, b.Report.Chart, b.Report.Version)
	}
	return err
}

// waitForReady waits for an object. When the time is over, the error names the missing part.
func (b *Installer) waitForReady(ctx, limited context.Context, u *unstructured.Unstructured,
	left func(*unstructured.Unstructured) (string, error)) error {
	return enact.NotReadyWithin(enact.WaitFor(ctx, limited, b.client, u, left), u, b.flags.Timeout, "kubectl describe")
}

// forgetServedKinds makes the next look at the kinds that are served see those of new definitions.
func (b *Installer) forgetServedKinds() error {
	served, err := b.Cluster.ToDiscoveryClient()
	if err != nil {
		return err
	}
	served.Invalidate()
	mapper, err := b.Cluster.ToRESTMapper()
	meta.MaybeResetRESTMapper(mapper)
	return err
}

// Text describes an installation of the controller for people.
func (r Report) Text() string {
	var b strings.Builder
	if r.Chart != "" {
		fmt.Fprintf(&b, "Chart %s %s, controller %s\nRole %s\n", r.Chart, r.Version, cmp.Or(r.AppVersion, "of an unknown version"),
			cmp.Or(r.Role, "none"))
	} else {
		b.WriteString(console.Wrap("The AWS Load Balancer Controller was installed by "+r.InstalledBy+", and is left to it.", ""))
	}
	enact.Write(&b, r.Changes, r.DryRun)
	if r.Chart != "" && len(r.Changes) == 0 {
		b.WriteString("The controller is unchanged.\n")
	}
	enact.WriteNotes(&b, r.Notes)
	return b.String()
}
