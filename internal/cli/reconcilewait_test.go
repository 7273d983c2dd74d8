// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

// slowRole answers as an operator does that checks a capability at once, and its role later: the check finds that it does not work.
type slowRole struct {
	looks     int
	handledAt string
	ready     string
}

func (o *slowRole) get(_ context.Context, _ client.WithWatch, _ client.ObjectKey, got client.Object, _ ...client.GetOption) error {
	u, handled, ready := got.(*unstructured.Unstructured), o.handledAt, o.ready
	if !connection.IsCapability(u) {
		o.looks++
		ready = "True"
		if handled = ""; o.looks > 1 {
			handled = "first"
		}
	}
	u.Object["status"] = map[string]any{"lastHandledReconcileAt": handled,
		"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "Seen"}}}
	return nil
}

func (o *slowRole) patch(_ context.Context, _ client.WithWatch, u client.Object, p client.Patch, _ ...client.PatchOption) error {
	var sent struct{ Metadata metav1.ObjectMeta }
	text, err := p.Data(u)
	if err == nil {
		err = json.Unmarshal(text, &sent)
	}
	if o.handledAt = sent.Metadata.Annotations[wellknown.AnnotationReconcileAt]; o.looks > 1 {
		o.ready = "False"
	}
	return err
}

func TestReconcileWait_ChecksACapabilityAfterItsResources(t *testing.T) {
	o := &slowRole{handledAt: "first", ready: "True"}
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{Get: o.get, Patch: o.patch}).Build()
	capability, role := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	capability.SetGroupVersionKind(objectrequest.CapabilityKind)
	role.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("IAMRole"))
	for _, u := range []*unstructured.Unstructured{capability, role} {
		u.SetNamespace("ns")
		u.SetName("a")
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	s := newConnection(Program{IOStreams: streams, Clock: clock.RealClock{}})
	err := (&requestVerb{Connection: s}).waitForChecks(t.Context(), c, []*unstructured.Unstructured{capability, role}, "first", time.Minute)
	if want := "IAMRole ns/a: checked, ready\nNexusAICapability ns/a: checked, not ready: Seen: \n"; out.String() != want || err == nil {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

func TestReconcileWait_AnObjectThatGoesIsNoFailure(t *testing.T) {
	role := &unstructured.Unstructured{}
	role.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("IAMRole"))
	role.SetNamespace("ns")
	role.SetName("a")
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	s := newConnection(Program{IOStreams: streams, Clock: clock.RealClock{}})
	err := (&requestVerb{Connection: s}).waitForChecks(t.Context(), fake.NewClientBuilder().Build(), []*unstructured.Unstructured{role},
		"first", time.Minute)
	if err != nil || out.String() != "IAMRole ns/a: gone\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// A forgotten namespace is the usual reason, and a word without a kind the usual mistake.
func TestReadFailure_SaysHowObjectsAreNamed(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Group: "nexus.ai", Resource: "nexuscapabilities"}, "a")
	for want, err := range map[string]error{
		`nexuscapabilities.nexus.ai "a" not found in namespace default; -n names another`:          gone,
		`the server doesn't have a resource type "a": objects are named KIND/NAME, such as ncap/a`: errors.New(`the server doesn't have a resource type "a"`),
	} {
		if got := connection.LookFailure(err, "default"); got.Error() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReconcileWait_SaysWhyACheckTakesLonger(t *testing.T) {
	ready := func(s metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: "Ready", Status: s, Reason: reason, Message: message}
	}
	trying := metav1.Condition{Type: "Reconciling", Status: metav1.ConditionTrue, Reason: "Throttled",
		Message: "AWS throttles s3:PutBucketPolicy"}
	for want, conditions := range map[string][]metav1.Condition{
		"": {ready(metav1.ConditionTrue, "Ready", "the AWS resource exists and is as declared")},
		" (Retrying: eks:DescribeCluster failed)":        {ready(metav1.ConditionFalse, "Retrying", "eks:DescribeCluster failed"), trying},
		" (Throttled: AWS throttles s3:PutBucketPolicy)": {ready(metav1.ConditionTrue, "Ready", "as declared"), trying},
		" (Waiting)": {ready(metav1.ConditionFalse, "Waiting", "")},
	} {
		if got := reasonOfDelay(conditions); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
