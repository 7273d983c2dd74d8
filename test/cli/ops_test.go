// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// as runs nexusctl as a user of the cluster who has no right, or those of the groups.
func (x *tool) as(user string, args ...string) answer {
	x.Helper()
	config, err := x.World.UserConfig(user)
	if err != nil {
		x.Fatal(err)
	}
	path := filepath.Join(x.TempDir(), "kubeconfig-"+user)
	if err := world.WriteKubeconfig(path, config); err != nil {
		x.Fatal(err)
	}
	return x.runAs([]string{"KUBECONFIG=" + path}, "", args...)
}

// bind gives a user one of Kubernetes' own roles in a namespace.
func (x *tool) bind(user, role, namespace string) {
	x.Helper()
	x.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}})
	x.Cleanup(func() {
		_ = x.Client.Delete(x.Ctx(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user}})
	})
}

// wants fails the test unless a run ended with an exit code and printed the texts.
func (x *tool) wants(a answer, code int, texts ...string) {
	x.Helper()
	nexusctl.Answer{Out: a.out, Err: a.err, Code: a.code}.Wants(x, code, texts...)
}

// read runs a verb with -o json and reads its answer.
func (x *tool) read(into any, args ...string) answer {
	x.Helper()
	a := x.run("", append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(a.out), into); err != nil {
		x.Fatalf("%v: exit code %d, %v\n%s\n%s", args, a.code, err, a.out, a.err)
	}
	return a
}

// operatorPod is the template of an operator's pods, as the chart makes it.
func operatorPod(args ...string) (metav1.LabelSelector, corev1.PodTemplateSpec) {
	labels := map[string]string{"app.kubernetes.io/name": "nexus-operator", "app.kubernetes.io/component": "operator"}
	return metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "operator", Image: "nexus-operator:v0.0.1", Args: args, Env: []corev1.EnvVar{{Name: "POD_INDEX", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}}}},
			{Name: "sidecar", Image: "proxy:v9"},
		}}}
}

// installed makes an object of the operator's own installation, which goes with the test.
func (x *tool) installed(o client.Object) {
	x.Helper()
	x.Create(o)
	x.Cleanup(func() {
		_ = x.Client.Delete(x.Ctx(), o, client.PropagationPolicy(metav1.DeletePropagationForeground))
		x.Eventually(time.Minute, "the installation to be gone", func() error {
			if err := x.Get(o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there: %v", o.GetName(), err)
			}
			return nil
		})
	})
}

func numberOfCRDs(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return len(files)
}

func TestStatus_OfTheOperator(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--leader-elect=true", "--namespace="+operator.Namespace)
	x.wants(x.run("", "status", "--operator-namespace", x.Namespace), 4, "neither a Deployment nor a StatefulSet nexus-operator")
	x.wants(x.as("stranger", "status"), 4, `cannot get resource "deployments"`)

	x.MakeNamespace(operator.Namespace)
	selector, template := operatorPod("--region=eu-west-3")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: operator.Namespace},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &selector, Template: template}}
	x.installed(d)
	var a answer
	x.Eventually(time.Minute, "the operator to be healthy", func() error {
		if a = x.run("", "status", "--operator-namespace", operator.Namespace); a.code != 0 {
			return fmt.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
		}
		return nil
	})
	x.wants(a, 0, "Operator in namespace nexus-system: healthy", "deployment/nexus-operator 2/2 v0.0.1", "The versions differ",
		"nexus-operator.nexus.ai 0/1",
		fmt.Sprintf("CustomResourceDefinitions: %[1]d of %[1]d established", numberOfCRDs(t)), "Capabilities: none")
	var status struct {
		APIVersion, Kind string
		Healthy, Skew    bool
		Leases           []struct{ Name, Holder string }
		Pods             []struct{ Ready bool }
	}
	if x.read(&status, "status", "--operator-namespace", operator.Namespace); status.APIVersion != "inspect.nexus.ai/v1alpha1" ||
		!status.Healthy || !status.Skew || len(status.Pods) != 2 || len(status.Leases) != 1 || status.Leases[0].Holder == "" {
		t.Errorf("%+v", status)
	}
	x.wants(x.run("", "version", "--operator-namespace", operator.Namespace), 0, "Operator: nexus-operator:v0.0.1")

	x.Op.Stop()
	x.Eventually(time.Minute, "the leader to be missed", func() error {
		if a = x.run("", "status", "--operator-namespace", operator.Namespace); a.code != 1 {
			return fmt.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
		}
		return nil
	})
	x.wants(a, 1, "not healthy", "nobody holds Lease nexus-operator.nexus.ai")
}

