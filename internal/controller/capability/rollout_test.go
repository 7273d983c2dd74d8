// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// configMap is the one with the settings of the workloads.
func (b *bed) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-config"}}
}

func (b *bed) bucket() *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-media"}}
}

func TestRollout_RestoresWhatSomebodyElseChanged(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	for name, tc := range map[string]struct {
		child  client.Object
		change func(client.Object)
		says   string
	}{
		"a value":           {b.configMap(), func(o client.Object) { o.(*corev1.ConfigMap).Data["AWS_REGION"] = "mars" }, "ConfigMap/"},
		"an added key":      {b.configMap(), func(o client.Object) { o.(*corev1.ConfigMap).Data["EXTRA"] = "1" }, "data.EXTRA"},
		"an added field":    {b.bucket(), func(o client.Object) { o.(*v1alpha1.S3Bucket).Spec.Tags = map[string]v1alpha1.TagValue{"cost": "none"} }, "S3Bucket/"},
		"our own label":     {b.bucket(), func(o client.Object) { o.SetLabels(nil) }, "S3Bucket/"},
		"a foreign label":   {b.bucket(), func(o client.Object) { o.SetLabels(with(o.GetLabels(), "example.com/team", "a")) }, ""},
		"a foreign comment": {b.bucket(), func(o client.Object) { o.SetAnnotations(with(o.GetAnnotations(), "example.com/note", "a")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b.edit(tc.child, func() { tc.change(tc.child) })
			b.run(c)
			b.read(tc.child)
			before := tc.child.DeepCopyObject().(client.Object)
			b.edit(tc.child, func() { tc.change(tc.child) })
			b.pass(c)
			events, writes := b.emitted(), b.written()
			if tc.says == "" {
				if len(events)+len(writes) > 0 {
					t.Errorf("what concerns no object leads to %q and %q", events, writes)
				}
				return
			}
			if len(events) != 1 || !strings.HasPrefix(events[0], "Warning DriftCorrected ") || !strings.Contains(events[0], tc.says) {
				t.Errorf("events %q", events)
			}
			if b.read(tc.child); before.GetUID() != tc.child.GetUID() {
				t.Error("the child was replaced")
			}
			b.run(c)
			if c.Status.Rollout != nil {
				t.Errorf("drift is taken for a rollout: %+v", c.Status.Rollout)
			}
		})
	}
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func TestRollout_ReportsWhatAnEditChanges(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	b.edit(c, func() { c.Spec.Backend.Image = "registry.example/backend:2"; withBucket(c) })
	b.pass(c)
	// The pass that creates the new bucket ends with a status that is refused: its changes are kept.
	b.run(c)
	r := c.Status.Rollout
	if r == nil || r.State != nexusv1.RolloutComplete || r.Generation != c.Generation {
		t.Fatalf("rollout %+v", r)
	}
	for _, want := range []string{"Created S3Bucket " + b.bucket().Name, "Updated Deployment " + b.ns + "-dev-backend"} {
		if !slices.ContainsFunc(r.Changes, func(x nexusv1.RolloutChange) bool { return x.Action+" "+x.Kind+" "+x.Name == want }) {
			t.Errorf("%s is not reported: %+v", want, r.Changes)
		}
	}
	if c.Status.Phase != nexusv1.PhaseRunning {
		t.Error(c.Status.Phase)
	}
}

func TestRollout_ChangesOutliveAStatusThatIsRefused(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	b.edit(c, func() { c.Spec.Backend.Image = "registry.example/backend:2" })
	b.refuseWith("patch status", "NexusAICapability", raced)
	if res, err := b.reconcile(c); err != nil || res.RequeueAfter == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	b.allowAll()
	b.run(c)
	if r := c.Status.Rollout; r == nil || !slices.ContainsFunc(r.Changes, func(x nexusv1.RolloutChange) bool { return x.Kind == "Deployment" }) {
		t.Errorf("the change is lost: %+v", r)
	}
}

func TestRollout_LeavesForeignObjectsAlone(t *testing.T) {
	b := newBed(t)
	theirs := b.bucket()
	theirs.Spec.BucketName, theirs.Spec.ProviderRef.Name = "theirs", "theirs"
	b.create(theirs)
	c := b.capability(withBucket)
	b.pass(c)
	b.answer()
	b.pass(c)
	m := b.is(c, nexusv1.ConditionDataServicesReady, metav1.ConditionFalse, status.ReasonConflict)
	if !strings.Contains(m, theirs.Name) || !strings.Contains(m, "choose another name") {
		t.Errorf("the message names neither the object nor the remedy: %s", m)
	}
	if events := b.emitted(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning Conflict ") {
		t.Errorf("events %q", events)
	}
	version := theirs.ResourceVersion
	if b.read(theirs); theirs.Spec.BucketName != "theirs" || len(theirs.Labels)+len(theirs.OwnerReferences) > 0 {
		t.Errorf("it was changed (version %s to %s): %+v", version, theirs.ResourceVersion, theirs)
	}
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.pass(c)
	if events := b.emitted(); len(events) > 0 {
		t.Errorf("the conflict is reported again: %q", events)
	}
	if err := b.person.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	b.run(c)
}

func TestRollout_NamespaceThatMayNotBeMade(t *testing.T) {
	extent.Full(t)
	for name, tc := range map[string]struct {
		capabilityName string
		allowed        []string
		foreign        bool
		reason, says   string
	}{
		"nobody allowed it":        {"fresh", nil, false, status.ReasonNotPermitted, "--workload-namespaces"},
		"another one is allowed":   {"fresh", []string{"team-*"}, false, status.ReasonNotPermitted, "--workload-namespaces"},
		"a component's name":       {"istio-x", []string{"*"}, false, status.ReasonNotPermitted, "choose another capabilityName"},
		"it belongs to a stranger": {"taken", []string{"*"}, true, status.ReasonConflict, "Namespace taken-dev exists"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, func(o *options.Options) { o.Guards.WorkloadNamespaces = tc.allowed })
			if tc.foreign {
				b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tc.capabilityName + "-dev"}})
			}
			c := b.capability(withBucket, func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = tc.capabilityName })
			b.pass(c)
			if m := b.is(c, status.Stall, metav1.ConditionTrue, tc.reason); !strings.Contains(m, tc.says) {
				t.Errorf("says %s", m)
			}
			if writes := b.written(); !slices.Equal(writes, []string{"patch NexusAICapability/app", "patch status NexusAICapability/app"}) {
				t.Errorf("half a capability is made: %q", writes)
			}
		})
	}
}

