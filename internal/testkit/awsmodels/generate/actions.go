// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
)

// partition begins every template of an ARN, and is left out of the table.
const partition = "arn:${Partition}:"

// generateActions writes the table of actions for package awsschema: a line for each service of the reference, with the templates of its
// resources and the names of its actions, and a line for each type of resource that Cloud Control manages.
func generateActions(sentry, cfnlint, source, file string) error {
	services, err := readServices(sentry)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(cfnlint, "data", "schemas", "resources", "*.json"))
	if err != nil {
		return err
	}
	var types []*awsschema.Type
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		t, err := awsschema.Parse(text)
		if err == nil && strings.HasPrefix(t.Name, "AWS::") && t.Unmanageable() == "" { // the operator refuses the others
			types = append(types, t)
		}
	}
	slices.SortFunc(types, func(a, b *awsschema.Type) int { return cmp.Compare(a.Name, b.Name) })
	prefixOf, used := prefixes(types, services), map[string]bool{}
	for _, service := range prefixOf {
		used[service] = true
	}
	lines := []string{source}
	for _, service := range slices.Sorted(maps.Keys(services)) {
		if used[service] {
			lines = append(lines, services[service].line(service))
		}
	}
	for _, t := range types {
		lines = append(lines, typeLine(t, prefixOf[strings.Split(t.Name, "::")[1]], services))
	}
	return writeLines(file, lines)
}

func readServices(sentry string) (map[string]definition, error) {
	var all map[string]json.RawMessage // one of them is a version
	if err := readJSON(filepath.Join(sentry, "shared", "data", "iam-definition.json"), &all); err != nil {
		return nil, err
	}
	out := map[string]definition{}
	for service, text := range all {
		var d definition
		if json.Unmarshal(text, &d) == nil && len(d.Privileges) > 0 {
			out[service] = d
		}
	}
	return out, nil
}

// templates returns the templates of the ARNs of a service's resources, in order.
func (d definition) templates() []string {
	var out []string
	for _, r := range d.Resources {
		if text, ok := strings.CutPrefix(r.ARN, partition); ok && !strings.ContainsAny(text, " \t,") {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// line is the entry of a service: its templates, and its actions, each with the numbers of the templates that AWS evaluates for it.
func (d definition) line(service string) string {
	templates := d.templates()
	var actions []string
	for _, name := range slices.Sorted(maps.Keys(d.Privileges)) {
		var numbers []int
		for resource := range d.Privileges[name].Types {
			text, _ := strings.CutPrefix(d.Resources[resource].ARN, partition)
			if i := slices.Index(templates, text); i >= 0 {
				numbers = append(numbers, i)
			}
		}
		slices.Sort(numbers)
		var texts []string
		for _, n := range slices.Compact(numbers) {
			texts = append(texts, strconv.Itoa(n))
		}
		entry := name
		if level := d.Privileges[name].Level; level == "Tagging" || level == "Permissions management" {
			entry += "!" // changes tags or gives rights
		}
		actions = append(actions, strings.TrimSuffix(entry+":"+strings.Join(texts, ","), ":"))
	}
	return service + "\t" + strings.Join(templates, " ") + "\t" + strings.Join(actions, " ")
}

// typeLine is the entry of a type: its service, the template of its resources where the reference has one, whether it has a property that
// protects its data, and its write-only properties.
func typeLine(t *awsschema.Type, service string, services map[string]definition) string {
	protected := ""
	if t.IsProtectable() {
		protected = "protectable"
	}
	return strings.Join([]string{t.Name, service, services[service].templateOf(t), protected, strings.Join(t.HiddenProperties(), " ")}, "\t")
}

// prefixes returns the prefix of the actions of each service of CloudFormation: the service of the reference with the same name, or the one
// with the actions that most handlers of its types use to create and delete.
func prefixes(types []*awsschema.Type, services map[string]definition) map[string]string {
	byName, count, out := map[string]string{}, map[string]map[string]int{}, map[string]string{}
	for service := range services {
		byName[notLetter.ReplaceAllString(service, "")] = service
	}
	for _, t := range types {
		of := strings.Split(t.Name, "::")[1]
		if count[of] == nil {
			count[of] = map[string]int{}
		}
		for _, action := range append(t.Handlers.Permissions(awsschema.Create), t.Handlers.Permissions(awsschema.Delete)...) {
			service, name, _ := strings.Cut(action, ":")
			if _, known := services[service].Privileges[name]; known && !slices.Contains([]string{"iam", "kms", "sts"}, service) {
				count[of][service]++
			}
		}
	}
	for of, actions := range count {
		most := slices.MaxFunc(append(slices.Sorted(maps.Keys(actions)), ""), func(a, b string) int {
			return cmp.Or(cmp.Compare(actions[a], actions[b]), cmp.Compare(b, a))
		})
		out[of] = cmp.Or(byName[strings.ToLower(of)], most)
	}
	return out
}

var notLetter = regexp.MustCompile(`[^a-z0-9]`)

// templateOf returns the template of a type's resources: that of the resource of the reference with the name of the type, or the only one
// that AWS evaluates for the delete action of the type's handler; empty where neither decides.
func (d definition) templateOf(t *awsschema.Type) string {
	plain := func(name string) string { return notLetter.ReplaceAllString(strings.ToLower(name), "") }
	word := plain(strings.Split(t.Name, "::")[2])
	usable := d.templates()
	for _, resource := range slices.Sorted(maps.Keys(d.Resources)) {
		text, _ := strings.CutPrefix(d.Resources[resource].ARN, partition)
		if plain(resource) == word && slices.Contains(usable, text) {
			return text
		}
	}
	var found []string
	for _, action := range t.Handlers.Permissions(awsschema.Delete) {
		_, name, _ := strings.Cut(action, ":")
		if !strings.HasPrefix(name, "Delete") && !strings.HasPrefix(name, "Terminate") {
			continue
		}
		for resource, of := range d.Privileges[name].Types {
			if text, _ := strings.CutPrefix(d.Resources[resource].ARN, partition); of.Required && slices.Contains(usable, text) {
				found = append(found, text)
			}
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 1 {
		return found[0]
	}
	return ""
}

// writeLines writes compressed text without the time, so that the same data make the same file.
func writeLines(file string, lines []string) error {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
