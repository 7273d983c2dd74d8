// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// assistantFile is the Compose file of an AI application, as teams run it on their machines.
const assistantFile = `
name: assistant
x-app: &app
  image: registry.example/assistant-api:2.0.1
  environment: &env
    LOG_LEVEL: info
    REDIS_URL: redis://redis:6379/0
    VECTORS_URL: http://qdrant:6333
    DATABASE_URL: postgresql://app:letmein@db:5432/app
services:
  web:
    image: registry.example/assistant-web:2.0.1
    ports: ["3000:3000"]
    environment: {API_URL: "http://api:8000", PUBLIC: true, RETRIES: 3}
    depends_on: [api]
  api:
    <<: *app
    ports: ["8000:8000"]
    environment: {<<: *env, OPENAI_API_KEY: "${OPENAI_API_KEY}"}
    healthcheck: {test: [CMD, curl, -f, "http://localhost:8000/healthz"], interval: 10s, start_period: 20s}
    deploy: {replicas: 2, resources: {limits: {cpus: "1", memory: 1G}}}
    tmpfs: /tmp
    user: "1000"
  worker: {<<: *app, command: [celery, worker]}
  redis: {image: "redis:7"}
  qdrant: {image: "qdrant/qdrant:v1.12.0", volumes: ["vectors:/qdrant/storage"]}
  db: {image: "postgres:17", environment: {POSTGRES_PASSWORD: letmein}}
  ollama: {image: ollama/ollama}
  storage: {image: minio/minio}
volumes: {vectors: }
`

// The API server accepts what init writes, with strict validation, and render shows its objects.
func TestInit_TheAPIServerAcceptsTheManifest(t *testing.T) {
	x := newTool(t)
	dir := t.TempDir()
	source, target := filepath.Join(dir, "compose.yaml"), filepath.Join(dir, "capability.yaml")
	if err := os.WriteFile(source, []byte(assistantFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"compose": {"--from-compose", source},
		"questions": {"--image", "frontend=registry.example/web:1", "--image", "backend=registry.example/api:1", "--table", "orders", "--bucket",
			"documents", "--queue", "jobs", "--topic", "events", "--secret", "smtp=user,password"},
	} {
		a := x.run("", append([]string{"init", "--yes", "--force", "--name", "written", "--namespace", x.Namespace, "-o", target}, args...)...)
		if a.code != 0 {
			t.Fatalf("%s: %d %s", name, a.code, a.err)
		}
		text, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "letmein") {
			t.Errorf("%s: the manifest has a secret:\n%s", name, text)
		}
		c := &nexusv1.NexusAICapability{}
		if err := yaml.UnmarshalStrict(text, c); err != nil {
			t.Fatal(err)
		}
		if err := x.Client.Create(t.Context(), c, client.DryRunAll,
			&client.CreateOptions{Raw: &metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}}); err != nil {
			t.Errorf("%s: the API server refuses it: %v\n%s", name, err, text)
		}
		if r := x.run("", "render", "-f", target); r.code != 0 || !strings.Contains(r.out, "kind: Deployment") {
			t.Errorf("%s: %d %s", name, r.code, r.err)
		}
	}
}
