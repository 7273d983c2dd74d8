// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func provider(namespace string) *v1alpha1.AWSProvider {
	return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Namespace: namespace},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
}

// subject is an object of a kind, with edits that follow one another.
type subject struct {
	make  func(meta metav1.ObjectMeta, common v1alpha1.CommonSpec) v1alpha1.Resource
	edits []func(o v1alpha1.Resource)
}

func edit[T v1alpha1.Resource](change func(T)) func(v1alpha1.Resource) {
	return func(o v1alpha1.Resource) { change(o.(T)) }
}

func tags(t map[string]v1alpha1.TagValue) func(v1alpha1.Resource) {
	return func(o v1alpha1.Resource) { o.CommonSpec().Tags = t }
}

var subjects = map[string]subject{
	"S3Bucket": {
		make: func(m metav1.ObjectMeta, c v1alpha1.CommonSpec) v1alpha1.Resource {
			return &v1alpha1.S3Bucket{ObjectMeta: m,
				Spec: v1alpha1.S3BucketSpec{CommonSpec: c, BucketName: "planned-bucket", Versioning: &v1alpha1.S3Versioning{Enabled: true}}}
		},
		edits: []func(v1alpha1.Resource){
			edit(func(o *v1alpha1.S3Bucket) { o.Spec.Versioning.Enabled = false }),
			tags(map[string]v1alpha1.TagValue{"team": "a"}),
			tags(map[string]v1alpha1.TagValue{"team": "b", "cost": "1"}),
		},
	},
	"DynamoDBTable": {
		make: func(m metav1.ObjectMeta, c v1alpha1.CommonSpec) v1alpha1.Resource {
			return &v1alpha1.DynamoDBTable{ObjectMeta: m, Spec: v1alpha1.DynamoDBTableSpec{CommonSpec: c, TableName: "planned-table",
				HashKey: v1alpha1.DynamoDBAttribute{Name: "pk", Type: "S"}, PointInTimeRecovery: aws.Bool(true)}}
		},
		edits: []func(v1alpha1.Resource){
			edit(func(o *v1alpha1.DynamoDBTable) { o.Spec.PointInTimeRecovery = aws.Bool(false) }),
			tags(map[string]v1alpha1.TagValue{"team": "a", "cost": "1"}),
			tags(nil),
		},
	},
	"IAMRole": {
		make: func(m metav1.ObjectMeta, c v1alpha1.CommonSpec) v1alpha1.Resource {
			return &v1alpha1.IAMRole{ObjectMeta: m,
				Spec: v1alpha1.IAMRoleSpec{CommonSpec: c, RoleName: "planned-role", IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}}
		},
		edits: []func(v1alpha1.Resource){
			edit(func(o *v1alpha1.IAMRole) { o.Spec.IRSA.ServiceAccount = "other" }),
			tags(map[string]v1alpha1.TagValue{"team": "a"}),
		},
	},
}

