// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// owned gives an object a capability as its controller.
func owned[T client.Object](o T, uid types.UID) T {
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: nexusv1.GroupVersion.String(), Kind: "NexusAICapability", Name: "app", UID: uid,
		Controller: new(true)}})
	return o
}

func deleting[T client.Object](o T) T {
	o.SetFinalizers([]string{"example.com/x"})
	o.SetDeletionTimestamp(&metav1.Time{Time: start})
	return o
}

func TestBorrowedIdentity_ServesOnlyItsCapability(t *testing.T) {
	generated := owned(readyProvider("app-dev", ""), "uid-app")
	for _, c := range []struct {
		name      string
		obj       *v1alpha1.S3Bucket
		vouched   bool
		withdrawn bool
		// stalled or waits with the reason; neither is a session.
		stalled, waits string
		text           string
	}{
		{"its capability's object", owned(bucketOf("app-dev"), "uid-app"), true, false, "", "", ""},
		{"an object that was changed by hand", owned(bucketOf("app-dev"), "uid-app"), false, false, "", "NotPermitted",
			"as its capability declares it"},
		{"another capability's object", owned(bucketOf("app-dev"), "uid-other"), true, false, "NotPermitted", "",
			"--ambient-namespaces=ops,team"},
		{"an object without a capability", bucketOf("app-dev"), true, false, "NotPermitted", "", "credentialsSecret"},
		{"the namespace was withdrawn", owned(bucketOf("app-dev"), "uid-app"), true, true, "AmbientNotAllowed", "",
			"--capability-namespaces=team"},
		{"the namespace was withdrawn, and the object goes", deleting(owned(bucketOf("app-dev"), "uid-app")), false, true, "", "", ""},
		{"it goes, and is another capability's", deleting(owned(bucketOf("app-dev"), "uid-other")), true, false, "NotPermitted", "",
			"credentialsSecret"},
	} {
		b := newBed(t, generated.DeepCopy())
		b.generated = true
		b.Guards.CapabilityNamespaces = []string{team}
		if _, err := b.Resolve(t.Context(), generated); err != nil { // as the provider's controller, before
			t.Fatal(err)
		}
		if c.withdrawn {
			b.Guards.CapabilityNamespaces = nil
		}
		session, _, err := b.For(t.Context(), c.obj, c.vouched)
		s, stalled := status.AsStalled(err)
		w, waits := status.AsWaiting(err)
		switch {
		case c.stalled != "":
			if !stalled || s.Reason != c.stalled || !strings.Contains(s.Message, c.text) {
				t.Errorf("%s: %v", c.name, err)
			}
		case c.waits != "":
			if !waits || w.Reason != c.waits || !strings.Contains(w.For, c.text) {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || session.CallerARN != podARN:
			t.Errorf("%s: %v %v", c.name, session, err)
		}
		if n := b.sts.Calls(); err != nil && n != 0 {
			t.Errorf("%s: STS is asked %d times for an object that is refused", c.name, n)
		}
	}
}

func TestGenerated_IsRefusedAsTheProviderAndItsObjectsWouldBe(t *testing.T) {
	future := func(change func(*v1alpha1.AWSProvider)) *v1alpha1.AWSProvider {
		p := owned(&v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "app-dev"},
			Spec: v1alpha1.AWSProviderSpec{Region: "eu-west-1"}}, "uid-app")
		change(p)
		return p
	}
	same := func(*v1alpha1.AWSProvider) {}
	for _, c := range []struct {
		name     string
		guards   Guards
		provider *v1alpha1.AWSProvider
		obj      v1alpha1.Resource
		vouched  bool
		want     string // empty is a session
	}{
		{"the capability itself", Guards{CapabilityNamespaces: []string{team}}, future(same), nil, true, ""},
		{"a boundary for every role", Guards{DefaultBoundary: "arn:aws:iam::123456789012:policy/b"}, future(same), nil, true, ""},
		{"a namespace that is not allowed", Guards{}, future(same), nil, true, "--capability-namespaces=team"},
		{"its capability's object", Guards{CapabilityNamespaces: []string{team}}, future(same), owned(bucketOf("app-dev"), "uid-app"), true, ""},
		{"an object that the capability does not compile to", Guards{CapabilityNamespaces: []string{team}}, future(same),
			owned(bucketOf("app-dev"), "uid-app"), false, "as its capability declares it"},
		{"another capability's object", Guards{CapabilityNamespaces: []string{team}}, future(same), owned(bucketOf("app-dev"), "uid-other"), true,
			"serves only the capability"},
		{"an object without a capability", Guards{CapabilityNamespaces: []string{team}}, future(same), bucketOf("app-dev"), true,
			"serves only the capability"},
		{"an object without a capability where all may", Guards{AmbientNamespaces: []string{team}}, future(same), bucketOf("app-dev"), false, ""},
		{"a region that is none", Guards{CapabilityNamespaces: []string{team}, Regions: []string{"eu-west-1"}},
			future(func(p *v1alpha1.AWSProvider) { p.Spec.Region = "eu-west-9" }), nil, true, "spec.region"},
		{"a role of its own", Guards{AmbientNamespaces: []string{team}},
			future(func(p *v1alpha1.AWSProvider) { p.Spec.AssumeRoleARN = "arn:aws:iam::123456789012:role/r" }), nil, true, "to exist in namespace"},
		{"an endpoint of its own", Guards{AmbientNamespaces: []string{team}},
			future(func(p *v1alpha1.AWSProvider) { p.Spec.Endpoint = "https://example.com" }), nil, true, "to exist in namespace"},
	} {
		b := newBed(t)
		b.Guards = c.guards
		session, err := b.Generated(t.Context(), c.provider, c.obj, c.vouched)
		if c.want == "" && (err != nil || session.CallerARN != podARN) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v %v, want %q", c.name, session, err, c.want)
		}
		if n := b.sts.Calls(); err != nil && n != 0 {
			t.Errorf("%s: STS is asked %d times", c.name, n)
		}
	}
}

