// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// comments are texts above the fields of a manifest, by the path of the field, such as "spec.components[web]".
type comments map[string][]string

// writeYAML writes a value as YAML with comments. Fields stand in the order of the types, and keys of maps are sorted.
func writeYAML(value any, head []string, of comments) ([]byte, error) {
	asJSON, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(asJSON, &doc); err != nil { // JSON is YAML, and the nodes keep the order of the fields
		return nil, err
	}
	styled(doc.Content[0], "", of)
	var out bytes.Buffer
	for _, line := range head {
		for _, wrapped := range wrapComment(line) {
			out.WriteString(wrapped + "\n")
		}
	}
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc.Content[0]); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// plainText matches texts that every version of YAML reads as the text that it is.
var plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9/._@-]*(:[A-Za-z0-9/._@-]+)*$`)

// words are texts that a version of YAML reads as a boolean or as null.
var words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// styled gives a node the style of a manifest that people write, and its comments.
func styled(n *yaml.Node, path string, of comments) {
	n.Style = 0
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!str" && (!plainText.MatchString(n.Value) || slices.Contains(words, strings.ToLower(n.Value))) {
			n.Style = yaml.DoubleQuotedStyle
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			below := strings.TrimPrefix(path+"."+n.Content[i].Value, ".")
			styled(n.Content[i], "", nil)
			styled(n.Content[i+1], below, of)
			comment(n.Content[i], of[below])
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			below := path + "[" + nameIn(item) + "]"
			styled(item, below, of)
			comment(item, of[below])
		}
	}
}

// nameIn returns the name of an item of a list; empty where it has none.
func nameIn(item *yaml.Node) string {
	for i := 0; i+1 < len(item.Content); i += 2 {
		if item.Kind == yaml.MappingNode && item.Content[i].Value == "name" {
			return item.Content[i+1].Value
		}
	}
	return ""
}

// comment puts texts above a node.
func comment(n *yaml.Node, texts []string) {
	var lines []string
	for _, t := range texts {
		lines = append(lines, wrapComment(t)...)
	}
	n.HeadComment = strings.Join(lines, "\n")
}

// commentWidth bounds the length of lines of comments.
const commentWidth = 100

// wrapComment breaks a text into lines of a comment.
func wrapComment(text string) []string {
	var lines []string
	line := "#"
	for _, word := range strings.Fields(strings.Map(printable, text)) {
		if len(line) > 1 && len(line)+1+len(word) > commentWidth {
			lines = append(lines, line)
			line = "#  "
		}
		line += " " + word
	}
	return append(lines, line)
}
