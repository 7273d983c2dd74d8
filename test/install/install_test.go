// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// warnings collects what the API server warns of.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

// applyAll applies objects as kubectl apply --server-side does, and fails when the API server warns.
func applyAll(t *testing.T, w *world.World, objects []*unstructured.Unstructured) {
	t.Helper()
	config, seen := w.Config(), &warnings{}
	config.WarningHandler = seen
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		text, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		options := metav1.PatchOptions{FieldManager: "helm", FieldValidation: "Strict"}
		if _, err := d.Resource(resource).Namespace(o.GetNamespace()).Patch(t.Context(), o.GetName(), types.ApplyPatchType, text,
			options); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	if len(seen.all) > 0 {
		t.Errorf("the API server warns: %q", seen.all)
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// values configures an administrator who allows one pattern of namespaces.
const values = `
namespace: {create: true}
health: {port: %s}
metrics: {port: %s}
aws: {region: ap-southeast-1}
tenants: {capabilityNamespaces: [myapp-*]}
rbac: {secretsNamespaces: [myapp-dev, stranger-dev]}
`

func TestInstalled_ServesAllowedNamespacesAndRefusesOthers(t *testing.T) {
	b := bed.Empty(t)
	health, metrics := world.FreeAddress(t), world.FreeAddress(t)
	for _, namespace := range []string{"myapp-dev", "stranger-dev"} {
		b.MakeNamespace(namespace)
	}
	objects := renderText(t, fmt.Sprintf(values, portOf(t, health), portOf(t, metrics)))
	applyAll(t, b.World, objects)
	applyAll(t, b.World, objects) // an upgrade to the same version
	d := deploymentOf(t, objects)
	b.Eventually(60*time.Second, "the pods, which Pod Security admits, to be available", func() error {
		live := &appsv1.Deployment{}
		err := b.Client.Get(b.Ctx(), client.ObjectKeyFromObject(d), live)
		if err == nil && live.Status.AvailableReplicas != *d.Spec.Replicas {
			err = fmt.Errorf("%+v", live.Status)
		}
		return err
	})
	b.Op = operator.FromDeployment(t, b.World, d)
	defer func() {
		if t.Failed() {
			t.Logf("operator log:\n%s", operator.Tail(b.Op.Log(), 6000))
		}
		b.Op.Stop() // fails when a right was missing
	}()
	b.Eventually(30*time.Second, "the operator to be ready", func() error { return answers(t.Context(), health, "/readyz") })

	c := b.Capability("examples/test-capability.yaml")
	b.Create(c)
	b.Running(c)

	other := b.Capability("examples/test-capability.yaml")
	other.Spec.CapabilityName, other.Name, other.Namespace = "stranger", "stranger-dev", "stranger-dev"
	b.Create(other)
	message := b.Shows(other, "Stalled", metav1.ConditionTrue, "AmbientNotAllowed")
	for _, part := range []string{"--capability-namespaces=myapp-*,stranger-dev", "tenants.capabilityNamespaces"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q does not name %s", message, part)
		}
	}
	b.Remove(other, c)
}

// answers returns an error unless a health endpoint answers 200.
func answers(ctx context.Context, address, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// The test above proves nothing about Pod Security if the namespace does not enforce it.
func TestInstalled_NamespaceRefusesAnUnrestrictedPod(t *testing.T) {
	b := bed.Empty(t)
	objects := renderText(t, "namespace: {create: true}\nreplicas: 0")
	applyAll(t, b.World, objects)
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "root", "namespace": operator.Namespace},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "c"}}}}}
	if err := b.Client.Create(t.Context(), pod); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "restricted") {
		t.Errorf("got %v", err)
	}
}
