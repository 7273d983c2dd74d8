// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
)

// unknownName is the name of added fields and elements.
const unknownName = "UnknownToTheSDK"

// mapMembers are members of JSON answers that are maps with the user's keys. A field added there would be an entry, not an unknown field.
var mapMembers = []string{
	"AdditionalOptions", "Arguments", "Attributes", "ConnectionProperties", "DefaultArguments", "Environment", "Labels", "Location",
	"Metadata",
	"NonOverridableArguments", "Parameters", "Properties", "SecretVersionsToStages", "SkewedColumnValueLocationMaps", "Tags", "UserPoolTags",
	"Variables", "VersionIdsToStages", "attributes", "environment", "labels", "logOptions", "tags",
}

// addUnknownFields: AWS adds fields to its answers at any time, at the top and
// in nested structures. Policies and objects, which are documents, stay as they are.
func (c *Core) addUnknownFields(x *Exchange, a *Answer) *Answer {
	if len(a.Body) == 0 || isData(x) || slices.Contains(x.facts().Writes.Documents, x.Op) || !c.memory.unknownFields() {
		return a
	}
	switch x.Protocol {
	case protocolJSON, protocolREST:
		body, ok := DecodeJSON(a.Body).(map[string]any)
		if !ok {
			return a
		}
		addUnknownMembers(body)
		return a.WithJSON(body)
	case protocolQuery, ProtocolEC2, ProtocolS3, ProtocolXML:
		if body := addUnknownElements(a.Body); body != nil {
			return a.WithBody(body)
		}
	}
	return a
}

// addUnknownMembers adds a member to each object that is not a map.
func addUnknownMembers(v any) {
	switch t := v.(type) {
	case map[string]any:
		for key, value := range t {
			if !slices.Contains(mapMembers, key) {
				addUnknownMembers(value)
			} else if _, isMap := value.(map[string]any); !isMap {
				addUnknownMembers(value)
			}
		}
		t[unknownName] = map[string]any{"Since": "tomorrow", "Values": []any{1, true, nil}}
	case []any:
		for _, value := range t {
			addUnknownMembers(value)
		}
	}
}

// addUnknownElements adds an element to the end of each element that has
// others; nil if the text is not XML.
func addUnknownElements(body []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil
	}
	const element = "<" + unknownName + "><Since>tomorrow</Since></" + unknownName + ">"
	decoder := xml.NewDecoder(bytes.NewReader(body))
	var out strings.Builder
	var parents []bool // of the open elements: whether they have others
	copied := int64(0)
	for {
		before := decoder.InputOffset()
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch token.(type) {
		case xml.StartElement:
			if len(parents) > 0 {
				parents[len(parents)-1] = true
			}
			parents = append(parents, false)
		case xml.EndElement:
			if parents[len(parents)-1] {
				out.Write(body[copied:before])
				out.WriteString(element)
				copied = before
			}
			parents = parents[:len(parents)-1]
		}
	}
	if len(parents) > 0 || copied == 0 {
		return nil
	}
	out.Write(body[copied:])
	return []byte(out.String())
}
