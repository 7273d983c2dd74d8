// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// renderWith renders the chart with values, in YAML.
func renderWith(t *testing.T, values string) ([]object, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	return render(t.Context(), filepath.Join(root, chartDir), "ops", file)
}

func mustRender(t *testing.T, values string) map[string]object {
	t.Helper()
	objects, err := renderWith(t, values)
	if err != nil {
		t.Fatalf("%s: %v", values, err)
	}
	return byID(t, objects)
}

func byID(t *testing.T, objects []object) map[string]object {
	t.Helper()
	out := map[string]object{}
	for _, o := range objects {
		if _, twice := out[o.id()]; twice || o.metadata("name") == "" {
			t.Errorf("%s stands there twice, or without a name", o.id())
		}
		out[o.id()] = o
	}
	return out
}

func sameObjects(t *testing.T, what string, got, want map[string]object) {
	t.Helper()
	if len(want) < 30 {
		t.Fatalf("%s: only %d objects", what, len(want))
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[id], want[id]) {
			t.Errorf("%s: %s differs:\n%v\n%v", what, id, got[id], want[id])
		}
	}
	for id := range got {
		if want[id] == nil {
			t.Errorf("%s: %s is too many", what, id)
		}
	}
}

// plainManifests are the objects of manifests/: all but the definitions.
func plainManifests(t *testing.T) map[string]object {
	t.Helper()
	var all []object
	for _, file := range []string{"00-namespace.yaml", "rbac.yaml", "deployment.yaml"} {
		objects, err := readObjects(filepath.Join(root, manifestsDir, file))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects...)
	}
	return byID(t, all)
}

// defaults are the objects of the chart with the values of manifests/ and config/default.
func defaults(t *testing.T) map[string]object {
	t.Helper()
	objects, err := render(t.Context(), filepath.Join(root, chartDir), defaultNamespace, filepath.Join(root, manifestsValues))
	if err != nil {
		t.Fatal(err)
	}
	return byID(t, objects)
}

func TestChart_RendersTheObjectsOfTheManifests(t *testing.T) {
	objects := defaults(t)
	definitions := 0
	for id, o := range objects {
		if o.kind() == "CustomResourceDefinition" {
			definitions++
			delete(objects, id)
		}
	}
	if files, err := filepath.Glob(filepath.Join(root, definitionsDir, "*.yaml")); err != nil || definitions != len(files) ||
		definitions < 40 {
		t.Errorf("%d definitions of %d files, %v", definitions, len(files), err)
	}
	sameObjects(t, "the chart", objects, plainManifests(t))
}

func TestKustomize_RendersTheObjectsOfTheChart(t *testing.T) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, "config/default"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	sameObjects(t, "kustomize", byID(t, objects), defaults(t))
}

// The chart must not lose an object of config/, a rule, or a schema.
func TestChart_HoldsEveryObjectOfConfig(t *testing.T) {
	rendered := defaults(t)
	for _, source := range append(slices.Collect(maps.Values(sources)), definitionsDir) {
		files, err := filepath.Glob(filepath.Join(root, source, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", source, err)
		}
		for _, file := range files {
			objects, err := readObjects(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				got := rendered[o.id()]
				for _, part := range []string{"spec", "rules", "subjects", "roleRef"} {
					if !reflect.DeepEqual(got[part], o[part]) {
						t.Errorf("%s: %s of %s differs", file, part, o.id())
					}
				}
			}
		}
	}
}

func TestChart_MovesToAnotherNamespace(t *testing.T) {
	objects, err := renderWith(t, "namespace: {create: true}\nmetrics: {readers: [{name: prometheus, namespace: monitoring}]}")
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(objects)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, defaultNamespace) && !strings.Contains(line, "description") {
			t.Errorf("still names %s: %s", defaultNamespace, line)
		}
	}
	if !strings.Contains(string(text), "system:serviceaccount:ops:nexus-operator") {
		t.Error("the admission policy does not name the ServiceAccount")
	}
}

