package apply_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestACreatedChildIsMarkedAsItsOwners(t *testing.T) {
	b := newBed(t)
	writes := b.writes()
	r := b.apply(b.configMap("a", "k", "v"), apply.Created)
	writes(1)
	live := b.live(apply.RefOf(r.Live))
	if live.GetLabels()[apply.LabelOwnerUID] != string(b.owner.UID) {
		t.Errorf("the labels are %v", live.GetLabels())
	}
	if c := metav1.GetControllerOf(live); c == nil || c.UID != b.owner.UID || c.Name != b.owner.Name {
		t.Errorf("it is controlled by %v", c)
	}
	if a := live.GetAnnotations(); a[apply.AnnotationOwner] != b.owner.String() || a[apply.AnnotationHash] == "" {
		t.Errorf("the annotations are %v", a)
	}
	for _, m := range live.GetManagedFields() {
		if m.Manager != apply.FieldOwner || m.Operation != metav1.ManagedFieldsOperationApply {
			t.Errorf("fields are managed by %s (%s)", m.Manager, m.Operation)
		}
	}
}

// The objects of the tables are spelled as people spell them: with empties that the server drops,
// quantities that it normalises, and without everything that it defaults.
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
			c.Namespace, c.Spec.Environment = b.ns, "e"+strings.TrimPrefix(b.ns, "t-") // a namespace of its own
			b.create(c)
			b.owner = apply.Owner{Kind: nexusv1.GroupVersion.WithKind("NexusAICapability"), Namespace: b.ns, Name: c.Name, UID: c.UID}
			g, err := capability.Compile(c, capability.Facts{Region: "eu-central-1", Account: "123456789012", Partition: "aws", ClusterID: "c"})
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

func TestAHandEditIsHealedAndReported(t *testing.T) {
	b := newBed(t)
	desired := b.manifest("%s", spelled["a Deployment"])
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) {
		containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["image"] = "evil:1"
		_ = unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers")
		unstructured.RemoveNestedField(u.Object, "spec", "template", "spec", "automountServiceAccountToken")
		u.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "nexus-operator", "theirs": "x"})
		u.SetOwnerReferences(nil)
	})
	b.caughtUp(ref)
	b.refused(desired, "not made by this operator") // neither label nor reference is left: it cannot be told from anybody's
	b.edit(ref, func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{apply.LabelOwnerUID: string(b.owner.UID), "app.kubernetes.io/managed-by": "nexus-operator", "theirs": "x"})
	})
	b.caughtUp(ref)
	writes := b.writes()
	r := b.apply(desired, apply.Updated)
	writes(1)
	for _, path := range []string{"spec.template.spec.containers[app].image", "spec.template.spec.automountServiceAccountToken", "metadata.labels.app", "metadata.ownerReferences[" + string(b.owner.UID) + "]"} {
		if !contains(" "+paths(r.Drift)+" ", " "+path+" ") {
			t.Errorf("the drift is at %s, expected also %s", paths(r.Drift), path)
		}
	}
	live := b.live(ref)
	containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	if containers[0].(map[string]any)["image"] != "app:1" || metav1.GetControllerOf(live) == nil || live.GetLabels()["theirs"] != "x" {
		t.Errorf("the containers are %v, the controller %v, the labels %v", containers, metav1.GetControllerOf(live), live.GetLabels())
	}
	b.caughtUp(ref)
	b.apply(desired, apply.Unchanged)
}

func TestAHandEditOfWhatIsDesiredEmptyIsHealed(t *testing.T) {
	set := func(v any, path ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(u.Object, v, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		desired string
		edit    func(*unstructured.Unstructured)
		drift   string
	}{
		"a denying policy opened":    {"a denying policy", set([]any{map[string]any{}}, "spec", "ingress"), "spec.ingress"},
		"a policy for all narrowed":  {"a network policy", set(map[string]any{"a": "b"}, "spec", "podSelector", "matchLabels"), "spec.podSelector.matchLabels"},
		"a rule for all narrowed":    {"a network policy", set([]any{map[string]any{}, map[string]any{"from": []any{map[string]any{"podSelector": map[string]any{}}}}}, "spec", "ingress"), "spec.ingress[0].ports spec.ingress[1].from"},
		"rules cleared by hand":      {"an S3Bucket", func(u *unstructured.Unstructured) { unstructured.RemoveNestedField(u.Object, "spec", "lifecycleRules") }, "spec.lifecycleRules"},
		"an empty value set by hand": {"a ConfigMap", set("x", "data", "A"), "data.A"},
		"a node selector added":      {"a Deployment", set("b", "spec", "template", "spec", "nodeSelector", "a"), "spec.template.spec.nodeSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			desired := b.manifest("%s", spelled[tc.desired])
			ref := b.given(desired)
			b.edit(ref, tc.edit)
			b.caughtUp(ref)
			if r := b.apply(desired, apply.Updated); paths(r.Drift) != tc.drift {
				t.Errorf("the drift is at %q, expected %q", paths(r.Drift), tc.drift)
			}
			b.caughtUp(ref)
			if p, err := b.Plan(t.Context(), b.owner, desired); err != nil || len(p.Differences) > 0 {
				t.Errorf("still different at %s (%v)", paths(p.Differences), err)
			}
		})
	}
}

