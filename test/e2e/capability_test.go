// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestTheUsersManifestsComeTrueAndGoWithoutResidue(t *testing.T) {
	b := newBed(t, "--production-deletion-grace=24h") // the default
	for _, path := range []string{"examples/test-capability.yaml", "examples/nexus-ai-complete.yaml"} {
		mark, _ := b.Mark()
		c := b.Capability(path)
		b.Create(c)
		took := b.Running(c)
		b.Quiet()
		calls := b.World.AWS().Since(mark)
		t.Logf("%s: Running after %.1f s, %d AWS writes, %d reads", c.Name, took.Seconds(), calls.Writes().Count(), calls.Reads().Count())
		if c.Status.Step == nil || c.Status.Step.Current != 11 || c.Status.Step.Total != 11 {
			t.Errorf("step %+v, want 11/11", c.Status.Step)
		}
		if n := calls.Writes().Count(); n > 60 {
			t.Errorf("%d AWS writes, want at most 60:\n%s", n, calls.Writes())
		}
		seen := map[string]int{}
		for _, w := range calls.Writes() {
			seen[w.Label()]++
		}
		for label, n := range seen {
			if n > 1 {
				t.Errorf("%s was written %d times", label, n)
			}
		}
		if f := calls.Failed().Writes(); len(f) > 0 {
			t.Errorf("writes that AWS refused:\n%s", f)
		}
		b.workloads(c)
	}
	production := b.Capability("examples/nexus-ai-complete.yaml")
	both := []client.Object{b.Capability("examples/test-capability.yaml"), production}
	mark, _ := b.Mark()
	b.deleteRecoverably(production)
	b.decide(production, wellknown.AnnotationDeleteNow)
	b.Remove(both...)
	for _, prefix := range []string{"myapp", "nexus"} {
		inOrder(t, b.World.AWS().Since(mark).Writes(), prefix)
	}
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
	for _, c := range both {
		b.nothingLeft(c.GetNamespace())
	}
}

// inOrder asserts the documented order of a deletion: the crawler and access first, then secrets, parameters, Glue, and
// the stores last.
func inOrder(t *testing.T, writes emulator.Calls, prefix string) {
	t.Helper()
	order := []string{"DeleteCrawler", "DeleteRole", "DeleteSecret", "DeleteParameters", "DeleteDatabase", "DeleteBucket", "DeleteTable"}
	last := -1
	seen := map[string]bool{}
	for _, w := range writes {
		at := slices.Index(order, w.Op)
		ours := strings.HasPrefix(strings.TrimPrefix(w.Resource, "/"), prefix)
		if at < 0 || !ours || w.Service == "glue" && w.Op == "DeleteTable" {
			continue
		}
		if seen[w.Op] = true; at < last {
			t.Errorf("%s comes after %s", w.Label(), order[last])
		}
		last = max(last, at)
	}
	if len(seen) != len(order) {
		t.Errorf("of %s only %v was deleted", prefix, seen)
	}
}

func (b *bed) workloads(c *nexusv1.NexusAICapability) {
	b.Helper()
	name := c.Spec.CapabilityName + "-" + c.Spec.Environment
	for _, part := range []string{"backend", "frontend"} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + part, Namespace: c.Namespace}}
		if err := b.Get(d); err != nil || d.Status.AvailableReplicas == 0 {
			b.Errorf("%s: %v, %d available", d.Name, err, d.Status.AvailableReplicas)
		}
	}
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: name + "-app-ingress", Namespace: c.Namespace}}
	if err := b.Get(i); err != nil || len(i.Status.LoadBalancer.Ingress) == 0 {
		b.Errorf("%s: %v, no address", i.Name, err)
	}
}

