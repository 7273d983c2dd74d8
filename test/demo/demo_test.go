// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/devworld"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// TestMain plays three parts: the demo starts its own program as daemon, which
// here is the test's, and is given the same as operator.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "daemon":
		main()
		return
	case slices.Contains(os.Args, "--play-operator"):
		err = playOperator(context.Background())
	default:
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// playOperator creates a bucket for each capability and says that it runs. Like the operator, it says that it is ready.
func playOperator(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	capabilities := c.Resource(schema.GroupVersionResource{Group: "nexus.ai", Version: "v1", Resource: "nexuscapabilities"})
	for _, arg := range os.Args {
		if address, ok := strings.CutPrefix(arg, "--health-probe-bind-address="); ok {
			go func() {
				_ = http.ListenAndServe(address, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			}()
		}
	}
	for ; ; time.Sleep(50 * time.Millisecond) {
		all, err := capabilities.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range all.Items {
			o := &all.Items[i]
			if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == "Running" {
				continue
			}
			if err := createBucket(ctx, o.GetName()+"-data"); err != nil {
				return err
			}
			status := fmt.Sprintf(`{"status":{"phase":"Running","progress":"11/11","observedGeneration":%d,"ready":true,"conditions":[
				{"type":"Ready","status":"True","reason":"Played","message":"","lastTransitionTime":"2025-01-01T00:00:00Z"}]}}`, o.GetGeneration())
			if _, err := capabilities.Namespace(o.GetNamespace()).
				Patch(ctx, o.GetName(), types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
				return err
			}
		}
	}
}

func createBucket(ctx context.Context, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, os.Getenv("AWS_ENDPOINT_URL")+"/"+name, strings.NewReader(
		"<CreateBucketConfiguration><LocationConstraint>ap-southeast-1</LocationConstraint></CreateBucketConfiguration>"))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AK/20250101/ap-southeast-1/s3/aws4_request, SignedHeaders=host, Signature=x")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// output runs a verb and returns what it prints.
func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return printed(t, func() error { return run(t.Context(), args) })
}

// printed returns what a function prints.
func printed(t *testing.T, do func() error) (string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, r)
		text <- b.String()
	}()
	old := os.Stdout
	os.Stdout = w
	err = do()
	os.Stdout = old
	w.Close()
	return <-text, err
}

func needBed(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the test bed: skipped in short mode")
	}
	if _, err := world.BinDir(); err != nil {
		if os.Getenv("NEXUS_BED_REQUIRED") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// demo is one demo in its own folder, with the test's program as operator.
type demo struct {
	*testing.T
	dir string
}

func newDemo(t *testing.T) demo {
	needBed(t)
	d := demo{t, filepath.Join(t.TempDir(), "it's a demo")}
	t.Cleanup(func() { _, _ = d.run("down") })
	return d
}

func (d demo) run(verb string, more ...string) (string, error) {
	d.Helper()
	self, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	args := []string{verb, "-dir", d.dir, "-operator", self, "-operator-args", "--play-operator", "-crds", "../../config/crd/bases",
		"-intents", ""}
	return output(d.T, append(args, more...)...)
}

// runReal runs a verb from the root of the tree with the demo's own defaults,
// but for the folder and the operator's program.
func (d demo) runReal(operator, verb string, more ...string) string {
	d.Helper()
	d.Chdir("../..")
	text, err := output(d.T, append([]string{verb, "-dir", d.dir, "-operator", operator}, more...)...)
	if err != nil {
		d.Fatalf("%s: %v\n%s", verb, err, text)
	}
	return text
}

// says fails unless a verb succeeds and prints all these texts.
func (d demo) says(verb string, wants []string, more ...string) {
	d.Helper()
	text, err := d.run(verb, more...)
	if err != nil {
		d.Fatalf("%s: %v\n%s", verb, err, text)
	}
	for _, want := range wants {
		if !strings.Contains(text, want) {
			d.Errorf("%s does not say %q:\n%s", verb, want, text)
		}
	}
}

// world is the demo's, with what it says thrown away.
func (d demo) world() devworld.World {
	return devworld.World{Dir: d.dir, Daemon: []string{"daemon"}, Clock: clock.RealClock{}, Progress: io.Discard}
}

func (d demo) report() *devworld.Report {
	d.Helper()
	r, err := d.world().Status(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	return r
}

// process is the id of a process of the demo.
func process(r *devworld.Report, name string) int {
	for _, p := range r.Processes {
		if p.Name == name {
			return p.PID
		}
	}
	return 0
}

// left are the processes of a demo that is gone. A process that has ended may wait for a parent that never looks.
func left(r *devworld.Report) (alive []string) {
	for _, p := range r.Processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
		if gone := errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH); !gone && !(err == nil && strings.Contains(string(stat), ") Z ")) {
			alive = append(alive, p.Name)
		}
	}
	return alive
}

