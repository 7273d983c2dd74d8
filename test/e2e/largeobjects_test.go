// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// parameterSet has so many parameters of a size, and an annotation that makes it large.
func parameterSet(namespace, name string, parameters, size, note int) *v1alpha1.SSMParameterSet {
	o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		Annotations: map[string]string{"example.com/note": strings.Repeat("x", note)}},
		Spec: v1alpha1.SSMParameterSetSpec{CommonSpec: through("aws"), Path: "/" + namespace + "/" + name,
			Parameters: map[string]v1alpha1.SSMParameter{}}}
	for i := range parameters {
		o.Spec.Parameters[fmt.Sprint("p", i)] = v1alpha1.SSMParameter{Value: strings.Repeat("v", size)}
	}
	return o
}

// After a restart, the cache reads the objects of a namespace in another order than that of their creation: what has no room then stays
// in AWS as it is.
func TestLargeObjects_ARestartTakesNothingFromAWS(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	o := parameterSet(b.Namespace, "data", 60, 4000, 200<<10)
	b.Create(o)
	b.Ready(o)
	b.createAll(reconciler.MostLarge>>20+1, func(i int) client.Object {
		filler := parameterSet(b.Namespace, fmt.Sprint("a-filler-", i), 250, 4000, 100<<10)
		filler.Annotations[wellknown.AnnotationPaused] = "true"
		return filler
	})
	// a new informer sees it last
	if err := b.as(b.Client, o, func() { o.Annotations["example.com/touched"] = "after the fillers" }); err != nil {
		t.Fatal(err)
	}
	b.Ready(o)
	mark := b.World.AWS().Mark()
	for _, streams := range []string{"true", "false"} { // as with older API servers, of which some stream no lists
		t.Setenv("KUBE_FEATURE_WatchListClient", streams)
		b.Restart("--check-interval=2s")
		b.Eventually(30*time.Second, "the object without room to say so", func() error {
			if err := b.Get(o); err != nil {
				return err
			}
			if c, err := b.Condition(o, "Stalled"); err != nil || c.Reason != "LimitExceeded" {
				return fmt.Errorf("%+v %v", c, err)
			}
			return nil
		})
		b.Quiet()
	}
	if w := awsWrites(b.World.AWS().Since(mark)); len(w) > 0 {
		t.Errorf("AWS was written to:\n%s", w)
	}
}
