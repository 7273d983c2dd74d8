// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/progress"
	"github.com/nexus-operator/nexus-operator/internal/testkit/creation"
)

// failedCapability is one with a bucket that belongs to another owner, so that nothing after the bucket was made.
func failedCapability() *nexusv1.NexusAICapability {
	c := creation.At(nexusv1.PhaseFailed, nexusv1.ResourceReady, nexusv1.ResourceFailed, nexusv1.ResourceWaiting)
	c.UID = "u"
	c.Status.Resources[1].Reason = "Conflict"
	c.Status.Message = "S3Bucket/myapp-dev-call-data: it belongs to another owner"
	stop := metav1.Condition{Type: progress.ConditionStalled, Status: metav1.ConditionTrue, Reason: "Conflict", Message: c.Status.Message,
		ObservedGeneration: 2}
	ready := metav1.Condition{Type: progress.ConditionReady, Status: metav1.ConditionFalse, Reason: "Conflict", Message: c.Status.Message,
		ObservedGeneration: 2}
	waits := metav1.Condition{Type: nexusv1.ConditionCredentialsInPods, Status: metav1.ConditionFalse, Reason: "NotStarted"}
	c.Status.Conditions = []metav1.Condition{ready, stop, waits}
	return c
}

// onlyKnownKinds lists as an API server that serves no kinds of others.
func onlyKnownKinds(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	if u, ok := list.(*unstructured.UnstructuredList); ok {
		return &meta.NoKindMatchError{GroupKind: u.GroupVersionKind().GroupKind()}
	}
	if _, ok := list.(*corev1.EventList); ok {
		return nil // the fake client has no index of their fields
	}
	return c.List(ctx, list, opts...)
}

func TestVerify_OneCauseIsOneFailure(t *testing.T) {
	c := failedCapability()
	v, out := verifierOf(c)
	types, err := connection.OwnTypes()
	if err := errors.Join(err, clientgoscheme.AddToScheme(types)); err != nil {
		t.Fatal(err)
	}
	v.client = fake.NewClientBuilder().WithScheme(types).WithObjects(c).WithInterceptorFuncs(interceptor.Funcs{List: onlyKnownKinds}).Build()
	v.Kinds, v.Engines = func() []engine.Entry { return nil }, func() []intent.Engine { return nil }
	if err := v.checkCapability(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, it := range []plan.Item{
		{Kind: "S3Bucket", Name: "myapp-dev-call-data", Problem: &plan.Problem{Reason: "Conflict", Message: "it belongs to another owner"}},
		{Kind: "S3Bucket", Name: "myapp-dev-logs", Action: plan.Create, AWS: &plan.Resource{Action: plan.Create}},
		{Kind: "GlueTable", Name: "a", Waits: "GlueDatabase/a"},
	} {
		if err := v.add(v.judge(it)); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.checkWorkloads(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.checkCredentialsInPods(); err != nil {
		t.Fatal(err)
	}
	if s := v.report.Summary; s.Failed != 1 || s.Warnings != 0 || s.Skipped != 6 {
		t.Errorf("%+v\n%s", s, out)
	}
	if err := v.finish(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "SKIP") != 1 ||
		!strings.HasSuffix(got, "   SKIP  checks 2-7, because of what check 1 found; --verbose lists them\n0 passed, 0 warnings, 1 failed, 6 skipped\n") {
		t.Errorf("printed\n%s", got)
	}
	first := v.report.Checks[0]
	if !strings.Contains(first.Evidence, "the cause is S3Bucket team-a/myapp-dev-call-data: Conflict") ||
		!strings.HasPrefix(first.Fix, "kubectl") && !strings.HasPrefix(first.Fix, "nexusctl") {
		t.Errorf("%+v", first)
	}
	if strings.Contains(out.String(), "check that it runs") {
		t.Errorf("it doubts an operator that runs:\n%s", out)
	}
}

func TestVerify_ARepeatedReasonIsPrintedOnce(t *testing.T) {
	reasons := []string{"a", "b", "a", "a", "a"}
	for verbose, want := range map[bool]int{false: 3, true: 4} {
		v, out := verifierOf(creation.At(nexusv1.PhaseRunning))
		v.Verbose = verbose
		for i, reason := range reasons {
			r := check.Skip("x", reason)
			if i == 3 {
				r = check.Pass("x", "")
			}
			if err := v.add(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.finish(); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if strings.Count(got, "SKIP") != want || strings.Contains(got, "checks 3, 5, for the same reason as check 1") == verbose ||
			len(v.report.Checks) != 5 {
			t.Errorf("verbose %t: want %d skipped\n%s", verbose, want, got)
		}
	}
}

// Without the check of the capability, no check names the cause, and each check reports its own finding.
func TestVerify_ChecksAloneFail(t *testing.T) {
	v, _ := verifierOf(failedCapability())
	if err := v.add(v.judge(plan.Item{Kind: "GlueTable", Name: "a", Waits: "GlueDatabase/a"})); err != nil || v.report.Summary.Failed != 1 {
		t.Errorf("%v %+v", err, v.report.Summary)
	}
}
