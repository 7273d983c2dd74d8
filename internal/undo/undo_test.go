// SPDX-License-Identifier: Apache-2.0

package undo

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

func TestSend_AWriteOfTheOperatorRefusesNoChange(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(m *corev1.ConfigMap)
		want      string
		refused   string
	}{
		"a status is written":  {func(m *corev1.ConfigMap) { m.Data = map[string]string{"k": "v"} }, "c", ""},
		"one name is gone":     {func(m *corev1.ConfigMap) { m.Annotations[wellknown.AnnotationDeleteData] = "b" }, "", ""},
		"one name is added":    {func(m *corev1.ConfigMap) { m.Annotations[wellknown.AnnotationDeleteData] = "a,b,c,d" }, "c,d", ""},
		"another one is there": {func(m *corev1.ConfigMap) { m.UID = "2" }, "a,b,c", "was deleted meanwhile"},
	} {
		t.Run(name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", UID: "1",
				Annotations: map[string]string{wellknown.AnnotationDeleteData: "a,b,c"}}}
			patches := 0
			c := fake.NewClientBuilder().WithObjects(object).WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context,
				c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if patches++; patches == 1 {
					now := &corev1.ConfigMap{}
					if err := c.Get(ctx, client.ObjectKeyFromObject(object), now); err != nil {
						return err
					}
					tc.meanwhile(now)
					if err := c.Update(ctx, now); err != nil {
						return err
					}
				}
				return c.Patch(ctx, o, p, opts...)
			}}).Build()
			u := &unstructured.Unstructured{}
			u.SetAPIVersion("v1")
			u.SetKind("ConfigMap")
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), u); err != nil {
				t.Fatal(err)
			}
			streams, _, _, _ := genericiooptions.NewTestIOStreams()
			s := &console.Console{IOStreams: streams}
			err := objectrequest.Send(t.Context(), s, c, []objectrequest.Request{keeping(u, []string{"a", "b"})}, false)
			if (err != nil) != (tc.refused != "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
				t.Fatalf("%v, want %q", err, tc.refused)
			}
			now := &corev1.ConfigMap{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), now); err != nil ||
				now.Annotations[wellknown.AnnotationDeleteData] != tc.want {
				t.Errorf("%v, %v, want %q", now.Annotations, err, tc.want)
			}
		})
	}
}
