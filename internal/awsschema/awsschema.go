// SPDX-License-Identifier: Apache-2.0

// Package awsschema interprets the schemas that AWS publishes of its resource types: the identifiers of a resource, the comparison of each
// of its properties, the place of its tags, and the requests that AWS would refuse.
//
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
package awsschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Type is a resource type. It is safe for concurrent use.
type Type struct {
	// Name is the name of the type, such as AWS::Kinesis::Stream.
	Name string
	// Identity is the primary identifier, Handlers the operations on resources, and Tags the place of their tags.
	Identity Identity
	Handlers Handlers
	Tags     Tags

	doc      document
	marks    *marks
	required []string
	// replacement is the order of replacing a resource; empty if the schema does not say it. CloudFormation then tries to create first.
	replacement string
	transforms  []*Transform

	once    sync.Once
	valid   *jsonschema.Schema
	invalid error
}

// marks are the lists of properties that AWS treats in another way than the rest.
type marks struct {
	readOnly, createOnly, conditionally, write, ended []path
}

// published has the parts of a schema beside the tree of its properties, as AWS publishes it.
type published struct {
	TypeName                        string
	PrimaryIdentifier               []string
	ReadOnlyProperties              []string
	CreateOnlyProperties            []string
	ConditionalCreateOnlyProperties []string
	WriteOnlyProperties             []string
	DeprecatedProperties            []string
	ReplacementStrategy             string
	Required                        []string
	Taggable                        *bool
	Tagging                         *tagging
	Handlers                        Handlers
	PropertyTransform               map[string]string
}

type tagging struct {
	Taggable, TagOnCreate, TagUpdatable *bool
	TagProperty                         string
}

// Parse reads a schema.
func Parse(text []byte) (*Type, error) {
	var d published
	t := &Type{}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("the schema of the type cannot be read: %w", err)
	}
	if err := json.Unmarshal(text, &t.doc.root); err != nil {
		return nil, fmt.Errorf("the schema of the type cannot be read: %w", err)
	}
	if d.TypeName == "" || len(t.doc.properties()) == 0 {
		return nil, fmt.Errorf("the schema of the type names no type or has no properties")
	}
	t.Name, t.required, t.Handlers, t.replacement = d.TypeName, d.Required, d.Handlers, d.ReplacementStrategy
	t.marks = &marks{
		readOnly: pathsOf(d.ReadOnlyProperties), createOnly: pathsOf(d.CreateOnlyProperties),
		conditionally: pathsOf(d.ConditionalCreateOnlyProperties), write: pathsOf(d.WriteOnlyProperties),
		ended: pathsOf(d.DeprecatedProperties),
	}
	t.Identity = identityOf(pathsOf(d.PrimaryIdentifier), t.doc, t.marks.readOnly)
	t.Tags = Tags{declared: taggingOf(d), doc: t.doc, marks: t.marks, isUpdated: t.Handlers.Support(Update)}
	t.transforms = transformsOf(t.doc, d.PropertyTransform)
	return t, nil
}

// Properties returns the names of the properties, in order.
func (t *Type) Properties() []string { return slices.Sorted(maps.Keys(t.doc.properties())) }

// Unmanageable says why AWS cannot create, read and delete resources of the type through Cloud Control; empty where it can.
func (t *Type) Unmanageable() string {
	switch missing := t.Handlers.missing(); {
	case len(missing) > 0:
		return t.Name + " has no handlers to " + strings.Join(missing, ", ") + " resources, so that Cloud Control API cannot manage them"
	case len(t.Identity.parts) == 0:
		return t.Name + " declares no primary identifier"
	default:
		return ""
	}
}

// protections are the beginnings of the names of properties that keep a resource from being deleted with its data.
var protections = []string{"DeleteProtection", "DeletionProtected", "DeletionProtection", "TerminationProtection", "FinalSnapshot",
	"EmptyOnDelete", "ForceDelete", "SkipFinalSnapshot"}

// IsProtectable reports whether the type has a property that protects the data of a resource from its deletion.
func (t *Type) IsProtectable() bool {
	for name := range t.doc.properties() {
		if slices.ContainsFunc(protections, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			return true
		}
	}
	return false
}
