// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	id         = "orders"
	key        = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"
	create     = "rds:CreateDBInstance"
	modify     = "rds:ModifyDBInstance"
	remove     = "rds:DeleteDBInstance"
	aPassword  = "correct-horse-1"
	newer      = "correct-horse-2"
	secretName = "master"
)

type spec = v1alpha1.RDSInstanceSpec

func instanceOf(edits ...func(s *spec)) *v1alpha1.RDSInstance {
	o := &v1alpha1.RDSInstance{}
	o.Name = id
	o.Spec = spec{DBInstanceIdentifier: id, Engine: "postgres", EngineVersion: aws.String("16.4"), DBInstanceClass: "db.t4g.micro",
		AllocatedStorage: 20,
		MasterUsername:   "shop", ManageMasterUserPassword: aws.Bool(true),
		CommonSpec: v1alpha1.CommonSpec{DeletionPolicy: v1alpha1.DeletionDelete}}
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

// everything declares every field that can be changed, and those that cannot.
func everything(s *spec) {
	s.DBName, s.StorageEncrypted, s.KMSKeyRef = "shop", aws.Bool(true), &v1alpha1.ObjectReference{Name: "data"}
	s.MaxAllocatedStorage, s.StorageType, s.Port = aws.Int32(100), aws.String("gp3"), aws.Int32(5433)
	s.DBSubnetGroupRef, s.VPCSecurityGroupRefs = &v1alpha1.ObjectReference{Name: group}, []v1alpha1.ObjectReference{{Name: "databases"}}
	s.EngineLifecycleSupport = aws.String("open-source-rds-extended-support-disabled")
	s.MultiAZ, s.PubliclyAccessible, s.AutoMinorVersionUpgrade, s.DeletionProtection = aws.Bool(true), aws.Bool(false), aws.Bool(true),
		aws.Bool(false)
	s.BackupRetentionPeriod, s.PreferredBackupWindow, s.PreferredMaintenanceWindow = aws.Int32(7), aws.String("03:00-03:30"),
		aws.String("Sun:04:00-Sun:04:30")
}

func version(v string) func(s *spec) { return func(s *spec) { s.EngineVersion = &v } }

func storage(n int32) func(s *spec) { return func(s *spec) { s.AllocatedStorage = n } }

func protected(yes bool) func(s *spec) { return func(s *spec) { s.DeletionProtection = &yes } }

func password(s *spec) {
	s.ManageMasterUserPassword = nil
	s.MasterUserPasswordSecretRef = &v1alpha1.SecretKeyReference{Name: secretName, Key: "password"}
}

func skipping(s *spec) { s.SkipFinalSnapshot = true }

func instanceTag(k, v string) func(s *spec) { return func(s *spec) { withTag(&s.CommonSpec, k, v) } }

// placed makes the network, the subnet group and the Secret that instances refer to.
func placed(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	inNetwork(t, s)
	makeGroup(t, s.Rig, nil, "a", "b")
	s.Targets["DBSubnetGroup/"+group] = kind.Target{ID: group}
	s.Targets["KMSKey/data"] = kind.Target{ID: "1234abcd-12ab-34cd-56ef-1234567890ab", ARN: key}
	s.Secrets = map[string]string{secretName + "/password": aPassword}
}

func subjectOf(t *testing.T, o v1alpha1.Resource) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewInstance), o)
	placed(t, s)
	return s, r
}

func find(t *testing.T, r *kindtest.Rig) *types.DBInstance {
	t.Helper()
	out, err := api(r).DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{DBInstanceIdentifier: aws.String(id)})
	if awsclient.IsNotFound(err) {
		return nil
	}
	kindtest.Must(t, err)
	return &out.DBInstances[0]
}

func exists(t *testing.T, r *kindtest.Rig) bool { return find(t, r) != nil }

