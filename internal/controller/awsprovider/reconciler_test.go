// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestReconcile_AuthenticatesAndRecordsTheAccount(t *testing.T) {
	p := withKeys("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	res := b.passed(p)
	if res.RequeueAfter < 4*time.Minute+30*time.Second || res.RequeueAfter > 5*time.Minute+30*time.Second || res.Priority == nil ||
		*res.Priority != handler.LowPriority {
		t.Errorf("%+v, want the next check at low priority", res)
	}
	b.writes("patch AWSProvider team/aws", "patch Secret team/keys", "status AWSProvider team/aws")
	b.shows(p, "Ready", "True", "Authenticated", userARN)
	if s := p.Status; !s.Ready || s.AccountID != "123456789012" || s.CallerIdentity != userARN || s.Partition != "aws" || s.ExternalID == "" ||
		s.ObservedGeneration != 1 ||
		s.LastAuthenticationTime == nil || !s.LastAuthenticationTime.Time.Equal(start) {
		t.Errorf("status %+v", s)
	}
	if !slices.Contains(p.Finalizers, finalizer) || !b.held("keys") || !slices.Equal(b.watched, []string{team}) {
		t.Errorf("finalizers %v, Secret held %v, watched %v", p.Finalizers, b.held("keys"), b.watched)
	}
	b.clock.SetTime(start.Add(5 * time.Minute))
	b.sts.Calls()
	b.passed(p)
	b.writes()
	if n := b.sts.Calls(); n != 1 {
		t.Errorf("STS is asked %d times by a check", n)
	}
	b.expectEvent()
}

func TestReconcile_RecordsWhenTheStatusChanged(t *testing.T) {
	p := withKeys("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	for _, c := range []struct {
		after, want time.Duration
		arn         string
	}{
		{0, 0, userARN},
		{5 * time.Minute, 0, userARN}, // a check that finds nothing new
		{10 * time.Minute, 10 * time.Minute, userARN + "-renamed"},
	} {
		b.clock.SetTime(start.Add(c.after))
		b.sts.Caller("AKIAUSER", c.arn)
		b.passed(p)
		if got := p.Status.LastSyncTime; got == nil || !got.Time.Equal(start.Add(c.want)) {
			t.Errorf("after %s: lastSyncTime %v, want %s", c.after, got, start.Add(c.want))
		}
	}
}

func TestReconcile_AsksNothingBeforeTheFinalizerIsWritten(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		retry bool
	}{{"conflict", errConflict, true}, {"no permission", errForbidden, false}, {"no answer", errOutage, false}} {
		p := withKeys("aws", "keys")
		b := newBed(t, p, secretOf("keys"))
		b.api.Fail("patch AWSProvider", c.err)
		res, err := b.pass(p)
		if c.retry != (err == nil) || c.retry != (res.RequeueAfter > 0) {
			t.Errorf("%s: %+v %v", c.name, res, err)
		}
		if n := b.sts.Calls(); n != 0 || b.held("keys") {
			t.Errorf("%s: STS is asked %d times, Secret held %v", c.name, n, b.held("keys"))
		}
	}
}

