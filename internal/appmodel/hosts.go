// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// hostForm finds host names in a part of a value: alone, in a URL, or before a port.
var hostForm = regexp.MustCompile(`(^\s*|//)([A-Za-z0-9][A-Za-z0-9._-]*)(:[0-9]+)?($|[/?])`)

// address leads the pods of a capability to a component.
type address struct {
	host string
	port int32
}

// rewriteHosts replaces the names that components use for each other. Texts that name a service without a component get a note.
func (a *App) rewriteHosts(addresses map[string]address) {
	for i := range a.Components {
		c := &a.Components[i]
		at := cmp.Or(c.Source, "component "+c.Name) + ": "
		for j := range c.Spec.Env {
			v := &c.Spec.Env[j]
			v.Value = a.rewriteText(c, at+v.Name, v.Value, addresses, false)
		}
		for j, words := range [][]nexusv1.CommandArgument{c.Spec.Command, c.Spec.Args} {
			for w := range words {
				words[w] = nexusv1.CommandArgument(a.rewriteText(c, at+[]string{"command", "args"}[j], string(words[w]), addresses, true))
			}
		}
	}
}

// rewriteText replaces the host names in a text.
func (a *App) rewriteText(c *Component, at, text string, addresses map[string]address, isCommand bool) string {
	r := hostRewriter{addresses: addresses, left: a.Left, isCommand: isCommand}
	parts := strings.Split(text, ",") // a value may list several
	for i := range parts {
		parts[i] = hostForm.ReplaceAllStringFunc(parts[i], r.replace)
	}
	value := strings.Join(parts, ",")
	if len(value) > maxValue {
		return text
	}
	if len(r.changed) > 0 {
		a.Notef(c.Name, at, "was changed from %s, where the pods reach that component", strings.Join(r.changed, ", from "))
	}
	if len(r.named) > 0 {
		a.Notef(c.Name, at, "names %s, which is no component: set it to the endpoint of the service that you use", strings.Join(r.named, ", "))
	}
	return value
}

// hostRewriter replaces host names, and remembers which.
type hostRewriter struct {
	addresses map[string]address
	left      []string
	// isCommand is true for a command line, where a host name alone may be any word, and stays.
	isCommand      bool
	changed, named []string
}

// replace returns a match of hostForm with another host.
func (r *hostRewriter) replace(found string) string {
	m := hostForm.FindStringSubmatch(found)
	if r.isCommand && m[1] != "//" && m[3] == "" {
		return found
	}
	if slices.Contains(r.left, m[2]) {
		r.named = append(r.named, m[2])
	}
	to, known := r.addresses[m[2]]
	if !known || m[2] == to.host {
		return found
	}
	r.changed = append(r.changed, m[2]+" to "+to.host)
	port := m[3]
	if m[1] == "//" && port == "" {
		port = ":" + strconv.Itoa(int(to.port))
	}
	return m[1] + to.host + port + m[4]
}
