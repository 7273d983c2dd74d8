// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// ofRule are the objects of a translation that are for a rule.
func ofRule(objects []*unstructured.Unstructured, id string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetLabels()[intent.LabelRule] == id {
			out = append(out, o)
		}
	}
	return out
}

// TestARuleIsReadByItsOwnParametersOnly puts every two intents into one policy, the other one with parameters, in both orders: the result
// of an engine for the one must equal its result for it alone. Two that restrict the same direction of traffic are left out, since their
// translations depend on each other on purpose.
func TestARuleIsReadByItsOwnParametersOnly(t *testing.T) {
	compared := 0
	for _, e := range catalog.Engines() {
		for _, a := range intent.Catalog() {
			for _, b := range intent.Catalog() {
				if a.ID == b.ID || a.Restricts&b.Restricts != 0 {
					continue
				}
				r, other := rule(a.ID, v1alpha1.Block, sampleParams(a)), rule(b.ID, v1alpha1.Audit, sampleParams(b))
				if a.Restricts == 0 || b.Restricts == 0 {
					other.Action = v1alpha1.Block
				}
				other.Params["psaLevel"] = []string{"restricted"}
				other.Params["runtimeClass"] = []string{"not-mine"}
				other.Params["otherEgress"] = []string{"deny"}
				other.Params["ports"] = []string{"1"}
				alone := e.Translate(intent.Policy{Name: "p", Namespace: "n", Rules: []intent.Rule{r}}, facts(nil))
				for _, rules := range [][]intent.Rule{{r, other}, {other, r}} {
					both := e.Translate(intent.Policy{Name: "p", Namespace: "n", Rules: rules}, facts(nil))
					if !reflect.DeepEqual(ofRule(both.Objects, a.ID), ofRule(alone.Objects, a.ID)) {
						t.Errorf("%s: %s beside %s is %v, alone %v", e.Name(), a.ID, b.ID, ofRule(both.Objects, a.ID), ofRule(alone.Objects, a.ID))
					}
					compared += len(alone.Objects)
				}
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d objects were compared", compared)
	}
}
