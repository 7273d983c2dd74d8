// SPDX-License-Identifier: Apache-2.0

// Package faults breaks things around the operator's own binary and asks afterwards, of AWS and of the
// API server themselves, whether everything is as it would have been: kill -9 at any call of either API,
// lost answers, conflicts, refusals, throttling, an AWS that shows late what it has done, restarts.
//
// The oracles check what must hold after every run (oracles_test.go), which are tested with bugs made up
// for them (planted_test.go); a monitor asks at every status write whether the status is true
// (truth_test.go). Decoys, resources without an owner and of others under the same prefix, lie in AWS during
// every run.
//
// By default a sample runs, the same every time. NEXUS_TESTS=all (package extent) runs the whole set;
// NEXUS_SEED=n draws other moments; NEXUS_RACE=1 builds the operator with the race detector.
package faults

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{CRDs: []string{"../../config/crd/bases"}}) }

const example = "examples/test-capability.yaml"

// seeded returns the source of everything random in a test, and says how to have it again.
func seeded(t *testing.T) *rand.Rand {
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("NEXUS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("NEXUS_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// rig is a bed with decoys, a monitor of truth and the marks from which a run is judged.
type rig struct {
	*bed.Bed
	aws    *account
	truth  *truth
	decoys map[string]string // as they were laid out
	base   map[string][]string
	// secrets are the values in Secrets Manager seen so far.
	secrets []string
}

func newRig(t *testing.T, flags ...string) *rig {
	t.Helper()
	r := &rig{Bed: bed.Proxied(t, flags...)}
	r.aws = &account{cloud.New(r.World.MotoURL())}
	r.decoys = r.aws.layDecoys(t)
	r.base = r.Inventory()
	if len(r.decoys) < 12 || len(r.base) < 6 {
		t.Fatalf("the decoys are not there: %v", r.base)
	}
	r.truth = watchTruth(r)
	return r
}

// marks is a moment in every ledger.
type marks struct {
	aws  emulator.Mark
	kube kubeproxy.Mark
}

func (r *rig) marks() marks { return marks{r.World.AWS().Mark(), r.Kube.Mark()} }

func (r *rig) since(m marks) (emulator.Calls, kubeproxy.Calls) {
	return r.World.AWS().Since(m.aws), r.Kube.Since(m.kube)
}

// kill returns what a fault calls to kill the operator; died is closed when it has.
func (r *rig) kill() (hook func(), died chan struct{}) {
	died = make(chan struct{})
	victim := r.Op
	return func() { victim.Kill(); close(died) }, died
}

// afterDeath restarts the operator when it died within the time, or when it did not, and says which.
func (r *rig) afterDeath(died chan struct{}, within time.Duration) bool {
	r.Helper()
	hit := true
	select {
	case <-died:
	case <-time.After(within):
		hit = false
	}
	r.World.AWS().ClearFaults()
	r.Kube.ClearFaults()
	r.Restart()
	return hit
}

func provider() *v1alpha1.AWSProvider {
	return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws"}, Spec: v1alpha1.AWSProviderSpec{Region: emulator.DefaultRegion}}
}

func through() v1alpha1.CommonSpec {
	return v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}
}

// resources lists every AWS object of ours in a namespace.
func (r *rig) resources(namespace string) []v1alpha1.Resource {
	r.Helper()
	var out []v1alpha1.Resource
	for _, l := range bed.Lists() {
		if err := r.Client.List(r.Ctx(), l, client.InNamespace(namespace)); err != nil {
			r.Fatal(err)
		}
		for _, o := range bed.Items(l) {
			if res, ok := o.(v1alpha1.Resource); ok {
				out = append(out, res)
			}
		}
	}
	return out
}

// fresh is the example capability as a user would create it again.
func (r *rig) fresh() *nexusv1.NexusAICapability { r.Helper(); return r.Capability(example) }
