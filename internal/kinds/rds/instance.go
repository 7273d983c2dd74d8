// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// InstanceState is a DB instance as both the spec and RDS can express it. The fields that RDS can set have the names
// that the requests and the descriptions of RDS give them.
type InstanceState struct {
	DBInstanceIdentifier string `drift:"identity"`
	ARN                  string `drift:"id"`
	// FinalSnapshot is the snapshot that the deletion makes; empty where the spec says to make none.
	FinalSnapshot string `drift:"id"`
	// OtherSnapshot is its name where the declared one is taken; empty where none is declared.
	OtherSnapshot string `drift:"id"`
	// Guarded is set while the instance must not be deleted without a final snapshot.
	Guarded bool `drift:"id"`
	// AllowMajorVersionUpgrade is sent with a change of the version.
	AllowMajorVersionUpgrade bool `drift:"id"`

	DBInstanceStatus string `drift:"observed"`
	Address          string `drift:"observed"`
	Zone             string `drift:"observed"`
	SecretARN        string `drift:"observed"`
	// Version and Storage are the actual values of the instance, also where other values count as declared.
	Version string `drift:"observed"`
	Storage int32  `drift:"observed"`
	// Roles lists the roles that its users act as: the role of a feature, such as imports from S3, and the profile of a host.
	Roles []string `drift:"observed"`
	// SourceID is the instance that this one is a read replica of.
	SourceID string `drift:"observed"`
	// SnapshotName is the name of the final snapshot that a look before the deletion chose; empty where none had to be chosen.
	SnapshotName string `drift:"observed"`

	Engine            *string `drift:"immutable"`
	DBName            *string `drift:"immutable"`
	MasterUsername    *string `drift:"immutable"`
	StorageEncrypted  *bool   `drift:"immutable"`
	KmsKeyId          *string `drift:"immutable"` //nolint:revive // a name of RDS
	DBSubnetGroupName *string `drift:"immutable"`

	EngineVersion, DBInstanceClass, StorageType, DBParameterGroupName        *string
	PreferredBackupWindow, PreferredMaintenanceWindow                        *string
	EngineLifecycleSupport                                                   *string
	AllocatedStorage, MaxAllocatedStorage, Iops, Port, BackupRetentionPeriod *int32
	VpcSecurityGroupIds                                                      []string `drift:"set"` //nolint:revive // a name of RDS
	MultiAZ, PubliclyAccessible                                              *bool
	AutoMinorVersionUpgrade, DeletionProtection                              *bool
	ManageMasterUserPassword                                                 *bool
	Password                                                                 *kind.WriteOnly
	Tags                                                                     map[string]string `drift:"tags"`
}

// settings are the fields that ModifyDBInstance changes. Read only.
var settings = []string{
	"EngineVersion", "DBInstanceClass", "DBParameterGroupName", "StorageType", "AllocatedStorage", "MaxAllocatedStorage", "Iops", "Port", "BackupRetentionPeriod",
	"VpcSecurityGroupIds", "MultiAZ", "PubliclyAccessible", "AutoMinorVersionUpgrade", "DeletionProtection",
	"PreferredBackupWindow", "PreferredMaintenanceWindow", "EngineLifecycleSupport", "ManageMasterUserPassword", "Password",
}

type instance struct {
	api   *rds.Client
	batch kind.Batch[types.DBInstance]
}

