// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/albcontroller"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// installation is the report of deploy.
type installation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Image      string `json:"image"`
	// Role is the ARN of the operator's role.
	Role string `json:"role"`
	// DryRun is true when the changes were not made.
	DryRun  bool             `json:"dryRun"`
	Changes []install.Change `json:"changes"`
	// Notes are remarks for people: limits, and steps that are left to them.
	Notes []string `json:"notes,omitempty"`
}

// deployFlags holds the flags of deploy.
type deployFlags struct {
	image, roleARN, cluster, output string
	replicas                        int
	scope                           permissions.Scope
	dryRun, export, force           bool
	// skipController leaves the load balancer controller out; chart and vpc are those of one that is installed.
	skipController bool
	chart          albcontroller.ChartSource
	vpc            string
	timeout        time.Duration
}

func (s *shared) deployCommand() *cobra.Command {
	f := &deployFlags{}
	cmd := &cobra.Command{
		Use:   "deploy",
		Short: "Install or upgrade the operator, with its role and its image repository in AWS",
		Long: "deploy creates what the operator needs in AWS: the image repository, the IAM OIDC provider of the cluster, and the operator's role with\n" +
			"the least rights. Then it applies the namespace " + install.Namespace + ", the definitions, the rights and the Deployment, and waits\n" +
			"until the operator is ready. In a cluster of EKS without a load balancer controller it installs that too, as nexusctl install-alb-controller\n" +
			"does. It prints the differences before each change. A second run finds nothing to change. What it created is recorded\n" +
			"in ConfigMap " + install.Namespace + "/" + install.LedgerName + ", so that nexusctl delete removes that and nothing else.\n" +
			"With --image and --role-arn it makes no call to AWS, and installs no load balancer controller.",
		Example: "  nexusctl deploy --dry-run\n  nexusctl deploy --name-prefix team- --operator-arg=--capability-namespaces=team-*\n  nexusctl deploy --image registry.example.com/nexus-operator:v1 --role-arn arn:aws:iam::123456789012:role/operator",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(f, s.deploy),
	}
	f.addSettings(cmd, s)
	flags := cmd.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would change, and change nothing")
	flags.BoolVar(&f.export, "export", false, "print the manifests, and change nothing")
	flags.DurationVar(&f.timeout, "timeout", enact.ReadyTimeout, "how long to wait until the operator is ready")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

// addSettings adds the flags that say what is installed.
func (f *deployFlags) addSettings(cmd *cobra.Command, s *shared) {
	flags := cmd.Flags()
	flags.StringVar(&f.image, "image", "", "container image of the operator; default: that of this version in the account's repository "+connection.DefaultRepository)
	flags.IntVar(&f.replicas, "replicas", 2, "number of pods; one leads, the others stand by")
	flags.StringVar(&f.roleARN, "role-arn", "", "ARN of a role to use as it is, instead of creating one")
	flags.StringVar(&f.scope.Role, "role", "NexusAIOperatorRole", "name of the operator's role, with which the names of its policies begin")
	flags.StringVar(&f.scope.NamePrefix, "name-prefix", "", "beginning of the names of all AWS resources that the operator may touch; default: every name")
	flags.StringVar(&f.scope.RolePath, "role-path", "", "path of all roles that the operator may touch, such as /teams/")
	flags.StringVar(&f.scope.Boundary, "permissions-boundary", "", "ARN of the permissions boundary without which the operator may give a role no permissions")
	flags.BoolVar(&f.scope.Adopt, "adopt", false, "let the operator put its tags on resources that it did not create, for AWSProviders with adoptableKinds")
	flags.StringSliceVar(&f.scope.AssumeRoles, "assume-roles", nil, "ARNs of the roles that AWSProviders name")
	flags.StringVar(&f.cluster, "cluster-name", "", "EKS cluster, asked for its issuer where the API server names none that AWS can reach (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringArrayVar(&s.OperatorArgs, "operator-arg", nil, "a flag that the operator is to run with, such as --operator-arg=--capability-namespaces=team-*; may be repeated")
	flags.BoolVar(&f.force, "force-conflicts", false, "take over fields that another tool has set")
	flags.BoolVar(&f.skipController, "skip-alb-controller", false, "install no AWS Load Balancer Controller, also where the cluster has none")
	addChartFlags(&f.chart, flags, "alb-")
	flags.StringVar(&f.vpc, "vpc-id", "", "ID of the cluster's network, for the AWS Load Balancer Controller; default: what EKS says of the cluster")
}

func (f *deployFlags) Check() error {
	switch {
	case f.timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	case f.replicas < 1:
		return exit.Usage("--replicas: %d is not above 0", f.replicas)
	case f.scope.Role == "":
		return exit.Usage("--role: the name is empty")
	default:
		return f.chart.Check()
	}
}

// deployer is one run of deploy, with its findings.
type deployer struct {
	*shared
	flags  *deployFlags
	cfg    *rest.Config
	client client.Client
	ledger *install.Ledger
	report installation

	inAWS, inCluster []install.Change
	// missing is the image if it was not pushed yet; empty when it is there, or in a registry that is not looked at.
	missing string
	objects []*unstructured.Unstructured
	// controller installs the load balancer controller; nil where that is left out.
	controller *albcontroller.Installer
}

func (s *shared) deploy(ctx context.Context, f *deployFlags) error {
	d, err := s.lookAtInstallation(ctx, f)
	if err != nil {
		return exit.DeniedFirst(err)
	}
	if f.export {
		return d.printManifests()
	}
	return enact.Reported(s.Console, f.output, f.dryRun, &d.report, func() error { return d.make(ctx) })
}

// lookAtInstallation finds what is to change. It only reads.
func (s *shared) lookAtInstallation(ctx context.Context, f *deployFlags) (*deployer, error) {
	d := &deployer{shared: s, flags: f, report: installation{APIVersion: enact.APIVersion, Kind: "Installation", Namespace: install.Namespace, Image: f.image, Role: f.roleARN,
		DryRun: f.dryRun, Changes: []install.Change{}}}
	o, err := s.OfflineOptions()
	if err != nil {
		return nil, err
	}
	if err := d.lookAtOperator(ctx); err != nil {
		return nil, err
	}
	if f.image == "" || f.roleARN == "" {
		f.scope.Types = o.Types
		if err := d.lookAtAWS(ctx); err != nil {
			return nil, err
		}
	}
	d.objects, err = install.Manifests(s.CRDs, install.Operator{Image: d.report.Image, Role: d.report.Role, Args: s.OperatorArgs, Env: map[string]string{"AWS_REGION": o.Region}, Replicas: f.replicas})
	if err != nil || f.export {
		return d, err
	}
	if d.inCluster, err = (install.Objects{Client: d.client, Force: f.force}).Apply(ctx, d.objects, d.ledger); err != nil {
		return nil, enact.ExplainConflict(err)
	}
	d.report.Changes = append(d.report.Changes, slices.Concat(d.inAWS, d.inCluster)...)
	return d, d.lookAtController(ctx)
}

// lookAtOperator finds what an earlier installation recorded, and refuses those that are not to be touched.
func (d *deployer) lookAtOperator(ctx context.Context) (err error) {
	if other := d.NamespaceOfOperator(); other != install.Namespace {
		return exit.Usage("--operator-namespace (OPERATOR_NAMESPACE): deploy installs into %s only; for %s use the chart, with helm install -n %s", install.Namespace, other, other)
	}
	if d.cfg, d.client, err = d.Connect(); err != nil {
		return err
	}
	if tool, err := install.InstalledBy(ctx, d.client); err != nil || tool != "" {
		return cmp.Or(err, exit.Precondition(fmt.Errorf("the operator in %s was installed by %s: upgrade it with that tool", install.Namespace, tool)))
	}
	d.ledger, err = install.ReadLedger(ctx, d.client, install.Namespace)
	return err
}

// lookAtAWS finds what is to change in the account.
func (d *deployer) lookAtAWS(ctx context.Context) error {
	cloud, err := d.OpenCloud(ctx, d.cfg, d.client, d.flags.cluster)
	if err != nil {
		return err
	}
	if err := d.lookAtImage(ctx, cloud.Account); err != nil || d.flags.roleARN != "" {
		return err
	}
	issuer, err := cloud.Issuer(ctx)
	if err != nil {
		return exit.Precondition(err)
	}
	provider, changes, err := cloud.Account.OIDCProvider(ctx, issuer)
	if err != nil {
		return err
	}
	scope := d.flags.scope
	scope.Partition, scope.Account, scope.TypedTypes = cloud.Session.Partition, cloud.Session.Account, engine.TypesOf(nil, d.Kinds()).Kinds
	documents, notices, err := permissions.Named(permissions.NameOperator, d.Metas(), scope)
	if err != nil {
		return exit.Usage("%w; use a role that has the rights with --role-arn", err)
	}
	d.report.Notes = append(d.report.Notes, notices...)
	role, more, err := cloud.Account.Role(ctx, install.Role{Name: scope.Role, Of: "the operator", Description: "Nexus Operator in Kubernetes", Policies: documents,
		Trust: iampolicy.ServiceAccount{Provider: provider, Audience: kind.STSAudience, Namespace: install.Namespace, Name: connection.OperatorName}})
	if foreign, ok := errors.AsType[*install.ForeignError](err); ok {
		return exit.Precondition(foreign)
	}
	d.report.Role = role
	d.inAWS = slices.Concat(d.inAWS, changes, more)
	return err
}

// lookAtImage looks for the operator's image in the account's registry.
func (d *deployer) lookAtImage(ctx context.Context, a *install.Account) error {
	image, name := d.ImageOf(a, d.flags.image)
	if d.report.Image = name; name == "" {
		return exit.Usage("--image: this nexusctl was built without a version: name the image")
	}
	if image == nil {
		return nil
	}
	changes, there, err := a.Repository(ctx, *image)
	if err != nil {
		return err
	}
	d.inAWS = append(d.inAWS, changes...)
	if len(changes) == 0 {
		if recorded, err := a.RecordRepository(ctx, d.ledger, image.Repository); err != nil {
			return err
		} else if recorded != nil {
			d.inAWS = append(d.inAWS, *recorded)
		}
	}
	if !there {
		d.missing = d.report.Image
		d.report.Notes = append(d.report.Notes, "the image "+d.missing+" is not there yet; the operator is installed after it was pushed")
	}
	return nil
}

// lookAtController finds what is to change for load balancers, in a cluster that has no controller for them.
func (d *deployer) lookAtController(ctx context.Context) error {
	if served, err := d.servesIngresses(ctx); err != nil || served {
		return err
	}
	f := d.flags
	if f.skipController || f.image != "" && f.roleARN != "" || d.EKSCluster(f.cluster) == "" {
		d.report.Notes = append(d.report.Notes, "no IngressClass is of the AWS Load Balancer Controller: capabilities with an Ingress get no address until nexusctl install-alb-controller has installed it")
		return nil
	}
	b := albcontroller.New(d.shared.Connection, &albcontroller.Options{Chart: f.chart, Cluster: f.cluster, VPC: f.vpc, Role: permissions.DefaultControllerRole, Force: f.force, DryRun: f.dryRun,
		Timeout: f.timeout, ProviderFollows: f.roleARN == ""})
	unhealthy, err := b.Look(ctx)
	if err != nil {
		return fmt.Errorf("%s, which --skip-alb-controller leaves out: %w", albcontroller.Title, err)
	}
	d.report.Notes = append(d.report.Notes, b.Report.Notes...)
	if unhealthy != nil {
		d.report.Notes = append(d.report.Notes, unhealthy.Error())
	}
	if b.Chart != nil { // not another tool's
		d.controller, d.report.Changes = b, append(d.report.Changes, b.Report.Changes...)
	}
	return nil
}

// servesIngresses reports whether an IngressClass is of a controller for load balancers of AWS, or EKS Auto Mode is there to be one.
func (d *deployer) servesIngresses(ctx context.Context) (bool, error) {
	classes := &networkingv1.IngressClassList{}
	if err := d.client.List(ctx, classes); err != nil && !apierrors.IsForbidden(err) {
		return false, err
	}
	if slices.ContainsFunc(classes.Items, func(c networkingv1.IngressClass) bool {
		return c.Spec.Controller == albcontroller.IngressController || c.Spec.Controller == albcontroller.AutoModeController
	}) {
		return true, nil
	}
	auto, err := clusterfacts.HasAutoMode(ctx, d.client, d.AutoModeOf(d.flags.cluster))
	if auto {
		d.report.Notes = append(d.report.Notes, "no IngressClass is of EKS Auto Mode: capabilities with an Ingress get no address; "+albcontroller.AutoModeRemedy)
	}
	return auto, err
}

// make makes the changes and waits until the operator is ready.
func (d *deployer) make(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, enact.SaveLedger(ctx, d.ledger)) }()
	changes := slices.Concat(d.inAWS, d.inCluster)
	if len(changes) > 0 {
		if changes, err = d.prepare(ctx, changes); err != nil {
			return err
		}
	}
	if d.missing != "" {
		inAWS := slices.DeleteFunc(changes, func(c install.Change) bool { return !slices.ContainsFunc(d.inAWS, sameObject(c)) })
		if err := enact.Recorded(ctx, d.Console, d.ledger, inAWS); err != nil {
			return err
		}
		return exit.Precondition(fmt.Errorf("the image %s is not there: push it, for instance with nexusctl build operator, and run the command again; nothing was installed in the cluster", d.missing))
	}
	if err := enact.Recorded(ctx, d.Console, d.ledger, changes); err != nil {
		return err
	}
	if err := d.waitUntilReady(ctx); err != nil || d.controller == nil {
		return err
	}
	return d.controller.Make(ctx)
}

