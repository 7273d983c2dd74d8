// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var intentResource = schema.GroupVersionResource{Group: "intent.security.nimbus.com", Version: "v1alpha1", Resource: "securityintents"}

// policyKinds lists the kinds that security intents lead to, from cause to effect,
// but for the policy engines'.
var policyKinds = []schema.GroupVersionResource{
	intentResource.GroupVersion().WithResource("securityintentbindings"),
	intentResource.GroupVersion().WithResource("nimbuspolicies"),
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
}

// engineGroups are the API groups of policy engines that the cluster may serve.
var engineGroups = []string{"security.kubearmor.com", "kyverno.io", "security.istio.io", "cilium.io", "networking.k8s.aws"}

// boundIntents are the security intents that a capability names.
func boundIntents(o *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(o.Object, "spec", "security", "intents")
	return objectsIn(list)
}

// objectsIn are the objects of a list.
func objectsIn(list []any) []map[string]any {
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// showIntents lists, of each capability with security intents, the intents, all
// that came of them in its namespaces, and how far each engine goes.
func (c *cluster) showIntents(ctx context.Context, capabilities []*unstructured.Unstructured) error {
	engines, err := c.served(engineGroups)
	if err != nil {
		return err
	}
	shown := false
	for _, capability := range capabilities {
		if len(boundIntents(capability)) == 0 {
			continue
		}
		live, err := c.live(ctx, capability)
		if err != nil {
			return err
		}
		say(c.out, "\nSecurity intents of %s/%s", live.GetNamespace(), live.GetName())
		if err := c.showBound(ctx, live); err != nil {
			return err
		}
		for _, namespace := range namespacesOf([]*unstructured.Unstructured{live}) {
			if err := c.showKinds(ctx, namespace, slices.Concat(policyKinds, engines)); err != nil {
				return err
			}
		}
		if err := c.showCoverage(live); err != nil {
			return err
		}
		shown = true
	}
	if shown {
		c.sayWhatIsMissing(engines)
	}
	return nil
}

// sayWhatIsMissing keeps the listing from being taken for protection.
func (c *cluster) sayWhatIsMissing(engines []schema.GroupVersionResource) {
	var names []string
	for _, r := range engines {
		names = append(names, r.GroupResource().String())
	}
	kinds := "No policy engine is installed here"
	if len(names) > 0 {
		kinds = "Kinds that are installed here without their engines: " + strings.Join(names, ", ")
	}
	say(c.out, "\n%s.\nThe nodes are fake, too: nothing enforces these policies. The coverage shows the objects of each engine.", kinds)
}

// showBound lists the SecurityIntents that a capability names.
func (c *cluster) showBound(ctx context.Context, capability *unstructured.Unstructured) error {
	var lines []string
	for _, bound := range boundIntents(capability) {
		intent, err := c.dynamic.Resource(intentResource).Get(ctx, fmt.Sprint(bound["name"]), metav1.GetOptions{})
		if err != nil {
			return err
		}
		id, _, _ := unstructured.NestedString(intent.Object, "spec", "intent", "id")
		action, _, _ := unstructured.NestedString(intent.Object, "spec", "intent", "action")
		lines = append(lines, fmt.Sprintf("%-48s %s, %s", intent.GetName(), action, id))
	}
	c.printGroup(intentResource.Resource, lines)
	return nil
}

// showCoverage prints the coverage in a capability's status as a table.
func (c *cluster) showCoverage(capability *unstructured.Unstructured) error {
	policies, _ := condition(capability, "PoliciesReady")
	say(c.out, "\nCoverage in the status of %s/%s, PoliciesReady=%s", capability.GetNamespace(), capability.GetName(), policies)
	list, _, _ := unstructured.NestedSlice(capability.Object, "status", "coverage")
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "  INTENT\tENGINE\tLEVEL\tREASON")
	for _, row := range objectsIn(list) {
		intent := row["intent"]
		if component, ok := row["component"]; ok {
			intent = fmt.Sprintf("%v (%v)", intent, component)
		}
		reason, _ := row["reason"].(string)
		_, _ = fmt.Fprintf(w, "  %v\t%v\t%v\t%s\n", intent, row["engine"], row["level"], reason)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(table.String()) {
		say(c.out, "%s", strings.TrimRight(line, " \n"))
	}
	return nil
}
