// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// withStores adds a table, a bucket and the catalog, one of each.
func withStores(c *nexusv1.NexusAICapability) *nexusv1.NexusAICapability {
	c.Spec.DataServices = &nexusv1.DataServicesSpec{
		DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "license"}}},
		S3:       &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "call-data"}}},
		Glue:     &nexusv1.GlueSpec{},
	}
	return c
}

// children lists what the operator keeps in a namespace, of the kinds a capability becomes.
func (b *bed) children(namespace string) []client.Object {
	b.Helper()
	var out []client.Object
	for _, l := range []client.ObjectList{&v1alpha1.AWSProviderList{}, &v1alpha1.S3BucketList{}, &v1alpha1.DynamoDBTableList{},
		&v1alpha1.IAMRoleList{},
		&v1alpha1.GlueDatabaseList{}, &v1alpha1.GlueTableList{}, &v1alpha1.GlueCrawlerList{}, &v1alpha1.SSMParameterSetList{},
		&v1alpha1.SecretsManagerSecretList{},
		&v1alpha1.SNSTopicList{}, &v1alpha1.CognitoUserPoolList{}, &v1alpha1.CertificateList{}, &v1alpha1.Route53RecordSetList{},
		&v1alpha1.SQSQueueList{}, &v1alpha1.KMSKeyList{}, &v1alpha1.Route53HostedZoneList{}, &v1alpha1.PodIdentityAssociationList{},
		&v1alpha1.AWSResourceList{},
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &networkingv1.IngressList{}} {
		if err := b.Client.List(b.Ctx(), l, client.InNamespace(namespace)); err != nil {
			b.Fatal(err)
		}
		_ = meta.EachListItem(l, func(o runtime.Object) error {
			out = append(out, o.(client.Object))
			return nil
		})
	}
	return out
}

func TestBackgroundAndForegroundCascadesEndWithoutResidue(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=nowhere")
	for name, policy := range map[string]metav1.DeletionPropagation{"behind": metav1.DeletePropagationBackground,
		"before": metav1.DeletePropagationForeground} {
		c := withStores(b.small(name))
		b.Create(c)
		b.Running(c)
		if err := b.Client.Delete(b.Ctx(), c, client.PropagationPolicy(policy)); err != nil {
			t.Fatal(err)
		}
		b.Gone(c)
		if inv := b.Inventory(); len(inv) > 0 {
			t.Errorf("%s: left behind in AWS: %v", policy, inv)
		}
		b.Eventually(5*time.Second, "the children to be gone", func() error {
			if left := b.children(c.Namespace); len(left) > 0 {
				return fmt.Errorf("%d left, such as %T %s", len(left), left[0], left[0].GetName())
			}
			return nil
		})
	}
}

func TestAnOrphanCascadeKeepsEveryObjectWithoutOurMarks(t *testing.T) {
	extent.Full(t)
	for _, absent := range []bool{false, true} {
		t.Run(fmt.Sprintf("operator away %t", absent), func(t *testing.T) {
			b := newBed(t, "--ambient-namespaces=orphan-*") // no capability vouches for objects that were left to themselves
			c := withStores(b.small(fmt.Sprintf("orphan-%t", absent)))
			b.Create(c)
			b.Running(c)
			before, inv := b.children(c.Namespace), fmt.Sprint(b.Inventory())
			if absent { // the garbage collector is done before we look
				b.Op.Kill()
			}
			if err := b.Client.Delete(b.Ctx(), c, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
				t.Fatal(err)
			}
			if absent {
				b.Eventually(10*time.Second, "the garbage collector to cut the references", func() error {
					err := b.Get(c)
					if err == nil && slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents) {
						err = fmt.Errorf("%v", c.Finalizers)
					}
					return err
				})
				b.Restart()
			}
			b.Gone(c)
			after := b.children(c.Namespace)
			if len(after) != len(before) {
				t.Errorf("%d of %d objects are left", len(after), len(before))
			}
			for _, o := range after {
				marks := fmt.Sprint(o.GetLabels(), o.GetOwnerReferences())
				if o.GetDeletionTimestamp() != nil || strings.Contains(marks, string(c.UID)) || o.GetLabels()["app.kubernetes.io/managed-by"] != "" {
					t.Errorf("%T %s: %v %s", o, o.GetName(), o.GetDeletionTimestamp(), marks)
				}
			}
			if now := fmt.Sprint(b.Inventory()); now != inv {
				t.Errorf("AWS changed from %s to %s", inv, now)
			}
			for _, o := range after { // each can still be deleted alone
				if err := b.Client.Delete(b.Ctx(), o); err != nil {
					t.Error(err)
				}
			}
			b.Eventually(20*time.Second, "the objects to go one by one", func() error {
				if left := b.children(c.Namespace); len(left) > 0 {
					return fmt.Errorf("%d left, such as %T %s", len(left), left[0], left[0].GetName())
				}
				return nil
			})
			if inv := b.Inventory(); len(inv) > 0 {
				t.Errorf("left behind in AWS: %v", inv)
			}
		})
	}
}

func TestTheDeletionOfAWholeNamespaceEndsWell(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=nowhere")
	own := withStores(b.small("whole"))
	keyedOne := b.small("keyed")
	b.Create(own)
	secret, p := keys("keys", "AKIAWHOLE"), keyed("aws", "keys")
	secret.Namespace, p.Namespace = keyedOne.Namespace, keyedOne.Namespace
	keyedOne.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	b.Create(secret, p, keyedOne)
	b.Running(own)
	b.Running(keyedOne)
	for _, c := range []*nexusv1.NexusAICapability{own, keyedOne} {
		if err := b.Client.Delete(b.Ctx(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*nexusv1.NexusAICapability{own, keyedOne} {
		b.Gone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}})
	}
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}