// NewInstance binds the RDSInstance kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
func NewInstance(cfg aws.Config) kind.Kind[*v1alpha1.RDSInstance, InstanceState] {
	i := &instance{api: rds.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.RDSInstance, InstanceState]{
		Meta:     kind.Meta{Facts: instanceFacts(), Identity: kind.ByName, HoldsData: true, Retains: true, CreatesFirst: true, References: []string{"DBSubnetGroup", "KMSKey", "SecurityGroup"}},
		Identify: identify, Declare: declare, Publish: publish, Refuse: refuse, Export: kind.Export[*v1alpha1.RDSInstance, InstanceState]{Identity: []string{"dbInstanceIdentifier"}, Spec: exportedInstance, Omit: undeclarable},
		Roles:    kind.Roles[InstanceState]{Of: func(s InstanceState) []string { return s.Roles }},
		Describe: kind.Read[InstanceState]{Actions: []string{"rds:DescribeDBInstances"}, Do: i.describe},
		Create:   kind.Call[InstanceState]{Action: "rds:CreateDBInstance", Do: kind.Send(i.api.CreateDBInstance, creation)},
		Tagging:  taggingOf(i.api, func(s InstanceState) *string { return &s.ARN }, nil),
		Holds:    i.findSnapshot, HoldsReads: []string{"rds:DescribeDBSnapshots"},
		Parts: []kind.Part[InstanceState]{{Fields: settings, InCreate: true,
			Write: kind.Call[InstanceState]{Action: "rds:ModifyDBInstance", DoDiff: kind.SendDiff(i.api.ModifyDBInstance, changes)}}},
		// The instance may be modifying after its protection was lifted, so a look precedes the delete.
		Delete: []kind.Ending[InstanceState]{
			{When: func(want, have InstanceState) bool {
				return aws.ToBool(have.DeletionProtection) && kind.IsFalse(want.DeletionProtection)
			},
				Call: kind.Call[InstanceState]{Action: "rds:ModifyDBInstance", Do: kind.Send(i.api.ModifyDBInstance, func(want, _ InstanceState) *rds.ModifyDBInstanceInput {
					return &rds.ModifyDBInstanceInput{DBInstanceIdentifier: &want.DBInstanceIdentifier, DeletionProtection: aws.Bool(false), ApplyImmediately: aws.Bool(true)}
				})}},
			{Call: kind.Call[InstanceState]{Action: "rds:DeleteDBInstance", Effect: kind.Deletes, Do: kind.Send(i.api.DeleteDBInstance, deletion)}},
		},
	})
}

// identify includes the deletion protection: false is the consent to lift it for a deletion.
func identify(sc kind.Scope, cr *v1alpha1.RDSInstance) (InstanceState, error) {
	in := cr.Spec
	s := InstanceState{DBInstanceIdentifier: strings.ToLower(in.DBInstanceIdentifier), Guarded: sc.Data.Guarded,
		DeletionProtection: in.DeletionProtection}
	s.FinalSnapshot = sc.FinalSnapshot(s.DBInstanceIdentifier, in.FinalSnapshotIdentifier, in.SkipFinalSnapshot)
	s.OtherSnapshot = sc.OtherSnapshot(in.FinalSnapshotIdentifier)
	return s, nil
}

func declare(sc kind.Scope, cr *v1alpha1.RDSInstance, s *InstanceState) error {
	in := cr.Spec
	id, tags := s.DBInstanceIdentifier, s.Tags
	kind.Overlay(s, in) // the fields of the same names
	s.DBInstanceIdentifier, s.Tags, s.Iops = id, tags, in.IOPS
	s.DBParameterGroupName, s.PreferredMaintenanceWindow = inLowerCase(in.ParameterGroup), inLowerCase(in.PreferredMaintenanceWindow)
	key := kind.CustomerKMSKey("rds", in.KMSKeyID)
	if in.KMSKeyRef != nil {
		target, err := sc.Ref("KMSKey", in.KMSKeyRef.Name)
		if err != nil {
			return err
		}
		key = target.ARN
	}
	group := in.DBSubnetGroupName
	if in.DBSubnetGroupRef != nil {
		target, err := sc.Ref("DBSubnetGroup", in.DBSubnetGroupRef.Name)
		if err != nil {
			return err
		}
		group = target.ID
	}
	s.KmsKeyId, s.DBSubnetGroupName = kind.NonEmpty(&key), inLowerCase(&group)
	groups, err := kind.ReferredIDs(sc.Lookups, "SecurityGroup", in.VPCSecurityGroupIDs, in.VPCSecurityGroupRefs)
	if err != nil {
		return err
	}
	s.VpcSecurityGroupIds = groups
	return declarePassword(sc, in.MasterUserPasswordSecretRef, s)
}

