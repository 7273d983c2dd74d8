// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// fieldGroup is a group of fields of a component, with an edit of its Deployment that contradicts them.
type fieldGroup struct {
	set   func(*nexusv1.ComponentSpec)
	drift func(*corev1.PodSpec)
}

var fieldGroups = map[string]fieldGroup{
	"environment": {func(c *nexusv1.ComponentSpec) {
		c.Env = []nexusv1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"},
			{Name: "TOKEN", ValueFrom: &nexusv1.EnvVarSource{SecretKeyRef: &nexusv1.EnvKeySelector{Name: "api", Key: "token"}}},
			{Name: "POD", ValueFrom: &nexusv1.EnvVarSource{FieldRef: &nexusv1.PodFieldSelector{FieldPath: "metadata.name"}}}}
		c.EnvFrom = []nexusv1.EnvFromSource{{Prefix: "FLAG_", ConfigMapRef: &nexusv1.EnvSourceReference{Name: "flags", Optional: new(true)}}}
		c.ImagePullSecrets = []nexusv1.ImagePullSecret{{Name: "registry"}}
	}, func(p *corev1.PodSpec) {
		p.Containers[0].Env = p.Containers[0].Env[:1]
		p.Containers[0].EnvFrom[0].Prefix = "OTHER_"
		p.ImagePullSecrets = nil
	}},
	"probes and placement": {func(c *nexusv1.ComponentSpec) {
		c.Probes = &nexusv1.ProbesSpec{
			Startup:   &nexusv1.Probe{GRPC: &nexusv1.GRPCProbe{}, FailureThreshold: 90},
			Liveness:  &nexusv1.Probe{Exec: &nexusv1.ExecProbe{Command: []nexusv1.CommandArgument{"/bin/check"}}},
			Readiness: &nexusv1.Probe{HTTPGet: &nexusv1.HTTPProbe{Path: "/ready", Port: new(intstr.FromInt32(9090))}, SuccessThreshold: 2},
		}
		c.TerminationGracePeriodSeconds = new(int64(90))
		c.NodeSelector = map[string]nexusv1.LabelValue{"kubernetes.io/os": "linux"}
		c.Tolerations = []nexusv1.Toleration{{Key: "dedicated", Value: "ai", Effect: "NoSchedule"}}
		c.Affinity = &nexusv1.AffinitySpec{PodAntiAffinity: &nexusv1.PodAffinity{Preferred: []nexusv1.PreferredPods{{Weight: 100, PodAffinityTerm: nexusv1.PodAffinityTerm{
			TopologyKey: "kubernetes.io/hostname", LabelSelector: nexusv1.PodSelector{MatchLabels: map[string]nexusv1.LabelValue{"app": "db"}}}}}}}
		c.TopologySpreadConstraints = []nexusv1.TopologySpread{{TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway", MaxSkew: 3}}
	}, func(p *corev1.PodSpec) {
		p.Containers[0].ReadinessProbe.HTTPGet.Path = "/"
		p.TerminationGracePeriodSeconds = new(int64(5))
		p.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight = 1
		p.Tolerations = nil
		p.TopologySpreadConstraints[0].MaxSkew = 1
	}},
	"security": {func(c *nexusv1.ComponentSpec) {
		c.SecurityContext = &nexusv1.SecurityContextSpec{RunAsUser: new(int64(10001)), FSGroup: new(int64(10001)), ReadOnlyRootFilesystem: new(true),
			Capabilities: &nexusv1.CapabilitiesSpec{Add: []nexusv1.LinuxCapability{"NET_BIND_SERVICE"}}}
		c.ScratchVolumes = []nexusv1.ScratchVolume{{Name: "tmp", MountPath: "/tmp"}, {Name: "cache", MountPath: "/cache", SizeLimit: new(resource.MustParse("1024Mi")), Medium: corev1.StorageMediumMemory}}
	}, func(p *corev1.PodSpec) {
		p.SecurityContext.RunAsUser = new(int64(7))
		p.Containers[0].SecurityContext.ReadOnlyRootFilesystem = new(false)
		p.Containers[0].SecurityContext.Capabilities.Add = append(p.Containers[0].SecurityContext.Capabilities.Add, "SYS_ADMIN")
		p.Volumes[0].EmptyDir.SizeLimit = new(resource.MustParse("9Gi"))
		p.Containers[0].VolumeMounts = p.Containers[0].VolumeMounts[:1]
	}},
}

func (b *bed) deployment(component string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-" + component}}
}

// Every field is created, kept, restored after another client changed it, and removed again without residue.
func TestFields_AreSetHealedAndUnset(t *testing.T) {
	extent.Full(t)
	for name, g := range fieldGroups {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c := b.capability()
			b.run(c)
			d := b.deployment("backend")
			b.read(d)
			plain := d.Spec.DeepCopy()

			b.edit(c, func() { g.set(&c.Spec.Backend.ComponentSpec) })
			b.run(c)
			b.read(d)
			declared := d.Spec.DeepCopy()
			if equality.Semantic.DeepEqual(declared.Template.Spec, plain.Template.Spec) {
				t.Fatal("the fields change nothing")
			}
			b.Reconciler = b.newReconciler()
			b.pass(c)
			if w := b.written(); len(w) > 0 {
				t.Errorf("a capability at rest writes %q", w)
			}

			b.edit(d, func() { g.drift(&d.Spec.Template.Spec) })
			b.pass(c)
			if events := b.emitted(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning DriftCorrected ") {
				t.Errorf("events %q", events)
			}
			if b.read(d); !equality.Semantic.DeepEqual(d.Spec.Template, declared.Template) {
				t.Errorf("after the drift: %+v\nwant %+v", d.Spec.Template, declared.Template)
			}

			b.edit(c, func() {
				c.Spec.Backend.ComponentSpec = nexusv1.ComponentSpec{Image: c.Spec.Backend.Image}
			})
			b.run(c)
			if b.read(d); !equality.Semantic.DeepEqual(d.Spec, *plain) {
				t.Errorf("after the fields were removed: %+v\nwant %+v", d.Spec, *plain)
			}
		})
	}
}

