// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	stream       = "AWS::Kinesis::Stream"
	prefixList   = "AWS::EC2::PrefixList"
	metricFilter = "AWS::Logs::MetricFilter"
	secret       = "AWS::SecretsManager::Secret"

	eventsStream = `{"Name":"events","RetentionPeriodHours":48}`
	officeList   = `{"PrefixListName":"office","AddressFamily":"IPv4","MaxEntries":5,"Entries":[{"Cidr":"192.0.2.0/24"}]}`
	errorsFilter = `{"FilterName":"errors","LogGroupName":"shop","FilterPattern":"ERROR","MetricTransformations":[{"MetricName":"errors","MetricNamespace":"shop","MetricValue":"1"}]}`
)

var entry = engine.For(NewResource)

// resourceOf returns an object that declares properties of a type.
func resourceOf(typeName, properties string) *v1alpha1.AWSResource {
	o := &v1alpha1.AWSResource{}
	o.Name, o.Spec.TypeName, o.Spec.Properties = "sample", typeName, runtime.RawExtension{Raw: []byte(properties)}
	o.Annotations = map[string]string{wellknown.AnnotationDeleteData: "sample"}
	return o
}

// bench is one object with the double of Cloud Control API that answers it.
type bench struct {
	*kindtest.Subject
	t      *testing.T
	double *double.Double
}

// place gives a subject a double with the subject's clock.
func place(t *testing.T, s *kindtest.Subject) *bench {
	t.Helper()
	types, err := awstypes.Excerpt()
	kindtest.Must(t, err)
	t.Cleanup(func() { _ = types.Close() })
	return placeWith(t, s, types)
}

// placeWith gives a subject a double of some types.
func placeWith(t *testing.T, s *kindtest.Subject, types *awstypes.Types) *bench {
	d := double.New(kindtest.Account, types, func() time.Time { return s.Clock })
	d.AllowOrphans() // properties are drawn at random
	s.Rig.AWS.Divert("cloudformation", d)
	s.Rig.AWS.Divert("tag", d.Tagging())
	return &bench{s, t, d}
}

func newBench(t *testing.T, o *v1alpha1.AWSResource) *bench {
	t.Helper()
	return place(t, kindtest.NewSubject(kindtest.NewRig(t), entry, o))
}

func (b *bench) resource() *v1alpha1.AWSResource { return b.Object.(*v1alpha1.AWSResource) }

// learns reads the schema of the type, which the kind keeps.
func (b *bench) learns() {
	b.t.Helper()
	_, err := b.Decide(b.t.Context())
	kindtest.Must(b.t, err)
}

// edit declares other properties.
func (b *bench) edit(properties string) { b.Edit(resourceOf(b.resource().Spec.TypeName, properties)) }

// stalls settles the object and returns the message of the expected reason.
func (b *bench) stalls(reason string) string {
	b.t.Helper()
	_, err := b.Settle(b.t.Context(), nil)
	s, ok := status.AsStalled(err)
	if !ok || s.Reason != reason {
		b.t.Fatalf("got %v, want %s\n%s", err, reason, b.Rig.AWS.Calls())
	}
	return s.Error()
}

// existing makes a resource as another client of AWS does.
func existing(t *testing.T, r *kindtest.Rig, typeName, properties string) {
	t.Helper()
	_, err := cloudcontrol.NewFromConfig(r.Config).CreateResource(t.Context(),
		&cloudcontrol.CreateResourceInput{TypeName: &typeName, DesiredState: aws.String(properties)})
	kindtest.Must(t, err)
}

type calls = map[string]int

