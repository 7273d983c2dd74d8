// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// What an adopted resource acts as was not declared by the object, and is judged as if it were.
func TestAdoption_BringsNoRoleAlong(t *testing.T) {
	const machine, admin, team = "AWS::StepFunctions::StateMachine", "arn:aws:iam::123456789012:role/admin", "arn:aws:iam::123456789012:role/team/a"
	properties := func(role, definition string) string {
		return fmt.Sprintf(`{"StateMachineName":"m","RoleArn":%s,"DefinitionString":"%s"}`, role, definition)
	}
	for name, c := range map[string]struct{ have, want, refused string }{
		"a role that the provider does not pass":            {properties(`"`+admin+`"`, "{}"), properties(`"`+team+`"`, "{}"), "RoleArn of the resource names role " + admin},
		"one in a text":                                     {properties(`"`+team+`"`, admin), properties(`"`+team+`"`, "{}"), "DefinitionString of the resource names role " + admin},
		"a role that the provider passes":                   {properties(`"`+team+`b"`, "{}"), properties(`"`+team+`"`, "{}"), ""},
		"the role of an IAMRole that the object refers to":  {properties(`"`+admin+`"`, "{}"), properties(`{"$ref":"IAMRole/worker","field":"status.arn"}`, "{}"), ""},
		"a role that a service has for itself":              {properties(`"`+team+`"`, "arn:aws:iam::123456789012:role/aws-service-role/states.amazonaws.com/a"), properties(`"`+team+`"`, "{}"), ""},
		"an instance profile that nobody knows the role of": {properties(`"`+team+`"`, "arn:aws:iam::123456789012:instance-profile/a"), properties(`"`+team+`"`, "{}"), "DefinitionString of the resource names instance profile"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, resourceOf(machine, c.want))
			existing(t, b.Rig, machine, c.have)
			spec := &b.resource().Spec
			spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy, spec.ProviderRef.Name = b.double.Identifiers(machine)[0], v1alpha1.AdoptAlways, v1alpha1.DeletionRetain, "provider"
			b.AllowAdoption, b.RolePath = true, "/team/"
			b.Targets = map[string]kind.Target{"IAMRole/worker": {ID: "admin", ARN: admin}}
			if c.refused == "" {
				kindtest.Settled(t, b.Subject)
				if b.resource().Status.Ownership != v1alpha1.OwnershipOwned {
					t.Errorf("%+v", b.resource().Status)
				}
				return
			}
			if text := b.stalls(status.ReasonNotPermitted); !strings.Contains(text, c.refused) {
				t.Error(text)
			}
			if b.double.Properties(machine, spec.ImportID)["Tags"] != nil {
				t.Error("the resource has an owner")
			}
		})
	}
}

// A resource without tags needs no write to become the object's.
func TestAdoption_BringsNoRoleAlongWithoutAWrite(t *testing.T) {
	const filter = "AWS::Logs::SubscriptionFilter"
	const declared = `"LogGroupName":"shop","FilterName":"f","FilterPattern":"x","DestinationArn":"arn:aws:kinesis:ap-southeast-1:123456789012:stream/s"`
	types, _ := bundledTypes(t)
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(filter, "{"+declared+"}")), types)
	existing(t, b.Rig, filter, "{"+declared+`,"RoleArn":"arn:aws:iam::123456789012:role/admin"}`)
	spec := &b.resource().Spec
	spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy, spec.ProviderRef.Name = b.double.Identifiers(filter)[0], v1alpha1.AdoptAlways, v1alpha1.DeletionRetain, "provider"
	b.AllowAdoption, b.RolePath = true, "/team/"
	if text := b.stalls(status.ReasonNotPermitted); !strings.Contains(text, "role/admin") {
		t.Error(text)
	}
	if st := b.resource().Status; st.ID != "" || st.Ownership == v1alpha1.OwnershipOwned {
		t.Errorf("%+v", st)
	}
}
