// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// lastUpdate reports whether the last update of the cluster succeeded. EKS makes updates later: one that fails leaves the cluster
// ACTIVE, with the old values. It is read only where the cluster is not as wanted.
func (c *cluster) lastUpdate(ctx context.Context, want, have ClusterState) (kind.Note, error) {
	succeeded := kind.Note{Type: v1alpha1.ConditionLastUpdateSucceeded, Reason: status.ReasonReady, True: true, Message: "no update of the cluster failed that would make it as declared"}
	if !needsUpdate(want, have) {
		return succeeded, nil
	}
	last, err := c.newestUpdate(ctx, want.Name)
	if err != nil || last == nil || last.Status != types.UpdateStatusFailed {
		return succeeded, err
	}
	var causes strings.Builder
	for _, e := range last.Errors {
		fmt.Fprintf(&causes, ": %s: %s", e.ErrorCode, aws.ToString(e.ErrorMessage))
		if len(e.ResourceIds) > 0 {
			fmt.Fprintf(&causes, " (%s)", named(e.ResourceIds))
		}
	}
	return kind.Note{Type: v1alpha1.ConditionLastUpdateSucceeded, Reason: status.ReasonRefusedByAWS, Recheck: true, Message: status.Truncate(fmt.Sprintf(
		"EKS could not make the last update of the cluster, of type %s%s: correct the cause, and change the setting or request a reconcile", last.Type, causes.String()), 1000)}, nil
}

// newestUpdate returns the update of a cluster that was begun last; nil where there is none.
func (c *cluster) newestUpdate(ctx context.Context, name string) (*types.Update, error) {
	in := &eks.ListUpdatesInput{Name: &name}
	ids, err := kind.Pages(ctx, c.api.ListUpdates, in, &in.NextToken, func(out *eks.ListUpdatesOutput) ([]string, *string) { return out.UpdateIds, out.NextToken })
	if err != nil || len(ids) == 0 {
		return nil, unlessGone(err)
	}
	var newest *types.Update
	for _, id := range ids[:min(len(ids), maxUpdatesRead)] {
		out, err := c.api.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: &name, UpdateId: &id})
		if err != nil {
			return nil, unlessGone(err)
		}
		if u := out.Update; u != nil && (newest == nil || aws.ToTime(u.CreatedAt).After(aws.ToTime(newest.CreatedAt))) {
			newest = u
		}
	}
	return newest, nil
}

// maxUpdatesRead bounds the descriptions of updates, which EKS lists in no documented order.
const maxUpdatesRead = 10

// needsUpdate reports whether a setting that an update changes is not as wanted.
func needsUpdate(want, have ClusterState) bool {
	differs := func(w, h *bool) bool { return w != nil && *w != aws.ToBool(h) }
	differ := func(w, h []string) bool {
		return w != nil && !slices.Equal(slices.Sorted(slices.Values(w)), slices.Sorted(slices.Values(h)))
	}
	text := func(w, h *string) bool { return w != nil && *w != aws.ToString(h) }
	return slices.Contains([]bool{
		differs(want.PublicAccess, have.PublicAccess), differs(want.PrivateAccess, have.PrivateAccess), differs(want.DeletionProtection, have.DeletionProtection),
		differ(want.CIDRs, have.CIDRs), differ(want.Subnets, have.Subnets), differ(want.Groups, have.Groups), want.Logs != nil && differ(*kind.NonNil(want.Logs), *have.Logs),
		text(want.AuthenticationMode, have.AuthenticationMode), text(want.Version, have.Version), text(want.SupportType, have.SupportType),
	}, true)
}