func makeInstance(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateDBInstance(t.Context(),
			&rds.CreateDBInstanceInput{DBInstanceIdentifier: aws.String(id), DBInstanceClass: aws.String("db.t4g.micro"),
				Engine:        aws.String("postgres"),
				EngineVersion: aws.String("16.4"), AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("shop"),
				ManageMasterUserPassword: aws.Bool(true), Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
}

func change(in rds.ModifyDBInstanceInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.DBInstanceIdentifier, in.ApplyImmediately = aws.String(id), aws.Bool(true)
		_, err := api(r).ModifyDBInstance(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func removeInstance(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteDBInstance(t.Context(),
		&rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String(id), SkipFinalSnapshot: aws.Bool(true)})
	kindtest.Must(t, err)
}

func snapshots(t *testing.T, r *kindtest.Rig) (names []string) {
	t.Helper()
	out, err := api(r).DescribeDBSnapshots(t.Context(), &rds.DescribeDBSnapshotsInput{SnapshotType: aws.String("manual")})
	kindtest.Must(t, err)
	for _, s := range out.DBSnapshots {
		names = append(names, *s.DBSnapshotIdentifier)
	}
	return names
}

func TestInstance(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewInstance), placed, slices.Concat(lives(), refusals(), edits(), drifts(), deletions()))
}

// A password is not exported, so that rows with one have separate facts, which keep them out of the exports.
func lives() []kindtest.Case {
	earlier := ownerTags("RDSInstance", id, "an-earlier-one")
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: instanceOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with every field", Object: instanceOf(everything, instanceTag("team", "a")), Cause: engine.New, Actions: []string{create}},
		{Name: "with a password of a Secret", Object: instanceOf(password), Facts: func(*kindtest.Subject) {}, Cause: engine.New,
			Actions: []string{create}},
		{Name: "with any minor version", Object: instanceOf(version("16")), Cause: engine.New, Actions: []string{create}},
		{Name: "with any last number of a version", Object: instanceOf(version("8.0"), func(s *spec) { s.Engine = "mysql" }), Cause: engine.New,
			Actions: []string{create}},
		{Name: "without backups", Object: instanceOf(func(s *spec) { s.BackupRetentionPeriod = aws.Int32(0) }), Cause: engine.New,
			Actions: []string{create}},
		{Name: "a name in upper case is stored in lower case", Object: instanceOf(func(s *spec) { s.DBInstanceIdentifier = "Orders" }),
			Cause: engine.New, Actions: []string{create}},
		{Name: "the name of a database of Oracle is shown in upper case", Object: instanceOf(func(s *spec) {
			s.Engine, s.EngineVersion, s.DBInstanceClass, s.DBName = "oracle-se2", nil, "db.t3.small", "shop"
		}), Cause: engine.New, Actions: []string{create}},
		{Name: "settings that are no longer declared stay as they are",
			Existing: instanceOf(func(s *spec) { s.MultiAZ, s.BackupRetentionPeriod = aws.Bool(true), aws.Int32(9) }),
			Object:   instanceOf(func(s *spec) { s.EngineVersion, s.ManageMasterUserPassword = nil, nil }), Cause: engine.InSync},
		{Name: "a lost instance is reported, not created again", Existing: instanceOf(), Object: instanceOf(), Drift: true,
			Before: removeInstance, Stalled: status.ReasonMissing},
		{Name: "and created again where the object says so", Existing: instanceOf(func(s *spec) { s.RecreateOnLoss = true }),
			Object: instanceOf(func(s *spec) { s.RecreateOnLoss = true }),
			Drift:  true, Before: removeInstance, Cause: engine.New, Actions: []string{create}},
		{Name: "left by an earlier object of this name, it is taken over", Object: instanceOf(), Before: makeInstance(earlier),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: instanceOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: makeInstance(earlier), Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: instanceOf(), Before: makeInstance(nil), Stalled: status.ReasonConflict},
	}
}

func fast(n int32) func(s *spec) {
	return func(s *spec) { s.StorageType, s.IOPS, s.AllocatedStorage = aws.String("io2"), &n, 100 }
}

func parameters(group string) func(s *spec) {
	return func(s *spec) { s.ParameterGroup = &group }
}

func tuned(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	makeParameterGroup(t, s.Rig, "tuned")
}

func makeParameterGroup(t *testing.T, r *kindtest.Rig, name string) {
	t.Helper()
	_, err := api(r).CreateDBParameterGroup(t.Context(),
		&rds.CreateDBParameterGroupInput{DBParameterGroupName: &name, DBParameterGroupFamily: aws.String("postgres16"),
			Description: aws.String("d")})
	kindtest.Must(t, err)
}

func TestAParameterGroupIsChangedAndRestored(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	tuned(t, s)
	kindtest.Settled(t, s)
	before := aws.ToString(find(t, r).DBParameterGroups[0].DBParameterGroupName)
	s.Edit(instanceOf(parameters("Tuned")))
	kindtest.Settled(t, s)
	if got := aws.ToString(find(t, r).DBParameterGroups[0].DBParameterGroupName); got != "tuned" {
		t.Fatalf("the group is %s", got)
	}
	change(rds.ModifyDBInstanceInput{DBParameterGroupName: &before})(t, r)
	kindtest.Settled(t, s)
	if got := aws.ToString(find(t, r).DBParameterGroups[0].DBParameterGroupName); got != "tuned" {
		t.Errorf("after another one set it: %s", got)
	}
	s.Edit(instanceOf()) // undeclared settings stay
	kindtest.Settled(t, s)
	if got := aws.ToString(find(t, r).DBParameterGroups[0].DBParameterGroupName); got != "tuned" {
		t.Errorf("after the field was removed: %s", got)
	}
}

