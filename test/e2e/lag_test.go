// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The capability lives its life on an AWS whose tags, settings and existence show seconds late, whose
// clock is an hour ahead and whose answers have unknown fields.
func TestCapability_LivesOnAWSThatLags(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.World.AWS().SetLag(emulator.LikeAWS())
	t.Cleanup(func() { b.World.AWS().SetLag(emulator.Lag{}) })
	lies := b.watchForLies()
	mark, _ := b.Mark()
	c := b.Capability("examples/test-capability.yaml")
	b.Create(c)
	b.Running(c)
	created := succeeded(b.World.AWS().Since(mark).Writes())

	b.Edit(c, func() {
		c.Spec.Version = "1.0.1" // a parameter
		c.Spec.DataServices.DynamoDB.PointInTimeRecovery = new(bool)
		c.Spec.DataServices.S3.Lifecycle = []nexusv1.LifecycleRule{{ID: "old", ExpirationDays: new(int32(30))}}
	})
	b.Eventually(2*time.Minute, "the edit to be in AWS", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		if c.Status.ObservedGeneration != c.Generation || !c.Status.Ready {
			return fmt.Errorf("%s: %s", c.Status.Phase, c.Status.Message)
		}
		return nil
	})
	b.Remove(c)
	b.World.AWS().SetLag(emulator.Lag{})
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
	for label, n := range repeated(created) {
		if n > 2 {
			t.Errorf("%s was written %d times", label, n)
		}
	}
	for _, lie := range lies() {
		t.Error(lie)
	}
}

func succeeded(calls emulator.Calls) emulator.Calls {
	return calls.Filter(func(c emulator.Call) bool { return c.Status < 300 })
}

func repeated(calls emulator.Calls) map[string]int {
	n := map[string]int{}
	for _, c := range calls {
		n[c.Label()]++
	}
	return n
}

// watchForLies collects statuses that a lagging read must not cause: that a resource belongs to another
// owner, that a store is lost, or that a value does not settle.
func (b *bed) watchForLies() func() []string {
	b.Helper()
	found := map[string]bool{}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			for _, l := range []client.ObjectList{&v1alpha1.DynamoDBTableList{}, &v1alpha1.S3BucketList{}, &v1alpha1.IAMRoleList{},
				&v1alpha1.GlueDatabaseList{},
				&v1alpha1.GlueTableList{}, &v1alpha1.GlueCrawlerList{}, &v1alpha1.SSMParameterSetList{}, &v1alpha1.SecretsManagerSecretList{}} {
				if b.Client.List(b.Ctx(), l) != nil {
					continue
				}
				items, _ := meta.ExtractList(l)
				for _, o := range items {
					r := o.(v1alpha1.Resource)
					s := meta.FindStatusCondition(r.CommonStatus().Conditions, status.Stall)
					if s != nil && s.Status == "True" && strings.Contains("Conflict Missing NotSettling OwnershipUnknown", s.Reason) {
						found[fmt.Sprintf("%T %s: %s: %s", r, r.GetName(), s.Reason, s.Message)] = true
					}
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() []string {
		close(stop)
		<-done
		var out []string
		for lie := range found {
			out = append(out, lie)
		}
		return out
	}
}

// A Secret that a SecretsManagerSecret reads is written on when it changes, not at the next check.
func TestSecret_FollowsItsSourceAtOnce(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1h")
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "source", Namespace: b.Namespace},
		StringData: map[string]string{"password": "first"}}
	s := &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: b.Namespace},
		Spec: v1alpha1.SecretsManagerSecretSpec{
			CommonSpec: through("aws"), SecretName: "team/db", RecoveryWindowInDays: new(int64),
			SecretStringRef: &v1alpha1.SecretKeyReference{Name: "source", Key: "password"}}}
	p := provider("aws")
	p.Namespace = b.Namespace
	b.Create(source, p, s)
	b.Ready(s)
	before := s.Status.VersionId
	b.Edit(source, func() { source.StringData = map[string]string{"password": "second"} })
	b.Eventually(15*time.Second, "the new value to be in AWS", func() error {
		if err := b.Get(s); err != nil || s.Status.VersionId == before {
			return fmt.Errorf("version %s (%v)", s.Status.VersionId, err)
		}
		return nil
	})
	b.Remove(s)
}
