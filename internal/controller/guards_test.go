package controller

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/s3"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestEndpointsOfProvidersAreGuarded(t *testing.T) {
	p := &Providers{Guards: Guards{AllowedEndpoints: []string{"https://*.corp.example", "http://127.0.0.1:*", "http://plain.example"}}}
	keys := &v1alpha1.SecretReference{Name: "keys"}
	for _, c := range []struct {
		endpoint string
		keys     *v1alpha1.SecretReference
		refused  string
	}{
		{"", nil, ""},
		{"https://s3.corp.example", keys, ""},
		{"http://127.0.0.1:4566", keys, ""},
		{"https://s3.other.example", keys, "--allowed-endpoints"},
		{"http://plain.example", keys, "https"},
		{"https://s3.corp.example", nil, "operator's own credentials"},
		{"http://127.0.0.1:80@evil.example", keys, "plain URL"},
		{"https://evil.example?x=.corp.example", keys, "plain URL"},
		{"https://evil.example/.corp.example", keys, "plain URL"},
		{"://", keys, "plain URL"},
	} {
		provider := &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Endpoint: c.endpoint, CredentialsSecret: c.keys}}
		err := p.checkEndpoint(provider)
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%q: %v, want %q", c.endpoint, err, c.refused)
		}
	}
}

func TestCredentialsAreReadByTheirKeys(t *testing.T) {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys", ResourceVersion: "7"}, Data: map[string][]byte{
		"AWS_ACCESS_KEY_ID": []byte("AKIA\n"), "AWS_SECRET_ACCESS_KEY": []byte("secret"), "AWS_SESSION_TOKEN": []byte("token")}}
	keys, version, err := keysOf(s)
	if err != nil || keys.AccessKeyID != "AKIA" || keys.SecretAccessKey.Reveal() != "secret" || keys.SessionToken.Reveal() != "token" || version != "7" {
		t.Errorf("%v %q %v", keys, version, err)
	}
	delete(s.Data, "AWS_SECRET_ACCESS_KEY")
	_, _, err = keysOf(s)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonCredentialsMissing || !strings.Contains(st.Message, "AWS_SECRET_ACCESS_KEY") {
		t.Errorf("a missing key: %v", err)
	}
}

func TestReferencesAreFoundWhereverTheyStand(t *testing.T) {
	spec := v1alpha1.GlueCrawlerSpec{RoleRef: &v1alpha1.ObjectReference{Name: "role"}, DatabaseRef: &v1alpha1.ObjectReference{Name: "db"},
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, S3Targets: []v1alpha1.GlueS3Target{{Path: "p"}}}
	got := references(reflect.ValueOf(spec))
	slices.Sort(got)
	if !slices.Equal(got, []string{"db", "role"}) {
		t.Errorf("%q", got)
	}
}

func TestTheElderOfTwoCapabilitiesWins(t *testing.T) {
	at := func(sec int64, uid string) *nexusv1.NexusAICapability {
		return &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Unix(sec, 0), UID: types.UID(uid)}}
	}
	if !older(at(1, "b"), at(2, "a")) || older(at(2, "a"), at(1, "b")) || !older(at(1, "a"), at(1, "b")) || older(at(1, "b"), at(1, "a")) {
		t.Error("age decides, then the UID, and never both ways")
	}
}

func TestWhatIsAsDeclaredRestsUntilItsCheckIsDue(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	r := NewResource(Environment{Clock: clock, Pace: DefaultPace()}, engine.For(s3.NewBucket), nil, nil)
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "ns", Generation: 2}}
	if r.rest(o) != 0 {
		t.Error("what was never seen rests")
	}
	status.Summarise(&o.Status.Conditions, status.Result{Generation: 2, Now: clock.Now()})
	first := r.rest(o)
	if first <= 0 || first > 5*time.Minute {
		t.Errorf("after a restart the first check comes in %s", first)
	}
	clock.SetTime(clock.Now().Add(first))
	if r.rest(o) != 0 {
		t.Error("a check that is due does not come")
	}
	r.checks.set(types.NamespacedName{Namespace: "ns", Name: "n"}, clock.Now().Add(time.Minute))
	if r.rest(o) != time.Minute {
		t.Error("a check comes before its time")
	}
	for what, edit := range map[string]func(){
		"an edit":            func() { o.Generation = 3 },
		"a request":          func() { o.Annotations = map[string]string{engine.AnnotationReconcileAt: "now"} },
		"a deletion":         func() { o.DeletionTimestamp = new(metav1.Now()) },
		"the end of a pause": func() { o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: conditionPaused}) },
	} {
		kept := o.DeepCopy()
		if edit(); r.rest(o) != 0 {
			t.Errorf("%s is not looked at", what)
		}
		o = kept
	}
	r.Pace.CheckEveryOf = map[string]time.Duration{"S3Bucket": time.Hour}
	if r.interval() != time.Hour {
		t.Error("the kind's own interval is not used")
	}
}

func TestPausesGrowForWhatPassesAndNotForWhatStalls(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	p := newPauses(DefaultPace(), clock)
	key := types.NamespacedName{Name: "n"}
	passing := &status.Retrying{Cause: errors.New("boom")}
	var last time.Duration
	for range 12 {
		d := p.after(key, passing)
		if d < last && last < 40*time.Second {
			t.Errorf("%s follows %s", d, last)
		}
		last = d
		clock.SetTime(clock.Now().Add(d))
	}
	if last < 30*time.Second || last > 90*time.Second {
		t.Errorf("the pauses grew to %s, want about a minute", last)
	}
	if d := p.after(key, &status.Waiting{For: "x", After: 7 * time.Second}); d != 7*time.Second {
		t.Errorf("a wait of 7 s became %s", d)
	}
	if d := p.after(key, &status.Stalled{}); d < 50*time.Second || d > 70*time.Second {
		t.Errorf("a stalled object is tried again after %s", d)
	}
	if d := p.after(key, passing); d > time.Second {
		t.Errorf("after a stall the pauses begin at %s", d)
	}
}

func TestReasonsOfApplyFailures(t *testing.T) {
	for want, err := range map[string]error{
		"Conflict":    &status.Stalled{Reason: "Conflict"},
		"Busy":        &status.Waiting{Reason: "Busy"},
		"InvalidSpec": apierrors.NewBadRequest("no"),
		"Retrying":    errors.New("boom"),
	} {
		if got := reasonOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