func refusals() []kindtest.Case {
	refused := func(name string, edits ...func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: instanceOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	edited := func(name, reason string, from, to func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: instanceOf(from), Object: instanceOf(to), Stalled: reason}
	}
	none := func(*spec) {}
	short := refused("a password that RDS does not accept", password)
	short.Facts = func(s *kindtest.Subject) { s.Secrets = map[string]string{secretName + "/password": "a/b@c d\""} }
	return []kindtest.Case{
		short,
		refused("a password in plain text", func(s *spec) { s.MasterUserPassword = "hunter22" }),
		refused("a password of a Secret and one that RDS manages", password, func(s *spec) { s.ManageMasterUserPassword = aws.Bool(true) }),
		refused("a KMS key by ARN and by reference", everything, func(s *spec) { s.KMSKeyID = key }),
		refused("a KMS key without encryption", func(s *spec) { s.KMSKeyID = key }),
		refused("an alias of a KMS key", func(s *spec) { s.StorageEncrypted, s.KMSKeyID = aws.Bool(true), "alias/data" }),
		refused("a subnet group by name and by reference", everything, func(s *spec) { s.DBSubnetGroupName = group }),
		refused("provisioned storage without its operations", func(s *spec) { s.StorageType = aws.String("io1") }),
		refused("operations of storage that has none", func(s *spec) { s.StorageType, s.IOPS = aws.String("gp2"), aws.Int32(3000) }),
		refused("no room for storage autoscaling", func(s *spec) { s.MaxAllocatedStorage = aws.Int32(20) }),
		refused("a name for a snapshot that is skipped", skipping, func(s *spec) { s.FinalSnapshotIdentifier = "last" }),
		refused("an engine of Aurora", func(s *spec) { s.Engine = "aurora-postgresql" }),
		{Name: "a Secret of another namespace",
			Object: instanceOf(password, func(s *spec) { s.MasterUserPasswordSecretRef.Namespace = "team-b" }), Stalled: status.ReasonNotPermitted},
		{Name: "a Secret that does not exist", Object: instanceOf(password, func(s *spec) { s.MasterUserPasswordSecretRef.Name = "none" }),
			Stalled: status.ReasonCredentialsMissing},
		edited("less storage", status.ReasonImmutable, storage(40), storage(20)),
		edited("a major version without consent", status.ReasonInvalidSpec, none, version("17.1")),
		edited("the end of the management without a password", status.ReasonInvalidSpec, none,
			func(s *spec) { s.ManageMasterUserPassword = aws.Bool(false) }),
		edited("another engine", status.ReasonImmutable, none, func(s *spec) { s.Engine = "mysql" }),
		edited("another master user", status.ReasonImmutable, none, func(s *spec) { s.MasterUsername = "other" }),
		edited("encryption", status.ReasonImmutable, none, func(s *spec) { s.StorageEncrypted = aws.Bool(true) }),
		edited("another key", status.ReasonImmutable, everything, func(s *spec) { everything(s); s.KMSKeyRef, s.KMSKeyID = nil, "other" }),
		edited("another database", status.ReasonImmutable, everything, func(s *spec) { everything(s); s.DBName = "other" }),
		edited("another subnet group", status.ReasonImmutable, everything,
			func(s *spec) { everything(s); s.DBSubnetGroupRef, s.DBSubnetGroupName = nil, "other" }),
		edited("another name", status.ReasonIdentityChanged, none, func(s *spec) { s.DBInstanceIdentifier = "other" }),
	}
}