// inLowerCase returns a name as RDS stores it; nil for one that is absent or empty.
func inLowerCase(name *string) *string {
	return kind.NonEmpty(aws.String(strings.ToLower(aws.ToString(name))))
}

// declarePassword reads the Secret. A password of the user's own is none that RDS manages.
func declarePassword(sc kind.Scope, ref *v1alpha1.SecretKeyReference, s *InstanceState) error {
	const field = "spec.masterUserPasswordSecretRef"
	switch {
	case ref == nil:
		return nil
	case ref.Namespace != "" && ref.Namespace != sc.Namespace:
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: field + ".namespace", Message: "must be the object's own namespace"}
	}
	v, err := sc.Secret(ref.Name, ref.Key)
	if err != nil {
		return err
	}
	if len(v) < 8 || len(v) > 128 || strings.ContainsFunc(string(v), func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`/@"`, r) }) {
		return status.Invalid(field, "the value in key %s of Secret %s is no password that RDS accepts: 8 to 128 printable ASCII characters other than /, @, \" and space", ref.Key, ref.Name)
	}
	s.Password, s.ManageMasterUserPassword = kind.NewWriteOnly(sc.UID, string(v)), aws.Bool(false)
	return nil
}

func creation(want, _ InstanceState) *rds.CreateDBInstanceInput {
	tags := kind.SDKTags[types.Tag](want.Tags)
	want.Tags = nil
	in := kind.Convert[rds.CreateDBInstanceInput](want)
	in.Tags = tags
	if want.Iops != nil && provisionedIOPS(want, InstanceState{}) == nil && *want.Iops == baselineIOPS(want, 0) {
		in.Iops = nil // RDS gives them, and accepts no value
	}
	if want.Password != nil {
		in.MasterUserPassword, in.ManageMasterUserPassword = aws.String(want.Password.Value()), nil
	}
	return &in
}

// changes returns a request for the differences, without delay. RDS keeps settings that a request does not name. A request that ends the
// management of the password must name another password.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html
func changes(want, have InstanceState, diff kind.Diff) *rds.ModifyDBInstanceInput {
	in := kind.Convert[rds.ModifyDBInstanceInput](kind.OnlyChanged(want, settings, diff))
	in.DBInstanceIdentifier, in.ApplyImmediately = &have.DBInstanceIdentifier, aws.Bool(true)
	kind.SetChanged(diff, "Port", &in.DBPortNumber, want.Port)
	if diff.Under("AllocatedStorage", "Iops", "StorageType") {
		changeStorage(&in, want, have)
	}
	if diff.Under("EngineVersion") && want.AllowMajorVersionUpgrade {
		in.AllowMajorVersionUpgrade = aws.Bool(true)
	}
	if want.Password != nil && diff.Under("Password", "ManageMasterUserPassword") {
		in.MasterUserPassword = aws.String(want.Password.Value())
	}
	return &in
}

// refuse refuses changes that RDS cannot make, and those that need consent.
func refuse(want, have InstanceState, diff kind.Diff) error {
	switch {
	case diff.Under("ManageMasterUserPassword") && !*want.ManageMasterUserPassword && want.Password == nil:
		return status.Invalid("spec.manageMasterUserPassword", "false needs masterUserPasswordSecretRef: RDS then needs another password")
	case diff.Under("EngineVersion") && majorOf(*want.Engine, *want.EngineVersion) != majorOf(*want.Engine, have.Version) && !want.AllowMajorVersionUpgrade:
		return status.Invalid("spec.engineVersion", "%s is another major version than %s: set allowMajorVersionUpgrade: true to upgrade the instance", *want.EngineVersion, have.Version)
	default:
		return refuseStorage(want, have, diff)
	}
}