func TestStream_LivesWithTheFewestCalls(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.learns()
	kindtest.Costs(t, b.Subject,
		kindtest.Cost{Name: "a create", Calls: calls{"GetResource": 2, "CreateResource": 1, "GetResourceRequestStatus": 1}},
		kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}},
		kindtest.Cost{Name: "an edit", Change: func() { b.edit(`{"Name":"events","RetentionPeriodHours":72}`) },
			Calls: calls{"GetResource": 2, "UpdateResource": 1, "GetResourceRequestStatus": 1}},
		kindtest.Cost{Name: "a drift", Change: func() {
			b.Clock = b.Clock.Add(time.Minute)
			kindtest.Must(t, b.double.Set(stream, "events", "RetentionPeriodHours", 24.0))
		},
			Calls: calls{"GetResource": 2, "UpdateResource": 1, "GetResourceRequestStatus": 1}},
	)
	have := b.double.Properties(stream, "events")
	if have["RetentionPeriodHours"] != 72.0 || len(have["Tags"].([]any)) != 4 {
		t.Errorf("%v", have)
	}
	st := b.resource().Status
	if st.ID != "events" || st.Identifier != "events" || st.ARN != have["Arn"] || st.Request != nil || st.Properties == nil ||
		st.Ownership != v1alpha1.OwnershipOwned {
		t.Errorf("%+v", st)
	}
	b.Deleting = true
	kindtest.Costs(t, b.Subject,
		kindtest.Cost{Name: "a deletion", Calls: calls{"GetResource": 2, "DeleteResource": 1, "GetResourceRequestStatus": 1}})
	if left := b.double.Identifiers(stream); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// AWS carries requests out in its own time, and reports the progress.
func TestStream_RequestsTakeTheirTime(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.double.SetDuration(20 * time.Second)
	b.learns()
	busy := func(operation string, pause time.Duration) {
		t.Helper()
		_, err := b.Pass(t.Context(), nil)
		w, ok := status.AsWaiting(err)
		if r := b.resource().Status.Request; !ok || w.Reason != status.ReasonBusy || r == nil || r.Operation != operation ||
			w.After.Round(time.Second) != pause {
			t.Fatalf("%+v, request %+v, want a pause of %s", err, r, pause)
		}
		b.Forget() // an operator that starts knows the pending request from the status
	}
	busy("CREATE", 20*time.Second)
	b.Clock = b.Clock.Add(5 * time.Second)
	busy("CREATE", 15*time.Second)
	kindtest.Settled(t, b.Subject)
	b.edit(`{"Name":"events","RetentionPeriodHours":72}`)
	busy("UPDATE", 20*time.Second)
	kindtest.Settled(t, b.Subject)
	// the second look of each operation comes when AWS asked for it
	if n := b.Rig.AWS.Calls().Match("cloudformation", "GetResourceRequestStatus", "*").Count(); n != 7 {
		t.Errorf("%d polls:\n%s", n, b.Rig.AWS.Calls())
	}
	if n := b.Rig.AWS.Calls().Writes().Count(); n != 2 || b.double.Properties(stream, "events")["RetentionPeriodHours"] != 72.0 {
		t.Errorf("%d writes:\n%s", n, b.Rig.AWS.Calls())
	}
	b.Deleting = true
	busy("DELETE", 20*time.Second)
	kindtest.Settled(t, b.Subject)
}

// lifeOf is a life of a type with faults at every write.
func lifeOf(t *testing.T, o *v1alpha1.AWSResource, edited, foreign string) kindtest.Life {
	var b *bench
	name := o.Spec.TypeName
	l := kindtest.Life{
		Sample: o, Edited: resourceOf(name, edited),
		Facts:   func(s *kindtest.Subject) { b = place(t, s) },
		Exists:  func(*testing.T, *kindtest.Rig) bool { return len(b.double.Identifiers(name)) > 0 },
		Invalid: []v1alpha1.Resource{resourceOf(name, `{"NoSuchProperty":1}`)},
	}
	if foreign != "" {
		l.Foreign = func(t *testing.T, r *kindtest.Rig) { existing(t, r, name, foreign) }
	}
	return l
}

func TestStream_Faults(t *testing.T) {
	kindtest.Faults(t, entry, lifeOf(t, resourceOf(stream, eventsStream), `{"Name":"events","RetentionPeriodHours":72}`, eventsStream))
}

// The edit drops a property that the create declared.
func TestStream_FaultsOfARemoval(t *testing.T) {
	kindtest.Faults(t, entry, lifeOf(t, resourceOf(stream, encryptedStream), eventsStream, eventsStream))
}

func TestPrefixList_Faults(t *testing.T) {
	kindtest.Faults(t, entry,
		lifeOf(t, resourceOf(prefixList, officeList), `{"PrefixListName":"offices","AddressFamily":"IPv4","MaxEntries":5}`, ""))
}

