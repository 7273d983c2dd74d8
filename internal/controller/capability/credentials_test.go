// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// says passes until the condition CredentialsInPods is False with the text.
func (b *bed) says(c *nexusv1.NexusAICapability, text string) {
	b.Helper()
	b.eventually("CredentialsInPods to say "+text, func() error {
		b.answer()
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		if _, err := b.reconcile(c); err != nil {
			return err
		}
		b.read(c)
		k := meta.FindStatusCondition(c.Status.Conditions, nexusv1.ConditionCredentialsInPods)
		if k == nil || k.Status != metav1.ConditionFalse || k.Reason != status.ReasonCredentialsNotInPods || !strings.Contains(k.Message, text) {
			return fmt.Errorf("%+v", k)
		}
		return nil
	})
}

// evictions counts the pods that were to be evicted; a disruption budget may have refused one at first.
func (b *bed) evictions() int {
	asked := slices.DeleteFunc(b.written(), func(w string) bool { return !strings.HasPrefix(w, "create eviction ") })
	slices.Sort(asked)
	return len(slices.Compact(asked))
}

func TestCredentials_RefusedAndFutileReplacementsAreTold(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	// A pod of another capability proves that the cluster gives credentials.
	proof := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "proof", Labels: map[string]string{wellknown.LabelCapabilityUID: "another"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1", Env: []corev1.EnvVar{{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials"}}}}}}
	b.create(proof)
	t.Cleanup(func() { _ = b.person.Delete(b.ctx(), proof) })
	c := b.capability()
	b.refuseWith("create eviction", "Pod", forbidden)
	b.says(c, "grant it create of pods/eviction")
	if c.Status.Ready || !meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall) {
		t.Errorf("ready %t, phase %s: %s", c.Status.Ready, c.Status.Phase, c.Status.Message)
	}
	b.refuseWith("create eviction", "Pod", apierrors.NewTooManyRequests("the budget needs 2 healthy pods", 10))
	b.says(c, "a PodDisruptionBudget does not allow")
	if c.Status.Ready || meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall) {
		t.Errorf("ready %t, phase %s: %s", c.Status.Ready, c.Status.Phase, c.Status.Message)
	}
	if n := len(c.Status.ReplacedPods); n != 3 {
		t.Errorf("%d records of pods that were not evicted, want 3", n)
	}

	// The labels of a foreign pod make it none of ours.
	ours := b.deployments(b.ns + "-dev")[0].Spec
	foreign := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: "foreign", Labels: ours.Selector.MatchLabels}, Spec: ours.Template.Spec}
	b.create(foreign)
	b.allowAll()
	b.written()
	b.says(c, "3 pods that were replaced")
	b.Reconciler = b.newReconciler() // as after a restart
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.says(c, "3 pods that were replaced")
	if n := b.evictions(); n != 3 {
		t.Errorf("%d evictions, want 3", n)
	}
	if c.Status.Ready || !b.exists(foreign) {
		t.Errorf("ready %t, the foreign pod exists: %t", c.Status.Ready, b.exists(foreign))
	}
	if told := b.emitted(); !slices.ContainsFunc(told, func(e string) bool { return strings.HasPrefix(e, "Normal PodReplaced ") }) {
		t.Errorf("events %q", told)
	}
}

// The cache may show a pod for a while as it was before its eviction.
func TestCredentials_APodIsEvictedOnce(t *testing.T) {
	b := newBed(t)
	c := b.capability()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: capability.NamesOf(c).WorkloadNamespace(), Name: "web", Finalizers: []string{"example.com/slow"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1"}}}}
	b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}})
	b.create(pod)
	t.Cleanup(func() { pod.Finalizers = nil; _ = b.person.Update(b.ctx(), pod) })
	b.written()
	for range 2 {
		if err := b.pods.evict(b.ctx(), c, []nexusv1.ReplacedPod{{Name: pod.Name, UID: string(pod.UID), Deployment: "web"}}); err != nil {
			t.Fatal(err)
		}
	}
	asked := slices.DeleteFunc(b.written(), func(w string) bool { return !strings.HasPrefix(w, "create eviction ") })
	told := slices.DeleteFunc(b.emitted(), func(e string) bool { return !strings.HasPrefix(e, "Normal PodReplaced ") })
	if len(asked) != 1 || len(told) != 1 {
		t.Errorf("%q and %q", asked, told)
	}
}

// The webhook may fail for all pods of the first capability of a cluster, which then prove nothing.
func TestCredentials_OfTheOperatorProveThatThereIsAWebhook(t *testing.T) {
	extent.Full(t)
	b := newBed(t, func(o *options.Options) { o.AWS.InjectsCredentials = true })
	c := b.capability()
	b.says(c, "3 pods that were replaced")
	if c.Status.Ready || len(c.Status.ReplacedPods) != 3 {
		t.Errorf("ready %t, %d pods are replaced: %s", c.Status.Ready, len(c.Status.ReplacedPods), c.Status.Message)
	}
}
