// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// databases returns a client of RDS and three subnets. The first two are in one Availability Zone.
func databases(t *testing.T, p *emulator.Proxy) (*rds.Client, []string) {
	t.Helper()
	network := ec2.NewFromConfig(config(p.URL()))
	vpc := newVPC(t, network)
	var ids []string
	for block, zone := range map[string]string{"10.0.1.0/24": "a", "10.0.2.0/24": "a", "10.0.3.0/24": "b"} {
		out, err := network.CreateSubnet(t.Context(),
			&ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: aws.String(block), AvailabilityZone: aws.String(region + zone)})
		must.Succeed(t, err)
		if zone == "b" {
			ids = append(ids, *out.Subnet.SubnetId)
		} else {
			ids = append([]string{*out.Subnet.SubnetId}, ids...)
		}
	}
	return rds.NewFromConfig(config(p.URL())), ids
}

// "Subnets in the DB subnet group should be in at least two AZs unless there is only one AZ in the AWS Region", and the
// errors: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSubnetGroup.html
func TestRDS_SubnetGroupsThatAWSRefuses(t *testing.T) {
	c, subnets := databases(t, proxy(t))
	create := func(ids ...string) string {
		_, err := c.CreateDBSubnetGroup(t.Context(),
			&rds.CreateDBSubnetGroupInput{DBSubnetGroupName: aws.String("db"), DBSubnetGroupDescription: aws.String("d"), SubnetIds: ids})
		return code(err)
	}
	modify := func(name string, ids ...string) string {
		_, err := c.ModifyDBSubnetGroup(t.Context(), &rds.ModifyDBSubnetGroupInput{DBSubnetGroupName: &name, SubnetIds: ids})
		return code(err)
	}
	for _, step := range []struct{ what, got, want string }{
		{"one zone", create(subnets[0], subnets[1]), "DBSubnetGroupDoesNotCoverEnoughAZs"},
		{"no such subnet", create("subnet-0123456789abcdef0"), "InvalidSubnet"},
		{"two zones", create(subnets[0], subnets[2]), ""},
		{"again", create(subnets[0], subnets[2]), "DBSubnetGroupAlreadyExists"},
		{"a change to one zone", modify("db", subnets[0]), "DBSubnetGroupDoesNotCoverEnoughAZs"},
		{"a change of none", modify("none", subnets[0], subnets[2]), "DBSubnetGroupNotFoundFault"},
	} {
		if step.got != step.want {
			t.Errorf("%s: %q, want %q", step.what, step.got, step.want)
		}
	}
}

// "Modifies an existing DB subnet group":
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBSubnetGroup.html
func TestRDS_ChangedSubnetGroupKeepsTagsAndDescription(t *testing.T) {
	c, subnets := databases(t, proxy(t))
	out, err := c.CreateDBSubnetGroup(t.Context(),
		&rds.CreateDBSubnetGroupInput{DBSubnetGroupName: aws.String("db"), DBSubnetGroupDescription: aws.String("of the shop"),
			SubnetIds: []string{subnets[0], subnets[2]}, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}})
	must.Succeed(t, err)
	changed, err := c.ModifyDBSubnetGroup(t.Context(), &rds.ModifyDBSubnetGroupInput{DBSubnetGroupName: aws.String("db"), SubnetIds: subnets})
	must.Succeed(t, err)
	if n := len(changed.DBSubnetGroup.Subnets); n != 3 {
		t.Errorf("the answer has %d subnets", n)
	}
	found, err := c.DescribeDBSubnetGroups(t.Context(), &rds.DescribeDBSubnetGroupsInput{DBSubnetGroupName: aws.String("db")})
	must.Succeed(t, err)
	if g := found.DBSubnetGroups[0]; len(g.Subnets) != 3 || *g.DBSubnetGroupDescription != "of the shop" {
		t.Errorf("%+v", g)
	}
	tags, err := c.ListTagsForResource(t.Context(), &rds.ListTagsForResourceInput{ResourceName: out.DBSubnetGroup.DBSubnetGroupArn})
	must.Succeed(t, err)
	if len(tags.TagList) != 1 || *tags.TagList[0].Value != "a" {
		t.Errorf("%+v", tags.TagList)
	}
}

