// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// graceful returns a running capability with stores that hold data, which are kept for a time after its deletion.
func (b *bed) graceful(name string, grace time.Duration) *nexusv1.NexusAICapability {
	b.Helper()
	c := withStores(b.small(name))
	c.Spec.DeletionPolicy = nexusv1.DeletionDelete
	c.Spec.DataServices.S3.ForceDestroy = true
	c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: grace}}
	b.Create(c)
	b.Running(c)
	b.seed(name+"-dev", name+"/dev")
	return c
}

// deleteRecoverably deletes a capability and waits until it is Recoverable.
func (b *bed) deleteRecoverably(c *nexusv1.NexusAICapability) {
	b.Helper()
	if err := b.Client.Delete(b.Ctx(), c); err != nil {
		b.Fatal(err)
	}
	b.recoverable(c)
}

func (b *bed) recoverable(c *nexusv1.NexusAICapability) {
	b.Helper()
	b.Until(c, time.Minute, "the capability to be recoverable", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		if c.Status.Phase != nexusv1.PhaseRecoverable {
			return fmt.Errorf("phase %s: %s", c.Status.Phase, c.Status.Message)
		}
		return nil
	})
}

// decide writes an annotation that decides about the deletion of a capability.
func (b *bed) decide(c *nexusv1.NexusAICapability, annotation string) {
	b.Helper()
	b.Edit(c, func() {
		c.Annotations = maps.Clone(c.Annotations)
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[annotation] = string(c.UID)
	})
}

// nexusctl runs nexusctl as an administrator of the cluster.
func (b *bed) nexusctl(args ...string) nexusctl.Answer {
	b.Helper()
	return nexusctl.Run(b, b.World, []string{"KUBECONFIG=" + b.World.Kubeconfig(), "OPERATOR_NAMESPACE=" + operator.Namespace}, "", args...)
}

// records lists the records of deleted capabilities.
func (b *bed) records() []capability.Record {
	b.Helper()
	list := &corev1.ConfigMapList{}
	if err := b.Client.List(b.Ctx(), list, client.InNamespace(operator.Namespace)); err != nil {
		b.Fatal(err)
	}
	var out []capability.Record
	for _, o := range list.Items {
		if strings.HasPrefix(o.Name, capability.RecordPrefix) {
			record, err := capability.ReadRecord(&o)
			out = append(out, must(b, record, err))
		}
	}
	return out
}

func (b *bed) noRecords() {
	b.Helper()
	if left := b.records(); len(left) > 0 {
		b.Errorf("%d records of deleted capabilities are left", len(left))
	}
}

// noWorkloads checks that traffic, workloads and rights of a capability have ended.
func (b *bed) noWorkloads(c *nexusv1.NexusAICapability, prefix string) {
	b.Helper()
	deployments, roles := &appsv1.DeploymentList{}, &v1alpha1.IAMRoleList{}
	for _, list := range []client.ObjectList{deployments, roles} {
		if err := b.Client.List(b.Ctx(), list, client.InNamespace(c.Namespace)); err != nil {
			b.Fatal(err)
		}
	}
	if len(deployments.Items)+len(roles.Items) > 0 {
		b.Errorf("%d Deployments and %d IAMRoles are left", len(deployments.Items), len(roles.Items))
	}
	if _, err := iam.NewFromConfig(b.account()).GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: aws.String(prefix + "-app-role")}); err == nil {
		b.Errorf("the role %s-app-role still has its rights", prefix)
	}
}

