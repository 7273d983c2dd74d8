// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// service is one that a capability needs, with the child and the condition that speak of its troubles.
type service struct {
	name, child, condition string
	stores                 bool
	// reason is that of the condition where it is not the trouble's own.
	reason string
}

var services = []service{
	{"dynamodb", "DynamoDBTable/", nexusv1.ConditionDataServicesReady, true, ""},
	{"s3", "S3Bucket/", nexusv1.ConditionDataServicesReady, true, ""},
	{"glue", "GlueDatabase/", nexusv1.ConditionDataServicesReady, true, ""},
	{"ssm", "SSMParameterSet/", nexusv1.ConditionParametersReady, false, ""},
	{"secretsmanager", "SecretsManagerSecret/", nexusv1.ConditionSecretsReady, false, ""},
	{"iam", "IAMRole/", nexusv1.ConditionIdentityReady, false, ""},
	// Who we are is asked for the provider, which is no child here.
	{"sts", "AWSProvider/aws", nexusv1.ConditionSecretsReady, false, "ProviderNotReady"},
}

// trouble is a way in which AWS is sick, with the reason and the words in which a capability tells it.
type trouble struct {
	name, reason string
	action       func(service string) emulator.Action
	// error and todo may name the service.
	error, todo string
	// failed says that only a person can help.
	failed bool
}

var troubles = []trouble{
	{"denied", "AccessDenied", func(service string) emulator.Action {
		return emulator.Fail(403, "AccessDeniedException", "User: arn:aws:iam::123456789012:user/x is not authorized to perform: "+service+
			":Something")
	}, "AWS denies %s:", "allow %s:", true},
	{"throttled", "Throttled", func(string) emulator.Action { return emulator.Throttle() }, "AWS throttles %s:", "retried automatically",
		false},
	{"hanging", "Unreachable", func(string) emulator.Action { return emulator.Hang() }, "no answer in time", "retried automatically", false},
}

// of is the trouble as STS has it, which refuses no one but whom it does not know.
func (tr trouble) of(service string) trouble {
	if service == "sts" && tr.failed {
		tr.action = func(string) emulator.Action {
			return emulator.Fail(403, "InvalidClientTokenId", "The security token included in the request is invalid.")
		}
		tr.error, tr.todo = "AWS does not accept the credentials", "put a valid key into the provider's Secret"
	}
	return tr
}

// sick is a capability whose calls to one service meet one trouble.
type sick struct {
	service
	trouble
	c *nexusv1.NexusAICapability
}

func (s sick) String() string { return s.service.name + " " + s.trouble.name }

// says is a text in which the service may be named.
func (s sick) says(text string) string {
	if strings.Contains(text, "%s") {
		return fmt.Sprintf(text, s.service.name)
	}
	return text
}

// strike lets the service be sick for this capability alone.
func (s sick) strike(b *bed) *emulator.Rule {
	name := s.c.Spec.CapabilityName
	if s.service.name == "sts" {
		return b.World.AWS().Fault(emulator.Match{Service: "sts", AccessKey: b.keyFor(s.c)}, s.action(s.service.name))
	}
	return b.World.AWS().Fault(emulator.Match{Service: s.service.name, Resource: "*" + strings.ReplaceAll(name, "-", "?") + "?dev*"},
		s.action(s.service.name))
}

// keyFor makes a capability use a provider with its own key, which it returns.
func (b *bed) keyFor(c *nexusv1.NexusAICapability) string {
	b.Helper()
	id := "AKIA" + strings.ToUpper(strings.ReplaceAll(c.Spec.CapabilityName, "-", ""))
	secret, p := keys("keys", id), keyed("aws", "keys")
	secret.Namespace, p.Namespace = c.Namespace, c.Namespace
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: p.Name}
	b.Create(secret, p)
	return id
}

