// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// bucketOf makes a ready bucket with a provider.
func (x *tool) bucketOf(name string) *v1alpha1.S3Bucket {
	x.Helper()
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: x.Namespace}, Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, BucketName: name,
		Versioning: &v1alpha1.S3Versioning{Enabled: true}}}
	x.Create(b)
	x.Ready(b)
	return b
}

// suspendVersioning changes a bucket behind the operator's back.
func (x *tool) suspendVersioning(bucket string) {
	x.Helper()
	x.Outside(func(ctx context.Context) error {
		_, err := x.s3().PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String(bucket),
			VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusSuspended}})
		return err
	})
}

// loseBucket deletes a bucket behind the operator's back.
func (x *tool) loseBucket(bucket string) {
	x.Helper()
	x.Outside(func(ctx context.Context) error {
		_, err := x.s3().DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &bucket})
		return err
	})
}

func TestReconcile_ChecksAnObjectNow(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	b := x.bucketOf("checked-bucket")
	x.suspendVersioning("checked-bucket")
	x.wants(x.run("", "reconcile", "s3bucket/checked-bucket", "-n", x.Namespace, "--dry-run"), 0, "check requested (dry run)")
	if err := x.Get(b); err != nil || b.Annotations["nexus.ai/reconcile-requested-at"] != "" {
		t.Errorf("a dry run changed the object: %v, %v", b.Annotations, err)
	}
	mark := x.World.AWS().Mark()
	x.wants(x.run("", "reconcile", "s3bucket/checked-bucket", "-n", x.Namespace, "--wait"), 0,
		"S3Bucket "+x.Namespace+"/checked-bucket: checked, ready")
	if made := x.writesSince(mark); made["s3:PutBucketVersioning"] != 1 {
		t.Errorf("the drift was not corrected: %v", made)
	}
	x.wants(x.as("stranger", "reconcile", "s3bucket/checked-bucket", "-n", x.Namespace), 4, `cannot get resource "s3buckets"`)
	x.wants(x.run("", "reconcile", "s3bucket/none", "-n", x.Namespace), 1, "not found")
	x.wants(x.run("", "reconcile"), 2, "KIND/NAME")
	x.wants(x.run("", "suspend", "s3bucket/checked-bucket", "-n", x.Namespace), 0, "suspended")
	x.wants(x.run("", "reconcile", "s3bucket/checked-bucket", "-n", x.Namespace), 4, "is suspended", "nexusctl resume s3bucket/checked-bucket")
	if a := x.run("", "reconcile", "--all", "-n", x.Namespace); a.code != 0 || a.out != "" || !strings.Contains(a.err, "is suspended") {
		t.Errorf("among all objects: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.wants(x.run("", "resume", "s3bucket/checked-bucket", "-n", x.Namespace), 0, "resumed")
	x.Op.Stop()
	x.wants(x.run("", "reconcile", "s3bucket/checked-bucket", "-n", x.Namespace, "--wait", "--timeout=2s"), 124,
		"not checked within 2s: S3Bucket "+x.Namespace+"/checked-bucket")
}

func TestReconcile_OfACapabilityChecksItsResources(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.suspendVersioning("myapp-dev-call-data")
	x.bind("editor", "edit", c.Namespace)
	a := x.as("editor", "reconcile", "ncap/"+c.Name, "-n", c.Namespace, "--wait", "--timeout=2m")
	x.wants(a, 0, "NexusAICapability myapp-dev/myapp-dev: checked, ready", "S3Bucket myapp-dev/myapp-dev-call-data: checked, ready")
	if got, err := x.s3().GetBucketVersioning(x.Ctx(), &s3.GetBucketVersioningInput{Bucket: aws.String("myapp-dev-call-data")}); err != nil ||
		got.Status != types.BucketVersioningStatusEnabled {
		t.Errorf("versioning is %+v, %v", got, err)
	}
}

func TestReconcile_ReportsAnObjectThatFails(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.foreignBucket("taken-bucket")
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	b := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "taken", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}).(*v1alpha1.S3Bucket)
	b.Spec.BucketName = "taken-bucket"
	x.Create(b)
	x.Shows(b, "Ready", metav1.ConditionFalse, "Conflict")
	x.wants(x.run("", "reconcile", "--all", "-n", x.Namespace, "--wait"), 1, "checked, not ready: Conflict")
}

