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
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// planner is the environment of a user who has no AWS credentials, and in one namespace the right to request plans and no other.
func (x *tool) planner(namespace string) []string {
	x.Helper()
	user := "planner-of-" + namespace
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: namespace},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-plan"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}}
	if err := x.Client.Create(x.Ctx(), binding); client.IgnoreAlreadyExists(err) != nil {
		x.Fatal(err)
	}
	config, err := x.World.UserConfig(user)
	if err != nil {
		x.Fatal(err)
	}
	path := filepath.Join(x.TempDir(), user)
	if err := world.WriteKubeconfig(path, config); err != nil {
		x.Fatal(err)
	}
	return []string{"KUBECONFIG=" + path, "AWS_EC2_METADATA_DISABLED=true"}
}

// sameAsServer compares the plan that the operator makes for a user with the one that an administrator makes, and returns it.
func (x *tool) sameAsServer(user []string, stdin string, args ...string) []item {
	x.Helper()
	args = append([]string{"plan", "-o", "json"}, args...)
	mark := x.World.AWS().Mark()
	server := x.runAs(user, stdin, append(args, "--server")...)
	if n := len(x.World.AWS().Since(mark).From(x.aws.Name())); n > 0 {
		x.Errorf("with --server nexusctl sent %d calls to AWS", n)
	}
	if w := x.writesSince(mark); len(w) > 0 {
		x.Errorf("planning wrote to AWS: %v", w)
	}
	own := x.run(stdin, args...)
	if server.code != own.code || server.out != own.out {
		x.Errorf("plan %v: with --server exit code %d\n%s%s\nwithout %d\n%s%s", args, server.code, server.out, server.err, own.code, own.out,
			own.err)
	}
	var p struct{ Items []item }
	if err := json.Unmarshal([]byte(server.out), &p); err != nil {
		x.Fatal(err)
	}
	return p.Items
}

func (x *tool) noRequests(namespace string) {
	x.Helper()
	list := &nexusv1.PlanRequestList{}
	if err := x.Client.List(x.Ctx(), list, client.InNamespace(namespace)); err != nil {
		x.Fatal(err)
	}
	if len(list.Items) > 0 {
		x.Errorf("PlanRequests are left: %s", list.Items[0].Name)
	}
}

