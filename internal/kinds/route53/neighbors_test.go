// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// In a zone without an owner, a second record set of a name takes a part of its users.
func TestANameOfAnotherNamespaceIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec    []recordEdit
		owner   string
		refused bool
	}{
		"the users of IPv6":                    {[]recordEdit{ofType("AAAA", "2001:db8::1")}, "other", true},
		"mail":                                 {[]recordEdit{ofType("MX", "10 mail.example.org")}, "other", true},
		"the name in capital letters":          {[]recordEdit{named(strings.ToUpper(www)), ofType("AAAA", "2001:db8::1")}, "other", true},
		"a certificate for the name":           {[]recordEdit{named("_acme-challenge." + www), ofType("TXT", `"x"`)}, "other", true},
		"the key of mail of the name":          {[]recordEdit{named("selector._domainkey." + www), ofType("TXT", `"x"`)}, "other", true},
		"the policy of mail of the name":       {[]recordEdit{named("_dmarc." + www), ofType("TXT", `"x"`)}, "other", true},
		"another name":                         {[]recordEdit{named("app." + domain)}, "other", false},
		"a name below it":                      {[]recordEdit{named("app." + www)}, "other", false},
		"the name, which is of this namespace": {[]recordEdit{ofType("AAAA", "2001:db8::1")}, kindtest.Namespace, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := recordSubject(t, recordsOf(c.spec...))
			byHand(t, r)
			tags := engine.Identity{Kind: "Route53RecordSet", Namespace: c.owner, Name: "web", UID: "theirs", Cluster: s.Facts().Cluster}.OwnerTags()
			writeOwner(types.ChangeActionCreate, tags, true)(t, r)
			_, err := s.Settle(t.Context(), nil)
			st, ok := status.AsStalled(err)
			if refused := ok && st.Reason == status.ReasonNotPermitted && st.Field == "spec.name"; refused != c.refused || !c.refused && err != nil {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Contains(err.Error(), "other/") {
				t.Errorf("names the owner: %v", err)
			}
		})
	}
}

// The servers that an NS record names answer for all names below it.
func TestNamesOfAnotherNamespaceAreNotDelegated(t *testing.T) {
	for name, c := range map[string]struct {
		below, owner string
		refused      bool
	}{
		"another namespace's": {"db.app.", "other", true},
		"deeper":              {"a.b.c.app.", "other", true},
		"of this namespace":   {"db.app.", kindtest.Namespace, false},
		"beside":              {"db.myapp.", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := recordSubject(t, recordsOf(named("app."+domain), ofType("NS", "ns.example.net.")))
			tags := engine.Identity{Kind: "Route53RecordSet", Namespace: c.owner, Name: "web", UID: "theirs", Cluster: s.Facts().Cluster}.OwnerTags()
			writeOwner(types.ChangeActionCreate, tags, true, named(c.below+domain))(t, r)
			_, err := s.Settle(t.Context(), nil)
			st, ok := status.AsStalled(err)
			if refused := ok && st.Reason == status.ReasonNotPermitted && st.Field == "spec.name"; refused != c.refused || !c.refused && err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAClaimOfAnotherNamespaceIsNotNamed(t *testing.T) {
	s, r := recordSubject(t, recordsOf())
	tags := engine.Identity{Kind: "Route53RecordSet", Namespace: "other", Name: "web", UID: "theirs", Cluster: s.Facts().Cluster}.OwnerTags()
	writeOwner(types.ChangeActionCreate, tags, true)(t, r)
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict || strings.Contains(err.Error(), "other/web") {
		t.Errorf("%v", err)
	}
}
