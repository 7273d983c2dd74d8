// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

const example = "examples/test-capability.yaml"

// BenchmarkCapabilities measures the life of the example capability, alone and in numbers: with the AWS rates that
// an administrator gets, of which the 3 parameters per second set the pace, and with rates that hold nothing back.
func BenchmarkCapabilities(b *testing.B) {
	for _, n := range []int{1, 20, 100} {
		b.Run(fmt.Sprintf("lifted/n=%d", n), func(b *testing.B) { measureCapabilities(b, "capability", n, resting, lifted) })
		what := "capability"
		if n > 1 { // 17 parameters each at 3 per second: in these minutes resources are checked and progress is shown
			what = "capability that waits for its turn"
		}
		b.Run(fmt.Sprintf("default/n=%d", n), func(b *testing.B) { measureCapabilities(b, what, n, resting, defaultRates) })
	}
}

// defaultRates undoes the rates that tests give every operator.
const defaultRates = "--aws-rates=ssm.PutParameter=3/30,*=50/100,iam=15/60,ssm=40/40,glue=20/40,s3=500/1000"

// measureCapabilities judges the figures by the budgets of what is measured.
func measureCapabilities(b *testing.B, what string, n int, flags ...string) {
	for b.Loop() {
		court := newCourt(b, what)
		x := newBench(b, flags...)
		f := x.follow(&nexusv1.NexusAICapabilityList{})
		x.warmUp(f)
		before := x.Inventory()
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = x.capability(fmt.Sprintf("bench%d", i))
		}
		court.judge("create", n, x.creation("capability", f, objects))
		x.Op.WriteHeapProfile(b.Name() + "-created")
		court.judge("delete", n, x.deletion("capability", f, objects))
		if after := fmt.Sprint(x.Inventory()); after != fmt.Sprint(before) {
			b.Errorf("AWS resources remain: %s", after)
		}
		x.Op.Stop()
	}
}

func (b *bench) capability(name string) *nexusv1.NexusAICapability {
	c := b.Capability(example)
	c.Name, c.Spec.CapabilityName = name+"-dev", name
	c.Namespace = b.MakeNamespace(c.Name)
	return c
}

// warmUp creates and deletes one capability and restarts the operator. At its first capability the emulator loads the services
// of AWS, half a second of work that AWS itself does not have; the restarted operator is measured from its first step.
func (b *bench) warmUp(f *follower) {
	b.B.Helper()
	c := b.capability("warm")
	b.create("capability", f, []client.Object{c})
	b.remove("capability", f, []client.Object{c})
	f.forget()
	b.Op = b.Op.Restart()
}
