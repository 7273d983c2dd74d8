// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// declared are the specs of a capability's children, by kind and name, without its UID.
func (b *bed) declared(c *nexusv1.NexusAICapability) map[string]string {
	b.Helper()
	out := map[string]string{}
	for _, o := range b.children(c.Namespace) {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			b.Fatal(err)
		}
		spec, _, _ := unstructured.NestedMap(m, "spec")
		for _, assigned := range []string{"clusterIP", "clusterIPs"} {
			delete(spec, assigned)
		}
		out[fmt.Sprintf("%T/%s", o, o.GetName())] = strings.ReplaceAll(fmt.Sprint(spec), string(c.UID), "UID")
	}
	return out
}

// life creates a capability, edits and deletes it, and returns what it declared at the end, and how many writes that
// took. Each phase begins with during, and ends with what that returns.
func (b *bed) life(c *nexusv1.NexusAICapability, during func(phase string) (end func())) (map[string]string, int) {
	b.Helper()
	am, km := b.Mark()
	end := during("create")
	b.Create(c)
	b.Running(c)
	end()
	b.Running(c)
	end = during("edit")
	b.Edit(c, func() {
		c.Spec.Version, c.Spec.Backend.Replicas = "2", new(int32(3))
		c.Spec.DataServices.S3.Buckets = append(c.Spec.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: "more"})
	})
	b.Running(c)
	b.Edit(c, func() { c.Spec.DataServices.S3.Buckets = c.Spec.DataServices.S3.Buckets[:1] })
	b.Running(c)
	end()
	b.Running(c)
	declared := b.declared(c)
	b.Quiet()
	quiet, _ := b.Mark()
	_, kube := b.Mark()
	time.Sleep(3 * time.Second) // longer than the longest pause before a retry
	if w := append(b.World.AWS().Since(quiet).Writes().Labels(), fmt.Sprint(b.KubeWrites(kube))); len(w) > 1 || w[0] != "[]" {
		b.Errorf("writes at rest: %v", w)
	}
	end = during("deletion")
	b.Remove(c)
	end()
	if inv := b.Inventory(); len(inv) > 0 {
		b.Errorf("left behind: %v", inv)
	}
	if left := b.children(c.Namespace); len(left) > 0 {
		b.Errorf("%d objects left behind, such as %T %s", len(left), left[0], left[0].GetName())
	}
	return declared, b.World.AWS().Since(am).Writes().Count() + len(b.KubeWrites(km))
}

func same(t *testing.T, one, two map[string]string) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(one)) {
		if one[k] != two[k] {
			t.Errorf("%s\nwith one operator %s\nwith two          %s", k, one[k], two[k])
		}
	}
	if len(one) != len(two) {
		t.Errorf("%d children with one operator, %d with two", len(one), len(two))
	}
}

// alone is a life in whose phases nothing else happens.
func alone(string) func() { return func() {} }

// boundedWrites asserts that two operators write at most three times what one does.
func boundedWrites(t *testing.T, one, two int) {
	t.Helper()
	t.Logf("%d writes with one operator, %d with two", one, two)
	if two > 3*one {
		t.Errorf("%d writes with two operators, want at most three times the %d with one", two, one)
	}
}

func TestTwoOperators_WholeLifeEndsAsWithOne(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	one, writes := b.life(withStores(b.small("twins")), alone)
	second := operator.Start(t, b.World, operator.Options{})
	defer second.Stop()
	two, both := b.life(withStores(b.small("twins")), alone)
	same(t, one, two)
	boundedWrites(t, writes, both)
}

// The second operator is stopped in the middle of the creation, of two edits and of the deletion, each time until the
// first has ended the phase, and for a minute at least.
func TestTwoOperators_OnePausedAndResumedChangesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	one, writes := b.life(withStores(b.small("frozen")), alone)
	second := operator.Start(t, b.World, operator.Options{})
	defer second.Stop()
	pause := time.Minute
	two, both := b.life(withStores(b.small("frozen")), func(phase string) func() {
		paused := make(chan struct{})
		go func() {
			defer close(paused)
			time.Sleep(500 * time.Millisecond) // in the middle of the phase
			if err := second.Pause(); err != nil {
				t.Error(err)
			}
			time.Sleep(pause)
		}()
		return func() {
			<-paused
			if err := second.Resume(); err != nil {
				t.Error(err)
			}
			resumed := *b.Bed
			resumed.Op = second
			resumed.Quiet() // what it had under way has ended
			t.Logf("resumed after the %s", phase)
		}
	})
	same(t, one, two)
	boundedWrites(t, writes, both)
	for _, line := range strings.Split(second.Log(), "\n") {
		if strings.Contains(line, `"level":"ERROR"`) && strings.Contains(line, "Conflict") {
			t.Errorf("the resumed operator: %s", line)
		}
	}
}

