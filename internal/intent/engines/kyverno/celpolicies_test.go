// SPDX-License-Identifier: Apache-2.0

package kyverno_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	podsecurityapi "k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kyverno"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// inCEL is a cluster that serves policies in CEL, in the versions given, and kyverno.io/v1 where old.
func inCEL(old bool, versions ...string) intent.Served {
	return func(k schema.GroupVersionKind) bool {
		if k.Group == "kyverno.io" {
			return old
		}
		return k.Group == "policies.kyverno.io" && strings.Contains(strings.Join(versions, " ")+" ", k.Version+" ")
	}
}

func TestPoliciesInCELAreExactlyTheseAndAccepted(t *testing.T) {
	for _, id := range []string{"escapeToHost", "cocoWorkload"} {
		var out strings.Builder
		for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
			for _, s := range scopes() {
				fmt.Fprintf(&out, "### %s, %s\n", action, s.name)
				tr := intent.Translate(kyverno.New(), s.policy(rule(id, action)), intent.Facts{OperatorNamespace: "nexus-system"}, true,
					inCEL(false, "v1"))
				out.WriteString(render(t, tr))
				for _, o := range tr.Objects {
					stored, problem := enginecrds.Admit(t, o)
					if want, got := fmt.Sprint(o.Object["spec"]), fmt.Sprint(stored.Object["spec"]); problem != "" || want != got {
						t.Errorf("%s is stored as %s: %s", want, got, problem)
					}
				}
			}
		}
		golden.Check(t, "cel-"+strings.ToLower(id)+".yaml", out.String())
	}
}

func TestTheServedVersionOfKyvernoIsUsed(t *testing.T) {
	for name, tc := range map[string]struct {
		served intent.Served
		want   string
	}{
		"kyverno.io alone":       {inCEL(true), "kyverno.io/v1"},
		"both":                   {inCEL(true, "v1"), "policies.kyverno.io/v1"},
		"every version":          {inCEL(false, "v1", "v1beta1", "v1alpha1"), "policies.kyverno.io/v1"},
		"the versions before v1": {inCEL(false, "v1beta1", "v1alpha1"), "policies.kyverno.io/v1beta1"},
		"the first version":      {inCEL(false, "v1alpha1"), "policies.kyverno.io/v1alpha1"},
		"neither":                {inCEL(false), ""},
	} {
		tr := intent.Translate(kyverno.New(), policy(rule("escapeToHost", v1alpha1.Block)), intent.Facts{}, true, tc.served)
		got := ""
		for _, o := range tr.Objects {
			got = o.GetAPIVersion()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, tc.want, tr.Claims)
		}
	}
}

// allowed evaluates a policy in CEL for a pod, as Kyverno does.
func allowed(t *testing.T, policy *unstructured.Unstructured, pod *corev1.Pod) (bool, string) {
	t.Helper()
	env, err := cel.NewEnv(cel.OptionalTypes(), cel.Variable("object", cel.DynType),
		cel.Variable("variables", cel.MapType(cel.StringType, cel.DynType)))
	if err != nil {
		t.Fatal(err)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]any{}
	eval := func(expression string) any {
		ast, issues := env.Compile(expression)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", expression, issues.Err())
		}
		program, err := env.Program(ast)
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := program.Eval(map[string]any{"object": object, "variables": variables})
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		return out.Value()
	}
	entries := func(field string) []any {
		list, _, _ := unstructured.NestedSlice(policy.Object, "spec", field)
		return list
	}
	for _, v := range entries("variables") {
		variables[v.(map[string]any)["name"].(string)] = eval(v.(map[string]any)["expression"].(string))
	}
	for _, v := range entries("validations") {
		if eval(v.(map[string]any)["expression"].(string)) != true {
			return false, v.(map[string]any)["message"].(string)
		}
	}
	return true, ""
}