func TestStatus_ReadsTheStatefulSetOfShards(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	selector, template := operatorPod("--shard=$(POD_INDEX)/2", "--region=eu-west-3")
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: "default"},
		Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2)), ServiceName: "nexus-operator",
			Selector: &selector, Template: template, PodManagementPolicy: appsv1.ParallelPodManagement}}
	x.installed(s)
	x.Eventually(time.Minute, "the pods to be ready", func() error {
		if err := x.Get(s); err != nil || s.Status.ReadyReplicas != 2 {
			return fmt.Errorf("%+v %v", s.Status, err)
		}
		return nil
	})
	var a answer
	x.Eventually(time.Minute, "the leaders to be missed", func() error { // they have the duration of a lease to start
		if a = x.run("", "status"); a.code != 1 {
			return fmt.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
		}
		return nil
	})
	x.wants(a, 1, "statefulset/nexus-operator 2/2", "nobody holds Lease nexus-operator-1.nexus.ai, so shard 1/2 reconciles nothing")
	x.wants(x.run("", "version"), 0, "Operator: nexus-operator:v0.0.1")
	c := x.Capability("examples/test-capability.yaml")
	if a := x.run(x.manifest(c), "plan", "-f", "-", "--skip-aws"); a.code != 0 || a.err != "" {
		t.Errorf("a plan does not read the settings of the StatefulSet: exit code %d\n%s", a.code, a.err)
	}
}

func TestStatusTreeAndExplain_OfAHealthyCapability(t *testing.T) {
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.showsStatus(c)
	x.showsTree(c)
}

