// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	world.Main(m, world.Options{NoAWS: true, CRDs: []string{"../../config/crd/bases"}})
}

// admission judges objects as the API server does when they are created or changed.
type admission interface {
	// admit returns why an object may not be created.
	admit(o *unstructured.Unstructured) error
	// change returns why an object may not take the place of another one, which change creates.
	change(t *testing.T, from, to *unstructured.Unstructured) error
}

// newAdmission returns the rules of the definitions, evaluated in this process with the API server's own library; in a full run a
// real API server, which also judges objects of Kubernetes itself.
func newAdmission(t *testing.T) admission {
	t.Helper()
	if !extent.IsFull(t) {
		schemas, err := crdschema.Load(crd.Bases)
		if err != nil {
			t.Fatal(err)
		}
		return rules{schemas}
	}
	c, err := client.New(world.Shared(t).Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server{c}
}

// rules evaluates the schemas of the definitions.
type rules struct{ schemas *crdschema.Schemas }

func (r rules) admit(o *unstructured.Unstructured) error { return r.validate(o, nil) }

func (r rules) change(_ *testing.T, from, to *unstructured.Unstructured) error {
	return r.validate(to, from.Object)
}

func (r rules) validate(o *unstructured.Unstructured, old map[string]any) error {
	if !r.schemas.Has(o.GetKind()) {
		return nil
	}
	text, err := o.MarshalJSON() // the numbers of manifests that were read are all floats
	if err != nil {
		return err
	}
	o = &unstructured.Unstructured{}
	if err := errors.Join(o.UnmarshalJSON(text), r.schemas.Default(o)); err != nil {
		return err
	}
	wrong, err := r.schemas.Errors(context.Background(), o.GetKind(), o, old)
	if err != nil {
		return err
	}
	for _, problem := range validation.NameIsDNSSubdomain(o.GetName(), false) {
		wrong = append(wrong, fieldpath.Invalid(fieldpath.NewPath("metadata", "name"), o.GetName(), problem))
	}
	if len(wrong) > 0 {
		return apierrors.NewInvalid(o.GroupVersionKind().GroupKind(), o.GetName(), wrong)
	}
	if o.GetKind() != "NexusAICapability" {
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &nexusv1.NexusAICapability{}, true)
}

// isInvalid reports whether an error says that an object breaks a rule or has an unknown field.
func isInvalid(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || runtime.IsStrictDecodingError(err)
}

// server creates objects on a real API server, without keeping them and with unknown fields refused.
type server struct{ client client.Client }

func (s server) admit(o *unstructured.Unstructured) error {
	o = o.DeepCopy()
	o.SetUID("")
	if kind := o.GetKind(); kind != "Namespace" && kind != "SecurityIntent" {
		o.SetNamespace("default") // the only one that is sure to be there
	}
	return s.client.Create(context.Background(), o, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

func (s server) change(t *testing.T, from, to *unstructured.Unstructured) error {
	t.Helper()
	live := from.DeepCopy()
	if err := s.client.Create(context.Background(), live); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.client.Delete(context.Background(), live); err != nil {
			t.Error(err)
		}
	}()
	to = to.DeepCopy()
	to.SetResourceVersion(live.GetResourceVersion())
	return s.client.Update(context.Background(), to, client.DryRunAll)
}

func manifest(t fatal, c *nexusv1.NexusAICapability) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	delete(content, "status")
	o := &unstructured.Unstructured{Object: content}
	o.SetGroupVersionKind(nexusv1.GroupVersion.WithKind("NexusAICapability"))
	return o
}

// unseen lists mistakes that only the operator can see: it needs facts, arithmetic on quantities, or the bytes of a text.
var unseen = map[string]bool{
	"a region that does not exist": true, "an image in upper case": true, "an image with an empty tag": true, "an image with a scheme": true, "an image with a bad digest": true,
	"a table key of another region": true, "a bucket key of another region": true, "a table key of another account": true, "a bucket key of another account": true,
	"a schedule of five fields": true, "a schedule with two days": true, "a schedule with neither day": true, "a schedule at minute 60": true,
	"a schedule in month 13": true, "a schedule of words": true,
	"a path twice": true, "the path of the backend": true, "access to what does not exist": true, "access to the wrong field": true, "access to a secret left out": true, "access of the frontend": true,
	"a worker whose probe needs a port": true, "a percentage of a component": true,
	"a foreign group": true, "a volume of no size": true, "scaling by nothing": true,
	"rights beyond the administrator's boundary": true, "the operator's namespace": true, "another region than the provider's": true,
	"a key of many bytes": true, "a sort key of many bytes": true, "a time to live of many bytes": true,
	"no Gateway": true, "no class": true, "no zone's object": true,
	"a model without a boundary": true, "a profile of another region": true, "a profile of another account": true,
}

// The checks of the parts that repeat a CEL rule stay in Go, because the operator does not compile the rules. This test keeps the two the
// same: a mistake that the schema allows is refused by a rule as well, or only the operator can see it.
func TestAdmission_RefusesWhatThePartsRefuse(t *testing.T) {
	s := newAdmission(t)
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	byRule := 0
	for name, tc := range wrong {
		o := manifest(t, minimal(tc.edit))
		if err := schemas.Default(o); err != nil {
			t.Fatal(err)
		}
		if err := schemas.ValidateSchema(o.GetKind(), o); err != nil {
			if unseen[name] {
				t.Errorf("%s: the schema sees it: %v", name, err)
			}
			continue
		}
		err := s.admit(manifest(t, minimal(tc.edit)))
		if unseen[name] != (err == nil) || err != nil && !isInvalid(err) {
			t.Errorf("%s: admission says %v", name, err)
		}
		if err != nil {
			byRule++
		}
	}
	if byRule < 60 {
		t.Errorf("only %d mistakes are those of rules", byRule)
	}
}

func TestAdmissionAcceptsWhatTheOperatorAcceptsAndWhatItMakesOfIt(t *testing.T) {
	s := newAdmission(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		if err := s.admit(manifest(t, c)); err != nil {
			t.Fatalf("the capability: %v", err)
		}
		if rapid.IntRange(0, 9).Draw(t, "dice") > 0 {
			return // a sample is enough: there are 40 objects in one
		}
		for _, n := range compile(t, c, facts()).Nodes() {
			if err := s.admit(n.Object); err != nil && n.Unresolved == "" {
				t.Fatalf("%s: %v", n.ID, err)
			}
		}
	})
}