func sameObject(c install.Change) func(install.Change) bool {
	return func(o install.Change) bool { return o.Object == c.Object && o.Action == c.Action }
}

// prepare creates the namespace, and records in it what is about to be created. It returns the changes that are left.
func (d *deployer) prepare(ctx context.Context, changes []install.Change) ([]install.Change, error) {
	namespace := slices.IndexFunc(changes, func(c install.Change) bool { return c.Creates != nil && c.Creates.Kind == "Namespace" })
	if namespace >= 0 {
		if err := enact.Recorded(ctx, d.Console, d.ledger, changes[namespace:namespace+1]); err != nil {
			return nil, err
		}
		changes = slices.Delete(slices.Clone(changes), namespace, namespace+1)
	}
	recording, cancel := exit.Uncut(ctx, enact.PatchTimeout) // without a record, nothing would remove the namespace again
	defer cancel()
	return changes, enact.PlanRecorded(recording, d.ledger, changes)
}

// waitUntilReady waits for the definitions and the pods.
func (d *deployer) waitUntilReady(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, d.flags.timeout)
	defer cancel()
	for _, u := range d.objects {
		var err error
		switch u.GetKind() {
		case "CustomResourceDefinition":
			err = enact.WaitFor(ctx, limited, d.client, u, enact.NotEstablished)
		case "Deployment":
			err = enact.WaitFor(ctx, limited, d.client, u, enact.RolloutLeft)
		default:
			continue
		}
		if err := enact.NotReadyWithin(err, u, d.flags.timeout, "nexusctl status"); err != nil {
			return err
		}
	}
	d.Say("The operator in namespace %s is ready, with image %s.", install.Namespace, d.report.Image)
	return nil
}

// printManifests prints what deploy applies.
func (d *deployer) printManifests() error {
	var b bytes.Buffer
	for _, u := range d.objects {
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			return err
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	_, err := d.Out.Write(b.Bytes())
	return err
}

// Text describes an installation for people.
func (r installation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Image %s\nRole %s\n", r.Image, cmp.Or(r.Role, "none"))
	enact.Write(&b, r.Changes, r.DryRun)
	if len(r.Changes) == 0 {
		b.WriteString("The installation is unchanged.\n")
	}
	enact.WriteNotes(&b, r.Notes)
	return b.String()
}
