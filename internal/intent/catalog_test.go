// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestEveryPublicIDIsInTheCatalog(t *testing.T) {
	var got []string
	for _, e := range intent.Catalog() {
		got = append(got, e.ID)
	}
	equal(t, "ids in order", got, []string{
		"dnsManipulation", "swDeploymentTools", "pkgMgrs", "unAuthorizedSaTokenAccess", "preventExecutionFromTempOrLogsFolders", "escapeToHost",
		"denyExternalNetworkAccess", "allowEgressToNames", "cocoWorkload", "virtualPatch", "assessTLS", "ensureTLS", "networkSegmentation",
		"apiSegmentation",
	})
}

func TestIDsAndAliasesAreUniqueAndCanBeWritten(t *testing.T) {
	valid, seen := regexp.MustCompile(`^[A-Za-z0-9]{1,63}$`), map[string]bool{}
	for _, e := range intent.Catalog() {
		for _, id := range append([]string{e.ID}, e.Aliases...) {
			if seen[id] || !valid.MatchString(id) {
				t.Errorf("%q is there twice, or is no id", id)
			}
			seen[id] = true
			found, ok := intent.Lookup(id)
			if !ok || found.ID != e.ID {
				t.Errorf("%q is found as %q", id, found.ID)
			}
		}
		if e.Title == "" {
			t.Errorf("%s does not say what must be true", e.ID)
		}
	}
}

func TestAliasesLeadToTheirEntry(t *testing.T) {
	for alias, id := range map[string]string{"pkgManagerExecution": "swDeploymentTools",
		"exploitPFA": "preventExecutionFromTempOrLogsFolders"} {
		if e, ok := intent.Lookup(alias); !ok || e.ID != id {
			t.Errorf("%s leads to %q", alias, e.ID)
		}
	}
}

func TestWhatIsNotInTheCatalogIsNotFound(t *testing.T) {
	for _, id := range []string{"", "DNSManipulation", "dnsmanipulation", "dnsManipulation "} {
		if e, ok := intent.Lookup(id); ok {
			t.Errorf("%q is found as %s", id, e.ID)
		}
	}
}

func TestParametersHaveUniqueNamesAndValidDefaults(t *testing.T) {
	for _, e := range intent.Catalog() {
		var seen []string
		for _, p := range e.Params {
			if p.Name == "" || slices.Contains(seen, p.Name) {
				t.Errorf("%s has the parameter %q twice", e.ID, p.Name)
			}
			seen = append(seen, p.Name)
			for _, v := range p.Values {
				if problem := e.Check(map[string][]string{p.Name: {v}}); problem != "" {
					t.Errorf("%s refuses its own value: %s", e.ID, problem)
				}
			}
		}
	}
}

func TestWhoeverChangesTheCatalogChangesTheirsOnly(t *testing.T) {
	intent.Catalog()[0].ID = "spoilt"
	intent.Catalog()[1].Aliases[0] = "spoilt"
	if _, ok := intent.Lookup("spoilt"); ok {
		t.Error("the catalog is shared")
	}
}

func TestTheDirectionsThatIntentsRestrict(t *testing.T) {
	want := map[string]intent.Direction{
		"dnsManipulation": intent.Egress, "denyExternalNetworkAccess": intent.Ingress | intent.Egress, "allowEgressToNames": intent.Egress,
		"networkSegmentation": intent.Ingress,
	}
	for _, e := range intent.Catalog() {
		if e.Restricts != want[e.ID] {
			t.Errorf("%s restricts %d, not %d", e.ID, e.Restricts, want[e.ID])
		}
	}
}