func TestSuspendAndResume_FreezeACapability(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1s")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	name := []string{"ncap/" + c.Name, "-n", c.Namespace}
	x.wants(x.run("", "suspend", "s3bucket/myapp-dev-call-data", "-n", c.Namespace), 2,
		"belongs to NexusAICapability myapp-dev: suspend ncap/myapp-dev")
	x.wants(x.run("", "resume", "s3bucket/myapp-dev-call-data", "-n", c.Namespace), 2, "resume ncap/myapp-dev")
	x.wants(x.run("", "suspend", "awsprovider/myapp-dev", "-n", c.Namespace), 2, "cannot be suspended")
	x.wants(x.as("stranger", append([]string{"suspend"}, name...)...), 4, `cannot get resource "nexuscapabilities"`)
	x.wants(x.run("", append([]string{"suspend", "--dry-run"}, name...)...), 0, "suspended (dry run)")
	if err := x.Get(c); err != nil || c.Annotations["nexus.ai/paused"] != "" {
		t.Errorf("a dry run changed the object: %v, %v", c.Annotations, err)
	}
	x.bind("editor", "edit", c.Namespace)
	x.wants(x.as("editor", append([]string{"suspend"}, name...)...), 0, "NexusAICapability myapp-dev/myapp-dev: suspended")
	x.Shows(c, "Paused", metav1.ConditionTrue, "Paused")
	x.wants(x.run("", append([]string{"suspend"}, name...)...), 0, "suspended already")
	x.Edit(c, func() { c.Spec.Backend.Image = "backend:v2" })
	x.wants(x.run("", append([]string{"explain"}, name...)...), 1, "Paused", "nexusctl resume ncap/myapp-dev -n myapp-dev")
	x.wants(x.run("", append([]string{"resume"}, name...)...), 0, "resumed")
	x.Running(c)
	if meta.FindStatusCondition(c.Status.Conditions, "Paused") != nil {
		t.Errorf("%+v", c.Status.Conditions)
	}
	x.Edit(c, func() { c.Spec.Suspend = true })
	x.Eventually(time.Minute, "the capability to be suspended", func() error {
		if err := x.Get(c); err != nil || c.Status.Phase != nexusv1.PhaseSuspended {
			return fmt.Errorf("%s %v", c.Status.Phase, err)
		}
		return nil
	})
	x.wants(x.run("", "resume", "--all", "-n", c.Namespace), 0, "resumed", "remove it from the manifest as well")
	x.Running(c)
}

// running is nexusctl while it runs.
type running struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func TestReconcile_InterruptedWhileItWaitsSaysWhatWasDone(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.bucketOf("interrupted-bucket")
	x.Op.Stop() // no one answers
	r := &running{cmd: exec.Command(x.binary(), "reconcile", "s3bucket/interrupted-bucket", "-n", x.Namespace, "--wait")}
	r.cmd.Env = []string{"KUBECONFIG=" + x.World.Kubeconfig(), "HOME=" + x.TempDir()}
	r.cmd.Stdout, r.cmd.Stderr = r, r
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.Eventually(time.Minute, "the request", func() error {
		if !strings.Contains(r.said(), "check requested") {
			return errors.New(r.said())
		}
		return nil
	})
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(r.said(), "All its requests were made") ||
		strings.Contains(r.said(), "changed nothing") {
		t.Errorf("exit code %d, %v\n%s", code, err, r.said())
	}
}

func TestDrift_ListsWhatStatusesReport(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	b := x.bucketOf("drifting-bucket")
	x.Edit(b, func() { b.Spec.DriftPolicy = v1alpha1.DriftReport })
	x.Ready(b)
	a := x.run("", "drift", "-n", x.Namespace, "--exit-code")
	if x.wants(a, 0, "No drift is reported in "+x.Namespace); a.out != "" {
		t.Errorf("standard output: %q", a.out)
	}
	x.suspendVersioning("drifting-bucket")
	x.wants(x.run("", "reconcile", "s3bucket/drifting-bucket", "-n", x.Namespace, "--wait"), 0, "checked, ready; fields that differ: 1")
	x.wants(x.run("", "drift", "-n", x.Namespace), 0, "NAME FIELD DECLARED FOUND POLICY AGE s3bucket/drifting-bucket")
	x.wants(x.run("", "drift", "-A", "--exit-code"), 1, "NAMESPACE NAME", x.Namespace+" s3bucket/drifting-bucket", "Report")
	var report struct {
		Objects []struct {
			Name   string
			Fields []struct{ Path, Want, Have string }
		}
	}
	if x.read(&report, "drift", "-n", x.Namespace); len(report.Objects) != 1 || report.Objects[0].Name != "drifting-bucket" ||
		len(report.Objects[0].Fields) != 1 {
		t.Errorf("%+v", report)
	}
	x.wants(x.run("", "reconcile", "--all", "-n", "default"), 0, "There are no capabilities and no AWS resource objects there.")
	x.wants(x.run("", "drift", "-n", "default", "--exit-code"), 0, "No drift is reported in default.")
	x.wants(x.as("stranger", "drift", "-n", x.Namespace), 4, `cannot list resource "s3buckets"`)
}

func TestIAMPolicy_OfALiveCapabilityIsThatOfItsRole(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	a := x.run("", "iam", "policy", "app", "ncap/"+c.Name, "-n", c.Namespace)
	x.wants(a, 0, "arn:aws:dynamodb:ap-southeast-1:123456789012:table/myapp-dev-license")
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-app-role", Namespace: c.Namespace}}
	if err := x.Get(role); err != nil {
		t.Fatal(err)
	}
	got, err := iampolicy.Parse(a.out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := iampolicy.Parse(role.Spec.InlinePolicies[0].PolicyDocument)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("printed\n%+v\nthe role has\n%+v", got, want)
	}
	x.wants(x.as("stranger", "iam", "policy", "app", "ncap/"+c.Name, "-n", c.Namespace), 4, `cannot get resource "nexuscapabilities"`)
	x.wants(x.run("", "iam", "policy", "app", "s3bucket/myapp-dev-call-data", "-n", c.Namespace), 2, "is no NexusAICapability")
}