// "The specified DB subnet group must not be associated with any DB instances":
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSubnetGroup.html
func TestRDS_SubnetGroupInUseIsKept(t *testing.T) {
	c, subnets := databases(t, proxy(t))
	_, err := c.CreateDBSubnetGroup(t.Context(),
		&rds.CreateDBSubnetGroupInput{DBSubnetGroupName: aws.String("db"), DBSubnetGroupDescription: aws.String("d"), SubnetIds: subnets})
	must.Succeed(t, err)
	_, err = c.CreateDBInstance(t.Context(),
		&rds.CreateDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), DBInstanceClass: aws.String("db.t4g.micro"),
			Engine:           aws.String("postgres"),
			AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("root0"), MasterUserPassword: aws.String("not-a-secret"),
			DBSubnetGroupName: aws.String("db")})
	must.Succeed(t, err)
	remove := func() error {
		_, err := c.DeleteDBSubnetGroup(t.Context(), &rds.DeleteDBSubnetGroupInput{DBSubnetGroupName: aws.String("db")})
		return err
	}
	if err := remove(); code(err) != "InvalidDBSubnetGroupStateFault" {
		t.Errorf("in use: %v", err)
	}
	_, err = c.DeleteDBInstance(t.Context(),
		&rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), SkipFinalSnapshot: aws.Bool(true)})
	must.Succeed(t, err)
	must.Succeed(t, remove())
}

// databaseOf makes a DB instance.
func databaseOf(t *testing.T, c *rds.Client, id string) {
	t.Helper()
	_, err := c.CreateDBInstance(t.Context(),
		&rds.CreateDBInstanceInput{DBInstanceIdentifier: &id, DBInstanceClass: aws.String("db.t4g.micro"), Engine: aws.String("postgres"),
			EngineVersion: aws.String("16.4"), AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("root0"),
			MasterUserPassword: aws.String("not-a-secret")})
	must.Succeed(t, err)
}

// "If you don't specify SkipFinalSnapshot, FinalDBSnapshotIdentifier is required":
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html
func TestRDS_DeletionNeedsAFinalSnapshotOrNone(t *testing.T) {
	c := rds.NewFromConfig(config(proxy(t).URL()))
	databaseOf(t, c, "orders")
	remove := func(skip bool, snapshot *string) string {
		_, err := c.DeleteDBInstance(t.Context(),
			&rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), SkipFinalSnapshot: &skip, FinalDBSnapshotIdentifier: snapshot})
		return code(err)
	}
	if got := remove(false, nil); got != "InvalidParameterCombination" {
		t.Errorf("neither: %q", got)
	}
	if got := remove(true, aws.String("last")); got != "InvalidParameterCombination" {
		t.Errorf("both: %q", got)
	}
	if got := remove(false, aws.String("last")); got != "" {
		t.Errorf("a snapshot: %q", got)
	}
}

// "DBPortNumber: The port number on which the database accepts connections", and the rules of the password:
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html
func TestRDS_PortAndPasswordOfAnInstanceChange(t *testing.T) {
	c := rds.NewFromConfig(config(proxy(t).URL()))
	databaseOf(t, c, "orders")
	databaseOf(t, c, "payments")
	_, err := c.ModifyDBInstance(t.Context(),
		&rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), DBPortNumber: aws.Int32(6543)})
	must.Succeed(t, err)
	for id, want := range map[string]int32{"orders": 6543, "payments": 5432} {
		out, err := c.DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{DBInstanceIdentifier: &id})
		must.Succeed(t, err)
		if got := *out.DBInstances[0].Endpoint.Port; got != want {
			t.Errorf("%s: port %d, want %d", id, got, want)
		}
	}
	manage := func(yes bool, password *string) string {
		_, err := c.ModifyDBInstance(t.Context(),
			&rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), ManageMasterUserPassword: &yes, MasterUserPassword: password})
		return code(err)
	}
	for _, step := range []struct{ what, got, want string }{
		{"managed, with a password", manage(true, aws.String("not-a-secret")), "InvalidParameterCombination"},
		{"managed", manage(true, nil), ""},
		{"not managed, without a password", manage(false, nil), "InvalidParameterCombination"},
		{"not managed", manage(false, aws.String("not-a-secret")), ""},
	} {
		if step.got != step.want {
			t.Errorf("%s: %q, want %q", step.what, step.got, step.want)
		}
	}
}

