// SPDX-License-Identifier: Apache-2.0

package appmodel_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

func TestIsSecret_JudgesNamesAndValues(t *testing.T) {
	for _, secret := range [][2]string{
		{"DB_PASSWORD", "x"}, {"db_pass", "x"}, {"JWT_SECRET", ""}, {"OPENAI_API_KEY", ""}, {"LITELLM_MASTER_KEY", "x"}, {"githubToken", "x"},
		{"SENTRY_DSN", "x"}, {"PGPASSWORD", "x"}, {"HF_TOKEN", "x"},
		{"URL", "postgres://app:letmein@db/x"}, {"URL", "redis://:letmein@redis:6379"}, {"X", "sk-proj-abcdefgh1234"},
		{"X", "AKIAIOSFODNN7EXAMPLE"}, {"X", "ghp_0123456789abcdef0123"}, {"X", "hf_0123456789abcdefghij"},
		{"X", "Server=db;Password=letmein;"}, {"X", "-----BEGIN PRIVATE KEY-----"}, {"X", "Bearer abcdefgh12345"},
		{"X", "4f2a9c81be07d6534f2a9c81"}, {"X", "https://a/?api_key=12"}, {"X", "eyJhbGciOiJIUzI1NiJ9.e30.x"},
	} {
		if !appmodel.IsSecret(secret[0], secret[1]) {
			t.Errorf("%s=%s is taken for no secret", secret[0], secret[1])
		}
	}
	for _, plain := range [][2]string{
		{"LOG_LEVEL", "info"}, {"MAX_TOKENS", "4096"}, {"TOKENIZERS_PARALLELISM", "false"}, {"SECRET_NAME", "shop"}, {"PASSWORD_FILE", "/run/x"},
		{"TOKEN_TTL", "60"}, {"KEYSPACE", "a"}, {"BYPASS_CACHE", "1"},
		{"URL", "http://api:8000/v1?x=1"}, {"MODEL", "anthropic.claude-3-5-sonnet-20241022-v2:0"}, {"EMAIL", "a@example.com"},
		{"IMAGE", "registry.example/api:1.2.3"}, {"CACHE", "redis://redis:6379/0"},
	} {
		if appmodel.IsSecret(plain[0], plain[1]) {
			t.Errorf("%s=%s is taken for a secret", plain[0], plain[1])
		}
	}
}

func TestDefaultName_IsOneThatAWSAllows(t *testing.T) {
	for from, want := range map[string]string{
		"My Folder": "my-folder", "aws-tools": "app-aws-tools", "kube": "app-kube", "": "app", "42": "app", "été": "t",
		"a_very_long_name_of_a_folder_that_goes_on_and_on": "a-very-long-name-of-a-folder-that-goes",
	} {
		got := appmodel.DefaultName(from, "dev")
		if got != want || appmodel.CheckName(got, "dev") != nil {
			t.Errorf("%q gives %q, want %q: %v", from, got, want, appmodel.CheckName(got, "dev"))
		}
	}
}

// shop is an application with two components, a worker and a job.
func shop() *appmodel.App {
	port := func(n int32) *int32 { return &n }
	app := &appmodel.App{Name: "shop", Environment: "dev", Version: "1", Left: []string{"redis"}, DeletionPolicy: nexusv1.DeletionDelete,
		Components: []appmodel.Component{
			{Name: "web", Hosts: []string{"web"}, Type: appmodel.TypeService, Routes: []string{"/"},
				Spec: nexusv1.ComponentSpec{Image: "web:1", Port: port(3000),
					Args: []nexusv1.CommandArgument{"--api=http://api", "api:8000", "api", "redis:6379"}}},
			{Name: "api", Hosts: []string{"api", "api.local"}, Type: appmodel.TypeService, Spec: nexusv1.ComponentSpec{Image: "api:1"}},
			{Name: "worker", Hosts: []string{"worker"}, Type: appmodel.TypeWorker, Spec: nexusv1.ComponentSpec{Image: "api:1"}},
			{Name: "nightly", Type: appmodel.TypeCronJob, Source: "chart: CronJob nightly", Schedule: "0 3 * * *",
				Spec: nexusv1.ComponentSpec{Image: "api:1"}},
		}}
	for name, value := range map[string]string{"A": "http://api", "B": "http://api:9000/v1", "C": "api", "D": "tcp://web,redis:6379",
		"E": "http://worker", "F": "apiary", "G": "http://api.local/x?to=web"} {
		app.AddVariable(app.Component("web"), appmodel.Variable{At: "x", Name: name, Value: value})
	}
	app.AddVariable(app.Component("nightly"), appmodel.Variable{At: "x", Name: "TOKEN", Value: "x"})
	return app
}

