// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
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
	albRelease   = "aws-load-balancer-controller"
	albNamespace = "kube-system"
	albTitle     = "the AWS Load Balancer Controller"
)

// releaseLimit limits how long Helm may take for a release, without the wait for its pods.
const releaseLimit = 2 * time.Minute

// controllerReport is the report of install-alb-controller.
type controllerReport struct {
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

// controllerFlags holds the flags of install-alb-controller.
type controllerFlags struct {
	chart                               chartSource
	values, set                         []string
	cluster, vpc, role, roleARN, output string
	dryRun, force, besideAutoMode       bool
	// providerFollows is true where the OIDC provider of the cluster is created before the controller.
	providerFollows bool
	timeout         time.Duration
}

func (s *shared) installControllerCommand() *cobra.Command {
	f := &controllerFlags{}
	cmd := &cobra.Command{
		Use:   "install-alb-controller",
		Short: "Install or upgrade the AWS Load Balancer Controller, with its role",
		Long: "install-alb-controller creates the role of the AWS Load Balancer Controller with the least rights, applies the definitions of its Helm\n" +
			"chart, installs or upgrades its release in namespace " + albNamespace + ", and waits until it is ready. It prints the differences before each\n" +
			"change. A second run finds nothing to change. What it created is recorded in ConfigMap " + albNamespace + "/" + install.LedgerName + ", so that\n" +
			"nexusctl delete-alb-controller removes that and nothing else. A controller that another tool installed, and that of EKS\n" +
			"Auto Mode, is only checked. Where EKS Auto Mode is enabled and has no IngressClass, the command refuses and says how to make\n" +
			"one. The values of the release are those of the command line: name them again at each run.",
		Example: "  nexusctl install-alb-controller --dry-run\n  nexusctl install-alb-controller --cluster-name production --set replicaCount=3\n" +
			"  nexusctl install-alb-controller --chart oci://registry.example.com/charts/aws-load-balancer-controller\n  nexusctl install-alb-controller --chart ./aws-load-balancer-controller-" + defaultChartVersion + ".tgz",
		Args: arguments(cobra.NoArgs),
		RunE: runChecked(f, s.installController),
	}
	flags := cmd.Flags()
	f.chart.addFlags(flags, "")
	flags.StringArrayVar(&f.set, "set", nil, "value of the chart, such as --set replicaCount=3; may be repeated")
	flags.StringArrayVarP(&f.values, "values", "f", nil, "YAML file with values of the chart; may be repeated")
	flags.StringVar(&f.cluster, "cluster-name", "", "EKS cluster whose load balancers these are (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringVar(&f.vpc, "vpc-id", "", "ID of the cluster's network; default: what EKS says of the cluster")
	flags.StringVar(&f.roleARN, "role-arn", "", "ARN of a role to use as it is, instead of creating one")
	flags.StringVar(&f.role, "role", permissions.DefaultControllerRole, "name of the controller's role, with which the names of its policies begin")
	flags.BoolVar(&f.force, "force-conflicts", false, "take over fields that another tool has set")
	flags.BoolVar(&f.besideAutoMode, "beside-auto-mode", false, "install the controller although EKS Auto Mode creates load balancers in the cluster")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would change, and change nothing")
	flags.DurationVar(&f.timeout, "timeout", defaultDeployTimeout, "how long to wait until the controller is ready")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func (f *controllerFlags) Check() error {
	switch {
	case f.timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	case f.role == "":
		return exit.Usage("--role: the name is empty")
	default:
		return f.chart.Check()
	}
}

// controllerInstaller is one installation of the controller, with its findings.
type controllerInstaller struct {
	*shared
	flags    *controllerFlags
	cfg      *rest.Config
	client   client.Client
	ledger   *install.Ledger
	releases *helmrelease.Releases
	report   controllerReport
	chart    *helmrelease.Chart
	request  helmrelease.Request
	// before are the changes that the release needs first; release is that of the release, nil for none.
	before      []install.Change
	release     *install.Change
	definitions []*unstructured.Unstructured
}

func (s *shared) controllerInstaller(f *controllerFlags) *controllerInstaller {
	return &controllerInstaller{shared: s, flags: f, report: controllerReport{APIVersion: repairAPIVersion, Kind: "LoadBalancerController",
		InstalledBy: "nexusctl", Role: f.roleARN, DryRun: f.dryRun, Changes: []install.Change{}}}
}

func (s *shared) installController(ctx context.Context, f *controllerFlags) error {
	b := s.controllerInstaller(f)
	judge, err := b.look(ctx)
	if err != nil {
		return err
	}
	foreign := b.chart == nil
	if err := enact.Reported(s.Console, f.output, f.dryRun || foreign, &b.report, func() error { return b.make(ctx) }); err != nil {
		return err
	}
	return judge
}

// look finds the changes to make. It only reads. judge is the fault of a controller that is left to another tool.
func (b *controllerInstaller) look(ctx context.Context) (judge, err error) {
	if b.cfg, b.client, err = b.Connect(); err != nil {
		return nil, err
	}
	if b.ledger, err = install.ReadLedger(ctx, b.client, albNamespace); err != nil {
		return nil, err
	}
	if b.releases, err = helmrelease.Open(b.shared.Cluster, albNamespace); err != nil {
		return nil, err
	}
	have, err := b.releases.Find(albRelease)
	if err != nil {
		return nil, fmt.Errorf("reading release %s/%s: %w", albNamespace, albRelease, err)
	}
	if !isOurRelease(have, b.ledger) {
		foreign, err := findForeignController(ctx, b.client, have)
		if err != nil {
			return nil, err
		}
		if foreign != nil {
			b.report.InstalledBy, b.report.Role = foreign.by, ""
			b.report.Notes = append(b.report.Notes, foreign.seen)
			return foreign.judge(), nil
		}
		if err := b.refuseBesideAutoMode(ctx); err != nil {
			return nil, err
		}
	}
	return nil, b.lookAtOwn(ctx, have)
}

// refuseBesideAutoMode returns an error where EKS Auto Mode creates the load balancers, as deploy does without the controller there.
func (b *controllerInstaller) refuseBesideAutoMode(ctx context.Context) error {
	if b.flags.besideAutoMode {
		return nil
	}
	auto, err := clusterfacts.HasAutoMode(ctx, b.client, b.AutoModeOf(b.flags.cluster))
	if err != nil || !auto {
		return err
	}
	return exit.Precondition(fmt.Errorf("%s would be a second one in this cluster: %s; install it nevertheless with --beside-auto-mode", albTitle, autoModeClass))
}

// lookAtOwn finds what is to change about a controller that is ours, or is to be.
func (b *controllerInstaller) lookAtOwn(ctx context.Context, have *helmrelease.Release) (err error) {
	name := b.EKSCluster(b.flags.cluster)
	if name == "" {
		return exit.Usage("--cluster-name: the name of the EKS cluster is not known: %s puts it into the tags of its load balancers", albTitle)
	}
	if b.chart, err = b.loadChart(ctx, b.flags.chart); err != nil {
		return err
	}
	b.report.Chart, b.report.Version, b.report.AppVersion = b.chart.Name(), b.chart.Version(), b.chart.AppVersion()
	o, err := b.OfflineOptions()
	if err != nil {
		return err
	}
	region, vpc := o.Region, b.flags.vpc
	if vpc == "" || b.flags.roleARN == "" {
		if region, vpc, err = b.lookAtAWS(ctx, name); err != nil {
			return err
		}
	}
	values, err := helmrelease.MergeValues(map[string]any{"clusterName": name, "region": region, "vpcId": vpc, "serviceAccount": map[string]any{
		"create": true, "name": albRelease, "annotations": map[string]any{capability.AnnotationRoleARN: b.report.Role}}}, b.flags.values, b.flags.set)
	if err != nil {
		return exit.Usage("%w", err)
	}
	b.request = helmrelease.Request{Name: albRelease, Chart: b.chart, Values: values, Labels: map[string]string{install.TagCreatedBy: "nexusctl"}, Force: b.flags.force}
	if err := b.lookAtDefinitions(ctx); err != nil {
		return err
	}
	if err := b.lookAtRelease(ctx, have); err != nil {
		return err
	}
	b.report.Changes = append(b.report.Changes, b.before...)
	if b.release != nil {
		b.report.Changes = append(b.report.Changes, *b.release)
	}
	return nil
}

// lookAtAWS finds the cluster's network, and what is to change about the role.
func (b *controllerInstaller) lookAtAWS(ctx context.Context, cluster string) (region, vpc string, err error) {
	cloud, err := b.OpenCloud(ctx, b.cfg, b.client, cluster)
	if err != nil {
		return "", "", err
	}
	region, vpc = cloud.Session.Region, b.flags.vpc
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
	if b.flags.roleARN != "" {
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
	b.report.Role, b.before, err = cloud.Account.Role(ctx, install.Role{Name: b.flags.role, Of: albTitle, Description: "AWS Load Balancer Controller in Kubernetes", Policies: documents,
		Trust: iampolicy.ServiceAccount{Provider: provider, Audience: kind.STSAudience, Namespace: albNamespace, Name: albRelease}})
	if foreign, ok := errors.AsType[*install.ForeignError](err); ok {
		return "", "", exit.Precondition(foreign)
	}
	return region, vpc, err
}

// trustedProvider returns the ARN of the cluster's OIDC provider, which exists or is created first.
func (b *controllerInstaller) trustedProvider(ctx context.Context, cloud *connection.Cloud) (string, error) {
	issuer, err := cloud.Issuer(ctx)
	if err != nil {
		return "", exit.Precondition(err)
	}
	provider, missing, err := cloud.Account.OIDCProvider(ctx, issuer)
	if err == nil && len(missing) > 0 && !b.flags.providerFollows {
		err = exit.Precondition(fmt.Errorf("IAM does not accept the tokens of the cluster's ServiceAccounts yet (%s): run nexusctl deploy or nexusctl fix-irsa first", provider))
	}
	return provider, err
}

// lookAtDefinitions finds what is to change about the definitions of the chart, which Helm would never upgrade.
func (b *controllerInstaller) lookAtDefinitions(ctx context.Context) error {
	for _, file := range b.chart.Definitions() {
		objects, err := install.Decode(file)
		if err != nil {
			return fmt.Errorf("the definitions of chart %s: %w", b.chart.Name(), err)
		}
		for _, u := range objects { // what generators of definitions leave in them
			unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
			unstructured.RemoveNestedField(u.Object, "status")
		}
		b.definitions = append(b.definitions, objects...)
	}
	changes, err := install.Objects{Client: b.client, Force: b.flags.force}.Apply(ctx, b.definitions, b.ledger)
	if err != nil {
		return enact.ExplainConflict(err)
	}
	b.before = append(b.before, changes...)
	return nil
}

// releaseRecord names the release in the ledger.
func releaseRecord() install.Record {
	return install.Record{APIVersion: install.ReleaseVersion, Kind: install.ReleaseKind, Namespace: albNamespace, Name: albRelease}
}

// isOurRelease reports whether both proofs hold: the ledger has the release, and the release has our label.
func isOurRelease(have *helmrelease.Release, l *install.Ledger) bool {
	return have != nil && have.Labels[install.TagCreatedBy] == "nexusctl" && slices.Contains(l.Records(), releaseRecord())
}

// lookAtRelease finds what is to change about the release.
func (b *controllerInstaller) lookAtRelease(ctx context.Context, have *helmrelease.Release) error {
	record := releaseRecord()
	change := install.Change{Object: record.String(), Creates: &record, Limit: releaseLimit}
	chart := b.chart.Name() + " " + b.chart.Version()
	if have == nil {
		change.Action = "install chart " + chart
		change = change.Doing(func(ctx context.Context) error { return b.releases.Install(ctx, b.request) })
		b.release = &change
		return nil
	}
	switch {
	case have.IsEnding():
		return exit.Precondition(fmt.Errorf("%s is %s: end that with nexusctl delete-alb-controller, and run the command again", record, have.Status))
	case have.IsBusy(b.Clock.Now()):
		return exit.Precondition(fmt.Errorf("%s is %s: another helm or nexusctl is at work on it: run the command again when it is done", record, have.Status))
	}
	missing, err := b.missingObjects(ctx, have)
	if err != nil {
		return err
	}
	change.Diff, err = install.Diff(map[string]any{"chart": have.Version, "values": have.Values}, map[string]any{"chart": b.chart.Version(), "values": b.request.Values})
	if err != nil || have.IsDeployed() && have.Digest == b.chart.Digest && len(missing) == 0 && sameValues(have.Values, b.request.Values) {
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
func (b *controllerInstaller) missingObjects(ctx context.Context, have *helmrelease.Release) ([]*unstructured.Unstructured, error) {
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
			u.SetNamespace(albNamespace)
		}
	}
	return objects, err
}

// make makes the changes and waits until the controller is ready.
func (b *controllerInstaller) make(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, enact.SaveLedger(ctx, b.ledger)) }()
	if err := enact.PlanRecorded(ctx, b.ledger, b.report.Changes); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, b.flags.timeout)
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
func (b *controllerInstaller) makeRelease(ctx, limited context.Context) error {
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
func (b *controllerInstaller) waitForPods(ctx, limited context.Context) error {
	have, err := b.releases.Find(albRelease)
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
		b.Say("The AWS Load Balancer Controller in namespace %s is ready, with chart %s %s.", albNamespace, b.report.Chart, b.report.Version)
	}
	return err
}

// waitForReady waits for an object. When the time is over, the error names the missing part.
func (b *controllerInstaller) waitForReady(ctx, limited context.Context, u *unstructured.Unstructured, left func(*unstructured.Unstructured) (string, error)) error {
	return enact.NotReadyWithin(enact.WaitFor(ctx, limited, b.client, u, left), u, b.flags.timeout, "kubectl describe")
}

// forgetServedKinds makes the next look at the kinds that are served see those of new definitions.
func (b *controllerInstaller) forgetServedKinds() error {
	served, err := b.shared.Cluster.ToDiscoveryClient()
	if err != nil {
		return err
	}
	served.Invalidate()
	mapper, err := b.shared.Cluster.ToRESTMapper()
	meta.MaybeResetRESTMapper(mapper)
	return err
}

// Text describes an installation of the controller for people.
func (r controllerReport) Text() string {
	var b strings.Builder
	if r.Chart != "" {
		fmt.Fprintf(&b, "Chart %s %s, controller %s\nRole %s\n", r.Chart, r.Version, cmp.Or(r.AppVersion, "of an unknown version"), cmp.Or(r.Role, "none"))
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