func TestUndo_BringsADeletedCapabilityBackWithItsData(t *testing.T) {
	b := newBed(t)
	c := b.graceful("undone", time.Hour)
	before := b.data("undone-dev")
	spec := c.Spec.DeepCopy()
	b.deleteRecoverably(c)
	b.noWorkloads(c, "undone-dev")
	if now := b.data("undone-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
	r := c.Status.Recovery
	kept := func(kind, name string) bool {
		return slices.ContainsFunc(r.Kept, func(k nexusv1.KeptResource) bool { return k.Kind == kind && k.Name == name && k.ID != "" })
	}
	if r.State != nexusv1.RecoveryWaiting || !r.Until.Equal(new(metav1.NewTime(c.DeletionTimestamp.Add(time.Hour)))) ||
		!kept("S3Bucket", "undone-dev-call-data") || !kept("DynamoDBTable", "undone-dev-license") {
		t.Errorf("status.recovery: %+v", r)
	}
	b.Eventually(30*time.Second, "the bucket to be tagged", func() error {
		if got := b.bucketTags("undone-dev-call-data")[wellknown.TagRecoverableUntil]; got != r.Until.UTC().Format(time.RFC3339) {
			return fmt.Errorf("tagged %q", got)
		}
		return nil
	})
	ready, err := b.Condition(c, status.Ready)
	if err != nil || ready.Reason != status.ReasonRecoverable || !strings.Contains(ready.Message, "nexusctl undo") {
		t.Errorf("Ready: %+v, %v", ready, err)
	}
	// A person deletes the object of a store meanwhile: its store is kept as well.
	table := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Name: "undone-dev-license", Namespace: c.Namespace}}
	if err := b.Client.Delete(b.Ctx(), table); err != nil {
		t.Fatal(err)
	}
	b.Shows(table, status.Ready, metav1.ConditionFalse, status.ReasonRecoverable)
	b.Restart()
	answer := b.nexusctl("undo", "ncap/"+c.Name, "-n", c.Namespace)
	if answer.Code != 0 || !strings.Contains(answer.Out, "created again") {
		t.Fatalf("nexusctl undo ends with %d:\n%s%s", answer.Code, answer.Out, answer.Err)
	}
	next := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}}
	b.Running(next)
	if now := b.data("undone-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
	if !equality.Semantic.DeepEqual(&next.Spec, spec) || next.UID == c.UID {
		t.Errorf("the capability has UID %s and declares\n%+v, want\n%+v", next.UID, next.Spec, *spec)
	}
	if got, left := b.bucketTags("undone-dev-call-data")[wellknown.TagRecoverableUntil]; left {
		t.Errorf("after the undo the bucket is still tagged %q", got)
	}
	b.noRecords()
	b.deleteRecoverably(next)
	b.Edit(next, func() { next.Spec.Deletion.Graceful.Duration = 0 }) // the last word counts
	b.Gone(next)
	b.noRecords()
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// An edit drops a table, whose data may be deleted, and nexusctl undo takes that back within the time.
func TestUndo_KeepsAStoreThatAnEditDropped(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.graceful("dropped", time.Hour)
	before, table := b.data("dropped-dev"), c.Spec.DataServices.DynamoDB.DeepCopy()
	b.Edit(c, func() {
		c.Spec.DataServices.DynamoDB = nil
		c.Annotations = map[string]string{wellknown.AnnotationDeleteData: "dropped-dev-license"}
	})
	b.Eventually(time.Minute, "the table to be kept for its time", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		if len(c.Status.Dropped) != 1 || c.Status.Dropped[0].Name != "dropped-dev-license" {
			return fmt.Errorf("dropped: %+v, %s", c.Status.Dropped, c.Status.Message)
		}
		return nil
	})
	if answer := b.nexusctl("delete-now", "ncap/"+c.Name, "-n", c.Namespace); answer.Code == 0 ||
		!strings.Contains(answer.Err, "spec.deletion.graceful: 0s") {
		t.Errorf("nexusctl delete-now ends with %d:\n%s%s", answer.Code, answer.Out, answer.Err)
	}
	answer := b.nexusctl("undo", "ncap/"+c.Name, "-n", c.Namespace)
	if answer.Code != 0 || !strings.Contains(answer.Out, "dropped-dev-license that an edit dropped are kept") {
		t.Fatalf("nexusctl undo ends with %d:\n%s%s", answer.Code, answer.Out, answer.Err)
	}
	object := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Name: "dropped-dev-license", Namespace: c.Namespace}}
	b.Eventually(30*time.Second, "the time to be forgotten", func() error {
		if err := b.Get(object); err != nil {
			return err
		}
		if until := object.Annotations[wellknown.AnnotationRecoverableUntil]; until != "" {
			return fmt.Errorf("until %s", until)
		}
		return b.Get(c)
	})
	if len(c.Annotations) > 0 && c.Annotations[wellknown.AnnotationDeleteData] != "" || c.DeletionTimestamp != nil {
		t.Errorf("annotations %v", c.Annotations)
	}
	b.Edit(c, func() { c.Spec.DataServices.DynamoDB = table })
	b.Running(c)
	if now := b.data("dropped-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
}

