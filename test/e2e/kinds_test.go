// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// without starts another world, in which the API server has no definitions of some resources.
func without(t *testing.T, resources ...string) *bed {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".yaml"), "_")
		return slices.Contains(resources, name)
	})
	w, err := world.Start(context.WithoutCancel(t.Context()), world.Options{CRDs: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop() })
	if err := w.ResetAWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Config(w); err != nil { // gives the operator its rights
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{&kit.Bed{TB: t, World: w, Client: c}}
	b.Namespace = b.MakeNamespace("team-kinds")
	return b
}

// setRights lets the operator read AWS resource objects, or no more, and waits until the API server has noticed.
func (b *bed) setRights(allowed bool, resources ...string) {
	b.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator"}}
	if err := b.Get(role); err != nil {
		b.Fatal(err)
	}
	for i := range role.Rules {
		r := &role.Rules[i]
		if !slices.Contains(r.APIGroups, v1alpha1.GroupName) || strings.Contains(r.Resources[0], "/") {
			continue
		}
		r.Resources = slices.DeleteFunc(r.Resources, func(name string) bool { return slices.Contains(resources, name) })
		if allowed && slices.Contains(r.Verbs, "delete") {
			r.Resources = append(r.Resources, resources...)
		}
	}
	if err := b.Client.Update(b.Ctx(), role); err != nil {
		b.Fatal(err)
	}
	for _, name := range resources {
		b.Eventually(10*time.Second, "the right to "+name, func() error {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: operator.User,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Group: v1alpha1.GroupName, Resource: name, Verb: "list"}}}
			if err := b.Client.Create(b.Ctx(), review); err != nil {
				return err
			}
			if review.Status.Allowed != allowed {
				return context.DeadlineExceeded
			}
			return nil
		})
	}
}

// The operator needs neither the definitions of kinds that --kinds leaves out nor rights to them, and it says so where
// something needs one.
func TestKinds_LeftOutNeedNoDefinitionsAndNoRights(t *testing.T) {
	extent.Full(t)
	b := without(t, "sqsqueues")
	b.setRights(false, "sqsqueues", "snstopics", "vpcs")
	b.Op = operator.Start(t, b.World,
		operator.Options{Flags: []string{"--ambient-namespaces=*", "--workload-namespaces=*", "--kinds=*,-SQSQueue,-SNSTopic,-VPC"}})
	t.Cleanup(func() { b.Op.Stop() })

	whole := b.small("plain")
	whole.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "files"}}}}
	short := b.small("queued")
	short.Spec.DataServices = &nexusv1.DataServicesSpec{Queues: []nexusv1.QueueSpec{{Name: "jobs"}}}
	group := &v1alpha1.SecurityGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: v1alpha1.SecurityGroupSpec{CommonSpec: through("aws"), GroupName: "web", Description: "web",
			VPCReference: v1alpha1.VPCReference{VPCRef: &v1alpha1.ObjectReference{Name: "main"}}}}
	topic := &v1alpha1.SNSTopic{ObjectMeta: metav1.ObjectMeta{Name: "news"},
		Spec: v1alpha1.SNSTopicSpec{CommonSpec: through("aws"), TopicName: "news"}}
	b.Create(provider("aws"), whole, short, group, topic)
	b.Running(whole)
	b.saysLeftOut(short, "DataServicesReady", "SQSQueue")
	b.saysLeftOut(group, "Ready", "VPC/main")
	b.Remove(short, group) // nothing of the kinds was ever there
	b.Quiet()
	if err := b.Get(topic); err != nil || len(topic.Finalizers)+len(topic.Status.Conditions) > 0 {
		t.Errorf("an object of a kind that is left out is written: %v, %v, %v", topic.Finalizers, topic.Status.Conditions, err)
	}

	// The deletion of a capability waits for its objects of a kind that is left out by now.
	b.setRights(false, "s3buckets")
	b.Restart("--ambient-namespaces=*", "--workload-namespaces=*", "--kinds=-SQSQueue,-SNSTopic,-VPC,-S3Bucket")
	b.saysLeftOut(whole, "DataServicesReady", "S3Bucket")
	if err := b.Client.Delete(b.Ctx(), whole); err != nil {
		t.Fatal(err)
	}
	b.saysDeletionWaits(whole)
	b.Restart("--ambient-namespaces=*", "--workload-namespaces=*", "--kinds=-SQSQueue,-SNSTopic,-VPC,-S3Bucket", "--retry-first=100ms")
	b.Passed("nexusaicapability")
	b.saysDeletionWaits(whole)
	if got := b.Inventory()["s3/bucket"]; len(got) != 1 {
		t.Errorf("the bucket went before the kind was served: %v", got)
	}
	b.setRights(true, "s3buckets")
	b.Restart("--ambient-namespaces=*", "--workload-namespaces=*", "--kinds=*,-SQSQueue,-SNSTopic,-VPC")
	b.Gone(whole)
}

// saysLeftOut waits for a condition that says that --kinds leaves out what an object needs.
func (b *bed) saysLeftOut(o client.Object, condition, what string) {
	b.Helper()
	message := b.Shows(o, condition, metav1.ConditionFalse, "KindNotServed")
	if !strings.Contains(message, what) || !strings.Contains(message, "--kinds") || !strings.Contains(message, "NX-OP-002") {
		b.Errorf("%s of %s: %q", condition, o.GetName(), message)
	}
}

func (b *bed) saysDeletionWaits(c *nexusv1.NexusAICapability) {
	b.Helper()
	b.Eventually(20*time.Second, "the deletion to wait for the kind", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		if c.DeletionTimestamp == nil || !strings.Contains(c.Status.Message, "the deletion waits") ||
			!strings.Contains(c.Status.Message, "S3Bucket") {
			return os.ErrDeadlineExceeded
		}
		return nil
	})
}
