// SPDX-License-Identifier: Apache-2.0

// Package install applies what the Helm chart renders to a real control plane, and runs the operator's binary as the chart's
// Deployment says, with the rights that the chart gives it.
package install

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/shard"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// tools is the folder of the renderer.
var tools string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests runs the tests in a world without custom resource definitions: the chart brings them.
func runTests(m *testing.M) (code int) {
	var err error
	if tools, err = os.MkdirTemp("", "nexus-install-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := errors.Join(world.StopShared(), os.RemoveAll(tools)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}()
	return m.Run()
}

// renderer builds dev/chart once, whose module has Helm as a library.
var renderer = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(tools, "chart")
	out, err := exec.Command("go", "-C", "../../dev/chart", "build", "-o", binary, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return binary, nil
})

// render returns the objects of the chart with a file of values.
func render(t *testing.T, values string) []*unstructured.Unstructured {
	t.Helper()
	binary, err := renderer()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "render", "../..", operator.Namespace, values)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rendered.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := world.ReadManifests(file)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// renderText is render with values as text.
func renderText(t *testing.T, values string) []*unstructured.Unstructured {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	return render(t, file)
}

// deploymentOf returns the operator's Deployment.
func deploymentOf(t *testing.T, objects []*unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		d := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d); err != nil {
			t.Fatal(err)
		}
		if len(d.Spec.Template.Spec.Containers) == 1 {
			return d
		}
	}
	t.Fatal("there is no Deployment with one container")
	return nil
}

func argsOf(t *testing.T, values string) []string {
	t.Helper()
	return deploymentOf(t, renderText(t, values)).Spec.Template.Spec.Containers[0].Args
}

// Every flag is set by a value, and no value sets a flag that does not exist: the arguments of a chart with every value
// parse, and they change every flag.
func TestChart_SetsEveryFlagByAValue(t *testing.T) {
	args := deploymentOf(t, render(t, "testdata/every-value.yaml")).Spec.Template.Spec.Containers[0].Args
	if _, err := options.Parse(args, func(string) string { return "" }); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	flags := options.Flags()
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	// A pod needs no kubeconfig. Its namespace is set by the downward API, and here by extraArgs. Shards need leader election,
	// which these values turn off.
	byHand := sets.New("kubeconfig", "shard")
	flags.VisitAll(func(f *pflag.Flag) {
		if (f.Value.String() != f.DefValue) == byHand.Has(f.Name) {
			t.Errorf("--%s=%s, by default %q", f.Name, f.Value, f.DefValue)
		}
	})
	if slices.Index(args, "--namespace=elsewhere") != len(args)-1 {
		t.Errorf("extraArgs do not come last: %q", args)
	}
}

// Kubernetes replaces $(POD_INDEX) in the arguments by the ordinal of the pod.
func TestChart_EveryShardHasItsReplicas(t *testing.T) {
	pods := map[shard.Shard]int{}
	for _, o := range renderText(t, "replicas: 2\nsharding: {count: 3}") {
		if o.GetKind() != "StatefulSet" {
			continue
		}
		set := &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
			t.Fatal(err)
		}
		args := strings.Join(set.Spec.Template.Spec.Containers[0].Args, "\n")
		for ordinal := range int(*set.Spec.Replicas) {
			o, err := options.Parse(strings.Split(strings.ReplaceAll(args, "$(POD_INDEX)", strconv.Itoa(ordinal)), "\n"),
				func(string) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			pods[o.Shard]++
		}
	}
	for i := range 3 {
		if s := (shard.Shard{Index: i, Count: 3}); pods[s] != 2 {
			t.Errorf("shard %s has %d pods, want 2 replicas", s, pods[s])
		}
	}
	if len(pods) != 3 {
		t.Errorf("the pods serve %v", pods)
	}
}

// What no value sets is the operator's own default.
func TestChart_RepeatsNoDefault(t *testing.T) {
	want := options.Flags()
	got := options.Flags()
	if err := got.Parse(argsOf(t, "")); err != nil {
		t.Fatal(err)
	}
	got.VisitAll(func(f *pflag.Flag) {
		if f.Value.String() != want.Lookup(f.Name).Value.String() {
			t.Errorf("--%s is %s, the operator's default %s", f.Name, f.Value, f.DefValue)
		}
	})
}

// Refusals name these values: a value must set the flag beside which it is named.
func TestChart_ValuesInRefusalsSetTheirFlags(t *testing.T) {
	extent.Full(t)
	for values, flag := range map[string]string{
		"tenants: {capabilityNamespaces: [ops, team-a]}":                              "--capability-namespaces=ops,team-a",
		"tenants: {ambientNamespaces: [ops, team-a]}":                                 "--ambient-namespaces=ops,team-a",
		"tenants: {workloadNamespaces: [ops, team-a]}":                                "--workload-namespaces=ops,team-a",
		"tenants: {defaultPermissionsBoundary: 'arn:aws:iam::123456789012:policy/b'}": "--default-permissions-boundary=arn:aws:iam::123456789012:policy/b",
		"metrics: {enabled: false}":                                                   "--metrics-bind-address=0",
		"intents: {adapters: []}":                                                     "--adapters=",
	} {
		if args := argsOf(t, values); !slices.Contains(args, flag) {
			t.Errorf("%s: %q lacks %s", values, args, flag)
		}
	}
}
