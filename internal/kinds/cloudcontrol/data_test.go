// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

// What a stream holds cannot be counted: its deletion needs the consent of a person.
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
	if !strings.HasPrefix(waiting, status.ReasonDataWouldBeLost) || !strings.Contains(waiting, wellknown.AnnotationDeleteData) || len(b.double.Identifiers(stream)) != 1 {
		t.Fatalf("%q, %v", waiting, b.double.Identifiers(stream))
	}
	b.resource().Annotations = map[string]string{wellknown.AnnotationDeleteData: "others, sample"}
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(stream); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

func TestHoldsData_ByNameOrBySchema(t *testing.T) {
	types, err := awstypes.Excerpt()
	must(t, err)
	for name, want := range map[string]bool{
		stream: true, secret: true, "AWS::DSQL::Cluster": true, "AWS::EFS::FileSystem": true, prefixList: false, metricFilter: false, "AWS::StepFunctions::StateMachine": false,
	} {
		text, err := types.Schema(name)
		must(t, err)
		schema, err := awsschema.Parse(text)
		must(t, err)
		if holdsData(schema) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for text, want := range map[string]bool{
		`{"typeName":"AWS::EC2::RouteTable","primaryIdentifier":["/properties/Id"],"properties":{"Id":{"type":"string"}}}`:                                           false,
		`{"typeName":"AWS::New::Thing","primaryIdentifier":["/properties/Id"],"properties":{"Id":{"type":"string"},"DeletionProtectionEnabled":{"type":"boolean"}}}`: true,
	} {
		schema, err := awsschema.Parse([]byte(text))
		must(t, err)
		if holdsData(schema) != want {
			t.Errorf("%s: %v", schema.Name, !want)
		}
	}
}