// showsStatus asks for the status of a healthy capability, and completes names of objects.
func (x *tool) showsStatus(c *nexusv1.NexusAICapability) {
	x.Helper()
	x.wants(x.run("", "status", "ncap/"+c.Name, "-n", c.Namespace), 0,
		"NexusAICapability myapp-dev/myapp-dev: ready, phase Running, progress 11/11", "CONDITION", "Ready", "DataServicesReady")
	x.wants(x.run("", "status", "s3bucket/none", "-n", c.Namespace), 1, `"none" not found`)
	x.wants(x.run("", "status", "serviceaccount/default", "-n", c.Namespace), 2, "is not of a kind of Nexus Operator")
	x.wants(x.as("stranger", "status", "ncap/"+c.Name, "-n", c.Namespace), 4, `cannot get resource "nexuscapabilities"`)
	x.completes("ncap/"+c.Name, "monitor", "-n", c.Namespace, "")
	x.completes("ncap/"+c.Name, "tree", "-n", c.Namespace, "ncap/my")
	x.completes("s3bucket/myapp-dev-call-data", "explain", "-n", c.Namespace, "s3bucket/myapp-dev-c")
	x.completes("ddbtable/myapp-dev-license", "status", "-n", c.Namespace, "ddbtable/myapp-dev-l")
	x.completes("", "status", "-n", c.Namespace, "ncap/"+c.Name, "ncap/my") // it is named already
	x.completes(c.Namespace, "tree", "-n", c.Namespace)
	if a := x.as("stranger", "__complete", "tree", "-n", c.Namespace, "ncap/my"); a.code != 0 || !strings.HasPrefix(a.out, ":") {
		x.Errorf("without rights: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	var list struct {
		Objects []struct{ Name, Phase string }
	}
	if x.read(&list, "status", "ncap/"+c.Name, "-n", c.Namespace); len(list.Objects) != 1 || list.Objects[0].Phase != "Running" {
		x.Errorf("%+v", list)
	}
}

// completes expects one completion of a command line, or none.
func (x *tool) completes(want string, args ...string) {
	x.Helper()
	a := x.run("", append([]string{"__complete"}, args...)...)
	if got, _, _ := strings.Cut(a.out, ":"); a.code != 0 || strings.TrimSpace(got) != want {
		x.Errorf("%q is completed by %q, want %q (exit code %d)\n%s", args, got, want, a.code, a.err)
	}
}

// foreignBucket makes a bucket that has no owner.
func (x *tool) foreignBucket(name string) {
	x.Helper()
	if _, err := x.s3().CreateBucket(x.Ctx(), &s3.CreateBucketInput{Bucket: aws.String(name),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		x.Fatal(err)
	}
}

// explained holds what the tests read of an explanation.
type explained struct {
	Ready   bool
	Waiting int
	Cause   struct{ Kind, Name, Health, Code, Reason, Message string }
	Path    []struct{ Kind, Name string }
	Failed  []struct{ Kind, Name string }
	Events  []struct{ Reason, Message string }

	Conditions []metav1.Condition

	Commands []string
}

// showsTree asks for the tree and the explanation of a healthy capability, with several rights.
func (x *tool) showsTree(c *nexusv1.NexusAICapability) {
	x.Helper()
	name := []string{"ncap/" + c.Name, "-n", c.Namespace}
	a := x.run("", append([]string{"tree"}, name...)...)
	x.wants(a, 0, "NexusAICapability/myapp-dev ✓ Ready", "S3Bucket/myapp-dev-call-data ✓ Ready", "arn:aws:s3:::myapp-dev-call-data",
		"Deployment/myapp-dev-backend ✓ Ready 2/2", "Pod/myapp-dev-backend-", "Ingress/myapp-dev-app-ingress ✓ Ready")
	if strings.Contains(a.out, "✗") || strings.Contains(a.out, "…") {
		x.Errorf("not all is ready:\n%s", a.out)
	}
	// The tree has an object for each one that the status of the capability counts.
	for _, res := range c.Status.Resources {
		if !strings.Contains(a.out, res.Kind+"/"+res.Name) {
			x.Errorf("%s/%s is missing", res.Kind, res.Name)
		}
	}
	x.wants(x.run("", append([]string{"explain"}, name...)...), 0, "NexusAICapability myapp-dev/myapp-dev is ready.")
	// The role view suffices, and shows the same.
	x.bind("viewer", "view", c.Namespace)
	if v := x.as("viewer", append([]string{"tree"}, name...)...); v.code != 0 ||
		strings.Count(v.out, "✓ Ready") != strings.Count(a.out, "✓ Ready") {
		x.Errorf("exit code %d\n%s\n%s", v.code, v.out, v.err)
	}
	x.wants(x.as("viewer", append([]string{"explain"}, name...)...), 0, "is ready")
	x.wants(x.as("viewer", append([]string{"suspend"}, name...)...), 4, `cannot patch resource "nexuscapabilities"`, "(NX-CLI-003)")
	x.wants(x.as("stranger", append([]string{"tree"}, name...)...), 4, `cannot get resource "nexuscapabilities"`)
	x.wants(x.as("stranger", append([]string{"explain"}, name...)...), 4, `cannot get resource "nexuscapabilities"`)
	x.wants(x.run("", "explain", "pod/x", "-n", c.Namespace), 1, "not found")
}

func TestExplain_FindsTheForeignBucketBelowACapability(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.foreignBucket("myapp-dev-call-data")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Shows(c, "Ready", metav1.ConditionFalse, "Conflict")
	name := []string{"ncap/" + c.Name, "-n", c.Namespace}
	x.wants(x.run("", append([]string{"explain"}, name...)...), 1, "Cause: S3Bucket myapp-dev/myapp-dev-call-data: Conflict", "(NX-SPEC-005)",
		"Evidence:", "Ready is False", "Event", "$ kubectl edit ncap/myapp-dev -n myapp-dev", "$ nexusctl explain NX-SPEC-005", "Path:")
	var e explained
	if x.read(&e, append([]string{"explain"}, name...)...); e.Ready || e.Cause.Kind != "S3Bucket" || e.Cause.Reason != "Conflict" ||
		len(e.Path) != 2 || len(e.Events) == 0 {
		t.Errorf("%+v", e)
	} else if e.Cause.Code != "NX-SPEC-005" || !strings.HasSuffix(e.Events[0].Message, " (NX-SPEC-005)") ||
		!strings.HasSuffix(e.Conditions[0].Message, " (NX-SPEC-005)") {
		t.Errorf("cause, event or condition has no code: %+v", e)
	}
	x.wants(x.run("", append([]string{"tree"}, name...)...), 0, "S3Bucket/myapp-dev-call-data ✗ Failed", "Conflict: ", "(NX-SPEC-005)")
	x.wants(x.run("", append([]string{"status"}, name...)...), 1, "not ready", "DataServicesReady False Conflict", "(NX-SPEC-005)")
}

func TestExplain_FindsThePodOfABrokenImage(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Backend.Image = "backend:ImagePullBackOff"
	x.apply(x.manifest(c))
	x.Shows(c, "Ready", metav1.ConditionFalse, "ImagePullBackOff")
	var e explained
	x.read(&e, "explain", "ncap/"+c.Name, "-n", c.Namespace)
	if e.Cause.Kind != "Pod" || e.Cause.Reason != "ImagePullBackOff" || e.Cause.Code != "NX-K8S-001" || len(e.Path) != 3 ||
		e.Path[1].Kind != "Deployment" || len(e.Commands) == 0 || !strings.HasPrefix(e.Commands[0], "kubectl describe pod/") {
		t.Errorf("%+v", e)
	}
}

func TestExplain_NamesWhatAnObjectWaitsFor(t *testing.T) {
	x := newTool(t)
	common := v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "none"}}
	waits := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "waits", Namespace: x.Namespace}, common)
	x.Create(waits)
	x.Shows(waits, "Ready", metav1.ConditionFalse, "ProviderMissing")
	var e explained
	if x.read(&e, "explain", "s3bucket/waits", "-n", x.Namespace); e.Cause.Kind != "AWSProvider" || e.Cause.Health != "Missing" {
		t.Errorf("no provider: %+v", e)
	}
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	table := &v1alpha1.GlueTable{ObjectMeta: metav1.ObjectMeta{Name: "calls", Namespace: x.Namespace}, Spec: v1alpha1.GlueTableSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, TableName: "calls",
		DatabaseRef: &v1alpha1.ObjectReference{Name: "calls"}}}
	x.Create(table)
	x.Shows(table, "Ready", metav1.ConditionFalse, "Waiting")
	if x.read(&e, "explain", "gluetable/calls", "-n", x.Namespace); e.Cause.Kind != "GlueDatabase" || e.Cause.Health != "Missing" {
		t.Errorf("no database: %+v", e)
	}
	x.Op.Stop()
	late := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "late", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	x.Create(late)
	if x.read(&e, "explain", "s3bucket/late", "-n", x.Namespace); e.Cause.Reason != "NotObserved" || len(e.Commands) != 1 ||
		e.Commands[0] != "nexusctl status" {
		t.Errorf("no operator: %+v", e)
	}
}

