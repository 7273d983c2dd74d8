// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// printedPolicies returns the policies of an operator whose resources have names with a prefix.
func printedPolicies(t *testing.T, prefix string) []string {
	t.Helper()
	return policiesFor(t, permissions.Scope{NamePrefix: prefix})
}

// policiesFor returns the policies of an operator in the region of the tests.
func policiesFor(t *testing.T, scope permissions.Scope) []string {
	t.Helper()
	var metas []kind.Meta
	for _, k := range catalog.Kinds() {
		metas = append(metas, k.Meta())
	}
	scope.Account, scope.Region = homeAccount, "ap-southeast-1"
	documents, _, err := permissions.Operator(metas, scope)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range documents {
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return out
}

// whole is a capability that uses all that the policies are about, except of Bedrock.
func (b *bed) whole(name, zone string) *nexusv1.NexusAICapability {
	c := withStores(b.small(name))
	c.Spec.DataServices.Glue = &nexusv1.GlueSpec{}
	c.Spec.DataServices.KMS = &nexusv1.KMSSpec{}
	c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "jobs", DeadLetter: &nexusv1.DeadLetterSpec{}}}
	c.Spec.DataServices.Topics = []nexusv1.TopicSpec{{Name: "news", SubscribeQueues: []nexusv1.QueueName{"jobs"}}}
	c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "openai", Generate: &nexusv1.GenerateSpec{}}}
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: name + ".example.com", HostedZoneID: zone}
	c.Spec.EnableCognito = true
	return c
}

// A capability with everything is created, edited, checked and removed by an operator that has the rights of its printed policy
// and no others, on the names of one team alone.
func TestPrivilege_AWholeLifeFitsThePrintedPolicy(t *testing.T) {
	extent.Full(t)
	b := &bed{kit.Limited(t, printedPolicies(t, "team-"), "--check-interval=2s")}
	zone := b.zone("example.com")
	c := b.whole("team-life", zone.id)
	b.Create(c)
	b.Running(c)
	b.Edit(c, func() {
		c.Spec.DataServices.Glue, c.Spec.DataServices.Topics, c.Spec.Ingress.Host = nil, nil, "other.example.com"
		c.Spec.Backend.Image = "registry.example/backend:2"
	})
	b.Running(c)
	b.Edit(c, func() { c.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"} })
	b.Eventually(30*time.Second, "the requested check to be done", func() error {
		if err := b.Get(c); err != nil || c.Status.LastHandledReconcileAt != "now" {
			return fmt.Errorf("%v, handled %q", err, c.Status.LastHandledReconcileAt)
		}
		return nil
	})
	b.Remove(c)

	services := map[string]bool{}
	for _, call := range b.World.AWS().Calls() {
		services[call.Service] = true
		if strings.HasPrefix(call.Error, "AccessDenied") || call.Error == "AuthorizationError" {
			t.Errorf("%s was refused: the policy lacks %s", call.Label(), call.Action())
		}
	}
	for _, s := range []string{"acm", "cognito-idp", "dynamodb", "glue", "iam", "kms", "route53", "s3", "secretsmanager", "sns", "sqs",
		"ssm"} {
		if !services[s] {
			t.Errorf("the life used nothing of %s", s)
		}
	}

	// The names of another team stay out of reach, and the capability says so.
	stranger := b.small("finance-life")
	b.Create(stranger)
	b.contains(b.Shows(stranger, "Stalled", metav1.ConditionTrue, "AccessDenied"), "AWS denies", "finance-life")
	for kind, names := range b.Inventory() {
		for _, name := range names {
			if strings.HasPrefix(name, "finance-") {
				t.Errorf("there is %s %s", kind, name)
			}
		}
	}
	b.World.AWS().EnforceIAM(false) // the operator has no right to see that there is nothing
	b.Remove(stranger)
}

// AWS decides by new tags only after a while. The operator waits for them, and does not accuse its policy.
func TestPrivilege_NewTagsThatLagAreWaitedFor(t *testing.T) {
	extent.Full(t)
	b := &bed{kit.Limited(t, printedPolicies(t, "team-"))}
	b.provider()
	b.World.AWS().SetTagConditionsLag(8 * time.Second)
	key := &v1alpha1.KMSKey{ObjectMeta: metav1.ObjectMeta{Name: "letters"},
		Spec: v1alpha1.KMSKeySpec{CommonSpec: through("aws"), EnableKeyRotation: new(true)}}
	b.Create(key)
	b.Eventually(time.Minute, "the key to be ready", func() error {
		if stalled, err := b.Condition(key, "Stalled"); err == nil && stalled.Status == metav1.ConditionTrue {
			t.Fatalf("%s: %s", stalled.Reason, stalled.Message)
		}
		ready, err := b.Condition(key, "Ready")
		if err == nil && ready.Status != metav1.ConditionTrue {
			err = fmt.Errorf("%s %s", ready.Reason, ready.Message)
		}
		return err
	})
	b.World.AWS().SetTagConditionsLag(0)
	b.Remove(key)
}
