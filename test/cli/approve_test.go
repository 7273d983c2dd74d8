// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// A plan is reviewed and approved with nexusctl, and the operator is killed between two calls of it.
func TestApprove_RunsThePlanThatWasReviewed(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: x.Namespace}}
	x.Edit(space, func() { space.Labels["nexus.ai/plan-gate"] = "closed" })
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	mark := x.World.AWS().Mark()
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "reviewed-bucket", Namespace: x.Namespace}, Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, BucketName: "reviewed-bucket",
		Versioning: &v1alpha1.S3Versioning{Enabled: true}}}
	x.Create(b)
	x.Shows(b, status.PlanApproved, metav1.ConditionFalse, status.ReasonPlanPending)
	hash := status.PendingPlan(b.Status.Conditions)
	name := []string{"s3bucket/reviewed-bucket", "-n", x.Namespace}
	run := func(args ...string) answer { return x.run("", append(args, name...)...) }
	x.wants(run("plan"), 0, "needs approval: plan "+hash, "call s3:CreateBucket")
	x.wants(run("explain"), 1, status.ReasonPlanPending, "nexusctl approve s3bucket/reviewed-bucket -n "+x.Namespace)
	x.wants(x.run("", "list", "-n", x.Namespace), 0, status.ReasonPlanPending)
	x.wants(run("approve", "--hash", strings.Repeat("0", 32)), 4, "plan "+hash, "nexusctl plan s3bucket/reviewed-bucket")
	x.wants(run("approve", "--dry-run"), 0, "approved (dry run)")
	x.bind("editor", "edit", x.Namespace)
	x.wants(x.as("editor", append([]string{"approve"}, name...)...), 4, "ClusterRole nexus-operator-approve")
	if w := x.writesSince(mark); len(w) > 0 {
		t.Fatalf("before the approval, AWS got %v", w)
	}

	died, victim := make(chan struct{}), x.Op
	x.World.AWS().Fault(emulator.Match{Service: "s3", Op: "PutBucketVersioning", Times: 1},
		emulator.BeforeThen(func() { victim.Kill(); close(died) }))
	x.bind("approver", "nexus-operator-approve", x.Namespace)
	x.wants(x.as("approver", append([]string{"approve", "--hash", hash}, name...)...), 0, "plan "+hash+" approved")
	select {
	case <-died:
	case <-time.After(time.Minute):
		t.Fatal("the operator did not begin the plan")
	}
	x.World.AWS().ClearFaults()
	x.Restart()
	x.Ready(b) // the rest of the plan needs no other approval
	x.wants(run("approve"), 4, "no plan of S3Bucket "+x.Namespace+"/reviewed-bucket waits")
	x.wants(run("plan"), 0, "No changes.")
}
