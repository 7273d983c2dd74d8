// SPDX-License-Identifier: Apache-2.0

// Package crdschema evaluates the schema, the list keys and the CEL rules of the operator's own CRDs in process. The API
// server checks the same at admission, but only for objects written since the rules exist, and only where
// it knows CEL rules (Kubernetes 1.29). The operator never trusts its input, and kinds need no copies of
// the rules.
package crdschema

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Schemas validate objects by kind. A CRD is read and compiled when the first object of its kind is
// validated. The methods may be called concurrently.
type Schemas struct {
	kinds map[string]*compiled
}

// compiled is the validator of one kind.
type compiled struct {
	files fs.FS
	path  string
	// namespaced is false for kinds of cluster scope.
	namespaced bool

	once   sync.Once
	err    error
	schema validation.SchemaValidator
	shape  *structuralschema.Structural
	// rules compiles the CEL rules when they are first asked for: those of a capability take seven times the time and nine times the memory
	// of its schema.
	rules func() *cel.Validator
}

// kindOf finds the kind in a CRD without parsing it.
var kindOf = regexp.MustCompile(`(?m)^  names:\n(?:    .*\n)*?    kind: (\w+)$`)

// Load finds the CRDs in a file system: every YAML file, one CRD with one version each.
func Load(files fs.FS) (*Schemas, error) {
	s := &Schemas{kinds: map[string]*compiled{}}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		m := kindOf.FindSubmatch(b)
		if m == nil {
			return fmt.Errorf("%s: no CustomResourceDefinition with a kind", path)
		}
		s.kinds[string(m[1])] = &compiled{files: files, path: path, namespaced: bytes.Contains(b, []byte("\n  scope: Namespaced\n"))}
		return nil
	})
	return s, err
}

// Closest returns the kind with the name nearest to a misspelled one; empty where none is near.
func (s *Schemas) Closest(kind string) string {
	return ClosestOf(kind, slices.Sorted(maps.Keys(s.kinds)))
}

// ClosestOf returns the word that is nearest to a misspelled one; empty where none is near.
func ClosestOf(word string, words []string) string {
	best, least := "", 3
	for _, known := range words {
		if d := distance(strings.ToLower(word), strings.ToLower(known)); d < least {
			best, least = known, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace: https://en.wikipedia.org/wiki/Levenshtein_distance
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Has reports whether a kind is one of the operator's own.
func (s *Schemas) Has(kind string) bool {
	_, ok := s.kinds[kind]
	return ok
}

// Namespaced reports whether objects of a kind live in a namespace; false for kinds that are not the operator's own.
func (s *Schemas) Namespaced(kind string) bool {
	c, ok := s.kinds[kind]
	return ok && c.namespaced
}

// Validate returns a *status.Stalled that names the first field that breaks the schema or a rule of the
// kind, or nil. Rules that compare with the old object (transition rules) hold for a new one.
func (s *Schemas) Validate(ctx context.Context, kind string, obj runtime.Object) error {
	return s.ValidateUpdate(ctx, kind, obj, nil)
}

// ValidateSchema is Validate without the CEL rules, which are expensive to compile: for kinds whose rules the operator checks in another
// way.
func (s *Schemas) ValidateSchema(kind string, obj runtime.Object) error {
	c, m, err := s.read(kind, obj)
	if err != nil {
		return err
	}
	if errs := c.breaks(m); len(errs) > 0 {
		return invalidField(errs[0])
	}
	return nil
}

// ValidatePlanned is Validate of an object with some values that are yet to be known. It ignores errors about these values.
func (s *Schemas) ValidatePlanned(ctx context.Context, kind string, obj runtime.Object, isUnknown func(value string) bool) error {
	c, m, err := s.read(kind, obj)
	if err != nil {
		return err
	}
	judged := func(errs field.ErrorList) field.ErrorList {
		return slices.DeleteFunc(errs, func(e *field.Error) bool { return hasText(valueAt(m, fieldOf(e)), isUnknown) })
	}
	errs := judged(c.breaks(m))
	if len(errs) == 0 {
		errs, _ = c.rules().Validate(ctx, nil, c.shape, m, nil, celconfig.RuntimeCELCostBudget)
		errs = judged(errs)
	}
	if len(errs) == 0 {
		return nil
	}
	return invalidField(errs[0])
}

// ValidateUpdate is Validate of an object that takes the place of an old one, by the transition rules as well. The old one is nil for a
// new object.
func (s *Schemas) ValidateUpdate(ctx context.Context, kind string, obj runtime.Object, old map[string]any) error {
	errs, err := s.Errors(ctx, kind, obj, old)
	if err != nil || len(errs) == 0 {
		return err
	}
	return invalidField(errs[0])
}

// Errors returns everything that breaks the schema or, if nothing does, a rule of the kind. The old object is nil for a new one.
func (s *Schemas) Errors(ctx context.Context, kind string, obj runtime.Object, old map[string]any) (field.ErrorList, error) {
	c, m, err := s.read(kind, obj)
	if err != nil {
		return nil, err
	}
	errs := c.breaks(m)
	if len(errs) == 0 {
		var was any // a nil map in an interface would count as an old object
		if old != nil {
			was = old
		}
		errs, _ = c.rules().Validate(ctx, nil, c.shape, m, was, celconfig.RuntimeCELCostBudget)
	}
	return errs, nil
}

// read returns the compiled CRD of a kind, and the content of an object without its status.
func (s *Schemas) read(kind string, obj runtime.Object) (*compiled, map[string]any, error) {
	c, err := s.compiled(kind)
	if err != nil {
		return nil, nil, err
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the %s: %w", kind, err)
	}
	m = maps.Clone(m)   // the content of an unstructured object is the object's
	delete(m, "status") // the operator's own
	return c, m, nil
}

// compiled returns the compiled CRD of a kind.
func (s *Schemas) compiled(kind string) (*compiled, error) {
	c, ok := s.kinds[kind]
	if !ok {
		return nil, fmt.Errorf("no CRD of kind %s is known", kind)
	}
	c.once.Do(func() { c.err = c.compile() })
	if c.err != nil {
		return nil, fmt.Errorf("compiling the CRD of %s: %w", kind, c.err)
	}
	return c, nil
}

// breaks returns everything that breaks the schema, without its rules. The library walks maps: the order of fields is given here, so that
// the first error of the same object is always the same.
func (c *compiled) breaks(m map[string]any) field.ErrorList {
	errs := append(validation.ValidateCustomResource(nil, m, c.schema), listtype.ValidateListSetsAndMaps(nil, c.shape, m)...)
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Detail, b.Detail))
	})
	return errs
}

