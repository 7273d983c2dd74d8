// SPDX-License-Identifier: Apache-2.0

package compose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/compose"
)

func read(t *testing.T, text string, o compose.Options) *appmodel.App {
	t.Helper()
	o.Name = "compose.yaml"
	app, err := compose.Read([]byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// component returns a component of a file.
func component(t *testing.T, app *appmodel.App, name string) *appmodel.Component {
	t.Helper()
	c := app.Component(name)
	if c == nil {
		t.Fatalf("there is no component %s: %+v", name, app.Components)
	}
	return c
}

func variables(c *appmodel.Component) map[string]string {
	out := map[string]string{}
	for _, e := range c.Spec.Env {
		if out[e.Name] = e.Value; e.ValueFrom != nil {
			out[e.Name] = "Secret " + e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
		}
	}
	return out
}

// noted requires a note at a place with a text.
func noted(t *testing.T, app *appmodel.App, at, text string) {
	t.Helper()
	var all []string
	for _, n := range app.Notes {
		if strings.Contains(n.At, at) && strings.Contains(n.String(), text) {
			return
		}
		all = append(all, n.String())
	}
	t.Errorf("no note at %q says %q:\n%s", at, text, strings.Join(all, "\n"))
}

const application = `
name: Chatty App
x-defaults: &defaults
  restart: unless-stopped
  environment: &variables
    LOG_LEVEL: info
    RETRIES: 3
    DEBUG: false
    RATIO: 0.5
    EMPTY:
services:
  web:
    build: {context: ./web, target: prod}
    ports: ["127.0.0.1:3000:3000"]
    environment: [API=http://api:8000, "TITLE=Chatty = chat"]
    depends_on: [api]
  api:
    <<: *defaults
    image: ghcr.io/example/api:${TAG:-1.4.2}
    ports: ["8000-8002:8000-8002", "5353:53/udp"]
    env_file: [.env, {path: config/local.env, required: false}]
    environment:
      <<: *variables
      LOG_LEVEL: debug
      OPENAI_API_KEY: ${OPENAI_API_KEY}
      DATABASE: postgresql://app:letmein@db:5432/app
      CACHE: redis://redis:6379/0
      AWS_REGION: eu-west-1
      AWS_SECRET_ACCESS_KEY: abc
      UNSET: ${NOWHERE}
    volumes: ["./data:/data", {type: tmpfs, target: /tmp}, "models:/models"]
    tmpfs: [/var/cache]
    user: "1000:2000"
    read_only: true
    platform: linux/arm64
    stop_grace_period: 1m30s
    secrets: [license_key]
    deploy:
      replicas: 3
      resources:
        limits: {cpus: "0.5", memory: 512M}
        reservations: {memory: 256m, devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}
  worker:
    <<: *defaults
    image: ghcr.io/example/api:1.4.2
    command: celery -A app worker
    network_mode: host
    privileged: true
    sysctls: {net.core.somaxconn: 1024}
  debugger:
    image: ghcr.io/example/debugger:1
    profiles: [debug]
  db: {image: "pgvector/pgvector:pg16", environment: {POSTGRES_PASSWORD: topsecretvalue}}
  redis: {image: "redis:7"}
  storage: {image: minio/minio}
  aws: {image: localstack/localstack, environment: [SERVICES=sqs]}
volumes: {models: {}}
networks: {default: , inner: {internal: true}}
secrets: {license_key: {file: ./license.txt}}
`

func TestRead_TakesOverWhatACapabilityCanExpress(t *testing.T) {
	app := read(t, application, compose.Options{})
	if app.Name != "Chatty App" || len(app.Components) != 3 || app.Region != "eu-west-1" {
		t.Errorf("%+v", app)
	}
	api := component(t, app, "api").Spec
	if api.Image != "ghcr.io/example/api:1.4.2" || *api.Port != 8000 || *api.Replicas != 3 || *api.TerminationGracePeriodSeconds != 90 {
		t.Errorf("%+v", api)
	}
	if q := api.Resources; q.Limits.Cpu().String() != "500m" || q.Limits.Memory().String() != "512Mi" ||
		q.Requests.Memory().String() != "256Mi" {
		t.Errorf("%+v", q)
	}
	if gpus := api.Resources.Limits[corev1.ResourceName("nvidia.com/gpu")]; gpus.String() != "1" {
		t.Errorf("%s GPUs", gpus.String())
	}
	if c := api.SecurityContext; *c.RunAsUser != 1000 || *c.RunAsGroup != 2000 || !*c.ReadOnlyRootFilesystem {
		t.Errorf("%+v", c)
	}
	if v := api.ScratchVolumes; len(v) != 2 || v[0].MountPath != "/tmp" || v[1].MountPath != "/var/cache" {
		t.Errorf("%+v", v)
	}
	if api.NodeSelector["kubernetes.io/arch"] != "arm64" {
		t.Errorf("%v", api.NodeSelector)
	}
	if c := component(t, app, "worker"); c.Type != appmodel.TypeWorker || c.Spec.Port != nil ||
		!slices.Equal(c.Spec.Args, []nexusv1.CommandArgument{"celery", "-A", "app", "worker"}) || c.Spec.Command != nil {
		t.Errorf("%+v", c)
	}
	if c := component(t, app, "web"); c.Type != appmodel.TypeService || c.Built != "./web" || !c.Published {
		t.Errorf("%+v", c)
	}
}

func TestRead_MergesAnchorsAndWritesNoSecret(t *testing.T) {
	app := read(t, application, compose.Options{})
	got := variables(component(t, app, "api"))
	for name, want := range map[string]string{
		"LOG_LEVEL": "debug", "RETRIES": "3", "DEBUG": "false", "RATIO": "0.5", "OPENAI_API_KEY": "Secret api-env/OPENAI_API_KEY",
		"DATABASE": "Secret api-env/DATABASE", "CACHE": "redis://redis:6379/0",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	for _, name := range []string{"AWS_REGION", "AWS_SECRET_ACCESS_KEY", "UNSET", "EMPTY"} {
		if _, has := got[name]; has {
			t.Errorf("%s is there: %q", name, got[name])
		}
	}
	if web := variables(component(t, app, "web")); web["TITLE"] != "Chatty = chat" {
		t.Errorf("%v", web)
	}
	from := component(t, app, "api").Spec.EnvFrom
	if len(from) != 2 || from[0].SecretRef.Name != "app-env-file" || from[1].SecretRef.Optional == nil ||
		from[1].SecretRef.Name != "config-local-env-file" {
		t.Errorf("%+v", from)
	}
	for _, n := range app.Notes {
		for _, secret := range []string{"letmein", "topsecretvalue", "abc"} {
			if strings.Contains(n.String(), secret) {
				t.Errorf("a note has a secret: %s", n)
			}
		}
	}
}

func TestRead_NotesEverythingElseWithItsField(t *testing.T) {
	app := read(t, application, compose.Options{})
	for at, text := range map[string]string{
		"services.web.depends_on":              "until it reaches api",
		"services.web":                         "nexusctl build app",
		"services.api.ports[0]":                "of the range, port 8000",
		"services.api.ports[1]":                "not over udp",
		"services.api.env_file[0]":             "Secret app-env-file",
		"services.api.environment.DATABASE":    "its value is not written",
		"services.api.environment.UNSET":       "NOWHERE has no value",
		"services.api.volumes[0]":              "./data:/data is not carried over",
		"services.api.volumes[2]":              "models:/models is not carried over",
		"services.api.secrets[0]":              "AWS Secrets Manager",
		"services.api.environment.AWS_REGION":  "region",
		"services.worker.network_mode":         "pods have their own network",
		"services.worker.privileged":           "Pod Security restricted",
		"services.worker.sysctls":              "Pod Security restricted",
		"services.debugger.profiles":           "--compose-profile",
		"services.db":                          "RDSInstance",
		"services.redis":                       "cache cluster of AWS",
		"services.storage":                     "dataServices.s3",
		"services.aws":                         "AWS: declare the stores",
		"compose.yaml:57: volumes.models":      "pods of a capability keep no files",
		"networks.inner":                       "security.intents",
		"secrets.license_key":                  "nexusctl secrets set",
		"services.web.environment[0]":          "",
		"services.api.environment.AWS_SECRET_": "credentials of the role",
	} {
		if text != "" {
			noted(t, app, at, text)
		}
	}
	if len(app.Buckets) != 1 || len(app.Queues) != 1 || len(app.Secrets) != 1 || app.Secrets[0].Name != "license-key" {
		t.Errorf("%v %v %v", app.Buckets, app.Queues, app.Secrets)
	}
}

func TestRead_SelectsProfilesAndKeepsStores(t *testing.T) {
	app := read(t, application, compose.Options{Profiles: []string{"debug"}, Keep: []string{"redis"}})
	component(t, app, "debugger")
	component(t, app, "redis")
}

func TestRead_TakesVariablesOfTheEnvFile(t *testing.T) {
	text := "services: {api: {image: 'api:$TAG', environment: {MODE: '${MODE?needed}', KEY: '${PLAIN}', USER: '${DB_PASSWORD}x', SELF: , TAKEN: '${MISSING-${MODE}}'}, healthcheck: {test: 'check ${DB_PASSWORD}'}}}"
	app := read(t, text,
		compose.Options{Variables: compose.Variables("# comment\nTAG=v1 # first\nexport MODE='fast'\nDB_PASSWORD=hunter\nPLAIN=\"x\"\nSELF=me\n")})
	c := component(t, app, "api")
	got := variables(c)
	if c.Spec.Image != "api:v1" || got["MODE"] != "fast" || got["USER"] != "Secret api-env/USER" || got["SELF"] != "me" ||
		got["TAKEN"] != "fast" || got["KEY"] != "Secret api-env/KEY" {
		t.Errorf("%s %v", c.Spec.Image, got)
	}
	if c.Spec.Probes != nil {
		t.Errorf("a probe has a secret: %+v", c.Spec.Probes)
	}
	noted(t, app, "services.api.healthcheck", "may have a secret")
}

func TestRead_TurnsHealthchecksIntoProbes(t *testing.T) {
	for check, want := range map[string]func(p *nexusv1.ProbesSpec) bool{
		`{test: "curl -f http://localhost:8000/healthz?deep=1", interval: 10s, timeout: 3s, retries: 5}`: func(p *nexusv1.ProbesSpec) bool {
			r := p.Readiness
			return r.HTTPGet.Path == "/healthz?deep=1" && r.HTTPGet.Port.IntValue() == 8000 && r.PeriodSeconds == 10 && r.TimeoutSeconds == 3 &&
				r.FailureThreshold == 5 && p.Startup == nil
		},
		`{test: [CMD-SHELL, "wget -q --spider http://127.0.0.1/ || exit 1"], start_period: 1m}`: func(p *nexusv1.ProbesSpec) bool {
			return p.Liveness.HTTPGet.Port.IntValue() == 80 && p.Startup.FailureThreshold == 5
		},
		`{test: [CMD, node, health.js]}`:                                        func(p *nexusv1.ProbesSpec) bool { return len(p.Readiness.Exec.Command) == 2 },
		`{test: pg_isready -p 5432}`:                                            func(p *nexusv1.ProbesSpec) bool { return p.Readiness.Exec.Command[0] == "/bin/sh" },
		`{test: curl -f http://localhost:8000/a && curl -f http://localhost/b}`: func(p *nexusv1.ProbesSpec) bool { return p.Readiness.Exec != nil },
		`{test: "curl -f http://localhost:8000/a | grep ok"}`:                   func(p *nexusv1.ProbesSpec) bool { return p.Readiness.Exec != nil },
		`{test: [NONE]}`:  func(p *nexusv1.ProbesSpec) bool { return p == nil },
		`{disable: true}`: func(p *nexusv1.ProbesSpec) bool { return p == nil },
		`{test: [CMD, redis-cli, -a, letmein, ping]}`:     func(p *nexusv1.ProbesSpec) bool { return p == nil },
		`{test: mysqladmin ping -pletmein}`:               func(p *nexusv1.ProbesSpec) bool { return p == nil },
		`{test: curl -u admin:letmein http://localhost/}`: func(p *nexusv1.ProbesSpec) bool { return p == nil },
	} {
		app := read(t, "services: {api: {image: api, healthcheck: "+check+"}}", compose.Options{})
		if p := component(t, app, "api").Spec.Probes; !want(p) {
			t.Errorf("%s: %+v", check, p)
		}
	}
}

func TestRead_RefusesBrokenFilesWithTheirField(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "compose.yaml is empty",
		"services: [":                    "compose.yaml: line 1",
		"services: {}":                   "services: the file has no service",
		"services: {a: {build: .}, b: }": "services.b: the service has no fields",
		"services:\n  a:\n    image: x\n    image: y\n":                      "line 4",
		"services: &a {b: *a}":                                               "compose.yaml: ",
		"services: [a]":                                                      "compose.yaml:1: services: must be a mapping",
		"services: {a: {image: 'A B'}}":                                      "services.a.image: \"A B\" is no image",
		"services: {a: {image: '${X}'}}":                                     "services.a.image: the image names X, which has no value",
		"services: {a: {image: '${X'}}":                                      "no closing brace",
		"services: {a: {image: x, ports: [http]}}":                           "services.a.ports[0]: \"http\" is no port",
		"services: {a: {image: x, ports: ['9-8']}}":                          "is no range of ports",
		"services: {a: {image: x, ports: [{published: 80}]}}":                "services.a.ports[0]: a port needs target",
		"services: {a: {image: x, ports: 80}}":                               "services.a.ports: must be a list",
		"services: {a: {image: x, environment: [[1]]}}":                      "services.a.environment[0]: must be a text",
		"services: {a: {image: x, environment: {A: {}}}}":                    "services.a.environment.A: the value of a variable",
		"services: {a: {image: x, environment: 3}}":                          "services.a.environment: must be a mapping",
		"services: {a: {image: x, depends_on: [b]}}":                         "services.a.depends_on: there is no service \"b\"",
		"services: {a: {image: x, healthcheck: {test: [curl]}}}":             "services.a.healthcheck.test: must begin with NONE",
		"services: {a: {image: x, healthcheck: {interval: 10}}}":             "services.a.healthcheck.interval: \"10\" is no duration",
		"services: {a: {image: x, mem_limit: lots}}":                         "services.a.mem_limit: \"lots\" is no size",
		"services: {a: {image: x, deploy: {resources: {limits: {cpus: x}}}}": "compose.yaml: ",
		"services: {a: {image: x, deploy: {replicas: -1}}}":                  "services.a.deploy.replicas: \"-1\" is no number of replicas",
		"services: {a: {image: x, extends: b}}":                              "docker compose config",
		"include: [other.yaml]\nservices: {a: {image: x}}":                   "include: is not read",
		"service: {}\nservices: {a: {image: x}}":                             "service: is no field of a Compose file",
		"services: {db: {image: postgres}}":                                  "name those to run with --keep",
		"services: {a: {image: x}}\n---\nservices: {}":                       "has several documents",
		"services: {a: {image: x, tmpfs: 'tmp'}}":                            "services.a.tmpfs: \"tmp\" is no path",
	} {
		app, err := compose.Read([]byte(text), compose.Options{Name: "compose.yaml"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\n%+v", text, err, app)
		}
	}
	if _, err := compose.Read([]byte("services: {a: {image: x}}"), compose.Options{Name: "compose.yaml", Keep: []string{"b"}}); err == nil ||
		!strings.Contains(err.Error(), "--keep") {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(application, "TAG=1\nDB_PASSWORD=x")
	f.Add("services: {a: {image: 'x:$T', ports: ['1-2:3-4/tcp', {target: 1}], <<: [{build: .}]}}", "T=$T")
	f.Fuzz(func(t *testing.T, text, env string) {
		app, err := compose.Read([]byte(text), compose.Options{Name: "compose.yaml", Variables: compose.Variables(env)})
		if (err == nil) != (app != nil) {
			t.Errorf("%v %v", app, err)
		}
	})
}

func TestRead_TakesOverCommands(t *testing.T) {
	const file = "services: {a: {image: a, %s}}"
	for text, want := range map[string]string{
		`command: python -m "my app" --name='x y' a\ b`: `[] ["python" "-m" "my app" "--name=x y" "a b"]`,
		`command: ["sh", "-c", "echo $$(date) $$HOME"]`: `[] ["sh" "-c" "echo $$(date) $HOME"]`,
		`entrypoint: /entry.sh, command: [serve, 8080]`: `["/entry.sh"] ["serve" "8080"]`,
		`command: null`: `[] []`,
	} {
		c := component(t, read(t, fmt.Sprintf(file, text), compose.Options{}), "a")
		if got := fmt.Sprintf("%q %q", c.Spec.Command, c.Spec.Args); got != want {
			t.Errorf("%s gives %s, not %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`command: serve --token letmein`:               "it may have a secret",
		`entrypoint: []`:                               "is empty and not carried over",
		`entrypoint: ""`:                               "is empty and not carried over",
		`command: ["a\tb\u0007"]`:                      "control characters",
		`command: [` + strings.Repeat("x, ", 65) + `]`: "at most 64 words",
	} {
		app := read(t, fmt.Sprintf(file, text), compose.Options{})
		if c := component(t, app, "a"); len(c.Spec.Command)+len(c.Spec.Args) > 0 {
			t.Errorf("%s gives %q %q", text, c.Spec.Command, c.Spec.Args)
		}
		at, _, _ := strings.Cut(text, ":")
		noted(t, app, "services.a."+at, want)
	}
	if _, err := compose.Read([]byte(fmt.Sprintf(file, `command: "say 'hello"`)), compose.Options{Name: "compose.yaml"}); err == nil ||
		!strings.Contains(err.Error(), "services.a.command: the command has a quote that is not closed") {
		t.Errorf("%v", err)
	}
}
