// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// golangciConfig is the part of .golangci.yml that lists linters and rules.
type golangciConfig struct {
	Linters struct {
		Enable   []string
		Settings struct {
			Revive    struct{ Rules []struct{ Name string } }
			Forbidigo struct {
				Forbid []struct{ Pattern, Msg string }
			}
			Depguard struct {
				Rules map[string]struct {
					Files []string
					Deny  []struct{ Pkg string }
				}
			}
		}
	}
}

// rulesWithoutFinding returns the linters and the rules of a configuration that reported nothing.
func rulesWithoutFinding(text []byte, found []finding) ([]string, error) {
	var c golangciConfig
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	if len(c.Linters.Enable) == 0 {
		return nil, fmt.Errorf("%s enables no linter", config)
	}
	var out []string
	need := func(linter string, parts ...string) {
		if !slices.ContainsFunc(found, func(f finding) bool { return f.linter == linter && containsAll(f.text, parts) }) {
			out = append(out, fmt.Sprintf("no planted line shows %s %s", linter, strings.Join(parts, " ")))
		}
	}
	for _, linter := range c.Linters.Enable {
		need(linter)
	}
	for _, r := range c.Linters.Settings.Revive.Rules {
		need("revive", r.Name+": ")
	}
	for _, f := range c.Linters.Settings.Forbidigo.Forbid {
		for _, name := range alternatives(f.Pattern) {
			need("forbidigo", name+"`", f.Msg)
		}
	}
	rules := c.Linters.Settings.Depguard.Rules
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		list := "from list '" + name + "'"
		for _, d := range rules[name].Deny {
			need("depguard", list, "import '"+d.Pkg)
		}
		out = append(out, filesWithoutFinding(name, list, rules[name].Files, found)...)
	}
	return out, nil
}

// filesWithoutFinding returns the globs of a rule of depguard whose folder has no finding of the rule. A glob that begins with "!" or
// "$" selects no folder.
func filesWithoutFinding(name, list string, globs []string, found []finding) []string {
	var out []string
	for _, g := range globs {
		folder, ok := strings.CutPrefix(g, "**/")
		if !ok {
			continue
		}
		folder, below := strings.CutSuffix(strings.TrimSuffix(folder, "/*.go"), "/**")
		if !slices.ContainsFunc(found, func(f finding) bool {
			dir := f.file[:max(0, strings.LastIndex(f.file, "/"))]
			return f.linter == "depguard" && strings.Contains(f.text, list) &&
				(dir == folder && !below || below && strings.HasPrefix(dir, folder+"/"))
		}) {
			out = append(out, fmt.Sprintf("no planted line shows depguard %s in %s", name, g))
		}
	}
	return out
}

// alternatives returns the names that a pattern of forbidigo forbids: "^a\.(B|C)$" forbids a.B and a.C.
func alternatives(pattern string) []string {
	plain := strings.NewReplacer("^", "", "$", "", `\`, "").Replace(pattern)
	start, end := strings.Index(plain, "("), strings.LastIndex(plain, ")")
	if start < 0 || end < start+2 {
		return []string{plain}
	}
	var out []string
	for _, one := range strings.Split(plain[start+1:end], "|") {
		out = append(out, plain[:start]+one+plain[end+1:])
	}
	return out
}

func containsAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
