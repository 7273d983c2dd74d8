// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

const (
	controllerRole = "NexusALBControllerRole"
	chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	chartName      = "aws-load-balancer-controller"
)

// chartFiles returns the files of a chart in the shape of the controller's.
func chartFiles(version string) map[string]string {
	return map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: " + chartName + "\nversion: " + version + "\nappVersion: v" + version + "\n",
		"values.yaml": "replicaCount: 1\nserviceAccount: {create: true, name: x, annotations: {}}\n",
		"templates/all.yaml": `apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Values.serviceAccount.name }}, annotations: {{ toJson .Values.serviceAccount.annotations }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: aws-load-balancer-controller, labels: {app.kubernetes.io/name: aws-load-balancer-controller}}
spec:
  replicas: {{ .Values.replicaCount }}
  selector: {matchLabels: {app: alb}}
  template:
    metadata: {labels: {app: alb}}
    spec:
      serviceAccountName: {{ .Values.serviceAccount.name }}
      containers: [{name: controller, image: "x:v` + version + `", args: [--cluster-name={{ .Values.clusterName }}, --aws-vpc-id={{ .Values.vpcId }}, --aws-region={{ .Values.region }}]}]
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: alb}
spec: {controller: ingress.k8s.aws/alb}
`,
		"crds/crds.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: targetgroupbindings.elbv2.k8s.aws, creationTimestamp: null}
spec:
  group: elbv2.k8s.aws
  scope: Namespaced
  names: {kind: TargetGroupBinding, listKind: TargetGroupBindingList, plural: targetgroupbindings, singular: targetgroupbinding}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gateways.gateway.networking.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names: {kind: Gateway, listKind: GatewayList, plural: gateways, singular: gateway}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`,
	}
}

// chartFolder writes a chart into a folder.
func chartFolder(t testing.TB, version string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), chartName)
	for path, text := range chartFiles(version) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// chartArchive packs a chart.
func chartArchive(t *testing.T, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	files := chartFiles(version)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: chartName + "/" + path, Mode: 0o644, Size: int64(len(files[path]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[path])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// chartRepository serves an archive as a chart repository does, with a digest in its index.
func chartRepository(t *testing.T, version, digest string, archive []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/charts/index.yaml":
			_, _ = fmt.Fprintf(w, "apiVersion: v1\nentries:\n  %s:\n  - {apiVersion: v2, name: %[1]s, version: %s, digest: %s, urls: [%[1]s.tgz]}\n",
				chartName, version, digest)
		case "/charts/" + chartName + ".tgz":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/charts"
}

// pushChart pushes an archive into a registry as helm push does.
func pushChart(t *testing.T, version string, archive []byte) string {
	t.Helper()
	host := registry.Start(t)
	ref, err := name.ParseReference(host + "/charts/" + chartName + ":" + version)
	if err != nil {
		t.Fatal(err)
	}
	content := mutate.ConfigMediaType(mutate.MediaType(empty.Image, "application/vnd.oci.image.manifest.v1+json"),
		"application/vnd.cncf.helm.config.v1+json")
	if content, err = mutate.AppendLayers(content, static.NewLayer(archive, chartMediaType)); err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, content); err != nil {
		t.Fatal(err)
	}
	return "oci://" + host + "/charts/" + chartName
}

// installs runs install-alb-controller for a cluster.
func (x *person) installs(args ...string) nexusctl.Answer {
	x.Helper()
	return x.runs(append([]string{"install-alb-controller", "--cluster-name", "demo", "--vpc-id", "vpc-1", "--timeout", "40s"}, args...)...)
}

// withoutController removes the IngressClass that every world has, and after the test what it left.
func (x *person) withoutController() {
	x.Helper()
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
	if err := x.Get(class); err != nil {
		x.Fatal(err)
	}
	if err := x.Client.Delete(x.Ctx(), class); err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() {
		x.runs("delete-alb-controller", "--yes", "--timeout", "1m")
		if err := x.Client.Create(context.Background(),
			&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}, Spec: class.Spec}); err != nil {
			x.Error(err)
		}
	})
}

// controllerState are the objects of the controller in the cluster with their versions.
func (x *person) controllerState() map[string]string {
	x.Helper()
	out := map[string]string{}
	secrets, classes, maps := &corev1.SecretList{}, &networkingv1.IngressClassList{}, &corev1.ConfigMapList{}
	deployments := &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{secrets, classes, maps, deployments} {
		if err := x.Client.List(x.Ctx(), list); err != nil {
			x.Fatal(err)
		}
	}
	for _, o := range secrets.Items {
		if o.Type == "helm.sh/release.v1" {
			out["secret "+o.Name] = o.ResourceVersion
		}
	}
	for _, o := range classes.Items {
		out["class "+o.Name] = o.ResourceVersion
	}
	for _, o := range maps.Items {
		if o.Name == "nexus-install-state" {
			out["ledger "+o.Namespace] = o.ResourceVersion
		}
	}
	for _, o := range deployments.Items {
		out["deployment "+o.Name] = fmt.Sprint(o.Generation)
	}
	return out
}

// The life of a controller: a dry run, the installation, a second run that writes nothing, an upgrade, a refused removal and the removal.
func TestALBController_IsInstalledOnceAndRemovedWhole(t *testing.T) {
	x := newPerson(t)
	x.withoutController()
	before, state := x.everything(), x.controllerState()
	start := x.World.AWS().Mark()
	chart := chartFolder(t, "3.6.0")
	x.wants(x.installs("--chart", chart, "--dry-run"), 0, "would: create the role of the AWS Load Balancer Controller",
		"would: install chart aws-load-balancer-controller 3.6.0",
		"targetgroupbindings.elbv2.k8s.aws")
	if w := x.writes(start); len(w) > 0 || !maps.Equal(state, x.controllerState()) {
		t.Errorf("a dry run wrote %v, %v", w, x.controllerState())
	}
	x.sameAs(before)
	x.wants(x.runs("scan", "--only", "ingress"), 0, "fix: nexusctl install-alb-controller")

	x.wants(x.installs("--chart", chart), 0, "is ready, with chart aws-load-balancer-controller 3.6.0")
	x.wants(x.runs("scan", "--only", "ingress"), 0, "PASS ingress")
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: chartName}}
	d := &appsv1.Deployment{ObjectMeta: sa.ObjectMeta}
	for _, o := range []client.Object{sa, d} {
		if err := x.Get(o); err != nil {
			t.Fatal(err)
		}
	}
	if sa.Annotations["eks.amazonaws.com/role-arn"] != "arn:aws:iam::"+account+":role/"+controllerRole ||
		strings.Join(d.Spec.Template.Spec.Containers[0].Args, " ") != "--cluster-name=demo --aws-vpc-id=vpc-1 --aws-region=ap-southeast-1" {
		t.Errorf("%v %v", sa.Annotations, d.Spec.Template.Spec.Containers[0].Args)
	}

	mark, state := x.World.AWS().Mark(), x.controllerState()
	x.wants(x.installs("--chart", chart), 0, "The controller is unchanged.")
	if w := x.writes(mark); len(w) > 0 || !maps.Equal(state, x.controllerState()) {
		t.Errorf("a second run wrote %v\n%v\n%v", w, state, x.controllerState())
	}

	x.wants(x.installs("--chart", chart, "--set", "replicaCount=2"), 0, "upgrade to chart", "+ replicaCount: 2", "is ready")
	if err := x.Get(d); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("%v %v", d.Spec.Replicas, err)
	}
	if err := x.Client.Delete(x.Ctx(), &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}); err != nil {
		t.Fatal(err)
	}
	x.wants(x.installs("--chart", chart, "--set", "replicaCount=2"), 0, "which restores IngressClass alb", "is ready")

	x.refusesWhileNeeded()
	x.wants(x.runs("delete-alb-controller"), 2, "add --yes")
	x.wants(x.runs("delete-alb-controller", "--dry-run"), 0, "would: uninstall", "would: delete the role")
	x.wants(x.runs("delete-alb-controller", "--yes"), 0, "The AWS Load Balancer Controller was removed.")
	x.usesOnlyTheRightsOfInstallers(start)
	x.sameAs(before)
	if left := x.controllerState(); left["class alb"]+left["ledger kube-system"]+left["deployment "+chartName] != "" {
		t.Errorf("left: %v", left)
	}
	x.wants(x.runs("delete-alb-controller", "--yes"), 4, "there is no ConfigMap kube-system/nexus-install-state")
}

// ingressOf is an Ingress of the controller's class.
func ingressOf(name string) *networkingv1.Ingress {
	return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: networkingv1.IngressSpec{IngressClassName: aws.String("alb"),
			DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name,
				Port: networkingv1.ServiceBackendPort{Number: 80}}}}}
}

// gatewayOf is a Gateway that waits for a controller.
func gatewayOf(name, finalizer string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
		"metadata": map[string]any{"namespace": "default", "name": name, "finalizers": []any{finalizer}}}}
}

// refusesWhileNeeded tries to remove the controller while objects need it.
func (x *person) refusesWhileNeeded() {
	x.Helper()
	in := ingressOf("shop")
	binding := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "elbv2.k8s.aws/v1beta1", "kind": "TargetGroupBinding",
		"metadata": map[string]any{"namespace": "default", "name": "shop"}}}
	gateway, theirs := gatewayOf("shop", "gateway.k8s.aws/alb"), gatewayOf("theirs", "example.com/gateway")
	for _, o := range []client.Object{in, binding, gateway, theirs} {
		x.Create(o)
	}
	a := x.runs("delete-alb-controller", "--yes")
	x.wants(a, 4, "3 objects need the controller: Ingress default/shop, TargetGroupBinding default/shop, Gateway default/shop",
		"gateways.gateway.networking.k8s.io stays: it has objects")
	if strings.Contains(a.Err, "Gateway default/theirs") {
		x.Errorf("a Gateway of another controller holds it:\n%s", a.Err)
	}
	for _, o := range []*unstructured.Unstructured{gateway, theirs} {
		o.SetFinalizers(nil)
		if err := x.Client.Update(x.Ctx(), o); err != nil {
			x.Error(err)
		}
	}
	for _, o := range []client.Object{in, binding, gateway, theirs} {
		if err := x.Client.Delete(x.Ctx(), o); err != nil {
			x.Error(err)
		}
	}
}

// A lost answer, a right that is missing, and a role of that name that another tool made.
func TestALBController_GoesOnAfterFailures(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	x.withoutController()
	archive := chartArchive(t, "3.6.0")
	repository := chartRepository(t, "3.6.0", fmt.Sprintf("%x", sha256.Sum256(archive)), archive)
	from := []string{"--chart-repo", repository, "--chart-version", "3.6.0"}
	if _, err := x.iam().CreateRole(x.Ctx(), &iam.CreateRoleInput{RoleName: aws.String(controllerRole),
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`)}); err != nil {
		t.Fatal(err)
	}
	x.wants(x.installs(from...), 4, "was not created by nexusctl for this cluster")
	if _, err := x.iam().DeleteRole(x.Ctx(), &iam.DeleteRoleInput{RoleName: aws.String(controllerRole)}); err != nil {
		t.Fatal(err)
	}
	x.World.AWS().Fault(emulator.Match{Service: "iam", Op: "CreatePolicy", Times: 1}, emulator.Fail(403, "AccessDenied", "not allowed"))
	x.wants(x.installs(from...), 4, "iam:CreatePolicy", "run the command again to go on")

	p, err := kubeproxy.Start(x.World.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := world.WriteKubeconfig(path, p.Config()); err != nil {
		t.Fatal(err)
	}
	p.Fault(kubeproxy.Match{Verb: "create", Resource: "secrets", Times: 1}, kubeproxy.LoseAnswer())
	broken := []string{"KUBECONFIG=" + path, "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}
	if a := x.with(broken, append([]string{"install-alb-controller", "--cluster-name", "demo", "--vpc-id", "vpc-1", "--timeout", "40s"},
		from...)...); a.Code == 0 {
		t.Errorf("the answer was not lost:\n%s\n%s", a.Out, a.Err)
	}
	x.wants(x.installs(from...), 0, "is ready")
	x.wants(x.installs("--chart", pushChart(t, "3.6.0", archive)), 0, "The controller is unchanged.")
	x.wants(x.installs("--chart-repo", chartRepository(t, "3.6.0", strings.Repeat("0", 64), archive)), 4, "do not use it")
	x.wants(x.installs("--chart-repo", repository, "--chart-version", "9.9.9"), 4, "has no version 9.9.9")
	x.wants(x.runs("install-alb-controller", "--cluster-name", "none", "--chart", chartFolder(t, "3.6.0")), 4, "has no EKS cluster none")
	x.wants(x.runs("delete-alb-controller", "--yes"), 0, "was removed")
	x.sameAs(before)
}

// A controller of another tool is checked, and stays as it is.
func TestALBController_OfAnotherToolStays(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	labels := map[string]string{"app.kubernetes.io/name": chartName}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs", Labels: labels,
		Annotations: map[string]string{"meta.helm.sh/release-name": "platform", "meta.helm.sh/release-namespace": "default"}},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}}}
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "theirs"},
		Spec: networkingv1.IngressClassSpec{Controller: "ingress.k8s.aws/alb"}}
	x.withoutController()
	x.Create(class)
	mark := x.World.AWS().Mark()
	x.wants(x.installs(), 1, "IngressClass theirs is of the controller, and no Deployment of it was found")
	x.Create(d)
	x.Eventually(30e9, "the controller to be ready", func() error {
		if a := x.installs("-o", "json"); a.Code != 0 || !strings.Contains(a.Out, `"installedBy": "Helm, as release default/platform"`) {
			return differs(a.Out + a.Err)
		}
		return nil
	})
	if err := x.Client.Delete(x.Ctx(), d); err != nil {
		t.Error(err)
	}
	auto := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "auto"},
		Spec: networkingv1.IngressClassSpec{Controller: "eks.amazonaws.com/alb"}}
	x.Create(auto)
	x.wants(x.installs(), 0, "installed by EKS Auto Mode, and is left to it")
	for _, o := range []client.Object{auto, class} {
		if err := x.Client.Delete(x.Ctx(), o); err != nil {
			t.Error(err)
		}
	}
	if w := x.writes(mark); len(w) > 0 {
		t.Errorf("it wrote %v", w)
	}
	x.wants(x.runs("delete-alb-controller", "--yes"), 4, "remove another one with the tool that installed it")
}