func TestMetricFilter_Faults(t *testing.T) {
	kindtest.Faults(t, entry, lifeOf(t, resourceOf(metricFilter, errorsFilter), errorsFilter, ""))
}

func TestPrefixList_HasTheIdentifierOfAWS(t *testing.T) {
	b := newBench(t, resourceOf(prefixList, officeList))
	kindtest.Settled(t, b.Subject)
	ids := b.double.Identifiers(prefixList)
	if len(ids) != 1 || b.resource().Status.ID != ids[0] {
		t.Fatalf("%v, status %+v", ids, b.resource().Status)
	}
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
	b.edit(`{"PrefixListName":"offices","AddressFamily":"IPv4","MaxEntries":5,"Entries":[{"Cidr":"192.0.2.0/24"},{"Cidr":"198.51.100.0/24"}]}`)
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(prefixList, ids[0]); have["PrefixListName"] != "offices" || len(have["Entries"].([]any)) != 2 {
		t.Errorf("%v", have)
	}
	b.Deleting = true
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(prefixList); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// The resource has no tags, so that only the status shows its owner.
func TestMetricFilter_IsOwnedByTheRecord(t *testing.T) {
	b := newBench(t, resourceOf(metricFilter, errorsFilter))
	kindtest.Settled(t, b.Subject)
	b.Forget()
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
	b.edit(`{"FilterName":"errors","LogGroupName":"shop","FilterPattern":"FATAL","MetricTransformations":[{"MetricName":"errors","MetricNamespace":"shop","MetricValue":"1"}]}`)
	kindtest.Settled(t, b.Subject)
	if id := b.resource().Status.ID; b.double.Properties(metricFilter, id)["FilterPattern"] != "FATAL" {
		t.Errorf("%s: %v", id, b.double.Identifiers(metricFilter))
	}
	b.Deleting = true
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(metricFilter); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// The identifier is lost with the operator, and an edited create would make a second resource.
func TestPrefixList_IsFoundByItsTags(t *testing.T) {
	b := newBench(t, resourceOf(prefixList, officeList))
	if _, err := b.Pass(t.Context(), func() bool { return true }); err == nil {
		t.Fatal("the operator was not killed")
	}
	b.edit(`{"PrefixListName":"offices","AddressFamily":"IPv4","MaxEntries":5}`)
	kindtest.Settled(t, b.Subject)
	if ids := b.double.Identifiers(prefixList); len(ids) != 1 || b.resource().Status.ID != ids[0] {
		t.Errorf("%v, status %+v", ids, b.resource().Status)
	}
}

// The record of a create is lost with the operator: the create is repeated, and its answer is the request that it made before.
func TestMetricFilter_IsKnownByTheTokenOfItsCreate(t *testing.T) {
	b := newBench(t, resourceOf(metricFilter, errorsFilter))
	if _, err := b.Pass(t.Context(), func() bool { return true }); err == nil {
		t.Fatal("the operator was not killed")
	}
	kindtest.Settled(t, b.Subject)
	if st := b.resource().Status; st.ID == "" || st.Ownership != v1alpha1.OwnershipOwned {
		t.Errorf("%+v", st)
	}
}

func TestResource_OfAnotherOwnerIsAConflict(t *testing.T) {
	for typeName, properties := range map[string]string{stream: eventsStream, metricFilter: errorsFilter} {
		b := newBench(t, resourceOf(typeName, properties))
		existing(t, b.Rig, typeName, properties)
		b.stalls(status.ReasonConflict)
		b.Forget()
		b.stalls(status.ReasonConflict)
		b.Deleting = true
		kindtest.Settled(t, b.Subject)
		if len(b.double.Identifiers(typeName)) != 1 {
			t.Errorf("%s: the resource of another owner is gone", typeName)
		}
	}
}

func TestResource_IsAdoptedByItsIdentifier(t *testing.T) {
	for typeName, properties := range map[string]string{prefixList: officeList, metricFilter: errorsFilter} {
		b := newBench(t, resourceOf(typeName, properties))
		existing(t, b.Rig, typeName, properties)
		o := resourceOf(typeName, properties)
		o.Spec.ImportID, o.Spec.AdoptionPolicy, o.Spec.DeletionPolicy = b.double.Identifiers(typeName)[0], v1alpha1.AdoptAlways,
			v1alpha1.DeletionDelete
		b.Subject.Object.(*v1alpha1.AWSResource).Spec = o.Spec
		if s := b.resource().Spec.ProviderRef; s.Name == "" {
			b.resource().Spec.ProviderRef.Name = "provider"
		}
		b.stalls(status.ReasonConflict)
		b.AllowAdoption = true
		kindtest.Settled(t, b.Subject)
		if st := b.resource().Status; st.ID != o.Spec.ImportID || st.Ownership != v1alpha1.OwnershipOwned ||
			len(b.double.Identifiers(typeName)) != 1 {
			t.Errorf("%s: %+v", typeName, st)
		}
		b.Deleting = true
		kindtest.Settled(t, b.Subject)
		if left := b.double.Identifiers(typeName); len(left) > 0 {
			t.Errorf("%v", left)
		}
	}
}

// Cloud Control API has identifiers of up to 1024 characters.
func TestResource_IsAdoptedByALongIdentifier(t *testing.T) {
	group, name := strings.Repeat("g", 511), strings.Repeat("f", 512)
	properties := strings.NewReplacer(`"shop","F`, `"`+group+`","F`, `"errors","L`, `"`+name+`","L`).Replace(errorsFilter)
	b := newBench(t, resourceOf(metricFilter, properties))
	existing(t, b.Rig, metricFilter, properties)
	spec := &b.resource().Spec
	spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy, spec.ProviderRef.Name = group+"|"+name, v1alpha1.AdoptAlways,
		v1alpha1.DeletionRetain, "provider"
	b.AllowAdoption = true
	kindtest.Settled(t, b.Subject)
	if st := b.resource().Status; len(st.ID) != 1024 || st.Ownership != v1alpha1.OwnershipOwned {
		t.Errorf("%+v", st)
	}
	spec = &b.resource().Spec
	spec.ImportID += "f"
	b.stalls(status.ReasonInvalidSpec)
}

// AWS shows no write-only value, and forgets those that an update does not repeat.
func TestSecret_WriteOnlyValuesAreRepeated(t *testing.T) {
	b := newBench(t, resourceOf(secret, `{"Name":"keys","SecretString":"one"}`))
	kindtest.Settled(t, b.Subject)
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
	value := func() any { return b.double.Properties(secret, b.resource().Status.ID)["SecretString"] }
	for _, edited := range [][2]string{{`{"Name":"keys","SecretString":"one","Description":"of the shop"}`, "one"},
		{`{"Name":"keys","SecretString":"two"}`, "two"}} {
		b.edit(edited[0])
		kindtest.Settled(t, b.Subject)
		if value() != edited[1] {
			t.Errorf("after %s: %v", edited[0], value())
		}
	}
	b.double.Fail("UPDATE", double.Failure{Code: "InvalidRequest", Message: "no such secret"})
	b.edit(`{"Name":"keys","SecretString":"three"}`)
	b.stalls(status.ReasonRefusedByAWS)
	if value() != "two" {
		t.Errorf("%v", value())
	}
	kindtest.Settled(t, b.Subject)
	if value() != "three" {
		t.Errorf("a value whose update failed is not sent again: %v", value())
	}
}

func TestResource_RefusesWhatTheSchemaRefuses(t *testing.T) {
	tagged := resourceOf(metricFilter, errorsFilter)
	tagged.Spec.Tags = map[string]v1alpha1.TagValue{"team": "a"}
	for field, o := range map[string]*v1alpha1.AWSResource{
		"spec.typeName":                 resourceOf("AWS::Kinesis::NoSuchType", `{}`),
		"spec.properties.StreamName":    resourceOf(stream, `{"StreamName":"events"}`),
		"spec.properties.Arn":           resourceOf(stream, `{"Arn":"arn:aws:kinesis:x"}`),
		"spec.properties.Tags":          resourceOf(stream, `{"Tags":[{"Key":"team","Value":"a"}]}`),
		"spec.properties.AddressFamily": resourceOf(prefixList, `{"PrefixListName":"office"}`),
		"spec.tags":                     tagged,
	} {
		b := newBench(t, o)
		_, err := b.Settle(t.Context(), nil)
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonInvalidSpec || s.Field != field {
			t.Errorf("%s: %v", field, err)
		}
		if w := b.Rig.AWS.Calls().Writes(); len(w) > 0 {
			t.Errorf("%s:\n%s", field, w)
		}
	}
}

func TestStream_CreateOnlyPropertiesAreImmutable(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	kindtest.Settled(t, b.Subject)
	b.edit(`{"Name":"others","RetentionPeriodHours":48}`)
	b.stalls(status.ReasonIdentityChanged)
	l := newBench(t, resourceOf(metricFilter, errorsFilter))
	kindtest.Settled(t, l.Subject)
	l.edit(`{"FilterName":"errors","LogGroupName":"others","FilterPattern":"ERROR","MetricTransformations":[{"MetricName":"errors","MetricNamespace":"shop","MetricValue":"1"}]}`)
	l.stalls(status.ReasonIdentityChanged)
}

func TestStream_NullRemovesAProperty(t *testing.T) {
	b := newBench(t, resourceOf(stream, `{"Name":"events","StreamEncryption":{"EncryptionType":"KMS","KeyId":"alias/aws/kinesis"}}`))
	kindtest.Settled(t, b.Subject)
	b.edit(`{"Name":"events","StreamEncryption":null}`)
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(stream, "events"); have["StreamEncryption"] != nil {
		t.Errorf("%v", have)
	}
}

const encryptedStream = `{"Name":"events","RetentionPeriodHours":48,"StreamEncryption":{"EncryptionType":"KMS","KeyId":"alias/aws/kinesis"}}`

// Properties that the operator wrote and the spec no longer declares are removed, and those that others set stay.
func TestStream_DroppedPropertiesAreRemoved(t *testing.T) {
	b := newBench(t, resourceOf(stream, encryptedStream))
	kindtest.Settled(t, b.Subject)
	if got := b.resource().Status.ManagedPaths; !slices.Equal(got,
		[]string{"/Properties/Name", "/Properties/RetentionPeriodHours", "/Properties/StreamEncryption/EncryptionType",
			"/Properties/StreamEncryption/KeyId"}) {
		t.Errorf("%v", got)
	}
	kindtest.Must(t, b.double.Set(stream, "events", "StreamModeDetails", map[string]any{"StreamMode": "ON_DEMAND"}))
	kindtest.Costs(t, b.Subject,
		kindtest.Cost{Name: "a removal", Change: func() { b.edit(eventsStream) },
			Calls: calls{"GetResource": 2, "UpdateResource": 1, "GetResourceRequestStatus": 1}},
		kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}},
	)
	if have := b.double.Properties(stream, "events"); have["StreamEncryption"] != nil || have["RetentionPeriodHours"] != 48.0 ||
		have["StreamModeDetails"] == nil {
		t.Errorf("%v", have)
	}
	if got := b.resource().Status.ManagedPaths; len(got) != 2 {
		t.Errorf("%v", got)
	}
	kindtest.Must(t, b.double.Set(stream, "events", "StreamEncryption", map[string]any{"EncryptionType": "KMS", "KeyId": "alias/others"}))
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "what others set afterwards", Calls: calls{"GetResource": 1}})
}

