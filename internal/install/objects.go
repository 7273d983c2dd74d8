// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"

	"github.com/pmezard/go-difflib/difflib"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/manifests"
)

// Namespace is the one of the manifests.
const Namespace = "nexus-system"

// annotationRole is the annotation of a ServiceAccount that names its role:
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const annotationRole = "eks.amazonaws.com/role-arn"

// Operator describes an installation of the operator.
type Operator struct {
	// Image is the container image, and Role the ARN of the role of its ServiceAccount; an empty one sets none.
	Image, Role string
	// Args are additional flags of the operator, after those of the manifests.
	Args []string
	// Env are variables of the operator's container.
	Env map[string]string
	// Replicas is the number of pods.
	Replicas int
}

// Manifests returns the objects of an installation in the order of their creation: the namespace, the definitions, the rights, and the
// workloads.
func Manifests(definitions fs.FS, o Operator) ([]*unstructured.Unstructured, error) {
	crds, err := fs.Glob(definitions, "*.yaml")
	if err != nil {
		return nil, err
	}
	slices.Sort(crds)
	type file struct {
		in   fs.FS
		name string
	}
	files := []file{{manifests.Files, "00-namespace.yaml"}}
	for _, name := range crds {
		files = append(files, file{definitions, name})
	}
	files = append(files, file{manifests.Files, "rbac.yaml"}, file{manifests.Files, "deployment.yaml"})
	var out []*unstructured.Unstructured
	for _, f := range files {
		objects, err := decodeAll(f.in, f.name)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	for _, u := range out {
		if err := o.complete(u); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeAll reads the objects of a YAML file.
func decodeAll(files fs.FS, name string) ([]*unstructured.Unstructured, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	out, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// Decode reads the objects of YAML documents.
func Decode(text []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &u.Object); err != nil {
			return nil, err
		}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}

// complete sets the fields that differ between installations in an object of the manifests.
func (o Operator) complete(u *unstructured.Unstructured) error {
	switch {
	case u.GetKind() == "ServiceAccount" && o.Role != "":
		u.SetAnnotations(map[string]string{annotationRole: o.Role})
	case u.GetKind() == "Deployment":
		return o.completeDeployment(u)
	}
	return nil
}

func (o Operator) completeDeployment(u *unstructured.Unstructured) error {
	if err := unstructured.SetNestedField(u.Object, int64(o.Replicas), "spec", "replicas"); err != nil {
		return err
	}
	containers, _, err := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		return fmt.Errorf("the Deployment of the manifests has %d containers: %w", len(containers), err)
	}
	container, _ := containers[0].(map[string]any)
	container["image"] = o.Image
	args, _ := container["args"].([]any)
	for _, arg := range o.Args {
		args = append(args, arg)
	}
	container["args"] = args
	env, _ := container["env"].([]any)
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		env = append(env, map[string]any{"name": name, "value": o.Env[name]})
	}
	container["env"] = env
	return unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers")
}

// Objects lists the objects of an installation in a cluster.
type Objects struct {
	Client client.Client
	// Force takes over fields that another tool has set.
	Force bool
}

// Apply compares the wanted objects with the cluster, and returns the necessary changes. Errors are those of the API server; where another
// tool has set a field, it is a conflict.
func (o Objects) Apply(ctx context.Context, want []*unstructured.Unstructured, l *Ledger) ([]Change, error) {
	var changes []Change
	for _, u := range want {
		have := recordOf(u).object()
		err := o.Client.Get(ctx, client.ObjectKeyFromObject(u), have)
		switch {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			changes = append(changes, o.create(u))
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", recordOf(u), err)
		case have.GetDeletionTimestamp() != nil:
			return nil, &EndingError{Object: recordOf(u).String()}
		}
		change, err := o.differences(ctx, u, have)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", recordOf(u), err)
		}
		if change == nil {
			change = unconfirmed(have, l)
		}
		if change != nil {
			changes = append(changes, *change)
		}
	}
	return append(changes, o.surplus(want, l)...), nil
}

// EndingError says that an object of an earlier installation is still being deleted.
type EndingError struct{ Object string }

// Error implements error.
func (e *EndingError) Error() string {
	return e.Object + " is still being deleted: wait until it is gone, and run the command again"
}

// create applies an object that is not there. Its record is complete only if no other client wrote the object.
func (o Objects) create(u *unstructured.Unstructured) Change {
	record := recordOf(u)
	return Change{Object: record.String(), Action: "create", Creates: &record, do: func(ctx context.Context) error {
		applied, err := o.apply(ctx, u)
		if err == nil && onlyOurs(applied) {
			record.UID = applied.GetUID()
		}
		return err
	}}
}