// delete --full removes our controller too, and leaves it while others need it.
func TestALBController_GoesWithTheWholeInstallation(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	x.withoutController()
	x.deployed("--skip-alb-controller")
	x.wants(x.installs("--chart", chartFolder(t, "3.6.0")), 0, "is ready")
	in := ingressOf("blog")
	x.Create(in)
	state := x.controllerState()
	x.wants(x.runs("delete", "--full", "--yes"), 0, "the AWS Load Balancer Controller stays: it is needed by others (Ingress default/blog)",
		"The operator was removed.")
	delete(state, "ledger nexus-system")
	delete(state, "deployment nexus-operator")
	if now := x.controllerState(); !maps.Equal(state, now) || !x.everything()["role "+controllerRole] {
		t.Errorf("the controller did not stay as it was:\n%v\n%v", state, now)
	}
	if err := x.Client.Delete(x.Ctx(), in); err != nil {
		t.Fatal(err)
	}

	x.deployed()
	x.wants(x.runs("delete", "--full", "--dry-run"), 0, "HelmRelease kube-system/"+chartName+" would: uninstall",
		"role/"+controllerRole+" would: delete the role")
	x.wants(x.runs("delete", "--full", "--yes"), 0, "The operator was removed.")
	if left := x.controllerState(); left["class alb"]+left["ledger kube-system"]+left["deployment "+chartName] != "" {
		t.Errorf("left: %v", left)
	}
	x.sameAs(before)
}