// An operator is stopped between its look at a table that it is to delete and the call that deletes it. Meanwhile another
// one ends the deletion, and a person creates the capability again and fills the table.
func TestTwoOperators_AResumedDeletionLeavesTheNextStore(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.resumed(func(stop func()) {
		b.World.AWS().Fault(emulator.Match{Service: "dynamodb", Op: "ListTagsOfResource", Resource: "resumed-dev-license", Times: 1},
			emulator.Observe(stop))
	})
}

// The same, and the operator is stopped while the API server's answer, that the object still exists, is on its way.
func TestTwoOperators_AResumedConfirmationLeavesTheNextStore(t *testing.T) {
	extent.Full(t)
	k := kit.Proxied(t)
	b := &bed{k}
	b.resumed(func(stop func()) {
		b.Kube.Fault(kubeproxy.Match{Verb: "get", Resource: "dynamodbtables", Name: "resumed-dev-license", Times: 1}, kubeproxy.Observe(stop))
	})
}

// resumed has arm stop the operator while it deletes a capability, resumes it when the next capability of that name runs,
// and asserts that the stores of that keep their data.
func (b *bed) resumed(arm func(stop func())) {
	b.Helper()
	c := withStores(b.small("resumed"))
	b.Create(c)
	b.Running(c)
	stopped := make(chan time.Time, 1)
	arm(func() {
		if err := b.Op.Pause(); err != nil {
			b.Error(err)
		}
		stopped <- time.Now()
	})
	if err := b.Client.Delete(b.Ctx(), c); err != nil {
		b.Fatal(err)
	}
	since := <-stopped
	second := operator.Start(b, b.World, operator.Options{})
	defer second.Stop()
	b.Gone(c)
	next := withStores(b.small("resumed"))
	b.Create(next)
	b.Running(next)
	b.seed("resumed-dev", "resumed/dev")
	table, data := b.stored("resumed-dev-license"), fmt.Sprint(b.data("resumed-dev"))
	time.Sleep(time.Until(since.Add(7 * time.Second))) // longer than a pass relies on what it read
	mark, _ := b.Mark()
	if err := b.Op.Resume(); err != nil {
		b.Fatal(err)
	}
	b.Edit(next, func() { next.Spec.Version = "2" })
	b.Running(next)
	b.Quiet() // what the resumed operator had under way has ended
	if now := b.stored("resumed-dev-license"); now != table {
		b.Errorf("the table was %s and is %s:\n%s", table, now, b.World.AWS().Since(mark).Writes())
	} else if now := fmt.Sprint(b.data("resumed-dev")); now != data {
		b.Errorf("the data were %s and are %s", data, now)
	}
	b.discard("resumed-dev-call-data")
	b.removeAll([]*nexusv1.NexusAICapability{next})
}

// An operator that was stopped in the middle of a pass may create children of a capability that is gone by then. Those take
// over none of the stores that were kept, which would go with them when the garbage collector deletes them.
func TestTwoOperators_AStrayChildTakesNothingOver(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=stray-dev")
	p := provider("aws")
	c := withStores(b.small("stray"))
	p.Namespace, c.Spec.ProviderRef, c.Spec.DeletionPolicy = c.Namespace, &nexusv1.ProviderReference{Name: p.Name}, nexusv1.DeletionRetain
	b.Create(p)
	b.Create(c)
	b.Running(c)
	b.seed("stray-dev", "stray/dev")
	children := b.children(c.Namespace)
	b.Remove(c)
	data, inventory, marks := fmt.Sprint(b.data("stray-dev")), fmt.Sprint(b.Inventory()), fmt.Sprint(b.marks("stray-dev", "stray/dev"))
	var strays []client.Object
	for range 3 { // the garbage collector is sometimes faster than the operator
		for _, o := range children {
			r, ok := o.DeepCopyObject().(v1alpha1.Resource)
			if !ok {
				continue
			}
			r.CommonSpec().DeletionPolicy = v1alpha1.DeletionDelete // as declared when the operator was stopped
			r.SetFinalizers(nil)
			r.SetAnnotations(nil)
			r.SetResourceVersion("")
			r.SetUID("")
			b.Create(r)
			strays = append(strays, r)
		}
		for _, o := range strays {
			b.Gone(o)
		}
		strays = nil
	}
	if now := fmt.Sprint(b.Inventory()); now != inventory {
		t.Errorf("AWS held %s and holds %s", inventory, now)
	} else if now := fmt.Sprint(b.data("stray-dev")); now != data {
		t.Errorf("the data were %s and are %s", data, now)
	}
	if now := fmt.Sprint(b.marks("stray-dev", "stray/dev")); now != marks {
		t.Errorf("the marks were %s and are %s", marks, now)
	}
	next := withStores(b.small("stray"))
	next.Spec.ProviderRef, next.Spec.DeletionPolicy = c.Spec.ProviderRef, nexusv1.DeletionDelete
	b.Create(next)
	b.Running(next)
	b.discard("stray-dev-call-data")
	b.removeAll([]*nexusv1.NexusAICapability{next})
}