func publish(cr *v1alpha1.RDSInstance, s InstanceState) {
	st := &cr.Status
	st.ARN, st.ID, st.DBInstanceARN, st.DBInstanceStatus = s.ARN, s.DBInstanceIdentifier, s.ARN, s.DBInstanceStatus
	st.EngineVersion, st.AllocatedStorage, st.AvailabilityZone, st.MasterUserSecretARN = s.Version, s.Storage, s.Zone, s.SecretARN
	// chosen before the delete alone
	st.ReadReplicaSource, st.FinalSnapshotIdentifier = s.SourceID, cmp.Or(s.SnapshotName, st.FinalSnapshotIdentifier)
	if st.Endpoint = nil; s.Address != "" {
		st.Endpoint = &v1alpha1.RDSEndpoint{Address: s.Address, Port: aws.ToInt32(s.Port)}
	}
}

func (i *instance) describe(ctx context.Context, want InstanceState, look kind.Look) (kind.Seen[InstanceState], error) {
	absent := kind.Seen[InstanceState]{}
	d, err := i.find(ctx, want.DBInstanceIdentifier, look.Check)
	if d == nil {
		return absent, err
	}
	have, pending := seenInstance(want, *d), []string(nil)
	if d.PendingModifiedValues != nil {
		pending = addPending(want, &have, *d.PendingModifiedValues)
	}
	if why := unusable(want, have); why != nil && !look.Deleting {
		return absent, why
	}
	seen := kind.Seen[InstanceState]{Exists: true, State: have, Created: aws.ToTime(d.InstanceCreateTime), Tags: kind.TagMap(d.TagList), Holds: holds(want, have)}
	if version := want.EngineVersion; version != nil && slices.Contains(settledStates, have.DBInstanceStatus) {
		seen.Notes = []kind.Note{versionNote(want, have.Version)}
	}
	seen.Notes = append(seen.Notes, parametersNote(*d)...)
	if look.Wrote {
		awaitPending(want, pending, &seen)
	}
	judgeState(want, &seen)
	return seen, nil
}

// awaitPending waits for changes that the operator has just sent, and that RDS is about to make. A change that others left for the
// maintenance window, up to a week, is a difference like any other: RDS makes it at once when it is sent again.
func awaitPending(want InstanceState, pending []string, seen *kind.Seen[InstanceState]) {
	if len(pending) == 0 || !slices.Contains(settledStates, seen.State.DBInstanceStatus) {
		return
	}
	seen.Busy, seen.Usable = "the DB instance is about to change "+strings.Join(pending, ", "), true
	seen.Writable = differsBeside(pending, want, seen.State)
}

// judgeState sets the reason to wait if the state of the instance keeps it from accepting changes.
func judgeState(want InstanceState, seen *kind.Seen[InstanceState]) {
	switch s := seen.State.DBInstanceStatus; {
	case seen.Busy != "":
	case s == storageOptimization && postponeStorage(want, &seen.State):
		seen.Busy, seen.Writable = "the DB instance optimizes its storage after a change, and accepts the next change of its storage afterwards", true
	case !slices.Contains(settledStates, s) && !isBroken(s):
		seen.Busy, seen.Usable = "the DB instance is "+s, slices.Contains(usableStates, s) || strings.HasPrefix(s, "configuring-")
	}
}

// find returns the instance; nil when there is none.
func (i *instance) find(ctx context.Context, id string, check *kind.Check) (*types.DBInstance, error) {
	if check != nil {
		if d := i.batch.Find(ctx, id, check, i.byIDs); d != nil {
			return d, nil
		}
	}
	out, err := awsclient.Lookup(ctx, i.api.DescribeDBInstances, &rds.DescribeDBInstancesInput{DBInstanceIdentifier: &id})
	if out == nil || len(out.DBInstances) == 0 {
		return nil, err
	}
	return &out.DBInstances[0], nil
}

// byIDs reads many instances by a filter. The answer lacks those that do not exist.
func (i *instance) byIDs(ctx context.Context, ids []string) (map[string]types.DBInstance, error) {
	in := &rds.DescribeDBInstancesInput{Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: ids}}}
	all, err := kind.Pages(ctx, i.api.DescribeDBInstances, in, &in.Marker, func(out *rds.DescribeDBInstancesOutput) ([]types.DBInstance, *string) {
		return out.DBInstances, out.Marker
	})
	return kind.ByID(all, func(d types.DBInstance) string { return aws.ToString(d.DBInstanceIdentifier) }), err
}