// meetsAutoMode runs what would install a controller in a cluster of EKS Auto Mode: each command asks for an IngressClass in its place.
func (x *person) meetsAutoMode(cluster string) {
	x.Helper()
	const class = "create an IngressClass alb with controller eks.amazonaws.com/alb"
	chart := chartFolder(x, "3.6.0")
	state := x.controllerState()
	x.wants(x.runs("deploy", "--image", operatorImage, "--cluster-name", cluster, "--vpc-id=vpc-1", "--alb-chart", chart, "--dry-run"),
		0, class)
	x.wants(x.runs("scan", "--cluster-name", cluster, "--only", "ingress"), 0, class)
	x.wants(x.installs("--cluster-name", cluster, "--chart", chart), 4, class+", because EKS Auto Mode creates the load balancers",
		"--beside-auto-mode")
	if now := x.controllerState(); !maps.Equal(state, now) {
		x.Errorf("they changed the cluster:\n%v\n%v", state, now)
	}
}

// EKS Auto Mode creates load balancers itself: all that a cluster of it lacks is an IngressClass.
func TestDeploy_InstallsNoControllerOnEKSAutoMode(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	x.withoutController()
	// Node pools begin without nodes: only EKS knows.
	if _, err := eks.NewFromConfig(x.config()).CreateCluster(t.Context(),
		&eks.CreateClusterInput{Name: aws.String("pools"), RoleArn: aws.String("arn:aws:iam::" + account + ":role/cluster"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{}, ComputeConfig: &ekstypes.ComputeConfigRequest{Enabled: aws.Bool(true)}}); err != nil {
		t.Fatal(err)
	}
	x.meetsAutoMode("pools")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto", Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}}
	x.Create(node)
	x.Cleanup(func() {
		if err := x.Client.Delete(context.Background(), node); err != nil {
			t.Error(err)
		}
	})
	x.meetsAutoMode("demo")

	// install-alb-controller installs a second controller if its user insists.
	state := x.controllerState()
	chart := chartFolder(t, "3.6.0")
	x.wants(x.installs("--chart", chart, "--role-arn", "arn:aws:iam::123456789012:role/"+controllerRole, "--beside-auto-mode", "--dry-run"), 0,
		"HelmRelease kube-system/"+chartName+" would: install chart")
	if now := x.controllerState(); !maps.Equal(state, now) {
		t.Errorf("it changed the cluster:\n%v\n%v", state, now)
	}
}

// deploy installs the controller too, in a cluster that has none, once, and only where that was not left out.
func TestDeploy_InstallsTheLoadBalancerController(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	x.withoutController()
	const cluster, vpc = "--cluster-name=demo", "--vpc-id=vpc-1"
	x.wants(x.runs("deploy", "--image", operatorImage, cluster, vpc, "--alb-chart", "./no-such-chart.tgz"), 2, "--alb-chart",
		"--skip-alb-controller")
	x.wants(x.runs("deploy", "--image", operatorImage, cluster, vpc, "--alb-chart", "a/b"), 2, "--alb-chart")
	// the name of the cluster is not known
	x.wants(x.runs("deploy", "--image", operatorImage, "--dry-run"), 0, "until nexusctl install-alb-controller has installed it")
	x.wants(x.runs("deploy", "--image", operatorImage, cluster, vpc, "--skip-alb-controller", "--dry-run"), 0,
		"until nexusctl install-alb-controller has installed it")

	chart := "--alb-chart=" + chartFolder(t, "3.6.0")
	x.wants(x.runs("deploy", "--image", operatorImage, cluster, vpc, chart, "--dry-run"), 0,
		"would: create the role of the operator", "would: create the role of the AWS Load Balancer Controller",
		"HelmRelease kube-system/"+chartName+" would: install chart")
	x.sameAs(before)
	x.deployed(cluster, vpc, chart)
	state := x.controllerState()
	if state["class alb"] == "" || state["deployment "+chartName] == "" || state["ledger kube-system"] == "" ||
		!x.everything()["role "+controllerRole] {
		t.Errorf("the controller was not installed: %v", state)
	}
	x.wants(x.runs("deploy", "--image", operatorImage, cluster, vpc, chart), 0, "The installation is unchanged.")
	if now := x.controllerState(); !maps.Equal(state, now) {
		t.Errorf("a second run changed it:\n%v\n%v", state, now)
	}
	x.wants(x.runs("delete", "--full", "--yes"), 0, "The operator was removed.")
	x.sameAs(before)
}
