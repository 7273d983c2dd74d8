// SPDX-License-Identifier: Apache-2.0

package questions_test

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/questions"
)

// person answers questions with lines.
func person(of map[string][]string, lines ...string) (*questions.Interview, *strings.Builder) {
	in, out := bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), &strings.Builder{}
	return &questions.Interview{Flag: flags(of), Out: out, ReadLine: func() (string, error) { return in.ReadString('\n') }}, out
}

func TestInterview_AsksAgainUntilAnswersAreValid(t *testing.T) {
	i, shown := person(map[string][]string{"region": {"eu-west-1"}},
		"prod", "Shop!", "shop", "", "-", "web,api,worker", "", "registry.example/web:1", "70000", "3000", "registry.example/api:1", "",
		"registry.example/api:1", "-",
		"worker", "", "", "orders, carts", "documents", "-", "", "chat=amazon.nova-lite-v1:0", "maybe", "no", "yes", "shop.example.com", "health",
		"/healthz", "", "")
	app := &appmodel.App{}
	roles, err := i.Fill(app, questions.Defaults{Name: "My Folder"})
	if err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	if app.Name != "shop" || app.Environment != "prod" || app.Region != "eu-west-1" || roles != (appmodel.Roles{}) ||
		app.Component("worker").Type != appmodel.TypeWorker || app.Component("web").Routes[0] != "/" ||
		app.Component("api").Routes[0] != "/api" || len(app.Tables) != 2 || len(app.Buckets) != 1 ||
		len(app.Queues) != 0 || app.Models[0].ID != "amazon.nova-lite-v1:0" || !app.Ingress.Public || app.Ingress.Host != "shop.example.com" ||
		app.Ingress.HealthPath != "/healthz" || app.DeletionPolicy != "Retain" {
		t.Errorf("%+v %+v\n%s", app, roles, shown)
	}
	for _, want := range []string{"Name of the application [my-folder]: ", `"Shop!": write small letters`, "an answer is needed",
		`"70000" is no port`, `"worker" answers no requests`, "at / (- for none) [web]: ", "below /api (- for none) [api]: ",
		`"maybe": answer yes or no`, `"health": write a path`} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q was not shown:\n%s", want, shown)
		}
	}
	if strings.Contains(shown.String(), "AWS region") {
		t.Error("a question was asked that a flag answers")
	}
}

func TestInterview_EndsWithTheInput(t *testing.T) {
	i, _ := person(nil, "dev", "shop")
	if _, err := i.Fill(&appmodel.App{}, questions.Defaults{}); !errors.Is(err, questions.ErrNoAnswers) {
		t.Errorf("%v", err)
	}
}

func TestFill_RefusesFlagsByName(t *testing.T) {
	for flag, tc := range map[string]struct{ value, want string }{
		"name":            {"Shop", "small letters"},
		"environment":     {"d-v", "small letters and digits"},
		"region":          {"Mars", "region of AWS"},
		"image":           {"web", "write NAME=VALUE"},
		"port":            {"frontend=x", "is no port"},
		"replicas":        {"other=1", `no component "other"`},
		"route":           {"backend=api", "write a path such as /api"},
		"type":            {"frontend=Job", "none of Service and Worker"},
		"frontend":        {"other", `no component "other"`},
		"bucket":          {"a-bucket-with-a-very-long-name", "too long for a bucket"},
		"queue":           {"a-dlq", "dead-letter"},
		"table":           {"a,a", "named twice"},
		"model":           {"chat=gpt", "no model of Amazon Bedrock"},
		"secret":          {"smtp=a b", "has the key"},
		"host":            {"a_b", "host name"},
		"health-path":     {"x", "begins with /"},
		"deletion-policy": {"Keep", "none of Delete, Retain and Orphan"},
		"namespace":       {"A", "small letters"},
	} {
		of := map[string][]string{"name": {"shop"}, "image": {"frontend=a", "backend=b"}}
		of[flag] = []string{tc.value}
		i := &questions.Interview{Flag: flags(of), Out: &strings.Builder{}}
		if _, err := i.Fill(&appmodel.App{}, questions.Defaults{}); err == nil || !strings.HasPrefix(err.Error(), "--"+flag) ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("--%s=%s: %v", flag, tc.value, err)
		}
	}
}

func TestFill_KeepsNamesAndRoles(t *testing.T) {
	for name, tc := range map[string]struct {
		of          map[string][]string
		front, back string
		routes      map[string]string
	}{
		"by name": {map[string][]string{"image": {"frontend=a", "backend=b"}}, "frontend", "backend", map[string]string{}},
		"by flag": {map[string][]string{"image": {"web=a", "api=b"}, "frontend": {"web"}}, "web", "", map[string]string{"api": "/api"}},
		"guessed": {map[string][]string{"image": {"agent-api=a", "chat-ui=b", "other=c"}}, "", "",
			map[string]string{"chat-ui": "/", "agent-api": "/api"}},
		"only one":     {map[string][]string{"image": {"shop=a"}}, "", "", map[string]string{"shop": "/"}},
		"only an API":  {map[string][]string{"image": {"api=a"}}, "", "", map[string]string{"api": "/"}},
		"by its route": {map[string][]string{"image": {"web=a", "api=b"}, "route": {"api=/v1"}}, "", "", map[string]string{"api": "/v1"}},
		"workers":      {map[string][]string{"image": {"web=a", "api=b"}, "type": {"web=Worker"}}, "", "", map[string]string{"api": "/"}},
	} {
		tc.of["name"] = []string{"shop"}
		app := &appmodel.App{}
		i := &questions.Interview{Flag: flags(tc.of), Out: &strings.Builder{}}
		roles, err := i.Fill(app, questions.Defaults{})
		if err != nil || roles.Frontend != tc.front || roles.Backend != tc.back {
			t.Errorf("%s: %+v %v", name, roles, err)
		}
		for _, c := range app.Components {
			if got := strings.Join(c.Routes, ","); got != tc.routes[c.Name] {
				t.Errorf("%s: %s has the routes %q, want %q", name, c.Name, got, tc.routes[c.Name])
			}
		}
	}
}
