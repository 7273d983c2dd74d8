// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol/sample"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// anyKind is the kind of resources of any type.
const anyKind = "AWSResource"

// change is an edit of an object of any type.
type change struct {
	patch client.Patch
	// property is the property of the resource that the edit changes.
	property string
}

// exampleChanges are merge patches of the specifications of the examples, with what they change.
var exampleChanges = map[string]change{
	"budget":      {patchOfSpec(`{"properties": {"Budget": {"BudgetLimit": {"Amount": 300}}}}`), "Budget"},
	"documents":   {patchOfSpec(`{"tags": {"team": "b"}}`), "Tags"},
	"errors":      {patchOfSpec(`{"properties": {"FilterPattern": "FATAL"}}`), "FilterPattern"},
	"events":      {patchOfSpec(`{"properties": {"RetentionPeriodHours": 72}}`), "RetentionPeriodHours"},
	"many-errors": {patchOfSpec(`{"properties": {"Threshold": 20}}`), "Threshold"},
	"memory":      {patchOfSpec(`{"properties": {"EventExpiryDuration": 60}}`), "EventExpiryDuration"},
	"office":      {patchOfSpec(`{"properties": {"MaxEntries": 10}}`), "MaxEntries"},
	"orders":      {patchOfSpec(`{"properties": {"DeletionProtectionEnabled": false}}`), "DeletionProtectionEnabled"},
	"reports":     {patchOfSpec(`{"properties": {"Description": "Reports"}}`), "Description"},
	"vectors":     {patchOfSpec(`{"tags": {"team": "b"}}`), "Tags"},
}

// typeLives reads the examples of any type, and makes an object for as many more types, with a provider that may pass every role.
func typeLives(all *awstypes.Types, more int) ([]*life, error) {
	objects, err := world.ReadManifests(filepath.Join("examples", "any-type"))
	if err != nil {
		return nil, err
	}
	var lives []*life
	for _, o := range objects {
		adapt(o)
		l := &life{object: o}
		if c, ok := exampleChanges[o.GetName()]; ok {
			l.change = &c
		}
		lives = append(lives, l)
	}
	if more == 0 {
		return lives, nil
	}
	generated, err := generatedLives(all, more, typesOf(lives))
	lives = append(lives, &life{object: objectOf("AWSProvider", generatedProvider, map[string]any{"region": region, "rolePathPrefix": "/"})})
	return append(lives, generated...), err
}

// generatedProvider is the provider of the objects with generated properties, which name roles that do not exist.
const generatedProvider = "any-type"

func objectOf(kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion("aws-infra-operator.runner.codes/v1alpha1")
	o.SetKind(kind)
	o.SetName(name)
	o.SetNamespace(metav1.NamespaceDefault)
	return o
}

// generatedLives makes objects of types that are spread over all, without those of the examples and those that do not live in the suite
// of the kind either.
func generatedLives(all *awstypes.Types, n int, taken []string) ([]*life, error) {
	list, err := os.ReadFile(filepath.Join("internal", "kinds", "cloudcontrol", "testdata", "types-apart.txt"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		name, _, _ := strings.Cut(line, ": ")
		taken = append(taken, name)
	}
	names := slices.DeleteFunc(all.Names(), func(name string) bool { return slices.Contains(taken, name) })
	var lives []*life
	for next := 0; next < len(names) && len(lives) < n; {
		l, err := generatedLife(all, names[next])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", names[next], err)
		}
		if l == nil {
			next++
			continue
		}
		lives = append(lives, l)
		next = max(next+1, len(names)*len(lives)/n)
	}
	return lives, nil
}

// generatedLife makes an object of a type; nil where AWS cannot manage the type, or no properties are found.
func generatedLife(all *awstypes.Types, name string) (*life, error) {
	text, err := all.Schema(name)
	if err != nil {
		return nil, err
	}
	var schema schema
	if err := json.Unmarshal(text, &schema); err != nil || !schema.has("create", "read", "delete") {
		return nil, err
	}
	made, err := sample.New(text)
	if err != nil {
		return nil, err
	}
	properties, err := made.Properties(1, schema.tags())
	if err != nil {
		return nil, nil //nolint:nilerr // the generator does not know every type
	}
	delete(properties, schema.tags())
	c, err := changeOf(schema, made, properties)
	if err != nil {
		return nil, err
	}
	text, err = json.Marshal(map[string]any{"typeName": name, "providerRef": map[string]any{"name": generatedProvider},
		"properties": properties})
	spec := map[string]any{} // of the types that unstructured objects have
	if err = cmp.Or(err, json.Unmarshal(text, &spec)); err != nil {
		return nil, err
	}
	return &life{object: objectOf(anyKind, strings.ToLower(strings.ReplaceAll(name, "::", "-")), spec), change: c}, nil
}

// changeOf returns an edit of a property that has a plain value and that may be changed, else of the tags; nil for a type that has neither.
func changeOf(schema schema, made *sample.Type, properties map[string]any) (*change, error) {
	if !schema.has("update") {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		switch properties[name].(type) {
		case map[string]any, []any:
			continue
		}
		other, ok := made.Another(properties, name, 2)
		if !ok || isSame(other, properties[name]) || schema.fixes(name) {
			continue
		}
		patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/properties/" + name, "value": other}})
		return &change{client.RawPatch(types.JSONPatchType, patch), name}, err
	}
	if schema.Tagging.Taggable && schema.Tagging.TagUpdatable {
		return &change{patchOfSpec(`{"tags": {"stage": "edited"}}`), schema.tags()}, nil
	}
	return nil, nil
}

