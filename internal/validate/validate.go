// SPDX-License-Identifier: Apache-2.0

// Package validate checks manifests as the API server and the operator would, without a cluster.
package validate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Validator checks manifests without a cluster.
type Validator struct {
	*connection.Connection
	awstypes.Schemas
}

// Validate prints the mistakes in the objects in files. The error has the matching exit code.
func (s *Validator) Validate(ctx context.Context, files *resource.FilenameOptions, output string) error {
	stdin, err := s.readStandardInput(files)
	if err != nil {
		return err
	}
	text, err := textMistakes(files, stdin)
	if err != nil {
		return exit.Usage("%w", err)
	}
	mistakes := text.mistakes
	objects, schemas, unread := s.ReadableManifests(files, stdin)
	if schemas != nil {
		objects = append(objects, s.InNamespace(schemas, text.quoted)...)
	}
	switch {
	case unread != nil && len(mistakes) > 0 && !strings.Contains(unread.Error(), "does not exist"):
		unread = nil // the mistakes say the same, with their lines
	case unread != nil && len(objects) == 0:
		return unread
	case len(objects)+len(mistakes) == 0:
		return exit.Usage("there is nothing to validate: the input has no objects")
	}
	found, err := s.Validation(ctx, mistakes, objects, schemas)
	if err != nil {
		return errors.Join(unread, err)
	}
	return s.printValidation(found, unread, output)
}

// printValidation prints the valid objects, and returns an error for the invalid ones. Unread is why some of the input could not be read.
func (s *Validator) printValidation(found *Validation, unread error, output string) error {
	if unread != nil {
		found.Valid, found.Unread = false, unread.Error()
	}
	if err := console.PrintAs(s.Out, output, found, func() string { return textOfValidation(found) }); err != nil {
		return errors.Join(unread, err)
	}
	return errors.Join(unread, found.failure())
}

// readStandardInput reads standard input where a file is named -.
func (s *Validator) readStandardInput(files *resource.FilenameOptions) ([]byte, error) {
	if !slices.Contains(files.Filenames, connection.StandardInput) {
		return nil, nil
	}
	return io.ReadAll(s.In)
}

// Validation says of each file and each object whether it is valid.
type Validation struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Valid      bool              `json:"valid"`
	Files      []ValidatedFile   `json:"files,omitempty"`
	Objects    []ValidatedObject `json:"objects"`
	// Unread says why some of the input could not be read.
	Unread string `json:"unread,omitempty"`
}

// ValidatedFile is a file with mistakes in its text.
type ValidatedFile struct {
	Name     string   `json:"name"`
	Problems []string `json:"problems"`
}

// ValidatedObject is the verdict on an object.
type ValidatedObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Checked is false for a valid object of a kind that is not the operator's.
	Checked bool `json:"checked"`
	Valid   bool `json:"valid"`
	// Problems begin with the path of the field.
	Problems []string `json:"problems,omitempty"`

	title, note string
}

// Validation checks objects. Mistakes are those in the text of files.
func (s *Validator) Validation(ctx context.Context, mistakes map[string][]string, objects []*unstructured.Unstructured,
	schemas *crdschema.Schemas) (*Validation, error) {
	out := &Validation{APIVersion: inspect.APIVersion, Kind: "Validation", Valid: len(mistakes) == 0, Objects: []ValidatedObject{}}
	for _, name := range slices.Sorted(maps.Keys(mistakes)) {
		out.Files = append(out.Files, ValidatedFile{Name: name, Problems: mistakes[name]})
	}
	for _, u := range objects {
		problems, err := s.problemsOf(ctx, schemas, u)
		if err != nil {
			return nil, err
		}
		o := ValidatedObject{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Problems: problems,
			Checked: isOurGroup(u.GroupVersionKind().Group) || len(problems) > 0, Valid: len(problems) == 0, title: console.TitleOf(u)}
		if o.Valid {
			o.note = s.uncheckedProperties(u)
		}
		out.Valid = out.Valid && o.Valid
		out.Objects = append(out.Objects, o)
	}
	return out, nil
}