// settingRows are two values of each setting that can be changed, and how others set the first.
var settingRows = []struct {
	path   string
	to     func(s *spec)
	theirs rds.ModifyDBInstanceInput
}{
	{"DBInstanceClass", func(s *spec) { s.DBInstanceClass = "db.t4g.small" },
		rds.ModifyDBInstanceInput{DBInstanceClass: aws.String("db.t4g.large")}},
	{"StorageType", func(s *spec) { s.StorageType = aws.String("gp2") }, rds.ModifyDBInstanceInput{StorageType: aws.String("standard")}},
	{"AllocatedStorage", storage(30), rds.ModifyDBInstanceInput{}},
	{"MaxAllocatedStorage", func(s *spec) { s.MaxAllocatedStorage = aws.Int32(200) },
		rds.ModifyDBInstanceInput{MaxAllocatedStorage: aws.Int32(300)}},
	{"Port", func(s *spec) { s.Port = aws.Int32(5434) }, rds.ModifyDBInstanceInput{DBPortNumber: aws.Int32(5435)}},
	{"BackupRetentionPeriod", func(s *spec) { s.BackupRetentionPeriod = aws.Int32(0) },
		rds.ModifyDBInstanceInput{BackupRetentionPeriod: aws.Int32(1)}},
	{"MultiAZ", func(s *spec) { s.MultiAZ = aws.Bool(false) }, rds.ModifyDBInstanceInput{MultiAZ: aws.Bool(false)}},
	{"PubliclyAccessible", func(s *spec) { s.PubliclyAccessible = aws.Bool(true) },
		rds.ModifyDBInstanceInput{PubliclyAccessible: aws.Bool(true)}},
	{"AutoMinorVersionUpgrade", func(s *spec) { s.AutoMinorVersionUpgrade = aws.Bool(false) },
		rds.ModifyDBInstanceInput{AutoMinorVersionUpgrade: aws.Bool(false)}},
	{"EngineLifecycleSupport", func(s *spec) { s.EngineLifecycleSupport = aws.String("open-source-rds-extended-support") },
		rds.ModifyDBInstanceInput{EngineLifecycleSupport: aws.String("open-source-rds-extended-support")}},
	{"DeletionProtection", protected(true), rds.ModifyDBInstanceInput{DeletionProtection: aws.Bool(true)}},
	{"PreferredBackupWindow", func(s *spec) { s.PreferredBackupWindow = aws.String("01:00-01:30") },
		rds.ModifyDBInstanceInput{PreferredBackupWindow: aws.String("02:00-02:30")}},
	{"PreferredMaintenanceWindow", func(s *spec) { s.PreferredMaintenanceWindow = aws.String("mon:05:00-mon:05:30") },
		rds.ModifyDBInstanceInput{PreferredMaintenanceWindow: aws.String("tue:05:00-tue:05:30")}},
}

