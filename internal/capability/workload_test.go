// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// componentFields are the groups of optional fields of a component.
var componentFields = []func(*nexusv1.ComponentSpec){setEnvironment, setPlacement, setSecurity, setScaling, setBalancer}

// setEnvironment sets every field of the environment of a component.
func setEnvironment(c *nexusv1.ComponentSpec) {
	c.Env = []nexusv1.EnvVar{
		{Name: "LOG_LEVEL", Value: "debug"}, {Name: "EMPTY"},
		{Name: "THEME", ValueFrom: &nexusv1.EnvVarSource{ConfigMapKeyRef: &nexusv1.EnvKeySelector{Name: "ui", Key: "theme", Optional: new(true)}}},
		{Name: "TOKEN", ValueFrom: &nexusv1.EnvVarSource{SecretKeyRef: &nexusv1.EnvKeySelector{Name: "api", Key: "token"}}},
		{Name: "POD", ValueFrom: &nexusv1.EnvVarSource{FieldRef: &nexusv1.PodFieldSelector{FieldPath: "metadata.labels['app.kubernetes.io/name']"}}},
	}
	c.EnvFrom = []nexusv1.EnvFromSource{
		{ConfigMapRef: &nexusv1.EnvSourceReference{Name: "flags"}},
		{Prefix: "DB_", SecretRef: &nexusv1.EnvSourceReference{Name: "db", Optional: new(true)}},
	}
	c.ImagePullSecrets = []nexusv1.ImagePullSecret{{Name: "registry"}}
}

// setPlacement sets the probes of a component and every field that says where its pods run.
func setPlacement(c *nexusv1.ComponentSpec) {
	c.Probes = &nexusv1.ProbesSpec{
		Startup:   &nexusv1.Probe{GRPC: &nexusv1.GRPCProbe{Service: "app"}, PeriodSeconds: 2, FailureThreshold: 90},
		Liveness:  &nexusv1.Probe{Exec: &nexusv1.ExecProbe{Command: []nexusv1.CommandArgument{"/bin/check", "--fast"}}, InitialDelaySeconds: 5},
		Readiness: &nexusv1.Probe{HTTPGet: &nexusv1.HTTPProbe{Path: "/ready", Port: new(intstr.FromInt32(9090)), Scheme: "HTTPS", HTTPHeaders: []nexusv1.HTTPHeader{{Name: "X-Probe", Value: "1"}}}, SuccessThreshold: 2, TimeoutSeconds: 3},
	}
	c.TerminationGracePeriodSeconds, c.DrainSeconds = new(int64(90)), new(int64(20))
	c.NodeSelector = map[string]nexusv1.LabelValue{"kubernetes.io/arch": "arm64"}
	c.Tolerations = []nexusv1.Toleration{{Key: "dedicated", Value: "ai", Effect: "NoSchedule"}, {Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(30))}}
	zone := nexusv1.NodeSelectorTerm{MatchExpressions: []nexusv1.NodeRequirement{{Key: "topology.kubernetes.io/zone", Operator: "In", Values: []nexusv1.LabelValue{"a", "b"}}}}
	c.Affinity = &nexusv1.AffinitySpec{
		NodeAffinity: &nexusv1.NodeAffinity{
			Required:  &nexusv1.NodeSelector{NodeSelectorTerms: []nexusv1.NodeSelectorTerm{zone}},
			Preferred: []nexusv1.PreferredNodes{{Weight: 5, Preference: zone}},
		},
		PodAffinity:     &nexusv1.PodAffinity{Required: []nexusv1.PodAffinityTerm{podTerm}},
		PodAntiAffinity: &nexusv1.PodAffinity{Preferred: []nexusv1.PreferredPods{{Weight: 100, PodAffinityTerm: podTerm}}},
	}
	c.TopologySpreadConstraints = []nexusv1.TopologySpread{{TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "DoNotSchedule", MaxSkew: 2, MinDomains: new(int32(3))}}
}

// setSecurity sets every field of the security of a component.
func setSecurity(c *nexusv1.ComponentSpec) {
	c.SecurityContext = &nexusv1.SecurityContextSpec{
		RunAsUser: new(int64(10001)), RunAsGroup: new(int64(10001)), FSGroup: new(int64(10001)), ReadOnlyRootFilesystem: new(true),
		RunAsNonRoot: new(true), AllowPrivilegeEscalation: new(false), Privileged: new(false),
		Capabilities:   &nexusv1.CapabilitiesSpec{Add: []nexusv1.LinuxCapability{"NET_BIND_SERVICE"}},
		SeccompProfile: &nexusv1.SeccompProfileSpec{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: "profiles/app.json"},
	}
	c.ScratchVolumes = []nexusv1.ScratchVolume{{Name: "tmp", MountPath: "/tmp"},
		{Name: "cache", MountPath: "/var/cache/app", SizeLimit: new(resource.MustParse("64Mi")), Medium: corev1.StorageMediumMemory}}
}

