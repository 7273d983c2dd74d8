// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// snapshot is a whole world at rest, as far as two runs of the same have it in common.
type snapshot struct {
	inventory  map[string][]string
	aws        map[string]string
	kubernetes map[string]string
}

func (r *rig) snapshot(namespace string) snapshot {
	r.Helper()
	inv := r.Inventory()
	return snapshot{inv, r.aws.State(r.Ctx(), inv, false), r.objects(namespace)}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// objects describes what a namespace holds of ours: spec, or data, and conditions without their times.
func (r *rig) objects(namespace string) map[string]string {
	r.Helper()
	out := map[string]string{}
	lists := append(bed.Lists(), &appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &corev1.ServiceAccountList{},
		&networkingv1.IngressList{})
	for _, l := range lists {
		if err := r.Client.List(r.Ctx(), l, client.InNamespace(namespace)); err != nil {
			r.Fatal(err)
		}
		for _, o := range bed.Items(l) {
			if o.GetName() == "kube-root-ca.crt" || o.GetName() == "default" {
				continue
			}
			u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err != nil {
				r.Fatal(err)
			}
			var conditions []string
			for _, c := range bed.ConditionsOf(o) {
				conditions = append(conditions, c.Type+"="+string(c.Status)+"/"+c.Reason)
			}
			slices.Sort(conditions)
			text, err := json.Marshal(map[string]any{"labels": o.GetLabels(), "spec": u["spec"], "data": u["data"], "finalizers": o.GetFinalizers(),
				"conditions": conditions})
			if err != nil {
				r.Fatal(err)
			}
			clean := regexp.MustCompile(`"clusterIPs?":("[^"]*"|\[[^\]]*\]),?`).ReplaceAllString(string(text), "")
			out[fmt.Sprintf("%T %s", o, o.GetName())] = cloud.SecretSuffix.ReplaceAllString(uuid.ReplaceAllString(clean, "~"), "$1-~")
		}
	}
	return out
}

// statuses returns what everybody may read: every object of ours with its status, and every event.
func (r *rig) statuses() map[string]string {
	r.Helper()
	out := map[string]string{}
	for _, l := range append(bed.Lists(), &eventsv1.EventList{}) {
		if err := r.Client.List(r.Ctx(), l); err != nil {
			r.Fatal(err)
		}
		for _, o := range bed.Items(l) {
			text, err := json.Marshal(o)
			if err != nil {
				r.Fatal(err)
			}
			out[fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName())] = string(text)
		}
	}
	return out
}

// complain fails a test for every problem of an oracle.
func complain(t testing.TB, oracle string, problems []string) {
	t.Helper()
	for i, p := range problems {
		if i == 8 {
			t.Errorf("%s: and %d more", oracle, len(problems)-i)
			return
		}
		t.Errorf("%s: %s", oracle, p)
	}
}

// judge asks the oracles that hold at any time: order, decoys, secrets. The mark is from before the
// things were created.
func (r *rig) judge(m marks, things []thing) {
	r.Helper()
	r.judgeCalls(m, things)
	r.judgeDecoys(m)
}

func (r *rig) judgeDecoys(m marks) {
	r.Helper()
	aws, _ := r.since(m)
	complain(r, "decoys", touched(r.decoys, r.aws.decoys(r.Ctx()), aws))
}

func (r *rig) judgeCalls(m marks, things []thing) {
	r.Helper()
	aws, kube := r.since(m)
	r.secrets = append(r.secrets, r.aws.secretValues(r.Ctx(), r.Inventory())...)
	slices.Sort(r.secrets)
	r.secrets = slices.Compact(r.secrets)
	secrets := append(slices.Clone(r.secrets), operator.Canary)
	complain(r, "order", hasty(things, aws, kube))
	complain(r, "order", unverified(things, aws, kube))
	complain(r, "hot loop", hot(aws))
	complain(r, "secrets", exposed(secrets, bodies(aws, kube)))
	complain(r, "secrets", exposed(secrets, r.statuses()))
	complain(r, "secrets", exposed(secrets, map[string]string{"the operator's log": r.Op.Log()}))
}

// same compares a world with the clean one.
func (r *rig) same(want snapshot, namespace string) {
	r.Helper()
	got := r.snapshot(namespace)
	complain(r, "duplicates", duplicates(got.inventory))
	complain(r, "inventory", leaked(want.inventory, got.inventory))
	complain(r, "AWS", differs(want.aws, got.aws))
	complain(r, "Kubernetes", differs(want.kubernetes, got.kubernetes))
}

// empty asks whether a namespace and AWS are as they were before anything was created.
func (r *rig) empty(namespace string) {
	r.Helper()
	complain(r, "left in AWS", leaked(r.base, r.Inventory()))
	r.Eventually(10*time.Second, "the namespace to be empty", func() error {
		if left := r.objects(namespace); len(left) > 0 {
			return fmt.Errorf("left: %v", slices.Collect(maps.Keys(left)))
		}
		return nil
	})
}

// quiet forces every object of a namespace to be checked and asks whether anything was written but the
// one answer, in the object's status, that the check was done.
func (r *rig) quiet(namespace string, times int) {
	r.Helper()
	r.calm()
	for n := range times {
		objs := r.resources(namespace)
		m := r.marks()
		stamp := fmt.Sprintf("check %d at %d", n, time.Now().UnixNano())
		for _, o := range objs {
			patch := client.RawPatch("application/merge-patch+json",
				fmt.Appendf(nil, `{"metadata":{"annotations":{"nexus.ai/reconcile-requested-at":%q}}}`, stamp))
			if err := r.Client.Patch(r.Ctx(), o, patch); err != nil {
				r.Fatal(err)
			}
		}
		for _, o := range objs {
			r.Eventually(20*time.Second, o.GetName()+" to be checked", func() error {
				if err := r.Get(o); err != nil {
					return err
				}
				if got := o.CommonStatus().LastHandledReconcileAt; got != stamp {
					return fmt.Errorf("last handled: %q", got)
				}
				return nil
			})
		}
		r.calm()
		aws, kube := r.since(m)
		complain(r, "quiet", noisy(aws, unanswered(kube, stamp)))
	}
}

// unanswered leaves out the first answer of each object that a check was done.
func unanswered(calls kubeproxy.Calls, stamp string) kubeproxy.Calls {
	answered := map[string]bool{}
	return calls.Filter(func(c kubeproxy.Call) bool {
		answer := c.Verb == "patch" && c.Subresource == "status" && strings.Contains(c.Body, stamp) && !answered[c.What()+c.Key()]
		if answer {
			answered[c.What()+c.Key()] = true
		}
		return !answer
	})
}

// calm waits until nothing was written for a while. The work queues do not show it: a request that failed waits for its retry outside
// of them.
func (r *rig) calm() {
	r.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		m := r.marks()
		time.Sleep(400 * time.Millisecond)
		if aws, kube := r.since(m); len(aws) == 0 && len(changes(kube)) == 0 {
			return
		}
	}
	r.Error("it does not come to rest within 20 s")
}

func thingsOf(objs []v1alpha1.Resource) []thing {
	var out []thing
	for _, o := range objs {
		out = append(out, thingOf(o))
	}
	return out
}
