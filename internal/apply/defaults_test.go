// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The objects of the tables are spelled as people spell them: with empties that the server drops,
// quantities that it normalizes, and without everything that it defaults.
var spelled = map[string]string{
	"a Deployment": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}}, spec: {
		replicas: 1, strategy: {}, selector: {matchLabels: {app: web}}, template: {
			metadata: {creationTimestamp: null, labels: {app: web}, annotations: {}}, spec: {
			serviceAccountName: "", nodeSelector: {}, imagePullSecrets: [], automountServiceAccountToken: false,
			securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
			tolerations: [{key: a, operator: Exists}],
			topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}],
			affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}},
			volumes: [{name: tmp, emptyDir: {}}, {name: cfg, configMap: {name: cfg, optional: true, items: [{key: a, path: a}]}}, {name: cache, emptyDir: {sizeLimit: 1024Mi}}],
			initContainers: [{name: init, image: "init:1", resources: {}}],
			containers: [
				{name: app, image: "app:1", env: [{name: EMPTY, value: ""}, {name: A, value: "1"}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1000m}}}],
				 envFrom: [{configMapRef: {name: cfg, optional: true}}], ports: [{name: http, containerPort: 8000}, {name: dns, containerPort: 8000, protocol: UDP}],
				 resources: {requests: {cpu: 0.5, memory: 1024Mi}, limits: {cpu: 1000m, memory: 1Gi}},
				 readinessProbe: {httpGet: {path: /health, port: http}}, livenessProbe: {tcpSocket: {port: 8000}, initialDelaySeconds: 0},
				 securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}, volumeMounts: [{name: tmp, mountPath: /tmp}, {name: cache, mountPath: /cache, readOnly: false}]},
				{name: side, image: "side:1", args: []}]}}}}`,
	"a Service":            `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}, {name: other, port: 81}]}}`,
	"a balanced Service":   `{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {x.io/scheme: internal}}, spec: {type: LoadBalancer, externalTrafficPolicy: Cluster, selector: {app: web}, ports: [{port: 80, targetPort: 8000}]}}`,
	"an Ingress":           `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: alb, tls: [], rules: [{host: "", http: {paths: [{path: /api, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}`,
	"a disruption budget":  `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}`,
	"an autoscaler":        `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}, {type: Pods, pods: {metric: {name: q}, target: {type: AverageValue, averageValue: 1000m}}}]}}`,
	"a network policy":     `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, ingress: [{from: [], ports: [{port: 80}]}, {}], policyTypes: [Ingress]}}`,
	"a denying policy":     `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: {}}, ingress: []}}`,
	"a ServiceAccount":     `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::123456789012:role/x"}}, automountServiceAccountToken: true}`,
	"a ConfigMap":          `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {A: "", B: "1000m"}}`,
	"an empty ConfigMap":   `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {}}`,
	"a CronJob":            `{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: "a:1", resources: {limits: {cpu: 1000m}}}]}}}}}}`,
	"an S3Bucket":          `{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: S3Bucket, metadata: {name: web}, spec: {providerRef: {name: p}, bucketName: web-bucket-1, lifecycleRules: [], tags: {}}}`,
	"a DynamoDBTable":      `{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: DynamoDBTable, metadata: {name: web}, spec: {providerRef: {name: p}, tableName: web, hashKey: {name: pk, type: S}, deletionPolicy: Retain}}`,
	"an AWSProvider":       `{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: AWSProvider, metadata: {name: web}, spec: {region: eu-central-1}}`,
	"an owned capability":  `{apiVersion: nexus.ai/v1, kind: NexusAICapability, metadata: {name: web}, spec: {capabilityName: web, environment: dev, version: "1", frontend: {image: "a:1"}, backend: {image: "b:1", resources: {limits: {cpu: 1000m}}}}}`,
	"a Job":                `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {ttlSecondsAfterFinished: 0, template: {spec: {restartPolicy: Never, containers: [{name: app, image: "a:1"}]}}}}`,
	"a role and a binding": `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: web}]}`,
}

func TestWhatTheServerDefaultedIsUnchangedOnTheSecondPass(t *testing.T) {
	extent.Full(t)
	for name, text := range spelled {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			desired := b.manifest("%s", text)
			b.apply(desired, apply.Created)
			b.caughtUp(apply.RefOf(desired))
			version := b.live(apply.RefOf(desired)).GetResourceVersion()
			writes := b.writes()
			r, err := b.Plan(t.Context(), b.owner, desired)
			if err != nil || len(r.Differences) > 0 {
				t.Fatalf("the live object differs at %s (%v)", paths(r.Differences), err)
			}
			b.apply(desired, apply.Unchanged)
			// An applier that has written nothing yet, as after a restart, and reads the other way round.
			fresh := &apply.Applier{Client: b.person, Live: b.person}
			if r, err := fresh.Apply(t.Context(), b.owner, desired); err != nil || r.Change != apply.Unchanged {
				t.Errorf("after a restart: %s, %v", r.Change, err)
			}
			writes(0)
			if live := b.live(apply.RefOf(desired)); live.GetResourceVersion() != version && live.GetGeneration() > 1 {
				t.Errorf("resourceVersion went from %s to %s", version, live.GetResourceVersion())
			}
		})
	}
}

// capabilities are the users' manifests, and one with as many options as possible.
func capabilities(t *testing.T) map[string]*nexusv1.NexusAICapability {
	t.Helper()
	out := map[string]*nexusv1.NexusAICapability{}
	for _, name := range []string{"test-capability", "nexus-ai-complete"} {
		c := &nexusv1.NexusAICapability{}
		if err := yaml.UnmarshalStrict(readFile(t, "../../examples/"+name+".yaml"), c); err != nil {
			t.Fatal(err)
		}
		out[name] = c
	}
	open := out["test-capability"].DeepCopy()
	open.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	out["without an Ingress"] = open
	return out
}

func TestEveryObjectOfACapabilityIsUnchangedOnTheSecondPass(t *testing.T) {
	for name, c := range capabilities(t) {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c.Namespace, c.Spec.Environment = b.ns, "e"+strings.TrimPrefix(b.ns, "t-") // its own namespace
			b.create(c)
			b.owner = apply.Owner{Kind: nexusv1.GroupVersion.WithKind("NexusAICapability"), Namespace: b.ns, Name: c.Name, UID: c.UID}
			facts := capability.Facts{Region: "eu-central-1"}
			facts.Provider.Account, facts.Provider.Partition, facts.Cluster.ID = "123456789012", "aws", "c"
			g, err := capability.Compile(c, facts)
			if err != nil {
				t.Fatal(err)
			}
			var applied []*unstructured.Unstructured
			for _, n := range g.Nodes() {
				if n.Unresolved != "" {
					continue
				}
				b.apply(n.Object, apply.Created)
				applied = append(applied, n.Object)
				if apply.RefOf(n.Object).Kind.Kind == "Namespace" {
					b.Cleanup(func() { _ = b.person.Delete(context.Background(), n.Object) })
				}
			}
			if len(applied) < 15 {
				t.Fatalf("only %d objects could be applied", len(applied))
			}
			for _, o := range applied {
				b.caughtUp(apply.RefOf(o))
			}
			writes := b.writes()
			for _, o := range applied {
				p, err := b.Plan(t.Context(), b.owner, o)
				if err != nil || len(p.Differences) > 0 {
					t.Errorf("%s differs at %s (%v)", apply.RefOf(o), paths(p.Differences), err)
				}
				b.apply(o, apply.Unchanged)
			}
			writes(0)
		})
	}
}