func TestReconcile_LeavesAReadyProviderAloneUntilItsCheck(t *testing.T) {
	p := ambient("aws")
	b := newBed(t, p)
	b.passed(p)
	b.shows(p, "Ready", "True", "Authenticated", strings.TrimSuffix(podARN, "/pod-1"))
	b.sts.Calls()
	if res := b.passed(p); res.RequeueAfter < 4*time.Minute || b.sts.Calls() != 0 {
		t.Errorf("%+v: asked again before the check is due", res)
	}
	b.restart()
	if res := b.passed(p); res.RequeueAfter > 5*time.Minute || b.sts.Calls() != 0 {
		t.Errorf("%+v: a restart asks STS at once", res)
	}
	b.clock.SetTime(start.Add(6 * time.Minute))
	b.passed(p)
	if n := b.sts.Calls(); n == 0 {
		t.Error("the check that is due asks nothing")
	}
	b.edit(p, func() { p.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"} })
	b.passed(p)
	if n := b.sts.Calls(); n != 1 || p.Status.LastHandledReconcileAt != "now" {
		t.Errorf("a requested check asks %d times, answered %q", n, p.Status.LastHandledReconcileAt)
	}
	b.edit(p, func() { p.Generation, p.Spec.Region = 2, "eu-north-1" })
	b.passed(p)
	if p.Status.ObservedGeneration != 2 {
		t.Error("an edit waits for the next check")
	}
}

func TestReconcile_NamesTheRemedyForCredentials(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *bed, p *v1alpha1.AWSProvider)
		repair func(b *bed, p *v1alpha1.AWSProvider)
		reason string
		texts  []string
	}{
		{"no Secret", func(b *bed, _ *v1alpha1.AWSProvider) { b.remove(secretOf("keys")) },
			func(b *bed, _ *v1alpha1.AWSProvider) { b.must(b.api.Store.Create(b.Context(), secretOf("keys"))) },
			"CredentialsMissing", []string{"team/keys", "kubectl create rolebinding"}},
		{"a Secret that may not be read", func(b *bed, _ *v1alpha1.AWSProvider) { b.api.Fail("live get Secret", errForbidden) },
			func(b *bed, _ *v1alpha1.AWSProvider) { b.api.Fail("live get Secret", nil) },
			"CredentialsMissing", []string{"team/keys", "kubectl create rolebinding"}},
		{"keys that AWS does not know", func(b *bed, _ *v1alpha1.AWSProvider) { b.sts.Caller("AKIAUSER", "") },
			func(b *bed, _ *v1alpha1.AWSProvider) { b.sts.Caller("AKIAUSER", userARN) },
			"CredentialsInvalid", nil},
		{"an account that is not allowed",
			func(_ *bed, p *v1alpha1.AWSProvider) { p.Spec.AllowedAccountIDs = []v1alpha1.AccountID{"210987654321"} },
			func(_ *bed, p *v1alpha1.AWSProvider) { p.Spec.AllowedAccountIDs = nil },
			"AccountNotAllowed", []string{"spec.allowedAccountIDs", "123456789012"}},
		{"an endpoint that is not allowed", func(_ *bed, p *v1alpha1.AWSProvider) { p.Spec.Endpoint = "https://evil.example" },
			func(_ *bed, p *v1alpha1.AWSProvider) { p.Spec.Endpoint = "" },
			"EndpointNotAllowed", []string{"spec.endpoint", "--allowed-endpoints"}},
		{"another ExternalID", func(_ *bed, p *v1alpha1.AWSProvider) { p.Spec.ExternalID = "mine" },
			func(_ *bed, p *v1alpha1.AWSProvider) { p.Spec.ExternalID = "" },
			"ExternalIDNotAllowed", []string{"spec.externalID", "--allow-custom-external-id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := withKeys("aws", "keys")
			b := newBed(t, p, secretOf("keys"))
			b.edit(p, func() { c.change(b, p) })
			for range 3 {
				_, err := b.pass(p)
				if _, ok := status.AsStalled(err); !ok {
					t.Errorf("%v: retried with growing pauses", err)
				}
			}
			b.get(p)
			b.shows(p, "Ready", "False", c.reason, c.texts...)
			b.shows(p, "Stalled", "True", c.reason)
			if p.Status.Ready || p.Status.AccountID != "" || p.Status.LastAuthenticationTime != nil {
				t.Errorf("status %+v", p.Status)
			}
			b.expectEvent(append(c.texts, "Warning "+c.reason)...)
			b.api.Writes()
			_, _ = b.pass(p)
			b.writes()

			b.edit(p, func() { c.repair(b, p) })
			b.clock.SetTime(start.Add(time.Minute))
			b.passed(p)
			b.shows(p, "Ready", "True", "Authenticated")
			b.shows(p, "Stalled", "False", "Authenticated")
		})
	}
}

func TestReconcile_StaysReadyWhileSTSIsUnreachable(t *testing.T) {
	p := withKeys("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	b.passed(p)
	b.sts.Unreachable()
	_, err := b.pass(p)
	if _, ok := status.AsRetrying(err); !ok {
		t.Errorf("got %v", err)
	}
	b.get(p)
	b.shows(p, "Ready", "True", "Authenticated")
	b.shows(p, "Reconciling", "True", "Unreachable")
	b.expectEvent()
	b.clock.SetTime(start.Add(11 * time.Minute))
	_, _ = b.pass(p)
	b.get(p)
	b.shows(p, "Stalled", "True", "Unreachable")
	b.shows(p, "Ready", "False", "Unreachable")
	b.sts.Reachable()
	b.clock.SetTime(start.Add(12 * time.Minute))
	b.passed(p)
	b.shows(p, "Ready", "True", "Authenticated")
}

func TestReconcile_NoticesARotatedSecret(t *testing.T) {
	p, s := withKeys("aws", "keys"), secretOf("keys")
	b := newBed(t, p, s)
	b.passed(p)
	other := "arn:aws:iam::210987654321:user/other"
	b.sts.Caller("AKIAOTHER", other)
	b.edit(s, func() { s.Data["AWS_ACCESS_KEY_ID"] = []byte("AKIAOTHER") })
	b.passed(p)
	if p.Status.AccountID != "210987654321" || p.Status.CallerIdentity != other {
		t.Errorf("status %+v", p.Status)
	}
}

func TestReconcile_EndsAPassOnAStatusThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		fails   bool
		requeue bool
	}{
		{"conflict", errConflict, false, true},
		{"deleted meanwhile", apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("awsproviders").GroupResource(), "aws"), false, false},
		{"no answer", errOutage, true, false},
		{"no permission", errForbidden, true, false},
	} {
		p := ambient("aws")
		b := newBed(t, p)
		b.api.Fail("status AWSProvider", c.err)
		res, err := b.pass(p)
		if (err != nil) != c.fails || (res.RequeueAfter > 0) != c.requeue {
			t.Errorf("%s: %+v %v", c.name, res, err)
		}
	}
}

