// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// arnTemplates has the ARNs of the service authorization reference that one name completes, without arn:${Partition}:, a line each. A
// test of package permissions compares the file with the table of rights, and NEXUS_UPDATE=1 makes it write the file.
//
//go:embed arns.txt
var arnTemplates string

// Template is the form of the ARNs of a type of resources, such as logs:${Region}:${Account}:log-group:${LogGroupName}.
type Template struct {
	// Service is the service in the ARN, such as logs.
	Service string
	text    string
	// stems are the words of the name that completes the ARN, and those of the type of the resource.
	stems [][]string
}

// Fill returns the ARN of the resource with a name.
func (t Template) Fill(partition, region, account, name string) string {
	filled := strings.NewReplacer("${Region}", region, "${Account}", account).Replace(t.text)
	return "arn:" + partition + ":" + filled[:strings.Index(filled, "${")] + name
}

// templates returns all templates, by their services.
var templates = sync.OnceValue(func() map[string][]Template {
	out := map[string][]Template{}
	for line := range strings.Lines(arnTemplates) {
		t := templateOf(strings.TrimSpace(line))
		out[t.Service] = append(out[t.Service], t)
	}
	return out
})

func templateOf(text string) Template {
	service, _, _ := strings.Cut(text, ":")
	rest := text[strings.LastIndex(text, "${")+2:]
	before := strings.TrimSuffix(text, "${"+rest)
	last := strings.LastIndexAny(strings.TrimRight(before, ":/"), ":/")
	words := strings.FieldsFunc(before[last+1:], func(r rune) bool { return r == ':' || r == '/' })
	t := Template{Service: service, text: text}
	for _, name := range append(words, strings.TrimSuffix(rest, "}")) {
		if stem, _ := stemOf(name); len(stem) > 0 && !slices.Contains([]string{"resource", "random"}, stem[0]) && !strings.Contains(name, "$") {
			t.stems = append(t.stems, stem)
		}
	}
	return t
}

var (
	wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	plural    = strings.NewReplacer("IDs", "Ids", "ARNs", "Arns")
)

// endings are the last words of names that say how a resource is named, and not which.
var endings = []string{"id", "name", "arn", "identifier", "uri", "url"}

// stemOf returns the words of a name in lower case and the singular, without such an ending, and whether it had one.
func stemOf(name string) (words []string, ended bool) {
	name = wordStart.ReplaceAllString(plural.Replace(name), "$1$3 $2$4")
	words = strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	if n := len(words); n > 0 && !strings.HasSuffix(words[n-1], "ss") {
		words[n-1] = strings.TrimSuffix(words[n-1], "s")
	}
	for n := len(words); n > 0 && slices.Contains(endings, words[n-1]); n = len(words) {
		words, ended = words[:n-1], true
	}
	return words, ended
}

// NamedAt returns the templates of the resources that the property at a path may name, by its own name: of the services that the type
// belongs to, and of every other service where the name says which resource it is.
func (t *Type) NamedAt(at ...string) []Template {
	name := ""
	for _, word := range at {
		if word != Every {
			name = word
		}
	}
	stem, ended := stemOf(name)
	if len(stem) == 0 || t.At(at...).IsChoice() {
		return nil
	}
	own, out := t.Handlers.services(), []Template(nil)
	for service, all := range templates() {
		for _, template := range all {
			if template.named(stem, ended, slices.Contains(own, service)) {
				out = append(out, template)
			}
		}
	}
	return out
}

// named reports whether a property with these words may name a resource of the template.
func (t Template) named(words []string, ended, own bool) bool {
	return slices.ContainsFunc(t.stems, func(stem []string) bool {
		switch {
		case strings.Join(stem, "") == strings.Join(words, ""):
			return own || ended || len(words) > 1
		case hasSuffix(words, stem):
			return own || len(stem) > 1 || slices.Contains(words, t.Service)
		default:
			return own && ended && hasSuffix(stem, words)
		}
	})
}

func hasSuffix(words, end []string) bool {
	return len(words) >= len(end) && slices.Equal(words[len(words)-len(end):], end)
}
