// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestAnAbandonedObjectGoesOnRecordAndLeavesAWSAlone(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	o := bucket("given-up")
	o.Annotations = map[string]string{"nexus.ai/abandon": "not-my-uid"}
	b.Create(o)
	b.Ready(o)
	rule := b.World.AWS().Fault(emulator.Match{Service: "s3"},
		emulator.Fail(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."))
	if err := b.Client.Delete(b.Ctx(), o); err != nil {
		t.Fatal(err)
	}
	b.Shows(o, "Stalled", metav1.ConditionTrue, "CredentialsInvalid")
	b.Passes("s3bucket", 1, func() { b.Edit(o, func() { o.Annotations["nexus.ai/abandon"] = "still-not-my-uid" }) })
	if err := b.Get(o); err != nil || len(o.Finalizers) == 0 {
		t.Fatalf("a UID of somebody else was taken for the object's: %v", err)
	}
	mark, _ := b.Mark()
	b.Edit(o, func() { o.Annotations["nexus.ai/abandon"] = string(o.UID) })
	b.Gone(o)
	if w := b.World.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("AWS was written to:\n%s", w)
	}
	rule.Remove()
	if inv := fmt.Sprint(b.Inventory()); !strings.Contains(inv, "given-up") {
		t.Errorf("the bucket is gone: %s", inv)
	}
	b.Eventually(10*time.Second, "an event to tell of it", func() error {
		events := &eventsv1.EventList{}
		if err := b.Client.List(b.Ctx(), events, client.InNamespace(b.Namespace)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == "Abandoned" && e.Regarding.UID == o.UID && strings.Contains(e.Note, "arn:aws:s3:::given-up") {
				return nil
			}
		}
		return fmt.Errorf("none among %d", len(events.Items))
	})
	if log := b.Op.Log(); !strings.Contains(log, "Abandoned") || !strings.Contains(log, string(o.UID)) {
		t.Error("the log does not tell of it")
	}
}

func TestTheAnnotationAloneAbandonsNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	o := bucket("not-deleted")
	b.Create(o)
	b.Ready(o)
	b.Passes("s3bucket", 1, func() { b.Edit(o, func() { o.Annotations["nexus.ai/abandon"] = string(o.UID) }) })
	if err := b.Get(o); err != nil || len(o.Finalizers) == 0 || o.DeletionTimestamp != nil {
		t.Errorf("%v, finalizers %v", err, o.Finalizers)
	}
	b.Edit(o, func() { delete(o.Annotations, "nexus.ai/abandon") })
	b.Remove(o)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestACapabilityWhoseCredentialsAreGoneForEverCanBeGivenUp(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := withStores(b.small("hopeless"))
	secret, p := keys("keys", "AKIAHOPELESS"), keyed("aws", "keys")
	secret.Namespace, p.Namespace = c.Namespace, c.Namespace
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	b.Create(secret, p, c)
	b.Running(c)
	inv := fmt.Sprint(b.Inventory())
	b.World.AWS().Fault(emulator.Match{}, emulator.Fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."))
	b.Edit(p, func() { p.Spec.DefaultTags = map[string]v1alpha1.TagValue{"team": "gone"} })
	b.Shows(p, "Stalled", metav1.ConditionTrue, "CredentialsInvalid")
	for _, o := range []client.Object{c, p, secret} {
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	b.Eventually(2*time.Minute, "everything to be let go", func() error {
		b.giveUp(c.Namespace)
		left := 0
		for _, o := range b.children(c.Namespace) {
			if _, ok := o.(v1alpha1.Resource); ok {
				left++
			}
		}
		if left > 0 {
			return fmt.Errorf("%d AWS objects are left", left)
		}
		return nil
	})
	b.Gone(c)
	b.Gone(p)
	b.Gone(secret)
	b.World.AWS().ClearFaults()
	if now := fmt.Sprint(b.Inventory()); now != inv {
		t.Errorf("AWS changed from %s to %s", inv, now)
	}
}

// giveUp does what docs/deletion.md says, with kubectl where there is one.
func (b *bed) giveUp(namespace string) {
	b.Helper()
	doc, err := os.ReadFile("../../docs/deletion.md")
	if err != nil {
		b.Fatal(err)
	}
	_, command, ok := strings.Cut(string(doc), "that are being deleted:\n\n")
	command, _, end := strings.Cut(command, "\n\n")
	if !ok || !end {
		b.Fatal("docs/deletion.md has no command any more")
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		for _, o := range b.children(namespace) {
			if r, ok := o.(v1alpha1.Resource); ok && r.GetDeletionTimestamp() != nil {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"nexus.ai/abandon":%q}}}`, r.GetUID())
				_ = b.Client.Patch(b.Ctx(), r, client.RawPatch("application/merge-patch+json", []byte(patch)))
			}
		}
		return
	}
	sh := exec.Command("sh", "-c", strings.ReplaceAll(command, "kubectl ", "kubectl -n "+namespace+" "))
	sh.Env = append(os.Environ(), "KUBECONFIG="+b.World.Kubeconfig())
	if out, err := sh.CombinedOutput(); err != nil && !strings.Contains(string(out), "NotFound") {
		b.Fatalf("%v\n%s", err, out)
	}
}
