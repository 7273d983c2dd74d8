// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func client(t *testing.T, w *world.World) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// namespace creates a namespace that is deleted, without waiting, at the end.
func namespace(t *testing.T, c kubernetes.Interface) string {
	t.Helper()
	ns, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{})
	})
	return ns.Name
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		if check() {
			return
		}
	}
	t.Fatalf("not within 30 s: %s", what)
}

func deployment(name, image string, annotations map[string]string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}},
			},
		},
	}
}

func TestADeploymentBecomesAvailableAndItsNamespaceGoes(t *testing.T) {
	w := world.Shared(t)
	c := client(t, w)
	ns := namespace(t, c)
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), deployment("web", "web:1.0", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment is available", func() bool {
		d, err := c.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 1
	})
	if err := c.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func() bool {
		_, err := c.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestSickPodsShowTheReasonOfTheirSickness(t *testing.T) {
	w := world.Shared(t)
	c := client(t, w)
	ns := namespace(t, c)
	byAnnotation := map[string]string{"testbed.nexus.ai/pod-failure": "CreateContainerConfigError"}
	for _, d := range []*appsv1.Deployment{
		deployment("pull", "registry.example/app:ImagePullBackOff", nil),
		deployment("crash", "registry.example/app:CrashLoopBackOff", nil),
		deployment("root", "registry.example/app:1.0", byAnnotation),
		deployment("unready", "registry.example/app:NotReady", nil),
	} {
		if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for app, want := range map[string]string{
		"pull":    "ImagePullBackOff: Back-off pulling image \"registry.example/app:ImagePullBackOff\"",
		"crash":   "CrashLoopBackOff: back-off 2m40s restarting failed container=app",
		"root":    "CreateContainerConfigError: container has runAsNonRoot and image will run as root",
		"unready": "running, not ready",
	} {
		eventually(t, app+" shows "+want, func() bool {
			pods, err := c.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
			return err == nil && len(pods.Items) == 1 && strings.HasPrefix(sickness(pods.Items[0]), want)
		})
	}
}

func sickness(pod corev1.Pod) string {
	if len(pod.Status.ContainerStatuses) != 1 {
		return ""
	}
	s := pod.Status.ContainerStatuses[0]
	switch {
	case s.State.Waiting != nil:
		return s.State.Waiting.Reason + ": " + s.State.Waiting.Message
	case s.State.Running != nil && !s.Ready:
		return "running, not ready"
	}
	return ""
}

func TestLoadBalancersGetHostnames(t *testing.T) {
	w := world.Shared(t)
	c := client(t, w)
	ns := namespace(t, c)
	for _, class := range []string{"alb", "other"} {
		ingress := &networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Name: class},
			Spec: networkingv1.IngressSpec{IngressClassName: &class, DefaultBackend: &networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}},
		}
		if _, err := c.NetworkingV1().Ingresses(ns).Create(t.Context(), ingress, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := c.CoreV1().Services(ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ALB has a hostname", func() bool {
		i, err := c.NetworkingV1().Ingresses(ns).Get(t.Context(), "alb", metav1.GetOptions{})
		return err == nil && len(i.Status.LoadBalancer.Ingress) == 1 &&
			strings.HasSuffix(i.Status.LoadBalancer.Ingress[0].Hostname, ".elb.amazonaws.com")
	})
	eventually(t, "the NLB has a hostname", func() bool {
		s, err := c.CoreV1().Services(ns).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && len(s.Status.LoadBalancer.Ingress) == 1
	})
	other, err := c.NetworkingV1().Ingresses(ns).Get(t.Context(), "other", metav1.GetOptions{})
	if err != nil || len(other.Status.LoadBalancer.Ingress) != 0 {
		t.Errorf("an Ingress of another class got %v, %v", other.Status.LoadBalancer.Ingress, err)
	}
}

func TestCustomResourcesTakeTheirChildrenWithThem(t *testing.T) {
	w := world.Shared(t)
	c := client(t, w)
	ns := namespace(t, c)
	d, err := dynamic.NewForConfig(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	widgets := d.Resource(schema.GroupVersionResource{Group: "testbed.nexus.ai", Version: "v1", Resource: "widgets"}).Namespace(ns)
	owner, err := widgets.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "testbed.nexus.ai/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "testbed.nexus.ai/v1", Kind: "Widget", Name: "w", UID: owner.GetUID()}}}}
	if _, err := c.CoreV1().ConfigMaps(ns).Create(t.Context(), child, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stored, err := world.CustomResources(t.Context(), w, "testbed.nexus.ai")
	if err != nil || len(stored) != 1 || stored[0].GetUID() != owner.GetUID() || stored[0].GetKind() != "Widget" {
		t.Errorf("stored are %v, %v", stored, err)
	}
	if err := widgets.Delete(t.Context(), "w", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is gone", func() bool {
		_, err := c.CoreV1().ConfigMaps(ns).Get(t.Context(), "child", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if stored, err := world.CustomResources(t.Context(), w, "testbed.nexus.ai"); err != nil || len(stored) != 0 {
		t.Errorf("after the deletion, stored are %v, %v", stored, err)
	}
}

func TestTheIssuerIsDiscoverable(t *testing.T) {
	w := world.Shared(t)
	text, err := client(t, w).Discovery().RESTClient().Get().AbsPath("/.well-known/openid-configuration").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(text), `"issuer":"`+w.Issuer()+`"`) {
		t.Errorf("got %s, %v", text, err)
	}
	if version, err := client(t, w).Discovery().ServerVersion(); err != nil || version.GitVersion != "v1.37.2" || version.Minor != "37" {
		t.Errorf("version %v, %v", version, err)
	}
}

func TestAUserHasTheRightsThatRBACGives(t *testing.T) {
	w := world.Shared(t)
	config, err := w.UserConfig("nobody-special")
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("want forbidden, got %v", err)
	}
}

func TestTheAuditLogCountsByAgentVerbAndResource(t *testing.T) {
	w := world.Shared(t)
	config := w.Config()
	config.UserAgent = "audit-test/1"
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, client(t, w))
	mark, err := w.Audit().Mark()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err = c.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{})
	}
	_, err2 := c.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}},
		metav1.CreateOptions{})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, tt := range []struct {
		filter world.AuditFilter
		want   int
	}{
		{world.AuditFilter{UserAgent: "audit-test"}, 4},
		{world.AuditFilter{UserAgent: "audit-test", Verbs: []string{"list"}, Resource: "configmaps"}, 3},
		{world.AuditFilter{UserAgent: "audit-test", Writes: true}, 1},
		{world.AuditFilter{UserAgent: "audit-test", Resource: "secrets"}, 0},
	} {
		events, err := w.Audit().Since(mark, tt.filter)
		if err != nil || len(events) != tt.want {
			t.Errorf("%+v: want %d events, got %v, %v", tt.filter, tt.want, events, err)
		}
	}
}

