// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// withJob adds a Job with an image to a capability.
func withJob(image string) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		n := nexusv1.NamedComponentSpec{Name: "once", Type: nexusv1.ComponentJob, BackoffLimit: new(int32(0))}
		n.Image = image
		c.Spec.Components = []nexusv1.NamedComponentSpec{n}
	}
}

// job returns the Job of the component once, with its key alone where there is none.
func (b *bed) job() *batchv1.Job {
	b.Helper()
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-once"}}
	if !b.exists(j) {
		j.UID = ""
	}
	return j
}

// passUntil reconciles until a check passes.
func (b *bed) passUntil(c *nexusv1.NexusAICapability, what string, check func() error) {
	b.Helper()
	b.eventually(what, func() error {
		b.answer()
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		if _, err := b.reconcile(c); err != nil {
			return err
		}
		b.read(c)
		return check()
	})
}

// reports returns a check whether ComponentsReady is False with a reason and a message.
func (b *bed) reports(c *nexusv1.NexusAICapability, reason, message string) func() error {
	return func() error {
		for _, k := range c.Status.Conditions {
			if k.Type == nexusv1.ConditionComponentsReady && k.Status == metav1.ConditionFalse && k.Reason == reason && strings.Contains(k.Message, message) {
				return nil
			}
		}
		return fmt.Errorf("%+v", c.Status.Conditions)
	}
}

// setImage edits the image of the Job.
func (b *bed) setImage(c *nexusv1.NexusAICapability, image string) {
	b.Helper()
	b.edit(c, func() { c.Spec.Components[0].Image = image })
}