// AWS may show its default in place of a removed property.
func TestStream_ARemovalMayEndInADefault(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	kindtest.Settled(t, b.Subject)
	b.double.Reset(stream, map[string]any{"RetentionPeriodHours": 24.0})
	kindtest.Costs(t, b.Subject,
		kindtest.Cost{Name: "a removal", Change: func() { b.edit(`{"Name":"events"}`) },
			Calls: calls{"GetResource": 2, "UpdateResource": 1, "GetResourceRequestStatus": 1}},
		kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}},
	)
	if have := b.double.Properties(stream, "events"); have["RetentionPeriodHours"] != 24.0 || len(b.resource().Status.ManagedPaths) != 1 {
		t.Errorf("%v, %v", have, b.resource().Status.ManagedPaths)
	}
}

func TestStream_ARemovalThatFailsIsSentAgain(t *testing.T) {
	b := newBench(t, resourceOf(stream, encryptedStream))
	kindtest.Settled(t, b.Subject)
	b.double.Fail("UPDATE", double.Failure{Code: "InvalidRequest", Message: "the handler says why"})
	b.edit(eventsStream)
	b.stalls(status.ReasonRefusedByAWS)
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(stream, "events"); have["StreamEncryption"] != nil {
		t.Errorf("%v", have)
	}
}