// Problems returns every mistake of a manifest that needs no other object, as a *status.Stalled each: fields that the kind does not have,
// the results of Errors, and the rules that are broken beside the schema. The object is completed with its defaults, as the API server
// does.
func (s *Schemas) Problems(ctx context.Context, u *unstructured.Unstructured) ([]error, error) {
	unknown, err := s.unknownFields(u)
	if err != nil {
		return nil, err
	}
	var out []error
	for _, path := range unknown {
		out = append(out, status.Invalid("", "unknown field %q", path))
	}
	out = append(out, s.metadataProblems(u)...)
	if err := s.Default(u); err != nil {
		return nil, err
	}
	named := u
	if u.GetName() == "" { // a mistake that is named already, and rules read the name
		named = u.DeepCopy()
		named.SetName("unnamed")
	}
	c, content, err := s.read(u.GetKind(), named)
	if err != nil {
		return nil, err
	}
	broken := c.breaks(content)
	all := append(broken, c.rulesBeside(ctx, broken, content)...)
	slices.SortStableFunc(all, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	for _, e := range all {
		out = append(out, invalidField(e))
	}
	return out, nil
}

// unknownFields returns the paths of the fields that the kind does not have.
func (s *Schemas) unknownFields(u *unstructured.Unstructured) ([]string, error) {
	c, err := s.compiled(u.GetKind())
	if err != nil {
		return nil, err
	}
	m := u.DeepCopy().Object
	delete(m, "status") // the operator's own
	return pruning.PruneWithOptions(m, c.shape, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}), nil
}

// Default drops from an object, in place, each null that the API server would drop, and adds the defaults that it would add.
// Kinds without a CRD of the operator's own are left as they are.
func (s *Schemas) Default(obj *unstructured.Unstructured) error {
	if !s.Has(obj.GetKind()) {
		return nil
	}
	c, err := s.compiled(obj.GetKind())
	if err != nil {
		return err
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(obj.Object, c.shape)
	defaulting.Default(obj.Object, c.shape)
	return nil
}

// invalidField turns an error of the API server's library into a condition.
func invalidField(e *field.Error) *status.Stalled {
	detail := e.Detail
	if detail == "" {
		detail = e.ErrorBody()
	}
	name := strings.TrimPrefix(e.Field, ".")
	return status.Invalid(name, "%s", inWords(strings.TrimPrefix(detail, name+" in body ")))
}

func (c *compiled) compile() error {
	b, err := fs.ReadFile(c.files, c.path)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(b, crd); err != nil {
		return err
	}
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Schema == nil {
		return errors.New("want one version with a schema")
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema,
		internal, nil); err != nil {
		return err
	}
	// The status is the operator's own and is not validated.
	delete(internal.Properties, "status")
	if c.shape, err = structuralschema.NewStructural(internal); err != nil {
		return err
	}
	if c.schema, _, err = validation.NewSchemaValidator(internal); err != nil {
		return err
	}
	c.rules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(c.shape, true, celconfig.PerCallLimit) })
	return nil
}
