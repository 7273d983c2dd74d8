// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// additions are fields that a person may add to the objects of the table.
var additions = map[string][]string{
	"a Deployment": {
		`{spec: {template: {spec: {hostNetwork: true}}}}`,
		`{spec: {template: {spec: {serviceAccountName: other}}}}`,
		`{spec: {template: {spec: {containers: [{name: evil, image: "evil:1"}]}}}}`,
		`{spec: {template: {spec: {initContainers: [{name: evil, image: "evil:1"}]}}}}`,
		`{spec: {template: {spec: {volumes: [{name: host, hostPath: {path: /}}]}}}}`,
		`{spec: {template: {spec: {containers: [{name: app, env: [{name: EVIL, value: "1"}]}]}}}}`,
		`{spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 8000, protocol: SCTP}]}]}}}}`,
		`{spec: {template: {spec: {containers: [{name: app, command: [sh, -c, evil]}]}}}}`,
		`{spec: {template: {metadata: {annotations: {evil.io/inject: "true"}}}}}`,
		`{spec: {template: {spec: {dnsConfig: {nameservers: [203.0.113.1]}}}}}`,
		`{spec: {template: {spec: {tolerations: [{key: b, operator: Exists}]}}}}`,
		`{spec: {revisionHistoryLimit: 3, paused: true}}`,
		`{spec: {template: {spec: {terminationGracePeriodSeconds: 1}}}}`,
	},
	"a Service": {
		`{spec: {externalIPs: [203.0.113.1]}}`,
		`{spec: {ports: [{name: evil, port: 82, targetPort: 1}]}}`,
		`{spec: {ports: [{name: evil, port: 80, protocol: UDP, targetPort: 1}]}}`,
		`{spec: {selector: {evil: pod}}}`,
		`{spec: {publishNotReadyAddresses: true}}`,
	},
	"a ConfigMap": {`{data: {EVIL: "1"}}`, `{binaryData: {evil: AAAA}}`},
	"a network policy": {`{spec: {egress: [{}], policyTypes: [Ingress, Egress]}}`,
		`{spec: {ingress: [{ports: [{port: 22, protocol: TCP}]}]}}`},
	"a disruption budget": {`{spec: {unhealthyPodEvictionPolicy: AlwaysAllow}}`},
	"an Ingress":          {`{spec: {defaultBackend: {service: {name: evil, port: {number: 80}}}}}`},
	"a CronJob":           {`{spec: {jobTemplate: {spec: {template: {spec: {hostPID: true}}}}}}`, `{spec: {timeZone: Etc/UTC}}`},
	"an autoscaler":       {`{spec: {behavior: {scaleDown: {stabilizationWindowSeconds: 0}}}}`},
}

// forge writes an addition to a live object in one of the ways that Kubernetes has.
type forge struct {
	name string
	do   func(b *bed, desired, addition *unstructured.Unstructured, manager string) error
}

