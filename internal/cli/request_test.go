// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

// requestsFor are suspensions of ConfigMaps of these names; any object has annotations.
func requestsFor(names ...string) []objectrequest.Request {
	var out []objectrequest.Request
	for _, n := range names {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": n, "namespace": "ns"}}}
		q, _ := toSuspend(u)
		out = append(out, q)
	}
	return out
}

func TestSend_AnInterruptionEndsItBetweenTwoChanges(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}}).
		WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
			opts ...client.PatchOption) error {
			cancel() // while the change is under way
			return errors.Join(c.Patch(ctx, o, p, opts...), ctx.Err())
		}}).Build()
	streams, _, out, errs := genericiooptions.NewTestIOStreams()
	s := &console.Console{IOStreams: streams}
	err := objectrequest.Send(ctx, s, c, requestsFor("a", "b"), false)
	i, ok := errors.AsType[*exit.Interruption](err)
	if !ok || i.Left != 1 || len(i.Changed) != 1 || !strings.Contains(i.Said(), "Changed: ConfigMap ns/a. Not changed: 1.") {
		t.Errorf("%+v, %v", i, err)
	}
	for name, want := range map[string]string{"a": "true", "b": ""} {
		got := &corev1.ConfigMap{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, got); err != nil ||
			got.Annotations["nexus.ai/paused"] != want {
			t.Errorf("%s: %v, %v", name, got.Annotations, err)
		}
	}
	if out.String() != "ConfigMap ns/a: suspended\n" || errs.String() != "" {
		t.Errorf("%q, %q", out, errs)
	}
}

func TestSend_AFailureKeepsNothingElseFromBeingChanged(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}}).Build()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	s := &console.Console{IOStreams: streams}
	if err := objectrequest.Send(t.Context(), s, c, requestsFor("a", "b"), false); err == nil ||
		!strings.Contains(err.Error(), "ConfigMap ns/a: ") {
		t.Errorf("%v", err)
	}
	if out.String() != "ConfigMap ns/b: suspended\n" {
		t.Errorf("%q", out)
	}
}
