// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The states of an instance that accepts changes, and those of an instance that serves its users but does not accept changes. All others
// end automatically, too, unless they are broken. Read only.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html
var (
	settledStates = []string{"available", storageOptimization, "storage-initialization", storageFull, stopped}
	usableStates  = []string{"backing-up", "modifying", "resetting-master-credentials", "storage-config-upgrade"}
)

const (
	storageFull         = "storage-full"
	storageOptimization = "storage-optimization"
	stopped             = "stopped"
	inaccessible        = "inaccessible-encryption-credentials"
)

// brokenStates lists the states that only a person can end, beside the incompatible ones. Read only.
var brokenStates = []string{"failed", inaccessible, inaccessible + "-recoverable", "insufficient-capacity", "restore-error"}

// statesWithoutSnapshot lists the states of an instance that RDS deletes only without a final snapshot. Read only.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html
var statesWithoutSnapshot = []string{"failed", "incompatible-restore", "incompatible-network"}

func isBroken(state string) bool {
	return slices.Contains(brokenStates, state) || strings.HasPrefix(state, "incompatible-")
}

// unusable reports a state that only a person can end; nil for all others.
func unusable(want, have InstanceState) error {
	switch s := have.DBInstanceStatus; {
	case s == stopped:
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: "the DB instance is stopped, and RDS changes no stopped instance: start it; RDS starts it after seven days"}
	case s == storageFull && aws.ToInt32(want.AllocatedStorage) <= have.Storage:
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Field: "spec.allocatedStorage", Message: "the storage of the DB instance is full: raise allocatedStorage"}
	case strings.HasPrefix(s, inaccessible):
		return &status.Stalled{Reason: status.ReasonAccessDenied, Message: "the DB instance is " + s + ": enable the KMS key and its grants, then start the instance"}
	case isBroken(s):
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: "the DB instance is " + s + ": see its events in the RDS console, or restore it from a snapshot"}
	default:
		return nil
	}
}

// seenInstance returns the state of a described instance. Values that RDS raised automatically count as declared.
func seenInstance(want InstanceState, d types.DBInstance) InstanceState {
	s := kind.Convert[InstanceState](d)
	kind.FalseIfAbsent(&s.MultiAZ, &s.PubliclyAccessible, &s.AutoMinorVersionUpgrade, &s.DeletionProtection)
	s.DBInstanceIdentifier, s.ARN, s.Zone = want.DBInstanceIdentifier, aws.ToString(d.DBInstanceArn), aws.ToString(d.AvailabilityZone)
	s.Version, s.Storage = aws.ToString(d.EngineVersion), aws.ToInt32(d.AllocatedStorage)
	s.DBName, s.EngineVersion, s.SourceID = sameName(want.DBName, s.DBName), versionAs(want, s.EngineVersion), aws.ToString(d.ReadReplicaSourceDBInstanceIdentifier)
	s.acceptGrowth(want)
	if d.Endpoint != nil {
		s.Address, s.Port = aws.ToString(d.Endpoint.Address), d.Endpoint.Port
	}
	if d.DBSubnetGroup != nil {
		s.DBSubnetGroupName = d.DBSubnetGroup.DBSubnetGroupName
	}
	if len(d.DBParameterGroups) > 0 {
		s.DBParameterGroupName = d.DBParameterGroups[0].DBParameterGroupName
	}
	for _, g := range d.VpcSecurityGroups {
		if aws.ToString(g.Status) != "removing" {
			s.VpcSecurityGroupIds = append(s.VpcSecurityGroupIds, aws.ToString(g.VpcSecurityGroupId))
		}
	}
	s.Roles = kind.Present(d.CustomIamInstanceProfile)
	for _, r := range d.AssociatedRoles {
		s.Roles = append(s.Roles, kind.Present(r.RoleArn)...)
	}
	s.KmsKeyId = kind.KMSKeyAs(want.KmsKeyId, s.KmsKeyId)
	s.ManageMasterUserPassword = aws.Bool(d.MasterUserSecret != nil)
	if d.MasterUserSecret != nil {
		s.SecretARN = aws.ToString(d.MasterUserSecret.SecretArn)
	}
	return s
}

// acceptGrowth makes storage that storage autoscaling has added as wanted. RDS ends storage autoscaling, and shows no limit, where the
// limit is the storage that exists.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PIOPS.Autoscaling.html
func (s *InstanceState) acceptGrowth(want InstanceState) {
	if s.MaxAllocatedStorage == nil && aws.ToInt32(want.MaxAllocatedStorage) == s.Storage {
		s.MaxAllocatedStorage = want.MaxAllocatedStorage
	}
	if s.MaxAllocatedStorage != nil && want.AllocatedStorage != nil && s.Storage > *want.AllocatedStorage {
		s.AllocatedStorage = want.AllocatedStorage
	}
}

