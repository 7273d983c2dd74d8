// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// deleteFlags are those of delete.
type deleteFlags struct {
	full, yes, dryRun bool
	cascade           string
	timeout           time.Duration
}

// The values of --cascade.
const (
	cascadeDelete = "delete"
	cascadeOrphan = "orphan"
)

func (s *shared) deleteCommand() *cobra.Command {
	f := &deleteFlags{}
	cmd := &cobra.Command{
		Use:   "delete",
		Short: "Remove the operator; with --full, also what deploy created in AWS",
		Long: "delete removes the operator that nexusctl deploy installed: its Deployment and its rights. With --full it also removes the definitions, the\n" +
			"namespace, the role, the image repository and the OIDC provider, if deploy created them and nothing else needs them.\n" +
			"What existed before deploy stays. delete refuses to run while objects need the operator to be deleted, and names them:\n" +
			"--cascade=delete deletes these objects first, by their deletion policies, and --cascade=orphan leaves them, and what they\n" +
			"stand for, for the next installation.",
		Example: "  nexusctl delete --dry-run\n  nexusctl delete --yes\n  nexusctl delete --full --cascade=delete --yes --timeout 1h",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return deniedFirst(s.delete(cmd.Context(), f))
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.full, "full", false, "also remove the definitions, the namespace, and what deploy created in AWS")
	flags.StringVar(&f.cascade, "cascade", "", "what happens to objects that need the operator: delete or orphan; default: refuse")
	flags.BoolVar(&f.yes, "yes", false, "really remove; without it, or --dry-run, the command is refused")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait for objects to be deleted")
	return cmd
}

func (f *deleteFlags) check() error {
	switch {
	case f.timeout <= 0:
		return usage("--timeout: %s is not a duration above 0", f.timeout)
	case f.cascade != "" && f.cascade != cascadeDelete && f.cascade != cascadeOrphan:
		return usage("--cascade: %q is neither %s nor %s", f.cascade, cascadeDelete, cascadeOrphan)
	case f.full && f.cascade == cascadeOrphan:
		return usage("--cascade=orphan does not go with --full: with the definitions, all objects would be deleted")
	case !f.yes && !f.dryRun:
		return usage("add --yes to remove the operator, or --dry-run to see what would be removed")
	default:
		return nil
	}
}

// deleter holds what a removal has found.
type deleter struct {
	*shared
	flags  *deleteFlags
	client client.Client
	ledger *install.Ledger
	// objects are those that need the operator; all of them with --full.
	objects []*unstructured.Unstructured
	changes []install.Change
	notes   []string
}

func (s *shared) delete(ctx context.Context, f *deleteFlags) error {
	d, err := s.lookAtRemoval(ctx, f)
	if err != nil {
		return err
	}
	if err := d.print(); err != nil {
		return err
	}
	if len(d.objects) > 0 && f.cascade == "" {
		return precondition(fmt.Errorf("%d objects are there that only the operator can delete: %s; delete them first, or use --cascade=delete or --cascade=orphan", len(d.objects), namesOf(roots(d.objects))))
	}
	if f.dryRun {
		return nil
	}
	if f.cascade == cascadeDelete {
		if err := d.deleteObjects(ctx); err != nil {
			return err
		}
	}
	return d.remove(ctx)
}

// lookAtRemoval finds what is to be removed. It only reads.
func (s *shared) lookAtRemoval(ctx context.Context, f *deleteFlags) (*deleter, error) {
	d := &deleter{shared: s, flags: f}
	cfg, c, err := s.connect()
	if err != nil {
		return nil, err
	}
	d.client = c
	if d.ledger, err = install.ReadLedger(ctx, c, install.Namespace); err != nil {
		return nil, err
	}
	if !d.ledger.Exists() {
		return nil, d.notInstalled(ctx)
	}
	if d.objects, err = d.findObjects(ctx); err != nil {
		return nil, err
	}
	return d, d.lookAtRecords(ctx, cfg)
}

// lookAtRecords finds what is to be done about everything that deploy has created.
func (d *deleter) lookAtRecords(ctx context.Context, cfg *rest.Config) error {
	records := d.ledger.Records()
	for _, r := range slices.Backward(records) {
		if r.ARN == "" && r.Kind != "Namespace" && (d.flags.full || !r.IsDefinition()) {
			d.changes = append(d.changes, install.Objects{Client: d.client}.Remove(r))
		}
	}
	if !d.flags.full {
		return nil
	}
	if slices.ContainsFunc(records, func(r install.Record) bool { return r.ARN != "" }) {
		cloud, err := d.openCloud(ctx, cfg, d.client, "")
		if err != nil {
			return err
		}
		if err := d.lookAtAWS(ctx, cloud.account, records); err != nil {
			return err
		}
	}
	return d.lookAtNamespace(ctx, records)
}

