// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
)

// three are kinds of three sorts: one resource with settings, one with dependants, one object with many
// resources. The namespace is that of the test.
func three(namespace string) []v1alpha1.Resource {
	meta := metav1.ObjectMeta{Name: "struck", Namespace: namespace}
	return []v1alpha1.Resource{
		&v1alpha1.S3Bucket{ObjectMeta: meta,
			Spec: v1alpha1.S3BucketSpec{CommonSpec: through(), BucketName: "struck-bucket", Versioning: &v1alpha1.S3Versioning{Enabled: true}}},
		&v1alpha1.IAMRole{ObjectMeta: meta,
			Spec: v1alpha1.IAMRoleSpec{CommonSpec: through(), RoleName: "struck-role", IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}},
		&v1alpha1.SSMParameterSet{ObjectMeta: meta, Spec: v1alpha1.SSMParameterSetSpec{CommonSpec: through(), Path: "/struck/set",
			Parameters: map[string]v1alpha1.SSMParameter{"one": {Value: "1"}, "two/deep": {Value: "2"}, "three": {Value: "3"}}}},
	}
}

// lifeOf are the writes to Kubernetes of an object's clean life, in order, creating and deleting.
type lifeOf struct {
	create, remove kubeproxy.Calls
	end            snapshot
}

func (r *rig) lifeOf(o v1alpha1.Resource) (l lifeOf) {
	r.Helper()
	m := r.marks()
	r.Create(o)
	r.Ready(o)
	r.calm()
	_, kube := r.since(m)
	l.create, l.end = about(o, kube), r.snapshot(o.GetNamespace())
	r.quiet(o.GetNamespace(), 1)
	d := r.marks()
	r.Remove(o)
	_, kube = r.since(d)
	l.remove = about(o, kube)
	complain(r, "left in AWS", leaked(r.base, r.Inventory()))
	r.judge(m, thingsOf([]v1alpha1.Resource{o}))
	return l
}

func about(o v1alpha1.Resource, calls kubeproxy.Calls) kubeproxy.Calls {
	x := thingOf(o)
	return changes(calls).Filter(func(c kubeproxy.Call) bool { return c.Resource == x.plural && c.Key() == x.key })
}

// blow is one way in which a write to Kubernetes goes wrong.
type blow struct {
	name  string
	kills bool
	with  func(hook func()) kubeproxy.Action
}

var blows = []blow{
	{"answer lost", false, func(func()) kubeproxy.Action { return kubeproxy.LoseAnswer() }},
	{"409", false, func(func()) kubeproxy.Action { return kubeproxy.Conflict() }},
	{"500", false, func(func()) kubeproxy.Action {
		return kubeproxy.Fail(http.StatusInternalServerError, metav1.StatusReasonInternalError, "made up by a test")
	}},
	{"403", false, func(func()) kubeproxy.Action { return kubeproxy.Forbidden() }},
	{"killed right after", true, kubeproxy.ForwardThen},
	{"killed right before", true, kubeproxy.BeforeThen},
}

func TestEveryKubernetesWriteMayFail(t *testing.T) {
	extent.Full(t)
	r := newRig(t)
	p := provider()
	r.Create(p)
	r.Ready(p)
	begin := r.marks()
	defer func() { r.judgeDecoys(begin) }()
	for i, o := range three(r.Namespace) {
		life := r.lifeOf(o)
		t.Logf("%T: created with %v, deleted with %v", o, life.create.Labels(), life.remove.Labels())
		for _, b := range blows {
			for n := range max(len(life.create), len(life.remove)) {
				t.Run(fmt.Sprintf("%s/%s/%d", strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1alpha1."), b.name, n), func(t *testing.T) {
					sub := *r
					sub.Bed = r.For(t)
					defer func() { r.Op = sub.Op }()
					sub.strikes(three(r.Namespace)[i], life, b, n)
				})
			}
		}
	}
}

// strikes lets the nth write of an object's creation and of its deletion go wrong.
func (r *rig) strikes(o v1alpha1.Resource, life lifeOf, b blow, n int) {
	r.Helper()
	m := r.marks()
	r.struck(life.create, b, n, func() { r.Create(o) }, func() { r.Ready(o) })
	// A lost step is repeated: the end is waited for, not only the first sign of it.
	r.Eventually(15*time.Second, "the same end as without a fault", func() error {
		if d := differs(life.end.kubernetes, r.objects(o.GetNamespace())); len(d) > 0 {
			return fmt.Errorf("%v", d)
		}
		return nil
	})
	r.same(life.end, o.GetNamespace())
	if extent.IsFull(r) {
		r.quiet(o.GetNamespace(), 1)
	}
	r.struck(life.remove, b, n, func() {
		if err := r.Client.Delete(r.Ctx(), o); err != nil {
			r.Fatal(err)
		}
	}, func() { r.Gone(o) })
	complain(r, "left in AWS", leaked(r.base, r.Inventory()))
	r.judgeCalls(m, thingsOf([]v1alpha1.Resource{o}))
}

func (r *rig) struck(writes kubeproxy.Calls, b blow, n int, do, end func()) {
	r.Helper()
	if n >= len(writes) {
		do()
		end()
		return
	}
	hook, died := r.kill()
	at := kubeproxy.Match{Verb: writes[n].Verb, Resource: writes[n].What(), Namespace: writes[n].Namespace, Name: writes[n].Name}
	at.Nth = len(writes[:n+1].Match(at))
	rule := r.Kube.Fault(at, b.with(hook))
	do()
	if b.kills {
		r.afterDeath(died, 15*time.Second)
	}
	end()
	if rule.Hits() == 0 {
		r.Errorf("%s %s was never called", writes[n].Label(), b.name)
	}
	rule.Remove()
}
