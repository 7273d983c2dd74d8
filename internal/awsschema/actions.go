// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// compressedActions is made by `make awsmodels`: the service authorization reference of AWS, and the types of resources by its services.
//
//go:embed actions.txt.gz
var compressedActions []byte

// reference returns the lines of the table by their first words, which are services and types. It is decompressed at the first use, into
// one text; all lines are parts of that text. The first line names the packages that it is made of.
var reference = sync.OnceValues(func() (map[string]string, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressedActions))
	if err != nil {
		return nil, fmt.Errorf("the actions of AWS: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("the actions of AWS: %w", err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out[word] = rest
	}
	return out, nil
})

// Grants describes the actions on the resources of a type that a policy can allow.
type Grants struct {
	// TypeName is the name of the type, and Service the prefix of its actions; the service is empty if AWS does not publish it.
	TypeName, Service string
	// template is the form of the ARNs of the resources, without arn:${Partition}:; empty if AWS does not publish it.
	template    string
	protectable bool
	hidden      []string
	// templates lists the forms of the ARNs of the service, and actions its actions, each with the numbers of the templates that AWS
	// evaluates.
	templates, actions []string
}

// GrantsOf returns the actions and ARNs that AWS publishes of a type; known is false for a type that is not in the table.
func GrantsOf(typeName string) (g Grants, known bool, err error) {
	lines, err := reference()
	if err != nil {
		return Grants{}, false, err
	}
	line, known := lines[typeName]
	fields := strings.Split(line, "\t")
	if !known || len(fields) != 4 {
		return Grants{TypeName: typeName}, false, nil
	}
	g = Grants{TypeName: typeName, Service: fields[0], template: fields[1], protectable: fields[2] != "", hidden: strings.Fields(fields[3])}
	if service := strings.Split(lines[g.Service], "\t"); len(service) == 2 {
		g.templates, g.actions = strings.Fields(service[0]), strings.Fields(service[1])
	}
	return g, true, nil
}

// HoldsData reports whether data would be lost with a resource of the type.
func (g Grants) HoldsData() bool { return holdsData(g.TypeName, g.protectable) }

// IsWriteOnly reports whether AWS never shows a property.
func (g Grants) IsWriteOnly(property string) bool { return slices.Contains(g.hidden, property) }

var wholeAction = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9]+$`)

// managesRights marks the actions that change tags or give rights.
const managesRights = "!"

// WhyNot returns why a policy cannot allow an action on one resource of the type and on the resources below it; empty if it can.
func (g Grants) WhyNot(action string) string {
	service, name, _ := strings.Cut(action, ":")
	entry, exists := g.find(name)
	switch {
	case !wholeAction.MatchString(action):
		return "is no action: write it as service:Action, without wildcards"
	case g.Service == "":
		return "cannot be checked, because AWS does not publish which actions are about resources of type " + g.TypeName
	case service != g.Service:
		return "is an action of " + service + ", and those of " + g.TypeName + " begin with " + g.Service + ":"
	case !exists:
		return "is no action that AWS documents" + g.nearest(name)
	case strings.Contains(entry, managesRights):
		return "changes tags or gives rights to the resource, which no workload of a capability may do"
	case g.template == "":
		return "cannot be limited to the resource, because AWS does not publish the form of the ARNs of " + g.TypeName
	case len(g.endings(entry)) == 0:
		return "cannot be limited to a resource of type " + g.TypeName + ": AWS evaluates it for " + g.evaluated(entry)
	default:
		return ""
	}
}

// find returns the entry of an action: its name, a mark, and the numbers of its templates.
func (g Grants) find(name string) (string, bool) {
	i := slices.IndexFunc(g.actions, func(entry string) bool { return nameIn(entry) == name })
	if i < 0 {
		return "", false
	}
	return g.actions[i], true
}

func nameIn(entry string) string {
	name, _, _ := strings.Cut(entry, ":")
	return strings.TrimSuffix(name, managesRights)
}

// nearest proposes the action that differs from a name in capital letters alone.
func (g Grants) nearest(name string) string {
	for _, entry := range g.actions {
		if known := nameIn(entry); strings.EqualFold(known, name) {
			return "; write " + g.Service + ":" + known
		}
	}
	return ""
}

// about returns the templates of the resources that AWS evaluates for an action.
func (g Grants) about(entry string) (out []string) {
	_, numbers, _ := strings.Cut(entry, ":")
	for text := range strings.SplitSeq(numbers, ",") {
		if i, err := strconv.Atoi(text); err == nil && i < len(g.templates) {
			out = append(out, g.templates[i])
		}
	}
	return out
}

func (g Grants) evaluated(entry string) string {
	if about := g.about(entry); len(about) > 0 {
		return strings.Join(about, ", ")
	}
	return "no resource, so that it needs the resource *"
}

var anyPlaceholder = regexp.MustCompile(`\$\{[^}]*\}`)

// endings returns the suffixes that AWS adds to the ARN of a resource when it evaluates an action: empty for the resource, and a pattern
// for the resources below it.
func (g Grants) endings(entry string) (out []string) {
	own := anyPlaceholder.ReplaceAllString(g.template, "*")
	for _, template := range g.about(entry) {
		ending, below := strings.CutPrefix(anyPlaceholder.ReplaceAllString(template, "*"), own)
		if below && (ending == "" || ending[0] == '/' || ending[0] == ':') {
			out = append(out, ending)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ResourcesOf returns the resources of a statement that allows an action on the resource with an ARN, and on the resources below it: none
// where WhyNot has a reason.
func (g Grants) ResourcesOf(action, arn string) (out []string) {
	_, name, _ := strings.Cut(action, ":")
	if g.WhyNot(action) != "" {
		return nil
	}
	entry, _ := g.find(name)
	for _, ending := range g.endings(entry) {
		out = append(out, arn+ending)
	}
	return out
}

// IsOf reports whether an ARN has the form of those of the type, in an account; resources of some types have no account in their ARNs.
func (g Grants) IsOf(arn, account string) bool {
	parts := strings.SplitN(arn, ":", 6)
	if g.template == "" || len(parts) < 6 || parts[4] != "" && parts[4] != account || strings.ContainsAny(arn, "*?$ ") {
		return false
	}
	var form strings.Builder
	form.WriteString(`^arn:[a-z-]+:`)
	rest := 0
	for _, at := range anyPlaceholder.FindAllStringIndex(g.template, -1) {
		form.WriteString(regexp.QuoteMeta(g.template[rest:at[0]]) + `.*`)
		rest = at[1]
	}
	form.WriteString(regexp.QuoteMeta(g.template[rest:]) + `$`)
	matched, err := regexp.MatchString(form.String(), arn)
	return err == nil && matched
}
