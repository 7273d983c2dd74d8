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

// rewriteHosts replaces the names by which components know each other. Variables that name a service without a component get a note.
func (a *App) rewriteHosts(addresses map[string]address) {
	for i := range a.Components {
		c := &a.Components[i]
		for j := range c.Spec.Env {
			a.rewriteVariable(c, &c.Spec.Env[j], addresses)
		}
	}
}

// rewriteVariable replaces the host names in one variable.
func (a *App) rewriteVariable(c *Component, v *nexusv1.EnvVar, addresses map[string]address) {
	at := cmp.Or(c.Source, "component "+c.Name) + ": " + v.Name
	var changed, left []string
	replace := func(found string) string {
		m := hostForm.FindStringSubmatch(found)
		if slices.Contains(a.Left, m[2]) {
			left = append(left, m[2])
		}
		to, known := addresses[m[2]]
		if !known || m[2] == to.host {
			return found
		}
		changed = append(changed, m[2]+" to "+to.host)
		port := m[3]
		if m[1] == "//" && port == "" {
			port = ":" + strconv.Itoa(int(to.port))
		}
		return m[1] + to.host + port + m[4]
	}
	parts := strings.Split(v.Value, ",") // a value may list several
	for i := range parts {
		parts[i] = hostForm.ReplaceAllStringFunc(parts[i], replace)
	}
	value := strings.Join(parts, ",")
	if len(value) > maxValue {
		return
	}
	v.Value = value
	if len(changed) > 0 {
		a.Notef(c.Name, at, "was changed from %s, where the pods reach that component", strings.Join(changed, ", from "))
	}
	if len(left) > 0 {
		a.Notef(c.Name, at, "names %s, which is no component: set it to the endpoint of the service that you use", strings.Join(left, ", "))
	}
}
