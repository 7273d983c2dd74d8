// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// ec2Rates are AWS rates that never hold a call back.
const ec2Rates = "--aws-rates=*=5000/10000,ec2=5000/10000"

// BenchmarkChecksOfAddresses counts the calls of the periodic checks of 500 ElasticIPs, which share reads: spread over the interval, and
// those of the first interval after a restart. Both are as many as with another interval, because checks share a read
// within a share of the interval.
func BenchmarkChecksOfAddresses(b *testing.B) {
	const n = 500
	every := checkEvery(n)
	short := fmt.Sprintf("--check-interval=%s", every)
	for b.Loop() {
		court := newCourt(b, "elasticip")
		x := newBench(b, resting, ec2Rates)
		x.provider()
		f := x.follow(&v1alpha1.ElasticIPList{})
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = &v1alpha1.ElasticIP{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bench-%04d", i), Namespace: x.Namespace},
				Spec: v1alpha1.ElasticIPSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"},
					DeletionPolicy: v1alpha1.DeletionRetain}}}
		}
		x.creation("elasticip", f, objects)
		x.Restart(short, ec2Rates)
		x.Eventually(time.Minute, "the first check", func() error {
			a, err := x.Op.Activity()
			if err == nil && a.Reconciled["elasticip"] < n {
				err = fmt.Errorf("%d objects have been seen", a.Reconciled["elasticip"])
			}
			return err
		})
		court.judge("first-checks", n, x.checksOf("elasticip", every))
		court.judge("checks", n, x.checksOf("elasticip", every))
		x.Restart(resting, ec2Rates)
		x.deletion("elasticip", f, objects)
		x.Op.Stop()
	}
}

// reconciled returns how many requests a controller has reconciled.
func (b *bench) reconciled(controller string) int {
	b.B.Helper()
	a, err := b.Op.Activity()
	if err != nil {
		b.B.Fatal(err)
	}
	return a.Reconciled[controller]
}

// checksOf measures what the checks of a kind call within a time. Nothing else is reconciled meanwhile.
func (b *bench) checksOf(controller string, within time.Duration) []figure {
	b.B.Helper()
	mark, before := b.World.AWS().Mark(), b.reconciled(controller)
	time.Sleep(within)
	calls := b.World.AWS().Since(mark).Match("ec2", "", "")
	checks := b.reconciled(controller) - before
	return []figure{{checked, float64(checks)}, {awsCalls, float64(calls.Count()) / float64(max(1, checks))},
		{awsWrites, float64(calls.Writes().Count())}}
}