func TestTheKeyIsTheOneThatTheBuilderUses(t *testing.T) {
	t.Setenv("NEXUS_BED_BIN", "") // would name the folder
	want, err := exec.Command("go", "-C", "../../../dev", "run", "./bed", "-print").Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := world.BinDir()
	if got != strings.TrimSpace(string(want)) {
		t.Errorf("the builder says %s, this package %s (%v)", want, got, err)
	}
}

func TestComponentsSurviveEachOthersCrashes(t *testing.T) {
	world.Shared(t) // skips where there is no test bed
	w, err := world.Start(t.Context(), world.Options{NoAWS: true})
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, w)
	ns := namespace(t, c)
	for _, component := range []string{world.Etcd, world.APIServer, world.ControllerManager, world.Kwok} {
		if err := w.Kill(component); err != nil {
			t.Fatal(err)
		}
		if err := w.Restart(component); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}},
			metav1.CreateOptions{}); err != nil {
			t.Errorf("after %s came back: %v", component, err)
		}
	}
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), deployment("web", "web:1.0", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a Deployment becomes available after all that", func() bool {
		d, err := c.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 1
	})
	pids, dir := w.PIDs(), w.Dir()
	if len(pids) != 5 {
		t.Errorf("want 5 components, got %v", pids)
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
	for name, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("%s (%d) is left behind", name, pid)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind", dir)
	}
}

// kwok may crash under load, which fails no test.
func TestKwokIsStartedAgainAfterACrash(t *testing.T) {
	w := world.Shared(t)
	before := w.PIDs()[world.Kwok]
	if err := syscall.Kill(before, syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "kwok runs again", func() bool {
		now := w.PIDs()[world.Kwok]
		return now != 0 && now != before
	})
	c := client(t, w)
	ns := namespace(t, c)
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), deployment("web", "web:1.0", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a Deployment becomes available", func() bool {
		d, err := c.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 1
	})
}

func TestAFailedStartNamesTheComponentAndShowsItsLog(t *testing.T) {
	world.Shared(t)
	_, err := world.Start(t.Context(), world.Options{NoAWS: true, APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended") || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("got %v", err)
	}
}

func TestMotoAloneStartsWithoutAControlPlane(t *testing.T) {
	world.Shared(t)
	begin := time.Now()
	w, err := world.Start(t.Context(), world.Options{NoKubernetes: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	answer, err := http.Get(w.MotoURL() + "/moto-api/data.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%d %s %v", answer.StatusCode, text, err)
	}
	t.Logf("ready after %v", time.Since(begin))
}

// A world begins with the objects that the first of its kind stored, does so without a file that can be read, and leaves the files of an
// earlier process.
func TestAWorldBeginsWithWhatAnotherOneStored(t *testing.T) {
	extent.Full(t)
	bin, err := world.BinDir()
	if err != nil {
		t.Fatal(err)
	}
	cache, dir := t.TempDir(), t.TempDir()
	t.Setenv("NEXUS_CACHE", cache)
	created := func(dir string) time.Time {
		t.Helper()
		w, err := world.Start(t.Context(), world.Options{NoAWS: true, Programs: bin, CRDs: []string{"testdata/crd.yaml"}, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Stop() }() // a second Stop does nothing
		c, err := dynamic.NewForConfig(w.Config())
		if err != nil {
			t.Fatal(err)
		}
		crds, err := c.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
			List(t.Context(), metav1.ListOptions{})
		if err != nil || len(crds.Items) != 1 {
			t.Fatalf("%v, %v", crds, err)
		}
		if err := w.Stop(); err != nil {
			t.Fatal(err)
		}
		return crds.Items[0].GetCreationTimestamp().Time
	}
	first := created("")
	if second := created(dir); !second.Equal(first) {
		t.Errorf("the definition is of %s and not of %s: it was sent again", second, first)
	}
	files, err := filepath.Glob(filepath.Join(cache, "stored", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	third := created("")
	if !third.After(first) {
		t.Errorf("the definition is of %s, from a file that cannot be read", third)
	}
	if again := created(dir); !again.Equal(first) {
		t.Errorf("the definition is of %s: what the world of %s had was overwritten", again, first)
	}
}
