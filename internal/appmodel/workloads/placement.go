// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// readPlacement copies the rules that place pods on nodes, if the fields of a capability can express all of them.
func (r *reader) readPlacement(x *object, c *appmodel.Component, pod map[string]any) {
	for _, f := range []struct {
		key  string
		into any
	}{{"affinity", &c.Spec.Affinity}, {"nodeSelector", &c.Spec.NodeSelector}, {"tolerations", &c.Spec.Tolerations},
		{"topologySpreadConstraints", &c.Spec.TopologySpreadConstraints}} {
		key, into, value := f.key, f.into, pod[f.key]
		if isEmpty(value) {
			continue
		}
		if key == "topologySpreadConstraints" {
			value = withoutSelectors(value)
		}
		if !sameJSON(value, into) {
			reset(into)
			r.app.Notef(c.Name, x.at("spec.template.spec."+key),
				"is not carried over: the field of a component cannot express it; see docs/reference/nexusaicapability.md")
		}
	}
}

// reset empties a field that was read in part.
func reset(into any) {
	switch v := into.(type) {
	case *map[string]nexusv1.LabelValue:
		*v = nil
	case *[]nexusv1.Toleration:
		*v = nil
	case **nexusv1.AffinitySpec:
		*v = nil
	case *[]nexusv1.TopologySpread:
		*v = nil
	}
}

// withoutSelectors removes the selectors of constraints: those of a component select its own pods.
func withoutSelectors(value any) any {
	list, _ := value.([]any)
	var out []any
	for _, item := range list {
		m, _ := item.(map[string]any)
		kept := map[string]any{}
		for k, v := range m {
			if k != "labelSelector" {
				kept[k] = v
			}
		}
		out = append(out, kept)
	}
	return out
}

// sameJSON reads a value into a type that has the same fields, and reports whether the type has all of them.
func sameJSON(value, into any) bool {
	text, err := json.Marshal(value)
	if err != nil {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into) == nil
}

// readContext takes over the users of pods and containers within Pod Security restricted.
func (r *reader) readContext(x *object, c *appmodel.Component, pod *corev1.PodSpec) {
	k := pod.Containers[0].SecurityContext
	if k == nil {
		k = &corev1.SecurityContext{}
	}
	out := usersOf(pod.SecurityContext, k)
	if k.ReadOnlyRootFilesystem != nil && *k.ReadOnlyRootFilesystem {
		out.ReadOnlyRootFilesystem = new(true)
	}
	if out.RunAsUser != nil && (*out.RunAsUser < 1 || *out.RunAsUser > 2147483647) {
		r.app.Notef(c.Name, x.at("spec.template.spec.securityContext.runAsUser"), "%d is not carried over: pods do not run as root",
			*out.RunAsUser)
		out.RunAsUser = nil
	}
	if k.Privileged != nil && *k.Privileged {
		r.app.Notef(c.Name, x.at("spec.template.spec.containers[0].securityContext.privileged"),
			"is not carried over: pods meet Pod Security restricted")
	}
	if k.Capabilities != nil {
		r.readCapabilities(x, c, k.Capabilities.Add, &out)
	}
	if out != (nexusv1.SecurityContextSpec{}) {
		c.Spec.SecurityContext = &out
	}
}

// usersOf returns the users of a pod, or those of its container.
func usersOf(p *corev1.PodSecurityContext, k *corev1.SecurityContext) nexusv1.SecurityContextSpec {
	out := nexusv1.SecurityContextSpec{}
	if p != nil {
		out.RunAsUser, out.RunAsGroup, out.FSGroup = p.RunAsUser, p.RunAsGroup, p.FSGroup
	}
	if k.RunAsUser != nil {
		out.RunAsUser = k.RunAsUser
	}
	if k.RunAsGroup != nil {
		out.RunAsGroup = k.RunAsGroup
	}
	return out
}

func (r *reader) readCapabilities(x *object, c *appmodel.Component, add []corev1.Capability, out *nexusv1.SecurityContextSpec) {
	for i, name := range add {
		if name == "NET_BIND_SERVICE" {
			out.Capabilities = &nexusv1.CapabilitiesSpec{Add: []nexusv1.LinuxCapability{"NET_BIND_SERVICE"}}
			continue
		}
		r.app.Notef(c.Name, x.at(fmt.Sprintf("spec.template.spec.containers[0].securityContext.capabilities.add[%d]", i)),
			"is not carried over: pods meet Pod Security restricted")
	}
}