// nothingLeft asserts that a namespace holds nothing of ours.
func (b *bed) nothingLeft(namespace string) {
	b.Helper()
	for _, l := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{},
		&corev1.ServiceAccountList{}, &networkingv1.IngressList{}, &autoscalingv2.HorizontalPodAutoscalerList{},
		&v1alpha1.S3BucketList{}, &v1alpha1.IAMRoleList{}, &v1alpha1.AWSProviderList{}} {
		if err := b.Client.List(b.Ctx(), l, client.InNamespace(namespace),
			client.MatchingLabels{"app.kubernetes.io/managed-by": "nexus-operator"}); err != nil {
			b.Error(err)
		}
		if n := meta.LenList(l); n > 0 {
			b.Errorf("%d %T left in %s", n, l, namespace)
		}
	}
}

func TestASecondPassOverARunningCapabilityWritesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=2s")
	c := b.Capability("examples/test-capability.yaml")
	b.Create(c)
	b.Running(c)
	time.Sleep(time.Second) // the last events of pods and endpoints, which other controllers send when they please
	am, km := b.Mark()
	before := b.versions(c.Namespace)
	b.Eventually(20*time.Second, "everything to be checked", func() error {
		for _, s := range []string{"s3", "dynamodb", "glue", "ssm", "secretsmanager", "iam"} {
			if b.World.AWS().Since(am).Match(s, "*", "*").Count() < 4 {
				return fmt.Errorf("%s was not", s)
			}
		}
		return nil
	})
	if w := b.World.AWS().Since(am).Writes(); len(w) > 0 {
		t.Errorf("AWS writes:\n%s", w)
	}
	if w := b.KubeWrites(km); len(w) > 0 {
		t.Errorf("Kubernetes writes: %v", w)
	}
	after := b.versions(c.Namespace)
	for k, v := range before {
		if after[k] != v {
			t.Errorf("%s changed its resourceVersion", k)
		}
	}
	am, km = b.Mark()
	b.Restart("--check-interval=5m") // with an AWS that is slow, checks every two seconds never leave a quiet moment
	b.Passed("nexusaicapability", "awsprovider", "s3bucket", "dynamodbtable", "iamrole", "gluedatabase", "gluetable", "gluecrawler",
		"ssmparameterset", "secretsmanagersecret")
	if w := append(b.World.AWS().Since(am).Writes().Labels(), fmt.Sprint(b.KubeWrites(km))); len(w) > 1 || w[0] != "[]" {
		t.Errorf("writes after a restart: %v", w)
	}
	b.Remove(c)
}

func (b *bed) versions(namespace string) map[string]string {
	b.Helper()
	out := map[string]string{}
	for _, l := range []client.ObjectList{&nexusv1.NexusAICapabilityList{}, &v1alpha1.S3BucketList{}, &v1alpha1.DynamoDBTableList{},
		&v1alpha1.IAMRoleList{}, &v1alpha1.GlueDatabaseList{},
		&v1alpha1.GlueTableList{}, &v1alpha1.GlueCrawlerList{}, &v1alpha1.SSMParameterSetList{}, &v1alpha1.SecretsManagerSecretList{},
		&v1alpha1.AWSProviderList{},
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &corev1.ServiceAccountList{}, &networkingv1.IngressList{}} {
		if err := b.Client.List(b.Ctx(), l, client.InNamespace(namespace)); err != nil {
			b.Fatal(err)
		}
		for _, o := range kit.Items(l) {
			out[fmt.Sprintf("%T/%s", o, o.GetName())] = o.GetResourceVersion()
		}
	}
	return out
}

