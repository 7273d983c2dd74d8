// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// typeProblems returns the values that the operator or AWS would refuse in the type and the properties of an AWSResource, as far as the
// bundled schemas tell. A type that they do not have may be newer than they are, unless it is nearly spelled as one that they have.
func (s *Validator) typeProblems(r *v1alpha1.AWSResource) ([]error, error) {
	b, err := s.Bundle()
	if err != nil {
		return nil, err
	}
	var out []error
	if malformed := documents.Check("spec.properties", r.Spec.Properties.Raw); malformed != nil {
		out = append(out, malformed)
	}
	t, err := awstypes.In(b, r.Spec.TypeName)
	if err != nil {
		return nil, err
	}
	if t == nil {
		if meant := crdschema.ClosestOf(r.Spec.TypeName, b.Types); meant != "" {
			out = append(out, status.Invalid("spec.typeName", "AWS has no resource type %s; did you mean %s?", r.Spec.TypeName, meant))
		}
		return out, nil
	}
	return append(out, problemsOfType(b, t, r)...), nil
}

func problemsOfType(b *bundled.Bundle, t *awsschema.Type, r *v1alpha1.AWSResource) []error {
	var out []error
	if why := t.Unmanageable(); why != "" {
		out = append(out, status.Invalid("spec.typeName", "%s", why))
	}
	if t.Tags.Property() == "" && len(r.Spec.Tags) > 0 {
		out = append(out, status.Invalid("spec.tags", "%s has no tags that Cloud Control API can set", t.Name))
	}
	for i, pointer := range r.Spec.Ignore {
		if text := t.IgnoreProblem(pointer); text != "" {
			out = append(out, status.Invalid(fmt.Sprintf("spec.ignore[%d]", i), "%s", text))
		}
	}
	return append(out, problemsOfProperties(b, t, r)...)
}

// problemsOfProperties judges the values that an AWSResource declares.
func problemsOfProperties(b *bundled.Bundle, t *awsschema.Type, r *v1alpha1.AWSResource) []error {
	properties := map[string]any{}
	if len(r.Spec.Properties.Raw) > 0 && json.Unmarshal(r.Spec.Properties.Raw, &properties) != nil {
		return nil // it is no object, which the schema of the kind says
	}
	var out []error
	problems := t.Problems(properties, standsForValue)
	if r.Spec.ImportID != "" || r.Spec.ManagementPolicy == v1alpha1.ManageObserve {
		problems = awsschema.OfExisting(problems)
	}
	for _, p := range problems {
		if p.At != "" && !t.At(p.At).Exists() && !strings.ContainsAny(p.At, ".[") {
			p.Text += " (schemas of " + b.Date + "; nexusctl plan reads those of today)"
		}
		out = append(out, status.Invalid(p.Below("spec.properties"), "%s", p.Text))
	}
	return out
}

// standsForValue reports whether a value is, or seems to be meant as, a reference or a key of a Secret, or is yet to be known.
func standsForValue(value any) bool {
	if text, is := value.(string); is {
		return capability.IsUnknownValue(text)
	}
	object, is := value.(map[string]any)
	return is && (object["$ref"] != nil || object["$secret"] != nil)
}

// uncheckedProperties says of an AWSResource with a type that the bundled schemas do not have that its properties were not checked.
func (s *Validator) uncheckedProperties(u *unstructured.Unstructured) string {
	if u.GroupVersionKind().Group != v1alpha1.GroupName || u.GetKind() != "AWSResource" {
		return ""
	}
	name, _, _ := unstructured.NestedString(u.Object, "spec", "typeName")
	b, err := s.Bundle()
	if err != nil {
		return ""
	}
	if t, err := awstypes.In(b, name); err != nil || t != nil {
		return ""
	}
	return ", apart from its properties, which were not checked: the schemas of " + b.Date + " have no type " + name
}
