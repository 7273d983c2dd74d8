// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func schemas(t *testing.T) *Schemas {
	t.Helper()
	s, err := Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func table(edit func(*v1alpha1.DynamoDBTableSpec)) *v1alpha1.DynamoDBTable {
	o := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Name: "t", Namespace: "ns"}}
	o.Spec.ProviderRef.Name, o.Spec.TableName = "p", "orders"
	o.Spec.HashKey.Name, o.Spec.HashKey.Type = "id", "S"
	if edit != nil {
		edit(&o.Spec)
	}
	return o
}

func TestValidate(t *testing.T) {
	s := schemas(t)
	for _, c := range []struct {
		name, field, says string
		edit              func(*v1alpha1.DynamoDBTableSpec)
	}{
		{name: "a valid object"},
		{name: "schema", field: "spec.tableName", says: "at least 3", edit: func(s *v1alpha1.DynamoDBTableSpec) { s.TableName = "x" }},
		{name: "enum", field: "spec.hashKey.type", says: "S", edit: func(s *v1alpha1.DynamoDBTableSpec) { s.HashKey.Type = "X" }},
		{name: "CEL over fields", field: "spec", says: "deletionPolicy must be explicit",
			edit: func(s *v1alpha1.DynamoDBTableSpec) { s.AdoptionPolicy = v1alpha1.AdoptAlways }},
		{name: "CEL over map keys", field: "spec.tags", says: "aws:",
			edit: func(s *v1alpha1.DynamoDBTableSpec) { s.Tags = map[string]v1alpha1.TagValue{"aws:x": "1"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.Validate(t.Context(), "DynamoDBTable", table(c.edit))
			if c.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			got, ok := status.AsStalled(err)
			if !ok || got.Reason != status.ReasonInvalidSpec || got.Field != c.field || !strings.Contains(got.Message, c.says) {
				t.Errorf("got %v, want %s to say %q", err, c.field, c.says)
			}
		})
	}
}

// A key of a manifest without a value is a null. The API server drops it.
func TestProblems_ANullIsAnAbsentField(t *testing.T) {
	s := schemas(t)
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(table(nil))
	if err != nil {
		t.Fatal(err)
	}
	spec := o["spec"].(map[string]any)
	spec["tags"], spec["billingMode"], spec["deletionPolicy"] = nil, nil, nil
	u := &unstructured.Unstructured{Object: o}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("DynamoDBTable"))
	problems, err := s.Problems(t.Context(), u)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	if _, has := spec["tags"]; has {
		t.Errorf("the object has become %v", spec)
	}
}

func TestValidate_RefusesTwoEntriesOfOneKey(t *testing.T) {
	o := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "ns"}}
	o.Spec.ProviderRef.Name, o.Spec.RoleName, o.Spec.AssumeRolePolicyDocument = "p", "r", "{}"
	o.Spec.InlinePolicies = []v1alpha1.IAMInlinePolicy{{PolicyName: "one", PolicyDocument: "{}"}}
	if err := schemas(t).Validate(t.Context(), "IAMRole", o); err != nil {
		t.Fatal(err)
	}
	o.Spec.InlinePolicies = append(o.Spec.InlinePolicies, o.Spec.InlinePolicies[0])
	if got, ok := status.AsStalled(schemas(t).Validate(t.Context(), "IAMRole", o)); !ok || got.Field != "spec.inlinePolicies[1]" {
		t.Errorf("got %+v, want the second entry to be refused", got)
	}
}

// The library walks maps, whose order differs from run to run.
func TestValidate_NamesTheSameFieldFirst(t *testing.T) {
	s := schemas(t)
	o := table(func(s *v1alpha1.DynamoDBTableSpec) {
		s.TableName, s.HashKey.Type, s.BillingMode, s.DeletionPolicy, s.HashKey.Name = "x", "X", "X", "X", ""
	})
	want, ok := status.AsStalled(s.ValidateSchema("DynamoDBTable", o))
	if !ok {
		t.Fatalf("got %v", want)
	}
	for range 50 {
		if got, _ := status.AsStalled(s.ValidateSchema("DynamoDBTable", o)); got == nil || *got != *want {
			t.Fatalf("got %+v, want %+v as before", got, want)
		}
	}
}

func TestValidateSchema_LeavesOutTheRules(t *testing.T) {
	s := schemas(t)
	o := table(func(s *v1alpha1.DynamoDBTableSpec) { s.AdoptionPolicy = v1alpha1.AdoptAlways })
	if err := s.Validate(t.Context(), "DynamoDBTable", o); err == nil {
		t.Fatal("no rule is broken")
	}
	if err := s.ValidateSchema("DynamoDBTable", o); err != nil {
		t.Errorf("a rule is evaluated: %v", err)
	}
	o.Spec.TableName = "a b c"
	got, ok := status.AsStalled(s.ValidateSchema("DynamoDBTable", o))
	if !ok || got.Field != "spec.tableName" || got.Reason != status.ReasonInvalidSpec {
		t.Errorf("got %+v, want the pattern of the name", got)
	}
	if err := s.ValidateSchema("Unknown", o); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

func TestValidate_CompilesEveryKind(t *testing.T) {
	s := schemas(t)
	if len(s.kinds) < 14 {
		t.Fatalf("only %d kinds", len(s.kinds))
	}
	for kind := range s.kinds {
		if _, ok := status.AsStalled(s.Validate(t.Context(), kind, &v1alpha1.S3Bucket{})); !ok {
			t.Errorf("%s: an empty object of another kind is accepted, or the CRD does not compile", kind)
		}
	}
	if err := s.Validate(t.Context(), "Unknown", table(nil)); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

func TestLoad_RefusesOtherFiles(t *testing.T) {
	if _, err := Load(fstest.MapFS{"x.yaml": {Data: []byte("kind: ConfigMap\n")}}); err == nil {
		t.Error("a file without a CRD is accepted")
	}
}

func BenchmarkValidate(b *testing.B) {
	s, err := Load(crd.Bases)
	if err != nil {
		b.Fatal(err)
	}
	o := table(nil)
	for b.Loop() {
		if err := s.Validate(b.Context(), "DynamoDBTable", o); err != nil {
			b.Fatal(err)
		}
	}
}