func TestKubectlKnowsTheNamesAndWaits(t *testing.T) {
	extent.Full(t)
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Log("kubectl is not installed: names are checked by discovery alone")
	}
	b := newBed(t)
	c := b.Capability("examples/test-capability.yaml")
	b.Create(c)
	b.Running(c)
	names := map[string]bool{}
	lists, err := b.discovery()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range lists {
		names[r.Name], names[r.SingularName] = true, true
		for _, s := range r.ShortNames {
			names[s] = true
		}
	}
	for _, n := range []string{"nexuscapabilities", "nexusaicapability", "ncap", "nexusaicapabilities", "nexuscapability"} {
		if !names[n] {
			t.Errorf("%s is not a name of the kind", n)
		}
		if kubectl == "" {
			continue
		}
		out, err := exec.Command(kubectl, "--kubeconfig", b.World.Kubeconfig(), "get", n, "-n", c.Namespace).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Running") || !strings.Contains(string(out), "11/11") {
			t.Errorf("kubectl get %s: %v\n%s", n, err, out)
		}
	}
	if kubectl != "" {
		out, err := exec.Command(kubectl, "--kubeconfig", b.World.Kubeconfig(), "wait", "--for=condition=Ready", "nexusaicapability/myapp-dev",
			"-n", "myapp-dev", "--timeout=10s").CombinedOutput()
		if err != nil {
			t.Errorf("kubectl wait: %v\n%s", err, out)
		}
	}
	b.Remove(c)
}

func TestAMissingPermissionShowsInTheCapabilityAndHeals(t *testing.T) {
	b := newBed(t)
	rule := b.World.AWS().Fault(emulator.Match{Service: "dynamodb", Op: "CreateTable", Resource: "denied-dev-license"},
		emulator.Fail(400, "AccessDeniedException", "User: arn:aws:iam::123456789012:user/x is not authorized to perform: dynamodb:CreateTable"))
	c := withStores(b.small("denied"))
	b.Create(c)
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "AccessDenied")
	for _, want := range []string{"denied-dev-license", "dynamodb:CreateTable"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message does not name %s: %s", want, message)
		}
	}
	if c.Status.Phase != nexusv1.PhaseFailed {
		t.Errorf("phase %s, want Failed", c.Status.Phase)
	}
	if d := (&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "denied-dev-backend", Namespace: c.Namespace}}); b.Get(d) == nil {
		t.Error("the backend runs though its tables are not there")
	}
	rule.Remove()
	b.Running(c)
	b.Remove(c)
}

func TestHandEditedAndDeletedChildrenAreHealed(t *testing.T) {
	b := newBed(t)
	c := b.small("edited")
	b.Create(c)
	b.Running(c)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "edited-dev-backend", Namespace: c.Namespace}}
	b.Edit(d, func() { d.Spec.Template.Spec.Containers[0].Image = "evil:latest" })
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "edited-dev-config", Namespace: c.Namespace}}
	if err := b.Client.Delete(b.Ctx(), cm); err != nil {
		t.Fatal(err)
	}
	b.Eventually(15*time.Second, "children to be healed", func() error {
		if err := b.Get(d); err != nil {
			return err
		}
		if d.Spec.Template.Spec.Containers[0].Image == "evil:latest" {
			return fmt.Errorf("the image is still the edited one")
		}
		return b.Get(cm)
	})
	b.Running(c)
	b.Edit(c, func() { c.Spec.Backend.Replicas = new(int32(3)) })
	b.Eventually(20*time.Second, "three replicas", func() error {
		if err := b.Get(d); err != nil {
			return err
		}
		if *d.Spec.Replicas != 3 {
			return fmt.Errorf("%d replicas", *d.Spec.Replicas)
		}
		return nil
	})
	b.Running(c)
	b.Remove(c)
}

