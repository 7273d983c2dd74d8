// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// expectEvent waits for an event of the operator with a reason, about an object, that says all of the words.
func (b *bed) expectEvent(about client.Object, reason string, words ...string) {
	b.Helper()
	b.Eventually(10*time.Second, fmt.Sprintf("an event %s about %s that says %v", reason, about.GetName(), words), func() error {
		list := &eventsv1.EventList{}
		if err := b.Client.List(b.Ctx(), list, client.InNamespace(about.GetNamespace())); err != nil {
			return err
		}
		var notes []string
	next:
		for _, e := range list.Items {
			if e.Reason != reason || e.Regarding.Name != about.GetName() {
				continue
			}
			notes = append(notes, e.Note)
			for _, w := range words {
				if !strings.Contains(e.Note, w) {
					continue next
				}
			}
			return nil
		}
		return fmt.Errorf("%d events, notes %v", len(list.Items), notes)
	})
}

func TestHands_AdditionsToGeneratedObjectsAreRemoved(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("added")
	b.Create(c)
	b.Running(c)
	i := &networkingv1.Ingress{ObjectMeta: named(c.Namespace, "added-dev-app-ingress")}
	b.Edit(i, func() {
		i.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "evil",
			Port: networkingv1.ServiceBackendPort{Number: 80}}}
	})
	s := &corev1.Service{ObjectMeta: named(c.Namespace, "added-dev-backend-svc")}
	b.Edit(s, func() {
		s.Spec.Ports[0].Name = "http"
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "evil", Port: 9999, TargetPort: intstr.FromInt32(9999)})
	})
	cm := &corev1.ConfigMap{ObjectMeta: named(c.Namespace, "added-dev-config")}
	b.Edit(cm, func() { cm.Data["EVIL"] = "1" })
	b.Eventually(5*time.Second, "the additions to be removed", func() error {
		for _, o := range []client.Object{i, s, cm} {
			if err := b.Get(o); err != nil {
				return err
			}
		}
		if i.Spec.DefaultBackend != nil || len(s.Spec.Ports) != 1 || cm.Data["EVIL"] != "" {
			return fmt.Errorf("default backend %v, ports %v, data %v", i.Spec.DefaultBackend, s.Spec.Ports, cm.Data["EVIL"])
		}
		return nil
	})
	for _, words := range [][]string{{"Ingress/", "spec.defaultBackend"}, {"Service/", "9999"}, {"ConfigMap/", "EVIL"}} {
		b.expectEvent(c, "DriftCorrected", words...)
	}
	if s.Spec.ClusterIP == "" || len(cm.Data) == 0 {
		t.Errorf("more was removed than was added: %+v %v", s.Spec, cm.Data)
	}
	b.Running(c)
	b.Quiet()
	_, km := b.Mark()
	time.Sleep(2 * time.Second) // the longest pause before a retry; requests that wait for their time show nowhere
	if w := b.KubeWrites(km); len(w) > 0 {
		t.Errorf("writes at rest: %v", w)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestNames_ACapabilityThatCannotRunHoldsNone(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=contested-dev")
	first, second := b.small("contested"), b.small("contested")
	first.Name, first.Spec.ProviderRef = "invalid", &nexusv1.ProviderReference{Name: "aws"}
	first.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "arn:aws:iam::123456789012:policy/b",
		ExtraPolicyStatements: []nexusv1.PolicyStatement{
			{Actions: []nexusv1.PolicyAction{"sqs:SendMessage"}, Resources: []nexusv1.PolicyResource{"*"}}}}
	p := provider("aws")
	p.Namespace = first.Namespace
	b.Create(p)
	b.Ready(p)
	b.Create(first)
	b.Shows(first, "Stalled", metav1.ConditionTrue, "NotPermitted")
	b.Create(second)
	b.Running(second)
	b.Edit(first, func() { first.Spec.Identity = nil })
	b.Shows(first, "Stalled", metav1.ConditionTrue, "NameConflict")
	b.Passes("nexusaicapability", 1, func() {}) // the next retry
	b.Running(second)
	b.Remove(second)
	b.Running(first)
	b.Remove(first)
	b.Remove(p)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestNames_OrphanedChildrenAreTakenOverAgain(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("again"))
	b.Create(c)
	b.Running(c)
	b.seed("again-dev", "again/dev")
	table, data := b.stored("again-dev-license"), fmt.Sprint(b.data("again-dev"))
	uids := map[string]bool{}
	for _, o := range b.children(c.Namespace) {
		uids[string(o.GetUID())] = true
	}
	if err := b.Client.Delete(b.Ctx(), c, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	b.Gone(c)
	next := withStores(b.small("again"))
	b.Create(next)
	b.Running(next)
	for _, o := range b.children(c.Namespace) {
		if !uids[string(o.GetUID())] {
			t.Errorf("%T %s is a new object", o, o.GetName())
		}
		if owner := metav1.GetControllerOf(o); owner == nil || owner.UID != next.UID {
			t.Errorf("%T %s is controlled by %v", o, o.GetName(), owner)
		}
	}
	if now := b.stored("again-dev-license"); now != table || fmt.Sprint(b.data("again-dev")) != data {
		t.Errorf("the table was %s and is %s", table, now)
	}
	b.discard("again-dev-call-data")
	b.removeAll([]*nexusv1.NexusAICapability{next})
}

// The operator reverts, with a Warning, edits that people make in AWS and to the marks of objects.
// What a person strips of everything that tells whose it is has the API server's record of who applied it.
func TestHands_AChildWithoutAnyMarkIsRestored(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("bare"))
	b.Create(c)
	b.Running(c)
	objects := []client.Object{
		&v1alpha1.S3Bucket{ObjectMeta: named(c.Namespace, "bare-dev-call-data")},
		&v1alpha1.IAMRole{ObjectMeta: named(c.Namespace, "bare-dev-app-role")},
	}
	for _, child := range b.children(c.Namespace) {
		switch child.(type) {
		case *appsv1.Deployment, *corev1.ConfigMap, *corev1.Service:
			objects = append(objects, child)
		}
	}
	if len(objects) < 5 {
		t.Fatalf("only %d objects", len(objects))
	}
	mark, _ := b.Mark()
	for _, o := range objects {
		if err := b.Client.Patch(b.Ctx(), o, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":null,"labels":null,"ownerReferences":null,"annotations":null}}`))); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range objects {
		b.Eventually(10*time.Second, fmt.Sprintf("the marks of %T %s to be restored", o, o.GetName()), func() error {
			err := b.Get(o)
			_, resource := o.(v1alpha1.Resource)
			if err == nil && (metav1.GetControllerOf(o) == nil || o.GetLabels()["nexus.ai/capability-uid"] != string(c.UID) || resource &&
				len(o.GetFinalizers()) == 0) {
				err = fmt.Errorf("%v %v %v", o.GetFinalizers(), o.GetLabels(), o.GetOwnerReferences())
			}
			return err
		})
	}
	b.Running(c)
	for _, call := range b.World.AWS().Since(mark).Writes().Labels() {
		if strings.Contains(call, "Create") || strings.Contains(call, "Delete") {
			t.Errorf("AWS was told to %s", call)
		}
	}
	b.Remove(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestHands_RightsTagsAndMarksReplacedByHandAreRestored(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("replaced"))
	b.Create(c)
	b.Running(c)
	bucketObject := &v1alpha1.S3Bucket{ObjectMeta: named(c.Namespace, "replaced-dev-call-data")}
	table := &v1alpha1.GlueTable{ObjectMeta: named(c.Namespace, "replaced-dev-call-records")}
	role := &v1alpha1.IAMRole{ObjectMeta: named(c.Namespace, "replaced-dev-app-role")}
	strip := []byte(`{"metadata":{"finalizers":null,"labels":null,"ownerReferences":null,"annotations":{"nexus.ai/home":null,"nexus.ai/intent":null}}}`)
	if err := b.Client.Patch(b.Ctx(), bucketObject, client.RawPatch("application/merge-patch+json", strip)); err != nil {
		t.Fatal(err)
	}
	b.Eventually(10*time.Second, "the marks of the bucket's object to be restored", func() error {
		err := b.Get(bucketObject)
		if err == nil && (len(bucketObject.Finalizers) == 0 || bucketObject.Annotations["nexus.ai/home"] == "" ||
			metav1.GetControllerOf(bucketObject) == nil || len(bucketObject.Labels) == 0) {
			err = fmt.Errorf("%+v", bucketObject.ObjectMeta)
		}
		return err
	})

	_, err := b.s3().PutBucketTagging(b.Ctx(), &s3.PutBucketTaggingInput{Bucket: aws.String("replaced-dev-call-data"),
		Tagging: &s3types.Tagging{TagSet: []s3types.Tag{{Key: aws.String("team"), Value: aws.String("theirs")}}}})
	must(b, 0, err)
	catalog, rights := glue.NewFromConfig(b.account()), iam.NewFromConfig(b.account())
	where := glue.GetTableInput{DatabaseName: aws.String("replaced_dev_db"), Name: aws.String("replaced_dev_call_records")}
	_, err = catalog.UpdateTable(b.Ctx(), &glue.UpdateTableInput{DatabaseName: where.DatabaseName,
		TableInput: &gluetypes.TableInput{Name: where.Name, TableType: aws.String("EXTERNAL_TABLE")}})
	must(b, 0, err)
	name := aws.String("replaced-dev-app-role")
	_, err = rights.PutRolePolicy(b.Ctx(), &iam.PutRolePolicyInput{RoleName: name, PolicyName: aws.String("evil"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)})
	must(b, 0, err)
	_, err = rights.UpdateRole(b.Ctx(), &iam.UpdateRoleInput{RoleName: name, MaxSessionDuration: aws.Int32(43200)})
	must(b, 0, err)

	for _, o := range []client.Object{bucketObject, table, role} {
		b.Edit(o, func() { o.GetAnnotations()["nexus.ai/reconcile-requested-at"] = "now" })
	}
	b.Eventually(20*time.Second, "tags and rights to be as declared", func() error {
		tags, err := b.s3().GetBucketTagging(b.Ctx(), &s3.GetBucketTaggingInput{Bucket: aws.String("replaced-dev-call-data")})
		entry, err2 := catalog.GetTable(b.Ctx(), &where)
		inline, err3 := rights.ListRolePolicies(b.Ctx(), &iam.ListRolePoliciesInput{RoleName: name})
		found, err4 := rights.GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: name})
		if err := errors.Join(err, err2, err3, err4); err != nil {
			return err
		}
		owned := pairs(tags.TagSet, func(t s3types.Tag) (*string, *string) { return t.Key, t.Value })["nexus.ai/owner-uid"]
		session := aws.ToInt32(found.Role.MaxSessionDuration)
		if owned != string(bucketObject.UID) || entry.Table.Parameters["nexus.ai/owner-uid"] == "" ||
			slices.Contains(inline.PolicyNames, "evil") || session == 43200 {
			return fmt.Errorf("bucket of %q, catalog %v, policies %v, session %d", owned, entry.Table.Parameters, inline.PolicyNames, session)
		}
		return nil
	})
	for _, o := range []client.Object{bucketObject, table, role} {
		b.expectEvent(o, "DriftCorrected")
		b.Eventually(10*time.Second, "the check to be acknowledged", func() error {
			if err := b.Get(o); err != nil || o.(v1alpha1.Resource).CommonStatus().LastHandledReconcileAt != "now" {
				return fmt.Errorf("%v, handled %q", err, o.(v1alpha1.Resource).CommonStatus().LastHandledReconcileAt)
			}
			return nil
		})
	}
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}