// capabilityIn returns a capability with workloads in its own namespace, or in one that is made for them.
func (b *bed) capabilityIn(own bool, edit func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	b.Helper()
	name := b.ns
	if own {
		b.ns += "-dev"
		b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.ns}})
	}
	return b.capability(func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = name }, edit)
}

// autoscaled fails unless a Deployment has a number of replicas, and another field manager than the operator's owns it.
func (b *bed) autoscaled(d *appsv1.Deployment, want int32) {
	b.Helper()
	if b.read(d); *d.Spec.Replicas != want {
		b.Errorf("%d replicas, want %d", *d.Spec.Replicas, want)
	}
	for _, m := range d.ManagedFields {
		if m.Manager == "nexus-operator" && strings.Contains(m.FieldsV1.GetRawString(), `"f:replicas"`) {
			b.Error("the operator owns the number of replicas")
		}
	}
}

// The autoscaler takes over the present number of replicas, keeps the number that it sets, and gives it back.
func TestFields_AutoscalerTakesAndReturnsReplicas(t *testing.T) {
	extent.Full(t)
	for name, own := range map[string]bool{"in the capability's namespace": true, "in a namespace that was made": false} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c := b.capabilityIn(own, func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Replicas = new(int32(5)) })
			b.run(c)
			at := metav1.ObjectMeta{Namespace: c.Spec.CapabilityName + "-dev", Name: c.Spec.CapabilityName + "-dev-backend"}
			d, h := &appsv1.Deployment{ObjectMeta: at}, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: at}

			b.edit(c, func() { c.Spec.Backend.Autoscaling = &nexusv1.AutoscalingSpec{Min: new(int32(3)), Max: 9} })
			b.run(c)
			b.autoscaled(d, 5)
			b.read(h)

			if err := b.person.SubResource("scale").Update(t.Context(), d, client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}})); err != nil {
				t.Fatal(err)
			}
			b.pass(c)
			if events, writes := b.emitted(), b.written(); len(events) > 0 || slices.ContainsFunc(writes, func(w string) bool { return strings.Contains(w, "Deployment") }) {
				t.Errorf("the autoscaler's number is taken for drift: %q, %q", events, writes)
			}
			b.edit(c, func() { c.Spec.Backend.Image = "registry.example/backend:2" })
			b.run(c)
			b.autoscaled(d, 7)

			b.edit(h, func() { h.Spec.MaxReplicas = 100 })
			b.pass(c)
			if b.read(h); h.Spec.MaxReplicas != 9 {
				t.Errorf("the autoscaler may set %d replicas", h.Spec.MaxReplicas)
			}

			b.edit(c, func() { c.Spec.Backend.Autoscaling = nil })
			b.run(c)
			if b.read(d); *d.Spec.Replicas != 5 || b.exists(h) {
				t.Errorf("%d replicas after autoscaling was removed; autoscaler %+v", *d.Spec.Replicas, h.Spec)
			}
		})
	}
}

