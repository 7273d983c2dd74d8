// SPDX-License-Identifier: Apache-2.0

package questions_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/questions"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
)

// flags answers questions from a map.
func flags(of map[string][]string) func(string) ([]string, bool) {
	return func(name string) ([]string, bool) {
		values, set := of[name]
		return values, set
	}
}

// problems returns the faults of a written manifest: breaches of its schema and its rules, refusals by the operator, and differences
// between its text and its object.
func problems(t *testing.T, schemas *crdschema.Schemas, m *appmodel.Manifest) []error {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(m.Text, &u.Object); err != nil {
		return []error{fmt.Errorf("the text is no YAML: %w", err)}
	}
	read := &nexusv1.NexusAICapability{}
	if err := yaml.UnmarshalStrict(m.Text, read); err != nil {
		return []error{err}
	}
	was, err := yaml.Marshal(m.Object)
	if err != nil {
		return []error{err}
	}
	if now, err := yaml.Marshal(read); err != nil || !bytes.Equal(now, was) {
		return []error{fmt.Errorf("the text says something else than the object: %w\n%s\n%s", err, now, was)}
	}
	found, err := schemas.Problems(t.Context(), u)
	if err != nil {
		return []error{err}
	}
	if err := capability.Validate(read, capability.Facts{Region: "ap-southeast-1"}); err != nil {
		found = append(found, err)
	}
	return found
}

// answers draws a value for each flag: all of them valid, or one in three odd.
func answers(t *rapid.T) map[string][]string {
	out := map[string][]string{}
	isOdd := rapid.IntRange(0, 2).Draw(t, "odd") == 0
	put := func(flag string, g *rapid.Generator[string], odd ...string) {
		if rapid.Bool().Draw(t, flag+"?") {
			if isOdd {
				g = rapid.OneOf(g, g, rapid.SampledFrom(append(odd, "", "A b", "é")))
			}
			out[flag] = []string{g.Draw(t, flag)}
		}
	}
	list := func(flag string, g *rapid.Generator[string]) {
		if rapid.Bool().Draw(t, flag+"?") {
			out[flag] = rapid.SliceOfNDistinct(g, 0, 8, func(text string) string { name, _, _ := strings.Cut(text, "="); return name }).Draw(t, flag)
		}
	}
	label := rapid.StringMatching(`[a-z]([a-z0-9-]{0,38}[a-z0-9])?`)
	put("name", label, "aws-x", "kube", "xn--a")
	put("environment", rapid.StringMatching(`[a-z][a-z0-9]{0,15}`))
	put("app-version", rapid.StringMatching(`[A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?`), "on", "1e3", "0x1F", "2026-01-02")
	put("region", rapid.SampledFrom([]string{"eu-west-1", "ap-southeast-1", "us-gov-west-1"}))
	put("provider", label)
	put("host", rapid.SampledFrom([]string{"a.example.com", "*.example.com", "x"}))
	put("health-path", rapid.StringMatching(`/[!-~]{0,30}`))
	put("deletion-policy", rapid.SampledFrom([]string{"Delete", "retain", "Orphan"}))
	put("no-ingress", rapid.SampledFrom([]string{"true", "false"}))
	put("public", rapid.SampledFrom([]string{"true", "false"}))
	list("table", label)
	list("bucket", rapid.StringMatching(`[a-z]([a-z0-9-]{0,18}[a-z0-9])?`))
	list("queue", rapid.StringMatching(`[a-z]([a-z0-9-]{0,26}[a-z0-9])?`))
	list("topic", label)
	list("secret", rapid.StringMatching(`[a-z]{1,40}(=[A-Za-z0-9_.-]{1,20}(,[A-Za-z0-9_.-]{1,20})?)?`))
	list("model", rapid.SampledFrom([]string{"chat=amazon.nova-lite-v1:0", "embed=us.amazon.titan-embed-text-v2:0", "b=anthropic.claude-3:0"}))
	names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"frontend", "backend", "web", "api"}),
		rapid.StringMatching(`[a-z]([a-z0-9-]{0,14}[a-z0-9])?`)), 1, 16, rapid.ID).Draw(t, "components")
	if !slices.Contains(names, "frontend") && rapid.Bool().Draw(t, "roles") {
		out["frontend"] = []string{names[0]}
	}
	for _, n := range names {
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind of "+n); {
		case kind == 0 && isOdd:
			out["route"] = append(out["route"], n+"="+rapid.SampledFrom([]string{"x", "/a/", "/"}).Draw(t, "route"))
		case kind == 1 && n != "frontend" && n != "backend" && n != names[0]:
			out["type"] = append(out["type"], n+"=Worker")
		case kind == 2:
			out["route"] = append(out["route"], n+"=/"+n)
		case kind == 3 && len(out["route"]) == 0:
			out["route"] = append(out["route"], n+"="+rapid.SampledFrom([]string{"/", "/api"}).Draw(t, "route"))
		}
		out["image"] = append(out["image"],
			n+"="+rapid.SampledFrom([]string{"registry.example/a:1", "a", "ACCOUNT.dkr.ecr.REGION.amazonaws.com/x:latest"}).Draw(t, "image"))
		out["port"] = append(out["port"], fmt.Sprintf("%s=%d", n, rapid.IntRange(1, 65535).Draw(t, "port")))
	}
	return out
}

