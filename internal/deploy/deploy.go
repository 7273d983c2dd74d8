// SPDX-License-Identifier: Apache-2.0

// Package deploy installs and removes the operator, with its requirements in an AWS account and in a cluster.
package deploy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// Options holds the flags of deploy.
type Options struct {
	Image, RoleARN, Cluster, Output string
	Replicas                        int
	Scope                           permissions.Scope
	DryRun, Export, Force           bool
	// SkipController leaves the load balancer controller out; Chart and VPC are those of one that is installed.
	SkipController bool
	Chart          albcontroller.ChartSource
	VPC            string
	Timeout        time.Duration
}

// Check refuses invalid options.
func (f *Options) Check() error {
	switch {
	case f.Timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	case f.Replicas < 1:
		return exit.Usage("--replicas: %d is not above 0", f.Replicas)
	case f.Scope.Role == "":
		return exit.Usage("--role: the name is empty")
	default:
		return f.Chart.Check()
	}
}

// deployer is one run of deploy, with its findings.
type deployer struct {
	*connection.Connection
	flags  *Options
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

// Run installs or upgrades the operator, and prints its changes.
func Run(ctx context.Context, s *connection.Connection, f *Options) error {
	d, err := lookAtInstallation(ctx, s, f)
	if err != nil {
		return exit.DeniedFirst(err)
	}
	if f.Export {
		return d.printManifests()
	}
	return enact.Reported(s.Console, f.Output, f.DryRun, &d.report, func() error { return d.make(ctx) })
}

// lookAtInstallation finds the changes of an installation. It only reads.
func lookAtInstallation(ctx context.Context, s *connection.Connection, f *Options) (*deployer, error) {
	d := &deployer{Connection: s, flags: f, report: installation{APIVersion: enact.APIVersion, Kind: "Installation",
		Namespace: install.Namespace, Image: f.Image, Role: f.RoleARN,
		DryRun: f.DryRun, Changes: []install.Change{}}}
	o, err := s.OfflineOptions()
	if err != nil {
		return nil, err
	}
	if err := d.lookAtOperator(ctx); err != nil {
		return nil, err
	}
	if f.Image == "" || f.RoleARN == "" {
		f.Scope.Types = o.Guards.Types
		if err := d.lookAtAWS(ctx); err != nil {
			return nil, err
		}
	}
	d.objects, err = install.Manifests(s.CRDs,
		install.Operator{Image: d.report.Image, Role: d.report.Role, Args: s.OperatorArgs, Env: map[string]string{"AWS_REGION": o.AWS.Region},
			Replicas: f.Replicas})
	if err != nil || f.Export {
		return d, err
	}
	if d.inCluster, err = (install.Objects{Client: d.client, Force: f.Force}).Apply(ctx, d.objects, d.ledger); err != nil {
		return nil, enact.ExplainConflict(err)
	}
	d.report.Changes = append(d.report.Changes, slices.Concat(d.inAWS, d.inCluster)...)
	return d, d.lookAtController(ctx)
}

// lookAtOperator finds the records of an earlier installation, and refuses those that are not to be touched.
func (d *deployer) lookAtOperator(ctx context.Context) (err error) {
	if other := d.NamespaceOfOperator(); other != install.Namespace {
		return exit.Usage("--operator-namespace (OPERATOR_NAMESPACE): deploy installs into %s only; for %s use the chart, with helm install -n %s", install.Namespace, other, other)
	}
	if d.cfg, d.client, err = d.Connect(); err != nil {
		return err
	}
	if tool, err := install.InstalledBy(ctx, d.client); err != nil || tool != "" {
		return cmp.Or(err, exit.Precondition(fmt.Errorf("the operator in %s was installed by %s: upgrade it with that tool", install.Namespace,
			tool)))
	}
	d.ledger, err = install.ReadLedger(ctx, d.client, install.Namespace)
	return err
}

// lookAtAWS finds the changes in the account.
func (d *deployer) lookAtAWS(ctx context.Context) error {
	cloud, err := d.OpenCloud(ctx, d.cfg, d.client, d.flags.Cluster)
	if err != nil {
		return err
	}
	if err := d.lookAtImage(ctx, cloud.Account.Registry); err != nil || d.flags.RoleARN != "" {
		return err
	}
	issuer, err := cloud.Issuer(ctx)
	if err != nil {
		return exit.Precondition(err)
	}
	provider, changes, err := cloud.Account.Providers.Look(ctx, issuer)
	if err != nil {
		return err
	}
	scope := d.flags.Scope
	scope.Partition, scope.Account, scope.TypedTypes = cloud.Session.Partition, cloud.Session.Account, engine.TypesOf(nil, d.Kinds()).Kinds
	documents, notices, err := permissions.Named(permissions.NameOperator, d.Metas(), scope)
	if err != nil {
		return exit.Usage("%w; use a role that has the rights with --role-arn", err)
	}
	d.report.Notes = append(d.report.Notes, notices...)
	role, more, err := cloud.Account.Roles.Look(ctx,
		install.Role{Name: scope.Role, Of: "the operator", Description: "Nexus Operator in Kubernetes", Policies: documents,
			Trust: iampolicy.ServiceAccount{Provider: provider, Audience: kind.STSAudience, Namespace: install.Namespace,
				Name: connection.OperatorName}})
	if foreign, ok := errors.AsType[*install.ForeignError](err); ok {
		return exit.Precondition(foreign)
	}
	d.report.Role = role
	d.inAWS = slices.Concat(d.inAWS, changes, more)
	return err
}

// lookAtImage looks for the operator's image in the account's registry.
func (d *deployer) lookAtImage(ctx context.Context, r *install.Registry) error {
	image, name := d.ImageOf(r, d.flags.Image)
	if d.report.Image = name; name == "" {
		return exit.Usage("--image: this nexusctl was built without a version: name the image")
	}
	if image == nil {
		return nil
	}
	changes, there, err := r.Look(ctx, *image)
	if err != nil {
		return err
	}
	d.inAWS = append(d.inAWS, changes...)
	if len(changes) == 0 {
		if recorded, err := r.RecordRepository(ctx, d.ledger, image.Repository); err != nil {
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

// lookAtController finds the changes for load balancers, in a cluster that has no controller for them.
func (d *deployer) lookAtController(ctx context.Context) error {
	if served, err := d.servesIngresses(ctx); err != nil || served {
		return err
	}
	f := d.flags
	if f.SkipController || f.Image != "" && f.RoleARN != "" || d.EKSCluster(f.Cluster) == "" {
		d.report.Notes = append(d.report.Notes,
			"no IngressClass is of the AWS Load Balancer Controller: capabilities with an Ingress get no address until nexusctl install-alb-controller has installed it")
		return nil
	}
	b := albcontroller.New(d.Connection,
		&albcontroller.Options{Chart: f.Chart, Cluster: f.Cluster, VPC: f.VPC, Role: permissions.DefaultControllerRole, Force: f.Force,
			DryRun:  f.DryRun,
			Timeout: f.Timeout, ProviderFollows: f.RoleARN == ""})
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
	auto, err := clusterfacts.HasAutoMode(ctx, d.client, d.AutoModeOf(d.flags.Cluster))
	if auto {
		d.report.Notes = append(d.report.Notes, "no IngressClass is of EKS Auto Mode: capabilities with an Ingress get no address; "+
			albcontroller.AutoModeRemedy)
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

// prepare creates the namespace, and records in it the objects that are about to be created. It returns the changes that are left.
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
	limited, cancel := context.WithTimeout(ctx, d.flags.Timeout)
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
		if err := enact.NotReadyWithin(err, u, d.flags.Timeout, "nexusctl status"); err != nil {
			return err
		}
	}
	d.Say("The operator in namespace %s is ready, with image %s.", install.Namespace, d.report.Image)
	return nil
}

// printManifests prints the manifests that deploy applies.
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
