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
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Type is a resource type. It is safe for concurrent use.
type Type struct {
	// Name is the name of the type, such as AWS::Kinesis::Stream.
	Name string

	identifier                                        []path
	readOnly, createOnly, conditionally, write, ended []path
	required                                          []string
	tagging                                           tagging
	handlers                                          map[string]handler
	replacement                                       string
	doc                                               map[string]any
	transforms                                        []*Transform

	once    sync.Once
	valid   *jsonschema.Schema
	invalid error
}

// document is a schema as AWS publishes it.
type document struct {
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
	Handlers                        map[string]handler
	PropertyTransform               map[string]string
}

type tagging struct {
	Taggable, TagOnCreate, TagUpdatable *bool
	TagProperty                         string
	Permissions                         []string
}

type handler struct {
	Permissions      []string
	TimeoutInMinutes int
}

// Parse reads a schema.
func Parse(text []byte) (*Type, error) {
	var d document
	t := &Type{}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("the schema of the type cannot be read: %w", err)
	}
	if err := json.Unmarshal(text, &t.doc); err != nil {
		return nil, fmt.Errorf("the schema of the type cannot be read: %w", err)
	}
	if d.TypeName == "" || len(t.properties()) == 0 {
		return nil, fmt.Errorf("the schema of the type names no type or has no properties")
	}
	t.Name, t.required, t.handlers, t.replacement = d.TypeName, d.Required, d.Handlers, d.ReplacementStrategy
	t.identifier, t.readOnly, t.createOnly = pathsOf(d.PrimaryIdentifier), pathsOf(d.ReadOnlyProperties), pathsOf(d.CreateOnlyProperties)
	t.conditionally, t.write, t.ended = pathsOf(d.ConditionalCreateOnlyProperties), pathsOf(d.WriteOnlyProperties),
		pathsOf(d.DeprecatedProperties)
	t.tagging, t.transforms = t.taggingOf(d), t.transformsOf(d.PropertyTransform)
	return t, nil
}

// Properties returns the names of the properties, in order.
func (t *Type) Properties() []string { return slices.Sorted(maps.Keys(t.properties())) }

func (t *Type) properties() map[string]any {
	properties, _ := t.doc["properties"].(map[string]any)
	return properties
}

// Operation names an operation of a handler.
type Operation string

// The operations of handlers.
const (
	Create Operation = "create"
	Read   Operation = "read"
	Update Operation = "update"
	Delete Operation = "delete"
	List   Operation = "list"
)

// Unmanageable says why AWS cannot create, read and delete resources of the type through Cloud Control; empty where it can.
func (t *Type) Unmanageable() string {
	var missing []string
	for _, operation := range []Operation{Create, Read, Delete} {
		if !t.Supports(operation) {
			missing = append(missing, string(operation))
		}
	}
	switch {
	case len(missing) > 0:
		return t.Name + " has no handlers to " + strings.Join(missing, ", ") + " resources, so that Cloud Control API cannot manage them"
	case len(t.identifier) == 0:
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
	properties, _ := t.doc["properties"].(map[string]any)
	for name := range properties {
		if slices.ContainsFunc(protections, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			return true
		}
	}
	return false
}

// Supports reports whether the type has a handler for an operation.
func (t *Type) Supports(operation Operation) bool {
	_, ok := t.handlers[string(operation)]
	return ok
}

// Permissions returns the IAM actions that the handler of an operation uses, in order.
func (t *Type) Permissions(operation Operation) []string {
	actions := slices.Clone(t.handlers[string(operation)].Permissions)
	slices.Sort(actions)
	return slices.Compact(actions)
}

// defaultTimeout limits a handler that declares no time.
const defaultTimeout = 120 * time.Minute

// Timeout returns how long AWS lets the handler of an operation run.
func (t *Type) Timeout(operation Operation) time.Duration {
	if minutes := t.handlers[string(operation)].TimeoutInMinutes; minutes > 0 {
		return time.Duration(minutes) * time.Minute
	}
	return defaultTimeout
}

// The orders of replacing a resource by another.
const (
	DeleteThenCreate = "delete_then_create"
	CreateThenDelete = "create_then_delete"
)

// ReplacementStrategy returns the order of replacing a resource of the type; empty if the schema does not say it. CloudFormation then tries
// to create first.
func (t *Type) ReplacementStrategy() string { return t.replacement }
