// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestRecordSet_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewRecordSet), kindtest.List{Field: "resourceRecords", Object: recordsOf(values(60, "192.0.2.1")),
		Facts: func(s *kindtest.Subject) { inZone(t, s) }, Exact: true,
		Add: changed(func(*testing.T, *kindtest.Rig) []types.Change {
			return []types.Change{changeOf(types.ChangeActionUpsert, stateOf(recordsOf(values(60, "192.0.2.1", "198.51.100.1"))).wanted())}
		}),
		Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			found, _ := ofWWW(t, r)
			return len(found[0].ResourceRecords) > 1
		}})
}

func TestHostedZone_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewHostedZone), kindtest.List{Field: "vpcs", Object: zoneOf(private(oneVPC)), Exact: true,
		Add: onZone(func(ctx context.Context, c *route53.Client, id *string) error {
			_, err := c.AssociateVPCWithHostedZone(ctx, &route53.AssociateVPCWithHostedZoneInput{HostedZoneId: id,
				VPC: &types.VPC{VPCId: aws.String(secondVPC), VPCRegion: types.VPCRegionEuWest1}})
			return err
		}),
		Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			out, err := api(r).GetHostedZone(t.Context(), &route53.GetHostedZoneInput{Id: zones(t, r)[0].Id})
			kindtest.Must(t, err)
			return len(out.VPCs) > 1
		}})
}
