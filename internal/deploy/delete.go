// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/albcontroller"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inhabitants"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// DeleteOptions holds the flags of delete.
type DeleteOptions struct {
	Full, Yes, DryRun bool
	Cascade           string
	Timeout           time.Duration
}

// The values of --cascade.
const (
	CascadeDelete = "delete"
	cascadeOrphan = "orphan"
)

// Check refuses invalid options.
func (f *DeleteOptions) Check() error {
	switch {
	case f.Timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	case f.Cascade != "" && f.Cascade != CascadeDelete && f.Cascade != cascadeOrphan:
		return exit.Usage("--cascade: %q is neither %s nor %s", f.Cascade, CascadeDelete, cascadeOrphan)
	case f.Full && f.Cascade == cascadeOrphan:
		return exit.Usage("--cascade=orphan does not go with --full: with the definitions, all objects would be deleted")
	case !f.Yes && !f.DryRun:
		return exit.Usage("add --yes to remove what the command names, or --dry-run to see what would be removed")
	default:
		return nil
	}
}

// deleter is one run of delete, with its findings.
type deleter struct {
	*connection.Connection
	enact.Removal
	flags *DeleteOptions
	// objects lists the objects that need the operator; all of them with --full.
	objects []*unstructured.Unstructured
	// controller is the load balancer controller that goes first; nil when it stays.
	controller *albcontroller.Removal
	notes      []string
}

// Delete removes the operator that Run installed, and prints its changes.
func Delete(ctx context.Context, s *connection.Connection, f *DeleteOptions) error {
	d, err := lookAtRemoval(ctx, s, f)
	if err != nil {
		return err
	}
	if err := d.print(); err != nil {
		return err
	}
	if len(d.objects) > 0 && f.Cascade == "" {
		return exit.Precondition(fmt.Errorf("%s there that only the operator can delete: %s; delete them first, or use --cascade=delete or --cascade=orphan", console.ObjectsAre(len(d.objects)), enact.NamesOf(roots(d.objects))))
	}
	if f.DryRun {
		return nil
	}
	if f.Cascade == CascadeDelete {
		if err := d.deleteObjects(ctx); err != nil {
			return err
		}
		if d, err = d.lookAgain(ctx); err != nil {
			return err
		}
	}
	return d.remove(ctx)
}

// lookAgain finds the objects to remove after objects were deleted: others may need the same objects as the deleted ones. It only reads,
// and prints notes that the first look did not know.
func (d *deleter) lookAgain(ctx context.Context) (*deleter, error) {
	flags := *d.flags
	flags.Cascade = "" // the remaining objects do not go with the capabilities
	now, err := lookAtRemoval(ctx, d.Connection, &flags)
	if err != nil {
		return nil, err
	}
	for _, note := range now.notes {
		if !slices.Contains(d.notes, note) {
			d.Say("Note: %s.", note)
		}
	}
	return now, nil
}

// lookAtRemoval finds the objects to remove. It only reads.
func lookAtRemoval(ctx context.Context, s *connection.Connection, f *DeleteOptions) (*deleter, error) {
	d := &deleter{Connection: s, flags: f, Removal: enact.Removal{Timeout: f.Timeout}}
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, err
	}
	d.Client = c
	if d.Ledger, err = LedgerForRemoval(ctx, c); err != nil {
		return nil, err
	}
	if !d.Ledger.Exists() && len(d.Ledger.Records()) == 0 {
		return nil, d.notInstalled(ctx)
	}
	if d.objects, err = d.findObjects(ctx); err != nil {
		return nil, err
	}
	return d, d.lookAtRecords(ctx, cfg)
}

// LedgerForRemoval reads the ledger, and completes it with the objects that a killed deploy has created. An operator that no ledger names
// was installed otherwise, and its namespace stays.
func LedgerForRemoval(ctx context.Context, c client.Client) (*install.Ledger, error) {
	l, err := install.ReadLedger(ctx, c, install.Namespace)
	if err != nil {
		return nil, err
	}
	if !l.Exists() {
		err := c.Get(ctx, client.ObjectKey{Namespace: install.Namespace, Name: connection.OperatorName}, &appsv1.Deployment{})
		if !apierrors.IsNotFound(err) {
			return l, err
		}
	}
	return l, l.Complete(ctx)
}

// lookAtRecords finds the changes to all objects that deploy has created.
func (d *deleter) lookAtRecords(ctx context.Context, cfg *rest.Config) error {
	records := d.Ledger.Records()
	for _, r := range slices.Backward(records) {
		if r.ARN == "" && r.Kind != "Namespace" && (d.flags.Full || !r.IsDefinition()) {
			d.Changes = append(d.Changes, install.Objects{Client: d.Client}.Remove(r))
		}
	}
	if !d.flags.Full {
		return nil
	}
	if err := d.lookAtController(ctx); err != nil {
		return err
	}
	if err := d.lookAtAWS(ctx, cfg, records); err != nil {
		return err
	}
	return d.lookAtNamespace(ctx, records)
}