func TestWhatAPersonAddsElsewhereStays(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, "x", "data", "theirs") })
	b.caughtUp(ref)
	b.apply(desired, apply.Unchanged)
	b.apply(b.configMap("a", "k", "v2"), apply.Updated)
	if data, _, _ := unstructured.NestedStringMap(b.live(ref).Object, "data"); data["theirs"] != "x" || data["k"] != "v2" {
		t.Errorf("the data are %v", data)
	}
}

func TestAFieldThatIsNoLongerDesiredIsRemoved(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v", "old", "x"))
	writes := b.writes()
	r := b.apply(b.configMap("a", "k", "v"), apply.Updated)
	writes(1)
	if len(r.Drift) > 0 {
		t.Errorf("our own change is reported as drift at %s", paths(r.Drift))
	}
	if data, _, _ := unstructured.NestedStringMap(b.live(ref).Object, "data"); len(data) != 1 || data["k"] != "v" {
		t.Errorf("the data are %v", data)
	}
	b.caughtUp(ref)
	b.apply(b.configMap("a", "k", "v"), apply.Unchanged)
}

func TestReplicasThatAreNotDesiredAreLeftToTheAutoscaler(t *testing.T) {
	b := newBed(t)
	desired := b.manifest("%s", spelled["a Deployment"])
	unstructured.RemoveNestedField(desired.Object, "spec", "replicas")
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, int64(3), "spec", "replicas")
	})
	b.caughtUp(ref)
	b.apply(desired, apply.Unchanged)
	if n, _, _ := unstructured.NestedInt64(b.live(ref).Object, "spec", "replicas"); n != 3 {
		t.Errorf("%d replicas", n)
	}
}

func TestAForeignObjectIsRefusedAndUntouched(t *testing.T) {
	b := newBed(t)
	other := b.newOwner("other")
	meta := func(name string, labels map[string]string, refs ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: b.ns, Name: name, Labels: labels, OwnerReferences: refs}
	}
	managed := map[string]string{"app.kubernetes.io/managed-by": "nexus-operator"} // in the cache
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: other.Name, UID: other.UID, Controller: new(true)}
	for why, m := range map[string]metav1.ObjectMeta{
		"it was not made by this operator":  meta("persons", nil),
		"not made by this operator; delete": meta("lookalike", managed),
		"controlled by ConfigMap/other":     meta("others", managed, ref),
		"with UID 1234":                     meta("labelled", map[string]string{apply.LabelOwnerUID: "1234"}),
	} {
		o := &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"k": "theirs"}}
		b.create(o)
		b.refused(b.configMap(o.Name, "k", "v"), why)
		if live := b.live(apply.RefOf(b.configMap(o.Name))); live.GetResourceVersion() != o.ResourceVersion {
			t.Errorf("%s was written", o.Name)
		}
	}
	ns := object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.namespace()})
	b.refused(ns, "not made by this operator")
	for _, name := range []string{"kube-system", "default", "nexus-system"} {
		ns.SetName(name)
		b.refused(ns, "of the cluster or of the operator")
	}
	in := b.configMap("a")
	in.SetNamespace("kube-system")
	b.refused(in, "of the cluster or of the operator")
}

func TestANamespaceIsClaimedByCreatingIt(t *testing.T) {
	b := newBed(t)
	ns := object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.ns + "-app"})
	b.Cleanup(func() { _ = b.person.Delete(context.Background(), ns) })
	ref := b.given(ns)
	b.apply(ns, apply.Unchanged)
	there := b.configMap("a", "k", "v")
	there.SetNamespace(ns.GetName())
	r := b.apply(there, apply.Created)
	if len(r.Live.GetOwnerReferences()) > 0 {
		t.Errorf("an owner reference crosses namespaces: %v", r.Live.GetOwnerReferences())
	}
	b.caughtUp(apply.RefOf(there))
	b.apply(there, apply.Unchanged)

	rival := b.newOwner("rival")
	_, err := b.Apply(t.Context(), rival, ns)
	if s, ok := status.AsStalled(err); !ok || !contains(s.Message, "belongs to "+b.owner.String()) {
		t.Errorf("the rival got %v", err)
	}
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetLabels(nil) }) // out of the cache, and nothing says it is ours
	b.leftTheCache(ref)
	b.refused(ns, "not made by this operator")
}

func TestAChildThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"test.io/hold"}) })
	if err := b.person.Delete(t.Context(), object(ref)); err != nil {
		t.Fatal(err)
	}
	b.caughtUp(ref)
	writes := b.writes()
	b.waits(desired, "held by [test.io/hold]")
	writes(0)
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	b.caughtUp(ref)
	b.apply(desired, apply.Created)
}

func TestAChildWithoutANamespaceToLiveInIsWaitedFor(t *testing.T) {
	b := newBed(t)
	lost := b.configMap("a")
	lost.SetNamespace(b.ns + "-nowhere")
	b.waits(lost, "namespace "+b.ns+"-nowhere to exist")

	dying := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	b.create(dying)
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: dying.Name, Name: "holder", Finalizers: []string{"test.io/hold"}}}
	b.create(holder)
	b.Cleanup(func() {
		holder.Finalizers = nil
		_ = b.person.Update(context.Background(), holder)
	})
	if err := b.person.Delete(t.Context(), dying); err != nil {
		t.Fatal(err)
	}
	b.eventually("the namespace refuses creates", func() bool {
		err := b.person.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: dying.Name, GenerateName: "x-"}})
		return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	})
	lost.SetNamespace(dying.Name)
	b.waits(lost, "namespace "+dying.Name+" to be gone")
}

func TestWhatTheServerRefusesIsForAPersonToMend(t *testing.T) {
	b := newBed(t)
	stalled := func(desired *unstructured.Unstructured, reason, part string) {
		t.Helper()
		_, err := b.Apply(t.Context(), b.owner, desired)
		if s, ok := status.AsStalled(err); !ok || s.Reason != reason || !contains(s.Message, part) {
			t.Errorf("applying %s: %v, expected %s with %q", apply.RefOf(desired), err, reason, part)
		}
	}
	stalled(b.manifest(`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 99999}]}}`), status.ReasonInvalidSpec, "spec.ports[0].port")
	stalled(b.manifest(`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: many}}`), status.ReasonInvalidSpec, "ports")
	d := b.manifest("%s", spelled["a Deployment"])
	twice := parse(t, strings.Replace(spelled["a Deployment"], "{name: POD,", "{name: A, value: twice}, {name: POD,", 1))
	twice.SetNamespace(b.ns)
	stalled(twice, status.ReasonInvalidSpec, `duplicate entries for key [name="A"]`)
	b.given(d)
	_ = unstructured.SetNestedField(d.Object, "other", "spec", "selector", "matchLabels", "app")
	_ = unstructured.SetNestedField(d.Object, "other", "spec", "template", "metadata", "labels", "app")
	stalled(d, status.ReasonInvalidSpec, "immutable")

	weak, err := b.w.UserConfig("weak-" + b.ns)
	if err != nil {
		t.Fatal(err)
	}
	b.Client = b.clientFor(weak)
	b.Live = b.person
	b.Client = stale{Client: b.Client, ref: apply.RefOf(b.configMap("a"))}
	stalled(b.configMap("a"), status.ReasonAccessDenied, "cannot patch resource")

	b.Client = b.cached
	b.waits(b.manifest(`{apiVersion: kyverno.io/v1, kind: Policy, metadata: {name: web}}`), "kind Policy.kyverno.io to be installed")
}

func TestManyWorkersMayApplyAtOnce(t *testing.T) {
	b := newBed(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 6 {
				if _, err := b.Apply(t.Context(), b.owner, b.configMap(fmt.Sprint("c", (i+j)%4), "k", "v")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	children, err := b.Children(t.Context(), b.owner, kinds("v1/ConfigMap"))
	if err != nil || len(children) > 4 {
		t.Errorf("children %v, %v", children, err)
	}
}

func TestIncompleteOwnersAndChildrenAreRefused(t *testing.T) {
	b := newBed(t)
	nobody := b.owner
	nobody.UID = "" // would match every object without a label
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "theirs"}}
	b.create(o)
	ref := apply.RefOf(b.configMap("theirs"))
	writes := b.writes()
	if _, err := b.Apply(t.Context(), nobody, b.configMap("theirs")); err == nil {
		t.Error("an owner without a UID applied")
	}
	if _, err := b.Delete(t.Context(), nobody, ref); err == nil {
		t.Error("an owner without a UID deleted")
	}
	if err := b.Orphan(t.Context(), nobody, ref); err == nil {
		t.Error("an owner without a UID orphaned")
	}
	if _, err := b.Children(t.Context(), nobody, kinds("v1/ConfigMap")); err == nil {
		t.Error("an owner without a UID has children")
	}
	if _, err := b.Apply(t.Context(), b.owner, b.configMap("")); err == nil {
		t.Error("a child without a name was applied")
	}
	if _, err := b.Delete(t.Context(), b.owner, apply.Ref{Namespace: b.ns, Name: "theirs"}); err == nil {
		t.Error("a child without a kind was deleted")
	}
	writes(0)
}