func TestJob_RunsOnceForEachDeclaration(t *testing.T) {
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:1"))
	b.run(c)
	first := b.job()
	if row := c.Status.Components[0]; row.State != nexusv1.ResourceReady || row.Runs == nil || row.Runs.Last == nil || row.Runs.LastSuccess == nil || row.Runs.Next != nil || row.Runs.Failures != 0 {
		t.Errorf("%+v %+v", row, row.Runs)
	}
	b.edit(c, func() { c.Labels = map[string]string{"team": "a"} })
	for range 2 {
		b.Reconciler = b.newReconciler() // a new process
		b.pass(c)
	}
	if writes := b.written(); len(writes) > 0 || b.job().UID != first.UID {
		t.Errorf("at rest: %q", writes)
	}
	for name, edit := range map[string]func(){
		"an image":  func() { c.Spec.Components[0].Image = "registry.example/job:2" },
		"a command": func() { c.Spec.Components[0].Args = []nexusv1.CommandArgument{"--all"} },
		"an access": func() { c.Spec.Components[0].Access = &[]nexusv1.AccessName{} },
		"a version": func() { c.Spec.Version = "2.0.0" },
	} {
		before := b.job().UID
		b.edit(c, edit)
		events := strings.Join(b.run(c), "\n")
		after := b.job()
		if after.UID == before || !strings.Contains(events, "Job "+after.Namespace+"/"+after.Name+" ran an earlier declaration") {
			t.Errorf("%s does not run the Job again: %s", name, events)
		}
		b.Reconciler = b.newReconciler()
		b.pass(c)
		if writes := b.written(); len(writes) > 0 || b.job().UID != after.UID {
			t.Errorf("%s runs the Job twice: %q", name, writes)
		}
	}
	ran := b.job()
	if err := b.person.Delete(t.Context(), ran, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	b.run(c)
	if b.job().UID == ran.UID {
		t.Error("a Job that a person deleted does not run again")
	}
	b.edit(c, func() { c.Spec.Components = nil })
	b.run(c)
	if b.job().UID != "" {
		t.Error("a Job that is not declared any more stays")
	}
}

// A process that ends between the deletion and the creation of a Job leaves the creation to the next one.
func TestJob_ACrashInTheMiddleRunsItOnce(t *testing.T) {
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:1"))
	b.run(c)
	before := b.job().UID
	b.setImage(c, "registry.example/job:2")
	b.pass(c)
	if writes := b.written(); !strings.Contains(strings.Join(writes, " "), "delete Job/") {
		t.Fatalf("the Job is not replaced: %q", writes)
	}
	b.refuseWith("apply", "Job", unavailable)
	b.eventually("the Job to be gone", func() error {
		if b.job().UID != "" {
			return fmt.Errorf("it is there")
		}
		return nil
	})
	if _, err := b.reconcile(c); err == nil {
		t.Error("the work queue does not see the failure")
	}
	b.allowAll()
	b.Reconciler = b.newReconciler()
	b.run(c)
	if after := b.job(); after.UID == before || after.UID == "" || after.Spec.Template.Spec.Containers[0].Image != "registry.example/job:2" {
		t.Errorf("%+v", after)
	}
}

func TestJob_AtWorkIsLeftToEnd(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:Working"))
	b.passUntil(c, "the Job to be at work", func() error {
		if j := b.job(); j.Status.Ready == nil || *j.Status.Ready == 0 {
			return errorf(c)
		}
		return b.reports(c, status.ReasonProgressing, "the Job runs")()
	})
	if c.Status.Ready {
		t.Error("a capability is Ready while its Job runs")
	}
	before := b.job().UID
	b.setImage(c, "registry.example/job:2")
	b.passUntil(c, "the wait to be told", b.reports(c, status.ReasonWaiting, "to end, which runs an earlier declaration; to stop it and run the declared one now: kubectl delete job -n "))
	if j := b.job(); j.UID != before {
		t.Error("a Job at work was replaced")
	} else if err := b.person.Delete(t.Context(), j, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	b.run(c)
}

func TestJob_FailuresNameThePodAndTheRemedy(t *testing.T) {
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:Failing"))
	b.passUntil(c, "the failure to be told", b.reports(c, status.ReasonJobFailed, " with exit code 1: see kubectl logs -n "+b.ns+"-dev "+b.ns+"-dev-once-"))
	b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonJobFailed)
	if row := c.Status.Components[0]; row.State != nexusv1.ResourceFailed || row.Runs.Failures != 1 {
		t.Errorf("%+v %+v", row, row.Runs)
	}
	if events := strings.Join(b.emitted(), "\n"); !strings.Contains(events, "Warning JobFailed") {
		t.Errorf("events %s", events)
	}
	b.setImage(c, "registry.example/job:ImagePullBackOff")
	b.passUntil(c, "the image to be told", b.reports(c, status.ReasonImagePull, "cannot be pulled"))
	b.setImage(c, "registry.example/job:1") // it cannot start, and is not waited for
	b.run(c)
}

// The template of a Job is immutable: where an operator compiles another one of the same declaration, the Job stays as it ran.
func TestJob_OfTheSameDeclarationStaysAsItRan(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:1"))
	b.run(c)
	facts, err := b.Facts.Gather(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	g, err := capability.Compile(c, facts)
	if err != nil {
		t.Fatal(err)
	}
	n, found := g.Node(graph.ID("Job", b.ns+"-dev", b.ns+"-dev-once", b.ns))
	if !found {
		t.Fatal("the graph has no Job")
	}
	other := n.Object.DeepCopy()
	if err := unstructured.SetNestedField(other.Object, int64(7), "spec", "template", "spec", "terminationGracePeriodSeconds"); err != nil {
		t.Fatal(err)
	}
	n.Object = other
	res, err := newRollout(b.Reconciler, b.sources.Ending(c)).write(t.Context(), n)
	if err != nil || res.Change != apply.Unchanged || len(b.written()) > 0 || string(res.Live.GetUID()) != string(b.job().UID) {
		t.Errorf("%+v %v", res, err)
	}
}

func TestJob_OfAnotherOwnerIsLeftAlone(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	theirs := b.job()
	theirs.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "x", Image: "theirs:1"}}}
	theirs.Spec.Suspend = new(true)
	b.create(theirs)
	b.edit(c, func() { withJob("registry.example/job:1")(c) })
	b.passUntil(c, "the conflict to be told", b.reports(c, status.ReasonConflict, theirs.Name+" exists and does not belong to"))
	if j := b.job(); j.UID != theirs.UID || j.Labels[wellknown.LabelManagedBy] != "" || j.Spec.Template.Spec.Containers[0].Image != "theirs:1" {
		t.Errorf("it was changed: %+v", j)
	}
}