func TestFields_AutoscalerStartsFromTheLeastNumber(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(func(c *nexusv1.NexusAICapability) {
		c.Spec.Backend.Replicas = new(int32(0))
		c.Spec.Frontend.Autoscaling = &nexusv1.AutoscalingSpec{Min: new(int32(3)), Max: 5}
	})
	b.run(c)
	b.edit(c, func() { c.Spec.Backend.Autoscaling = &nexusv1.AutoscalingSpec{Max: 4} })
	b.run(c)
	d := b.deployment("backend")
	if b.read(d); *d.Spec.Replicas != 2 { // an autoscaler leaves a Deployment without replicas alone
		t.Errorf("%d replicas at the hand-over", *d.Spec.Replicas)
	}
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: b.deployment("frontend").ObjectMeta}
	d = b.deployment("frontend")
	if b.read(d); *d.Spec.Replicas != 3 || !b.exists(h) {
		t.Errorf("a Deployment with an autoscaler starts with %d replicas", *d.Spec.Replicas)
	}
	b.removed(c)
}

func TestFields_DisruptionBudget(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(func(c *nexusv1.NexusAICapability) {
		c.Spec.Backend.PDB = &nexusv1.DisruptionBudgetSpec{MinAvailable: new(intstr.FromString("50%"))}
	})
	b.run(c)
	p := &policyv1.PodDisruptionBudget{ObjectMeta: b.deployment("backend").ObjectMeta}
	if b.read(p); p.Spec.MinAvailable.String() != "50%" || p.Spec.MaxUnavailable != nil {
		t.Fatalf("%+v", p.Spec)
	}
	b.edit(p, func() { p.Spec.MinAvailable = new(intstr.FromInt32(0)) })
	b.pass(c)
	if b.read(p); p.Spec.MinAvailable.String() != "50%" {
		t.Errorf("after the drift: %+v", p.Spec)
	}
	b.edit(c, func() { c.Spec.Backend.PDB = nil })
	b.run(c)
	if b.read(p); p.Spec.MinAvailable != nil || p.Spec.MaxUnavailable.String() != "1" {
		t.Errorf("by default: %+v", p.Spec)
	}
	b.edit(c, func() { c.Spec.Backend.PDB = &nexusv1.DisruptionBudgetSpec{Enabled: new(false)} })
	b.run(c)
	if b.exists(p) {
		t.Error("it is disabled and stays")
	}
}