var forges = []forge{
	{"server-side apply", func(b *bed, desired, addition *unstructured.Unstructured, manager string) error {
		return b.person.Apply(b.Context(), client.ApplyConfigurationFromUnstructured(addition), client.FieldOwner(manager), client.ForceOwnership)
	}},
	{"server-side apply of the whole object", func(b *bed, desired, addition *unstructured.Unstructured, manager string) error {
		live := b.live(apply.RefOf(desired))
		whole, _ := patched(b, live, addition)
		whole.SetManagedFields(nil)
		whole.SetResourceVersion("")
		delete(whole.Object, "status")
		return b.person.Apply(b.Context(), client.ApplyConfigurationFromUnstructured(whole), client.FieldOwner(manager), client.ForceOwnership)
	}},
	{"edit", func(b *bed, desired, addition *unstructured.Unstructured, manager string) error {
		whole, _ := patched(b, b.live(apply.RefOf(desired)), addition)
		return b.person.Update(b.Context(), whole, client.FieldOwner(manager))
	}},
	{"patch", func(b *bed, desired, addition *unstructured.Unstructured, manager string) error {
		_, body := patched(b, b.live(apply.RefOf(desired)), addition)
		return b.person.Patch(b.Context(), object(apply.RefOf(desired)), client.RawPatch("application/merge-patch+json", body),
			client.FieldOwner(manager))
	}},
	{"edit, and no managed fields", func(b *bed, desired, addition *unstructured.Unstructured, manager string) error {
		whole, _ := patched(b, b.live(apply.RefOf(desired)), addition)
		if err := b.person.Update(b.Context(), whole, client.FieldOwner(manager)); err != nil {
			return err
		}
		whole.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
		return b.person.Update(b.Context(), whole, client.FieldOwner(manager))
	}},
	{"edit, and the managed fields of before", func(b *bed, desired, addition *unstructured.Unstructured, manager string) error {
		live := b.live(apply.RefOf(desired))
		whole, _ := patched(b, live, addition)
		if err := b.person.Update(b.Context(), whole, client.FieldOwner(manager)); err != nil {
			return err
		}
		whole.SetManagedFields(live.GetManagedFields())
		return b.person.Update(b.Context(), whole, client.FieldOwner(manager))
	}},
}

// patched merges an addition into an object; elements of lists with keys are merged, too.
func patched(t interface{ Fatal(...any) }, live, addition *unstructured.Unstructured) (whole *unstructured.Unstructured, body []byte) {
	whole = live.DeepCopy()
	for _, root := range []string{"spec", "data", "binaryData"} {
		if add, ok := addition.Object[root].(map[string]any); ok {
			have, _ := whole.Object[root].(map[string]any)
			whole.Object[root] = mergedMap(have, add)
		}
	}
	body, err := json.Marshal(map[string]any{"spec": whole.Object["spec"], "data": whole.Object["data"],
		"binaryData": whole.Object["binaryData"]})
	if err != nil {
		t.Fatal(err)
	}
	return whole, body
}

func mergedMap(have, add map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range have {
		out[k] = v
	}
	for k, v := range add {
		switch v := v.(type) {
		case map[string]any:
			h, _ := out[k].(map[string]any)
			out[k] = mergedMap(h, v)
		case []any:
			h, _ := out[k].([]any)
			out[k] = mergedList(h, v)
		default:
			out[k] = v
		}
	}
	return out
}

func mergedList(have, add []any) []any {
	out := append([]any{}, have...)
	for _, e := range add {
		m, ok := e.(map[string]any)
		at := -1
		for i := range out {
			if h, isMap := out[i].(map[string]any); ok && isMap && m["name"] != nil && h["name"] == m["name"] {
				at = i
			}
		}
		if at < 0 {
			out = append(out, e)
		} else {
			out[at] = mergedMap(out[at].(map[string]any), m)
		}
	}
	return out
}

// forged is a child with a live object in the state after the first apply.
type forged struct {
	*bed
	desired *unstructured.Unstructured
	clean   *unstructured.Unstructured
}

func newForged(b *bed, kind string) *forged {
	b.Helper()
	f := &forged{bed: b, desired: b.manifest("%s", spelled[kind])}
	f.desired.SetName(strings.ReplaceAll(strings.ToLower(kind), " ", "-"))
	b.apply(f.desired, apply.Created)
	b.apply(f.desired, apply.Unchanged)
	f.clean = b.live(apply.RefOf(f.desired))
	return f
}

func (f *forged) addition(text string) *unstructured.Unstructured {
	f.Helper()
	u := object(apply.RefOf(f.desired))
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		f.Fatal(err)
	}
	name := object(apply.RefOf(f.desired))
	u.SetAPIVersion(name.GetAPIVersion())
	u.SetKind(name.GetKind())
	u.SetName(name.GetName())
	u.SetNamespace(name.GetNamespace())
	return u
}

