// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// generateAnswers writes down which members the answers of the called operations always have, and the defaults of others.
func generateAnswers(botocore, version, file string) error {
	called, err := awsmodels.Called(".")
	if err != nil {
		return err
	}
	a := awsmodels.Answers{Source: "botocore " + version, Date: today(), Required: map[string]map[string]awsmodels.Codes{},
		Defaults: map[string]map[string]string{}, States: map[string]map[string][]string{}}
	for service, operations := range called {
		m, err := readModel(botocore, service)
		if err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
		of, states := map[string]awsmodels.Codes{}, map[string][]string{}
		for _, operation := range operations {
			output := m.Operations[operation].Output.Shape
			m.required(output, operation+"Output", of, map[string]bool{"": true})
			m.states(output, operation+"Output", states, map[string]bool{"": true})
		}
		if len(states) > 0 {
			a.States[service] = states
		}
		if len(of) > 0 {
			a.Required[service] = of
		}
		if defaults := m.defaults(operations); len(defaults) > 0 {
			a.Defaults[service] = defaults
		}
	}
	return write(file, a)
}

// required adds the required members of a shape and of those below it. The SDK names the shape of an output after its operation.
func (m model) required(shape, name string, of map[string]awsmodels.Codes, seen map[string]bool) {
	if seen[shape] {
		return
	}
	seen[shape] = true
	s := m.Shapes[shape]
	if len(s.Required) > 0 {
		var members []string
		for _, member := range s.Required {
			members = append(members, strings.ToUpper(member[:1])+member[1:])
		}
		slices.Sort(members)
		of[name] = awsmodels.Codes(strings.Join(members, " "))
	}
	below := []reference{s.Member, s.Key, s.Value}
	for _, member := range s.Members {
		below = append(below, member)
	}
	for _, r := range below {
		m.required(r.Shape, r.Shape, of, seen)
	}
}

var (
	namesState = regexp.MustCompile(`(?:Status|State)$`)
	// stateInText finds the values in a text, which are set as code or as the terms of a list.
	stateInText = regexp.MustCompile(`<(?:code|dt)>(?:<p>)?\s*([A-Za-z][A-Za-z_ |-]*[A-Za-z])\s*<`)
)

// states adds the values that the texts of a shape name as its states, and of the shapes below it.
func (m model) states(shape, name string, of map[string][]string, seen map[string]bool) {
	if seen[shape] {
		return
	}
	seen[shape] = true
	s := m.Shapes[shape]
	below := []reference{s.Member, s.Value}
	for member, r := range s.Members {
		below = append(below, r)
		member = strings.ToUpper(member[:1]) + member[1:]
		if to := m.Shapes[r.Shape]; to.Type != "string" || len(to.Enum) > 0 || !namesState.MatchString(member) {
			continue
		}
		var values []string
		for _, found := range stateInText.FindAllStringSubmatch(r.Documentation, -1) {
			for value := range strings.SplitSeq(found[1], "|") {
				values = append(values, strings.TrimSpace(value))
			}
		}
		if slices.Sort(values); len(values) > 1 {
			of[name+"."+member] = slices.Compact(values)
		}
	}
	for _, r := range below {
		m.states(r.Shape, r.Shape, of, seen)
	}
}

// namesDefault finds the default that the text of a member names.
var namesDefault = regexp.MustCompile(`(?i)\bdefaults?(?: value| setting)?(?: for [^.<]{0,40}?)?(?:\s+(?:is|to|of)\s+|\s*:\s*)(?:set to )?(?:<[a-z]+>|")*([A-Za-z0-9_-]+)`)

// defaults returns the defaults of the members of some operations. Of requests to look something up there are none in answers.
func (m model) defaults(operations []string) map[string]string {
	found, seen := map[string][]string{}, map[string]bool{"": true}
	var walk func(shape string)
	walk = func(shape string) {
		if seen[shape] {
			return
		}
		seen[shape] = true
		s := m.Shapes[shape]
		for name, member := range s.Members {
			if value := m.defaultOf(member); value != "" {
				name = strings.ToUpper(name[:1]) + name[1:]
				found[name] = append(found[name], value)
			}
			walk(member.Shape)
		}
		walk(s.Member.Shape)
		walk(s.Value.Shape)
	}
	for _, operation := range operations {
		walk(m.Operations[operation].Output.Shape)
		if !isLookup.MatchString(operation) {
			walk(m.Operations[operation].Input.Shape)
		}
	}
	out := map[string]string{}
	for name, values := range found {
		slices.Sort(values)
		if values = slices.Compact(values); len(values) == 1 {
			out[name] = values[0]
		}
	}
	return out
}

var isLookup = regexp.MustCompile(`^(?:Describe|Get|List|Scan)`)

// defaultOf returns the default that the text of a member names, if the member can have that value, and if it says more than an absent
// one: neither zero nor false.
func (m model) defaultOf(member reference) string {
	values := map[string]bool{}
	for _, found := range namesDefault.FindAllStringSubmatch(cmp.Or(member.Documentation, m.Shapes[member.Shape].Documentation), -1) {
		values[found[1]] = true
	}
	if len(values) != 1 {
		return "" // such as by the engine of a database
	}
	value := slices.Collect(maps.Keys(values))[0]
	switch s := m.Shapes[member.Shape]; s.Type {
	case "integer", "long", "double", "float":
		if number, err := strconv.ParseFloat(value, 64); err != nil || number == 0 {
			return ""
		}
	case "boolean":
		if value = strings.ToLower(value); value != "true" {
			return ""
		}
	case "string":
		if !slices.Contains(s.Enum, value) {
			return ""
		}
	default:
		return ""
	}
	return value
}
