// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
)

// initWith runs nexusctl init with a standard input.
func initWith(t *testing.T, in *os.File, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	p := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Getenv: func(string) string { return "" },
		Clock:     clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &o, ErrOut: &e}}
	if in != nil {
		p.In = in
	}
	code = p.Run(t.Context(), append([]string{"nexusctl", "init"}, args...))
	return o.String(), e.String(), code
}

const composeFile = `
services:
  web: {image: "registry.example/web:1", ports: ["3000:3000"], environment: {API_URL: "http://api:8000"}}
  api: {image: "registry.example/api:1", ports: ["8000:8000"], environment: {OPENAI_API_KEY: do-not-write-me, CACHE: "redis://redis:6379"}, volumes: ["./data:/data"]}
  redis: {image: "redis:7"}
`

// chart writes a Helm chart to a folder.
func chartFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: \"2.1.0\"\n",
		"values.yaml": "replicas: 1\npassword: do-not-write-me\n",
		"templates/all.yaml": `{{- range $name, $port := dict "web" 3000 "api" 8000 }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ $.Release.Name }}-{{ $name }}, labels: {app.kubernetes.io/instance: {{ $.Release.Name }}}}
spec:
  replicas: {{ $.Values.replicas }}
  template:
    metadata: {labels: {app: {{ $name }}}}
    spec:
      containers:
        - name: {{ $name }}
          image: registry.example/{{ $name }}:{{ $.Chart.AppVersion }}
          ports: [{containerPort: {{ $port }}}]
          env: [{name: DB_PASSWORD, value: {{ $.Values.password }}}]
---
{{- end }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestInit_WritesWhatAComposeFileDeclares(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "docker-compose.yaml"), filepath.Join(dir, "shop.yaml")
	if err := os.WriteFile(source, []byte(composeFile), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--from-compose", source, "--name", "shop", "--yes", "-o", target}
	if _, errs, code := initWith(t, nil, args...); code != 0 {
		t.Fatalf("%d %s", code, errs)
	} else {
		for _, want := range []string{
			"docker-compose.yaml:4: services.api.volumes[0]: ./data:/data is not carried over", "OPENAI_API_KEY may be a secret",
			"services.redis: image redis becomes no component",
			"written, and valid", "nexusctl validate -f " + target, "nexusctl plan -f " + target, "nexusctl deploy",
			"--from-literal=OPENAI_API_KEY=…", "kubectl apply -f " + target,
		} {
			if !strings.Contains(errs, want) {
				t.Errorf("nothing says %q:\n%s", want, errs)
			}
		}
	}
	first, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(first), "do-not-write-me") {
		t.Errorf("the manifest has a secret:\n%s", first)
	}
	for _, want := range []string{"services.api.volumes[0]: ./data:/data is not", "image redis becomes no component", "- name: web",
		"defaultSecrets: None", "value: http://shop-dev-api-svc:8000", "- path: /api"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("no comment says %q:\n%s", want, first)
		}
	}
	if _, errs, code := initWith(t, nil, args...); code != 2 || !strings.Contains(errs, "overwrite it with --force") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := initWith(t, nil, append(args, "--force")...); code != 0 {
		t.Errorf("%d %s", code, errs)
	}
	if second, err := os.ReadFile(target); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a second run writes something else: %v\n%s\n%s", err, first, second)
	}
	if out, errs, code := run(t, "validate", "-f", target); code != 0 || !strings.Contains(out, "shop-dev: valid") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if out, errs, code := run(t, "render", "-f", target); code != 0 || !strings.Contains(out, "registry.example/api:1") ||
		strings.Contains(out, "kind: SecretsManagerSecret") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestInit_RendersAChart(t *testing.T) {
	out, errs, code := initWith(t, nil, "--from-chart", chartFolder(t), "--set", "replicas=3", "--yes", "-o", "-")
	if code != 0 || strings.Contains(out, "do-not-write-me") || strings.Contains(errs, "do-not-write-me") {
		t.Fatalf("%d %s\n%s", code, errs, out)
	}
	for _, want := range []string{"image: registry.example/web:2.1.0", "replicas: 3", `version: "2.1.0"`,
		"PersistentVolumeClaim data: is not carried over", "name: shop-dev"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestInit_ReadsAComposeFileFromStandardInput(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close() })
	if _, err := write.WriteString(composeFile); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if out, errs, code := initWith(t, read, "--from-compose", "-", "--name", "shop", "-o", "-"); code != 0 ||
		!strings.Contains(out, "capabilityName: shop") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestInit_RefusesWithTheReasonAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := file("one.yaml", "services: {db: {image: postgres}}")
	broken := file("broken.yaml", "services: {a: {image: x, ports: [http]}}")
	target := filepath.Join(dir, "out.yaml")
	for want, args := range map[string][]string{
		"exclude each other":                            {"--from-compose", one, "--from-chart", dir},
		"reading the Compose file":                      {"--from-compose", filepath.Join(dir, "none")},
		"broken.yaml:1: services.a.ports[0]":            {"--from-compose", broken},
		"name those to run with --keep":                 {"--from-compose", one},
		"reading the chart":                             {"--from-chart", dir},
		"name images with --image NAME=IMAGE":           {"--name", "shop"},
		"--name: \"Shop\"":                              {"--name", "Shop"},
		"--keep names services of a Compose file":       {"--keep", "x"},
		"reading the variables of the Compose file":     {"--from-compose", broken, "--env-file", filepath.Join(dir, "none")},
		"the values of the chart":                       {"--from-chart", chartFolder(t), "--values", filepath.Join(dir, "none")},
		"\"x\"":                                         {"x"},
		"--set":                                         {"--set"},
		"--route: there is no component \"api\"":        {"--name", "shop", "--image", "web=a", "--route", "api=/"},
		"--output: name a file, or - for standard outp": {"--output", ""},
	} {
		_, errs, code := initWith(t, nil, append([]string{"-y", "-o", target}, args...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a refused application was written")
	}
}