// The operator dies after AWS accepted a property that the status does not record yet, and the property is dropped before it starts again.
func TestStream_WhatACrashLeftUnrecordedIsRemoved(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	kindtest.Settled(t, b.Subject)
	b.edit(encryptedStream)
	if _, err := b.Pass(t.Context(), func() bool { return true }); err == nil ||
		b.double.Properties(stream, "events")["StreamEncryption"] == nil {
		t.Fatal("the operator was not killed after its write")
	}
	b.edit(eventsStream)
	if _, err := b.Pass(t.Context(), func() bool { return true }); err == nil { // and once more after the removal
		t.Fatal("the operator was not killed")
	}
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(stream, "events"); have["StreamEncryption"] != nil {
		t.Errorf("%v", have)
	}
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
}

func TestStream_RequiredAndFixedPropertiesAreNotRemoved(t *testing.T) {
	b := newBench(t, resourceOf(stream, encryptedStream))
	kindtest.Settled(t, b.Subject)
	b.edit(`{"Name":"events","RetentionPeriodHours":48,"StreamEncryption":{"EncryptionType":"KMS"}}`)
	if message := b.stalls(status.ReasonInvalidSpec); !strings.Contains(message, "spec.properties.StreamEncryption.KeyId") ||
		!strings.Contains(message, "is required") {
		t.Error(message)
	}
	l := newBench(t, resourceOf("AWS::EFS::FileSystem", `{"PerformanceMode":"generalPurpose","ThroughputMode":"bursting"}`))
	kindtest.Settled(t, l.Subject)
	l.edit(`{"ThroughputMode":"bursting"}`)
	if message := l.stalls(status.ReasonImmutable); !strings.Contains(message, "Properties.PerformanceMode") ||
		!strings.Contains(message, "declare what exists") {
		t.Error(message)
	}
	l.edit(`{"PerformanceMode":"generalPurpose"}`)
	kindtest.Settled(t, l.Subject)
	if w := l.Rig.AWS.Calls().Match("cloudformation", "UpdateResource", "*").Count(); w != 1 {
		t.Errorf("%d updates", w)
	}
}