// notInstalled says what to do about an operator that deploy did not install.
func (d *deleter) notInstalled(ctx context.Context) error {
	tool, err := install.InstalledBy(ctx, d.client)
	if err != nil {
		return err
	}
	if tool == "" {
		tool = "another tool, or is not there"
	}
	return precondition(fmt.Errorf("there is no ConfigMap %s/%s: the operator was installed by %s: remove it with that tool", install.Namespace, install.LedgerName, tool))
}

// findObjects lists the objects of the operator's kinds that would be stuck without it, or be lost with the definitions.
func (d *deleter) findObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	kinds, err := d.servedKinds()
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	err = d.list(ctx, kinds, func(m *metav1.PartialObjectMetadata, u *unstructured.Unstructured) {
		if d.flags.full || len(m.Finalizers) > 0 {
			out = append(out, u)
		}
	})
	return out, err
}

// list passes every object of some kinds to a function. Kinds that are not served have none.
func (d *deleter) list(ctx context.Context, kinds []schema.GroupVersionKind, take func(*metav1.PartialObjectMetadata, *unstructured.Unstructured), opts ...client.ListOption) error {
	for _, k := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(k)
		err := d.client.List(ctx, list, opts...)
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
			return fmt.Errorf("listing %s objects: %w", k.Kind, err)
		}
		for i := range list.Items {
			take(&list.Items[i], asObject(&list.Items[i], k))
		}
	}
	return nil
}

// asObject is what is known of an object from its metadata.
func asObject(m *metav1.PartialObjectMetadata, k schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k)
	u.SetNamespace(m.Namespace)
	u.SetName(m.Name)
	u.SetUID(m.UID)
	u.SetOwnerReferences(m.OwnerReferences)
	u.SetDeletionTimestamp(m.DeletionTimestamp)
	return u
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
		group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		versions, _, err := unstructured.NestedSlice(u.Object, "spec", "versions")
		if err != nil || len(versions) == 0 {
			return nil, fmt.Errorf("%s has no version: %w", u.GetName(), err)
		}
		version, _ := versions[0].(map[string]any)
		out = append(out, schema.GroupVersionKind{Group: group, Version: fmt.Sprint(version["name"]), Kind: name})
	}
	return out, nil
}

// lookAtAWS finds what is to be removed from the account: the role before its policies.
func (d *deleter) lookAtAWS(ctx context.Context, a *install.Account, records []install.Record) error {
	order := []string{":role/", ":policy/", ":oidc-provider/", ":repository/"}
	for _, part := range order {
		for _, r := range records {
			if !strings.Contains(r.ARN, part) {
				continue
			}
			changes, err := a.Remove(ctx, r)
			if elsewhere, ok := errors.AsType[*install.ElsewhereError](err); ok {
				return precondition(elsewhere)
			}
			if err != nil {
				return err
			}
			d.changes = append(d.changes, changes...)
		}
	}
	return nil
}

// lookAtNamespace removes the namespace if deploy created it and nothing of others is in it; otherwise the ledger alone.
func (d *deleter) lookAtNamespace(ctx context.Context, records []install.Record) error {
	i := slices.IndexFunc(records, func(r install.Record) bool { return r.Kind == "Namespace" })
	if i < 0 {
		return nil
	}
	others, err := d.othersInNamespace(ctx, records)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		d.notes = append(d.notes, fmt.Sprintf("namespace %s stays: others use it (%s)", install.Namespace, namesOf(others)))
		return nil
	}
	d.changes = append(d.changes, install.Objects{Client: d.client}.Remove(records[i]))
	return nil
}

// keptByKubernetes are the objects that every namespace has, and that Kubernetes keeps.
var keptByKubernetes = []string{"Event", "Lease", "Endpoints", "EndpointSlice", "ConfigMap kube-root-ca.crt", "ConfigMap " + install.LedgerName, "ServiceAccount default"}

// othersInNamespace lists the objects in the operator's namespace that neither deploy nor a controller created.
func (d *deleter) othersInNamespace(ctx context.Context, records []install.Record) ([]*unstructured.Unstructured, error) {
	kinds, err := d.namespacedKinds()
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	err = d.list(ctx, kinds, func(_ *metav1.PartialObjectMetadata, u *unstructured.Unstructured) {
		ours := slices.ContainsFunc(records, func(r install.Record) bool { return r.UID == u.GetUID() })
		kept := slices.Contains(keptByKubernetes, u.GetKind()) || slices.Contains(keptByKubernetes, u.GetKind()+" "+u.GetName())
		if !ours && !kept && metav1.GetControllerOf(u) == nil {
			out = append(out, u)
		}
	}, client.InNamespace(install.Namespace))
	return out, err
}