func TestTree_OfABindingHasPoliciesAndTheirObjects(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	si := &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: "tree-dns"},
		Spec: intentv1alpha1.SecurityIntentSpec{Intent: intentv1alpha1.Intent{ID: "dnsManipulation", Action: "Block"}}}
	x.Create(si)
	t.Cleanup(func() { _ = x.Client.Delete(x.Ctx(), si) })
	b := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: x.Namespace},
		Spec: intentv1alpha1.SecurityIntentBindingSpec{
			Intents:  []intentv1alpha1.MatchIntent{{Name: si.Name}},
			Selector: intentv1alpha1.WorkloadSelector{MatchLabels: map[string]string{"app": "web"}}}}
	x.Create(b)
	x.Eventually(time.Minute, "the binding to be dealt with", func() error {
		if err := x.Get(b); err != nil || b.Status.NimbusPolicy == "" {
			return fmt.Errorf("%+v %v", b.Status, err)
		}
		return nil
	})
	var a answer
	x.Eventually(time.Minute, "the tree to be whole", func() error {
		if a = x.run("", "tree", "sib/web", "-n", x.Namespace); a.code != 0 || !strings.Contains(a.out, "NetworkPolicy/") {
			return fmt.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
		}
		return nil
	})
	x.wants(a, 0, "SecurityIntentBinding/web", "NimbusPolicy/web")
}