func TestReconcile_KeepsAProviderThatIsInUse(t *testing.T) {
	p := withKeys("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	b.used["aws"] = 3
	b.passed(p)
	b.remove(p)
	b.sts.Calls()
	res := b.passed(p)
	if res.RequeueAfter < 9*time.Second || res.RequeueAfter > 11*time.Second {
		t.Errorf("%+v, want another look in about 10s", res)
	}
	b.shows(p, "InUse", "True", "InUse", "3 objects still need this provider", "S3Bucket team/b0, S3Bucket team/b1, S3Bucket team/b2")
	b.shows(p, "Ready", "True", "Authenticated")
	if !slices.Contains(p.Finalizers, finalizer) || !b.held("keys") {
		t.Error("a provider in use, or its Secret, is released")
	}
	if n := b.sts.Calls(); n != 0 {
		t.Errorf("STS is asked %d times: each dependent that goes comes here", n)
	}
	b.usedErr = errOutage
	if _, err := b.pass(p); !apierrors.IsServiceUnavailable(err) || b.gone(p) {
		t.Errorf("%v: released although its dependents are unknown", err)
	}
	b.used["aws"], b.usedErr = 0, nil
	if _, err := b.pass(p); err != nil || !b.gone(p) || b.held("keys") {
		t.Errorf("%v: not released, Secret held %v", err, b.held("keys"))
	}
}

func TestReconcile_RetriesTheReleaseOfAProvider(t *testing.T) {
	for _, c := range []struct {
		call  string
		err   error
		retry bool
	}{
		{"patch AWSProvider", errConflict, true}, {"patch AWSProvider", errOutage, false}, {"patch AWSProvider", errForbidden, false},
		{"patch Secret", errConflict, true}, {"patch Secret", errOutage, false}, {"live list Secret", errOutage, false},
	} {
		p := withKeys("aws", "keys")
		b := newBed(t, p, secretOf("keys"))
		b.passed(p)
		b.remove(p)
		b.api.Fail(c.call, c.err)
		res, err := b.pass(p)
		if c.retry != (err == nil) || c.retry != (res.RequeueAfter > 0) || b.gone(p) {
			t.Errorf("%s %v: %+v %v", c.call, c.err, res, err)
		}
		b.api.Fail(c.call, nil)
		if _, err := b.pass(p); err != nil || !b.gone(p) {
			t.Errorf("%s %v: then %v", c.call, c.err, err)
		}
	}
}

func TestReconcile_LeavesAProviderToOtherFinalizers(t *testing.T) {
	p := ambient("aws")
	p.Finalizers = []string{"example.com/hold"}
	b := newBed(t, p)
	b.remove(p)
	b.passed(p)
	b.writes() // none is added to an object that is being deleted
	if n := b.sts.Calls(); n != 0 {
		t.Errorf("STS is asked %d times", n)
	}
}

func TestReconcile_EndsTheInUseCondition(t *testing.T) {
	p, s := withKeys("aws", "keys"), secretOf("keys")
	b := newBed(t, p, s)
	b.used["aws"] = 1
	b.passed(p)
	b.remove(s)
	if res := b.passed(p); res.RequeueAfter > 11*time.Second {
		t.Errorf("%+v", res)
	}
	b.shows(p, "InUse", "True", "InUse", "1 object still needs Secret keys", "S3Bucket team/b0")
	b.expectEvent("Warning InUse 1 object still needs the Secret, which AWSProvider aws reads", "S3Bucket team/b0")
	b.passed(p)
	b.expectEvent() // not at every look
	b.edit(p, func() { p.Spec.CredentialsSecret.Name, p.Generation = "others", 2 })
	b.must(b.api.Store.Create(t.Context(), secretOf("others")))
	b.passed(p)
	if meta.FindStatusCondition(p.Status.Conditions, conditionInUse) != nil {
		t.Error("a Secret that the provider no longer reads is said to be kept by it")
	}
	if !b.gone(s) || !b.held("others") {
		t.Error("the Secret that is no longer read is not released, or the new one is not held")
	}
}

func TestReconcile_CannotReadItself(t *testing.T) {
	p := ambient("aws")
	b := newBed(t, p)
	b.api.Fail("get AWSProvider", errOutage)
	if _, err := b.pass(p); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v", err)
	}
	b.writes()
}

func TestReconcile_TruncatesWhatItRepeatsFromAnAnnotation(t *testing.T) {
	p := ambient("aws")
	p.Annotations = map[string]string{wellknown.AnnotationReconcileAt: strings.Repeat("x", 1000)}
	b := newBed(t, p)
	b.passed(p)
	if n := len(p.Status.LastHandledReconcileAt); n > 64 {
		t.Errorf("%d bytes are repeated in the status", n)
	}
	b.api.Writes()
	b.passed(p)
	b.writes()
}