func edits() []kindtest.Case {
	var out []kindtest.Case
	for _, row := range settingRows {
		out = append(out, kindtest.Case{Name: row.path + " is edited", Existing: instanceOf(everything), Object: instanceOf(everything, row.to),
			Cause: engine.Edited, Diff: []string{row.path}, Actions: []string{modify}})
	}
	return append(out,
		kindtest.Case{Name: "many settings take one call", Existing: instanceOf(), Object: instanceOf(func(s *spec) {
			s.DBInstanceClass, s.AllocatedStorage, s.MultiAZ = "db.t4g.small", 30, aws.Bool(true)
		}), Cause: engine.Edited, Diff: []string{"DBInstanceClass", "AllocatedStorage", "MultiAZ"}, Actions: []string{modify}},
		kindtest.Case{Name: "other operations of provisioned storage", Existing: instanceOf(fast(3000)), Object: instanceOf(fast(5000)),
			Cause: engine.Edited, Diff: []string{"Iops"}, Actions: []string{modify}},
		kindtest.Case{Name: "a later minor version", Existing: instanceOf(), Object: instanceOf(version("16.6")), Cause: engine.Edited,
			Diff: []string{"EngineVersion"}, Actions: []string{modify}},
		kindtest.Case{Name: "an earlier minor version is what RDS cannot return to", Existing: instanceOf(), Object: instanceOf(version("16.3")),
			Cause: engine.InSync},
		kindtest.Case{Name: "a major version with consent", Existing: instanceOf(),
			Object: instanceOf(version("17"), func(s *spec) { s.AllowMajorVersionUpgrade = true }),
			Cause:  engine.Edited, Diff: []string{"EngineVersion"}, Actions: []string{modify}},
		kindtest.Case{Name: "other security groups in any order", Existing: instanceOf(everything), Object: instanceOf(everything, func(s *spec) {
			s.VPCSecurityGroupRefs = []v1alpha1.ObjectReference{{Name: "others"}, {Name: "databases"}}
		}), Cause: engine.Edited, Diff: []string{"VpcSecurityGroupIds"}, Actions: []string{modify}},
		kindtest.Case{Name: "another parameter group", Existing: instanceOf(), Object: instanceOf(parameters("tuned")), Cause: engine.Edited,
			Diff: []string{"DBParameterGroupName"}, Actions: []string{modify},
			Before: func(t *testing.T, r *kindtest.Rig) { makeParameterGroup(t, r, "tuned") }},
		kindtest.Case{Name: "the management replaces a password", Existing: instanceOf(password), Object: instanceOf(),
			Facts: func(*kindtest.Subject) {}, Cause: engine.Edited, Diff: []string{"ManageMasterUserPassword"}, Actions: []string{modify}},
		kindtest.Case{Name: "a password replaces the management", Existing: instanceOf(), Object: instanceOf(password),
			Facts: func(*kindtest.Subject) {}, Cause: engine.Edited,
			Diff: []string{"ManageMasterUserPassword", "Password"}, Actions: []string{modify}},
		kindtest.Case{Name: "tags are added and dropped", Existing: instanceOf(instanceTag("old", "1")),
			Object: instanceOf(instanceTag("team", "a")), Cause: engine.Edited,
			Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	)
}

func drifts() []kindtest.Case {
	var out []kindtest.Case
	drift := func(name string, object *v1alpha1.RDSInstance, in rds.ModifyDBInstanceInput, paths ...string) {
		c := kindtest.Case{Name: name, Existing: object, Object: object, Drift: true, Before: change(in), Cause: engine.InSync}
		if len(paths) > 0 {
			c.Cause, c.Diff, c.Actions = engine.Drifted, paths, []string{modify}
		}
		out = append(out, c)
	}
	for _, row := range settingRows {
		if row.path != "AllocatedStorage" { // RDS cannot return to less
			drift(row.path+" is restored", instanceOf(everything), row.theirs, row.path)
		}
	}
	grown := instanceOf(func(s *spec) { s.MaxAllocatedStorage = aws.Int32(100) })
	drift("operations of provisioned storage are restored", instanceOf(fast(3000)),
		rds.ModifyDBInstanceInput{Iops: aws.Int32(6000), AllocatedStorage: aws.Int32(100)}, "Iops")
	drift("storage that autoscaling added is kept", grown, rds.ModifyDBInstanceInput{AllocatedStorage: aws.Int32(25)})
	drift("a minor version that RDS raised is kept", instanceOf(), rds.ModifyDBInstanceInput{EngineVersion: aws.String("16.8")})
	drift("a minor version that RDS chose is kept", instanceOf(version("16")), rds.ModifyDBInstanceInput{EngineVersion: aws.String("16.9")})
	drift("the management of the password is restored", instanceOf(),
		rds.ModifyDBInstanceInput{ManageMasterUserPassword: aws.Bool(false), MasterUserPassword: aws.String(newer)}, "ManageMasterUserPassword")
	drift("settings that are not declared may change", instanceOf(),
		rds.ModifyDBInstanceInput{BackupRetentionPeriod: aws.Int32(5), MultiAZ: aws.Bool(true)})
	out = append(out, kindtest.Case{Name: "another Availability Zone after a failover", Existing: instanceOf(), Object: instanceOf(),
		Drift: true, Before: failOver, Cause: engine.InSync})
	return out
}

// failOver puts the instance into another zone: RDS reports it so after a failover.
func failOver(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	was := find(t, r)
	removeInstance(t, r)
	_, err := api(r).CreateDBInstance(t.Context(),
		&rds.CreateDBInstanceInput{DBInstanceIdentifier: was.DBInstanceIdentifier, DBInstanceClass: was.DBInstanceClass, Engine: was.Engine,
			EngineVersion: was.EngineVersion, AllocatedStorage: was.AllocatedStorage, MasterUsername: was.MasterUsername,
			ManageMasterUserPassword: aws.Bool(true), Tags: was.TagList,
			AvailabilityZone: aws.String(kindtest.Region + "c")})
	kindtest.Must(t, err)
}

func deletions() []kindtest.Case {
	deleting := func(c kindtest.Case) kindtest.Case {
		c.Existing, c.Deleting, c.Drift = c.Object, true, true
		if c.Waiting == "" && c.Cause == "" {
			c.Cause = engine.Deleting
		}
		return c
	}
	orphan := func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }
	return []kindtest.Case{
		deleting(kindtest.Case{Name: "deleting", Object: instanceOf(), Actions: []string{remove}}),
		deleting(kindtest.Case{Name: "deleting with a snapshot of a declared name",
			Object: instanceOf(func(s *spec) { s.FinalSnapshotIdentifier = "last" }), Actions: []string{remove}}),
		deleting(kindtest.Case{Name: "deleting without a snapshot", Object: instanceOf(skipping), Actions: []string{remove}}),
		deleting(kindtest.Case{Name: "deleting what is gone", Object: instanceOf(), Before: removeInstance, Cause: engine.Gone}),
		deleting(kindtest.Case{Name: "protection holds", Object: instanceOf(protected(true)), Waiting: status.ReasonDeletionProtected}),
		deleting(kindtest.Case{Name: "protection that is not declared holds", Object: instanceOf(),
			Before: change(rds.ModifyDBInstanceInput{DeletionProtection: aws.Bool(true)}), Waiting: status.ReasonDeletionProtected}),
		deleting(kindtest.Case{Name: "false lifts the protection", Object: instanceOf(protected(false)),
			Before: change(rds.ModifyDBInstanceInput{DeletionProtection: aws.Bool(true)}), Actions: []string{modify}}),
		deleting(kindtest.Case{Name: "guarded data needs a final snapshot", Object: instanceOf(skipping),
			Facts: func(s *kindtest.Subject) { s.Guarded = true }, Waiting: status.ReasonDataWouldBeLost}),
		deleting(kindtest.Case{Name: "Orphan removes the owner tags and nothing else", Object: instanceOf(orphan), Diff: ownerPaths,
			Actions: []string{untag}}),
	}
}