func TestChart_SwitchesSelectObjects(t *testing.T) {
	standard := mustRender(t, "")
	for _, c := range []struct{ values, adds, removes string }{
		{"crds: {install: false}", "", "CustomResourceDefinition"},
		{"admissionPolicy: {enabled: false}", "", "ValidatingAdmissionPolicy"},
		{"serviceAccount: {create: false}", "", "/ServiceAccount/"},
		{"networkPolicy: {enabled: false}", "", "NetworkPolicy"},
		{"podDisruptionBudget: {enabled: false}", "", "PodDisruptionBudget"},
		{"rbac: {engines: [kyverno, istio]}", "", "nexus-operator-kubearmor"},
		{"rbac: {engines: []}", "", "nexus-operator-istio"},
		{"serviceMonitor: {enabled: true}", "ServiceMonitor", ""},
		{"alerts: {enabled: true}", "PrometheusRule", ""},
		{"dashboards: {enabled: true}", "ConfigMap/ops/nexus-operator-dashboard-capabilities", ""},
		{"dashboards: {enabled: true}", "ConfigMap/ops/nexus-operator-dashboard-operator", ""},
		{"namespace: {create: true}", "v1/Namespace/", ""},
		{"rbac: {secretsNamespaces: [team-a]}", "RoleBinding/team-a/nexus-operator-secrets", ""},
		{"metrics: {readers: [{name: p, namespace: m}]}", "ClusterRoleBinding//nexus-operator-metrics-reader", ""},
	} {
		got := mustRender(t, c.values)
		if n := len(matching(got, c.adds)); c.adds != "" && (n == 0 || len(matching(standard, c.adds)) > 0) {
			t.Errorf("%s: %d objects %s, by default %d", c.values, n, c.adds, len(matching(standard, c.adds)))
		}
		if n := len(matching(got, c.removes)); c.removes != "" && (n > 0 || len(matching(standard, c.removes)) == 0) {
			t.Errorf("%s: %d objects %s, by default %d", c.values, n, c.removes, len(matching(standard, c.removes)))
		}
	}
}

func matching(objects map[string]object, part string) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(objects)), func(id string) bool { return !strings.Contains(id, part) })
}

// Prometheus must get the alerts that are tested, with a link to the section of the runbook.
func TestChart_RendersTheAlertsThatAreTested(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, chartDir, "files/alerts/rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const base = "https://wiki.example/runbook"
	want := object{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(text), `runbook_url: "#`, `runbook_url: "`+base+"#")), &want); err != nil {
		t.Fatal(err)
	}
	rules := matching(mustRender(t, "alerts: {enabled: true, runbookBaseURL: '"+base+"', labels: {release: prometheus}}"), "PrometheusRule")
	if len(rules) != 1 {
		t.Fatalf("%q", rules)
	}
	got := mustRender(t, "alerts: {enabled: true, runbookBaseURL: '"+base+"'}")[rules[0]]
	if !reflect.DeepEqual(got["spec"], map[string]any(want)) {
		t.Errorf("got\n%v\nwant\n%v", got["spec"], want)
	}
}

func TestChart_RendersTheDashboardsAsTheyAre(t *testing.T) {
	objects := mustRender(t, "dashboards: {enabled: true}")
	for _, name := range []string{"operator", "capabilities"} {
		text, err := os.ReadFile(filepath.Join(root, chartDir, "files/dashboards", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		id := matching(objects, "nexus-operator-dashboard-"+name)
		if len(id) != 1 {
			t.Fatalf("%s: %q", name, id)
		}
		data, _ := objects[id[0]]["data"].(map[string]any)
		if got, _ := data[name+".json"].(string); strings.TrimSpace(got) != strings.TrimSpace(string(text)) {
			t.Errorf("%s differs from its file", id[0])
		}
		if labels := objects[id[0]]["metadata"].(map[string]any)["labels"].(map[string]any); labels["grafana_dashboard"] != "1" {
			t.Errorf("%s has the labels %v", id[0], labels)
		}
	}
}

// Every shard gets the pods that a Deployment would have; the ordinal of a pod is the number of its shard.
func TestChart_ShardsArePodsOfAStatefulSet(t *testing.T) {
	one, three := mustRender(t, "replicas: 2"), mustRender(t, "replicas: 2\nsharding: {count: 3}")
	deployment, set := one["apps/v1/Deployment/ops/nexus-operator"], three["apps/v1/StatefulSet/ops/nexus-operator"]
	if deployment == nil || set == nil || len(matching(one, "StatefulSet")) > 0 || len(matching(three, "Deployment")) > 0 {
		t.Fatalf("without shards %q, with shards %q", matching(one, "apps/v1"), matching(three, "apps/v1"))
	}
	spec := set["spec"].(map[string]any)
	if spec["replicas"] != float64(6) || spec["serviceName"] != "nexus-operator" || spec["podManagementPolicy"] != "Parallel" {
		t.Errorf("replicas %v, serviceName %v, podManagementPolicy %v", spec["replicas"], spec["serviceName"], spec["podManagementPolicy"])
	}
	if len(matching(three, "v1/Service/ops/nexus-operator")) != 1 {
		t.Error("the Service of the StatefulSet is missing")
	}
	pod := containerOf(set)
	args := strings.Join(texts(pod["args"]), " ")
	index := map[string]any{"name": "POD_INDEX",
		"valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"}}}
	if !strings.Contains(args, "--shard=$(POD_INDEX)/3") || !reflect.DeepEqual(pod["env"].([]any)[1], any(index)) {
		t.Errorf("args %s, env %v", args, pod["env"])
	}
	pod["args"] = slices.DeleteFunc(texts(pod["args"]), func(a string) bool { return strings.HasPrefix(a, "--shard=") })
	containerOf(deployment)["args"] = texts(containerOf(deployment)["args"])
	pod["env"] = slices.Delete(pod["env"].([]any), 1, 2)
	if want := deployment["spec"].(map[string]any)["template"]; !reflect.DeepEqual(spec["template"], want) {
		t.Errorf("other pods than those of the Deployment:\n%v\n%v", spec["template"], want)
	}
	if _, err := renderWith(t, "sharding: {count: 2}\nleaderElection: {enabled: false}"); err == nil ||
		!strings.Contains(err.Error(), "leaderElection.enabled") {
		t.Errorf("shards without leases: %v", err)
	}
}