// expectEvent says what of a capability's status does not tell the trouble: which child, what error, what to do.
func (s sick) told(b *bed) error {
	part, err := b.Condition(s.c, s.condition)
	if err != nil {
		return err
	}
	reason := cmp.Or(s.service.reason, s.trouble.reason)
	if part.Status != metav1.ConditionFalse || part.Reason != reason {
		return fmt.Errorf("%s=%s/%s %s", part.Type, part.Status, part.Reason, part.Message)
	}
	for _, text := range []string{part.Message, s.c.Status.Message} {
		for _, want := range []string{s.child, s.says(s.error), s.says(s.todo)} {
			if !strings.Contains(text, want) {
				return fmt.Errorf("%q does not say %q", text, want)
			}
		}
	}
	if !slices.ContainsFunc(s.c.Status.Resources, func(r nexusv1.ResourceStatus) bool {
		return r.Reason == reason && (s.child == r.Kind+"/" || s.service.reason != "")
	}) {
		return fmt.Errorf("status.resources does not show it: %+v", s.c.Status.Resources)
	}
	if failed := s.c.Status.Phase == nexusv1.PhaseFailed; failed != s.failed || s.c.Status.Ready {
		return fmt.Errorf("phase %s, ready %t", s.c.Status.Phase, s.c.Status.Ready)
	}
	return nil
}

func TestASickAWSShowsInTheCapabilityAndHealsWhenTheCauseIsGone(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	var all []sick
	var objs []*nexusv1.NexusAICapability
	rules := map[string]*emulator.Rule{}
	for _, tr := range troubles {
		for _, sv := range services {
			c := b.small(tr.name + "-" + sv.name)
			if sv.stores {
				withStores(c)
			}
			s := sick{sv, tr.of(sv.name), c}
			rules[s.String()] = s.strike(b)
			b.Create(c)
			all, objs = append(all, s), append(objs, c)
		}
	}
	start := time.Now()
	for _, s := range all {
		b.Eventually(60*time.Second, s.String()+" to be told", func() error { return s.told(b) })
		t.Logf("%s: told after %.1f s: %s", s, time.Since(start).Seconds(), s.c.Status.Message)
	}
	for _, s := range all {
		if rules[s.String()].Remove(); rules[s.String()].Hits() == 0 {
			t.Errorf("%s: the fault never struck", s)
		}
	}
	start = time.Now()
	for _, s := range all {
		b.Running(s.c)
	}
	t.Logf("all are Running %.1f s after the causes were gone", time.Since(start).Seconds())
	b.removeAll(objs)
}

// A provider that the user made is no child: its troubles must reach the capability all the same.
func TestACapabilityReportsTheFailureOfItsProvider(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := b.small("named")
	secret, p := keys("keys", "AKIANAMED"), keyed("aws", "keys")
	secret.Namespace, p.Namespace = c.Namespace, c.Namespace
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: p.Name}
	b.Create(c)
	says := func(kind string, s metav1.ConditionStatus, reason string, wants ...string) {
		t.Helper()
		b.Shows(c, kind, s, reason)
		for _, want := range wants {
			if !strings.Contains(c.Status.Message, want) {
				t.Errorf("the capability does not say %q: %s", want, c.Status.Message)
			}
		}
	}
	says("Reconciling", metav1.ConditionTrue, "ProviderMissing", "AWSProvider/aws to exist in namespace "+c.Namespace)
	b.Create(p)
	says("Stalled", metav1.ConditionTrue, "ProviderNotReady", "AWSProvider/aws", "Secret "+c.Namespace+"/keys")
	if c.Status.Phase != nexusv1.PhaseFailed {
		t.Errorf("phase %s, want Failed", c.Status.Phase)
	}
	b.Create(secret)
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// inAWS are the children that have something in AWS.
func (b *bed) inAWS(namespace string) []v1alpha1.Resource {
	b.Helper()
	var out []v1alpha1.Resource
	for _, o := range b.children(namespace) {
		if r, ok := o.(v1alpha1.Resource); ok {
			out = append(out, r)
		}
	}
	return out
}

