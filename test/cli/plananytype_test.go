// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// A plan of resources of any type is that of the operator: another form of a value is no change, a foreign value is one, and the schema
// says what a property may refer to, also of an object that is only declared.
func TestPlan_OfAnyTypeFollowsTheSchema(t *testing.T) {
	extent.Full(t)
	const flag, keyID, storeType = "--types=AWS::CloudTrail::EventDataStore,AWS::Kinesis::Stream", "1234abcd-12ab-34cd-56ef-1234567890ab",
		"AWS::CloudTrail::EventDataStore"
	x := newTool(t, flag, "--check-interval=1h")
	types, err := awstypes.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	double := cloudcontrol.New(x.World.AWS().Account(), types, time.Now)
	x.World.AWS().Divert("cloudformation", double)
	x.MakeNamespace(operator.Namespace)
	selector, template := operatorPod(flag)
	x.installed(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: operator.Namespace},
		Spec: appsv1.DeploymentSpec{Selector: &selector, Template: template}})
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	of := func(name, typeName, properties string) *v1alpha1.AWSResource {
		return &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: x.Namespace}, Spec: v1alpha1.AWSResourceSpec{
			CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, TypeName: typeName,
			Properties: runtime.RawExtension{Raw: []byte(properties)}}}
	}
	store := of("audit", storeType, `{"Name":"audit","KmsKeyId":"`+keyID+`","TerminationProtectionEnabled":false}`)
	stream := of("events", "AWS::Kinesis::Stream",
		`{"Name":"events","StreamEncryption":{"EncryptionType":"KMS","KeyId":{"$ref":"AWSResource/audit","field":"status.arn"}}}`)
	args := []string{"-f", "-", "--operator-namespace", operator.Namespace}
	for _, it := range x.plan(x.manifest(store, stream), args...) {
		if (it.Problem != nil) != (it.Name == "events") {
			t.Errorf("%s: %+v", it.title(), it.Problem)
		}
		if it.Problem != nil && (it.Problem.Field != "spec.properties.StreamEncryption.KeyId" ||
			!strings.Contains(it.Problem.Message, "AWSResource/audit is of type "+storeType+": refer to KMSKey")) {
			t.Errorf("%+v", it.Problem)
		}
	}
	x.Create(store)
	x.Ready(store)
	ids := double.Identifiers(storeType)
	if len(ids) != 1 || !strings.HasPrefix(fmt.Sprint(double.Properties(storeType, ids[0])["KmsKeyId"]), "arn:aws:kms:") {
		t.Fatalf("%v", ids)
	}
	x.unchanged(x.manifest(of("audit", storeType, string(store.Spec.Properties.Raw))), args...)
	if err := double.Set(storeType, ids[0], "KmsKeyId",
		"arn:aws:kms:eu-west-1:123456789012:key/9999abcd-12ab-34cd-56ef-1234567890ab"); err != nil {
		t.Fatal(err)
	}
	items := x.plan(x.manifest(of("audit", storeType, string(store.Spec.Properties.Raw))), args...)
	if len(items) != 1 || items[0].AWS == nil || items[0].AWS.Cause != "Drift" || len(items[0].AWS.Fields) != 1 ||
		items[0].AWS.Fields[0].Path != "Properties.KmsKeyId" {
		t.Errorf("%+v", items)
	}
	left := of("audit", storeType, string(store.Spec.Properties.Raw))
	left.Spec.Ignore = []string{"/KmsKeyId"}
	items = x.plan(x.manifest(left), args...)
	if len(items) != 1 || items[0].AWS == nil || items[0].AWS.Action != "None" || len(items[0].AWS.Fields) > 0 ||
		len(items[0].AWS.Ignored) != 1 || items[0].AWS.Ignored[0].Path != "Properties.KmsKeyId" {
		t.Errorf("%+v", items)
	}
}
