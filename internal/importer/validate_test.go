// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
)

// A record set that Route 53 answers by blocks of addresses has an identifier, and none of the routings that a spec can declare.
func TestValidate_NamesTheSettingsWithoutFields(t *testing.T) {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	ttl := int64(60)
	o := &v1alpha1.Route53RecordSet{}
	o.Name, o.Namespace, o.Spec.ProviderRef.Name = "www", "team-a", "aws"
	o.Spec.HostedZoneID, o.Spec.Name, o.Spec.Type, o.Spec.TTL, o.Spec.ResourceRecords = "Z1", "www.example.com", "A", &ttl,
		[]v1alpha1.RecordValue{"192.0.2.1"}
	im := &Importer{Schemas: schemas}
	if err := im.validate(t.Context(), "Route53RecordSet", o, []string{"cidrRoutingConfig"}); err != nil {
		t.Fatalf("without an identifier: %v", err)
	}
	o.Spec.SetIdentifier = "office"
	err = im.validate(t.Context(), "Route53RecordSet", o, []string{"cidrRoutingConfig"})
	if err == nil || !strings.Contains(err.Error(), "setIdentifier needs weight") ||
		!strings.Contains(err.Error(), "a Route53RecordSet has no fields for these settings of the resource: cidrRoutingConfig") {
		t.Errorf("got %v", err)
	}
}
