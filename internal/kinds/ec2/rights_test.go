// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// Who holds the operator's credentials could otherwise give its tag to any network, and then delete it.
func TestANetworkOfOthersIsTaggedAndDeletedOnlyToAdopt(t *testing.T) {
	for _, adopt := range []bool{false, true} {
		r := kindtest.NewRig(t)
		id := makeVPC(t, r, nil)
		limited := ec2.NewFromConfig(r.Limited(t, engine.For(NewVPC).Meta(), adopt))
		_, tagging := limited.CreateTags(t.Context(),
			&ec2.CreateTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: new(wellknown.TagManagedBy), Value: new(wellknown.OperatorName)}}})
		_, deletion := limited.DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: &id})
		for what, err := range map[string]error{"tagging": tagging, "deletion": deletion} {
			if refused := awsclient.Is(err, awsclient.Denied); refused == adopt || err != nil && !refused {
				t.Errorf("with the rights to adopt (%t), %s: %v", adopt, what, err)
			}
		}
		if exists(t, r) == adopt {
			t.Errorf("with the rights to adopt (%t), the network is there: %t", adopt, !adopt)
		}
	}
}