// lookAtAWS finds the resources to remove from the account. Those of the controller come first, because its role needs the OIDC provider.
func (d *deleter) lookAtAWS(ctx context.Context, cfg *rest.Config, records []install.Record) error {
	if !enact.InAWS(records) && (d.controller == nil || !enact.InAWS(d.controller.Ledger.Records())) {
		return nil
	}
	cloud, err := d.OpenCloud(ctx, cfg, d.Client, "")
	if err != nil {
		return err
	}
	if d.controller != nil {
		if err := d.controller.LookAtAWS(ctx, cloud.Account); err != nil {
			return err
		}
	}
	changes, err := enact.RemovalsInAWS(ctx, cloud.Account, records)
	d.Changes = append(d.Changes, changes...)
	return err
}

// lookAtController finds whether the load balancer controller is ours, and needed by nothing that stays.
func (d *deleter) lookAtController(ctx context.Context) error {
	r, err := albcontroller.LookAtRemoval(ctx, d.Connection, d.Client, d.Timeout)
	if err != nil || !r.Ledger.Exists() {
		return err
	}
	users := r.Users
	if d.flags.Cascade == CascadeDelete {
		users = slices.DeleteFunc(slices.Clone(users), albcontroller.BelongsToCapability)
	}
	if len(users) > 0 {
		d.notes = append(d.notes,
			fmt.Sprintf("the AWS Load Balancer Controller stays: it is needed by others (%s); nexusctl delete-alb-controller removes it later",
				enact.NamesOf(users)))
		return nil
	}
	d.controller = r
	d.notes = append(d.notes, r.Notes...)
	return nil
}

// notInstalled returns the error for an operator that deploy did not install.
func (d *deleter) notInstalled(ctx context.Context) error {
	tool, err := install.InstalledBy(ctx, d.Client)
	if err != nil {
		return err
	}
	if tool == "" {
		tool = "another tool, or is not there"
	}
	return exit.Precondition(fmt.Errorf("there is no ConfigMap %s/%s: the operator was installed by %s: remove it with that tool",
		install.Namespace, install.LedgerName, tool))
}

// findObjects lists the objects of the operator's kinds that would be stuck without it, or be lost with the definitions.
func (d *deleter) findObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	kinds, err := d.servedKinds()
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	err = enact.ListObjects(ctx, d.Client, kinds, func(m *metav1.PartialObjectMetadata, u *unstructured.Unstructured) {
		if d.flags.Full || len(m.Finalizers) > 0 {
			out = append(out, u)
		}
	})
	return out, err
}

// servedKinds are the kinds of the operator's definitions.
func (d *deleter) servedKinds() ([]schema.GroupVersionKind, error) {
	objects, err := install.Manifests(d.CRDs, install.Operator{})
	if err != nil {
		return nil, err
	}
	var out []schema.GroupVersionKind
	for _, u := range objects {
		if u.GetKind() != "CustomResourceDefinition" {
			continue
		}
		k, err := enact.KindOfDefinition(u)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// lookAtNamespace removes the namespace if deploy created it and nothing of others is in it; otherwise the ledger and the signing key.
func (d *deleter) lookAtNamespace(ctx context.Context, records []install.Record) error {
	i := slices.IndexFunc(records, func(r install.Record) bool { return r.Kind == "Namespace" })
	if i < 0 {
		return d.lookAtSigningKey(ctx)
	}
	others, err := d.othersInNamespace(ctx, records)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		d.notes = append(d.notes, fmt.Sprintf("namespace %s stays: others use it (%s)", install.Namespace, enact.NamesOf(others)))
		return d.lookAtSigningKey(ctx)
	}
	d.Changes = append(d.Changes, install.Objects{Client: d.Client}.Remove(records[i]))
	return nil
}

// lookAtSigningKey removes the key of the operator, which no object needs any more, from a namespace that stays. A Secret of that name
// without the operator's label is of others.
func (d *deleter) lookAtSigningKey(ctx context.Context) error {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := d.Client.Get(ctx, client.ObjectKey{Namespace: install.Namespace, Name: wellknown.SigningKeySecret}, m)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if m.Labels["app.kubernetes.io/name"] == connection.OperatorName {
		d.Changes = append(d.Changes, install.Objects{Client: d.Client}.Remove(install.Record{
			APIVersion: "v1", Kind: "Secret", Namespace: m.Namespace, Name: m.Name, UID: m.UID}))
	}
	return nil
}

// isOfOperator reports whether an object in the operator's namespace is of the installation, and goes with the namespace: the ledger, and
// the key that the operator makes when it is first needed.
func isOfOperator(u *unstructured.Unstructured) bool {
	return u.GetKind() == "ConfigMap" && u.GetName() == install.LedgerName || u.GetKind() == "Secret" &&
		u.GetName() == wellknown.SigningKeySecret
}

// othersInNamespace lists the objects in the operator's namespace that neither deploy nor a controller created.
func (d *deleter) othersInNamespace(ctx context.Context, records []install.Record) ([]*unstructured.Unstructured, error) {
	kinds, err := d.namespacedKinds(ctx)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	err = enact.ListObjects(ctx, d.Client, kinds, func(_ *metav1.PartialObjectMetadata, u *unstructured.Unstructured) {
		ours := slices.ContainsFunc(records, func(r install.Record) bool { return r.UID == u.GetUID() })
		kept := inhabitants.IsFurniture(u.GroupVersionKind().GroupKind(), u.GetName()) || isOfOperator(u)
		if !ours && !kept && metav1.GetControllerOf(u) == nil {
			out = append(out, u)
		}
	}, client.InNamespace(install.Namespace))
	return out, err
}

// namespacedKinds are the kinds with objects that a person can create in a namespace.
func (d *deleter) namespacedKinds(ctx context.Context) ([]schema.GroupVersionKind, error) {
	served, err := d.Cluster.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	kinds, err := inhabitants.Kinds(ctx, discovery.ToDiscoveryInterfaceWithContext(served))
	if err != nil {
		return nil, fmt.Errorf("looking into namespace %s: %w", install.Namespace, err)
	}
	out := make([]schema.GroupVersionKind, len(kinds))
	for i, k := range kinds {
		out[i] = k.GroupVersionKind
	}
	return out, nil
}

// print shows the changes before they are made.
func (d *deleter) print() error {
	if d.flags.Cascade == CascadeDelete && len(d.objects) > 0 {
		text := console.Wrap(fmt.Sprintf("%s deleted first, by the deletion policy: %s.", console.ObjectsAre(len(d.objects)),
			enact.NamesOf(roots(d.objects))), "")
		if _, err := d.Out.Write([]byte(text)); err != nil {
			return err
		}
	}
	var first []install.Change
	if d.controller != nil {
		first = d.controller.Changes
	}
	return enact.Print(d.Console, slices.Concat(first, d.Changes), d.notes, d.flags.DryRun)
}

// roots are the objects that go with no other one.
func roots(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(u *unstructured.Unstructured) bool { return metav1.GetControllerOf(u) != nil })
}