func TestJob_MissingRightToDelete(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:1"))
	b.run(c)
	b.refuseWith("delete", "Job", forbidden)
	b.setImage(c, "registry.example/job:2")
	b.passUntil(c, "the missing right to be told", b.reports(c, status.ReasonAccessDenied, "the operator may not delete it"))
	b.allowAll()
	b.run(c)
}

func TestJob_TakesThePlaceOfAService(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:1"), func(c *nexusv1.NexusAICapability) {
		c.Spec.Components[0].Type, c.Spec.Components[0].BackoffLimit = "", nil
	})
	b.run(c)
	d, s := &appsv1.Deployment{ObjectMeta: b.job().ObjectMeta}, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-once-svc"}}
	if !b.exists(d) || !b.exists(s) {
		t.Fatal("the Service is not there")
	}
	b.edit(c, func() { c.Spec.Components[0].Type = nexusv1.ComponentJob })
	b.run(c)
	if b.exists(d) || b.exists(s) || b.job().UID == "" {
		t.Error("a Job does not take the place of the Service")
	}
}

func TestCronJob_ChangesInPlaceAndReportsItsRuns(t *testing.T) {
	b := newBed(t)
	c := b.capability(withJob("registry.example/job:1"), func(c *nexusv1.NexusAICapability) {
		c.Spec.Components[0].Type, c.Spec.Components[0].Schedule, c.Spec.Components[0].TimeZone = nexusv1.ComponentCronJob, "0 3 1 1 *", "Asia/Singapore"
	})
	b.run(c)
	cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-once"}}
	b.read(cron)
	uid := cron.UID
	if cron.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || *cron.Spec.TimeZone != "Asia/Singapore" {
		t.Errorf("%+v", cron.Spec)
	}
	zone, err := time.LoadLocation("Asia/Singapore")
	if err != nil {
		t.Fatal(err)
	}
	if next := c.Status.Components[0].Runs.Next; next == nil || next.In(zone).Format("01-02 15:04") != "01-01 03:00" {
		t.Errorf("the next run is at %v", next)
	}
	b.edit(cron, func() { cron.Spec.Suspend = new(true) })
	b.run(c)
	b.edit(c, func() {
		c.Spec.Components[0].Schedule, c.Spec.Components[0].Image = "0 4 1 1 *", "registry.example/job:Failing"
	})
	b.run(c)
	b.read(cron)
	if cron.UID != uid || cron.Spec.Schedule != "0 4 1 1 *" || *cron.Spec.Suspend {
		t.Errorf("%+v", cron.Spec)
	}
	b.create(runOf(cron))
	b.passUntil(c, "the failed run to be told", func() error {
		if row := c.Status.Components[0]; !c.Status.Ready || row.Reason != status.ReasonJobFailed || row.Runs.Failures != 1 || !strings.Contains(c.Status.Message, "the last run failed") {
			return fmt.Errorf("%s %+v %+v", c.Status.Message, row, row.Runs)
		}
		return nil
	})
	b.edit(c, func() { c.Spec.Components = nil })
	b.run(c)
	if b.exists(cron) {
		t.Error("a CronJob that is not declared any more stays")
	}
}

// runOf is a Job of a CronJob, as its controller makes them.
func runOf(c *batchv1.CronJob) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + "-1", Labels: c.Spec.JobTemplate.Labels, Annotations: c.Spec.JobTemplate.Annotations}, Spec: c.Spec.JobTemplate.Spec}
	j.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	return j
}
