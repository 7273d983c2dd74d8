// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
)

func api(t *testing.T, objects ...client.Object) *fakeapi.API {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fakeapi.New(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...))
}

func TestReadCluster_GivesPoliciesTheFactsOfAutoMode(t *testing.T) {
	first := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
		Spec: corev1.ServiceSpec{ClusterIP: "10.100.0.1"}}
	auto := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto", Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}}
	got, err := ReadCluster(t.Context(), api(t, first, auto), Settings{DNSService: "kube-system/kube-dns"})
	if err != nil {
		t.Fatal(err)
	}
	var f intent.Facts
	got.AddTo(&f, "shop")
	if fmt.Sprint(f.DNS.Networks) != "[10.100.0.10/32]" || f.DNS.Problem != "" || len(f.Credentials) != 2 || !f.Enforcer.Off {
		t.Errorf("%+v", f)
	}
	c := api(t)
	c.Fail("get Service", errors.New("not now"))
	if _, err := ReadCluster(t.Context(), c, Settings{DNSService: "kube-system/kube-dns"}); err == nil {
		t.Error("a failed read is taken for an answer")
	}
}

func TestReadPatches_SaysWhichCatalogIsAtFault(t *testing.T) {
	catalogOf := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "patches"}, Data: map[string]string{PatchesKey: text}}
	}
	const entry = "version: 1\npatches: [{cve: CVE-2021-4034, description: d, references: ['https://example.com'], processes: [{path: /usr/bin/pkexec}]}]\n"
	for name, tc := range map[string]struct {
		flag            string
		objects         []client.Object
		reason, problem string
		known           int
	}{
		"no flag":      {"", nil, intent.ReasonCatalogMissing, "--virtual-patches", 0},
		"no ConfigMap": {"ops/patches", nil, intent.ReasonCatalogMissing, "ops/patches", 0},
		"no entry":     {"ops/patches", []client.Object{catalogOf("")}, intent.ReasonCatalogMissing, PatchesKey, 0},
		"a mistake": {"ops/patches", []client.Object{catalogOf(strings.Replace(entry, "CVE-2021-4034", "4034", 1))},
			intent.ReasonCatalogInvalid, "patches[0]", 0},
		"a catalog": {"ops/patches", []client.Object{catalogOf(entry)}, "", "", 1},
	} {
		got, err := ReadPatches(t.Context(), api(t, tc.objects...), tc.flag)
		if err != nil || got.Reason != tc.reason || !strings.Contains(got.Problem, tc.problem) || len(got.Known) != tc.known ||
			(got.Problem == "") != (tc.reason == "") {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestRunOf_ReadsHowAnAssessmentEnded(t *testing.T) {
	finished := metav1.NewTime(time.Unix(1000, 0))
	state := func(s corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "sidecar",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 9}}}, {Name: intent.AssessorContainer, State: s}}}
	}
	for name, tc := range map[string]struct {
		status           corev1.PodStatus
		failure, message string
	}{
		"it runs": {state(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), "", ""},
		"it ended well": {state(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "result",
			FinishedAt: finished}}), "", "result"},
		"it ended badly": {state(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled",
			Message: "part"}}), "exit code 137 (OOMKilled)", ""},
		"it is being started": {state(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}), "", ""},
		"no image, once": {state(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}),
			"cannot start (ImagePullBackOff)", ""},
		"no image, then later": {state(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}),
			"cannot start (ImagePullBackOff)", ""},
		"evicted": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, "it failed (Evicted)", ""},
	} {
		got := RunOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status})
		if (tc.failure == "") != (got.Failure == "") || !strings.Contains(got.Failure, tc.failure) || got.Message != tc.message ||
			(got.Message != "") != got.Finished.Equal(finished.Time) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestServicesIn_LeavesOutWhatIsNoPod(t *testing.T) {
	ports := []corev1.ServicePort{{Name: "a", Port: 443, Protocol: corev1.ProtocolTCP}, {Name: "b", Port: 53, Protocol: corev1.ProtocolUDP}}
	service := func(namespace, name string, kind corev1.ServiceType) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: corev1.ServiceSpec{Type: kind, Selector: map[string]string{"app": name}, Ports: ports}}
	}
	c := api(t, service("team", "web", corev1.ServiceTypeClusterIP), service("team", "elsewhere", corev1.ServiceTypeExternalName),
		service("other", "web", corev1.ServiceTypeClusterIP))
	got, err := ServicesIn(t.Context(), c, "team")
	want := []intent.Service{{Name: "web", Selector: map[string]string{"app": "web"}, Ports: []int32{443}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRunsOf_AreThoseOfThePolicy(t *testing.T) {
	pod := func(name, policy string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: labels,
			Annotations: map[string]string{intent.AnnotationPolicy: policy}}}
	}
	assessment := map[string]string{intent.LabelAssessment: intent.AssessmentTLS}
	c := api(t, pod("mine", "web", assessment), pod("another", "db", assessment), pod("unmarked", "web", nil))
	got, err := RunsOf(t.Context(), c, intent.Policy{Namespace: "team", Name: "web"})
	if err != nil || len(got) != 1 || got[0].Pod != "mine" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestEnabledEngines_RefusesUnknownNames(t *testing.T) {
	engines := catalog.Engines()
	one := strings.ToLower(engines[0].Name())
	got, err := EnabledEngines(engines, []string{one})
	if err != nil || len(got) != len(engines) {
		t.Fatalf("%v %v", got, err)
	}
	for i, e := range got {
		if e.Enabled != (i == 0) {
			t.Errorf("%s: enabled is %t", e.Name(), e.Enabled)
		}
	}
	if all, err := EnabledEngines(engines, []string{options.AllAdapters}); err != nil ||
		slices.ContainsFunc(all, func(e Engine) bool { return !e.Enabled }) {
		t.Errorf("%v %v", all, err)
	}
	if _, err := EnabledEngines(engines, []string{one, "no-such"}); err == nil ||
		!strings.Contains(err.Error(), `--adapters: "no-such" is not one of `+options.AllAdapters+", "+one) {
		t.Errorf("%v", err)
	}
}

func TestIsOfPolicy_KnowsItsOwnWithoutAnOwnerReference(t *testing.T) {
	p := &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "u1"}}
	marks, err := PolicyMarks(t.Context(), api(t, p), "team")
	if err != nil || !marks["u1"] || len(marks) != 2 {
		t.Fatalf("%v %v", marks, err)
	}
	owner := func(apiVersion string) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: "X", Name: "x", UID: "x", Controller: &yes}}
	}
	label := func(uid string) map[string]string { return map[string]string{wellknown.LabelPolicyOwner: uid} }
	for name, tc := range map[string]struct {
		meta        metav1.ObjectMeta
		mine, clear bool
	}{
		"controlled by a policy":             {metav1.ObjectMeta{OwnerReferences: owner(v1alpha1.GroupVersion.String())}, true, true},
		"controlled by another":              {metav1.ObjectMeta{OwnerReferences: owner("apps/v1"), Labels: label("u1")}, false, true},
		"unmarked":                           {metav1.ObjectMeta{}, false, true},
		"it lost its owner reference":        {metav1.ObjectMeta{Labels: label("u1")}, true, false},
		"marked by a policy that is no more": {metav1.ObjectMeta{Labels: label("u9")}, false, false},
	} {
		mine, clear, err := IsOfPolicy(&networkingv1.NetworkPolicy{ObjectMeta: tc.meta}, func() (map[string]bool, error) { return marks, nil })
		if err != nil || mine != tc.mine || clear != tc.clear {
			t.Errorf("%s: mine %t, clear %t, %v", name, mine, clear, err)
		}
	}
}

