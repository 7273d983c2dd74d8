// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestInAnAmbientMeshProbesAndTheMeshsOwnPortStayOpen(t *testing.T) {
	f := intent.Facts{NamespaceLabels: map[string]string{"istio.io/dataplane-mode": "ambient"}}
	r := segment(params{"fromNamespaces": {"front"}, "ports": {"8080"}})
	objects, claims := translate(t, f, policy("np", intent.Selector{}, r))
	expectNames(t, objects, "np-networksegmentation")
	said := fmt.Sprintf("%+v", objects[0].Spec.Ingress)
	for _, part := range []string{"169.254.7.127/32", "15008", "8080"} {
		if !strings.Contains(said, part) {
			t.Errorf("%s is not in %s", part, said)
		}
	}
	expectClaim(t, claims[0], partial, intent.ReasonNotCovered, "15008")

	objects, claims = translate(t, f, policy("np", intent.Selector{}, from("front")))
	expectClaim(t, claims[0], enforced, "")
	if said := fmt.Sprintf("%+v", objects[0].Spec.Ingress); !strings.Contains(said, "169.254.7.127/32") {
		t.Errorf("probes are shut out: %s", said)
	}

	f.NamespaceLabels["istio-injection"] = "enabled" // sidecars carry traffic on their own ports
	objects, _ = translate(t, f, policy("np", intent.Selector{}, r))
	if said := fmt.Sprintf("%+v", objects[0].Spec.Ingress); strings.Contains(said, "169.254") || strings.Contains(said, "15008") {
		t.Errorf("without an ambient mesh: %s", said)
	}
}