// failure counts the invalid objects; nil when all are valid.
func (v *Validation) failure() error {
	invalid := 0
	for _, o := range v.Objects {
		if !o.Valid {
			invalid++
		}
	}
	var wrong []string
	if invalid > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %s invalid", invalid, console.ObjectsAre(len(v.Objects))))
	}
	if len(v.Files) > 0 {
		wrong = append(wrong, status.Counted(len(v.Files), "file has mistakes", "files have mistakes"))
	}
	if len(wrong) > 0 {
		return exit.Usage("%s", strings.Join(wrong, ", and "))
	}
	return nil
}

// textOfValidation has a line for each file with mistakes and for each object.
func textOfValidation(v *Validation) string {
	var lines strings.Builder
	for _, f := range v.Files {
		lines.WriteString(f.Name + ": " + verdictOf(f.Problems, true) + "\n")
	}
	for _, o := range v.Objects {
		lines.WriteString(o.title + ": " + verdictOf(o.Problems, o.Checked) + o.note + "\n")
	}
	return lines.String()
}

// ReadableManifests reads manifests as manifests does, and returns those that can be read also where others cannot.
func (s *Validator) ReadableManifests(files *resource.FilenameOptions, stdin []byte) ([]*unstructured.Unstructured, *crdschema.Schemas,
	error) {
	b := resource.NewLocalBuilder().Unstructured().Local().ContinueOnError()
	local := *files
	local.Filenames = slices.DeleteFunc(slices.Clone(files.Filenames), func(name string) bool { return name == connection.StandardInput })
	if len(local.Filenames) > 0 || local.Kustomize != "" {
		b = b.FilenameParam(false, &local)
	}
	if stdin != nil {
		b = b.Stream(bytes.NewReader(stdin), "standard input")
	}
	return s.ManifestsOf(files, b)
}

// isOurGroup reports whether an API group is one of the operator's.
func isOurGroup(group string) bool { return slices.Contains(ourGroups(), group) }

func ourGroups() []string {
	return []string{v1alpha1.GroupName, nexusv1.GroupVersion.Group, intentv1alpha1.GroupName}
}

// verdictOf describes the result of validating an object.
func verdictOf(problems []string, ours bool) string {
	switch {
	case len(problems) > 1:
		return "invalid:\n    " + strings.Join(problems, "\n    ")
	case len(problems) == 1:
		return "invalid: " + problems[0]
	case !ours:
		return "not checked, its kind is not ours"
	default:
		return "valid"
	}
}

// problemsOf returns every mistake of an object, with its field.
func (s *Validator) problemsOf(ctx context.Context, schemas *crdschema.Schemas, u *unstructured.Unstructured) ([]string, error) {
	scheme, err := connection.OwnTypes()
	if err != nil {
		return nil, err
	}
	gvk := u.GroupVersionKind()
	if !isOurGroup(gvk.Group) {
		return foreignProblems(scheme, u), nil
	}
	if !scheme.Recognizes(gvk) || !schemas.Has(gvk.Kind) {
		return []string{unknownKind(scheme, schemas, u)}, nil
	}
	typed, err := scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	found, err := schemas.Problems(ctx, u)
	if err != nil {
		return nil, err
	}
	readable, err := schemas.Repaired(gvk.Kind, u.Object)
	// otherwise the schema has named the field
	if _, is := readable["spec"].(map[string]any); is && runtime.DefaultUnstructuredConverter.FromUnstructured(readable, typed) == nil {
		found, err = s.withProblemsBeyondSchema(ctx, schemas, found, typed)
	}
	out := make([]string, len(found))
	for i, p := range found {
		out[i] = p.Error()
	}
	return out, err
}

