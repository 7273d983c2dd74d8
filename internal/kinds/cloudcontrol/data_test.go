// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

// The records of a stream cannot be counted: its deletion needs the consent of a person.
func TestStream_IsDeletedWithItsDataOnlyByConsent(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	kindtest.Settled(t, b.Subject)
	b.Deleting, b.resource().Annotations = true, map[string]string{wellknown.AnnotationDeleteData: "others"}
	var waiting string
	for range 3 {
		_, err := b.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); ok {
			waiting = w.Reason + ": " + w.Error()
		}
	}
	if !strings.HasPrefix(waiting, status.ReasonDataWouldBeLost) || !strings.Contains(waiting, wellknown.AnnotationDeleteData) ||
		len(b.double.Identifiers(stream)) != 1 {
		t.Fatalf("%q, %v", waiting, b.double.Identifiers(stream))
	}
	b.resource().Annotations = map[string]string{wellknown.AnnotationDeleteData: "others, sample"}
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(stream); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// A store that was deleted outside is not created again, empty, unless its object asks for that. A resource without data is.
func TestResource_ThatIsLost(t *testing.T) {
	const cluster, protected = "AWS::DSQL::Cluster", `{"DeletionProtectionEnabled":true}`
	for _, c := range []struct {
		typeName, properties string
		recreates, isMissing bool
	}{
		{typeName: stream, properties: eventsStream, isMissing: true},
		{typeName: stream, properties: eventsStream, recreates: true},
		{typeName: cluster, properties: protected, isMissing: true},
		{typeName: cluster, properties: protected, recreates: true},
		{typeName: prefixList, properties: officeList},
	} {
		t.Run(fmt.Sprintf("%s recreated %t", strings.ReplaceAll(c.typeName, "::", "."), c.recreates), func(t *testing.T) {
			b := newBench(t, resourceOf(c.typeName, c.properties))
			kindtest.Settled(t, b.Subject)
			b.resource().Spec.RecreateOnLoss = c.recreates
			lost := b.double.Identifiers(c.typeName)[0]
			deleted(t, b.Rig, c.typeName, lost)
			b.Clock = b.Clock.Add(time.Hour)
			if c.isMissing {
				if why := b.stalls(status.ReasonMissing); !strings.Contains(why, "recreateOnLoss: true") || len(b.double.Identifiers(c.typeName)) > 0 {
					t.Errorf("%s, %v", why, b.double.Identifiers(c.typeName))
				}
				b.Deleting = true // nothing is left to wait for
				kindtest.Settled(t, b.Subject)
				return
			}
			kindtest.Settled(t, b.Subject)
			if found := b.double.Identifiers(c.typeName); len(found) != 1 || b.resource().Status.ID != found[0] {
				t.Errorf("%v, status %+v", found, b.resource().Status)
			}
		})
	}
}

// deleted deletes a resource as another client of AWS does.
func deleted(t *testing.T, r *kindtest.Rig, typeName, identifier string) {
	t.Helper()
	_, err := cloudcontrol.NewFromConfig(r.Config).DeleteResource(t.Context(),
		&cloudcontrol.DeleteResourceInput{TypeName: &typeName, Identifier: &identifier})
	kindtest.Must(t, err)
}

// A create has lost no data if no look has shown its resource: it may have failed after AWS named the resource that it was about to make.
func TestCluster_ThatNoLookHasShownIsNotLost(t *testing.T) {
	const cluster = "AWS::DSQL::Cluster"
	b := newBench(t, resourceOf(cluster, `{"DeletionProtectionEnabled":false}`))
	b.resource().Status.ID = "10000000000010000000000010"
	kindtest.Settled(t, b.Subject)
	if found := b.double.Identifiers(cluster); len(found) != 1 || b.resource().Status.ID != found[0] {
		t.Errorf("%v, status %+v", found, b.resource().Status)
	}
}