func TestOwnIdentity_IsRefusedUnlessAllowed(t *testing.T) {
	live, going := owned(&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "app", UID: "uid-app"}}, ""),
		&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "app", UID: "uid-app"}}
	live.OwnerReferences = nil
	deleting(going)
	for _, c := range []struct {
		name       string
		guards     Guards
		provider   *v1alpha1.AWSProvider
		generated  bool
		capability *nexusv1.NexusAICapability
		text       string // empty is allowed
	}{
		{"a namespace that is allowed", Guards{AmbientNamespaces: []string{"te*"}}, readyProvider("p", ""), false, live, ""},
		{"another namespace", Guards{AmbientNamespaces: []string{"ops"}}, readyProvider("p", ""), false, live, "--ambient-namespaces=ops,team"},
		{"a pattern that is no pattern", Guards{AmbientNamespaces: []string{"["}}, readyProvider("p", ""), false, live, "--ambient-namespaces"},
		{"its deletion", Guards{}, deleting(readyProvider("p", "")), false, live, ""},
		{"generated, and nothing is allowed", Guards{}, owned(readyProvider("p", ""), "uid-app"), true, live, "--default-permissions-boundary"},
		{"generated, in a namespace of capabilities", Guards{CapabilityNamespaces: []string{team}}, owned(readyProvider("p", ""), "uid-app"),
			true, live, ""},
		{"generated, with a boundary for every role", Guards{DefaultBoundary: "arn:aws:iam::123456789012:policy/b"},
			owned(readyProvider("p", ""), "uid-app"), true, live, ""},
		{"only an owner reference", Guards{CapabilityNamespaces: []string{team}}, owned(readyProvider("p", ""), "uid-app"), false, live,
			"--ambient-namespaces"},
		{"generated by a capability that goes", Guards{}, owned(readyProvider("p", ""), "uid-app"), true, going, ""},
		{"generated by an earlier capability of the name", Guards{}, owned(readyProvider("p", ""), "uid-earlier"), true, going,
			"--capability-namespaces"},
	} {
		b := newBed(t, c.capability.DeepCopy())
		b.Guards, b.generated = c.guards, c.generated
		id, err := b.Resolve(t.Context(), c.provider)
		s, refused := status.AsStalled(err)
		if refused != (c.text != "") || err == nil && id.Static != nil || refused &&
			(s.Reason != status.ReasonAmbientNotAllowed || !strings.Contains(s.Message, c.text)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestOwnIdentity_IsNotGivenWhileNobodyCanVouch(t *testing.T) {
	p := owned(readyProvider("p", ""), "uid-app")
	b := newBed(t)
	b.vouchErr = errOutage
	if _, err := b.Resolve(t.Context(), p); !errors.Is(err, errOutage) {
		t.Errorf("got %v", err)
	}
	b.vouchErr, b.generated = nil, true
	b.api.Fail("get NexusAICapability", errOutage)
	if _, err := b.Resolve(t.Context(), p); !errors.Is(err, errOutage) {
		t.Errorf("got %v", err)
	}
	b.api.Fail("get NexusAICapability", nil)
	if _, err := b.Resolve(t.Context(), p); err == nil { // the capability is gone
		t.Error("given to a provider whose capability is gone")
	}
	b.generated = true
	p.OwnerReferences = nil
	if _, err := b.Resolve(t.Context(), p); err == nil {
		t.Error("given to a provider without an owner")
	}
}

func TestSessions_RefuseAnAccountThatNobodyChecked(t *testing.T) {
	p := readyProvider("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	b.sts.Caller("AKIAUSER", "arn:aws:iam::210987654321:user/other") // a rotated Secret that its controller has not seen
	_, _, err := b.For(t.Context(), bucketOf("aws"), false)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonProviderNotReady || !strings.Contains(w.For, "210987654321") {
		t.Errorf("got %v", err)
	}
	b.sts.Unreachable()
	b.Directory = b.directory()
	if _, _, err := b.For(t.Context(), bucketOf("aws"), false); err == nil {
		t.Error("a session although STS does not answer")
	} else if _, ok := status.AsRetrying(err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:4566": true, "localhost:80": true, "[::1]:80": true, "127.0.0.1": false, "localhost.evil.example:80": false,
		"127.0.0.1.evil.example:80": false, "10.0.0.1:80": false, "": false,
	} {
		if got := IsLoopback(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
