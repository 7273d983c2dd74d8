// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// metadataProblems returns the values in an object's metadata that the API server refuses, and fields that metadata do not have.
func (s *Schemas) metadataProblems(u *unstructured.Unstructured) []error {
	content, _ := u.Object["metadata"].(map[string]any)
	typed := &metav1.ObjectMeta{}
	var out []error
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, typed, true)
	if strict, is := runtime.AsStrictDecodingError(err); is {
		for _, e := range strict.Errors() {
			out = append(out, status.Invalid("", "%s", strings.Replace(e.Error(), `"`, `"metadata.`, 1)))
		}
	} else if err != nil {
		return []error{status.Invalid("metadata", "%v", err)}
	}
	if s.Namespaced(u.GetKind()) && typed.Namespace == "" {
		typed.Namespace = metav1.NamespaceDefault // or that of the command line
	}
	if typed.Name == "" && typed.GenerateName != "" {
		typed.Name = typed.GenerateName + "xxxxx" // the API server adds five characters before it checks the name
	}
	for _, e := range apivalidation.ValidateObjectMeta(typed, s.Namespaced(u.GetKind()), apivalidation.NameIsDNSSubdomain,
		field.NewPath("metadata")) {
		out = append(out, invalidField(e))
	}
	return out
}
