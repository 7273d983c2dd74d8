// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// settingsIn returns the names of the settings among members that nothing read, without those that the kind or notSettings lists, and
// without those that the object declares in other words. They contain no values, because those may be secret.
func settingsIn(ofKind []string, unread []answers.Member, said map[string]bool) []string {
	var out, whole []string
	for _, m := range unread {
		if list, isElement := strings.CutSuffix(elements.ReplaceAllString(m.Path, "[]"), "[]"); isElement &&
			slices.Contains(ofKind, list+"[]") {
			continue
		}
		settings := slices.DeleteFunc(slices.Clone(m.Leaves), func(l answers.Leaf) bool {
			text, _ := l.Value.(string) // no enumeration, which has another type
			return said[text] || isListed(ofKind, m.Operation, l) || isListed(notSettings, m.Operation, l)
		})
		paths := []string{m.Path}
		if len(settings) < len(m.Leaves) {
			paths = nil
			for _, l := range settings {
				paths = append(paths, m.Path+firstSegment(strings.TrimPrefix(l.Path, m.Path)))
			}
		}
		for _, l := range settings {
			if element := namedElement(l); element != "" {
				whole = append(whole, element)
			}
		}
		out = append(out, paths...)
	}
	out = topmost(slices.Concat(out, whole))
	for i, p := range out {
		out[i] = shortened(p, said)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// topmost leaves out the paths below another one.
func topmost(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return slices.ContainsFunc(paths, func(above string) bool { return above != p && isBelow(p, above) })
	})
}

// namedElement returns the path of the element that a leaf names: where no one reads its name, nothing of the element is said.
func namedElement(l answers.Leaf) string {
	parent := l.Path[:max(0, strings.LastIndex(l.Path, "."))]
	if text, _ := l.Value.(string); text == "" || !strings.HasSuffix(parent, "["+text+"]") {
		return ""
	}
	return parent
}

// elements matches the names of elements in a path.
var elements = regexp.MustCompile(`\[[^\]]*\]`)

// identifies matches texts that name something, other than words, numbers and truth values, which say the same in several settings.
var identifies = regexp.MustCompile(`[a-z].*[^a-z]|[^a-z].*[a-z]|^[a-z]{6,}$|^\d{12}$|^\d+(\.\d+){3}`)

// saidBy returns the texts that identify something in an object, in its status and in its tags, and where it is.
func saidBy(found engine.Exported, identity []string, sc kind.Scope) map[string]bool {
	out := map[string]bool{sc.Account: true, sc.Region: true}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(found.Published)
	if err != nil {
		return out
	}
	add := func(text string) { out[text] = out[text] || identifies.MatchString(text) }
	eachText(content["spec"], add)
	eachText(content["status"], add)
	for k, v := range found.Tags {
		out[k], out[v] = true, true
	}
	spec, _ := content["spec"].(map[string]any)
	for _, field := range identity {
		eachText(spec[strings.TrimSuffix(field, kind.OptionalIdentity)], func(text string) { out[text] = true })
	}
	delete(out, "")
	return out
}

// eachText passes on every text in a value, keys included.
func eachText(value any, do func(string)) {
	switch v := value.(type) {
	case string:
		do(v)
	case []any:
		for _, e := range v {
			eachText(e, do)
		}
	case map[string]any:
		for key, e := range v {
			do(key)
			eachText(e, do)
		}
	}
}

// isListed reports whether a list has the operation of a leaf, or its path or one above it; with "=" and a value only where it has this
// value. A "*" at the end of the value stands for any rest.
func isListed(list []string, operation string, l answers.Leaf) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		path, value, hasValue := strings.Cut(entry, "=")
		if !isBelow(l.Path, path) && !isBelow(l.Plain, path) && operation != path {
			return false
		}
		begin, open := strings.CutSuffix(value, "*")
		text := fmt.Sprint(l.Value)
		return !hasValue || text == value || open && strings.HasPrefix(text, begin)
	})
}

func isBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// firstSegment returns the first member or element of a path, with the dot before it.
func firstSegment(path string) string {
	if path == "" {
		return ""
	}
	if path[0] == '[' {
		return path[:strings.Index(path, "]")+1]
	}
	if end := strings.IndexAny(path[1:], ".["); end >= 0 {
		return path[:end+1]
	}
	return path
}

// shortened returns a path as a person would name it: without the member that holds the whole resource, and in the case of fields.
func shortened(path string, said map[string]bool) string {
	segments := strings.Split(path, ".")
	if strings.Contains(path, "[") {
		segments = splitOutside(path)
	}
	for i := len(segments) - 2; i >= 0; i-- {
		name, isElement := strings.CutSuffix(segments[i], "]")
		if isElement && said[name[strings.Index(name, "[")+1:]] {
			segments = segments[i+1:]
			break
		}
		if i == 0 && !isElement {
			segments = segments[1:]
		}
	}
	for i, s := range segments {
		segments[i] = lowerFirst(s)
	}
	return strings.Join(segments, ".")
}

// splitOutside divides a path at the dots that are not in the name of an element.
func splitOutside(path string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range path {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '.' && depth == 0:
			out, from = append(out, path[from:i]), i+1
		}
	}
	return append(out, path[from:])
}

// lowerFirst returns a name as fields are written: KMSKeyID as kmsKeyID, TargetRoleArn as targetRoleArn.
func lowerFirst(name string) string {
	runes := []rune(name)
	for i := range runes {
		if !unicode.IsUpper(runes[i]) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}
