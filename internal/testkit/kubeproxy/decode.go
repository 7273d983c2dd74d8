// SPDX-License-Identifier: Apache-2.0

package kubeproxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// decode names a request by the rules of the API's paths.
func decode(r *http.Request, body []byte) Call {
	c := Call{UserAgent: r.UserAgent(), Path: r.URL.Path, Body: string(body[:min(len(body), maxRecordedBody)])}
	query := r.URL.Query()
	c.DryRun = query.Get("dryRun") != ""
	c.Apply = strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch")
	c.readPath(strings.Split(strings.Trim(r.URL.Path, "/"), "/"))
	if c.Resource == "" {
		c.Verb = strings.ToLower(r.Method)
		return c
	}
	watch := query.Get("watch")
	c.Verb = verb(r.Method, c.Name != "", watch == "true" || watch == "1")
	if c.Verb == "create" && c.Name == "" {
		c.Name = bodyName(r.Header.Get("Content-Type"), body)
	}
	return c
}

// readPath understands /api/v1/… and /apis/group/version/…, with or without
// namespaces/ns, and resource/name/subresource.
func (c *Call) readPath(parts []string) {
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		c.Group = parts[1]
		parts = parts[3:]
	default:
		return // not about a resource: discovery, health, version
	}
	if len(parts) >= 3 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		c.Namespace = parts[1]
		parts = parts[2:]
	}
	c.Resource = parts[0]
	if len(parts) > 1 {
		c.Name = parts[1]
	}
	if len(parts) > 2 {
		c.Subresource = strings.Join(parts[2:], "/")
	}
}

func verb(method string, named, watch bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case watch:
			return "watch"
		case named:
			return "get"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	}
	return strings.ToLower(method)
}

// bodyName finds the name of an object to be created in its body; typed clients
// of built-in kinds send protobuf.
func bodyName(contentType string, body []byte) string {
	if strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf") {
		return protobufName(body)
	}
	var object struct {
		Metadata struct{ Name, GenerateName string }
	}
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	if object.Metadata.Name == "" && object.Metadata.GenerateName != "" {
		return object.Metadata.GenerateName + "*"
	}
	return object.Metadata.Name
}

// protobufName walks the envelope (magic, then runtime.Unknown with the object in field 2), the object (field 1 is its metadata) and the
// metadata (fields 1 and 2 are name and generateName).
func protobufName(body []byte) string {
	raw, ok := bytes.CutPrefix(body, []byte("k8s\x00"))
	if !ok {
		return ""
	}
	metadata := field(field(raw, 2), 1)
	if name := field(metadata, 1); len(name) > 0 {
		return string(name)
	}
	if prefix := field(metadata, 2); len(prefix) > 0 {
		return string(prefix) + "*"
	}
	return ""
}

// field returns the first length-delimited field of that number, or nil.
func field(message []byte, number protowire.Number) []byte {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil
		}
		message = message[size:]
		if n == number && kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(message)
			if size < 0 {
				return nil
			}
			return value
		}
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
			return nil
		}
		message = message[size:]
	}
	return nil
}