// restored reports how the object is not as before after one pass, and not quiet in a second.
func (f *forged) restored() error {
	if _, err := f.pass(); err != nil {
		return err
	}
	live := f.live(apply.RefOf(f.desired))
	for _, root := range []string{"spec", "data", "binaryData"} {
		if !reflect.DeepEqual(live.Object[root], f.clean.Object[root]) {
			return fmt.Errorf("%s: lost %v, has %v", root, apply.Differences(f.clean, live), apply.Differences(live, f.clean))
		}
	}
	writes := f.writes()
	r, err := f.pass()
	if err != nil || r.Change != apply.Unchanged || len(r.Drift) > 0 {
		return fmt.Errorf("the second pass: %s, drift %s, %w", r.Change, paths(r.Drift), err)
	}
	writes(0)
	return nil
}

// pass applies, again where a controller wrote the status in between.
func (f *forged) pass() (r apply.Result, err error) {
	for {
		if r, err = f.Apply(f.Context(), f.owner, f.desired); !apierrors.IsConflict(err) {
			return r, err
		}
	}
}

// add forges an addition, and reports whether the API server took it.
func (f *forged) add(how forge, text, manager string) bool {
	for {
		err := how.do(f.bed, f.desired, f.addition(text), manager)
		if !apierrors.IsConflict(err) {
			return err == nil
		}
	}
}

func TestNoFieldManagerHidesAnAddition(t *testing.T) {
	extent.Full(t)
	for kind, added := range additions {
		t.Run(kind, func(t *testing.T) {
			f := newForged(newSole(t), kind)
			for i, text := range added {
				for n := range extent.Size(t, 1, 2*len(forges)) {
					n += 5 * i
					how, manager := forges[n%len(forges)], managers[n/len(forges)%2]
					f.add(how, text, manager)
					if err := f.restored(); err != nil {
						t.Fatalf("%s: %s as %s: %v", text, how.name, manager, err)
					}
				}
			}
		})
	}
}

// managers are the operator's and one of kubectl's.
var managers = []string{apply.FieldOwner, "kubectl-edit"}

// Others may scale, restart, and annotate: their changes stay, whatever other fields were forged before and after.
func TestOnePassRestoresWhateverWasForged(t *testing.T) {
	f := newForged(newSole(t), "a Deployment")
	unstructured.RemoveNestedField(f.desired.Object, "spec", "replicas")
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	const restart = `{spec: {replicas: 3, template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}}}}`
	f.add(forges[2], restart, "autoscaler")
	f.edit(apply.RefOf(f.desired), func(u *unstructured.Unstructured) {
		annotations := u.GetAnnotations()
		annotations["other.io/controller"] = "writes"
		u.SetAnnotations(annotations)
	})
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	f.clean = f.live(apply.RefOf(f.desired))
	if n, _, _ := unstructured.NestedInt64(f.clean.Object, "spec", "replicas"); n != 3 {
		t.Fatalf("%d replicas", n)
	}
	for seed := range extent.Size(t, 12, 60) {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		done := ""
		for range 1 + random.IntN(4) {
			how, manager := forges[random.IntN(len(forges))], managers[random.IntN(2)]
			text := additions["a Deployment"][random.IntN(len(additions["a Deployment"]))]
			taken := f.add(how, text, manager)
			done += fmt.Sprintf("%s of %s as %s: %t\n", how.name, text, manager, taken)
		}
		if strings.Contains(done, "managed fields of before") {
			f.add(forges[0], restart, "autoscaler") // nothing tells any more that this is not the forger's
		}
		if err := f.restored(); err != nil {
			t.Fatalf("%v after\n%s", err, done)
		}
		if f.live(apply.RefOf(f.desired)).GetAnnotations()["other.io/controller"] != "writes" {
			t.Fatalf("the annotation of another controller is gone after\n%s", done)
		}
	}
}