func TestInstancesAreRetainedByDefault(t *testing.T) {
	kept := instanceOf(func(s *spec) { s.DeletionPolicy = "" })
	if got := engine.DeletionPolicyOf(kept, engine.For(NewInstance).Meta()); got != v1alpha1.DeletionRetain {
		t.Errorf("%s", got)
	}
}

func life(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: instanceOf(instanceTag("team", "a")), Facts: func(s *kindtest.Subject) { placed(t, s) },
		Foreign: makeInstance(map[string]string{"theirs": "1"}), Exists: exists,
		Edited:  instanceOf(instanceTag("team", "b"), storage(30), func(s *spec) { s.MultiAZ = aws.Bool(true) }),
		Invalid: []v1alpha1.Resource{instanceOf(func(s *spec) { s.MasterUserPassword = "hunter22" })},
	}
}

func TestInstanceSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewInstance), life(t))
}

func TestInstanceSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewInstance), life(t)) }

func TestInstanceCosts(t *testing.T) {
	s, _ := subjectOf(t, instanceOf(everything))
	network := s.Rig.AWS.Calls().Match("ec2", "", "").Count()
	// the create and a look; a look; a look, the change and a look; a look, the delete and a look
	costs(t, s, instanceOf(everything, storage(30)), [2]int{2, 1}, [2]int{1, 0}, [2]int{3, 1}, [2]int{3, 1})
	if network == 0 {
		t.Error("nothing was placed in a network")
	}
}

// A check also reads the instances of other objects with a check due, and its answer serves these.
func TestInstanceChecksShareARead(t *testing.T) {
	s, _ := subjectOf(t, instanceOf(everything))
	kindtest.Settled(t, s)
	kindOf, own := s.Entry.Bind(s.Rig.Config), s.Object.CommonStatus().ID
	check := func(what string, o engine.Owner, obj v1alpha1.Resource, upcoming string, cause engine.Cause, calls int) {
		t.Helper()
		o.Check = &kind.Check{At: s.Clock, Since: s.Clock.Add(-time.Second),
			Upcoming: func(context.Context) []string { return []string{upcoming} }}
		mark := s.Rig.AWS.Mark()
		p, err := kindOf.Decide(t.Context(), s.Scope(), o, obj)
		if got := s.Rig.AWS.Since(mark); err != nil || p.Cause != cause || got.Count() != calls || o.Check.Shared != (calls == 0) {
			t.Errorf("%s: %s, shared %t, %v; %d calls, want %d:\n%s", what, p.Cause, o.Check.Shared, err, got.Count(), calls, got)
		}
	}
	other, unknown := s.Object.DeepCopyObject().(*v1alpha1.RDSInstance), s.Owner()
	other.Spec.DBInstanceIdentifier = "absent"
	unknown.Record.Intent, unknown.Record.Known = nil, false
	check("the check that reads for another", s.Owner(), s.Object, "absent", engine.InSync, 1)
	check("the check of an instance that the answer lacks", unknown, other, own, engine.New, 2)
	check("the check that the answer serves", s.Owner(), s.Object, "absent", engine.InSync, 0)
	check("the next check", s.Owner(), s.Object, "absent", engine.InSync, 1)
}

// slow lets RDS take its time, by the clock of the subject.
func slow(s *kindtest.Subject, d time.Duration) {
	s.Rig.AWS.SetClock(func() time.Time { return s.Clock })
	s.Rig.AWS.RDS.SetDatabasesBusy(d)
}

// waitsBusy makes a pass that must wait for an operation of RDS, and returns the Ready condition.
func waitsBusy(t *testing.T, s *kindtest.Subject, words string) metav1.Condition {
	t.Helper()
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !strings.Contains(w.For, words) {
		t.Fatalf("got %v, want to wait for %q\n%s", err, words, s.Rig.AWS.Calls())
	}
	for _, c := range s.Object.CommonStatus().Conditions {
		if c.Type == status.Stall && c.Status == "True" {
			t.Errorf("stalled: %s", c.Message)
		}
	}
	for _, c := range s.Object.CommonStatus().Conditions {
		if c.Type == status.Ready {
			return c
		}
	}
	t.Fatal("no Ready condition")
	return metav1.Condition{}
}