func TestAddedSwitches_AreThoseOfTheEnginesDomain(t *testing.T) {
	object := func(annotations map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("security.istio.io/v1")
		u.SetAnnotations(annotations)
		return u
	}
	want := object(map[string]string{"istio.io/ours": "1"})
	live := object(map[string]string{"istio.io/ours": "2", "istio.io/dry-run": "true", "sidecar.istio.io/x": "1", "notistio.io/y": "1",
		"dry-run": "1", "nexus.ai/owner": "a"})
	if got := AddedSwitches(want, live); !slices.Equal(got, []string{"istio.io/dry-run", "sidecar.istio.io/x"}) {
		t.Errorf("%q", got)
	}
	if IsSwitchedBy(networkingv1.GroupName, "policy.networking.k8s.io/x") {
		t.Error("Kubernetes' own NetworkPolicies are switched by nothing")
	}
}

func TestPolicies_AreShownInTheirKindAndScope(t *testing.T) {
	for namespace, kind := range map[string]string{"team": "NimbusPolicy", "": "ClusterNimbusPolicy"} {
		p := intent.Policy{Namespace: namespace, Name: "web"}
		m, err := ManifestOf(p)
		if err != nil || m.GetKind() != kind || m.GetNamespace() != namespace || m.GetName() != "web" {
			t.Errorf("%v %v", m, err)
		}
		if refs := RefsOf([]intent.Policy{p}); len(refs) != 1 || refs[0].Kind.Kind != kind || refs[0].Namespace != namespace {
			t.Errorf("%+v", refs)
		}
	}
	for _, o := range []client.Object{&v1alpha1.SecurityIntentBinding{}, &v1alpha1.ClusterSecurityIntentBinding{}, &v1alpha1.NimbusPolicy{},
		&v1alpha1.ClusterNimbusPolicy{}} {
		if want := reflect.TypeOf(o).Elem().Name(); KindOf(o).Kind != want {
			t.Errorf("%s is taken for %s", want, KindOf(o).Kind)
		}
	}
}

