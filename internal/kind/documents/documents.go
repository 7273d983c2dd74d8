// SPDX-License-Identifier: Apache-2.0

// Package documents writes the documents of states, kind.Document, as requests to AWS have them: as plain values and as JSON patches.
package documents

import (
	"encoding/json"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Hide returns an object with its write-only members as *kind.WriteOnly, which hold their JSON. It may have some already. A path of
// isWriteOnly consists of the names of members, and kind.EveryElement for the elements of lists.
func Hide(uid string, object map[string]any, isWriteOnly func(at []string) bool) map[string]any {
	return hide(uid, nil, object, isWriteOnly).(map[string]any)
}

func hide(uid string, at []string, value any, isWriteOnly func(at []string) bool) any {
	if _, hidden := value.(*kind.WriteOnly); !hidden && len(at) > 0 && value != nil && isWriteOnly(at) {
		text, _ := json.Marshal(reveal(value)) // it was read as JSON
		return kind.NewWriteOnly(uid, string(text))
	}
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			out[name] = hide(uid, append(slices.Clone(at), name), member, isWriteOnly)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = hide(uid, append(slices.Clone(at), kind.EveryElement), element, isWriteOnly)
		}
		return out
	default:
		return value
	}
}

// Shown returns an object without write-only values and without the members that are declared to be absent.
func Shown(object map[string]any) map[string]any {
	return withoutNull(withoutHidden(object)).(map[string]any)
}

func withoutHidden(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			if _, hidden := member.(*kind.WriteOnly); !hidden {
				out[name] = withoutHidden(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			if _, hidden := element.(*kind.WriteOnly); !hidden {
				out[i] = withoutHidden(element)
			}
		}
		return out
	default:
		return value
	}
}

// Plain returns an object for a request: with the write-only values themselves, and without the members that are declared to be absent.
func Plain(object map[string]any) map[string]any { return plain(object).(map[string]any) }

func plain(value any) any { return withoutNull(reveal(value)) }

// reveal returns a value with the write-only values themselves.
func reveal(value any) any {
	switch value := value.(type) {
	case *kind.WriteOnly:
		var out any
		_ = json.Unmarshal([]byte(value.Value()), &out) // Hide wrote it
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			out[name] = reveal(member)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = reveal(element)
		}
		return out
	default:
		return value
	}
}

// withoutNull returns a value without the members that are declared to be absent.
func withoutNull(value any) any {
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(members))
	for name, member := range members {
		if member != nil {
			out[name] = withoutNull(member)
		}
	}
	return out
}