func TestAnswers_WriteValidManifestsOrAreRefused(t *testing.T) {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	rapid.Check(t, func(rt *rapid.T) {
		i := &questions.Interview{Flag: flags(answers(rt)), Out: &strings.Builder{}}
		app := &appmodel.App{}
		roles, err := i.Fill(app, questions.Defaults{Name: rapid.String().Draw(rt, "folder")})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "--") && !strings.Contains(err.Error(), "name its port with --port") {
				rt.Errorf("the refusal names no flag: %v", err)
			}
			return
		}
		m, err := app.Write(roles, "")
		if err != nil {
			rt.Fatal(err)
		}
		written++
		if found := problems(t, schemas, m); len(found) > 0 {
			rt.Fatalf("%v\n%s", found, m.Text)
		}
	})
	if written < 30 {
		t.Errorf("only %d of the applications were written", written)
	}
}

// Variables may have any name and any value. The manifest is valid, equals the object, and has no value of a secret.
func TestVariables_WriteValidManifestsWithoutSecrets(t *testing.T) {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		i := &questions.Interview{Flag: flags(map[string][]string{"name": {"shop"}, "image": {"frontend=a", "backend=b"}}),
			Out: &strings.Builder{}}
		app := &appmodel.App{}
		roles, err := i.Fill(app, questions.Defaults{})
		if err != nil {
			rt.Fatal(err)
		}
		c := app.Component("backend")
		for range rapid.IntRange(0, 70).Draw(rt, "variables") {
			name := rapid.OneOf(rapid.StringMatching(`[A-Z_]{1,20}`), rapid.String(),
				rapid.SampledFrom([]string{"yes", "~", "null", "1", "AWS_REGION", "NEXUS_X", "API_URL"})).Draw(rt, "name")
			value := rapid.OneOf(rapid.String(),
				rapid.SampledFrom([]string{"yes", "no", "1.10", "0777", "null", "~", " a", "a: b", "# x", "http://frontend/x", "http://frontend:1",
					"- a", "{a}", "a\nb", "'", `"`, "\ta"})).Draw(rt, "value")
			app.AddVariable(c, appmodel.Variable{At: rapid.String().Draw(rt, "at"), Name: name, Value: value})
		}
		app.AddVariable(c, appmodel.Variable{At: "x",
			Name:  rapid.SampledFrom([]string{"DB_PASSWORD", "jwt_secret", "OPENAI_API_KEY", "githubToken", "SENTRY_DSN"}).Draw(rt, "secret"),
			Value: "s3cr3t-Value"})
		m, err := app.Write(roles, "")
		if err != nil {
			rt.Fatal(err)
		}
		if found := problems(t, schemas, m); len(found) > 0 {
			rt.Fatalf("%v\n%s", found, m.Text)
		}
		if bytes.Contains(m.Text, []byte("s3cr3t-Value")) {
			rt.Fatalf("the manifest has a secret:\n%s", m.Text)
		}
	})
}
