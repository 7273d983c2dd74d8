// SPDX-License-Identifier: Apache-2.0

package enginecrds

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// celBudget limits the cost of the rules of one object, far above their real cost.
const celBudget = 10_000_000

// Admit treats an object of an engine's kind like an API server that has the definitions: it drops unknown fields, fills in defaults and
// validates. It returns the object that would be stored, and the validation error or "". The object itself is left alone.
func Admit(tb testing.TB, object *unstructured.Unstructured) (*unstructured.Unstructured, string) {
	tb.Helper()
	schema := schemaOf(tb, object)
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		tb.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		tb.Fatal(err)
	}
	stored := object.DeepCopy()
	pruning.Prune(stored.Object, structural, true)
	defaulting.Default(stored.Object, structural)
	errs := validation.ValidateCustomResource(nil, stored.Object, validator)
	more, _ := cel.NewValidator(structural, true, celBudget).Validate(tb.Context(), nil, structural, stored.Object, nil, celBudget)
	if errs = append(errs, more...); len(errs) > 0 {
		return stored, errs.ToAggregate().Error()
	}
	return stored, ""
}

func schemaOf(tb testing.TB, object *unstructured.Unstructured) *apiextensions.JSONSchemaProps {
	tb.Helper()
	kind := object.GroupVersionKind()
	for _, engine := range append(Engines(), GatewayAPI, AWSLoadBalancer) {
		for _, u := range Definitions(tb, engine) {
			crd := &v1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd); err != nil {
				tb.Fatalf("%s: %v", u.GetName(), err)
			}
			if crd.Spec.Group != kind.Group || crd.Spec.Names.Kind != kind.Kind || crd.Spec.Versions[0].Name != kind.Version {
				continue
			}
			if namespaced := crd.Spec.Scope == v1.NamespaceScoped; namespaced != (object.GetNamespace() != "") {
				tb.Fatalf("%s is %s, and %s/%s is not", kind.Kind, crd.Spec.Scope, object.GetNamespace(), object.GetName())
			}
			schema := &apiextensions.JSONSchemaProps{}
			if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, schema,
				nil); err != nil {
				tb.Fatal(err)
			}
			return schema
		}
	}
	tb.Fatalf("%s has no definition here", kind)
	return nil
}