// schema holds the parts of the schema of a type that tell which edits are possible.
type schema struct {
	CreateOnlyProperties, ConditionalCreateOnlyProperties, WriteOnlyProperties, PrimaryIdentifier []string

	Handlers map[string]any
	Tagging  struct {
		Taggable, TagUpdatable bool
		TagProperty            string
	}
}

func (s schema) has(handlers ...string) bool {
	return !slices.ContainsFunc(handlers, func(name string) bool { return s.Handlers[name] == nil })
}

// tags returns the name that the property with the tags has, where there is one. Some schemas do not say it.
func (s schema) tags() string {
	return cmp.Or(strings.TrimPrefix(s.Tagging.TagProperty, "/properties/"), "Tags")
}

// fixes reports whether a property cannot be changed, or not so that AWS shows it.
func (s schema) fixes(name string) bool {
	return slices.Contains(slices.Concat(s.CreateOnlyProperties, s.ConditionalCreateOnlyProperties, s.WriteOnlyProperties,
		s.PrimaryIdentifier), "/properties/"+name)
}

// typeName returns the resource type of an object of any type; empty for one of another kind.
func (l *life) typeName() string { return typeNameOf(l.object) }

func typeNameOf(o *unstructured.Unstructured) string {
	if o.GetKind() != anyKind {
		return ""
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "typeName")
	return name
}

// typesOf returns the resource types of objects of any type in order.
func typesOf(lives []*life) []string {
	var out []string
	for _, l := range lives {
		if name := l.typeName(); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changeTypes edits the objects of any type that were checked, all at once. The type shows which calls are of which object. It returns
// the types.
func (s *stage) changeTypes(ctx context.Context, lives []*life) map[string]bool {
	edited := map[string]bool{}
	var group sync.WaitGroup
	for _, l := range lives {
		if l.change != nil && l.rest != "" {
			edited[l.typeName()] = true
			group.Go(func() { s.changeType(ctx, l) })
		}
	}
	group.Wait()
	return edited
}

// changeType edits an object of any type, and lets another client of AWS undo the edit.
func (s *stage) changeType(ctx context.Context, l *life) {
	before, err := s.shown(ctx, l)
	if err != nil {
		l.edit = err.Error()
		return
	}
	if l.edit = s.editOne(ctx, l.object, l.change.patch); l.edit != holds {
		return
	}
	edited, err := s.shown(ctx, l)
	switch {
	case err != nil:
		l.edit = err.Error()
	case isSame(before, edited):
		l.edit = l.change.property + " is as before"
	default:
		l.drift = s.undo(ctx, l, before, edited)
	}
}

// undo sets the property that was edited to what it was before, and returns holds once the operator has corrected that.
func (s *stage) undo(ctx context.Context, l *life, before, edited any) string {
	patch := map[string]any{"op": "add", "path": "/" + l.change.property, "value": before}
	if before == nil {
		patch = map[string]any{"op": "remove", "path": "/" + l.change.property}
	}
	document, err := json.Marshal([]any{patch})
	if err != nil {
		return err.Error()
	}
	if _, err := s.control().UpdateResource(ctx, &cloudcontrol.UpdateResourceInput{
		TypeName: aws.String(l.typeName()), Identifier: l.identifier(), PatchDocument: aws.String(string(document))}); err != nil {
		return err.Error()
	}
	if _, err := s.check(ctx, l.object); err != nil {
		return err.Error()
	}
	var shown any
	if !until(ctx, untilEdited, func() bool {
		shown, err = s.shown(ctx, l)
		return err == nil && isSame(shown, edited) && s.readiness(ctx, l.object) == holds
	}) {
		return fmt.Sprintf("%s is %v, declared is %v, and the object says: %s", l.change.property, shown, edited, s.readiness(ctx, l.object))
	}
	return s.writesOfCheck(ctx, l.object)
}

// control asks the emulator itself.
func (s *stage) control() *cloudcontrol.Client {
	return cloudcontrol.New(cloudcontrol.Options{Region: region, BaseEndpoint: &s.url, Credentials: inventoryKey})
}

func (l *life) identifier() *string {
	id, _, _ := unstructured.NestedString(l.object.Object, "status", "identifier")
	return &id
}

// shown returns what AWS shows of the property that an edit changes; nil where it shows nothing.
func (s *stage) shown(ctx context.Context, l *life) (any, error) {
	out, err := s.control().GetResource(ctx, &cloudcontrol.GetResourceInput{TypeName: aws.String(l.typeName()), Identifier: l.identifier()})
	if err != nil {
		return nil, err
	}
	var properties map[string]any
	err = json.Unmarshal([]byte(aws.ToString(out.ResourceDescription.Properties)), &properties)
	return properties[l.change.property], err
}

// isSame compares values as JSON, without the order of a list.
func isSame(a, b any) bool {
	return slices.Equal(texts(a), texts(b))
}

func texts(value any) []string {
	elements, isList := value.([]any)
	if !isList {
		elements = []any{value}
	}
	var out []string
	for _, e := range elements {
		text, _ := json.Marshal(e) // it was JSON
		out = append(out, string(text))
	}
	slices.Sort(out)
	return out
}

// addTypes adds the resources of Cloud Control API of the types that are lived.
func (s *stage) addTypes(ctx context.Context, found map[string][]string) error {
	for _, name := range s.types {
		out, err := s.control().ListResources(ctx, &cloudcontrol.ListResourcesInput{TypeName: &name})
		if err != nil {
			return err
		}
		for _, r := range out.ResourceDescriptions {
			found[resources[anyKind]] = append(found[resources[anyKind]], name+" "+aws.ToString(r.Identifier))
		}
	}
	return nil
}
