// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// show lists the existing resources at AWS and the objects in the namespaces of the capabilities.
func (c *cluster) show(ctx context.Context, endpoint string, capabilities []*unstructured.Unstructured) error {
	if err := c.showAWS(ctx, endpoint); err != nil {
		return err
	}
	own, err := c.served(ownGroups)
	if err != nil {
		return err
	}
	for _, namespace := range namespacesOf(capabilities) {
		say(c.out, "\nKubernetes, namespace %s", namespace)
		if err := c.showKinds(ctx, namespace, slices.Concat(own, builtin)); err != nil {
			return err
		}
	}
	return c.showIntents(ctx, capabilities)
}

func (c *cluster) showAWS(ctx context.Context, endpoint string) error {
	found, err := emulator.InventoryAt(ctx, endpoint)
	if err != nil {
		return fmt.Errorf("asking AWS: %w", err)
	}
	kinds := make([]string, 0, len(found))
	for kind := range found {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	say(c.out, "\nAWS, as its API lists it (%s)", endpoint)
	for _, kind := range kinds {
		c.printGroup(kind, found[kind])
	}
	return nil
}

func (c *cluster) printGroup(kind string, names []string) {
	for i, name := range names {
		if i > 0 {
			kind = ""
		}
		say(c.out, "  %-26s %s", kind, name)
	}
}

// namespacesOf gives the namespaces of capabilities and of their workloads.
func namespacesOf(capabilities []*unstructured.Unstructured) []string {
	var names []string
	for _, o := range capabilities {
		capability, _, _ := unstructured.NestedString(o.Object, "spec", "capabilityName")
		environment, _, _ := unstructured.NestedString(o.Object, "spec", "environment")
		names = append(names, o.GetNamespace(), capability+"-"+environment)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ownGroups are the API groups of capabilities and of their AWS resources.
var ownGroups = []string{"nexus.ai", "aws-infra-operator.runner.codes"}

// builtin are the other kinds that a capability may consist of.
var builtin = []schema.GroupVersionResource{
	{Version: "v1", Resource: "serviceaccounts"}, {Version: "v1", Resource: "configmaps"},
	{Group: "apps", Version: "v1", Resource: "deployments"}, {Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "services"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
}

// showKinds lists the objects of a namespace that are of these kinds.
func (c *cluster) showKinds(ctx context.Context, namespace string, kinds []schema.GroupVersionResource) error {
	for _, resource := range kinds {
		list, err := c.dynamic.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		var names []string
		for i := range list.Items {
			if o := &list.Items[i]; !ofTheCluster(o) {
				names = append(names, strings.TrimRight(fmt.Sprintf("%-48s %s", o.GetName(), summary(o)), " "))
			}
		}
		c.printGroup(resource.Resource, names)
	}
	return nil
}

// served gives the kinds of these API groups that have a namespace, group by
// group.
func (c *cluster) served(groups []string) ([]schema.GroupVersionResource, error) {
	lists, err := c.discovery.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	var found []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || !slices.Contains(groups, gv.Group) {
			continue
		}
		for _, r := range list.APIResources {
			found = append(found, gv.WithResource(r.Name))
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupVersionResource) int {
		return strings.Compare(fmt.Sprint(slices.Index(groups, a.Group), a.Resource), fmt.Sprint(slices.Index(groups, b.Group), b.Resource))
	})
	return found, nil
}

// ofTheCluster: the objects that every namespace has.
func ofTheCluster(o *unstructured.Unstructured) bool {
	return o.GetKind() == "ConfigMap" && o.GetName() == "kube-root-ca.crt" || o.GetKind() == "ServiceAccount" && o.GetName() == "default"
}

// summary says in a word how an object is.
func summary(o *unstructured.Unstructured) string {
	switch o.GetKind() {
	case "Deployment":
		want, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		have, _, _ := unstructured.NestedInt64(o.Object, "status", "availableReplicas")
		return fmt.Sprintf("%d/%d available", have, want)
	case "Pod", "NexusAICapability":
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		return phase
	case "Ingress", "Service":
		ingress, _, _ := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress")
		if len(ingress) > 0 {
			host, _ := ingress[0].(map[string]any)["hostname"].(string)
			return host
		}
		return ""
	}
	if ready, _ := condition(o, "Ready"); ready != "" {
		return "Ready=" + ready
	}
	return ""
}