func TestRollout_NamespaceAndItsQuota(t *testing.T) {
	extent.Full(t)
	b := newBed(t, func(o *options.Options) {
		o.Guards.WorkloadNamespaceQuota = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("20")}
	})
	c := b.capability()
	b.run(c)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-quota"}}
	b.edit(quota, func() { quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("2000") })
	b.pass(c)
	if b.read(quota); quota.Spec.Hard.Pods().Value() != 20 {
		t.Errorf("the administrator's limit is %v", quota.Spec.Hard)
	}
	// A namespace that exists stays in use when the administrator allows no more.
	b.options.Guards.WorkloadNamespaces = nil
	b.Reconciler = b.newReconciler()
	b.run(c)
}

func TestRollout_PoliciesOfIntents(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	name := b.ns + "-dns"
	c := b.capability(func(c *nexusv1.NexusAICapability) {
		c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: name}}}
	})
	b.eventually("everything but the policies", func() error {
		b.answer()
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		b.pass(c)
		if !meta.IsStatusConditionTrue(c.Status.Conditions, nexusv1.ConditionBackendReady) {
			return errorf(c)
		}
		return nil
	})
	b.is(c, nexusv1.ConditionPoliciesReady, metav1.ConditionFalse, status.ReasonProgressing)
	binding := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-policies"}}
	b.read(binding)
	status.Summarize(&binding.Status.Conditions, status.Result{Generation: binding.Generation, Now: b.clock.Now()})
	status.Set(&binding.Status.Conditions, binding.Generation, b.clock.Now(), metav1.Condition{Type: intentv1alpha1.ConditionEnforced, Status: metav1.ConditionTrue, Reason: status.ReasonEnforced})
	if err := b.person.Status().Update(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	b.run(c)
	if got := b.directory.boundTo(t.Context(), &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name}}); len(got) != 1 || got[0].Name != "app" {
		t.Errorf("when the intent changes, %v are looked at", got)
	}
	// The intent closes the way to AWS: that is said at once, also before any engine enforces it.
	b.create(&intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: intentv1alpha1.SecurityIntentSpec{Intent: intentv1alpha1.Intent{ID: "dnsManipulation"}}})
	b.pass(c)
	if m := b.is(c, nexusv1.ConditionPoliciesReady, metav1.ConditionFalse, status.ReasonEgressToAWSBlocked); !strings.Contains(m, name) {
		t.Errorf("the message does not name the intent: %s", m)
	}
	b.refuseWith("get", "SecurityIntent", forbidden)
	if _, err := b.reconcile(c); err == nil {
		t.Error("an intent that may not be read is taken for one that does not exist")
	}
}
