// SPDX-License-Identifier: Apache-2.0

package workloads_test

import (
	"slices"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/workloads"
)

const manifests = `
# Source: shop/templates/api.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop-api, labels: {app.kubernetes.io/instance: shop}}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: api, tier: back}}
    spec:
      serviceAccountName: shop
      hostNetwork: true
      terminationGracePeriodSeconds: 45
      imagePullSecrets: [{name: registry}]
      nodeSelector: {disk: ssd}
      tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaces: [other], labelSelector: {matchLabels: {a: b}}}]}}
      topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: api}}}]
      securityContext: {runAsUser: 1000, fsGroup: 2000}
      initContainers: [{name: migrate, image: "api:1"}]
      volumes: [{name: tmp, emptyDir: {}}, {name: settings, configMap: {name: shop-files}}]
      containers:
        - name: api
          image: registry.example/api:1.2.3
          args: [serve]
          ports: [{name: metrics, containerPort: 9090}, {name: http, containerPort: 8000}]
          env:
            - {name: LOG_LEVEL, value: info}
            - {name: JWT_SECRET, value: do-not-write-me}
            - {name: MODE, valueFrom: {configMapKeyRef: {name: shop-config, key: mode}}}
            - {name: ELSEWHERE, valueFrom: {configMapKeyRef: {name: elsewhere, key: a}}}
            - {name: DB_URL, valueFrom: {secretKeyRef: {name: shop-secret, key: url}}}
            - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
            - {name: CACHE, value: "redis://shop-redis:6379"}
          envFrom: [{configMapRef: {name: shop-config}}, {secretRef: {name: shop-secret}}]
          readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 5}
          livenessProbe: {exec: {command: [check, --token, letmein]}}
          startupProbe: {tcpSocket: {port: http}, failureThreshold: 30}
          resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}
          securityContext: {readOnlyRootFilesystem: true, privileged: true, capabilities: {add: [SYS_ADMIN, NET_BIND_SERVICE]}}
          volumeMounts: [{name: tmp, mountPath: /tmp}, {name: settings, mountPath: /etc/shop}]
        - {name: proxy, image: "envoy:1"}
---
# Source: shop/templates/service.yaml
apiVersion: v1
kind: Service
metadata: {name: shop-api}
spec: {type: NodePort, selector: {app: api}, ports: [{port: 80, targetPort: http}, {port: 9090}]}
---
# Source: shop/templates/web.yaml
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: shop-web, labels: {app.kubernetes.io/component: web}}
spec:
  selector: {matchLabels: {app: web}}
  volumeClaimTemplates: [{metadata: {name: data}}]
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.example/web:1", ports: [{containerPort: 3000}]}]}
---
# Source: shop/templates/web.yaml
apiVersion: v1
kind: Service
metadata: {name: shop-web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 3000}]}
---
# Source: shop/templates/worker.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop-worker, labels: {app.kubernetes.io/instance: shop}}
spec: {selector: {matchLabels: {app: worker}}, template: {metadata: {labels: {app: worker}}, spec: {containers: [{name: w, image: "registry.example/api:1.2.3", command: [worker, "--token=$(TOKEN)"]}]}}}
---
# Source: shop/templates/cron.yaml
apiVersion: batch/v1
kind: CronJob
metadata: {name: shop-cleanup, labels: {app.kubernetes.io/instance: shop}}
spec: {schedule: "0 3 * * *", concurrencyPolicy: Replace, timeZone: Asia/Singapore, suspend: true, jobTemplate: {spec: {parallelism: 2, backoffLimit: 1, activeDeadlineSeconds: 600, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/api:1.2.3"}]}}}}}
---
# Source: shop/templates/redis.yaml
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: shop-redis}
spec: {template: {metadata: {labels: {app: redis}}, spec: {containers: [{name: redis, image: "docker.io/bitnami/redis:7.4"}]}}}
---
# Source: shop/templates/redis.yaml
apiVersion: v1
kind: Service
metadata: {name: shop-redis}
spec: {selector: {app: redis}, ports: [{port: 6379}]}
---
# Source: shop/templates/ingress.yaml
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}}
spec:
  tls: [{hosts: [shop.example.com], secretName: shop-tls}]
  rules:
    - host: shop.example.com
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop-web, port: {number: 80}}}}, {path: /api, pathType: Prefix, backend: {service: {name: shop-api, port: {number: 80}}}}, {path: /x, pathType: Prefix, backend: {service: {name: nowhere, port: {number: 80}}}}]}
    - {host: other.example.com}
---
# Source: shop/templates/scale.yaml
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: shop-api}
spec: {scaleTargetRef: {kind: Deployment, name: shop-api}, minReplicas: 2, maxReplicas: 6, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}, {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 70}}}]}
---
# Source: shop/templates/pdb.yaml
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: shop-api}
spec: {minAvailable: 50%, selector: {matchLabels: {app: api}}}
---
# Source: shop/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: shop-config}
data: {mode: fast, REGION_NAME: eu, API_TOKEN: letmein-too}
---
# Source: shop/templates/secret.yaml
apiVersion: v1
kind: Secret
metadata: {name: shop-secret}
stringData: {url: "postgres://a:letmein@db/x", other: letmein}
---
# Source: shop/templates/monitor.yaml
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: shop}
---
# Source: shop/templates/tests/test.yaml
apiVersion: v1
kind: Pod
metadata: {name: shop-test, annotations: {helm.sh/hook: test}}
spec: {containers: [{name: t, image: busybox}]}
`

