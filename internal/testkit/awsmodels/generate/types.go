// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// typeRights is the table that the commands for policies read: the actions that the handlers of every resource type ask for, and the
// resources in AWS's evaluation of each of those actions.
type typeRights struct {
	Source  string                 `json:"source"`
	Types   map[string]typeOf      `json:"types"`
	Actions map[string]typedAction `json:"actions"`
}

// typeOf lists the actions of the handlers of a type, separated by spaces.
type typeOf struct {
	Create string `json:"create,omitempty"`
	Read   string `json:"read,omitempty"`
	Update string `json:"update,omitempty"`
	Delete string `json:"delete,omitempty"`
	List   string `json:"list,omitempty"`
	Tagged bool   `json:"tagged,omitempty"`
}

type typedAction struct {
	Level    string `json:"level"`
	ARNs     string `json:"arns,omitempty"`
	Required string `json:"required,omitempty"`
	Tagged   bool   `json:"tagged,omitempty"`
	Given    bool   `json:"given,omitempty"`
}

// schemaOfRights is the part of a schema that the table is made of.
type schemaOfRights struct {
	TypeName   string
	Handlers   map[string]struct{ Permissions []string }
	Properties map[string]json.RawMessage
	ReadOnly   []string `json:"readOnlyProperties"`
	Tagging    *struct {
		Taggable, TagOnCreate, TagUpdatable *bool
		TagProperty                         string
	}
}

// generateTypes writes the table of all types. Schemas spell some actions in letters that AWS does not use; the reference has the names.
func generateTypes(sentry, cfnlint, source, file string) error {
	reference, err := newNames(sentry)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(cfnlint, "data", "schemas", "resources", "*.json"))
	if err != nil {
		return err
	}
	t := typeRights{Source: source, Types: map[string]typeOf{}, Actions: map[string]typedAction{}}
	for _, name := range files {
		var schema schemaOfRights
		if err := readJSON(name, &schema); err != nil {
			return err
		}
		if !strings.HasPrefix(schema.TypeName, "AWS::") || len(schema.Handlers) == 0 {
			continue
		}
		of := func(handler string) string {
			var actions []string
			for _, action := range schema.Handlers[handler].Permissions {
				action, known := reference.find(strings.TrimSpace(action))
				if action == "" {
					continue
				}
				actions = append(actions, action)
				if known != nil {
					t.Actions[action] = *known
				}
			}
			return joined(actions)
		}
		t.Types[schema.TypeName] = typeOf{Create: of("create"), Read: of("read"), Update: of("update"), Delete: of("delete"), List: of("list"),
			Tagged: schema.tagged()}
	}
	return writeCompressed(file, t)
}

// tagged reports whether the resources of a type carry the tags of their owner from their creation on.
func (s schemaOfRights) tagged() bool {
	says := func(word *bool) bool { return word == nil || *word }
	if s.Tagging == nil || !says(s.Tagging.Taggable) || !says(s.Tagging.TagOnCreate) || !says(s.Tagging.TagUpdatable) {
		return false
	}
	property := "/properties/Tags"
	if s.Tagging.TagProperty != "" {
		property = s.Tagging.TagProperty
	}
	return s.Properties[strings.TrimPrefix(property, "/properties/")] != nil && !slices.Contains(s.ReadOnly, property)
}

// names finds the actions of the reference by their names in lower case.
type names map[string]struct {
	name   string
	action typedAction
}

func newNames(sentry string) (names, error) {
	var all map[string]json.RawMessage // one of them is a version
	if err := readJSON(filepath.Join(sentry, "shared", "data", "iam-definition.json"), &all); err != nil {
		return nil, err
	}
	out := names{}
	for service, text := range all {
		var d definition
		if err := json.Unmarshal(text, &d); err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(d.Privileges)) { // two may differ in letters that are capital alone
			entry := out[strings.ToLower(service+":"+name)]
			entry.name, entry.action = service+":"+name, d.typedAction(name)
			out[strings.ToLower(service+":"+name)] = entry
		}
	}
	return out, nil
}

// isRight tells the names of actions, which may have wildcards, from the mistakes in schemas.
var isRight = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9*]+$`)

// find returns an action as AWS spells it; empty where the text names none, and nil where the reference does not know it.
func (n names) find(action string) (string, *typedAction) {
	service, name, _ := strings.Cut(action, ":")
	action = strings.ToLower(service) + ":" + name
	if known, ok := n[strings.ToLower(action)]; ok {
		return known.name, &known.action
	}
	if !isRight.MatchString(action) {
		return "", nil
	}
	return action, nil
}

// typedAction returns the facts of the reference about one action. A key of the tags of a resource is in the row of the action or in that
// of the type of resource.
func (d definition) typedAction(name string) typedAction {
	const ofResource, ofRequest = "aws:ResourceTag/${TagKey}", "aws:RequestTag/${TagKey}"
	p := d.Privileges[name]
	out := typedAction{Level: p.Level}
	var arns, required []string
	everyTagged := true
	for resource, t := range p.Types {
		out.Given = out.Given || slices.Contains(t.Conditions, ofRequest)
		of := d.Resources[resource]
		if of.ARN == "" {
			continue
		}
		if arns = append(arns, of.ARN); t.Required {
			required = append(required, of.ARN)
		}
		everyTagged = everyTagged && slices.Contains(slices.Concat(t.Conditions, of.Conditions), ofResource)
	}
	out.ARNs, out.Required = joined(arns), joined(required)
	out.Tagged = everyTagged && len(arns) == 1
	return out
}

// joined returns texts in order, each once.
func joined(texts []string) string {
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), " ")
}

// writeCompressed writes a table without the time, so that the same data make the same file.
func writeCompressed(file string, table any) error {
	text, err := json.Marshal(table)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