func TestTheDemoComesUpShowsItselfAndGoes(t *testing.T) {
	d := newDemo(t)
	d.says("up", []string{"myapp-dev/myapp-dev", "Running", "s3/bucket                  myapp-dev-data",
		"nexuscapabilities          myapp-dev",
		"source " + d.dir + "/env"}, "-f", "../../examples/test-capability.yaml")
	first := d.report()
	env, err := os.ReadFile(filepath.Join(d.dir, "env"))
	if err != nil || !strings.Contains(string(env), `export KUBECONFIG='`+strings.ReplaceAll(first.Kubeconfig, "'", `'\''`)+`'`) {
		t.Errorf("env: %v\n%s", err, env)
	}
	d.says("status", []string{"kube-apiserver", "myapp-dev-data"})
	d.waitsInVain("../../examples/capability-with-intents.yaml")
	d.says("down", []string{"stopped 8 processes; none is left"})
	if len(left(first)) != 0 {
		t.Errorf("left behind: %v", left(first))
	}
	if _, err := os.Stat(d.dir); !os.IsNotExist(err) {
		t.Errorf("files are left behind: %v", err)
	}
	d.says("down", []string{"no demo is running"})
}

// waitsInVain applies a capability whose policies no one looks after.
func (d demo) waitsInVain(file string) {
	d.Helper()
	var text bytes.Buffer
	w := d.world()
	w.Progress = &text
	err := w.Up(d.Context(), devworld.Options{Manifests: []string{file}, Timeout: 2 * time.Second})
	if _, timeout := errors.AsType[*devworld.TimeoutError](err); !timeout ||
		!strings.Contains(err.Error(), "1 of 1 capabilities are not running after 2s") {
		d.Errorf("%v", err)
	}
	for _, want := range []string{"running already", "Running"} {
		if !strings.Contains(text.String(), want) {
			d.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if r := d.report(); !r.Running || len(r.Capabilities) != 2 || r.Capabilities[0].Running || !r.Capabilities[1].Running {
		d.Errorf("%+v", r)
	}
}

// TestTheDemoShowsTwoIntentsTheirPoliciesAndTheCoverage has the operator itself
// bring up the example.
func TestTheDemoShowsTwoIntentsTheirPoliciesAndTheCoverage(t *testing.T) {
	extent.Full(t)
	d := newDemo(t)
	operator, err := program.Build("nexus-operator", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := d.runReal(operator, "up")
	_, shown, ok := strings.Cut(text, "\nSecurity intents of guarded-dev/guarded-dev\n")
	shown, _, _ = strings.Cut(shown, "\nEverything goes on running")
	want := `  securityintents            guarded-dns                                      Block, dnsManipulation
                             guarded-backend                                  Block, networkSegmentation
  securityintentbindings     guarded-dev-backend-policies                     Ready=True
                             guarded-dev-policies                             Ready=True
  nimbuspolicies             guarded-dev-backend-policies                     Ready=True
                             guarded-dev-policies                             Ready=True
  networkpolicies            guarded-dev-backend-policies-networksegmentation
                             guarded-dev-policies-dnsmanipulation
  kubearmorpolicies          guarded-dev-policies-dnsmanipulation

Coverage in the status of guarded-dev/guarded-dev, PoliciesReady=True
  INTENT                         ENGINE         LEVEL     REASON
  dnsManipulation                NetworkPolicy  Enforced
  dnsManipulation                KubeArmor      Partial   EngineLimit
  dnsManipulation                Kyverno        None      NotCovered
  dnsManipulation                Istio          None      EngineMissing
  dnsManipulation                Cilium         None      EngineMissing
  dnsManipulation                EKSAutoMode    None      EngineMissing
  dnsManipulation                TLSAssessor    None      NotCovered
  networkSegmentation (backend)  NetworkPolicy  Enforced
  networkSegmentation (backend)  KubeArmor      None      NotCovered
  networkSegmentation (backend)  Kyverno        None      NotCovered
  networkSegmentation (backend)  Istio          None      EngineMissing
  networkSegmentation (backend)  Cilium         None      EngineMissing
  networkSegmentation (backend)  EKSAutoMode    None      EngineMissing
  networkSegmentation (backend)  TLSAssessor    None      NotCovered

Kinds that are installed here without their engines: kubearmorpolicies.security.kubearmor.com, policies.kyverno.io.
The nodes are fake, too: nothing enforces these policies. The coverage shows the objects of each engine.
`
	if !ok || shown != want {
		t.Errorf("up shows\n%s\nwant\n%s\nin all\n%s", shown, want, text)
	}
	if !regexp.MustCompile(`guarded-dev/guarded-dev +Running +11/11\n`).MatchString(text) {
		t.Errorf("up does not say that it runs:\n%s", text)
	}
	first := d.report()
	if _, err := d.run("down"); err != nil || len(left(first)) != 0 {
		t.Errorf("down: %v; left behind: %v", err, left(first))
	}
}

// Examples of applications that need nothing of another team run in the demo on request.
func TestTheDemoRunsExamplesOnRequest(t *testing.T) {
	extent.Full(t)
	d := newDemo(t)
	operator, err := program.Build("nexus-operator", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	more := []string{"-intents", "", "-bounded"}
	for _, example := range []string{"agent", "retrieval", "batch-worker"} {
		more = append(more, "-f", "examples/"+example+".yaml")
	}
	text := d.runReal(operator, "up", more...)
	for _, name := range []string{"agent-dev", "search-dev", "batch-dev"} {
		if !regexp.MustCompile(name + `/` + name + ` +Running +11/11\n`).MatchString(text) {
			t.Errorf("up does not say that %s runs:\n%s", name, text)
		}
	}
}

func TestADeadOperatorRestartsAndASecondUpStartsAgain(t *testing.T) {
	extent.Full(t)
	d := newDemo(t)
	d.says("up", nil)
	first := d.report()
	_ = syscall.Kill(process(first, "operator"), syscall.SIGKILL)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r := d.report(); r.Running && r.OperatorRestarts == 1 && process(r, "operator") != process(first, "operator") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the operator was not started again")
		}
	}
	d.says("up", nil)
	if second := d.report(); process(second, "daemon") == process(first, "daemon") || len(left(first)) != 0 {
		t.Errorf("of the first demo is left: %v", left(first))
	}
}

func TestAFailureIsReported(t *testing.T) {
	needBed(t)
	dir := t.TempDir()
	if _, err := output(t, "up", "-dir", dir, "-operator", "no-such-operator"); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("without an operator: %v", err)
	}
	if _, err := output(t, "up", "-dir", dir, "-operator", "", "-intents", "", "-crds", "no-such-folder"); err == nil ||
		!strings.Contains(err.Error(), "no-such-folder") {
		t.Errorf("without definitions: %v", err)
	}
	if _, err := output(t, "up", "-dir", dir, "-operator", "", "-intents", "no-such-file"); err == nil ||
		!strings.Contains(err.Error(), "no-such-file") {
		t.Errorf("without a manifest: %v", err)
	}
	if _, err := output(t, "status", "-dir", dir); err == nil {
		t.Error("status of nothing succeeded")
	}
	if _, err := output(t, "sideways"); err == nil {
		t.Error("an unknown verb succeeded")
	}
}
