// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// People who may edit an object may change the record before a create, because it is an annotation, but not the status.
func TestSameHome_BelievesTheStatusBeforeTheRecord(t *testing.T) {
	sc := kind.Scope{Place: kind.Place{Partition: "aws", Account: "1", Region: "r"}}
	const here, there = "aws/1/r", "aws/1/s"
	for name, c := range map[string]struct {
		o     Owner
		moved bool
	}{
		"nothing is known":                    {Owner{}, false},
		"the record":                          {Owner{Record: Record{Intent: &Intent{Home: here}}}, false},
		"another record":                      {Owner{Record: Record{Intent: &Intent{Home: there}}}, true},
		"a refused create elsewhere":          {Owner{Record: Record{Intent: &Intent{Home: there, Refused: true}}}, false},
		"the status":                          {Owner{Record: Record{Home: here, Intent: &Intent{Home: here}}}, false},
		"a changed record":                    {Owner{Record: Record{Home: there, Intent: &Intent{Home: here}}}, true},
		"a removed record":                    {Owner{Record: Record{Home: there}}, true},
		"a changed record after a create":     {Owner{Recent: Recent{CreatedIn: there}, Record: Record{Intent: &Intent{Home: here}}}, true},
		"the record after a create":           {Owner{Recent: Recent{CreatedIn: here}, Record: Record{Intent: &Intent{Home: here}}}, false},
		"another record than the status says": {Owner{Record: Record{Home: here, Intent: &Intent{Home: there}}}, true},
	} {
		err := sameHome(c.o, sc)
		if s, ok := status.AsStalled(err); ok != c.moved || ok && s.Reason != status.ReasonProviderMoved {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The place of a resource is recorded with its owner, and forgotten when an object that observed is to manage it.
func TestHome_IsThatOfTheLastLook(t *testing.T) {
	for name, c := range map[string]struct {
		tags map[string]string
		want string
	}{
		"its own":   {us().OwnerTags(), "aws/1/r"},
		"another's": {map[string]string{wellknown.TagOwner: "Box/other/n", wellknown.TagOwnerUID: "v", wellknown.TagCluster: "c"}, ""},
	} {
		b := &box{exists: true, tags: c.tags}
		e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
		cr, sc := e.New(), kind.Scope{Tags: us().OwnerTags(), Place: aPlace}
		if _, err := Attend(e.Bind(aws.Config{}), sc, cr)(t.Context(), us()); cr.CommonStatus().Home != c.want {
			t.Errorf("%s: %q, %v", name, cr.CommonStatus().Home, err)
		}
	}
	observed := &v1alpha1.Subnet{}
	observed.Status.Home, observed.Status.Ownership = "aws/1/r", v1alpha1.OwnershipObserved
	if ForgetObserved(observed); observed.Status.Home != "" {
		t.Errorf("%+v", observed.Status)
	}
}