func TestWrite_LeadsVariablesToTheServicesOfTheCapability(t *testing.T) {
	m, err := shop().Write(appmodel.Roles{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Object.Spec.Components[0].Env {
		want := map[string]string{"A": "http://shop-dev-api-svc:8080", "B": "http://shop-dev-api-svc:9000/v1", "C": "shop-dev-api-svc",
			"D": "tcp://shop-dev-web-svc:3000,redis:6379", "E": "http://worker", "F": "apiary",
			"G": "http://shop-dev-api-svc:8080/x?to=web"}[e.Name]
		if e.Value != want {
			t.Errorf("%s is %q, want %q", e.Name, e.Value, want)
		}
	}
	notes := ""
	for _, n := range m.Notes {
		notes += n.String() + "\n"
	}
	for _, want := range []string{"D: names redis, which is no component", "args: names redis, which is no component",
		"args: was changed from api to shop-dev-api-svc", "A: was changed from api to shop-dev-api-svc"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q:\n%s", want, notes)
		}
	}
	web := m.Object.Spec.Components[0]
	if got := fmt.Sprintf("%q", web.Args); got != `["--api=http://shop-dev-api-svc:8080" "shop-dev-api-svc:8000" "api" "redis:6379"]` {
		t.Errorf("the arguments are %s", got)
	}
	if n := m.Object.Spec.Components[3]; n.Type != nexusv1.ComponentCronJob || n.Schedule != "0 3 * * *" || n.Port != nil ||
		len(m.Needs) != 1 {
		t.Errorf("%+v %+v", n, m.Needs)
	}
}

func TestWrite_GivesEachPathToOneComponent(t *testing.T) {
	app := shop()
	app.Components[0].Name, app.Components[0].Routes = "frontend", nil
	app.Components[1].Routes = []string{"/"}
	m, err := app.Write(appmodel.Roles{Frontend: "frontend"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Object.Spec.Frontend.Routes; r == nil || len(*r) != 0 {
		t.Errorf("the frontend has %v beside another component with /", r)
	}
	if err := app.AddRoute(&app.Components[2], "/"); err == nil {
		t.Error("a path leads to two components")
	}
}

func TestWrite_RefusesAnApplicationWithoutComponents(t *testing.T) {
	app := shop()
	app.Components = nil
	if _, err := app.Write(appmodel.Roles{}, ""); err == nil ||
		!strings.Contains(err.Error(), "needs a Service, a Worker, a Job or a CronJob") {
		t.Errorf("%v", err)
	}
	if _, err := shop().Write(appmodel.Roles{Backend: "nightly"}, ""); err == nil || !strings.Contains(err.Error(), `"nightly" is a CronJob`) {
		t.Errorf("%v", err)
	}
	if _, err := shop().Write(appmodel.Roles{Backend: "none"}, ""); err == nil ||
		!strings.Contains(err.Error(), `--backend: there is no component "none"`) {
		t.Errorf("%v", err)
	}
}

func TestWrite_IsDeterministic(t *testing.T) {
	text := func() []byte {
		app := shop()
		app.Components[0].Spec.Env = nil // the test adds them from a map
		app.Notes = nil
		m, err := app.Write(appmodel.Roles{}, ", from a file")
		if err != nil {
			t.Fatal(err)
		}
		return m.Text
	}
	first := text()
	for range 10 {
		if again := text(); !bytes.Equal(first, again) {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}

func TestNextCommands_CreateWhatTheManifestNeeds(t *testing.T) {
	app := shop()
	app.Namespace = "team-a"
	app.AddVariable(app.Component("api"), appmodel.Variable{At: "x", Name: "DB_PASSWORD", Value: "x"})
	app.AddEnvFile(app.Component("api"), "x", "my env/.env", false)
	m, err := app.Write(appmodel.Roles{}, "")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(m.NextCommands("shop.yaml"), "\n")
	for _, want := range []string{"create namespace team-a\n", "create namespace shop-dev\n",
		"generic api-env -n shop-dev --from-literal=DB_PASSWORD=…", "-n shop-dev --from-env-file='my env/.env'",
		"monitor ncap/shop-dev -n team-a"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