func TestACapabilityDeletedWhileItIsCreatedLeavesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	moments := []emulator.Match{{Service: "sts"}, {Service: "dynamodb", Op: "CreateTable"}, {Service: "iam", Op: "CreateRole"},
		{Service: "ssm", Op: "PutParameter"}}
	for i, at := range extent.Sample(t, moments, 2) {
		c := withStores(b.small(fmt.Sprintf("early-%d", i)))
		mark, _ := b.Mark()
		b.Create(c)
		b.Eventually(20*time.Second, "the call to be made", func() error {
			if b.World.AWS().Since(mark).Match(at.Service, at.Op, "*").Count() == 0 {
				return fmt.Errorf("not yet")
			}
			return nil
		})
		b.Remove(c)
		if inv := b.Inventory(); len(inv) > 0 {
			t.Errorf("deleted at %s.%s, left behind: %v", at.Service, at.Op, inv)
		}
		if left := b.children(c.Namespace); len(left) > 0 {
			t.Errorf("deleted at %s.%s, %d objects left, such as %T %s", at.Service, at.Op, len(left), left[0], left[0].GetName())
		}
	}
}

func TestADeletionWaitsForCredentialsThatAreGoneAndGoesOnWithThem(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := withStores(b.small("keyless"))
	secret, p := keys("keys", "AKIAKEYLESS"), keyed("aws", "keys")
	secret.Namespace, p.Namespace = c.Namespace, c.Namespace
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	b.Create(secret, p, c)
	b.Running(c)
	// A person forces the Secret away.
	if err := b.Client.Delete(b.Ctx(), secret); err != nil {
		t.Fatal(err)
	}
	if err := b.Client.Patch(b.Ctx(), secret,
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	b.Shows(p, "Stalled", metav1.ConditionTrue, "CredentialsMissing")
	if err := b.Client.Delete(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	b.Eventually(15*time.Second, "the capability to say what it misses", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, "Ready")
		if c.Status.Phase != nexusv1.PhaseDeleting || ready == nil || !strings.Contains(ready.Message, "Secret "+c.Namespace+"/keys") {
			return fmt.Errorf("%s: %+v", c.Status.Phase, ready)
		}
		return nil
	})
	if len(c.Finalizers) == 0 {
		t.Error("the finalizer is gone")
	}
	if inv := b.Inventory(); len(inv["s3/bucket"]) == 0 || len(inv["dynamodb/table"]) == 0 {
		t.Errorf("AWS is not as it was: %v", inv)
	}
	again := keys("keys", "AKIAAGAIN")
	again.Namespace = c.Namespace
	b.Create(again)
	b.Gone(c)
	b.Remove(p)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
	if err := b.Client.Delete(b.Ctx(), again); err != nil {
		t.Fatal(err)
	}
	b.Eventually(5*time.Second, "the Secret to be let go", func() error {
		if err := b.Get(again); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there: %v, finalizers %v", err, again.Finalizers)
		}
		return nil
	})
}

func TestADeletionWaitsForItsProviderThatIsGone(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := withStores(b.small("headless"))
	secret, p := keys("keys", "AKIAHEADLESS"), keyed("aws", "keys")
	secret.Namespace, p.Namespace = c.Namespace, c.Namespace
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	b.Create(secret, p, c)
	b.Running(c)
	inv := fmt.Sprint(b.Inventory())
	// A person forces the provider away: a deletion alone it would outlive.
	if err := b.Client.Delete(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	if err := b.Client.Patch(b.Ctx(), p,
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	b.Gone(p)
	if err := b.Client.Delete(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	b.Eventually(15*time.Second, "the capability to say what it misses", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		if c.Status.Phase != nexusv1.PhaseDeleting || !strings.Contains(c.Status.Message, "AWSProvider/aws to exist in namespace "+c.Namespace) {
			return fmt.Errorf("%s: %s", c.Status.Phase, c.Status.Message)
		}
		return nil
	})
	if now := fmt.Sprint(b.Inventory()); len(c.Finalizers) == 0 || now != inv {
		t.Errorf("finalizers %v, AWS changed from %s to %s", c.Finalizers, inv, now)
	}
	again := keyed("aws", "keys")
	again.Namespace = c.Namespace
	b.Create(again)
	b.Gone(c)
	b.Remove(again)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}

func TestADeletionSaysThatTheLoadBalancerControllerIsGone(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("deserted")
	b.Create(c)
	b.Running(c)
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "deserted-dev-app-ingress", Namespace: c.Namespace}}
	b.Edit(i, func() { i.Finalizers = []string{"ingress.k8s.aws/resources"} })
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
	if err := b.Get(class); err != nil {
		t.Fatal(err)
	}
	if err := b.Client.Delete(b.Ctx(), class); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Client.Create(b.Ctx(), fresh(class)) })
	if err := b.Client.Delete(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	if m := b.Shows(c, "Stalled", metav1.ConditionTrue, "IngressControllerGone"); !strings.Contains(m, "ingress.k8s.aws/resources") ||
		!strings.Contains(m, "install") {
		t.Errorf("no cause or no remedy: %s", m)
	}
	b.Edit(i, func() { i.Finalizers = nil })
	b.Gone(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}
