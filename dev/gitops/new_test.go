// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"path/filepath"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// created returns an object as the API server returns it before the operator processed it: with the defaults of its kind.
func created(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(read(t, file)), &crd); err != nil {
		t.Fatal(err)
	}
	version := crd.Spec.Versions[0]
	internal := apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal,
		nil); err != nil {
		t.Fatal(err)
	}
	schema, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{
		"apiVersion": crd.Spec.Group + "/" + version.Name, "kind": crd.Spec.Names.Kind,
		"metadata": map[string]any{"name": "x", "generation": int64(1)}, "spec": map[string]any{},
	}
	defaulting.Default(object, schema)
	return &unstructured.Unstructured{Object: object}
}

// An object without a status is current in the eyes of kstatus, so that Flux and Helm would stop waiting at once.
func TestHealth_NewObjectsOfEveryKindAreProgressing(t *testing.T) {
	files, err := filepath.Glob(crdFiles)
	if err != nil || len(files) < 16 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range files {
		object := created(t, file)
		if flux, err := status.Compute(object); err != nil || flux.Status != status.InProgressStatus {
			t.Errorf("%s: kstatus: %+v %v", object.GetKind(), flux, err)
		}
		if argo := judge(t, read(t, scriptFile), object); argo.Status != "Progressing" {
			t.Errorf("%s: Argo CD: %+v", object.GetKind(), argo)
		}
	}
}