func TestACreateOfTwentyMinutesIsWaitedFor(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	slow(s, 20*time.Minute)
	for range 4 {
		if c := waitsBusy(t, s, "the DB instance is creating"); c.Status != "False" || c.Reason != status.ReasonBusy {
			t.Fatalf("%+v", c)
		}
		if st := s.Object.(*v1alpha1.RDSInstance).Status; st.DBInstanceStatus != "creating" || st.Endpoint != nil {
			t.Fatalf("%+v", st)
		}
		s.Clock = s.Clock.Add(4 * time.Minute)
	}
	s.Clock = s.Clock.Add(4 * time.Minute)
	settled(t, s)
	if n := r.AWS.Calls().Match("rds", "CreateDBInstance", "").Count(); n != 1 {
		t.Errorf("%d creates", n)
	}
}

func TestPendingChangesAreNotWrittenAgain(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	slow(s, 10*time.Minute)
	s.Clock = s.Clock.Add(time.Hour) // long after the create
	s.Edit(instanceOf(func(s *spec) { s.DBInstanceClass, s.AllocatedStorage = "db.t4g.small", 30 }))
	for _, words := range []string{"about to change DBInstanceClass, AllocatedStorage", "about to change", "is modifying", "is modifying"} {
		if c := waitsBusy(t, s, words); c.Status != "False" { // the edit is not true yet
			t.Fatalf("%+v", c)
		}
		s.Clock = s.Clock.Add(3 * time.Minute)
	}
	settled(t, s)
	if n := r.AWS.Calls().Match("rds", "ModifyDBInstance", "").Count(); n != 1 {
		t.Errorf("%d changes:\n%s", n, r.AWS.Calls())
	}
	if d := find(t, r); *d.DBInstanceClass != "db.t4g.small" {
		t.Errorf("%+v", *d.DBInstanceClass)
	}
}

// A person scheduled another value: a request for the declared one replaces it.
func TestAPendingChangeOfOthersIsReplaced(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	slow(s, time.Hour)
	s.Clock = s.Clock.Add(2 * time.Hour) // long after the create
	change(rds.ModifyDBInstanceInput{DBInstanceClass: aws.String("db.t4g.large")})(t, r)
	p, err := s.Decide(t.Context())
	kindtest.Must(t, err)
	if p.Cause != engine.Drifted || len(p.Diff) != 1 || p.Diff[0].Path != "DBInstanceClass" || p.Diff[0].Have != "db.t4g.large" ||
		len(p.Steps) != 1 {
		t.Errorf("%s %+v", p.Cause, p.Diff)
	}
}

// A person scheduled the declared value for the maintenance window: another edit does not wait for it, and takes it along.
func TestAPendingChangeKeepsNoOtherEditBack(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	slow(s, time.Hour)
	s.Clock = s.Clock.Add(2 * time.Hour) // long after the create
	change(rds.ModifyDBInstanceInput{DBInstanceClass: aws.String("db.t4g.small")})(t, r)
	s.Edit(instanceOf(func(s *spec) { s.DBInstanceClass, s.BackupRetentionPeriod = "db.t4g.small", aws.Int32(9) }))
	p, err := s.Decide(t.Context())
	kindtest.Must(t, err)
	if len(p.Diff) != 2 || len(p.Steps) != 1 {
		t.Errorf("%s %+v", p.Cause, p)
	}
}

// No one waits up to a week for the declared value that a person scheduled for the maintenance window.
func TestAPendingChangeOfOthersIsMadeAtOnce(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	slow(s, time.Hour)
	s.Clock = s.Clock.Add(2 * time.Hour) // long after the create
	_, err := api(r).ModifyDBInstance(t.Context(),
		&rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String(id), DBInstanceClass: aws.String("db.t4g.small")})
	kindtest.Must(t, err)
	mark := r.AWS.Mark()
	s.Edit(instanceOf(func(s *spec) { s.DBInstanceClass = "db.t4g.small" }))
	waitsBusy(t, s, "about to change DBInstanceClass")
	waitsBusy(t, s, "about to change DBInstanceClass")
	s.Clock = s.Clock.Add(time.Hour)
	settled(t, s)
	if n := r.AWS.Since(mark).Match("rds", "ModifyDBInstance", "").Count(); n != 1 {
		t.Errorf("%d changes:\n%s", n, r.AWS.Since(mark))
	}
}

func TestParametersThatWaitForARebootAreShown(t *testing.T) {
	group := func(state string) types.DBInstance {
		return types.DBInstance{DBInstanceIdentifier: aws.String("orders"),
			DBParameterGroups: []types.DBParameterGroupStatus{{DBParameterGroupName: aws.String("tuned"), ParameterApplyStatus: &state}}}
	}
	notes := parametersNote(group("pending-reboot"))
	if len(notes) != 1 || notes[0].True || !strings.Contains(notes[0].Message, "tuned") ||
		!strings.Contains(notes[0].Message, "reboot-db-instance --db-instance-identifier orders") {
		t.Errorf("%+v", notes)
	}
	s, _ := subjectOf(t, instanceOf())
	settled(t, s)
	if c := meta.FindStatusCondition(s.Object.CommonStatus().Conditions, v1alpha1.ConditionParametersInUse); c == nil ||
		c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", s.Object.CommonStatus().Conditions)
	}
}