// containerOf returns the container of a workload.
func containerOf(o object) map[string]any {
	spec := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	return spec["containers"].([]any)[0].(map[string]any)
}

func texts(list any) []string {
	var out []string
	for _, text := range list.([]any) {
		out = append(out, text.(string))
	}
	return out
}

func TestChart_KeepsDefinitionsUnlessValuesSayOtherwise(t *testing.T) {
	for values, want := range map[string]string{"": "keep", "crds: {keep: false}": ""} {
		for id, o := range mustRender(t, values) {
			if o.kind() != "CustomResourceDefinition" {
				continue
			}
			annotations, _ := o["metadata"].(map[string]any)["annotations"].(map[string]any)
			if got, _ := annotations["helm.sh/resource-policy"].(string); got != want {
				t.Errorf("%q: %s has the resource policy %q", values, id, got)
			}
		}
	}
}

func TestSchema_RefusesMistakes(t *testing.T) {
	for _, values := range []string{
		"tenants: {capabilityNamespace: [team-a]}", "capabilityNamespaces: [team-a]", "tenants: {capabilityNamespaces: team-a}",
		"tenants: {capabilityNamespaces: ['team-a,*']}", "tenants: {defaultPermissionsBoundary: boundary}", "replicas: -1",
		"log: {level: LOUD}", "reconcile: {checkInterval: soon}", "intents: {adapters: [opa]}", "image: {digest: latest}", "extraArgs: [start]",
		"metrics: {port: 0}", "sharding: {count: 0}", "sharding: {count: 17}", "sharding: {count: two}", "shards: 2",
		"alerts: {runbookBaseURL: 'docs/operations.md'}", "alerts: {labels: [prometheus]}", "aws: {rates: {iam: fast}}",
		"aws: {region: mars}", "aws: {additionalRegions: [Mars-1]}", "tenants: {ambientNamespaces: [Team_A]}",
		"tenants: {workloadNamespaces: [-team]}",
		"resources: {limits: {memory: -1Gi}}", "resources: {requests: {cpu: -1}}", "resources: {limit: {memory: 1Gi}}",
		"tenants: {workloadNamespaceQuota: {pods: -1}}",
		"podDisruptionBudget: {maxUnavailable: -1}",
	} {
		if _, err := renderWith(t, values); err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("%s: %v", values, err)
		}
	}
}

func TestSchema_AcceptsWhatClustersNeed(t *testing.T) {
	for _, values := range []string{
		"aws: {region: us-gov-west-1, additionalRegions: [eusc-de-east-1, mx-central-1]}",
		"tenants: {ambientNamespaces: [team-*, 'a?', '*', 'team-[ab]']}",
		"resources: {limits: {memory: 1.5Gi, cpu: 2}, requests: {cpu: 100m, memory: 1e9, ephemeral-storage: 10M}}",
		"tenants: {workloadNamespaceQuota: {pods: 20, requests.cpu: '10', limits.memory: 8Gi}}", "podDisruptionBudget: {maxUnavailable: 50%}",
	} {
		if _, err := renderWith(t, values); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// A value without a schema would accept anything, and a schema without a value could not be found.
func TestSchema_DescribesEveryValue(t *testing.T) {
	values, err := common.ReadValuesFile(filepath.Join(root, chartDir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, chartDir, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	schema := map[string]any{}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	delete(schema["properties"].(map[string]any), "global") // Helm's own
	compareKeys(t, "", values, schema)
}

func compareKeys(t *testing.T, path string, values, schema map[string]any) {
	t.Helper()
	properties, closed := schema["properties"].(map[string]any)
	if !closed {
		return
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s accepts values that do not exist", path)
	}
	for key, value := range values {
		of, ok := properties[key].(map[string]any)
		if !ok {
			t.Errorf("the schema does not know %s.%s", path, key)
			continue
		}
		if children, ok := value.(map[string]any); ok {
			compareKeys(t, path+"."+key, children, of)
		}
	}
	for key := range properties {
		if _, ok := values[key]; !ok {
			t.Errorf("values.yaml does not show %s.%s", path, key)
		}
	}
}