// The states of an instance, and the changes that wait:
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_PendingModifiedValues.html
func TestRDS_InstancesTakeTheirTime(t *testing.T) {
	p := proxy(t)
	c, now := rds.NewFromConfig(config(p.URL())), time.Now()
	p.SetClock(func() time.Time { return now })
	p.RDS.SetDatabasesBusy(10 * time.Minute)
	expect := func(want, class, pending string) {
		t.Helper()
		out, err := c.DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{DBInstanceIdentifier: aws.String("orders")})
		must.Succeed(t, err)
		d := out.DBInstances[0]
		if d.PendingModifiedValues == nil {
			d.PendingModifiedValues = &types.PendingModifiedValues{}
		}
		if *d.DBInstanceStatus != want || *d.DBInstanceClass != class || aws.ToString(d.PendingModifiedValues.DBInstanceClass) != pending ||
			(want == "creating") != (d.Endpoint == nil) {
			t.Errorf("%s, %s, pending %+v, endpoint %v", *d.DBInstanceStatus, *d.DBInstanceClass, d.PendingModifiedValues, d.Endpoint)
		}
	}
	resize := func() string {
		_, err := c.ModifyDBInstance(t.Context(),
			&rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), DBInstanceClass: aws.String("db.t4g.small"),
				ApplyImmediately: aws.Bool(true)})
		return code(err)
	}
	const small, micro = "db.t4g.small", "db.t4g.micro"
	databaseOf(t, c, "orders")
	expect("creating", micro, "")
	if got := resize(); got != "InvalidDBInstanceState" {
		t.Errorf("while creating: %q", got)
	}
	now = now.Add(10 * time.Minute)
	expect("available", micro, "")
	if got := resize(); got != "" {
		t.Error(got)
	}
	expect("available", micro, small)
	now = now.Add(6 * time.Minute)
	expect("modifying", micro, small)
	now = now.Add(6 * time.Minute)
	expect("available", small, "")
	_, err := c.DeleteDBInstance(t.Context(),
		&rds.DeleteDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), SkipFinalSnapshot: aws.Bool(true)})
	must.Succeed(t, err)
	expect("deleting", small, "")
	now = now.Add(10 * time.Minute)
	if _, err := c.DescribeDBInstances(t.Context(),
		&rds.DescribeDBInstancesInput{DBInstanceIdentifier: aws.String("orders")}); code(err) != "DBInstanceNotFound" {
		t.Errorf("after the deletion: %v", err)
	}
}

// "If you specify io1, io2, or gp3 you must also include a value for the Iops parameter", "Values that are not at least 10% greater
// than the existing value are rounded up": https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html
func TestRDS_StorageIsChangedAsRDSDoes(t *testing.T) {
	p := proxy(t)
	c := rds.NewFromConfig(config(p.URL()))
	databaseOf(t, c, "orders")
	modify := func(storageType string, size, iops int32) string {
		in := &rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String("orders"), ApplyImmediately: aws.Bool(true), StorageType: &storageType}
		if size > 0 {
			in.AllocatedStorage = &size
		}
		if iops > 0 {
			in.Iops = &iops
		}
		_, err := c.ModifyDBInstance(t.Context(), in)
		return code(err)
	}
	const refused = "InvalidParameterCombination"
	for _, step := range []struct{ what, got, want string }{
		{"operations of small gp3", modify("gp3", 100, 5000), refused},
		{"small gp3", modify("gp3", 100, 0), ""},
		{"less", modify("gp3", 50, 0), refused},
		{"large gp3 without operations", modify("gp3", 500, 0), refused},
		{"large gp3", modify("gp3", 500, 12000), ""},
		{"operations alone", modify("gp3", 0, 13000), refused},
		{"a small raise", modify("gp3", 510, 12000), ""},
	} {
		if step.got != step.want {
			t.Errorf("%s: %q, want %q", step.what, step.got, step.want)
		}
	}
	out, err := c.DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{DBInstanceIdentifier: aws.String("orders")})
	must.Succeed(t, err)
	if n := *out.DBInstances[0].AllocatedStorage; n != 550 {
		t.Errorf("%d GiB after a raise by 10", n)
	}
	p.RDS.SetStorageOptimized(time.Hour)
	if first, second := modify("gp3", 700, 12000), modify("gp3", 900, 12000); first != "" || second != refused {
		t.Errorf("%q, and during the optimization %q", first, second)
	}
}