func TestStream_TagsOfOthersStay(t *testing.T) {
	o := resourceOf(stream, eventsStream)
	o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "a"}
	b := newBench(t, o)
	kindtest.Settled(t, b.Subject)
	tags := b.double.Properties(stream, "events")["Tags"].([]any)
	kindtest.Must(t, b.double.Set(stream, "events", "Tags", append(tags, map[string]any{"Key": "cost-center", "Value": "7"})))
	b.edit(eventsStream) // without the tag
	kindtest.Settled(t, b.Subject)
	have := map[string]any{}
	for _, tag := range b.double.Properties(stream, "events")["Tags"].([]any) {
		have[tag.(map[string]any)["Key"].(string)] = tag.(map[string]any)["Value"]
	}
	if have["cost-center"] != "7" || have["team"] != nil || have[wellknown.TagOwnerUID] == nil || len(have) != 5 {
		t.Errorf("%v", have)
	}
}

// While AWS carries an update out, its properties are not read. The declaration may have only defaults, which AWS may leave out of its
// answer: nothing differs from nothing, and the update is waited for all the same.
func TestAnUpdateToDefaultsIsWaitedFor(t *testing.T) {
	types, _ := bundledTypes(t)
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry,
		resourceOf("AWS::Organizations::Organization", `{"FeatureSet":"CONSOLIDATED_BILLING"}`)), types)
	kindtest.Settled(t, b.Subject)
	b.double.SetDuration(20 * time.Second)
	b.Edit(resourceOf("AWS::Organizations::Organization", `{"FeatureSet":"ALL"}`))
	if out, err := b.Pass(t.Context(), nil); err == nil || out.Synced {
		t.Errorf("the update is said to have ended: %+v %v", out, err)
	}
	kindtest.Settled(t, b.Subject)
	id := b.double.Identifiers("AWS::Organizations::Organization")[0]
	if got := b.double.Properties("AWS::Organizations::Organization", id)["FeatureSet"]; got != "ALL" {
		t.Errorf("%v", got)
	}
}