// withProblemsBeyondSchema adds the values of an object that the operator itself would refuse, and the values of a capability without
// mistakes that the schemas of its resources refuse.
func (s *Validator) withProblemsBeyondSchema(ctx context.Context, schemas *crdschema.Schemas, found []error,
	typed runtime.Object) ([]error, error) {
	found, err := s.withOwnProblem(found, typed)
	if c, is := typed.(*nexusv1.NexusAICapability); is && err == nil && len(found) == 0 {
		return s.problemsOfResources(ctx, schemas, c)
	}
	return found, err
}

// foreignProblems returns the mistakes that keep an object of another group from being read as meant: no version, and a kind of ours under
// a misspelled group.
func foreignProblems(scheme *runtime.Scheme, u *unstructured.Unstructured) []string {
	if u.GetAPIVersion() == "" {
		return []string{"apiVersion: Required value"}
	}
	gvk := u.GroupVersionKind()
	if meant := meantVersion(scheme, gvk.Kind); meant != "" && isNearOurGroup(gvk.Group) {
		return []string{fmt.Sprintf("apiVersion: %s has no kind %s; did you mean %s?", u.GetAPIVersion(), gvk.Kind, meant)}
	}
	return nil
}

// isNearOurGroup reports whether a group may be meant to be one of the operator's: it is misspelled, missing, or a subdomain.
func isNearOurGroup(group string) bool {
	return group == "" || crdschema.ClosestOf(group, ourGroups()) != "" ||
		slices.ContainsFunc(ourGroups(), func(ours string) bool { return strings.HasSuffix(group, "."+ours) })
}

// meantVersion returns the group and version of the operator that have a kind; empty where none has it.
func meantVersion(scheme *runtime.Scheme, kind string) string {
	for _, group := range ourGroups() {
		for _, v := range scheme.PrioritizedVersionsForGroup(group) {
			if scheme.Recognizes(v.WithKind(kind)) {
				return v.String()
			}
		}
	}
	return ""
}

// withOwnProblem adds the operator's own refusal of an object, unless the schema has named the field.
func (s *Validator) withOwnProblem(found []error, typed runtime.Object) ([]error, error) {
	if r, is := typed.(*v1alpha1.AWSResource); is {
		problems, err := s.typeProblems(r)
		return append(found, problems...), err
	}
	own, err := s.ownProblem(typed)
	if err == nil && own != nil && !names(found, own) {
		found = append(found, own)
	}
	return found, err
}

// names reports whether the field of a problem was named already: the operator checks much of the schema again.
func names(found []error, problem error) bool {
	own, ok := status.AsStalled(problem)
	return ok && slices.ContainsFunc(found, func(err error) bool {
		s, is := status.AsStalled(err)
		return is && s.Field == own.Field
	})
}

// unknownKind names the version or kind of the operator's groups that was probably meant.
func unknownKind(scheme *runtime.Scheme, schemas *crdschema.Schemas, u *unstructured.Unstructured) string {
	if meant := meantVersion(scheme, u.GetKind()); meant != "" {
		return fmt.Sprintf("apiVersion: %s has no kind %s; did you mean %s?", u.GetAPIVersion(), u.GetKind(), meant)
	}
	text := fmt.Sprintf("kind: %s is no kind of %s", u.GetKind(), u.GetAPIVersion())
	if meant := schemas.Closest(u.GetKind()); meant != "" {
		text += "; did you mean " + meant + "?"
	}
	return text
}

// ownProblem returns the operator's own refusal of an object; the error is one of the command.
func (s *Validator) ownProblem(typed runtime.Object) (problem, err error) {
	switch o := typed.(type) {
	case *nexusv1.NexusAICapability:
		options, err := s.OfflineOptions()
		if err != nil {
			return nil, err
		}
		_, problem = capability.Compile(o, connection.SettingsOf(options).Facts(o))
		return problem, nil
	case *intentv1alpha1.SecurityIntent:
		return intent.CheckIntent(o), nil
	default:
		return nil, nil
	}
}
