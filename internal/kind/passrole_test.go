// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
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
		{"another partition", "/team", "", "arn:aws-cn:iam::123456789012:role/team/crawler", "begins with arn:aws:iam:"},
		{"another service", "/team", "", "arn:aws:s3::123456789012:role/team/crawler", "begins with arn:aws:iam:"},
		{"a path that climbs", "/team", "", "/team/../admin", "only roles under /team/"},
		{"a path of a dot", "/team", "", "arn:aws:iam::123456789012:role/team/./admin", "only roles under /team/"},
		{"no role", "", "", "", ""},
	} {
		sc := Scope{Place: Place{Partition: "aws", Account: account}, Guards: RoleGuards{RolePath: tc.prefix, Boundary: tc.boundary}}
		if why := WhyNotPassed(sc, tc.role); !strings.Contains(why, tc.want) || tc.want == "" && why != "" {
			t.Errorf("%s: %q", tc.name, why)
		}
		for what, passive := range map[string]Scope{"deleting": {Search: Search{Deleting: true}}, "observing": {Observing: true}} {
			if why := WhyNotPassed(passive, tc.role); why != "" {
				t.Errorf("%s, %s: %q", tc.name, what, why)
			}
		}
	}
}

func TestRoles_JudgeTheRoleThatTheResourceHas(t *testing.T) {
	bounded, pathed := Scope{Place: Place{Account: "123456789012"},
		Guards: RoleGuards{Boundary: "arn:aws:iam::123456789012:policy/team", RolePath: "/team/"}},
		Scope{Place: Place{Account: "123456789012"}, Guards: RoleGuards{RolePath: "/team/"}}
	const admin, own, team = "arn:aws:iam::123456789012:role/finance-admin", "arn:aws:iam::123456789012:role/own",
		"arn:aws:iam::123456789012:role/team/app"
	of := func(s string) []string { return Present(&s) }
	read := func(_ context.Context, s string) ([]string, error) { return of(s), nil }
	for _, c := range []struct {
		sc         Scope
		want, have string
		refused    bool
	}{
		{pathed, own, admin, true}, {pathed, own, team, false}, {pathed, own, own, false}, {pathed, own, "", false},
		{bounded, own, team, true}, {bounded, own, own, false}, {Scope{}, own, admin, true},
	} {
		if why, err := (Roles[string]{Of: of}).whyNotAdopted(t.Context(), c.sc, c.want, c.have); (why != "") != c.refused || err != nil {
			t.Errorf("a resource that acts as %s, with %+v: %q, %v", c.have, c.sc, why, err)
		}
		if why, err := (Roles[string]{Of: of, Read: read}).whyNotAdopted(t.Context(), c.sc, c.want, c.have); (why != "") != c.refused ||
			err != nil {
			t.Errorf("a resource of which a read shows that it acts as %s, with %+v: %q, %v", c.have, c.sc, why, err)
		}
	}
	failing := func(context.Context, string) ([]string, error) { return nil, errors.New("throttled") }
	if _, err := (Roles[string]{Read: failing}).whyNotAdopted(t.Context(), pathed, "", ""); err == nil {
		t.Error("roles that could not be read were taken for none")
	}
}

func TestIsCaller_ComparesRolesByAccountAndName(t *testing.T) {
	sc := Scope{Place: Place{Account: "123456789012"}, Lookups: Lookups{Callers: func() ([]string, error) {
		return []string{"arn:aws:iam::123456789012:user/operator", "arn:aws:sts::123456789012:assumed-role/nexus-operator/session",
			"arn:aws:sts::210987654321:assumed-role/elsewhere/s"}, nil
	}}}
	for name, want := range map[string]bool{"nexus-operator": true, "elsewhere": false, "operator": false, "session": false} {
		if got, err := IsCaller(sc, name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	sc.Callers = func() ([]string, error) { return nil, errors.New("throttled") }
	if own, err := IsCaller(sc, "any"); own || err == nil {
		t.Errorf("a failure was taken for an answer: %v", own)
	}
}