// sameName returns the wanted name where have is the same in another case: RDS shows the names of databases of Oracle in upper case.
func sameName(want, have *string) *string {
	return kind.Either(want != nil && strings.EqualFold(*want, aws.ToString(have)), want, have)
}

// addPending compares the changes that RDS accepted and has not made yet with the wanted state. It returns the fields with a pending value
// that is the wanted one: they are not written again. Other pending values become those of have, so that they are replaced.
func addPending(want InstanceState, have *InstanceState, values types.PendingModifiedValues) []string {
	pending := kind.Convert[InstanceState](values)
	pending.EngineVersion = versionAs(want, pending.EngineVersion)
	var names []string
	wanted, found, next := reflect.ValueOf(want), reflect.ValueOf(have).Elem(), reflect.ValueOf(pending)
	for _, name := range settings {
		w, h, p := wanted.FieldByName(name), found.FieldByName(name), next.FieldByName(name)
		switch {
		case p.IsNil() || w.IsNil():
		case !reflect.DeepEqual(w.Interface(), p.Interface()):
			h.Set(p)
		case !reflect.DeepEqual(w.Interface(), h.Interface()):
			names = append(names, name)
		}
	}
	if values.MasterUserPassword != nil {
		names = append(names, "MasterUserPassword")
	}
	return names
}

// differsBeside reports whether a setting differs without a pending change to the wanted value. A request for it also makes the pending
// changes at once, which others may have left for the maintenance window.
func differsBeside(pending []string, want, have InstanceState) bool {
	wanted, found := reflect.ValueOf(want), reflect.ValueOf(have)
	return slices.ContainsFunc(settings, func(name string) bool {
		w, h := wanted.FieldByName(name), found.FieldByName(name)
		return w.Kind() == reflect.Pointer && !w.IsNil() && !reflect.DeepEqual(w.Interface(), h.Interface()) && !slices.Contains(pending, name)
	})
}

// parametersNote reports parameter groups with changes that wait for a reboot of the instance, which the operator never makes.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_WorkingWithParamGroups.html
func parametersNote(d types.DBInstance) []kind.Note {
	note := kind.Note{Type: v1alpha1.ConditionParametersInUse, Reason: status.ReasonReady, True: true, Message: "the instance runs with the parameters of its group"}
	for _, g := range d.DBParameterGroups {
		if aws.ToString(g.ParameterApplyStatus) == "pending-reboot" {
			return []kind.Note{{Type: note.Type, Reason: status.ReasonWaiting, Message: fmt.Sprintf(
				"parameters of the group %s take effect when the instance is rebooted: aws rds reboot-db-instance --db-instance-identifier %s",
				aws.ToString(g.DBParameterGroupName), aws.ToString(d.DBInstanceIdentifier))}}
		}
	}
	if len(d.DBParameterGroups) == 0 {
		return nil
	}
	return []kind.Note{note}
}

// versionAs returns the wanted version where have is that version or a later one: RDS upgrades instances, also to another major
// version at the end of its support, and downgrades none. Else have.
func versionAs(want InstanceState, have *string) *string {
	if want.EngineVersion == nil || have == nil {
		return have
	}
	if w := *want.EngineVersion; kind.IsVersion(*have, w) || kind.CompareVersions(*have, w) > 0 {
		return want.EngineVersion
	}
	return have
}

// versionNote reports whether the major version that is declared runs.
func versionNote(want InstanceState, have string) kind.Note {
	to, engine := *want.EngineVersion, aws.ToString(want.Engine)
	sameMajor := majorOf(engine, have) == majorOf(engine, to) || kind.CompareVersions(have, to) <= 0
	return awsclient.VersionNote(sameMajor, to, have, "RDS downgrades no DB instance")
}

// majorOf returns the major part of a version: two numbers, or one for Oracle and for PostgreSQL since 10.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_UpgradeDBInstance.Upgrading.html
func majorOf(engine, version string) string {
	parts := strings.Split(version, ".")
	first, _ := strconv.Atoi(parts[0])
	if strings.HasPrefix(engine, "oracle") || engine == "postgres" && first >= 10 {
		return parts[0]
	}
	return strings.Join(parts[:min(2, len(parts))], ".")
}