// Both operators meet a new object at once, and the create of one takes a while. Names of user pools are not unique, and AWS
// has no client token for them.
func TestTwoOperators_ANewObjectMakesOneResource(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	second := operator.Start(t, b.World, operator.Options{})
	defer second.Stop()
	rule := b.World.AWS().Fault(emulator.Match{Service: "cognito-idp", Op: "CreateUserPool"}, emulator.Delay(2*time.Second))
	defer rule.Remove()
	api := cloud.New(b.World.MotoURL())
	var all []*v1alpha1.CognitoUserPool
	for i := range 8 {
		o := &v1alpha1.CognitoUserPool{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("users-", i)},
			Spec: v1alpha1.CognitoUserPoolSpec{CommonSpec: through("aws"), PoolName: fmt.Sprint("users-", i)}}
		o.Spec.DeletionPolicy = v1alpha1.DeletionDelete
		o.Spec.Clients = []v1alpha1.CognitoUserPoolClient{{Name: "web", CallbackURLs: []v1alpha1.CognitoURL{"http://localhost:3000/callback"}}}
		b.Create(o)
		all = append(all, o)
	}
	deleted := all[:4] // while the pool is created
	b.Eventually(20*time.Second, "a create to be under way", func() error {
		for _, o := range deleted {
			if err := b.Get(o); err != nil || o.Annotations["nexus.ai/intent"] == "" {
				return fmt.Errorf("%s: %v, %v", o.Name, err, o.Annotations)
			}
		}
		return nil
	})
	for _, o := range deleted {
		must(b, 0, b.Client.Delete(b.Ctx(), o))
	}
	for _, o := range all[4:] {
		b.Ready(o)
	}
	rule.Remove()
	for _, o := range deleted {
		b.Gone(o)
	}
	for i, o := range all {
		ids, err := api.Pools(b.Ctx(), o.Spec.PoolName)
		if want := min(i/4, 1); len(must(b, ids, err)) != want {
			t.Errorf("%d pools %s, want %d", len(ids), o.Spec.PoolName, want)
		}
		for _, id := range ids {
			// Both may create a client; whichever sees both next deletes the younger one.
			b.Eventually(20*time.Second, "one client of "+o.Spec.PoolName, func() error {
				clients, err := api.Cognito.ListUserPoolClients(b.Ctx(), &cognitoidentityprovider.ListUserPoolClientsInput{UserPoolId: &id})
				if n := len(must(b, clients, err).UserPoolClients); n != 1 {
					return fmt.Errorf("%d clients", n)
				}
				return nil
			})
		}
	}
	for _, o := range all[4:] {
		b.Remove(o)
	}
	if left := b.Inventory()["cognito-idp/pool"]; len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An instance whose cache lags may write that a resource is not ready and be stopped right after that.
func TestTwoOperators_AnUntrueStatusOfAnotherIsCorrected(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	o := bucket("untrue-status")
	b.Create(o)
	b.Ready(o)
	was := o.DeepCopy()
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "ProviderNotReady",
		Message: "waiting for AWSProvider/aws to be ready", ObservedGeneration: o.Generation})
	if err := b.Client.Status().Patch(b.Ctx(), o, client.MergeFrom(was)); err != nil {
		t.Fatal(err)
	}
	if c, err := b.Condition(was, "Ready"); err != nil || c.Reason != "ProviderNotReady" && c.Status != metav1.ConditionTrue {
		t.Errorf("the status was not written: %+v, %v", c, err)
	}
	b.Ready(o)
	b.Remove(o)
}