func TestUndo_LeavesNothingAfterTheTime(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	for name, ends := range map[string]func(c *nexusv1.NexusAICapability){
		"expires": func(*nexusv1.NexusAICapability) {},
		"ends":    func(c *nexusv1.NexusAICapability) { b.decide(c, wellknown.AnnotationDeleteNow) },
	} {
		grace := map[string]time.Duration{"expires": 20 * time.Second, "ends": time.Hour}[name]
		c := b.graceful(name, grace)
		b.deleteRecoverably(c)
		b.noWorkloads(c, name+"-dev")
		if inv := fmt.Sprint(b.Inventory()); !strings.Contains(inv, name+"-dev-call-data") || !strings.Contains(inv, name+"-dev-license") {
			t.Errorf("%s: the stores are not kept: %s", name, inv)
		}
		ends(c)
		b.Gone(c)
		b.nothingLeft(c.Namespace)
		if inv := b.Inventory(); len(inv) > 0 {
			t.Errorf("%s: left behind: %v", name, inv)
		}
	}
}

func TestUndo_BringsACapabilityBackWhoseNamespaceIsGone(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.graceful("homeless", time.Hour)
	before := b.data("homeless-dev")
	spec := c.Spec.DeepCopy()
	b.deleteRecoverably(c)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}
	b.Remove(ns)
	if now := b.data("homeless-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
	records := b.records()
	if len(records) != 1 || records[0].Recovery.State != nexusv1.RecoveryReleased ||
		!equality.Semantic.DeepEqual(records[0].Capability.Spec, *spec) {
		t.Fatalf("records: %+v", records)
	}
	tenant := b.Tenant("default")
	if err := tenant.List(b.Ctx(), &corev1.ConfigMapList{}, client.InNamespace(operator.Namespace)); err == nil {
		t.Error("a tenant reads the records")
	}
	answer := b.nexusctl("undo", "ncap/"+c.Name, "-n", c.Namespace)
	if answer.Code != 0 {
		t.Fatalf("nexusctl undo ends with %d:\n%s%s", answer.Code, answer.Out, answer.Err)
	}
	next := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}}
	b.Running(next)
	if now := b.data("homeless-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
	b.noRecords()
	b.deleteRecoverably(next)
	answer = b.nexusctl("delete-now", "ncap/"+c.Name, "-n", c.Namespace)
	if answer.Code != 0 {
		t.Fatalf("nexusctl delete-now ends with %d:\n%s%s", answer.Code, answer.Out, answer.Err)
	}
	b.Gone(next)
	b.noRecords()
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestUndo_DeletesWhatADeletedNamespaceLeft(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	decoy := "left-dev-decoy"
	_, err := b.s3().CreateBucket(b.Ctx(), &s3.CreateBucketInput{Bucket: &decoy,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}})
	must(b, 0, err)
	c := b.graceful("left", time.Hour)
	b.deleteRecoverably(c)
	b.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}})
	before := b.data("left-dev")
	listed := b.nexusctl("undo", "--list")
	if listed.Code != 0 || !strings.Contains(listed.Out, "Released") || !strings.Contains(listed.Out, c.Namespace) {
		t.Fatalf("nexusctl undo --list ends with %d:\n%s%s", listed.Code, listed.Out, listed.Err)
	}
	if answer := b.nexusctl("delete-now", "ncap/"+c.Name, "-n", c.Namespace, "--timeout", "2s"); answer.Code == 0 {
		t.Errorf("within 2 seconds nothing can be gone:\n%s", answer.Out)
	}
	if now := b.data("left-dev"); !maps.Equal(now, before) {
		t.Errorf("an interrupted command has changed the data:\n%v\n%v", before, now)
	}
	restart := b.killSoon(rand.New(rand.NewPCG(7, 0)))
	answer := make(chan nexusctl.Answer)
	go func() { answer <- b.nexusctl("delete-now", "ncap/"+c.Name, "-n", c.Namespace) }()
	restart()
	if a := <-answer; a.Code != 0 || !strings.Contains(a.Out, "its AWS resources are deleted") {
		t.Fatalf("nexusctl delete-now ends with %d:\n%s%s", a.Code, a.Out, a.Err)
	}
	b.noRecords()
	for kind, names := range b.Inventory() {
		if left := slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, decoy) }); len(left) > 0 {
			t.Errorf("left behind: %s %v", kind, left)
		}
	}
	_, err = b.s3().HeadBucket(b.Ctx(), &s3.HeadBucketInput{Bucket: &decoy})
	must(b, 0, err)
	if again := b.nexusctl("delete-now", "ncap/"+c.Name, "-n", c.Namespace); again.Code == 0 || !strings.Contains(again.Err, "has no record") {
		t.Errorf("a second run ends with %d:\n%s%s", again.Code, again.Out, again.Err)
	}
}