// The deletion of a store loses data, that of another resource does not.
func TestPlan_SaysWhetherDataIsLost(t *testing.T) {
	for typeName, want := range map[string]bool{stream: true, prefixList: false} {
		b := newBench(t, resourceOf(typeName, map[string]string{stream: eventsStream, prefixList: officeList}[typeName]))
		kindtest.Settled(t, b.Subject)
		b.Deleting = true
		if p, err := b.Decide(t.Context()); err != nil || !p.Writes() || p.HoldsData != want {
			t.Errorf("%s: %v, %+v", typeName, err, p)
		}
	}
}

func TestHoldsData_ByNameOrBySchema(t *testing.T) {
	types, err := awstypes.Excerpt()
	kindtest.Must(t, err)
	for name, want := range map[string]bool{
		stream: true, secret: true, "AWS::DSQL::Cluster": true, "AWS::EFS::FileSystem": true, prefixList: false, metricFilter: false,
		"AWS::StepFunctions::StateMachine": false,
	} {
		text, err := types.Schema(name)
		kindtest.Must(t, err)
		schema, err := awsschema.Parse(text)
		kindtest.Must(t, err)
		if schema.HoldsData() != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for text, want := range map[string]bool{
		`{"typeName":"AWS::EC2::RouteTable","primaryIdentifier":["/properties/Id"],"properties":{"Id":{"type":"string"}}}`:                                           false,
		`{"typeName":"AWS::New::Thing","primaryIdentifier":["/properties/Id"],"properties":{"Id":{"type":"string"},"DeletionProtectionEnabled":{"type":"boolean"}}}`: true,
	} {
		schema, err := awsschema.Parse([]byte(text))
		kindtest.Must(t, err)
		if schema.HoldsData() != want {
			t.Errorf("%s: %v", schema.Name, !want)
		}
	}
}

// keepsData matches the names of properties of stored data: encrypted at rest, for a time, in an amount, or copied.
var keepsData = regexp.MustCompile(`(?i)kms|encrypt|customermanagedkey|retention|backup|snapshot|storage(capacity|size|type|mode|configuration)?$`)

// A type is guarded if its schema looks like that of a store. Otherwise a person has found that it holds no data, and the file lists it
// with the properties that look so. The next type that AWS publishes is neither, and fails the test.
func TestHoldsData_OfEveryTypeThatLooksLikeAStore(t *testing.T) {
	all, schemaOf := bundledTypes(t)
	var unguarded []string
	guarded := 0
	for _, name := range all.Names() {
		schema := schemaOf(name)
		looksSo := slices.DeleteFunc(schema.Properties(), func(property string) bool { return !keepsData.MatchString(property) })
		switch {
		case schema.Unmanageable() != "" || len(looksSo) == 0:
		case schema.HoldsData():
			guarded++
		default:
			unguarded = append(unguarded, name+" "+strings.Join(looksSo, " "))
		}
	}
	checkList(t, "types-without-data.txt", unguarded, "add a type that holds data to others in stores.go of package awsschema")
	if guarded < 100 {
		t.Errorf("only %d types that look like stores are guarded", guarded)
	}
}

// byTags matches the words of schemas for the tags, or the filters, that a resource finds others by.
var byTags = regexp.MustCompile(`"[A-Za-z0-9]*(TagFilter|TagSet|ListOfTags|ResourceTag|TargetTag|TagCondition|TagSelector|Targets)[A-Za-z]*" *:`)

// A type is guarded if its resources find others by tags or by targets. Otherwise a person has found that it only describes or counts them,
// or that its targets are named, and the file lists it.
func TestTypes_ThatFindOthersAreGuarded(t *testing.T) {
	all, schemaOf := bundledTypes(t)
	var unguarded []string
	guarded := 0
	for _, name := range all.Names() {
		text, err := all.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		found := byTags.FindAllString(string(text), -1)
		switch {
		case len(found) == 0 || schemaOf(name).Unmanageable() != "":
		case kind.IsGuardedType(name):
			guarded++
		default:
			slices.Sort(found)
			unguarded = append(unguarded, name+" "+strings.NewReplacer(`"`, "", ":", "", " ", "").Replace(strings.Join(slices.Compact(found), ",")))
		}
	}
	checkList(t, "types-with-targets.txt", unguarded, "guard a type that acts on what others own in package kind")
	if guarded < 10 {
		t.Errorf("only %d types that find others are guarded", guarded)
	}
}
