// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/davecgh/go-spew/spew"
	"github.com/go-logr/logr/funcr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// shown is a value as every printer we can think of shows it.
func shown(t *testing.T, v any) string {
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		_, _ = fmt.Fprintf(&out, verb+"\n", v)
	}
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return yaml.Marshal(v) }} {
		if b, err := marshal(v); err == nil {
			out.Write(b)
		}
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	funcr.New(func(prefix, args string) { out.WriteString(prefix + args) }, funcr.Options{}).Info("x", "v", v)
	funcr.NewJSON(func(o string) { out.WriteString(o) }, funcr.Options{}).Info("x", "v", v)
	return out.String()
}

func TestNothingShowsASecret(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	s := f.sessions(t, "")
	id := static(with(roleA, ""), func(id *Identity) { id.Static.SessionToken = NewSecret(canary) })
	f.caller("AKIAUSER", userARN)
	session := mustOpen(t, s, id)
	plain := mustOpen(t, s, static(func(id *Identity) { id.Key = "plain" }))

	type hidden struct{ keys StaticKeys } // unexported: printers cannot call methods on it
	for name, v := range map[string]any{
		"identity": id, "identity pointer": &id, "keys": *id.Static, "keys pointer": id.Static,
		"secret": id.Static.SecretAccessKey, "hidden keys": hidden{*id.Static}, "map": map[string]any{"k": *id.Static},
		"session": session, "session value": *session, "config": session.Config, "credentials": session.Config.Credentials,
		"plain config": plain.Config, "plain credentials": plain.Config.Credentials, "sessions": s,
	} {
		text := shown(t, v)
		if !strings.HasSuffix(name, "config") && !strings.HasPrefix(name, "session") {
			text += spew.Sdump(v) // it follows every pointer, where those do not lead through half of net/http
		}
		if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
			t.Errorf("%s shows the secret", name)
		}
	}
	if id.Static.SecretAccessKey.Reveal() != canary || (Secret{}).Reveal() != "" {
		t.Error("Reveal does not")
	}
}

func TestIdentity_StaysTheSameWhenTheOperatorRestarts(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:sts::123456789012:assumed-role/operator/eks-prod-nexus-oper-1b2c3d4e-5f60-4711-8a32-b92abc6efaeb": "arn:aws:sts::123456789012:assumed-role/operator",
		"arn:aws:sts::123456789012:assumed-role/operator/1764161696000000000":                                      "arn:aws:sts::123456789012:assumed-role/operator",
		"arn:aws:sts::123456789012:assumed-role/deployer/nexus-team-main":                                          "arn:aws:sts::123456789012:assumed-role/deployer/nexus-team-main",
		"arn:aws:iam::123456789012:user/people/admin":                                                              "arn:aws:iam::123456789012:user/people/admin",
	} {
		if got := (&Session{CallerARN: arn}).Identity(); got != want {
			t.Errorf("%s: %s, want %s", arn, got, want)
		}
	}
}

func TestSessionNamesFitAWS(t *testing.T) {
	for _, c := range []struct{ namespace, name, want string }{
		{"team", "main", "nexus-team-main"},
		{"team", "odd/ name", "nexus-team-odd--name"},
	} {
		if got := SessionName(c.namespace, c.name); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	long := strings.Repeat("n", 60)
	a, b := SessionName(long, "a"), SessionName(long, "b")
	if len(a) != 64 || a == b || !strings.HasPrefix(a, "nexus-nnn") {
		t.Errorf("%s and %s", a, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		got := SessionName(rapid.String().Draw(t, "namespace"), rapid.String().Draw(t, "name"))
		if len(got) < 2 || len(got) > 64 || notSessionName.MatchString(got) {
			t.Fatalf("%q", got)
		}
	})
}

func TestExternalIDsAreStableAndDistinct(t *testing.T) {
	if got := ExternalID("cluster", "ns", "name"); got != ExternalID("cluster", "ns", "name") || len(got) != 38 {
		t.Errorf("%s", got)
	}
	// It must never change: trust policies contain it.
	if got, want := ExternalID("c1", "team", "main"), "nexus-"+digest("external-id", "c1", "team", "main")[:32]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func() [3]string {
			part := rapid.StringMatching(`[a-c:1]{0,3}`)
			return [3]string{part.Draw(t, "c"), part.Draw(t, "ns"), part.Draw(t, "n")}
		}
		a, b := draw(), draw()
		if (a == b) != (ExternalID(a[0], a[1], a[2]) == ExternalID(b[0], b[1], b[2])) {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

func TestRoleSessionsAreRecognised(t *testing.T) {
	for _, c := range []struct {
		arn, role string
		is        bool
	}{
		{irsaARN, irsaRole, true},
		{irsaARN, "arn:aws:iam::123456789012:role/operator", true},
		{irsaARN, "arn:aws:iam::210987654321:role/operator", false},
		{irsaARN, "arn:aws-cn:iam::123456789012:role/operator", false},
		{irsaARN, "arn:aws:iam::123456789012:role/operator2", false},
		{"arn:aws:sts::123456789012:federated-user/operator", irsaRole, false},
		{userARN, irsaRole, false},
		{"nonsense", irsaRole, false},
	} {
		if got := parseCaller(c.arn, account).is(c.role); got != c.is {
			t.Errorf("%s is %s: %v", c.arn, c.role, got)
		}
	}
	if c := parseCaller("nonsense", account); c.partition != "aws" || c.isRole() {
		t.Errorf("%+v", c)
	}
}
