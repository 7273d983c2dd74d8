// SPDX-License-Identifier: Apache-2.0

// Package enact carries out the changes that package install finds: it prints them, makes one after the other, records them, and waits.
package enact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// APIVersion is that of the reports of changes as JSON or YAML.
const APIVersion = "install.nexus.ai/v1alpha1"

// ReadyTimeout limits by default the wait until an installation is ready.
const ReadyTimeout = 5 * time.Minute

// WriteNotes adds the notes of a report.
func WriteNotes(b *strings.Builder, notes []string) {
	for _, note := range notes {
		b.WriteString(console.Wrap("Note: "+status.Truncate(note, 1024)+".", ""))
	}
}

// report describes the findings and changes of a command for people.
type report interface{ Text() string }

// Reported makes the changes of a report. As text, it prints the report before them, so that the differences are seen also when
// one of them fails; in other formats it prints it after them.
func Reported(s *console.Console, output string, dryRun bool, r report, do func() error) error {
	if output == "text" {
		if err := console.PrintAs(s.Out, output, r, r.Text); err != nil {
			return err
		}
	}
	if !dryRun {
		if err := do(); err != nil {
			return err
		}
	}
	if output == "text" {
		return nil
	}
	return console.PrintAs(s.Out, output, r, r.Text)
}

// Recorded makes one change after the other, reports them, and takes it over into the ledger. An interruption ends it between two changes,
// and cuts none off, so that the changes made are known.
func Recorded(ctx context.Context, s *console.Console, ledger *install.Ledger, changes []install.Change) error {
	var changed []string
	done := &doneChanges{say: s.Say}
	defer done.flush()
	for i, c := range changes {
		if ctx.Err() != nil {
			return &exit.Interruption{Changed: changed, Left: len(changes) - i}
		}
		if err := makeChange(ctx, c); err != nil {
			return exit.DeniedFirst(fmt.Errorf("%s: %w; %d of %d changes were made; run the command again to go on", c.Object, ExplainConflict(err),
				i, len(changes)))
		}
		if ledger != nil {
			ledger.Done(c)
		}
		changed = append(changed, c.Object)
		done.add(c)
	}
	return nil
}

// PlanRecorded records in the ledger the objects that changes are about to create. Without changes it writes nothing.
func PlanRecorded(ctx context.Context, ledger *install.Ledger, changes []install.Change) error {
	if len(changes) == 0 {
		return nil
	}
	err := ledger.Plan(ctx, changes)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("another nexusctl is at work on this installation: run the command again when it is done: %w", err)
	}
	return err
}

// SaveLedger saves the changes made, also after an interruption.
func SaveLedger(ctx context.Context, ledger *install.Ledger) error {
	if !ledger.Exists() {
		return nil
	}
	saving, cancel := exit.Uncut(ctx, PatchTimeout)
	defer cancel()
	return ledger.Save(saving)
}

// makeChange makes a change, again after a failure that passes. An interruption does not cut it off.
func makeChange(ctx context.Context, c install.Change) error {
	doing, cancel := exit.Uncut(ctx, cmp.Or(c.Limit, PatchTimeout))
	defer cancel()
	for {
		err := c.Do(doing)
		if _, passes := errors.AsType[*status.Retrying](err); !passes {
			return err
		}
		select {
		case <-doing.Done():
			return err
		case <-time.After(retryPause):
		}
	}
}

// retryPause is between two attempts of a call to AWS.
const retryPause = time.Second

// ListObjects passes every object of some kinds to a function. Kinds that are not served have none.
func ListObjects(ctx context.Context, c client.Client, kinds []schema.GroupVersionKind,
	take func(*metav1.PartialObjectMetadata, *unstructured.Unstructured), opts ...client.ListOption) error {
	for _, k := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(k)
		err := c.List(ctx, list, opts...)
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
			return fmt.Errorf("listing %s objects: %w", k.Kind, err)
		}
		for i := range list.Items {
			take(&list.Items[i], asObject(&list.Items[i], k))
		}
	}
	return nil
}

// asObject returns the object with only its metadata.
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

// KindOfDefinition is the kind that a definition defines, in its first version.
func KindOfDefinition(u *unstructured.Unstructured) (schema.GroupVersionKind, error) {
	group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
	name, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
	versions, _, err := unstructured.NestedSlice(u.Object, "spec", "versions")
	if err != nil || len(versions) == 0 {
		return schema.GroupVersionKind{}, fmt.Errorf("%s has no version: %w", u.GetName(), err)
	}
	version, _ := versions[0].(map[string]any)
	return schema.GroupVersionKind{Group: group, Version: fmt.Sprint(version["name"]), Kind: name}, nil
}

// NamesOf names the first objects of a list.
func NamesOf(objects []*unstructured.Unstructured) string {
	const most = 10
	var names []string
	for _, u := range objects {
		if len(names) == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(objects)-most)
		}
		names = append(names, console.TitleOf(u))
	}
	return strings.Join(names, ", ")
}

// ExplainConflict adds a remedy for fields that another tool has set, and for objects in deletion.
func ExplainConflict(err error) error {
	if ending, ok := errors.AsType[*install.EndingError](err); ok {
		return exit.Precondition(ending)
	}
	if apierrors.IsConflict(err) {
		return exit.Precondition(fmt.Errorf("%w: change these fields with the tool that has set them, or take them over with --force-conflicts", err))
	}
	return err
}