func TestADeletionWaitsUntilTheInstanceIsGone(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	slow(s, 5*time.Minute)
	s.Clock = s.Clock.Add(10 * time.Minute)
	s.Deleting = true
	waitsBusy(t, s, "the DB instance is deleting")
	s.Clock = s.Clock.Add(time.Minute)
	waitsBusy(t, s, "the DB instance is deleting")
	s.Clock = s.Clock.Add(5 * time.Minute)
	settled(t, s)
	if n := r.AWS.Calls().Match("rds", "DeleteDBInstance", "").Count(); n != 1 || exists(t, r) {
		t.Errorf("%d deletions", n)
	}
}

func TestAPasswordIsWrittenOnceAndWhenItsSecretChanges(t *testing.T) {
	s, r := subjectOf(t, instanceOf(password))
	settled(t, s)
	settled(t, s)
	if n := r.AWS.Calls().Match("rds", "ModifyDBInstance", "").Count(); n > 0 {
		t.Fatalf("%d changes of a new password", n)
	}
	s.Secrets[secretName+"/password"] = newer
	settled(t, s)
	settled(t, s)
	if n := r.AWS.Calls().Match("rds", "ModifyDBInstance", "").Count(); n != 1 {
		t.Errorf("%d changes of the password", n)
	}
}

func TestStatesThatOnlyAPersonCanEnd(t *testing.T) {
	want := InstanceState{AllocatedStorage: aws.Int32(20), FinalSnapshot: "last"}
	for state, reason := range map[string]string{
		"stopped": status.ReasonRefusedByAWS, "storage-full": status.ReasonRefusedByAWS, "failed": status.ReasonRefusedByAWS,
		"incompatible-network": status.ReasonRefusedByAWS, "inaccessible-encryption-credentials": status.ReasonAccessDenied,
	} {
		stalls(t, unusable(want, InstanceState{DBInstanceStatus: state, Storage: 20}), reason)
	}
	raised := InstanceState{AllocatedStorage: aws.Int32(40)}
	for _, have := range []InstanceState{{DBInstanceStatus: "available"}, {DBInstanceStatus: "storage-full", Storage: 20}} {
		if err := unusable(raised, have); err != nil {
			t.Errorf("%s: %v", have.DBInstanceStatus, err)
		}
	}
}

// An instance that is stopped is deleted as any other.
func TestAStoppedInstanceIsReportedAndDeleted(t *testing.T) {
	s, r := subjectOf(t, instanceOf())
	settled(t, s)
	_, err := api(r).StopDBInstance(t.Context(), &rds.StopDBInstanceInput{DBInstanceIdentifier: aws.String(id)})
	kindtest.Must(t, err)
	_, err = s.Pass(t.Context(), nil)
	stalls(t, err, status.ReasonRefusedByAWS)
	s.Deleting = true
	settled(t, s)
	if exists(t, r) {
		t.Error("the instance was left behind")
	}
}

func TestInstancePublishedFields(t *testing.T) {
	s, _ := subjectOf(t, instanceOf(everything))
	settled(t, s)
	o := s.Object.(*v1alpha1.RDSInstance)
	st := o.Status
	if st.ARN != "arn:aws:rds:"+kindtest.Region+":"+kindtest.Account+":db:"+id || st.DBInstanceARN != st.ARN || st.ID != id ||
		st.DBInstanceStatus != "available" ||
		st.EngineVersion != "16.4" || st.AllocatedStorage != 20 || st.AvailabilityZone == "" ||
		!strings.Contains(st.MasterUserSecretARN, ":secret:rds!db-") {
		t.Errorf("%+v", st)
	}
	if e := st.Endpoint; e == nil || !strings.HasPrefix(e.Address, id+".") || e.Port != 5433 ||
		o.ReferableAttributes()["address"] != e.Address {
		t.Errorf("%+v", st.Endpoint)
	}
}

func TestAnInstanceWaitsForWhatItRefersTo(t *testing.T) {
	s, r := subjectOf(t, instanceOf(everything))
	for _, name := range []string{"KMSKey/data", "DBSubnetGroup/" + group, "SecurityGroup/databases"} {
		target := s.Targets[name]
		delete(s.Targets, name)
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.For != name || r.AWS.Calls().Match("rds", "*DBInstance*", "").Count() > 0 {
			t.Fatalf("%s: %v", name, err)
		}
		s.Targets[name] = target
	}
	settled(t, s)
	s.Deleting, s.Targets = true, nil
	settled(t, s)
}
