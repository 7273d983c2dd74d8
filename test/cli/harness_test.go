// SPDX-License-Identifier: Apache-2.0

// Package cli runs nexusctl's own binary as a person would, beside a running operator, a real control plane and an
// emulated AWS.
package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	engine.Main()
	world.Main(m, world.Options{CRDs: []string{"../../config/crd/bases"}})
}

// answer says how a run of nexusctl ended.
type answer struct {
	out, err string
	code     int
}

// tool is nexusctl in the hands of a person with every right.
type tool struct {
	*bed.Bed
	aws *emulator.Endpoint
}

func newTool(t *testing.T, flags ...string) *tool {
	t.Helper()
	b := bed.New(t, flags...)
	aws, err := b.World.AWS().Listen("nexusctl-" + strings.ReplaceAll(t.Name(), "/", "-"))
	if err != nil {
		t.Fatal(err)
	}
	return &tool{Bed: b, aws: aws}
}

// binary builds nexusctl once for a world.
func (x *tool) binary() string {
	x.Helper()
	return nexusctl.Binary(x, x.World)
}

// run runs nexusctl with text on its standard input, as an administrator of the cluster and of the account.
func (x *tool) run(stdin string, args ...string) answer {
	x.Helper()
	return x.runAs([]string{"KUBECONFIG=" + x.World.Kubeconfig(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}, stdin,
		args...)
}

func (x *tool) runAs(env []string, stdin string, args ...string) answer {
	x.Helper()
	a := nexusctl.Run(x, x.World, append([]string{"AWS_ENDPOINT_URL=" + x.aws.URL(), "OPERATOR_NAMESPACE=default"}, env...), stdin, args...)
	return answer{out: a.Out, err: a.Err, code: a.Code}
}

// apply runs kubectl apply.
func (x *tool) apply(manifest string) {
	x.Helper()
	programs, err := world.BinDir()
	if err != nil {
		x.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(programs, "kubectl"), "apply", "-f", "-")
	cmd.Env = []string{"KUBECONFIG=" + x.World.Kubeconfig(), "HOME=" + x.TempDir()}
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		x.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}

// item holds what the tests read of a plan's item.
type item struct {
	APIVersion, Kind, Namespace, Name, Action, Waits, Risk string
	Fields                                                 []struct{ Path, Have, Want string }
	Problem                                                *struct{ Reason, Field, Message string }
	AWS                                                    *struct {
		Account, Region, Action, Cause, Reason, Risk string
		Fields                                       []struct{ Path, Have, Want string }
		Ignored                                      []struct{ Path string }
		Calls                                        []call
	}
}

type call struct {
	Action string
	Count  int
}

// plan runs the verb with arguments and reads its JSON.
func (x *tool) plan(stdin string, args ...string) []item {
	x.Helper()
	mark := x.World.AWS().Mark()
	a := x.run(stdin, append([]string{"plan", "-o", "json"}, args...)...)
	var p struct{ Items []item }
	if err := json.Unmarshal([]byte(a.out), &p); err != nil {
		x.Fatalf("exit code %d, %v\n%s\n%s", a.code, err, a.out, a.err)
	}
	if w := x.ownWrites(mark); len(w) > 0 {
		x.Errorf("planning wrote to AWS: %v", w)
	}
	return p.Items
}

// callsOf counts the AWS calls of a plan by their action.
func callsOf(items []item) map[string]int {
	out := map[string]int{}
	for _, it := range items {
		if it.AWS == nil {
			continue
		}
		for _, c := range it.AWS.Calls {
			out[c.Action] += c.Count
		}
	}
	return out
}

// writesSince counts the writes that the operator sent, by their action.
func (x *tool) writesSince(mark emulator.Mark) map[string]int {
	out := map[string]int{}
	for _, c := range x.World.AWS().Since(mark).Writes() {
		if c.Endpoint != x.aws.Name() {
			out[c.Action()]++
		}
	}
	return out
}

// ownWrites are the writes that nexusctl itself sent.
func (x *tool) ownWrites(mark emulator.Mark) []string {
	var out []string
	for _, c := range x.World.AWS().Since(mark).From(x.aws.Name()).Writes() {
		out = append(out, c.Action())
	}
	return out
}

// manifest is an object as a person would write it.
func (x *tool) manifest(objs ...client.Object) string {
	x.Helper()
	var docs []string
	for _, o := range objs {
		gvk, err := x.Client.GroupVersionKindFor(o)
		if err != nil {
			x.Fatal(err)
		}
		b, err := json.Marshal(o)
		if err != nil {
			x.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			x.Fatal(err)
		}
		delete(m, "status")
		m["apiVersion"], m["kind"] = gvk.GroupVersion().String(), gvk.Kind
		m["metadata"] = map[string]any{"name": o.GetName(), "namespace": o.GetNamespace()}
		y, err := yaml.Marshal(m)
		if err != nil {
			x.Fatal(err)
		}
		docs = append(docs, string(y))
	}
	return strings.Join(docs, "---\n")
}

func (it item) title() string { return fmt.Sprintf("%s/%s", it.Kind, it.Name) }