// setScaling sets every field that tells how many pods there are.
func setScaling(c *nexusv1.ComponentSpec) {
	c.Autoscaling = &nexusv1.AutoscalingSpec{Min: new(int32(3)), Max: 9, TargetCPU: new(int32(65))}
	c.PDB = &nexusv1.DisruptionBudgetSpec{MinAvailable: new(intstr.FromString("50%"))}
}

// setBalancer sets every field of a component's Service.
func setBalancer(c *nexusv1.ComponentSpec) {
	c.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Annotations: map[string]nexusv1.AnnotationValue{
		"service.beta.kubernetes.io/aws-load-balancer-attributes": "load_balancing.cross_zone.enabled=true",
	}}
}

// The pods of every legal capability pass the checks that the API server makes for Pod Security restricted.
func TestPods_MeetPodSecurityRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	rapid.Check(t, func(t *rapid.T) {
		for _, o := range ofKind(compile(t, anyCapability().Draw(t, "capability"), facts()), "Deployment") {
			d := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d); err != nil {
				t.Fatalf("%v", err)
			}
			for _, r := range evaluator.EvaluatePod(level, &d.Spec.Template.ObjectMeta, &d.Spec.Template.Spec) {
				if !r.Allowed {
					t.Fatalf("%s: %s: %s", o.GetName(), r.ForbiddenReason, r.ForbiddenDetail)
				}
			}
		}
	})
}

func TestPods_RunTheCommandThatIsDeclared(t *testing.T) {
	c := minimal()
	c.Spec.Backend.Command, c.Spec.Backend.Args = []nexusv1.CommandArgument{"/bin/serve"}, []nexusv1.CommandArgument{"--level", "$(LOG_LEVEL)", ""}
	got := map[string]corev1.Container{}
	for _, u := range ofKind(compile(t, c, facts()), "Deployment") {
		d := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
			t.Fatal(err)
		}
		got[d.Spec.Template.Spec.Containers[0].Name] = d.Spec.Template.Spec.Containers[0]
	}
	if b := got["backend"]; !slices.Equal(b.Command, []string{"/bin/serve"}) || !slices.Equal(b.Args, []string{"--level", "$(LOG_LEVEL)", ""}) {
		t.Errorf("%q %q", b.Command, b.Args)
	}
	if f := got["frontend"]; f.Command != nil || f.Args != nil {
		t.Errorf("a component without a command has %q %q", f.Command, f.Args)
	}
}

func TestPods_DrainBeforeTheyEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		drain, grace *int64
		noDrain      bool
		sleep, ends  int64
		cannot       bool
	}{
		"by default":                {nil, nil, false, 5, 35, false},
		"with a grace of its own":   {nil, new(int64(1)), false, 5, 6, false},
		"longer":                    {new(int64(20)), new(int64(90)), false, 20, 110, false},
		"switched off":              {new(int64(0)), nil, false, 0, 0, false},
		"switched off, with grace":  {new(int64(0)), new(int64(90)), false, 0, 90, false},
		"on a server without hooks": {nil, new(int64(90)), true, 0, 90, true},
		"off on such a server":      {new(int64(0)), nil, true, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, func(o *capability.Observed) {
				for _, s := range []*nexusv1.ComponentSpec{&o.Capability.Spec.Backend.ComponentSpec, &o.Capability.Spec.Frontend.ComponentSpec} {
					s.DrainSeconds, s.TerminationGracePeriodSeconds = tc.drain, tc.grace
				}
				o.Facts.Cluster.NoDrain = tc.noDrain
			})
			for _, u := range ofKind(compile(t, o.Capability, o.Facts), "Deployment") {
				d := &appsv1.Deployment{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
					t.Fatal(err)
				}
				pod, sleep := d.Spec.Template.Spec, int64(0)
				if l := pod.Containers[0].Lifecycle; l != nil {
					sleep = l.PreStop.Sleep.Seconds
				}
				if ends := ptr.Deref(pod.TerminationGracePeriodSeconds, 0); sleep != tc.sleep || ends != tc.ends {
					t.Errorf("%s sleeps %d s and ends within %d s", d.Name, sleep, ends)
				}
			}
			if st, _ := summary(o); strings.Contains(st.Message, "pods do not drain") != tc.cannot {
				t.Error(st.Message)
			}
		})
	}
}