func (o Objects) apply(ctx context.Context, u *unstructured.Unstructured, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	applied := u.DeepCopy()
	opts = append(opts, client.FieldOwner(creator))
	if o.Force {
		opts = append(opts, client.ForceOwnership)
	}
	return applied, o.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), opts...)
}

// onlyOurs reports whether only this package and Kubernetes' own controllers have written an object, apart from its status.
func onlyOurs(u *unstructured.Unstructured) bool {
	for _, m := range u.GetManagedFields() {
		if m.Subresource == "" && m.Manager != creator && m.Manager != "kube-controller-manager" {
			return false
		}
	}
	return len(u.GetManagedFields()) > 0
}

// recordAction names the change of something that is ours and has no complete record.
const recordAction = "record as created here"

// unconfirmed completes the record of an object if its creation was interrupted.
func unconfirmed(have *unstructured.Unstructured, l *Ledger) *Change {
	record := l.completed(have)
	if record == nil {
		return nil
	}
	return &Change{Object: record.String(), Action: recordAction, Creates: record, do: func(context.Context) error { return nil }}
}

// differences asks the API server for the changes that an apply would make.
func (o Objects) differences(ctx context.Context, want, have *unstructured.Unstructured) (*Change, error) {
	after, err := o.apply(ctx, want, client.DryRunAll)
	if err != nil {
		return nil, err
	}
	before := plain(have)
	if after = plain(after); reflect.DeepEqual(before, after) {
		return nil, nil
	}
	diff, err := Diff(before.Object, after.Object)
	return &Change{Object: recordOf(want).String(), Action: "update", Diff: diff, do: func(ctx context.Context) error {
		_, err := o.apply(ctx, want)
		return err
	}}, err
}

// plain returns an object without the fields that the API server and controllers keep about it.
func plain(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	delete(u.Object, "status")
	return u
}

// Diff shows how YAML differs before and after.
func Diff(have, want map[string]any) (string, error) {
	var text [2]string
	for i, content := range []map[string]any{have, want} {
		b, err := yaml.Marshal(content)
		if err != nil {
			return "", err
		}
		text[i] = string(b)
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines(text[0]), B: difflib.SplitLines(text[1]), FromFile: "now",
		ToFile: "after", Context: 2})
}

// surplus removes the objects of an earlier version that this one does not have. Definitions stay: with them every object of theirs would
// go. Releases are not objects.
func (o Objects) surplus(want []*unstructured.Unstructured, l *Ledger) []Change {
	var out []Change
	for _, r := range l.records {
		wanted := slices.ContainsFunc(want, func(u *unstructured.Unstructured) bool { return recordOf(u).names(r) })
		if !wanted && r.ARN == "" && r.Kind != definitionKind && r.Kind != ReleaseKind {
			out = append(out, o.Remove(r))
		}
	}
	return out
}

// definitionKind is that of definitions.
const definitionKind = "CustomResourceDefinition"

// IsDefinition reports whether a record names a CustomResourceDefinition.
func (r Record) IsDefinition() bool { return r.Kind == definitionKind }

// Remove deletes the object that a record proves. An object that was created again since stays, and so does one without a confirmed
// creation.
func (o Objects) Remove(r Record) Change {
	return Change{Object: r.String(), Action: "delete", Removes: &r, do: func(ctx context.Context) error {
		if r.UID == "" {
			return nil
		}
		err := o.Client.Delete(ctx, r.object(), client.Preconditions{UID: &r.UID}, client.PropagationPolicy("Foreground"))
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || meta.IsNoMatchError(err) {
			return nil
		}
		return err
	}}
}

// IsThere reports whether the object that a record proves still exists.
func (o Objects) IsThere(ctx context.Context, r Record) (bool, error) {
	u := r.object()
	err := o.Client.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil && u.GetUID() == r.UID, err
}

// InstalledBy names the tool that installed the operator of a namespace when it is not this one; "" when there is none.
func InstalledBy(ctx context.Context, c client.Client) (string, error) {
	d := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: wellknown.OperatorName}, d)
	if client.IgnoreNotFound(err) != nil {
		return "", err
	}
	if release := d.Annotations["meta.helm.sh/release-name"]; release != "" {
		return "Helm, as release " + release, nil
	}
	return "", nil
}
