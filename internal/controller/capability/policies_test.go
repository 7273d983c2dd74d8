// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestACapabilityIsFoundByEachOfItsIntentsOnce(t *testing.T) {
	c := &nexusv1.NexusAICapability{}
	if got := indexIntents(c); got != nil {
		t.Errorf("without intents: %q", got)
	}
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "z", Component: "backend"}, {Name: "a"}, {Name: "z", Component: "frontend"}}}
	if got := indexIntents(c); !slices.Equal(got, []string{"a", "z"}) {
		t.Errorf("got %q", got)
	}
}

func TestAPodNeedsItsPoliciesUntilItHasEndedOrItsNodeIsLost(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ends := func(after time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(after)} }
	for name, tc := range map[string]struct {
		phase corev1.PodPhase
		ends  *metav1.Time
		want  bool
	}{
		"it runs":                        {corev1.PodRunning, nil, true},
		"it is in its time of grace":     {corev1.PodRunning, ends(20 * time.Second), true},
		"its kubelet is a little late":   {corev1.PodRunning, ends(-30 * time.Second), true},
		"its kubelet says no more":       {corev1.PodRunning, ends(-2 * time.Minute), false},
		"it came to its end":             {corev1.PodSucceeded, nil, false},
		"it failed and is being deleted": {corev1.PodFailed, ends(20 * time.Second), false},
		"it has not been started":        {corev1.PodPending, nil, true},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tc.ends}, Status: corev1.PodStatus{Phase: tc.phase}}
		if got := isRunning(p, now); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Pods that get their credentials from STS call its endpoint in their region: names outward that lack it close the way to AWS. Those that
// the EKS Pod Identity Agent serves call no endpoint for that.
func TestPolicies_NamesOutwardNeedTheEndpointWherePodsSignIn(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	intent := func(name string, names ...string) *intentv1alpha1.SecurityIntent {
		return &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: b.ns + name}, Spec: intentv1alpha1.SecurityIntentSpec{
			Intent: intentv1alpha1.Intent{ID: "allowEgressToNames", Action: intentv1alpha1.Block, Params: intentv1alpha1.Params{"names": names}}}}
	}
	b.create(intent("-one", "bedrock-runtime.eu-west-1.amazonaws.com"), intent("-both", "bedrock-runtime.eu-west-1.amazonaws.com", "sts.eu-west-1.amazonaws.com"))
	const add = "add sts.%s, where the pods get their credentials, to its parameter names"
	for name, tc := range map[string]struct {
		region   string
		identity *nexusv1.IdentitySpec
		closed   map[string]string
	}{
		"the default, IRSA": {"eu-west-1", nil, map[string]string{b.ns + "-one": fmt.Sprintf(add, "eu-west-1.amazonaws.com")}},
		"IRSA":              {"eu-west-1", &nexusv1.IdentitySpec{Mode: nexusv1.IdentityIRSA}, map[string]string{b.ns + "-one": fmt.Sprintf(add, "eu-west-1.amazonaws.com")}},
		"EKS Pod Identity":  {"eu-west-1", &nexusv1.IdentitySpec{Mode: nexusv1.IdentityPodIdentity}, nil},
		"another partition": {"cn-north-1", nil, map[string]string{b.ns + "-one": fmt.Sprintf(add, "cn-north-1.amazonaws.com.cn")}},
	} {
		c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "signs-in"}}
		c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Region, c.Spec.Identity = b.ns, "dev", tc.region, tc.identity
		c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: b.ns + "-one"}, {Name: b.ns + "-both"}}}
		got, err := b.Facts.Gather(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got.ClosesEgress, tc.closed) {
			t.Errorf("%s: closed are %q, want %q", name, got.ClosesEgress, tc.closed)
		}
	}
}

// Node pools of EKS Auto Mode begin without nodes. An address waits for its IngressClass there, and needs no other controller.
func TestHealth_AsksEKSAboutAutoMode(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	in := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{IngressClassName: new(b.ns)}}
	for enabled, want := range map[bool]string{true: "create it with controller eks.amazonaws.com/alb", false: "install the AWS Load Balancer Controller"} {
		b.autoMode = func(context.Context) bool { return enabled }
		if h, err := b.newReconciler().health.Of(t.Context(), in); err != nil || h.Reason != status.ReasonIngressClassMissing || !strings.Contains(h.Message, want) {
			t.Errorf("enabled %t: %+v, %v", enabled, h, err)
		}
	}
}
