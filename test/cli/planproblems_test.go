// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

func TestPlan_AStoreThatIsLostIsAProblem(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	o := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "lost", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	x.Create(o)
	x.Ready(o)
	x.unchanged("", "s3bucket/lost", "-n", x.Namespace)
	x.loseBucket("planned-bucket")
	a := x.run("", "plan", "s3bucket/lost", "-n", x.Namespace)
	if a.code != 1 || !strings.Contains(a.out, "! Missing: the AWS resource existed and no longer exists") ||
		!strings.Contains(a.out, "Problems: 1.") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestPlan_ShowsWhatOthersAddedToAChild(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.Op.Stop() // or it would remove it at once
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-call-data", Namespace: c.Namespace}}
	x.Edit(o, func() { o.Spec.Tags = map[string]v1alpha1.TagValue{"added": "by-hand"} })
	a := x.run("", "plan", "ncap/"+c.Name, "-n", c.Namespace, "--exit-code")
	if a.code != 1 || !strings.Contains(a.out, "~ S3Bucket myapp-dev/myapp-dev-call-data: update\n    spec.tags: ") ||
		!strings.Contains(a.out, "by-hand") || !strings.Contains(a.out, "-> (none)") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if err := x.Get(o); err != nil {
		t.Fatal(err)
	}
	x.Restart("--check-interval=1h")
	x.Eventually(30*time.Second, "the operator to remove what was added", func() error {
		if err := x.Get(o); err != nil || len(o.Spec.Tags) > 0 {
			return fmt.Errorf("%w: tags %v", err, o.Spec.Tags)
		}
		return nil
	})
	x.unchanged("", "ncap/"+c.Name, "-n", c.Namespace)
}

// A namespace and what is in it are one file of the usual first pull request.
func TestPlan_ANamespaceComesWithItsObjects(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Name, c.Namespace, c.Spec.CapabilityName = "fresh-dev", "fresh-dev", "fresh"
	manifest := "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh-dev}\n---\n" + x.manifest(c)
	a := x.run(manifest, "plan", "-f", "-")
	x.wants(a, 0, "+ Namespace fresh-dev: create", "+ NexusAICapability fresh-dev/fresh-dev: create", "spec.capabilityName: fresh",
		"+ S3Bucket fresh-dev/fresh-dev-call-data: create",
		"call s3:CreateBucket", "+ Action dynamodb:PutItem")
	p, o := provider("fresh-dev"), subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "b", Namespace: "fresh-dev"},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	own := "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh-dev}\n---\n" + x.manifest(p) + "---\n" + x.manifest(o)
	x.wants(x.run(own, "plan", "-f", "-"), 0, "call s3:CreateBucket") // of an operator whose settings are not known
	x.wants(x.run(own, "plan", "-f", "-", "--operator-arg=--ambient-namespaces=fresh-*"), 0, "call s3:CreateBucket")
	x.wants(x.run(own, "plan", "-f", "-", "--operator-arg=--ambient-namespaces=ops"), 0, "0 AWS calls",
		"waits for AWSProvider/aws to be ready: the provider has no credentials", "--ambient-namespaces=ops,fresh-dev")
	c.Spec.Version = ""
	x.wants(x.run("apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh-dev}\n---\n"+x.manifest(c), "plan", "-f", "-"), 1,
		"! InvalidSpec: spec.version")
	x.wants(x.run(x.manifest(c), "plan", "-f", "-"), 1, "! InvalidSpec: spec.version")
	c.Spec.Version = "1.0.0"
	x.wants(x.run(x.manifest(c), "plan", "-f", "-"), 1,
		"! InvalidSpec: metadata.namespace: namespace fresh-dev does not exist: create it first, or add it to the manifests",
		"+ S3Bucket fresh-dev/fresh-dev-call-data: create", "Problems: 1.")
}

// A problem that the operator will not have would keep a right change from being approved. A value that is known only later breaks no rule.
func TestPlan_TheExamplesHaveNoProblem(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.serveTypes()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		sampled := strings.HasSuffix(file, "-https.yaml") || strings.HasSuffix(file, "-bedrock.yaml")
		if !sampled && !extent.IsFull(t) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifest := string(text)
		if m := regexp.MustCompile(`\bnamespace: ([a-z-]+)`).FindStringSubmatch(manifest); m != nil {
			manifest += "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + m[1] + "}\n"
		}
		for _, item := range x.plan(manifest, "-f", "-", "--operator-arg=--eks-cluster-name=production",
			"--operator-arg=--types=AWS::S3Vectors::*,AWS::Bedrock::*,AWS::BedrockAgentCore::*,AWS::Budgets::Budget",
			"--operator-arg=--default-permissions-boundary=arn:aws:iam::123456789012:policy/nexus-boundary") {
			// The files say which Secrets must exist, and how the operator must run.
			if item.Problem != nil && item.Problem.Reason != status.ReasonCredentialsMissing {
				t.Errorf("%s: %s %s/%s: %+v", file, item.Kind, item.Namespace, item.Name, *item.Problem)
			}
		}
	}
}

