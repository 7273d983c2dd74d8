// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LedgerName is the name of the ConfigMap with the records of an installation.
const LedgerName = "nexus-install-state"

// ledgerKey is the entry of the ConfigMap, and ledgerVersion that of its shape. Later releases read it.
const ledgerKey, ledgerVersion = "state.json", "install.nexus.ai/v1alpha1"

// Record is something that an installation created: in AWS by its ARN, in Kubernetes by kind, name and UID.
type Record struct {
	ARN        string `json:"arn,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	// UID is empty until the API server has confirmed the creation. Such a record proves nothing.
	UID types.UID `json:"uid,omitempty"`
}

// names reports whether two records name the same thing.
func (r Record) names(o Record) bool {
	r.UID, o.UID = "", ""
	return r == o
}

// String names the thing for people.
func (r Record) String() string {
	switch {
	case r.ARN != "":
		return r.ARN
	case r.Namespace != "":
		return r.Kind + " " + r.Namespace + "/" + r.Name
	default:
		return r.Kind + " " + r.Name
	}
}

// recordOf names a Kubernetes object.
func recordOf(u *unstructured.Unstructured) Record {
	return Record{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// object is the Kubernetes object that a record names.
func (r Record) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(r.APIVersion)
	u.SetKind(r.Kind)
	u.SetNamespace(r.Namespace)
	u.SetName(r.Name)
	return u
}

// ReleaseKind is the kind of records of Helm releases.
const ReleaseKind = "HelmRelease"

// ReleaseVersion stands for the API version of Helm releases: it is the type of the Secrets that Helm keeps them in.
const ReleaseVersion = "helm.sh/release.v1"

// Ledger are the records of an installation. It is kept in its namespace.
type Ledger struct {
	client  client.Client
	object  corev1.ConfigMap
	records []Record
}

// content is the ledger's shape in its ConfigMap.
type content struct {
	APIVersion string   `json:"apiVersion"`
	Records    []Record `json:"records"`
}

// ReadLedger reads the ledger of a namespace. It is empty when there is none. Errors are those of the API server, and that of
// a ledger that cannot be read.
func ReadLedger(ctx context.Context, c client.Client, namespace string) (*Ledger, error) {
	l := &Ledger{client: c}
	l.object.Namespace, l.object.Name = namespace, LedgerName
	err := c.Get(ctx, client.ObjectKeyFromObject(&l.object), &l.object)
	if apierrors.IsNotFound(err) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	var have content
	err = json.Unmarshal([]byte(l.object.Data[ledgerKey]), &have)
	if err == nil && have.APIVersion != ledgerVersion {
		err = fmt.Errorf("its version is %q and not %s", have.APIVersion, ledgerVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s cannot be read: %w: use the nexusctl that wrote it, or delete the ConfigMap and remove by hand what it names", namespace, LedgerName, err)
	}
	l.records = have.Records
	return l, nil
}

// Exists reports whether an installation has written the ledger.
func (l *Ledger) Exists() bool { return l.object.ResourceVersion != "" }

// Records returns the records of everything that the installation created, in the order of creation.
func (l *Ledger) Records() []Record { return slices.Clone(l.records) }

// find returns the index of the record with the same name; -1 when there is none.
func (l *Ledger) find(r Record) int { return slices.IndexFunc(l.records, r.names) }

// add records something, or completes its record.
func (l *Ledger) add(r Record) {
	if i := l.find(r); i >= 0 {
		l.records[i] = r
		return
	}
	l.records = append(l.records, r)
}

// home names the namespace of the ledger.
func (l *Ledger) home() Record {
	return Record{APIVersion: "v1", Kind: "Namespace", Name: l.object.Namespace}
}

// completed returns the record of an object with its UID if the creation was interrupted before the UID was recorded, and no other client
// has written the object. Without a ledger, this holds for its namespace: deploy creates it before it can save the ledger.
func (l *Ledger) completed(have *unstructured.Unstructured) *Record {
	record := recordOf(have)
	i := l.find(record)
	begun := i >= 0 && l.records[i].UID == "" || i < 0 && !l.Exists() && record == l.home()
	if !begun || !onlyOurs(have) {
		return nil
	}
	record.UID = have.GetUID()
	return &record
}

// Complete completes the records of the objects that a killed installation has created, so that it can be removed. It does not save. Errors
// are those of the API server.
func (l *Ledger) Complete(ctx context.Context) error {
	records := l.Records()
	if !l.Exists() {
		records = append(records, l.home())
	}
	for _, r := range records {
		if r.ARN != "" || r.Kind == ReleaseKind || r.UID != "" {
			continue
		}
		have := r.object()
		err := l.client.Get(ctx, client.ObjectKeyFromObject(have), have)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r, err)
		}
		if found := l.completed(have); found != nil {
			l.add(*found)
		}
	}
	return nil
}

// Plan records the objects that changes are about to create, before they do. Errors are those of the API server.
func (l *Ledger) Plan(ctx context.Context, changes []Change) error {
	for _, c := range changes {
		if c.Creates != nil {
			l.add(*c.Creates)
		}
	}
	return l.Save(ctx)
}

// Done updates the records with the creation or removal by a completed change. It does not save.
func (l *Ledger) Done(c Change) {
	if c.Creates != nil {
		l.add(*c.Creates)
	}
	if c.Removes != nil {
		if i := l.find(*c.Removes); i >= 0 {
			l.records = slices.Delete(l.records, i, i+1)
		}
	}
}

// Save writes the ledger where it differs. A conflict means that another installation wrote it since it was read.
func (l *Ledger) Save(ctx context.Context) error {
	text, err := json.MarshalIndent(content{APIVersion: ledgerVersion, Records: l.records}, "", "  ")
	if err != nil {
		return err
	}
	if l.object.Data[ledgerKey] == string(text) {
		return nil
	}
	l.object.Data = map[string]string{ledgerKey: string(text)}
	if !l.Exists() {
		return l.client.Create(ctx, &l.object, client.FieldOwner(creator))
	}
	return l.client.Update(ctx, &l.object, client.FieldOwner(creator))
}

// Close saves the ledger, or deletes it when it records nothing any more. A ledger that went with its namespace is no error.
func (l *Ledger) Close(ctx context.Context) error {
	if len(l.records) > 0 {
		return l.Save(ctx)
	}
	err := l.client.Delete(ctx, &l.object, client.Preconditions{UID: &l.object.UID})
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}