func TestFields_ServiceOfALoadBalancer(t *testing.T) {
	extent.Full(t)
	const attributes, scheme = "service.beta.kubernetes.io/aws-load-balancer-attributes", "service.beta.kubernetes.io/aws-load-balancer-scheme"
	b := newBed(t)
	c := b.capability()
	b.run(c)
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-frontend-svc"}}
	b.read(s)
	plain := maps.Clone(s.Annotations)
	b.edit(c, func() {
		c.Spec.Frontend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Annotations: map[string]nexusv1.AnnotationValue{attributes: "a=b"}}
	})
	b.pass(c)
	b.read(s)
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}
	if err := b.person.Status().Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	b.run(c)
	b.edit(s, func() { s.Annotations[attributes], s.Annotations[scheme] = "c=d", "internet-facing" })
	b.pass(c)
	if b.read(s); s.Spec.Type != corev1.ServiceTypeLoadBalancer || s.Annotations[attributes] != "a=b" || s.Annotations[scheme] != "internal" {
		t.Errorf("%s: %+v", s.Spec.Type, s.Annotations)
	}
	b.edit(c, func() { c.Spec.Frontend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP} })
	b.run(c)
	b.read(s)
	if s.Spec.Type != corev1.ServiceTypeClusterIP || len(s.Annotations) > len(plain) {
		t.Errorf("after the fields were removed: %s %+v, want %+v", s.Spec.Type, s.Annotations, plain)
	}
}

// The example with every field runs, is at rest then, and leaves nothing behind.
func TestFields_FullReferenceRuns(t *testing.T) {
	b := newBed(t)
	text, err := os.ReadFile("../../../examples/full-reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &nexusv1.NexusAICapability{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		t.Fatal(err)
	}
	b.ns = c.Namespace
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.ns}}
	b.create(ns)
	b.Cleanup(func() {
		if err := b.person.Delete(b.ctx(), ns); err != nil {
			t.Error(err)
		}
	})
	b.create(c)
	b.eventually("every field to be in force", func() error {
		b.answer()
		b.answerOthers()
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		b.pass(c)
		if !c.Status.Ready {
			return errorf(c)
		}
		return nil
	})
	b.pass(c)
	b.written()
	b.Reconciler = b.newReconciler()
	b.pass(c)
	if w := b.written(); len(w) > 0 {
		t.Errorf("at rest it writes %q", w)
	}
	b.removed(c)
}

// answerOthers reports the load balancer and the policies of a namespace, as their controllers do.
func (b *bed) answerOthers() {
	b.Helper()
	ingresses, bindings := &networkingv1.IngressList{}, &intentv1alpha1.SecurityIntentBindingList{}
	if err := errors.Join(b.person.List(b.Context(), ingresses, client.InNamespace(b.ns)), b.person.List(b.Context(), bindings, client.InNamespace(b.ns))); err != nil {
		b.Fatal(err)
	}
	for _, i := range ingresses.Items {
		if len(i.Status.LoadBalancer.Ingress) == 0 {
			i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{Hostname: "lb.example.com"}}
			if err := b.person.Status().Update(b.Context(), &i); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, p := range bindings.Items {
		if status.ReadyAt(p.Status.Conditions, p.Generation) {
			continue
		}
		status.Summarize(&p.Status.Conditions, status.Result{Generation: p.Generation, Now: b.clock.Now()})
		status.Set(&p.Status.Conditions, p.Generation, b.clock.Now(), metav1.Condition{Type: intentv1alpha1.ConditionEnforced, Status: metav1.ConditionTrue, Reason: status.ReasonEnforced})
		if err := b.person.Status().Update(b.Context(), &p); err != nil {
			b.Fatal(err)
		}
	}
}

// removed deletes a capability and fails unless its autoscalers and disruption budgets go with it.
func (b *bed) removed(c *nexusv1.NexusAICapability) {
	b.Helper()
	in := c.Spec.CapabilityName + "-" + c.Spec.Environment
	if err := b.person.Delete(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	b.eventually("the capability to be gone", func() error {
		if _, err := b.reconcile(c); err != nil {
			return err
		}
		err := b.person.Get(b.Context(), client.ObjectKeyFromObject(c), c)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%v, %s", err, c.Status.Message)
	})
	for _, l := range []client.ObjectList{&autoscalingv2.HorizontalPodAutoscalerList{}, &policyv1.PodDisruptionBudgetList{}, &appsv1.DeploymentList{}} {
		if err := b.person.List(b.Context(), l, client.InNamespace(in)); err != nil || meta.LenList(l) > 0 {
			b.Errorf("left: %v, %+v", err, l)
		}
	}
}
