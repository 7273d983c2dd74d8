// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// fieldManager owns the fields that Up applies.
const fieldManager = "nexusctl-dev"

var (
	capabilityResource = schema.GroupVersionResource{Group: "nexus.ai", Version: "v1", Resource: "nexuscapabilities"}
	namespaceResource  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// cluster is a client that knows no kinds beforehand, and prints its findings.
type cluster struct {
	out       io.Writer
	clock     clock.PassiveClock
	dynamic   dynamic.Interface
	discovery discovery.DiscoveryInterface
	mapper    meta.RESTMapper
}

func (w World) connect(kubeconfig string, out io.Writer) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(discover)
	if err != nil {
		return nil, err
	}
	return &cluster{out, w.Clock, d, discover, restmapper.NewDiscoveryRESTMapper(groups)}, nil
}

// manifest is a file with its objects.
type manifest struct {
	file    string
	objects []*unstructured.Unstructured
}

// readManifests reads the files, or folders, that a person names.
func readManifests(files []string) ([]manifest, error) {
	var out []manifest
	for _, file := range files {
		objects, err := world.ReadManifests(file)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "" {
				return nil, fmt.Errorf("%s: an object lacks apiVersion, kind or metadata.name", file)
			}
		}
		out = append(out, manifest{file, objects})
	}
	return out, nil
}

// applyAll applies the objects, creating their namespaces, and returns the capabilities among them.
func (c *cluster) applyAll(ctx context.Context, manifests []manifest) ([]*unstructured.Unstructured, error) {
	var capabilities []*unstructured.Unstructured
	for _, m := range manifests {
		for _, o := range m.objects {
			if err := c.apply(ctx, o); err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", m.file, o.GetKind(), o.GetName(), err)
			}
			if o.GroupVersionKind().Group == capabilityResource.Group && o.GetKind() == "NexusAICapability" {
				capabilities = append(capabilities, o)
			}
		}
	}
	return capabilities, nil
}

func (c *cluster) apply(ctx context.Context, o *unstructured.Unstructured) error {
	kind := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		_, err = c.dynamic.Resource(mapping.Resource).Apply(ctx, o.GetName(), o, options)
		return err
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	if err := c.ensureNamespace(ctx, o.GetNamespace()); err != nil {
		return err
	}
	_, err = c.dynamic.Resource(mapping.Resource).Namespace(o.GetNamespace()).Apply(ctx, o.GetName(), o, options)
	return err
}

func (c *cluster) ensureNamespace(ctx context.Context, name string) error {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	_, err := c.dynamic.Resource(namespaceResource).Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (c *cluster) allCapabilities(ctx context.Context) ([]*unstructured.Unstructured, error) {
	list, err := c.dynamic.Resource(capabilityResource).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

// live reads the current state of a capability.
func (c *cluster) live(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.dynamic.Resource(capabilityResource).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
}

// waitRunning prints each change of each capability until all of them run.
func (c *cluster) waitRunning(ctx context.Context, capabilities []*unstructured.Unstructured, begin time.Time) error {
	seen := map[string]string{}
	for left := len(capabilities); left > 0; {
		now, err := c.printChanges(ctx, capabilities, seen, begin)
		switch {
		case err == nil:
			left = now
		case ctx.Err() != nil: // the error only says so in other words
			return fmt.Errorf("%d of %d capabilities are not running after %v", left, len(capabilities), c.clock.Since(begin).Round(time.Second))
		default:
			return err
		}
		if left > 0 {
			pause(ctx, 100*time.Millisecond)
		}
	}
	return nil
}

// pause waits, but not longer than the context lasts.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// printChanges prints the capabilities that have changed and counts those that do not run.
func (c *cluster) printChanges(ctx context.Context, capabilities []*unstructured.Unstructured, seen map[string]string,
	begin time.Time) (left int, err error) {
	for _, capability := range capabilities {
		live, err := c.live(ctx, capability)
		if err != nil {
			return 0, err
		}
		key, line := live.GetNamespace()+"/"+live.GetName(), progress(live)
		if seen[key] != line {
			seen[key] = line
			say(c.out, "%6.1fs  %-30s %s", c.clock.Since(begin).Seconds(), key, line)
		}
		if !isRunning(live) {
			left++
		}
	}
	return left, nil
}

// say prints a line, where nothing can be done about a failure.
func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }

// isRunning: phase Running and Ready=True, of the present generation, and with
// security intents PoliciesReady=True.
func isRunning(o *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	ready, _ := condition(o, "Ready")
	policies, _ := condition(o, "PoliciesReady")
	return phase == "Running" && ready == "True" && observed == o.GetGeneration() && (len(boundIntents(o)) == 0 || policies == "True")
}

// progress says in a few words how far a capability is.
func progress(o *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	steps, _, _ := unstructured.NestedString(o.Object, "status", "progress")
	if phase == "" {
		phase = "not seen by the operator yet"
	}
	line := fmt.Sprintf("%-26s %s", phase, steps)
	if stalled, message := condition(o, "Stalled"); stalled == "True" {
		line += "  stalled: " + message
	}
	if policies, message := condition(o, "PoliciesReady"); phase == "Running" && policies == "False" {
		line += "  policies: " + message
	}
	return line
}

func condition(o *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return fmt.Sprint(m["status"]), fmt.Sprint(m["message"])
		}
	}
	return "", ""
}
