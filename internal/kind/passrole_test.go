// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"strings"
	"testing"
)

func TestWhyNotPassed(t *testing.T) {
	const account = "123456789012"
	for _, tc := range []struct {
		name, prefix, boundary, role string
		want                         string
	}{
		{"no prefix", "", "", "admin", "needs rolePathPrefix on the AWSProvider"},
		{"no prefix, an ARN", "", "", "arn:aws:iam::123456789012:role/admin", "needs rolePathPrefix on the AWSProvider"},
		{"every path", "/", "", "admin", ""},
		{"every path, an ARN", "/", "", "arn:aws:iam::123456789012:role/a/b/admin", ""},
		{"under the prefix", "/team", "", "team/crawler", ""},
		{"under the prefix, an ARN", "/team/", "", "arn:aws:iam::123456789012:role/team/crawler", ""},
		{"beside the prefix", "/team", "", "arn:aws:iam::123456789012:role/teams/crawler", "only roles under /team/"},
		{"without a path", "/team", "", "crawler", "only roles under /team/"},
		{"the prefix as a name", "/team", "", "arn:aws:iam::123456789012:role/team", "only roles under /team/"},
		{"another account", "/", "", "arn:aws:iam::210987654321:role/admin", "in account 210987654321"},
		{"a boundary", "/", "arn:aws:iam::123456789012:policy/bound", "admin", "bounds every role by arn:aws:iam::123456789012:policy/bound"},
		{"no role", "", "", "", ""},
	} {
		sc := Scope{Account: account, RolePath: tc.prefix, Boundary: tc.boundary}
		if why := WhyNotPassed(sc, tc.role); !strings.Contains(why, tc.want) || tc.want == "" && why != "" {
			t.Errorf("%s: %q", tc.name, why)
		}
		for what, passive := range map[string]Scope{"deleting": {Deleting: true}, "observing": {Observing: true}} {
			if why := WhyNotPassed(passive, tc.role); why != "" {
				t.Errorf("%s, %s: %q", tc.name, what, why)
			}
		}
	}
}

func TestWhyNotAdoptedAs_JudgesTheRoleThatTheResourceHas(t *testing.T) {
	bounded, pathed := Scope{Account: "123456789012", Boundary: "arn:aws:iam::123456789012:policy/team", RolePath: "/team/"}, Scope{Account: "123456789012", RolePath: "/team/"}
	const admin, own, team = "arn:aws:iam::123456789012:role/finance-admin", "arn:aws:iam::123456789012:role/own", "arn:aws:iam::123456789012:role/team/app"
	for _, c := range []struct {
		sc         Scope
		want, have string
		refused    bool
	}{
		{pathed, own, admin, true}, {pathed, own, team, false}, {pathed, own, own, false}, {pathed, own, "", false},
		{bounded, own, team, true}, {bounded, own, own, false}, {Scope{}, own, admin, true},
	} {
		if why := WhyNotAdoptedAs(c.sc, c.want, c.have); (why != "") != c.refused {
			t.Errorf("a resource that acts as %s, with %+v: %q", c.have, c.sc, why)
		}
	}
}
