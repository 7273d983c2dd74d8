// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// https://docs.aws.amazon.com/eks/latest/APIReference/API_PodIdentityAssociation.html
func TestImport_DeclaresTargetRoleAndSessionPolicy(t *testing.T) {
	settings, _, _ := kindtest.NotDeclared(t, engine.For(NewPodIdentityAssociation), associationOf(), func(s *kindtest.Subject) { inCluster(t, s) }, func(output any) {
		if d, ok := output.(*eks.DescribePodIdentityAssociationOutput); ok {
			d.Association.TargetRoleArn, d.Association.ExternalId = aws.String(target), aws.String("region/account/cluster/namespace/name")
			d.Association.Policy, d.Association.DisableSessionTags = aws.String(`{"Version":"2012-10-17","Statement":[]}`), aws.Bool(true)
		}
	})
	if len(settings) > 0 {
		t.Errorf("not declared: %q", settings)
	}
}
