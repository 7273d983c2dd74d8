// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
)

// seenChange is a line of monitor as JSON.
type seenChange struct {
	APIVersion, Kind, Namespace, Name, Type, Subject, State, Detail string
	Number                                                          int
	DurationSeconds                                                 *float64
}

func changesOf(t *testing.T, out string) []seenChange {
	t.Helper()
	var all []seenChange
	for line := range strings.Lines(out) {
		var c seenChange
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if c.APIVersion != "monitor.nexus.ai/v1alpha1" || c.Kind != "Change" || c.Name == "" {
			t.Errorf("%+v", c)
		}
		all = append(all, c)
	}
	return all
}

func TestMonitor_FromCreationToRunning(t *testing.T) {
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	fault := x.World.AWS().Fault(emulator.Match{Service: "s3", Op: "CreateBucket"}, emulator.Fail(500, "InternalError", "not now"))
	x.apply(x.manifest(c))
	text := x.begin(x.admin(), "monitor", "-n", c.Namespace)
	lines := x.begin(x.admin(), "monitor", c.Namespace+"/"+c.Name, "-o", "ndjson")
	table := x.beginOnTerminal(x.admin(), "monitor", "ncap/"+c.Name, "-n", c.Namespace)
	text.shows("step 1 DynamoDB: done")
	text.shows("step 2 S3: in progress")
	table.shows("… in progress")
	lines.shows(`"subject":"S3","state":"in progress"`)
	x.Shows(c, "Reconciling", metav1.ConditionTrue, "Retrying")
	fault.Remove() // the operator was retrying all the while, and monitor has not ended

	a := text.ends()
	if a.code != 0 || a.err != "" || strings.Contains(a.out, "\x1b") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	for _, want := range []string{`step 2 S3: done in \d`, `step 11 Ingress: done`, `event S3Bucket/myapp-dev-call-data Created: `,
		`phase Running: `,
		`Deployment/myapp-dev-backend: available \(2 of 2 available\)`, `address: http://k8s-`, `\] done: Running at http://k8s-.*\n$`} {
		if !regexp.MustCompile(want).MatchString(a.out) {
			t.Errorf("no %s in\n%s", want, a.out)
		}
	}
	if a := lines.ends(); a.code != 0 {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	all := changesOf(t, lines.printed())
	if last := all[len(all)-1]; last.Type != "Result" || last.State != "Reached" {
		t.Errorf("%+v", last)
	}
	measured := 0
	for _, l := range all {
		if l.DurationSeconds != nil {
			measured++
		}
	}
	if measured < 3 {
		t.Errorf("%d steps were measured:\n%s", measured, lines.printed())
	}
	if a := table.ends(); a.code != 0 {
		t.Errorf("exit code %d\n%s", a.code, a.out)
	}
	table.shows("done: Running at http://k8s-")
	for _, want := range []string{"\x1b[", "A\r\x1b[J", "\x1b[32m", "✓ done", "11/11"} {
		if !strings.Contains(table.printed(), want) {
			t.Errorf("the table has no %q:\n%q", want, table.printed())
		}
	}
	if a := x.run("", "monitor", "-n", c.Namespace); a.code != 0 || !strings.Contains(a.out, "done: Running at ") {
		t.Errorf("of one that runs: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestMonitor_EndsWhenAPersonMustAct(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	if _, err := x.s3().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("myapp-dev-call-data"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	x.apply(x.manifest(c))
	a := x.begin(x.admin(), "monitor", "-n", c.Namespace).ends()
	if a.code != 1 || !strings.Contains(a.err, "Conflict: S3Bucket/myapp-dev-call-data: ") ||
		!strings.HasSuffix(strings.TrimSpace(a.err), " (NX-SPEC-005)") || !strings.Contains(a.out, "step 2 S3: failed (") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	on := x.beginOnTerminal(append(x.admin(), "NO_COLOR=1"), "monitor", "-n", c.Namespace)
	on.shows("✗ failed")
	if a := on.ends(); a.code != 1 || strings.Contains(a.out, "\x1b[31m") {
		t.Errorf("without colors: exit code %d\n%q", a.code, a.out)
	}
	on = x.beginOnTerminal(append(x.admin(), "CI=true"), "monitor", "-n", c.Namespace)
	on.shows("step 2 S3: failed (")
	if a := on.ends(); a.code != 1 || strings.Contains(a.out, "\x1b") {
		t.Errorf("in CI: exit code %d\n%q", a.code, a.out)
	}
	x.Edit(c, func() { c.Spec.Suspend = true })
	if a := x.run("", "monitor", "-n", c.Namespace); a.code != 1 || !strings.Contains(a.err, "it is suspended") {
		t.Errorf("suspended: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestMonitor_ResumesWatchesThatEnd(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	fault := x.World.AWS().Fault(emulator.Match{Service: "s3", Op: "CreateBucket"}, emulator.Fail(500, "InternalError", "not now"))
	x.apply(x.manifest(c))
	proxy, env := x.proxied()
	s := x.begin(env, "monitor", "-n", c.Namespace)
	s.shows("step 2 S3: in progress")
	all := kubeproxy.Match{Verb: "watch"}
	proxy.Fault(kubeproxy.Match{Verb: "watch", Times: 2}, kubeproxy.Expired())
	if n := proxy.CutWatches(all); n != 3 {
		t.Errorf("%d watches were under way, want 3:\n%s", n, proxy.Calls())
	}
	fault.Remove()
	if a := s.ends(); a.code != 0 || !strings.Contains(a.out, "done: Running") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if n := proxy.Calls().Count(); n > 40 {
		t.Errorf("%d requests:\n%s", n, proxy.Calls())
	}
}

func TestMonitor_EndsInTimeOrWhenInterrupted(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	x.World.AWS().Fault(emulator.Match{Service: "s3", Op: "CreateBucket"}, emulator.Fail(500, "InternalError", "not now"))
	x.apply(x.manifest(c))
	a := x.run("", "monitor", "-n", c.Namespace, "--timeout", "3s", "-o", "json")
	if a.code != 124 || !strings.Contains(a.err, "not within 3s: waiting for ") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if all := changesOf(t, a.out); all[len(all)-1].State != "TimedOut" {
		t.Errorf("%s", a.out)
	}
	s := x.begin(x.admin(), "monitor", "-n", c.Namespace)
	s.shows("step 2 S3: ")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if a := s.ends(); a.code != 130 || !strings.Contains(a.err, "has changed nothing") ||
		!strings.Contains(a.err, "Run the same command again") {
		t.Errorf("interrupted: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	s = x.begin(x.admin(), "monitor", "-n", c.Namespace)
	s.shows("step 2 S3: ")
	if err := x.Client.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if a := s.ends(); a.code != 1 || !strings.Contains(a.err, "it is being deleted") && !strings.Contains(a.err, "it no longer exists") {
		t.Errorf("deleted: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestMonitor_SaysWhichCapabilityAndWhichRight(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Annotations = map[string]string{wellknown.AnnotationPaused: "true"}
	x.Create(c)
	if a := x.runAs(x.withoutRights(), "", "monitor", "-n", c.Namespace); a.code != 4 ||
		!strings.Contains(a.err, `"nobody" cannot list resource "nexuscapabilities"`) || a.out != "" {
		t.Errorf("no rights: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "monitor", "-n", c.Namespace); a.code != 1 || !strings.Contains(a.err, "it is paused") {
		t.Errorf("paused: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "monitor", "-n", x.Namespace); a.code != 2 || !strings.Contains(a.err, "has no NexusAICapability") {
		t.Errorf("none: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "monitor", x.Namespace+"/none"); a.code != 4 ||
		!strings.Contains(a.err, "NexusAICapability "+x.Namespace+"/none does not exist") {
		t.Errorf("missing: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	for _, args := range [][]string{{"monitor"}, {"monitor", c.Namespace}} { // the only one of the cluster, and of a namespace
		if a := x.run("", args...); a.code != 1 || !strings.Contains(a.err, "it is paused") {
			t.Errorf("%v: exit code %d\n%s%s", args, a.code, a.out, a.err)
		}
	}
	second := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: c.Namespace}, Spec: *c.Spec.DeepCopy()}
	second.Spec.CapabilityName = "other"
	x.Create(second)
	if a := x.run("", "monitor", "-n", c.Namespace); a.code != 2 ||
		!strings.Contains(a.err, "name one of "+c.Namespace+"/myapp-dev, "+c.Namespace+"/other") {
		t.Errorf("two: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.rights("watcher", c.Namespace, rule("get,list,watch", nexusv1.GroupVersion.Group, "nexuscapabilities"))
	limited := append(x.admin(), "KUBECONFIG="+x.kubeconfigOf("watcher"))
	if a := x.runAs(limited, "", "monitor", c.Namespace+"/other"); a.code != 4 ||
		!strings.Contains(a.err, "the right to list and watch deployments.apps") {
		t.Errorf("no Deployments: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}
