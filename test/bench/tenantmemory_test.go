// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// BenchmarkMemoryOfTenants fills five namespaces with 500 AWS resources of a mebibyte and 500 plan requests, and with capabilities and pods
// with the operator's label of half a mebibyte or more, which is more than the operator keeps of a namespace, deletes a key that any of
// them could use, and judges the anonymous memory of the operator by the limit that the chart sets: the kernel can take back the pages of
// the binary, and pods have no swap for the others.
func BenchmarkMemoryOfTenants(b *testing.B) {
	const namespaces, resources, objects, requests = 5, 100, 20, 100
	for b.Loop() {
		court := newCourt(b, "tenants")
		b.Setenv("MEMORY_LIMIT", strconv.FormatInt(chartMemoryLimit(b), 10))
		x := newBench(b, append([]string{resting, lifted}, pausesOfUsers...)...)
		f := x.follow(&nexusv1.PlanRequestList{})
		names := make([]string, namespaces)
		for i := range names {
			names[i] = x.MakeNamespace(fmt.Sprint("team-full-", i))
			x.Create(x.providerIn(names[i]))
		}
		held := &v1alpha1.KMSKey{ObjectMeta: metav1.ObjectMeta{Namespace: names[0], Name: "key"}}
		held.Spec.ProviderRef.Name, held.Spec.DeletionPolicy = "aws", v1alpha1.DeletionDelete
		x.Create(held)
		x.Ready(held)
		s := x.Op.SampleMemory()
		inParallel(namespaces*resources, func(i int) { x.make(largeParameters(names[i%namespaces], i)) })
		inParallel(namespaces*objects, func(i int) { x.make(largeCapability(names[i%namespaces], i)) })
		inParallel(namespaces*objects, func(i int) { x.make(largePod(names[i%namespaces], i)) })
		inParallel(namespaces*requests, func(i int) { x.make(x.planOf(names[i%namespaces], i, 15<<10)) })
		// Sixteen of each namespace are planned, and the others are refused, or deleted when they are ten minutes old.
		x.Eventually(patience(namespaces*objects), "the plans of each namespace", func() error {
			if ready, _ := f.counts(); ready < namespaces*16 {
				return fmt.Errorf("%d are ready", ready)
			}
			return nil
		})
		if err := x.Client.Delete(x.Ctx(), held); err != nil { // which looks at every object that may use the key
			b.Error(err)
		}
		x.Eventually(10*time.Minute, "the key to be gone", func() error {
			if err := x.Client.Get(x.Ctx(), client.ObjectKeyFromObject(held), held); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%+v: %w", held.Status.Conditions, err)
			}
			return nil
		})
		peak := s.Stop()
		ready, _ := f.counts()
		b.Logf("%d of %d requests are planned, beside %d objects of half a mebibyte and more", ready, namespaces*requests,
			namespaces*(resources+2*objects))
		court.judge("full", namespaces*(resources+2*objects),
			[]figure{{peakMiB, float64(peak) / mebibyte}, {shareOfLimit, float64(peak) / float64(chartMemoryLimit(b))}})
		x.emptied(names)
		x.Op.Stop()
	}
}

// pausesOfUsers are the operator's defaults. Those of the bed are made for tests: each second or two, every capability that its namespace
// has no room for would be written once more, with the most of a mebibyte.
var pausesOfUsers = []string{"--stalled-interval=1m", "--retry-first=500ms", "--retry-most=1m"}

// emptied deletes what fills the API server for the benchmarks that follow.
func (b *bench) emptied(namespaces []string) {
	for _, ns := range namespaces {
		for _, o := range []client.Object{&v1alpha1.SSMParameterSet{}, &nexusv1.NexusAICapability{}, &corev1.Pod{}, &nexusv1.PlanRequest{}} {
			if err := b.Client.DeleteAllOf(b.Ctx(), o, client.InNamespace(ns)); err != nil {
				b.B.Error(err)
			}
		}
	}
	b.Eventually(time.Minute, "the large objects to be gone", func() error {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("SSMParameterSetList"))
		if err := b.Client.List(b.Ctx(), list); err != nil || len(list.Items) > 0 {
			return fmt.Errorf("%d are left: %w", len(list.Items), err)
		}
		return nil
	})
}

// largeParameters is an object of about a mebibyte, which its paused annotation keeps from AWS.
func largeParameters(namespace string, i int) *v1alpha1.SSMParameterSet {
	o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("large-", i),
		Annotations: map[string]string{wellknown.AnnotationPaused: "true"}}}
	o.Spec.ProviderRef.Name = "aws"
	o.Spec.Path = "/" + namespace + "/" + o.Name
	o.Spec.Parameters = map[string]v1alpha1.SSMParameter{}
	for n := range 256 {
		o.Spec.Parameters[fmt.Sprint("parameter", n)] = v1alpha1.SSMParameter{Value: strings.Repeat("x", 4000)}
	}
	return o
}

// largeCapability is a capability of most of a mebibyte.
func largeCapability(namespace string, i int) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("large-", i)}}
	c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Version = fmt.Sprint("large", i), "dev", "1"
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	c.Spec.Backend.Image, c.Spec.Frontend.Image = "registry.example/b:1", "registry.example/f:1"
	c.Annotations = map[string]string{"note": strings.Repeat("x", 200<<10)}
	c.Labels = manyLabels(5000)
	return c
}

// largePod is a pod of a mebibyte that says that the operator made it.
func largePod(namespace string, i int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("large-", i),
		Labels: map[string]string{wellknown.LabelManagedBy: wellknown.OperatorName}}}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "bench.example/never"}}
	p.Spec.Containers = []corev1.Container{{Name: "app", Image: "registry.example/b:1", Args: []string{strings.Repeat("x", mebibyte)}}}
	return p
}

func manyLabels(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint("label-", i)] = strings.Repeat("x", 60)
	}
	return out
}

// chartMemoryLimit is the operator's memory limit in the chart's default values, in bytes.
func chartMemoryLimit(b *testing.B) int64 {
	b.Helper()
	text, err := os.ReadFile("../../charts/nexus-operator/values.yaml")
	if err != nil {
		b.Fatal(err)
	}
	var values struct {
		Resources struct {
			Limits map[string]string `json:"limits"`
		} `json:"resources"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		b.Fatal(err)
	}
	limit, err := resource.ParseQuantity(values.Resources.Limits["memory"])
	if err != nil {
		b.Fatal(err)
	}
	return limit.Value()
}
