// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedZone declares a hosted zone as it is.
func exportedZone(cr *v1alpha1.Route53HostedZone, have HostedZoneState) {
	out := &cr.Spec
	out.Name, out.PrivateZone, out.Comment = strings.TrimSuffix(*have.Name, "."), aws.ToBool(have.Private), kind.NonEmpty(have.Comment)
	for _, id := range kind.SortedKeys(have.VPCs) {
		out.VPCs = append(out.VPCs, v1alpha1.HostedZoneVPC{VPCID: id, VPCRegion: have.VPCs[id].Region})
	}
}