// The operator is killed at a random call, twice in each drill, while another one works, and people undo deletions; what belongs to
// others stays as it is.
func TestUndo_DrillsWithKillsAndTwoOperators(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	decoy := "decoys-of-others"
	_, err := b.s3().CreateBucket(b.Ctx(), &s3.CreateBucketInput{Bucket: &decoy,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}})
	must(b, 0, err)
	b.put(decoy, "theirs", "untouched")
	c := b.graceful("drilled", time.Hour)
	before, uid := b.data("drilled-dev"), c.UID
	second := operator.Start(t, b.World, operator.Options{})
	defer second.Stop()
	seeds := slices.Collect(func(yield func(uint64) bool) {
		for seed := uint64(1); seed <= 20 && yield(seed); seed++ {
		}
	})
	for _, drill := range extent.Sample(t, seeds, 3) {
		rnd := rand.New(rand.NewPCG(drill, 0))
		killed := b.killSoon(rnd)
		if err := b.Client.Delete(b.Ctx(), c); err != nil {
			t.Fatal(err)
		}
		killed()
		b.recoverable(c)
		killed = b.killSoon(rnd)
		answer := b.nexusctl("undo", "ncap/"+c.Name, "-n", c.Namespace)
		killed()
		if answer.Code != 0 {
			t.Fatalf("drill %d: nexusctl undo ends with %d:\n%s%s", drill, answer.Code, answer.Out, answer.Err)
		}
		b.Running(c)
		if now := b.data("drilled-dev"); !maps.Equal(now, before) || c.UID == uid {
			t.Fatalf("drill %d: UID %s after %s, and the data:\n%v\n%v", drill, c.UID, uid, before, now)
		}
		uid = c.UID
	}
	got, err := b.s3().GetObject(b.Ctx(), &s3.GetObjectInput{Bucket: &decoy, Key: aws.String("theirs")})
	body, err := io.ReadAll(must(b, got, err).Body)
	if string(must(b, body, err)) != "untouched" {
		t.Errorf("the decoy has %q", body)
	}
	b.deleteRecoverably(c)
	b.decide(c, wellknown.AnnotationDeleteNow)
	b.Gone(c)
	b.noRecords()
	inv := b.Inventory()
	for kind, names := range inv {
		if left := slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, decoy) }); len(left) > 0 {
			t.Errorf("left behind: %s %v", kind, left)
		}
	}
}

// killSoon kills the operator before or after one of its next calls to AWS, or at some moment between calls, and returns what waits for
// that and starts it again.
func (b *bed) killSoon(rnd *rand.Rand) (restart func()) {
	b.Helper()
	op, killed, once := b.Op, make(chan struct{}), sync.Once{}
	kill := func() {
		once.Do(func() {
			op.Kill()
			close(killed)
		})
	}
	die := emulator.BeforeThen(kill)
	if rnd.IntN(2) == 1 {
		die = emulator.ForwardThen(kill)
	}
	b.World.AWS().Fault(emulator.Match{Service: "*", Op: "*", Resource: "*", Endpoint: op.Name(), Nth: 1 + rnd.IntN(12)}, die)
	time.AfterFunc(time.Duration(200+rnd.IntN(2000))*time.Millisecond, kill)
	return func() {
		<-killed
		b.World.AWS().ClearFaults()
		b.Restart()
	}
}