// Every child that holds no data, deleted with kubectl at the same time: those in AWS go there, too, and
// all of them come back.
func TestChildrenDeletedByHandAreMadeAgain(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("picked"))
	b.Create(c)
	b.Running(c)
	inv := fmt.Sprint(b.Inventory())
	was := map[string]client.Object{}
	for _, o := range b.children(c.Namespace) {
		switch o.(type) {
		case *v1alpha1.AWSProvider, *v1alpha1.S3Bucket, *v1alpha1.DynamoDBTable, *v1alpha1.SecretsManagerSecret:
			continue // what holds data is not deleted for fun, and the provider is in use
		}
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
		was[fmt.Sprintf("%T/%s", o, o.GetName())] = o
	}
	if len(was) < 13 { // 2 roles, database, 2 tables, crawler, parameters, 2 Deployments, 3 Services, Ingress
		t.Fatalf("only %d children to delete", len(was))
	}
	start := time.Now()
	b.Eventually(20*time.Second, "all to be made again", func() error {
		for what, o := range was {
			again := o.DeepCopyObject().(client.Object)
			if err := b.Get(again); err != nil || again.GetUID() == o.GetUID() {
				return fmt.Errorf("%s: %v, still the old one", what, err)
			}
		}
		return nil
	})
	t.Logf("%d children are there again after %.1f s", len(was), time.Since(start).Seconds())
	b.Running(c)
	if now := fmt.Sprint(b.Inventory()); now != inv {
		t.Errorf("AWS changed from %s to %s", inv, now)
	}
	b.Remove(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestAKilledOperatorFinishesWhatItBegan(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	// The kills of test/faults are at any moment.
	moments := []string{"s3.CreateBucket(myapp-dev-call-data)", "iam.PutRolePolicy(myapp-dev-app-role)", "glue.CreateCrawler(*)",
		"ssm.PutParameter(*)#3"}
	for _, at := range extent.Sample(t, moments, 1) {
		op := b.Op
		died := make(chan struct{}, 1)
		rule := b.World.AWS().Fault(emulator.At(at), emulator.ForwardThen(func() {
			op.Kill()
			select {
			case died <- struct{}{}:
			default:
			}
		}))
		c := b.Capability("examples/test-capability.yaml")
		b.Create(c)
		select {
		case <-died:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s was never called", at)
		}
		rule.Remove()
		b.Restart()
		b.Running(c)
		b.Remove(c)
		if inv := b.Inventory(); len(inv) > 0 {
			t.Errorf("killed at %s, left behind: %v", at, inv)
		}
	}
}

func TestTheYoungerOfTwoCapabilitiesOfOneNameWaits(t *testing.T) {
	b := newBed(t)
	c := b.small("contested")
	b.Create(c)
	b.Running(c)
	mark, _ := b.Mark()
	rival := c.DeepCopy()
	rival.ObjectMeta = metav1.ObjectMeta{Name: "rival", Namespace: b.Namespace}
	rival.Status = nexusv1.NexusAICapabilityStatus{}
	b.Create(rival)
	b.Shows(rival, "Stalled", metav1.ConditionTrue, "NameConflict")
	if w := b.World.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("the rival wrote:\n%s", w)
	}
	b.Remove(rival, c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestACapabilitysProviderServesNobodyElse(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := b.small("myapp")
	b.Create(c)
	b.Running(c)
	thief := bucket("stolen-by-a-tenant")
	thief.Namespace = c.Namespace
	thief.Spec.ProviderRef.Name = "myapp-dev"
	b.Create(thief)
	b.Shows(thief, "Stalled", metav1.ConditionTrue, "NotPermitted")
	// An owner reference, which anybody can write, changes nothing.
	forged := bucket("forged-by-a-tenant")
	forged.Namespace = c.Namespace
	forged.Spec.ProviderRef.Name = "myapp-dev"
	forged.OwnerReferences = []metav1.OwnerReference{{APIVersion: "nexus.ai/v1", Kind: "NexusAICapability", Name: c.Name, UID: c.UID,
		Controller: new(true)}}
	b.Create(forged)
	b.Eventually(20*time.Second, "the forged object to be refused or pruned", func() error {
		if b.Get(forged) != nil {
			return nil
		}
		c, err := b.Condition(forged, "Ready")
		if err == nil && c.Reason != "NotPermitted" {
			err = fmt.Errorf("%+v", c)
		}
		return err
	})
	if inv := fmt.Sprint(b.Inventory()); strings.Contains(inv, "tenant") {
		t.Errorf("made with a borrowed identity: %s", inv)
	}
	b.Remove(thief, forged, c)
}