// namespacedKinds are the kinds whose objects are in namespaces and can be listed and deleted.
func (d *deleter) namespacedKinds() ([]schema.GroupVersionKind, error) {
	served, err := d.cluster.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	lists, err := served.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("asking for the kinds that may be in namespace %s: %w", install.Namespace, err)
	}
	var out []schema.GroupVersionKind
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range l.APIResources {
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") {
				out = append(out, gv.WithKind(r.Kind))
			}
		}
	}
	return out, nil
}

// print says what is to be removed.
func (d *deleter) print() error {
	var b strings.Builder
	if d.flags.cascade == cascadeDelete && len(d.objects) > 0 {
		b.WriteString(wrapText(fmt.Sprintf("%d objects are deleted first, by their deletion policies: %s.", len(d.objects), namesOf(roots(d.objects))), ""))
	}
	writeChanges(&b, d.changes, d.flags.dryRun)
	for _, note := range d.notes {
		b.WriteString(wrapText("Note: "+status.Truncate(note, 1024)+".", ""))
	}
	_, err := d.Out.Write([]byte(b.String()))
	return err
}

// roots are the objects that go with no other one.
func roots(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(u *unstructured.Unstructured) bool { return metav1.GetControllerOf(u) != nil })
}

// namesOf names the first objects of a list.
func namesOf(objects []*unstructured.Unstructured) string {
	const most = 10
	var names []string
	for _, u := range objects {
		if len(names) == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(objects)-most)
		}
		names = append(names, titleOfObject(u))
	}
	return strings.Join(names, ", ")
}

// deleteObjects deletes the objects without a controlling owner, and waits until the operator has removed all.
func (d *deleter) deleteObjects(ctx context.Context) error {
	for _, u := range roots(d.objects) {
		if u.GetDeletionTimestamp() != nil {
			continue
		}
		uid := u.GetUID()
		if err := d.client.Delete(ctx, u, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s: %w", titleOfObject(u), err)
		}
		d.say("%s: deletion requested", titleOfObject(u))
	}
	limited, cancel := context.WithTimeout(ctx, d.flags.timeout)
	defer cancel()
	left := d.objects
	err := d.waitUntil(ctx, limited, func(ctx context.Context) (done bool, err error) {
		left, err = d.findObjects(ctx)
		return len(left) == 0, err
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return &failure{code: exitTimeout, err: fmt.Errorf("after %s, %d objects are still being deleted, and the operator was not removed: %s; see nexusctl explain KIND/NAME, and run the command again",
			d.flags.timeout, len(left), namesOf(left))}
	}
	return err
}

// remove makes the changes. The operator's pods are gone before its rights are, so that it can end in order.
func (d *deleter) remove(ctx context.Context) (err error) {
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patchTimeout)
		defer cancel()
		err = errors.Join(err, d.ledger.Close(ending))
	}()
	limited, cancel := context.WithTimeout(ctx, d.flags.timeout)
	defer cancel()
	runs := func(c install.Change) bool { return c.Removes != nil && c.Removes.Kind == "Deployment" }
	slices.SortStableFunc(d.changes, func(x, y install.Change) int { return rankOf(runs(x)) - rankOf(runs(y)) })
	for _, c := range d.changes {
		if err := d.makeRecorded(ctx, d.ledger, []install.Change{c}); err != nil {
			return err
		}
		if runs(c) {
			if err := d.waitUntilGone(ctx, limited, *c.Removes); err != nil {
				return err
			}
		}
	}
	for _, c := range d.changes {
		if c.Removes != nil && c.Removes.ARN == "" {
			if err := d.waitUntilGone(ctx, limited, *c.Removes); err != nil {
				return err
			}
		}
	}
	d.say("The operator was removed.")
	return nil
}

func rankOf(first bool) int {
	if first {
		return 0
	}
	return 1
}

// waitUntilGone waits until an object is gone: of a workload, its pods have ended then.
func (d *deleter) waitUntilGone(ctx, limited context.Context, r install.Record) error {
	if r.UID == "" {
		return nil
	}
	err := d.waitUntil(ctx, limited, func(ctx context.Context) (bool, error) {
		there, err := install.Objects{Client: d.client}.IsThere(ctx, r)
		return !there, err
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return &failure{code: exitTimeout, err: fmt.Errorf("%s: is not gone within %s: see kubectl describe, and run the command again", r, d.flags.timeout)}
	}
	return err
}
