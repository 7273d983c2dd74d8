// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// streamType is allowed to the operator in the tests with a double of Cloud Control API.
const streamType = "AWS::Kinesis::Stream"

// controls answers Cloud Control API by a double.
func (h *home) controls() *cloudcontrol.Double {
	h.Helper()
	types, err := awstypes.Excerpt()
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = types.Close() })
	double := cloudcontrol.New("123456789012", types, time.Now)
	h.w.AWS().Divert("cloudformation", double)
	return double
}

// streamOf declares a stream with the name of the object.
func streamOf(name, namespace, provider string) *v1alpha1.AWSResource {
	return &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace,
		Annotations: map[string]string{wellknown.AnnotationDeleteData: name}}, Spec: v1alpha1.AWSResourceSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: provider}}, TypeName: streamType,
		Properties: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"Name":%q,"RetentionPeriodHours":48}`, name)}}}
}

// A type without a kind has the life of every other: create, nothing at rest, edit, drift, deletion.
func TestAWSResource_HasTheLifeOfEveryKind(t *testing.T) {
	h := start(t, "--types="+streamType)
	double := h.controls()
	double.SetDuration(300 * time.Millisecond)
	p, s, _ := keyed("any-type")
	stream := streamOf("events", p.Namespace, p.Name)
	h.create(s, p, stream)
	h.shows(stream, "Ready", "True", "Ready")
	h.hasRetention(double, 48)
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(stream), stream); err != nil {
		t.Fatal(err)
	}
	if st := stream.Status; st.Identifier != "events" || st.Request != nil || !strings.HasPrefix(st.ARN, "arn:aws:kinesis:ap-southeast-1:") {
		t.Errorf("%+v", st)
	}
	writes := h.w.AWS().Calls().Writes().Count()
	ask := func(value string) {
		h.alter(stream, func() { metav1.SetMetaDataAnnotation(&stream.ObjectMeta, wellknown.AnnotationReconcileAt, value) })
		h.eventually("the check to be done", func() error {
			if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(stream), stream); err != nil || stream.Status.LastHandledReconcileAt != value {
				return fmt.Errorf("%q: %v", stream.Status.LastHandledReconcileAt, err)
			}
			return nil
		})
	}
	ask("1")
	if n := h.w.AWS().Calls().Writes().Count(); n != writes {
		t.Errorf("a check wrote:\n%s", h.w.AWS().Calls())
	}
	h.alter(stream, func() { stream.Spec.Properties.Raw = []byte(`{"Name":"events","RetentionPeriodHours":72}`) })
	h.eventually("the edit to be observed", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(stream), stream); err != nil ||
			stream.Status.SyncedGeneration != stream.Generation {
			return fmt.Errorf("%+v: %v", stream.Status, err)
		}
		return nil
	})
	h.hasRetention(double, 72)
	if err := double.Set(streamType, "events", "RetentionPeriodHours", 24.0); err != nil {
		t.Fatal(err)
	}
	h.alter(stream, func() { metav1.SetMetaDataAnnotation(&stream.ObjectMeta, wellknown.AnnotationReconcileAt, "2") })
	h.hasRetention(double, 72)
	group := streamOf("group", p.Namespace, p.Name)
	group.Spec.TypeName, group.Spec.Properties.Raw = "AWS::Logs::LogGroup", []byte(`{}`)
	h.create(group)
	if message := h.shows(group, "Stalled", "True", "NotPermitted"); !strings.Contains(message, "--types") {
		t.Error(message)
	}
	h.remove(stream, group)
	if left := double.Identifiers(streamType); len(left) > 0 {
		t.Errorf("%v", left)
	}
	h.remove(p, s)
}

// A reference resolves to a resource that an object of the namespace owns, and a secret to a Secret of the namespace. Both follow changes
// at once, and never resolve to another namespace.
func TestAWSResource_RefersWithinItsNamespace(t *testing.T) {
	extent.Full(t)
	const parameterType, value, next = "AWS::SSM::Parameter", "hunter22-of-the-shop", "correct-horse"
	h := start(t, "--types="+streamType+","+parameterType)
	double := h.controls()
	p, s, _ := keyed("any-type-refs")
	other, otherKeys, _ := keyed("any-type-victim")
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: other.Namespace},
		StringData: map[string]string{"value": value}}
	theirs := streamOf("theirs", other.Namespace, other.Name)
	h.create(s, p, otherKeys, other, token, theirs)
	h.shows(theirs, "Ready", "True", "Ready")
	refersTo := func(name, to string) *v1alpha1.AWSResource {
		o := streamOf(name, p.Namespace, p.Name)
		o.Spec.TypeName, o.Spec.Properties.Raw = parameterType,
			fmt.Appendf(nil, `{"Name":%q,"Type":"String","Value":{"$ref":%q,"field":"status.properties.Arn"}}`, name, to)
		return o
	}
	disputed := streamOf("theirs", p.Namespace, p.Name) // of the other namespace
	ofTheirs, ofDisputed, ofNone, ofOurs := refersTo("of-theirs", "AWSResource/theirs-too"), refersTo("of-disputed", "AWSResource/theirs"),
		refersTo("of-none", "Bucket/x"), refersTo("of-ours", "AWSResource/ours")
	login := streamOf("login", p.Namespace, p.Name)
	login.Spec.TypeName, login.Spec.Properties.Raw = parameterType,
		[]byte(`{"Name":"/shop/login","Type":"String","Value":{"$secret":"token","key":"value"}}`)
	h.create(disputed, ofTheirs, ofDisputed, ofNone, ofOurs, login)
	h.shows(disputed, "Stalled", "True", "Conflict")
	for o, says := range map[*v1alpha1.AWSResource]string{ofTheirs: "AWSResource/theirs-too to exist", ofDisputed: "AWSResource/theirs",
		ofOurs: "AWSResource/ours to exist"} {
		if message := h.shows(o, "Reconciling", "True", "Waiting"); !strings.Contains(message, says) {
			t.Errorf("%s: %s", o.Name, message)
		}
	}
	if message := h.shows(ofNone, "Stalled", "True", "InvalidSpec"); !strings.Contains(message, "Bucket is no kind") {
		t.Error(message)
	}
	if message := h.shows(login, "Stalled", "True", "CredentialsMissing"); !strings.Contains(message, p.Namespace+"/token") {
		t.Error(message)
	}
	if got := double.Identifiers(streamType); len(got) != 1 {
		t.Errorf("%v", got)
	}
	ours := streamOf("ours", p.Namespace, p.Name)
	mine := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: p.Namespace}, StringData: map[string]string{"value": value}}
	h.create(ours, mine)
	h.shows(ofOurs, "Ready", "True", "Ready")
	keyedByOurs := streamOf("keyed-by-ours", p.Namespace, p.Name)
	keyedByOurs.Spec.Properties.Raw = []byte(`{"Name":"keyed-by-ours","StreamEncryption":{"EncryptionType":"KMS","KeyId":{"$ref":"AWSResource/ours","field":"status.arn"}}}`)
	h.create(keyedByOurs)
	if message := h.shows(keyedByOurs, "Stalled", "True", "InvalidSpec"); !strings.Contains(message,
		"AWSResource/ours is of type "+streamType+": refer to KMSKey") {
		t.Error(message)
	}
	has := func(want string) {
		h.eventually("the parameter to have the value of the Secret", func() error {
			if have := double.Properties(parameterType, "/shop/login"); have["Value"] != want {
				return fmt.Errorf("%v", have["Value"])
			}
			return nil
		})
	}
	h.alter(login, func() { metav1.SetMetaDataAnnotation(&login.ObjectMeta, wellknown.AnnotationReconcileAt, "1") })
	h.shows(login, "Ready", "True", "Ready")
	has(value)
	h.alter(mine, func() { mine.Data = map[string][]byte{"value": []byte(next)} })
	has(next)
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(login), login); err != nil {
		t.Fatal(err)
	}
	if shown := fmt.Sprintf("%+v", login); strings.Contains(shown, value) || strings.Contains(shown, next) {
		t.Errorf("the object shows the secret: %s", shown)
	}
	h.remove(login, keyedByOurs, ofOurs, ofNone, ofDisputed, ofTheirs, disputed, ours, theirs)
	if left := double.Identifiers(streamType); len(left) > 0 {
		t.Errorf("%v", left)
	}
	h.remove(p, s, mine, other, otherKeys, token)
}

// hasRetention waits until the stream keeps records for so many hours.
func (h *home) hasRetention(double *cloudcontrol.Double, hours float64) {
	h.Helper()
	h.eventually(fmt.Sprintf("a retention of %v hours", hours), func() error {
		if have := double.Properties(streamType, "events"); have["RetentionPeriodHours"] != hours {
			return fmt.Errorf("%v", have)
		}
		return nil
	})
}