// A provider that the operator does not use makes no calls, no matter who plans.
func TestPlan_WaitsForAProviderThatIsNotReady(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--ambient-namespaces=nobody")
	p := provider(x.Namespace)
	x.Create(p)
	x.Shows(p, "Stalled", metav1.ConditionTrue, "AmbientNotAllowed")
	o := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "b", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	items := x.plan(x.manifest(o), "-f", "-")
	if len(items) != 1 || items[0].AWS != nil || !strings.HasPrefix(items[0].Waits, "AWSProvider/aws to be ready: ") {
		t.Errorf("%+v", items)
	}
}

func TestPlan_SaysHowMuchItLookedAt(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	a := x.run("", "plan", "--all", "-n", x.Namespace)
	if x.wants(a, 0, "There is nothing to plan."); !strings.Contains(a.err,
		"Looked at 0 objects in namespace "+x.Namespace+"; -A looks in all of them.") {
		t.Error(a.err)
	}
	for _, args := range [][]string{{"--all"}, {"s3bucket"}} {
		if a := x.run("", append([]string{"plan", "-n", "nonexist"}, args...)...); a.code == 0 ||
			!strings.Contains(a.err, "namespace nonexist does not exist") {
			t.Errorf("%v: exit code %d\n%s%s", args, a.code, a.out, a.err)
		}
	}
	for _, args := range [][]string{{"drift"}, {"secrets", "status"}, {"status", "s3bucket"}} {
		x.wants(x.run("", append(args, "-n", "nonexist")...), 4, "namespace nonexist does not exist")
	}
	x.wants(x.run("", "status", "s3bucket", "-n", x.Namespace), 0, "There are no objects of s3bucket in namespace "+x.Namespace)
}

func TestPlan_RefusesTheNamesOfAnotherCapability(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	first := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(first))
	x.Running(first)
	second := first.DeepCopy()
	second.ObjectMeta = metav1.ObjectMeta{Name: "copy", Namespace: x.Namespace}
	a := x.run(x.manifest(second), "plan", "-f", "-")
	want := "! NameConflict: spec.capabilityName: a NexusAICapability of another namespace already has the names myapp-dev-…"
	if a.code != 1 || !strings.Contains(a.out, want) || strings.Contains(a.out, "S3Bucket") || !strings.Contains(a.out, "Problems: 1.") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.unchanged(x.manifest(first), "-f", "-") // the holder of the names is planned as ever
	x.apply(x.manifest(second))
	m := x.Shows(second, "Stalled", metav1.ConditionTrue, "NameConflict")
	if a := x.run("", "plan", "ncap/copy", "-n", x.Namespace); a.code != 1 || !strings.Contains(a.out, m) {
		t.Errorf("the operator says %q, the plan (exit code %d):\n%s%s", m, a.code, a.out, a.err)
	}
	third := first.DeepCopy()
	third.ObjectMeta, third.Spec.CapabilityName = metav1.ObjectMeta{Name: "third", Namespace: x.Namespace}, "other"
	if a := x.run(x.manifest(third, first), "plan", "-f", "-", "--skip-aws"); strings.Contains(a.out, "! NameConflict") {
		t.Errorf("with another name: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// An operator with --kinds does nothing about an object of a kind that it leaves out. Both who plans with the flags of its Deployment and
// the operator itself say so; who cannot read the Deployment knows of no such kind.
func TestPlan_SaysThatAKindIsNotServed(t *testing.T) {
	extent.Full(t)
	const flag = "--kinds=*,-S3Bucket"
	x := newTool(t, flag)
	x.MakeNamespace(operator.Namespace)
	selector, template := operatorPod(flag)
	x.installed(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: operator.Namespace},
		Spec: appsv1.DeploymentSpec{Selector: &selector, Template: template}})
	x.Create(provider(x.Namespace))
	b := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "left-out", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	manifest := x.manifest(b)
	items := x.sameAsServer(x.planner(x.Namespace), manifest, "-f", "-", "--operator-namespace", operator.Namespace)
	if len(items) != 1 || items[0].AWS != nil || items[0].Problem == nil || items[0].Problem.Reason != "KindNotServed" ||
		!strings.Contains(items[0].Problem.Message, "S3Bucket/left-out") {
		t.Errorf("%+v", items)
	}
	x.wants(x.run(manifest, "plan", "-f", "-", "--operator-namespace", operator.Namespace), 1, "! KindNotServed: ", "--kinds", "NX-OP-002")
	a := x.run(manifest, "plan", "-f", "-") // of a namespace without the operator
	x.wants(a, 0, "call s3:CreateBucket", "the defaults are taken")
}

// The bindings of a capability can be made as they are declared, and the capability fails all the same.
func TestPlan_SaysThatAnIntentClosesTheWayToAWS(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	closing := x.intentOf("closing-dns", "dnsManipulation", nil)
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: closing.Name}}}
	a := x.run(x.manifest(closing, c), "plan", "-f", "-")
	x.wants(a, 1, "! EgressToAWSBlocked: SecurityIntent closing-dns closes the backend's way to AWS", "Problems: 1.")
	c.Spec.Security.Intents[0].Component = nexusv1.ComponentFrontend
	if a := x.run(x.manifest(closing, c), "plan", "-f", "-"); a.code != 0 || strings.Contains(a.out, "Problems") {
		t.Errorf("bound to the frontend alone: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}