func read(t *testing.T, text string, o workloads.Options) *appmodel.App {
	t.Helper()
	o.Name = "shop"
	app, err := workloads.Read(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func TestRead_TakesOverWhatACapabilityCanExpress(t *testing.T) {
	app := read(t, manifests, workloads.Options{})
	var names []string
	for _, c := range app.Components {
		names = append(names, c.Name+" "+string(c.Type))
	}
	if got := strings.Join(names, ", "); got != "api Service, cleanup CronJob, web Service, worker Worker" {
		t.Fatal(got)
	}
	c := app.Component("api")
	s := c.Spec
	if s.Image != "registry.example/api:1.2.3" || *s.Port != 8000 || *s.Replicas != 3 || *s.TerminationGracePeriodSeconds != 45 ||
		s.NodeSelector["disk"] != "ssd" || len(s.Tolerations) != 1 || s.Affinity != nil ||
		len(s.TopologySpreadConstraints) != 1 || s.ImagePullSecrets[0].Name != "registry" || len(s.ScratchVolumes) != 1 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.Args, []nexusv1.CommandArgument{"serve"}) || s.Command != nil ||
		!slices.Equal(app.Component("worker").Spec.Command, []nexusv1.CommandArgument{"worker", "--token=$(TOKEN)"}) {
		t.Errorf("%q %q %q", s.Command, s.Args, app.Component("worker").Spec.Command)
	}
	if j := app.Component("cleanup"); j.TimeZone != "Asia/Singapore" || j.ConcurrencyPolicy != "Replace" || *j.BackoffLimit != 1 ||
		*j.ActiveDeadlineSeconds != 600 {
		t.Errorf("%+v", j)
	}
	if x := s.SecurityContext; *x.RunAsUser != 1000 || *x.FSGroup != 2000 || !*x.ReadOnlyRootFilesystem || len(x.Capabilities.Add) != 1 {
		t.Errorf("%+v", x)
	}
	if p := s.Probes; p.Readiness.HTTPGet.Port.IntValue() != 8000 || p.Liveness != nil || p.Startup.FailureThreshold != 30 {
		t.Errorf("%+v", p)
	}
	if a := s.Autoscaling; *a.Min != 2 || a.Max != 6 || *a.TargetCPU != 70 || s.PDB.MinAvailable.String() != "50%" {
		t.Errorf("%+v %+v", a, s.PDB)
	}
	if c.Routes[0] != "/api" || app.Component("web").Routes[0] != "/" || app.Ingress.Host != "shop.example.com" ||
		app.Component("cleanup").Schedule != "0 3 * * *" {
		t.Errorf("%+v", app)
	}
}

func TestRead_WritesSettingsAndNoSecret(t *testing.T) {
	app := read(t, manifests, workloads.Options{})
	got := map[string]string{}
	for _, e := range app.Component("api").Spec.Env {
		switch {
		case e.ValueFrom == nil:
			got[e.Name] = e.Value
		case e.ValueFrom.SecretKeyRef != nil:
			got[e.Name] = "Secret " + e.ValueFrom.SecretKeyRef.Name
		case e.ValueFrom.ConfigMapKeyRef != nil:
			got[e.Name] = "ConfigMap " + e.ValueFrom.ConfigMapKeyRef.Name
		default:
			got[e.Name] = e.ValueFrom.FieldRef.FieldPath
		}
	}
	for name, want := range map[string]string{"LOG_LEVEL": "info", "JWT_SECRET": "Secret api-env", "MODE": "fast",
		"ELSEWHERE": "ConfigMap elsewhere", "DB_URL": "Secret shop-secret", "POD": "metadata.name",
		"REGION_NAME": "eu", "API_TOKEN": "Secret api-env"} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	for _, n := range app.Notes {
		if strings.Contains(n.String(), "letmein") || strings.Contains(n.String(), "do-not-write-me") {
			t.Errorf("a note has a secret: %s", n)
		}
	}
	if len(app.Needs) != 4 {
		t.Errorf("%+v", app.Needs)
	}
}

func TestRead_NotesEverythingElseWithItsField(t *testing.T) {
	app := read(t, manifests, workloads.Options{})
	var all strings.Builder
	for _, n := range app.Notes {
		all.WriteString(n.String() + "\n")
	}
	const api = "shop/templates/api.yaml: Deployment shop-api: spec."
	for _, want := range []string{
		api + "strategy: is not carried over", api + "template.spec.hostNetwork: is not", api + "template.spec.initContainers: is not",
		api + "template.spec.serviceAccountName: is not",
		api + "template.spec.affinity: is not", api + "template.spec.containers: container proxy (1)",
		api + "template.spec.containers[0].ports[0]: 9090 is not",
		api + "template.spec.containers[0].env[6]: CPUS is not",
		api + "template.spec.containers[0].livenessProbe: is not carried over: its command may have a secret",
		api + "template.spec.containers[0].volumeMounts[1]: settings at /etc/shop",
		api + "template.spec.containers[0].securityContext.privileged: is not", "capabilities.add[0]: is not",
		"StatefulSet shop-web: spec.volumeClaimTemplates: is not", "StatefulSet shop-web: becomes a component without stable names",
		"CronJob shop-cleanup: spec.suspend: is not", "CronJob shop-cleanup: spec.jobTemplate.spec.parallelism: is not",
		"StatefulSet shop-redis: image redis becomes no component", "Service shop-api: spec.type: NodePort is not",
		"Service shop-api: spec.ports[1]: 9090 is not", "Ingress shop: metadata.annotations: are not",
		"Ingress shop: spec.tls: is not", "Ingress shop: spec.rules[0].http.paths[2]: is not",
		"Ingress shop: spec.rules[1].host: other.example.com", "HorizontalPodAutoscaler shop-api: spec.metrics[1]: is not",
		"Secret shop-secret: is not carried over", "ServiceMonitor shop: is not", "Pod shop-test: is not",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if strings.Contains(all.String(), "ConfigMap shop-config") {
		t.Error("a ConfigMap whose values are carried over has a note")
	}
	if t.Failed() {
		t.Log(all.String())
	}
}

func TestRead_KeepsAStoreThatIsNamed(t *testing.T) {
	if app := read(t, manifests, workloads.Options{Keep: []string{"shop-redis"}}); app.Component("shop-redis") == nil {
		t.Errorf("%+v", app.Components)
	}
}

func TestRead_RefusesBrokenManifestsWithTheirField(t *testing.T) {
	deployment := func(spec string) string {
		return "# Source: shop/templates/a.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: " + spec
	}
	for text, want := range map[string]string{
		"":                            "has no Deployment",
		"a: [":                        "shop: document 1: ",
		"a: b":                        "an object needs apiVersion and kind",
		deployment("{}"):              "shop/templates/a.yaml: Deployment a: spec: the workload has no template",
		deployment("{replicas: two}"): "Deployment a: spec",
		deployment("{replicas: two, template: {spec: {containers: [{name: a, image: a}]}}}"):  "Deployment a: spec",
		deployment("{replicas: -2, template: {spec: {containers: [{name: a, image: a}]}}}"):   "spec.replicas: -2 is no number of replicas",
		deployment("{template: {spec: {containers: []}}}"):                                    "spec.template.spec.containers: the pods have no container",
		deployment("{template: {spec: {containers: [{name: a, image: 'A B'}]}}}"):             "containers[0].image: \"A B\" is no image",
		deployment("{template: {spec: {containers: [{name: a, image: a, env: {}}]}}}"):        "spec.template.spec",
		deployment("{template: {spec: {containers: [{name: a, image: 'docker.io/redis'}]}}}"): "that becomes a component",
	} {
		if app, err := workloads.Read(text, workloads.Options{Name: "shop"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\n%+v", text, err, app)
		}
	}
	if _, err := workloads.Read(manifests, workloads.Options{Name: "shop", Keep: []string{"x"}}); err == nil ||
		!strings.Contains(err.Error(), "--keep") {
		t.Errorf("%v", err)
	}
}
