// SPDX-License-Identifier: Apache-2.0

// Package upgrade checks that this version reads what the versions before it persisted: objects that a run of that version
// left in the API server lie in testdata, in a folder for each version. Files are never changed, only added.
package upgrade

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	capabilitycontroller "github.com/nexus-operator/nexus-operator/internal/controller/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// stored is an object of an earlier version.
type stored struct {
	object client.Object
	kind   string
	file   map[string]any
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, intentv1alpha1.AddToScheme, nexusv1.AddToScheme} {
		utilruntime.Must(add(s))
	}
	return s
}

// decode reads a file into the type that this version has for its kind; unknown fields are errors.
func decode(b []byte) (stored, error) {
	out := stored{}
	if err := yaml.Unmarshal(b, &out.file); err != nil {
		return out, err
	}
	kind := metav1.TypeMeta{}
	if err := yaml.Unmarshal(b, &kind); err != nil {
		return out, err
	}
	o, err := scheme().New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if err != nil {
		return out, err
	}
	out.kind, out.object = kind.Kind, o.(client.Object)
	return out, yaml.UnmarshalStrict(b, out.object)
}

// forEach runs a test over every object of every version.
func forEach(t *testing.T, check func(*testing.T, stored)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) < 16 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := decode(b)
			if err != nil {
				t.Fatal(err)
			}
			check(t, s)
		})
	}
}

// lost returns the paths of values that one value has and the other does not.
func lost(path string, have, want any) []string {
	switch w := want.(type) {
	case map[string]any:
		h, _ := have.(map[string]any)
		var out []string
		for key, value := range w {
			out = append(out, lost(path+"."+key, h[key], value)...)
		}
		return out
	case []any:
		h, _ := have.([]any)
		if len(h) != len(w) {
			return []string{path}
		}
		var out []string
		for i := range w {
			out = append(out, lost(path+"[]", h[i], w[i])...)
		}
		return out
	}
	if reflect.DeepEqual(have, want) || have == nil && slices.Contains([]any{"", false, nil}, want) {
		return nil
	}
	return []string{path}
}

func TestObjectsOfEarlierVersions_KeepEveryField(t *testing.T) {
	forEach(t, func(t *testing.T, s stored) {
		b, err := json.Marshal(s.object)
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		if fields := lost("", again, s.file); len(fields) > 0 {
			t.Errorf("lost or changed: %q", fields)
		}
	})
}

// definition holds what the API server makes of a CRD.
type definition struct {
	status validation.SchemaValidator
	shape  *structuralschema.Structural
}

