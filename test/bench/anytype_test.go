// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

const (
	benchType = "AWS::Kinesis::Stream"
	ofAnyType = "--types=" + benchType
	// liftedControl are AWS rates that never hold a call to Cloud Control API back.
	liftedControl = "--aws-rates=*=5000/10000,cloudcontrol=5000/10000"
	// ownRates undoes the rate that tests give every operator, for all that has no other default.
	ownRates = "--aws-rates=*=50/100"
)

// resourceOf declares a stream whose deletion was consented to.
func resourceOf(namespace string, i int) *v1alpha1.AWSResource {
	name := fmt.Sprintf("bench-stream-%04d", i)
	o := &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace,
		Annotations: map[string]string{wellknown.AnnotationDeleteData: name}}}
	o.Spec.ProviderRef.Name = "aws"
	o.Spec.TypeName = benchType
	o.Spec.Properties = runtime.RawExtension{Raw: fmt.Appendf(nil, `{"Name":%q,"RetentionPeriodHours":48}`, name)}
	o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "bench", "stage": "dev"}
	return o
}

// controls answers Cloud Control API by a double.
func (b *bench) controls() *cloudcontrol.Double {
	b.B.Helper()
	types, err := awstypes.Excerpt()
	if err != nil {
		b.B.Fatal(err)
	}
	b.B.Cleanup(func() { _ = types.Close() })
	double := cloudcontrol.New(b.World.AWS().Account(), types, time.Now)
	b.World.AWS().Divert("cloudformation", double)
	return double
}

// BenchmarkAnyType measures the life of AWSResource objects: with rates that never hold a call back, and with those that the operator
// has for Cloud Control API, which all objects of an account and region share.
func BenchmarkAnyType(b *testing.B) {
	for name, rates := range map[string]string{"lifted": liftedControl, "default": ownRates} {
		for _, n := range []int{100, 1000} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) { measureAnyType(b, n, rates) })
		}
	}
}

func measureAnyType(b *testing.B, n int, rates string) {
	for b.Loop() {
		court := newCourt(b, "any type")
		x := newBench(b, resting, rates, ofAnyType)
		double := x.controls()
		x.provider()
		f := x.follow(&v1alpha1.AWSResourceList{})
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = resourceOf(x.Namespace, i)
		}
		court.judge("create", n, x.creation("any type", f, objects))
		court.judge("check", n, x.checks(n, "cloudformation", "GetResource", rates, ofAnyType))
		court.judge("delete", n, x.deletion("any type", f, objects))
		if left := double.Identifiers(benchType); len(left) > 0 {
			b.Errorf("%d resources remain", len(left))
		}
		x.Op.Stop()
	}
}

// BenchmarkAnyTypeAtRest measures what one AWSResource adds to the memory of an idle operator beside the properties that it declares.
func BenchmarkAnyTypeAtRest(b *testing.B) {
	const n = 1000
	for b.Loop() {
		court := newCourt(b, "any type")
		x := newBench(b, resting, liftedControl, ofAnyType)
		x.controls()
		x.provider()
		empty := x.atRest()
		f := x.follow(&v1alpha1.AWSResourceList{})
		objects, properties := make([]client.Object, n), 0
		for i := range objects {
			o := resourceOf(x.Namespace, i)
			properties += len(o.Spec.Properties.Raw)
			objects[i] = o
		}
		x.creation("any type", f, objects)
		x.Restart(resting, liftedControl, ofAnyType)
		full := x.atRest()
		court.judge("rest", n, []figure{{restMiB, full}, {"MiB-without-objects", empty},
			{perObject, ((full-empty)*mebibyte - float64(properties)) / 1024 / n}})
		x.deletion("any type", f, objects)
		x.Op.Stop()
	}
}