// deleteObjects deletes the objects without a controlling owner, and waits until the operator has removed all.
func (d *deleter) deleteObjects(ctx context.Context) error {
	for _, u := range roots(d.objects) {
		if u.GetDeletionTimestamp() != nil {
			continue
		}
		uid := u.GetUID()
		if err := d.Client.Delete(ctx, u, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s: %w", console.TitleOf(u), err)
		}
		d.Say("%s: deletion requested", console.TitleOf(u))
	}
	limited, cancel := context.WithTimeout(ctx, d.flags.Timeout)
	defer cancel()
	left, reported := d.objects, map[types.UID]bool{}
	err := enact.WaitUntil(ctx, limited, func(ctx context.Context) (done bool, err error) {
		if left, err = d.findObjects(ctx); err != nil || len(left) == 0 {
			return err == nil, err
		}
		return false, d.reportRecoverable(ctx, reported)
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return &exit.Failure{Code: exit.CodeTimeout,
			Err: fmt.Errorf("after %s, %s still being deleted, and the operator was not removed: %s; see nexusctl explain KIND/NAME, and run the command again",
				d.flags.Timeout, console.ObjectsAre(len(left)), enact.NamesOf(left))}
	}
	return err
}

// reportRecoverable reports once for each capability with kept stores how long the deletion waits for them, and how to end that.
func (d *deleter) reportRecoverable(ctx context.Context, reported map[types.UID]bool) error {
	list := &nexusv1.NexusAICapabilityList{}
	if err := d.Client.List(ctx, list); err != nil {
		return fmt.Errorf("listing capabilities: %w", err)
	}
	for _, c := range list.Items {
		if !capability.IsWaiting(&c) || reported[c.UID] {
			continue
		}
		reported[c.UID] = true
		d.Say("NexusAICapability %s/%s: its stores are kept until %s, which ends sooner with nexusctl delete-now ncap/%s -n %s",
			c.Namespace, c.Name, c.Status.Recovery.Until.UTC().Format(time.RFC3339), c.Name, c.Namespace)
	}
	return nil
}

// remove makes the changes. The operator's pods are gone before its rights are, so that it can end in order.
func (d *deleter) remove(ctx context.Context) error {
	if d.controller != nil {
		if err := enact.Remove(ctx, d.Console, d.controller.Removal); err != nil {
			return err
		}
	}
	slices.SortStableFunc(d.Changes, func(x, y install.Change) int { return rankOf(enact.IsWorkload(x)) - rankOf(enact.IsWorkload(y)) })
	if err := enact.Remove(ctx, d.Console, d.Removal); err != nil {
		return err
	}
	d.Say("The operator was removed.")
	return nil
}

func rankOf(first bool) int {
	if first {
		return 0
	}
	return 1
}