// hardened is a pod that meets the standard restricted.
func hardened() *corev1.Pod {
	yes, no := true, false
	c := corev1.Container{Name: "c", Image: "i", SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Annotations: map[string]string{"a": "b"}},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{c}, InitContainers: []corev1.Container{*c.DeepCopy()},
		}}
}

func TestPoliciesInCELAgreeWithPodSecurity(t *testing.T) {
	yes, root, unmasked := true, int64(0), corev1.UnmaskedProcMount
	edits := map[string]func(*corev1.Pod){
		"nothing":         func(*corev1.Pod) {},
		"no contexts":     func(p *corev1.Pod) { p.Spec.SecurityContext, p.Spec.Containers[0].SecurityContext = nil, nil },
		"hostNetwork":     func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		"hostPID":         func(p *corev1.Pod) { p.Spec.HostPID = true },
		"hostIPC":         func(p *corev1.Pod) { p.Spec.HostIPC = true },
		"privileged":      func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.Privileged = &yes },
		"privileged init": func(p *corev1.Pod) { p.Spec.InitContainers[0].SecurityContext.Privileged = &yes },
		"SYS_ADMIN": func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
		},
		"CHOWN": func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"CHOWN"}
		},
		"NET_BIND_SERVICE": func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
		},
		"nothing dropped": func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.Capabilities = nil },
		"hostPath": func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		},
		"emptyDir": func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		},
		"nfs": func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}}}
		},
		"hostPort": func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		},
		"containerPort": func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}} },
		"probe of a host": func(p *corev1.Pod) {
			p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "10.0.0.1"}}}
		},
		"probe": func(p *corev1.Pod) {
			p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}
		},
		"hook of a host": func(p *corev1.Pod) {
			p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Host: "h"}}}
		},
		"AppArmor off": func(p *corev1.Pod) {
			p.Spec.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
		},
		"AppArmor annotated off": func(p *corev1.Pod) { p.Annotations["container.apparmor.security.beta.kubernetes.io/c"] = "unconfined" },
		"AppArmor annotated":     func(p *corev1.Pod) { p.Annotations["container.apparmor.security.beta.kubernetes.io/c"] = "localhost/x" },
		"SELinux type":           func(p *corev1.Pod) { p.Spec.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t"} },
		"SELinux user":           func(p *corev1.Pod) { p.Spec.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{User: "u"} },
		"SELinux level": func(p *corev1.Pod) {
			p.Spec.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Type: "container_t", Level: "s0"}
		},
		"procMount": func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.ProcMount = &unmasked },
		"seccomp off": func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
		},
		"no seccomp": func(p *corev1.Pod) { p.Spec.SecurityContext.SeccompProfile = nil },
		"sysctl":     func(p *corev1.Pod) { p.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "kernel.msgmax"}} },
		"safe sysctl": func(p *corev1.Pod) {
			p.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.tcp_syncookies"}}
		},
		"escalation":   func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = &yes },
		"root allowed": func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsNonRoot = nil },
		"root":         func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsUser = &root },
		"HostProcess": func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.WindowsOptions = &corev1.WindowsSecurityContextOptions{HostProcess: &yes}
		},
	}
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []podsecurityapi.Level{podsecurityapi.LevelBaseline, podsecurityapi.LevelRestricted} {
		r := rule("escapeToHost", v1alpha1.Block)
		r.Params = map[string][]string{"psaLevel": {string(level)}}
		tr := intent.Translate(kyverno.New(), policy(r), intent.Facts{}, true, inCEL(false, "v1"))
		for name, edit := range edits {
			pod := hardened()
			edit(pod)
			want := podsecurity.AggregateCheckResults(evaluator.EvaluatePod(podsecurityapi.LevelVersion{Level: level,
				Version: podsecurityapi.LatestVersion()}, &pod.ObjectMeta, &pod.Spec))
			if got, why := allowed(t, tr.Objects[0], pod); got != want.Allowed {
				t.Errorf("%s, %s: allowed is %t (%s), of Pod Security %t (%s)", level, name, got, why, want.Allowed, want.ForbiddenDetail())
			}
		}
	}
}
