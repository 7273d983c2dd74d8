// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// maxFile bounds the size of a Compose file.
const maxFile = 1 << 20

// value is a field of the file.
type value struct {
	file *file
	node *yaml.Node
	path string
}

// file holds the name of the file and the variables that its texts may name.
type file struct {
	name      string
	variables map[string]string
}

// entry is a key of a mapping with its value.
type entry struct {
	key string
	value
}

// parse reads the text of a file.
func parse(f *file, text []byte) (value, error) {
	if len(text) > maxFile {
		return value{}, fmt.Errorf("%s has more than %d bytes", f.name, maxFile)
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return value{}, fmt.Errorf("%s is empty", f.name)
	}
	var all any
	if err == nil {
		err = doc.Decode(&all) // finds duplicate keys and anchors that contain themselves, and bounds the repetition by aliases
	}
	if err != nil {
		return value{}, fmt.Errorf("%s: %s", f.name, strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n  ", " "), "yaml: "))
	}
	if dec.Decode(&yaml.Node{}) == nil {
		return value{}, fmt.Errorf("%s has several documents; a Compose file has one", f.name)
	}
	return value{file: f, node: target(doc.Content[0])}, nil
}

// target follows aliases.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// at is the place of a value for people.
func (v value) at() string {
	if v.path == "" {
		return fmt.Sprintf("%s:%d", v.file.name, v.node.Line)
	}
	return fmt.Sprintf("%s:%d: %s", v.file.name, v.node.Line, v.path)
}

func (v value) fault(format string, args ...any) error {
	return fmt.Errorf("%s: %s", v.at(), fmt.Sprintf(format, args...))
}

// isNull reports whether a key has no value.
func (v value) isNull() bool { return v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!null" }

func (v value) below(key string, n *yaml.Node) value {
	return value{file: v.file, node: target(n), path: strings.TrimPrefix(v.path+"."+key, ".")}
}

// each calls do for each entry of a mapping, until one fails.
func (v value) each(do func(entry) error) error {
	all, err := v.entries()
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the keys of a mapping with those that it merges, each once and in the order of the file. A key without a value has none.
func (v value) entries() ([]entry, error) {
	if v.isNull() {
		return nil, nil
	}
	if v.node.Kind != yaml.MappingNode {
		return nil, v.fault("must be a mapping of names to values")
	}
	var out []entry
	seen := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, n := target(v.node.Content[i]), v.node.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, mergedBy(n)...)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return nil, v.below("", key).fault("a key must be a text")
		}
		out = append(out, entry{key.Value, v.below(key.Value, n)})
		seen[key.Value] = true
	}
	for _, n := range merged {
		more, err := value{file: v.file, node: n, path: v.path}.entries()
		if err != nil {
			return nil, err
		}
		for _, e := range more {
			if !seen[e.key] {
				out = append(out, e)
				seen[e.key] = true
			}
		}
	}
	return out, nil
}

// mergedBy returns the mappings that << adds.
func mergedBy(n *yaml.Node) []*yaml.Node {
	n = target(n)
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	out := make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		out[i] = target(item)
	}
	return out
}

// get returns the value of a key.
func (v value) get(key string) (value, bool, error) {
	all, err := v.entries()
	for _, e := range all {
		if e.key == key && !e.isNull() {
			return e.value, true, err
		}
	}
	return value{}, false, err
}

// items returns the items of a list.
func (v value) items() ([]value, error) {
	if v.isNull() {
		return nil, nil
	}
	if v.node.Kind != yaml.SequenceNode {
		return nil, v.fault("must be a list")
	}
	out := make([]value, len(v.node.Content))
	for i, n := range v.node.Content {
		out[i] = value{file: v.file, node: target(n), path: fmt.Sprintf("%s[%d]", v.path, i)}
	}
	return out, nil
}

// isScalar reports whether a value is a text, a number or a boolean.
func (v value) isScalar() bool { return v.node.Kind == yaml.ScalarNode }

// text returns a scalar as text, with its variables replaced. The names of variables that may be secrets stay, in place of their values.
func (v value) text() (string, error) {
	shown := map[string]string{}
	for name, value := range v.file.variables {
		if shown[name] = value; appmodel.IsSecret(name, value) {
			shown[name] = "${" + name + "}"
		}
	}
	t, err := v.replaced(shown)
	return t.value, err
}

// interpolated returns a scalar as text, also with secrets, and the result for each of its variables.
func (v value) interpolated() (interpolation, error) { return v.replaced(v.file.variables) }

// replaced returns a scalar as text with the values of variables.
func (v value) replaced(variables map[string]string) (interpolation, error) {
	if !v.isScalar() {
		return interpolation{}, v.fault("must be a text")
	}
	raw := v.node.Value
	switch {
	case v.isNull():
		raw = ""
	case v.node.Tag == "!!float" || v.node.Tag == "!!int": // as Compose writes numbers
		var number any
		if err := v.node.Decode(&number); err != nil {
			return interpolation{}, v.fault("%v", err)
		}
		raw = fmt.Sprint(number)
	}
	t, err := interpolate(raw, variables)
	if err != nil {
		return interpolation{}, v.fault("%v", err)
	}
	return t, nil
}

// flag returns a boolean.
func (v value) flag() (bool, error) {
	text, err := v.text()
	switch {
	case err != nil:
		return false, err
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "yes"), text == "on", text == "1":
		return true, nil
	case strings.EqualFold(text, "false"), strings.EqualFold(text, "no"), text == "off", text == "0", text == "":
		return false, nil
	default:
		return false, v.fault("must be true or false")
	}
}

// texts returns the items of a list of texts, or the only one of a text.
func (v value) texts() ([]string, error) {
	if v.isScalar() && !v.isNull() {
		t, err := v.text()
		return []string{t}, err
	}
	items, err := v.items()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range items {
		t, err := item.text()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
