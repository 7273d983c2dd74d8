// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// A bucket's life as a right operator leads it, in milliseconds: what each planted bug changes.
var (
	plantedBucket = thing{plural: "s3buckets", key: "ns/b", service: "s3", resource: "b"}
	begin         = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func awsAt(ms int, op string, write bool, status int) emulator.Call {
	return emulator.Call{Service: "s3", Op: op, Resource: "b", Write: write, Status: status,
		Start: begin.Add(time.Duration(ms) * time.Millisecond)}
}

func kubeAt(ms int, subresource, body string) kubeproxy.Call {
	return kubeproxy.Call{Verb: "patch", Resource: "s3buckets", Subresource: subresource, Namespace: "ns", Name: "b", Status: http.StatusOK,
		Body:  body,
		Start: begin.Add(time.Duration(ms) * time.Millisecond), Duration: 5 * time.Millisecond}
}

const (
	adds  = `{"metadata":{"finalizers":["x"],"resourceVersion":"1"}}`
	drops = `{"metadata":{"finalizers":null,"resourceVersion":"2"}}`
)

func rightAWS() emulator.Calls {
	return emulator.Calls{awsAt(0, "HeadBucket", false, 404), awsAt(20, "CreateBucket", true, 200), awsAt(30, "HeadBucket", false, 200),
		awsAt(100, "DeleteBucket", true, 204), awsAt(110, "HeadBucket", false, 404)}
}

func rightKube() kubeproxy.Calls {
	return kubeproxy.Calls{kubeAt(10, "", adds), kubeAt(40, "status", `{"status":{}}`), kubeAt(120, "", drops)}
}

// Every oracle must be silent on a right run and speak up on a wrong one.
func TestPlantedBugsAreCaught(t *testing.T) {
	inventory := map[string][]string{"s3/bucket": {"b"}, "iam/role": {"r"}}
	decoys := map[string]string{"s3/bucket d": "as it was"}
	things := []thing{plantedBucket}
	events := func(extra ...kubeproxy.Call) kubeproxy.Calls {
		return append(kubeproxy.Calls{{Verb: "create", Resource: "events"}}, extra...)
	}
	spin := func(n int, every time.Duration) (out emulator.Calls) {
		for i := range n {
			out = append(out, emulator.Call{Service: "s3", Op: "HeadBucket", Resource: "b", Start: begin.Add(time.Duration(i) * every)})
		}
		return out
	}
	with := func(o v1alpha1.Resource, uid string) v1alpha1.Resource { o.SetUID(types.UID(uid)); return o }
	owned := with(&v1alpha1.S3Bucket{}, "u1")
	for _, c := range []struct {
		bug   string
		right []string
		wrong []string
	}{
		{"something leaked", leaked(inventory, inventory), leaked(map[string][]string{}, inventory)},
		{"something lost", nil, leaked(inventory, map[string][]string{"s3/bucket": {"b"}})},
		{"a duplicate", duplicates(inventory), duplicates(map[string][]string{"cognito-idp/pool": {"p", "q", "p"}})},
		{"another setting", differs(decoys, decoys), differs(decoys, map[string]string{"s3/bucket d": "as it was not"})},
		{"a decoy deleted", touched(decoys, decoys, rightAWS()), touched(decoys, map[string]string{}, nil)},
		{"a decoy written to and restored", nil,
			touched(decoys, decoys, emulator.Calls{{Service: "s3", Op: "PutBucketTagging", Resource: "d", Write: true}})},
		{"an AWS write at rest", noisy(spin(2, 0), events()), noisy(rightAWS(), nil)},
		{"a status written at rest", noisy(nil, unanswered(events(kubeAt(0, "status", "check 1")), "check 1")),
			noisy(nil, events(kubeAt(0, "status", "check 1")))},
		{"a check answered twice", nil,
			noisy(nil, unanswered(kubeproxy.Calls{kubeAt(0, "status", "check 1"), kubeAt(9, "status", "check 1")}, "check 1"))},
		{"too many calls", excessive(spin(23, time.Second), 10, 1), excessive(spin(24, time.Second), 10, 1)},
		{"a hot loop", hot(spin(100, 100*time.Millisecond)), hot(spin(30, 50*time.Millisecond))},
		{"a secret in a log", exposed([]string{"hunter2"}, map[string]string{"the log": "all is well"}),
			exposed([]string{"hunter2"}, map[string]string{"the log": "password=hunter2"})},
		{"a secret in a call", exposed([]string{"hunter2"},
			bodies(emulator.Calls{{Service: "secretsmanager", Op: "CreateSecret", Body: "hunter2"}}, nil)),
			exposed([]string{"hunter2"}, bodies(emulator.Calls{{Service: "ssm", Op: "PutParameter", Body: "hunter2"}}, nil))},
		{"a secret in an object", nil, exposed([]string{"hunter2"}, bodies(nil, kubeproxy.Calls{{Resource: "configmaps", Body: "hunter2"}}))},
		{"the intent write dropped", hasty(things, rightAWS(), rightKube()), hasty(things, rightAWS(), rightKube()[1:])},
		{"the intent written after the create", nil,
			hasty(things, rightAWS(), append(kubeproxy.Calls{kubeAt(25, "", adds)}, rightKube()[1:]...))},
		{"the intent under way at the create", nil, hasty(things, rightAWS(), append(kubeproxy.Calls{kubeAt(17, "", adds)}, rightKube()[1:]...))},
		{"a finalizer removed early", unverified(things, rightAWS(), rightKube()),
			unverified(things, rightAWS(), append(rightKube()[:2], kubeAt(90, "", drops)))},
		{"a finalizer removed unverified", unverified(things, rightAWS()[:4], rightKube()), unverified(things, rightAWS()[:3], rightKube())},
		{"a finalizer removed without a look", nil, unverified(things, nil, rightKube())},
		{"an owner tag left out", disownedOf(owned, map[string]string{ownerUID: "u1"}), disownedOf(owned, map[string]string{})},
		{"an owner tag of another", nil, disownedOf(owned, map[string]string{ownerUID: "u2"})},
		{"a panic", operator.Problems(`{"level":"INFO"}`), operator.Problems("panic: runtime error: index out of range")},
		{"a data race", nil, operator.Problems("WARNING: DATA RACE")},
		{"the operator's own key logged", nil, operator.Problems("key " + operator.Canary)},
	} {
		if len(c.right) > 0 {
			t.Errorf("%s: found where it is not: %v", c.bug, c.right)
		}
		if len(c.wrong) == 0 {
			t.Errorf("%s: not found", c.bug)
		}
	}
}

func disownedOf(o v1alpha1.Resource, tags map[string]string) []string {
	if p := disowned(o, "s3/bucket b", tags, nil); p != "" {
		return []string{p}
	}
	return nil
}

// The monitor and the inventory must see what a lying operator leaves: a status without an effect, a
// second resource, a decoy that was changed.
func TestPlantedLiesAreCaught(t *testing.T) {
	r := newRig(t)
	r.Op.Kill() // no one else writes
	for name, reconciling := range map[string]metav1.ConditionStatus{"liar": metav1.ConditionFalse, "lasting-liar": metav1.ConditionTrue} {
		o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.S3BucketSpec{CommonSpec: through(), BucketName: "never-made"}}
		r.Create(o)
		claim(o, "Ready", metav1.ConditionTrue)
		claim(o, "Reconciling", reconciling)
		if err := r.Client.Status().Update(r.Ctx(), o); err != nil {
			t.Fatal(err)
		}
		r.Eventually(10*time.Second, "the lie to be noticed", func() error {
			r.truth.mu.Lock()
			defer r.truth.mu.Unlock()
			if len(r.truth.lies) != 1 || !strings.Contains(r.truth.lies[0], "never-made") {
				return errNotYet
			}
			r.truth.lies = nil
			return nil
		})
	}
	if err := r.aws.spoilDecoy(r.Ctx()); err != nil {
		t.Fatal(err)
	}
	if len(touched(r.decoys, r.aws.decoys(r.Ctx()), nil)) != 1 {
		t.Error("a changed decoy was not noticed")
	}
}

func claim(o *v1alpha1.S3Bucket, condition string, value metav1.ConditionStatus) {
	o.Status.Conditions = append(o.Status.Conditions,
		metav1.Condition{Type: condition, Status: value, Reason: "Ready", ObservedGeneration: o.Generation, LastTransitionTime: metav1.Now()})
}