// definitions returns the definitions of this version by kind.
func definitions(t *testing.T) map[string]definition {
	t.Helper()
	out := map[string]definition{}
	err := fs.WalkDir(crd.Bases, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(crd.Bases, path)
		if err != nil {
			return err
		}
		manifest, props := apiextensionsv1.CustomResourceDefinition{}, apiextensions.JSONSchemaProps{}
		if err := yaml.UnmarshalStrict(b, &manifest); err != nil {
			return err
		}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(manifest.Spec.Versions[0].Schema.OpenAPIV3Schema,
			&props, nil); err != nil {
			return err
		}
		made, status := definition{}, props.Properties["status"]
		if made.shape, err = structuralschema.NewStructural(&props); err != nil {
			return err
		}
		made.status, _, err = validation.NewSchemaValidator(&status)
		out[manifest.Spec.Names.Kind] = made
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestObjectsOfEarlierVersions_AreValid(t *testing.T) {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	all := definitions(t)
	forEach(t, func(t *testing.T, s stored) {
		if err := schemas.Validate(t.Context(), s.kind, s.object); err != nil {
			t.Error(err)
		}
		if errs := validation.ValidateCustomResource(nil, s.file["status"], all[s.kind].status); len(errs) > 0 {
			t.Errorf("status: %v", errs)
		}
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		if fields := pruning.PruneWithOptions(s.file, all[s.kind].shape, true, options); len(fields) > 0 {
			t.Errorf("the API server would remove %q", fields)
		}
	})
}

// Ownership and records of an AWS object decide whether its resource is taken for foreign, lost or created twice.
func TestAWSObjectsOfEarlierVersions_KeepTheirResources(t *testing.T) {
	seen := map[string]bool{}
	forEach(t, func(t *testing.T, s stored) {
		i := slices.IndexFunc(catalog.Kinds(), func(e engine.Entry) bool { return e.Name() == s.kind })
		if i < 0 {
			return
		}
		seen[s.kind] = true
		obj := s.object.(v1alpha1.Resource)
		record, err := engine.ReadIntent(obj.GetAnnotations(), string(obj.GetUID()))
		if err != nil || !record.MayHaveCreated() || record.Home != "aws/123456789012/ap-southeast-1" || record.At.IsZero() {
			t.Fatalf("record %+v, %v", record, err)
		}
		owner := engine.OwnerOf(catalog.Kinds()[i], obj, record, engine.Facts{Cluster: "x"})
		if !owner.Record.Known || !owner.HasFinalizer || owner.Record.CreatedAt.IsZero() || owner.Record.SyncedGeneration != obj.GetGeneration() {
			t.Errorf("owner %+v", owner)
		}
		for key := range owner.OwnerTags() {
			if !slices.Contains(owner.Written.TagKeys, key) {
				t.Errorf("the resource has no tag %s: %q", key, owner.Written.TagKeys)
			}
		}
		if !status.ReadyAt(obj.CommonStatus().Conditions, obj.GetGeneration()) {
			t.Errorf("not ready: %+v", obj.CommonStatus().Conditions)
		}
	})
	if len(seen) < 9 {
		t.Errorf("only %v are stored", seen)
	}
}

func TestCapabilitiesOfEarlierVersions_KeepTheirState(t *testing.T) {
	capabilities, children := 0, 0
	forEach(t, func(t *testing.T, s stored) {
		if c, ok := s.object.(*nexusv1.NexusAICapability); ok {
			capabilities++
			history := c.Status.History
			if !slices.Contains(c.Finalizers, capabilitycontroller.Finalizer) || !status.ReadyAt(c.Status.Conditions, c.Generation) ||
				len(history) == 0 || history[len(history)-1].Phase != nexusv1.PhaseRunning || len(c.Status.Resources) < 10 {
				t.Errorf("%v %+v", c.Finalizers, c.Status)
			}
		}
		if by := metav1.GetControllerOf(s.object); by != nil && by.Kind == "NexusAICapability" {
			children++
			if s.object.GetLabels()[wellknown.LabelCapabilityUID] != string(by.UID) || s.object.GetAnnotations()[apply.AnnotationHash] == "" ||
				s.object.GetAnnotations()[apply.AnnotationOwner] != "NexusAICapability/"+s.object.GetNamespace()+"/"+by.Name {
				t.Errorf("labels %v, annotations %v", s.object.GetLabels(), s.object.GetAnnotations())
			}
		}
	})
	if capabilities == 0 || children == 0 {
		t.Errorf("%d capabilities and %d generated objects are stored", capabilities, children)
	}
}

func TestStoredFields_AreCompared(t *testing.T) {
	want := map[string]any{"a": map[string]any{"b": []any{"x", map[string]any{"c": 1.0}}}, "empty": ""}
	if got := lost("", map[string]any{"a": map[string]any{"b": []any{"x", map[string]any{"c": 2.0}}}}, want); !slices.Equal(got,
		[]string{".a.b[].c"}) {
		t.Errorf("%q", got)
	}
	if got := lost("", map[string]any{"a": map[string]any{"b": []any{"x"}}}, want); !slices.Equal(got, []string{".a.b"}) {
		t.Errorf("%q", got)
	}
	unknown := bytes.NewBufferString("apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: S3Bucket\nstatus: {gone: x}\n")
	if _, err := decode(unknown.Bytes()); err == nil {
		t.Error("an unknown field is accepted")
	}
}