func TestAdmissionAcceptsTheExamplesAndWhatEveryVariantBecomes(t *testing.T) {
	s := newAdmission(t)
	for name, edit := range variants {
		c, f := example(t, "test-capability.yaml"), facts()
		edit(c, &f)
		if err := s.admit(manifest(t, c)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, n := range compile(t, c, f).Nodes() {
			if err := s.admit(n.Object); err != nil && n.Unresolved == "" {
				t.Errorf("%s: %s: %v", name, n.ID, err)
			}
		}
	}
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	samples, err := filepath.Glob("../../examples/aws/*.yaml")
	if err != nil || len(samples) < 9 {
		t.Fatalf("samples: %v, %v", samples, err)
	}
	for _, file := range append(files, samples...) {
		objects, err := world.ReadManifests(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if err := s.admit(o); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// Immutable fields stay so in every way: changed, set later, and removed.
func TestAdmissionKeepsTheIdentityOfACapability(t *testing.T) {
	s := newAdmission(t)
	first := minimal(withData, func(c *nexusv1.NexusAICapability) {
		c.UID = ""
		c.Namespace = "default"
		c.Spec.DataServices.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "a"}, {Name: "b", HashKey: &nexusv1.KeyAttribute{Name: "id", Type: "S"}}}
	})
	for name, tc := range map[string]struct {
		edit
		refused bool
	}{
		"nothing":                      {func(*nexusv1.NexusAICapability) {}, false},
		"the version":                  {func(c *nexusv1.NexusAICapability) { c.Spec.Version = "2" }, false},
		"another table":                {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "c"}} }), false},
		"the capabilityName":           {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "other" }, true},
		"the environment":              {func(c *nexusv1.NexusAICapability) { c.Spec.Environment = "prod" }, true},
		"a region where there is none": {func(c *nexusv1.NexusAICapability) { c.Spec.Region = "eu-west-1" }, true},
		"a key where there is none": {func(c *nexusv1.NexusAICapability) {
			c.Spec.DataServices.DynamoDB.Tables[0].HashKey = &nexusv1.KeyAttribute{Name: "id", Type: "S"}
		}, true},
		"no key where there is one": {func(c *nexusv1.NexusAICapability) { c.Spec.DataServices.DynamoDB.Tables[1].HashKey = nil }, true},
		"another key":               {func(c *nexusv1.NexusAICapability) { c.Spec.DataServices.DynamoDB.Tables[1].HashKey.Name = "pk" }, true},
	} {
		next := first.DeepCopy()
		tc.edit(next)
		err := s.change(t, manifest(t, first), manifest(t, next))
		if tc.refused != isInvalid(err) || !tc.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := capability.Validate(first, facts()); err != nil {
		t.Error(err)
	}
}