// A capability that runs says at the next check what only a person can end. A transient failure shows in
// the child, which stays Ready: it was observed to be right, and nothing says that it is not.
func TestAnAWSThatGetsSickLaterShowsAtTheNextCheck(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	c := withStores(b.small("frail"))
	b.Create(c)
	b.Running(c)
	children := b.inAWS(c.Namespace)
	var rules []*emulator.Rule
	for _, sv := range services {
		if sv.name != "sts" { // its answer is kept for as long as the session; the tests of providers look at it
			rules = append(rules, sick{sv, troubles[0], c}.strike(b))
		}
	}
	asking := 0
	for _, o := range children {
		switch o.(type) {
		case *v1alpha1.GlueTable, *v1alpha1.GlueCrawler, *v1alpha1.IAMRole:
			// The capability says that they wait: for their database, and for what a role gives rights on.
		default:
			asking++
		}
		if message := b.Shows(o, "Stalled", metav1.ConditionTrue, troubles[0].reason); !strings.Contains(message, "allow ") {
			t.Errorf("%T %s: %s", o, o.GetName(), message)
		}
	}
	b.Eventually(10*time.Second, "the capability to show every one of them", func() error {
		failed := 0
		if err := b.Get(c); err != nil {
			return err
		}
		for _, r := range c.Status.Resources {
			if r.State == nexusv1.ResourceFailed && r.Reason == troubles[0].reason {
				failed++
			}
		}
		if want := fmt.Sprintf("and %d more", asking-1); failed != asking || c.Status.Phase != nexusv1.PhaseFailed ||
			!strings.Contains(c.Status.Message, want) {
			return fmt.Errorf("%s, %d of %d: %s", c.Status.Phase, failed, asking, c.Status.Message)
		}
		return nil
	})
	for _, r := range rules {
		r.Remove()
	}
	b.healed(c)

	rule := b.World.AWS().Fault(emulator.Match{}, emulator.Throttle())
	for _, o := range children {
		if message := b.Shows(o, "Reconciling", metav1.ConditionTrue, troubles[1].reason); !strings.Contains(message, troubles[1].todo) ||
			!o.CommonStatus().Ready {
			t.Errorf("%T %s: ready %t, %s", o, o.GetName(), o.CommonStatus().Ready, message)
		}
	}
	b.Eventually(10*time.Second, "the capability to tell of it, and to stay Running", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		told := 0
		for _, r := range c.Status.Resources {
			if r.State == nexusv1.ResourceReady && r.Reason == troubles[1].reason {
				told++
			}
		}
		if told < len(children) || !strings.Contains(c.Status.Message, troubles[1].todo) || c.Status.Phase != nexusv1.PhaseRunning ||
			!c.Status.Ready {
			return fmt.Errorf("phase %s, ready %t, %d of %d told: %s", c.Status.Phase, c.Status.Ready, told, len(children), c.Status.Message)
		}
		return nil
	})
	rule.Remove()
	for _, o := range children {
		b.Shows(o, "Reconciling", metav1.ConditionFalse, "Ready")
	}
	b.Eventually(10*time.Second, "the capability to be silent again", func() error {
		if err := b.Get(c); err != nil || strings.Contains(c.Status.Message, troubles[1].todo) {
			return fmt.Errorf("%v: %s", err, c.Status.Message)
		}
		return nil
	})
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// TestAServiceThatDoesNotAnswerLeavesWorkersToOthers has more secrets wait without an answer, in one region, than there are
// workers of their kind. Once the first have given up, a secret elsewhere need not wait for the others.
func TestAServiceThatDoesNotAnswerLeavesWorkersToOthers(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	near := b.provider()
	far := near.DeepCopy()
	far.ResourceVersion, far.UID, far.Name, far.Spec.Region = "", "", "far", "eu-west-1"
	b.Create(far)
	b.Ready(far)
	secret := func(name, provider string) *v1alpha1.SecretsManagerSecret {
		return &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name},
			Spec: v1alpha1.SecretsManagerSecretSpec{
				CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: provider}}, SecretName: name,
				Placeholder: map[string]v1alpha1.PlaceholderValue{"key": ""}}}
	}
	rule := b.World.AWS().Fault(emulator.Match{Service: "secretsmanager", Resource: "silent*"}, emulator.Hang())
	var silent []client.Object
	for i := range 24 { // three for each worker
		silent = append(silent, secret(fmt.Sprint("silent-", i), far.Name))
	}
	b.Create(silent...)
	told := 0
	b.Eventually(50*time.Second, "the first to give up", func() error {
		told = 0
		for _, o := range silent {
			if c, err := b.Condition(o, "Reconciling"); err == nil && c.Reason == "Unreachable" {
				told++
			}
		}
		if told < 8 {
			return fmt.Errorf("%d have", told)
		}
		return nil
	})
	start := time.Now()
	other := secret("other", near.Name)
	b.Create(other)
	b.Ready(other)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("a secret elsewhere waited %s for those that nobody answers", took)
	}
	b.Eventually(20*time.Second, "all to be told but the two that try, most without their own try", func() error {
		told = 0
		for _, o := range silent {
			if c, err := b.Condition(o, "Reconciling"); err == nil && c.Reason == "Unreachable" {
				told++
			}
		}
		if told < len(silent)-2 {
			return fmt.Errorf("%d are", told)
		}
		return nil
	})
	rule.Remove()
	b.Ready(silent...)
	b.Remove(append(silent, other)...)
}
