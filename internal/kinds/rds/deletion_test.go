// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestTheFinalSnapshotIsTheDefault(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(s *spec)
		want func(names []string) bool
	}{
		{"the default name", func(*spec) {}, func(names []string) bool {
			return len(names) == 1 && strings.HasPrefix(names[0], "orders-final-") && len(names[0]) == 21
		}},
		{"a name", func(s *spec) { s.FinalSnapshotIdentifier = "last-orders" },
			func(names []string) bool { return slices.Equal(names, []string{"last-orders"}) }},
		{"none", skipping, func(names []string) bool { return len(names) == 0 }},
	} {
		s, r := subjectOf(t, instanceOf(c.edit))
		settled(t, s)
		s.Deleting = true
		settled(t, s)
		if names := snapshots(t, r); !c.want(names) || exists(t, r) {
			t.Errorf("%s: %q", c.name, names)
		}
	}
}

// A manifest that is applied and deleted again and again names the same final snapshot each time.
func TestASecondLifeEndsWithAnotherFinalSnapshot(t *testing.T) {
	last := func(s *spec) { s.FinalSnapshotIdentifier = "orders-final" }
	s, r := subjectOf(t, instanceOf(last))
	settled(t, s)
	_, err := api(r).CreateDBSnapshot(t.Context(),
		&rds.CreateDBSnapshotInput{DBInstanceIdentifier: aws.String(id), DBSnapshotIdentifier: aws.String("orders-final")})
	kindtest.Must(t, err)
	s.Deleting = true
	settled(t, s)
	names := snapshots(t, r)
	if len(names) != 2 || exists(t, r) || !strings.HasPrefix(slices.Max(names), "orders-final-") {
		t.Errorf("%q", names)
	}
	if name, made := s.Object.(*v1alpha1.RDSInstance).FinalSnapshot(); name != slices.Max(names) || !made {
		t.Errorf("the status names %q", name)
	}
}

// RDS gives a restored instance the tags of the instance that the snapshot was made of, those of the owner among them:
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_RestoreDBInstanceFromDBSnapshot.html
func TestAnInstanceThatAPersonRestoresIsTakenUp(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	_, err := api(r).CreateDBSnapshot(t.Context(),
		&rds.CreateDBSnapshotInput{DBInstanceIdentifier: aws.String(id), DBSnapshotIdentifier: aws.String("backup")})
	kindtest.Must(t, err)
	removeInstance(t, r)
	_, err = s.Settle(t.Context(), nil)
	if stalled, ok := status.AsStalled(err); !ok || stalled.Reason != status.ReasonMissing {
		t.Fatalf("%v", err)
	}
	_, err = api(r).RestoreDBInstanceFromDBSnapshot(t.Context(),
		&rds.RestoreDBInstanceFromDBSnapshotInput{DBInstanceIdentifier: aws.String(id), DBSnapshotIdentifier: aws.String("backup")})
	kindtest.Must(t, err)
	settled(t, s)
	if n := r.AWS.Calls().Match("rds", "CreateDBInstance", "").Count(); n != 1 {
		t.Errorf("%d instances were created", n)
	}
}

// "The final snapshot can't be created when deleting a read replica":
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html
func TestAReadReplicaIsDeletedWithoutASnapshot(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	_, err := api(r).CreateDBInstance(t.Context(),
		&rds.CreateDBInstanceInput{DBInstanceIdentifier: aws.String("source"), DBInstanceClass: aws.String("db.t4g.micro"),
			Engine:        aws.String("postgres"),
			EngineVersion: aws.String("16.4"), AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("shop"),
			ManageMasterUserPassword: aws.Bool(true)})
	kindtest.Must(t, err)
	_, err = api(r).CreateDBInstanceReadReplica(t.Context(),
		&rds.CreateDBInstanceReadReplicaInput{DBInstanceIdentifier: aws.String(id), SourceDBInstanceIdentifier: aws.String("source"),
			DBInstanceClass: aws.String("db.t4g.micro"), Tags: kind.SDKTags[types.Tag](ownerTags("RDSInstance", id, s.Owner().UID))})
	kindtest.Must(t, err)
	found, err := engine.For(NewInstance).Bind(r.Config).Export(t.Context(), s.Scope(), s.Object)
	if kindtest.Must(t, err); len(found.Omitted) != 1 || !strings.Contains(found.Omitted[0], "has its data from source") {
		t.Errorf("an import leaves out %q", found.Omitted)
	}
	s.Deleting = true
	settled(t, s)
	if names := snapshots(t, r); len(names) != 0 || exists(t, r) {
		t.Errorf("%q", names)
	}
	if _, made := s.Object.(*v1alpha1.RDSInstance).FinalSnapshot(); made {
		t.Error("the status does not say that it was a replica")
	}
}

// No message advises to lose data that a final snapshot would keep, or that a repair makes readable.
func TestSkippingTheSnapshotIsAdvisedOnlyWhereRDSMakesNone(t *testing.T) {
	want := InstanceState{FinalSnapshot: "last"}
	for state, advice := range map[string]string{
		"failed": "skipFinalSnapshot: true", "incompatible-restore": "skipFinalSnapshot: true", "incompatible-network": "skipFinalSnapshot: true",
		"inaccessible-encryption-credentials": "enable the KMS key", "inaccessible-encryption-credentials-recoverable": "enable the KMS key",
		"incompatible-parameters": "", "incompatible-option-group": "", "incompatible-credentials": "", "incompatible-create": "",
		"insufficient-capacity": "", "restore-error": "", "stopped": "", "available": "",
	} {
		h := holds(want, InstanceState{DBInstanceStatus: state})
		switch {
		case advice == "" && len(h) > 0:
			t.Errorf("%s: %+v", state, h)
		case advice != "" && (len(h) != 1 || h[0].Reason != status.ReasonDataWouldBeLost || !strings.Contains(h[0].Message, advice)):
			t.Errorf("%s: %+v", state, h)
		case !strings.Contains(advice, "skip") && len(h) > 0 && strings.Contains(h[0].Message, "skip"):
			t.Errorf("%s: %+v", state, h)
		}
	}
}

// A deletion with a lost answer makes no second snapshot, and does not fail because of the first.
func TestALostDeletionMakesOneSnapshot(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	r.AWS.Fault(emulator.Match{Service: "rds", Op: "DeleteDBInstance", Times: 1}, emulator.LoseAnswer())
	s.Deleting = true
	settled(t, s)
	if names := snapshots(t, r); len(names) != 1 {
		t.Errorf("%q", names)
	}
}