func TestPlan_ListsExactlyTheCallsOfEveryLife(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	for kind, s := range subjects {
		t.Run(kind, func(t *testing.T) {
			x := &tool{Bed: x.For(t), aws: x.aws}
			o := s.make(metav1.ObjectMeta{Name: strings.ToLower(kind), Namespace: x.Namespace},
				v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
			items := x.plan(x.manifest(o), "-f", "-")
			if len(items) != 1 || items[0].Action != "Create" || items[0].AWS == nil || items[0].AWS.Action != "Create" ||
				items[0].AWS.Cause != "New" {
				t.Fatalf("%+v", items)
			}
			if err := x.Client.Get(t.Context(), client.ObjectKeyFromObject(o),
				s.make(metav1.ObjectMeta{}, v1alpha1.CommonSpec{})); !apierrors.IsNotFound(err) {
				t.Fatalf("after planning: %v, want no object", err)
			}
			mark := x.World.AWS().Mark()
			x.apply(x.manifest(o))
			x.Ready(o)
			x.same("create", items, x.writesSince(mark))
			for i, change := range s.edits {
				x.edited(o, change, i)
			}
			x.deleted(o)
		})
	}
}

// same compares the calls of a plan with those that the operator then made.
func (x *tool) same(what string, items []item, made map[string]int) {
	x.Helper()
	if planned := callsOf(items); !maps.Equal(planned, made) || len(made) == 0 {
		x.Errorf("%s: planned %v, made %v", what, planned, made)
	}
}

// edited plans an edit, makes it, and plans again.
func (x *tool) edited(o v1alpha1.Resource, change func(v1alpha1.Resource), i int) {
	x.Helper()
	next := o.DeepCopyObject().(v1alpha1.Resource)
	change(next)
	items := x.plan(x.manifest(next), "-f", "-")
	if len(items) != 1 || items[0].Action != "Update" || len(items[0].Fields) == 0 || items[0].AWS == nil ||
		items[0].AWS.Cause != "SpecChanged" || len(items[0].AWS.Fields) == 0 {
		x.Fatalf("edit %d: %+v", i, items)
	}
	mark := x.World.AWS().Mark()
	x.apply(x.manifest(next))
	change(o)
	if err := x.Get(o); err != nil {
		x.Fatal(err)
	}
	x.Ready(o)
	x.same("edit", items, x.writesSince(mark))
	if a := x.run(x.manifest(o), "plan", "-f", "-", "--exit-code"); a.code != 0 || a.out != "No changes.\n" {
		x.Errorf("after edit %d: exit code %d\n%s%s", i, a.code, a.out, a.err)
	}
}

// deleted removes the object.
func (x *tool) deleted(o v1alpha1.Resource) {
	x.Helper()
	x.Remove(o)
}

func TestPlan_ListsExactlyTheCallsOfACapability(t *testing.T) {
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	items := x.plan(x.manifest(c), "-f", "-")
	for _, it := range items {
		if it.Action != "Create" || it.Problem != nil || it.Waits != "" {
			t.Errorf("%s: %+v", it.title(), it)
		}
	}
	mark, writes := x.Mark()
	x.apply(x.manifest(c))
	x.Running(c)
	x.Quiet()
	x.same("create", items, x.writesSince(mark))
	x.sameWrites("create", items, x.made(writes), nil)
	x.childrenExist(len(items)-1, c)
	x.unchanged(x.manifest(c), "-f", "-")
	x.unchanged("", "ncap/"+c.Name, "-n", c.Namespace)
	x.unchanged("", "--all", "-n", c.Namespace)

	next := c.DeepCopy()
	next.Spec.Backend.Replicas = aws.Int32(3)
	next.Spec.Backend.Env = []nexusv1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"}}
	next.Spec.Frontend.Autoscaling = &nexusv1.AutoscalingSpec{Max: 3}
	next.Spec.DataServices.S3.Buckets = []nexusv1.BucketSpec{{Name: "call-data"}, {Name: "journey-logs"}, {Name: "journey-reports"},
		{Name: "more"}}
	items = x.plan(x.manifest(next), "-f", "-")
	got := map[string]string{}
	for _, it := range items {
		if it.Action != "None" || it.AWS != nil && it.AWS.Action != "None" {
			got[it.title()] = it.Action
		}
	}
	if got["HorizontalPodAutoscaler/myapp-dev-frontend"] != "Create" || got["Deployment/myapp-dev-frontend"] != "Update" {
		t.Errorf("%v", got)
	}
	if got["Deployment/myapp-dev-backend"] != "Update" || got["S3Bucket/myapp-dev-more"] != "Create" ||
		got["S3Bucket/myapp-dev-wxcc-simulator"] != "Delete" || got["IAMRole/myapp-dev-app-role"] != "Update" {
		t.Errorf("%v", got)
	}
	mark, writes = x.Mark()
	x.apply(x.manifest(next))
	c.Spec = next.Spec
	if err := x.Get(c); err != nil {
		t.Fatal(err)
	}
	x.Running(c)
	x.Gone(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-wxcc-simulator", Namespace: c.Namespace}})
	x.Quiet()
	x.same("edit", items, x.writesSince(mark))
	x.sameWrites("edit", items, x.made(writes), nil)
	x.unchanged(x.manifest(c), "-f", "-")
	x.deletionIsPlanned(c)
}

// childrenExist compares the number of children of a plan with those that there are.
func (x *tool) childrenExist(children int, c client.Object) {
	x.Helper()
	n := 0
	for _, l := range []client.ObjectList{&v1alpha1.AWSProviderList{}, &v1alpha1.S3BucketList{}, &v1alpha1.DynamoDBTableList{},
		&v1alpha1.IAMRoleList{}, &v1alpha1.GlueTableList{},
		&v1alpha1.GlueCrawlerList{}, &v1alpha1.GlueDatabaseList{}, &v1alpha1.SSMParameterSetList{}, &v1alpha1.SecretsManagerSecretList{},
		&appsv1.DeploymentList{}, &corev1.ServiceList{},
		&corev1.ConfigMapList{}, &corev1.ServiceAccountList{}, &networkingv1.IngressList{}, &policyv1.PodDisruptionBudgetList{},
		&autoscalingv2.HorizontalPodAutoscalerList{}} {
		if err := x.Client.List(x.Ctx(), l, client.InNamespace(c.GetNamespace()),
			client.MatchingLabels{"app.kubernetes.io/managed-by": "nexus-operator"}); err != nil {
			x.Fatal(err)
		}
		n += meta.LenList(l)
	}
	if n != children {
		x.Errorf("%d objects were planned and %d exist", children, n)
	}
}

// unchanged plans and wants nothing to change.
func (x *tool) unchanged(stdin string, args ...string) {
	x.Helper()
	if a := x.run(stdin, append([]string{"plan", "--exit-code"}, args...)...); a.code != 0 || a.out != "No changes.\n" {
		x.Errorf("plan %v: exit code %d\n%s%s", args, a.code, a.out, a.err)
	}
}

func TestPlan_ShowsDriftAndWhatIsInTheWay(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	common := v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}
	mine := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "mine", Namespace: x.Namespace}, common)
	x.Create(mine)
	x.Ready(mine)
	x.suspendVersioning("planned-bucket")
	items := x.plan("", "s3bucket/mine", "-n", x.Namespace)
	if len(items) != 1 || items[0].Action != "None" || items[0].AWS == nil || items[0].AWS.Cause != "Drift" ||
		callsOf(items)["s3:PutBucketVersioning"] != 1 {
		t.Errorf("drift: %+v", items)
	}

	foreign := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "foreign", Namespace: x.Namespace}, common).(*v1alpha1.S3Bucket)
	foreign.Spec.BucketName = "somebody-elses"
	if _, err := x.s3().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("somebody-elses"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	a := x.run(x.manifest(foreign), "plan", "-f", "-")
	if a.code != 1 || !strings.Contains(a.out, "! Conflict: ") || !strings.Contains(a.out, "Problems: 1.") {
		t.Errorf("foreign: exit code %d\n%s%s", a.code, a.out, a.err)
	}

	orphan := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "orphan", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "none"}})
	if a := x.run(x.manifest(orphan), "plan", "-f", "-"); !strings.Contains(a.out, "waits for AWSProvider/none to exist") {
		t.Errorf("no provider: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run(x.manifest(provider(x.Namespace), orphan)+"bucketName: x", "plan", "-f", "-"); a.code == 0 {
		t.Errorf("unknown field: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func (x *tool) s3() *s3.Client {
	return s3.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
}

func TestPlan_WithoutRightsSaysWhichAreMissing(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	nobody, err := x.World.UserConfig("nobody")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := world.WriteKubeconfig(path, nobody); err != nil {
		t.Fatal(err)
	}
	c := x.Capability("examples/test-capability.yaml")
	if a := x.runAs([]string{"KUBECONFIG=" + path}, x.manifest(c), "plan", "-f", "-"); a.code != 4 || !strings.Contains(a.err, "forbidden") ||
		a.out != "" {
		t.Errorf("no rights in the cluster: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	administrator := "KUBECONFIG=" + x.World.Kubeconfig()
	if a := x.runAs([]string{administrator}, x.manifest(c), "plan", "-f", "-"); a.code != 4 || !strings.Contains(a.err, "AWS") || a.out != "" {
		t.Errorf("no credentials: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.runAs([]string{administrator}, x.manifest(c), "plan", "-f", "-", "--skip-aws"); a.code != 0 ||
		!strings.Contains(a.out, "+ NexusAICapability myapp-dev/myapp-dev: create") {
		t.Errorf("without AWS: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}