func TestReadCluster_CountsNodesWithoutAgents(t *testing.T) {
	nodeOf := func(name, label, value string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: value}}}
	}
	linux, windows := nodeOf("a", "kubernetes.io/os", "linux"), nodeOf("b", "kubernetes.io/os", "windows")
	fargate := nodeOf("c", "eks.amazonaws.com/compute-type", "fargate")
	for _, tc := range []struct {
		nodes []client.Object
		want  intent.NodeShare
	}{{[]client.Object{linux}, intent.NoNodes}, {[]client.Object{linux, windows}, intent.SomeNodes},
		{[]client.Object{linux, fargate}, intent.SomeNodes}, {[]client.Object{windows, fargate}, intent.AllNodes}} {
		if got, err := ReadCluster(t.Context(), api(t, tc.nodes...), Settings{DNSService: "kube-system/kube-dns"}); err != nil ||
			got.NoAgents != tc.want {
			t.Errorf("%d nodes: %q, %v", len(tc.nodes), got.NoAgents, err)
		}
	}
}

func TestReadCluster_CountsNodesThatKubeArmorCannotHoldPodsOn(t *testing.T) {
	nodeOf := func(name, enforcer string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubearmor.io/enforcer": enforcer}}}
	}
	for _, tc := range []struct {
		second   string
		selinux  intent.NodeShare
		appArmor bool
	}{{"selinux", intent.AllNodes, false}, {"apparmor", intent.SomeNodes, false}} {
		got, err := ReadCluster(t.Context(), api(t, nodeOf("a", "selinux"), nodeOf("b", tc.second)), Settings{DNSService: "kube-system/kube-dns"})
		if err != nil || got.SELinux != tc.selinux || got.AppArmor != tc.appArmor {
			t.Errorf("selinux and %s: SELinux on %q nodes, AppArmor %t, %v", tc.second, got.SELinux, got.AppArmor, err)
		}
	}
}