func TestPlanServer_PlansForAUserWithoutOtherRights(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	user := x.planner(c.Namespace)
	items := x.sameAsServer(user, x.manifest(c), "-f", "-")
	mark := x.World.AWS().Mark()
	x.apply(x.manifest(c))
	x.Running(c)
	x.same("create", items, x.writesSince(mark))
	x.sameAsServer(user, x.manifest(c), "-f", "-")
	if a := x.runAs(user, "", "plan", "ncap/"+c.Name, "-n", c.Namespace, "--server", "--exit-code"); a.code != 0 || a.out != "No changes.\n" {
		t.Errorf("as it is: exit code %d\n%s%s", a.code, a.out, a.err)
	}

	next := c.DeepCopy()
	next.Spec.Backend.Replicas = aws.Int32(3)
	next.Spec.Backend.Env = nil
	next.Spec.DataServices.S3.Buckets = []nexusv1.BucketSpec{{Name: "call-data"}, {Name: "journey-logs"}, {Name: "more"}}
	items = x.sameAsServer(user, x.manifest(next), "-f", "-")
	mark = x.World.AWS().Mark()
	x.apply(x.manifest(next))
	c.Spec = next.Spec
	if err := x.Get(c); err != nil {
		t.Fatal(err)
	}
	x.Running(c)
	x.Gone(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-wxcc-simulator", Namespace: c.Namespace}})
	x.Gone(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-journey-reports", Namespace: c.Namespace}})
	x.Quiet()
	x.same("edit", items, x.writesSince(mark))

	invalid := c.DeepCopy()
	invalid.Spec.CapabilityName = "another"
	if a := x.runAs(user, x.manifest(invalid), "plan", "-f", "-", "--server"); a.code != 1 ||
		!strings.Contains(a.out, "spec.capabilityName: capabilityName is immutable") {
		t.Errorf("an immutable field: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.noRequests(c.Namespace)
}

// answerTo creates a request and waits for its answer.
func (x *tool) answerTo(spec nexusv1.PlanRequestSpec) *nexusv1.PlanRequest {
	x.Helper()
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-", Namespace: x.Namespace}, Spec: spec}
	x.Create(q)
	x.Eventually(40*time.Second, "an answer", func() error {
		if err := x.Get(q); err != nil || q.Status.ObservedGeneration != q.Generation {
			return fmt.Errorf("%w: %+v", err, q.Status.Conditions)
		}
		return nil
	})
	return q
}

func TestPlanServer_RefusesWhatIsNotOfTheNamespace(t *testing.T) {
	x := newTool(t)
	of := func(apiVersion, kind, namespace string) nexusv1.PlannedManifest {
		return nexusv1.PlannedManifest(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","namespace":%q},"spec":{}}`, apiVersion,
			kind, namespace))
	}
	for name, tc := range map[string]struct {
		spec nexusv1.PlanRequestSpec
		want string
	}{
		"another namespace": {nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{of("nexus.ai/v1", "NexusAICapability",
			"kube-system")}}, "spec.manifests[0].metadata.namespace"},
		"a foreign kind": {nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{of("v1", "Secret", "")}},
			"spec.manifests[0].kind"},
		"a kind of the cluster": {nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{of("intent.security.nimbus.com/v1alpha1",
			"SecurityIntent", "")}}, "spec.manifests[0].kind"},
		"a provider": {nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{of("aws-infra-operator.runner.codes/v1alpha1",
			"AWSProvider", "")}}, "AWSProvider is refused"},
		"another group": {nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{of("example.com/v1", "S3Bucket", "")}},
			"spec.manifests[0].apiVersion"},
		"no JSON": {nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{"kind: x"}}, "spec.manifests[0]"},
		"an object of another group": {nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "Secret", Name: "a"}}},
			"spec.objects[0].kind"},
		"an object that is none": {nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "S3Bucket", Name: "none"}}},
			"spec.objects[0].name"},
	} {
		q := x.answerTo(tc.spec)
		c := meta.FindStatusCondition(q.Status.Conditions, "Stalled")
		if c == nil || c.Status != metav1.ConditionTrue || c.Reason != "InvalidSpec" || !strings.Contains(c.Message, tc.want) ||
			q.Status.Plan != "" {
			t.Errorf("%s: %+v", name, q.Status)
		}
	}
	user := x.planner(x.Namespace)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: x.Namespace}}
	if a := x.runAs(user, x.manifest(secret), "plan", "-f", "-", "--server"); a.code != 2 ||
		!strings.Contains(a.err, "spec.manifests[0].kind") {
		t.Errorf("a foreign kind: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	big := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "big", Namespace: x.Namespace},
		Spec: v1alpha1.S3BucketSpec{BucketName: strings.Repeat("x", 70000)}}
	if a := x.runAs(user, x.manifest(big), "plan", "-f", "-", "--server"); a.code != 2 || !strings.Contains(a.err, "spec.manifests[0]") {
		t.Errorf("too large: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.runAs(user, "", "plan", "ncap/a", "-n", "default", "--server"); a.code != 4 || !strings.Contains(a.err, "forbidden") {
		t.Errorf("a namespace without rights: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestPlanServer_ShowsNoMoreThanAnObjectWould(t *testing.T) {
	const canary = "canary-7f3a91"
	x := newTool(t)
	x.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "operator-secrets"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator.User}}})
	p := provider(x.Namespace)
	x.Create(p, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "source"},
		StringData: map[string]string{"value": canary, "other": canary + "-other"}})
	x.Ready(p)
	common := v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}
	stored := &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Name: "stored", Namespace: x.Namespace},
		Spec: v1alpha1.SecretsManagerSecretSpec{
			CommonSpec: common, SecretName: "planned/stored", SecretStringRef: &v1alpha1.SecretKeyReference{Name: "source", Key: "value"}}}
	aws3 := x.s3()
	if _, err := aws3.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("somebody-elses"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	foreign := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "foreign", Namespace: x.Namespace}, common).(*v1alpha1.S3Bucket)
	foreign.Spec.BucketName = "somebody-elses"
	user := x.planner(x.Namespace)
	a := x.runAs(user, x.manifest(stored, foreign), "plan", "-f", "-", "--server", "-o", "json")
	if a.code != 1 || !strings.Contains(a.out, "secretsmanager:CreateSecret") || !strings.Contains(a.out, `"Conflict"`) ||
		strings.Contains(a.out+a.err, canary) {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.apply(x.manifest(stored))
	x.Ready(stored)
	edited := stored.DeepCopy()
	edited.Spec.SecretStringRef.Key = "other"
	if a := x.runAs(user, x.manifest(edited), "plan", "-f", "-", "--server", "-o", "json"); a.code != 0 ||
		!strings.Contains(a.out, "secretsmanager:PutSecretValue") || strings.Contains(a.out+a.err, canary) {
		t.Errorf("another value: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	q := x.answerTo(nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "SecretsManagerSecret", Name: "stored"}}})
	text, err := json.Marshal(q)
	if err != nil || strings.Contains(string(text), canary) || !strings.Contains(q.Status.Plan, `"stored"`) {
		t.Errorf("%v %s", err, text)
	}

	// A record of the operator that a manifest forges is not believed, and the identity of another namespace's provider is not used.
	forged := strings.Replace(x.manifest(foreign), "metadata:\n",
		"metadata:\n  uid: forged\n  annotations: {nexus.ai/home: aws/123456789012/ap-southeast-1}\n", 1) +
		"status: {id: somebody-elses, arn: 'arn:aws:s3:::somebody-elses'}\n"
	if a := x.runAs(user, forged, "plan", "-f", "-", "--server"); a.code != 1 || !strings.Contains(a.out, "! Conflict: ") {
		t.Errorf("forged: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	borrowed := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "borrowed", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "elsewhere"}})
	if a := x.runAs(user, x.manifest(borrowed), "plan", "-f", "-", "--server"); !strings.Contains(a.out,
		"waits for AWSProvider/elsewhere to exist in namespace "+x.Namespace) {
		t.Errorf("no provider: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestPlanServer_PlansEditsAndDriftOfAResource(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	b := x.bucketOf("served-bucket")
	user := x.planner(x.Namespace)
	x.suspendVersioning("served-bucket")
	items := x.sameAsServer(user, "", "s3bucket/served-bucket", "-n", x.Namespace)
	if len(items) != 1 || items[0].AWS == nil || items[0].AWS.Cause != "Drift" || callsOf(items)["s3:PutBucketVersioning"] != 1 {
		t.Errorf("drift: %+v", items)
	}
	next := b.DeepCopy()
	next.Spec.Tags = map[string]v1alpha1.TagValue{"team": "a"}
	next.Spec.Versioning.Enabled = false
	items = x.sameAsServer(user, x.manifest(next), "-f", "-")
	if len(items) != 1 || items[0].Action != "Update" || items[0].AWS == nil || items[0].AWS.Cause != "SpecChanged" {
		t.Fatalf("edit: %+v", items)
	}
	mark := x.World.AWS().Mark()
	x.apply(x.manifest(next))
	b.Spec = next.Spec
	if err := x.Get(b); err != nil {
		t.Fatal(err)
	}
	x.Ready(b)
	x.same("edit", items, x.writesSince(mark))
	x.sameAsServer(user, x.manifest(next), "-f", "-")
	x.noRequests(x.Namespace)
}

func TestPlanServer_GivesAFutureProviderToItsCapabilityAlone(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--capability-namespaces=myapp-dev", "--ambient-namespaces=nowhere")
	c := x.Capability("examples/test-capability.yaml")
	stranger := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "stranger", Namespace: c.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "myapp-dev"}})
	a := x.runAs(x.planner(c.Namespace), x.manifest(c, stranger), "plan", "-f", "-", "--server")
	if a.code != 1 || !strings.Contains(a.out, "call s3:CreateBucket") || strings.Count(a.out, "! NotPermitted: ") != 1 ||
		!strings.Contains(a.out, "serves only the capability that made it") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.apply(x.manifest(c))
	x.Running(c)
	x.Quiet()
	a = x.run(x.manifest(stranger), "plan", "-f", "-", "--operator-arg=--capability-namespaces=myapp-dev",
		"--operator-arg=--ambient-namespaces=nowhere")
	if a.code != 1 || strings.Contains(a.out, "call s3:CreateBucket") ||
		!strings.Contains(a.out, "! NotPermitted: spec.providerRef: AWSProvider/myapp-dev ") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	user := x.planner(c.Namespace)
	if a := x.runAs(user, "", "plan", "s3bucket/myapp-dev-call-data", "-n", c.Namespace, "--server", "--exit-code"); a.code != 0 ||
		a.out != "No changes.\n" {
		t.Errorf("a child as its capability declares it: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	child := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-call-data", Namespace: c.Namespace}}
	if err := x.Get(child); err != nil {
		t.Fatal(err)
	}
	child.Spec.Tags = map[string]v1alpha1.TagValue{"by": "hand"}
	if a := x.runAs(user, x.manifest(child), "plan", "-f", "-", "--server"); !strings.Contains(a.out,
		"waits for the object to be as its capability declares it") || strings.Contains(a.out, "call s3:") {
		t.Errorf("a child that was edited: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestPlanServer_UsesTheOperatorsIdentityOnlyWhereItMay(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--capability-namespaces=nowhere", "--ambient-namespaces=nowhere")
	c := x.Capability("examples/test-capability.yaml")
	mark := x.World.AWS().Mark()
	a := x.runAs(x.planner(c.Namespace), x.manifest(c), "plan", "-f", "-", "--server")
	if a.code != 1 || !strings.Contains(a.out, "! AmbientNotAllowed: ") ||
		!strings.Contains(a.out, "--capability-namespaces=nowhere,"+c.Namespace) {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	for _, call := range x.World.AWS().Since(mark) {
		t.Errorf("AWS was asked: %s", call.Label())
	}
}

func TestPlanServer_WithoutAnOperatorSaysSo(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--plan-requests=false")
	user := x.planner(x.Namespace)
	b := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "a", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	a := x.runAs(user, x.manifest(b), "plan", "-f", "-", "--server", "--server-timeout=2s")
	if a.code != 4 || !strings.Contains(a.err, "has not answered") || !strings.Contains(a.err, "--plan-requests") || a.out != "" {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.noRequests(x.Namespace)
}
