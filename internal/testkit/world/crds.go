// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// installCRDs applies those of the definitions that the API server did not begin with, and waits until all are served.
func (c *controlPlane) installCRDs(ctx context.Context, objects []*unstructured.Unstructured) error {
	crds := c.client.Resource(crdResource)
	found, err := crds.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	there := sets.New[string]()
	for i := range found.Items {
		there.Insert(found.Items[i].GetName())
	}
	for _, o := range objects {
		if there.Has(o.GetName()) {
			continue
		}
		if _, err := crds.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "test-bed", Force: true}); err != nil {
			return fmt.Errorf("installing %s: %w", o.GetName(), err)
		}
	}
	for _, o := range objects {
		err := poll(ctx, c.components.named(APIServer), func(ctx context.Context) error {
			live, err := crds.Get(ctx, o.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			return crdEstablished(live)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func crdEstablished(crd *unstructured.Unstructured) error {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if ok && condition["type"] == "Established" && condition["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("%s is not established: %v", crd.GetName(), conditions)
}

// ReadManifests reads the Kubernetes objects of a YAML or JSON file, or of every
// *.yaml file right in a folder, in the order of names. Empty documents are skipped.
func ReadManifests(path string) ([]*unstructured.Unstructured, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = fs.Glob(os.DirFS(path), "*.yaml"); err != nil {
			return nil, err
		}
		for i, f := range files {
			files[i] = filepath.Join(path, f)
		}
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		found, err := readManifestFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

func readManifestFile(path string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}
