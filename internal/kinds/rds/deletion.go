// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// deletion names the final snapshot. RDS makes none of a read replica, because the source keeps its data.
func deletion(want, have InstanceState) *rds.DeleteDBInstanceInput {
	name := cmp.Or(have.SnapshotName, want.FinalSnapshot)
	if have.SourceID != "" {
		name = ""
	}
	return &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &want.DBInstanceIdentifier, SkipFinalSnapshot: aws.Bool(name == ""), FinalDBSnapshotIdentifier: kind.NonEmpty(&name)}
}

// findSnapshot chooses the name of the final snapshot: the declared one, or another where a snapshot has it already, such as that of an
// earlier instance of the same manifest.
func (i *instance) findSnapshot(ctx context.Context, want InstanceState, seen *kind.Seen[InstanceState]) error {
	if want.OtherSnapshot == "" || seen.State.SourceID != "" || seen.Busy != "" || len(seen.Holds) > 0 {
		return nil
	}
	out, err := awsclient.Lookup(ctx, i.api.DescribeDBSnapshots, &rds.DescribeDBSnapshotsInput{DBSnapshotIdentifier: &want.FinalSnapshot})
	if err == nil {
		seen.State.SnapshotName = kind.Either(out != nil && len(out.DBSnapshots) > 0, want.OtherSnapshot, want.FinalSnapshot)
	}
	return err
}

// holds returns why the instance must not be deleted.
func holds(want, have InstanceState) []kind.Hold {
	const keep = ", or deletionPolicy: Retain to keep it"
	lost := func(message string) []kind.Hold {
		return []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: message + keep}}
	}
	switch s := have.DBInstanceStatus; {
	case aws.ToBool(have.DeletionProtection) && !kind.IsFalse(want.DeletionProtection):
		return []kind.Hold{{Reason: status.ReasonDeletionProtected, Message: "the deletion protection of the DB instance to be removed: set deletionProtection: false to delete the instance" + keep}}
	case have.SourceID != "":
		return nil
	case want.Guarded && want.FinalSnapshot == "":
		return lost("a final snapshot: the data of the DB instance would be lost; set skipFinalSnapshot: false")
	case want.FinalSnapshot == "":
		return nil
	case strings.HasPrefix(s, inaccessible):
		return lost("a final snapshot, which RDS cannot make of a DB instance that is " + s + ": enable the KMS key and its grants, then start the instance")
	case slices.Contains(statesWithoutSnapshot, s):
		return lost("a final snapshot, which RDS cannot make of a DB instance that is " + s + ": repair the instance, set skipFinalSnapshot: true to lose its data")
	default:
		return nil
	}
}
