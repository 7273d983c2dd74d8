// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// rdsService holds what moto does not know of DB instances.
type rdsService struct {
	base
	databases     map[string]*database // by identity
	databaseDelay time.Duration        // how long DB instances are creating, modifying and deleting
	storageDelay  time.Duration        // how long they optimize their storage
}

func (s *rdsService) Facts() *Facts {
	return &Facts{
		Prefix:   "rds",
		Requests: RequestFacts{Keys: []string{"DBInstanceIdentifier", "DBSubnetGroupName"}, ShortName: afterColon},
		Errors: ErrorFacts{
			Missing: map[string]awsError{
				"":                       {http.StatusNotFound, "DBInstanceNotFound", "DBInstance %s not found."},
				"DescribeDBSubnetGroups": {http.StatusNotFound, "DBSubnetGroupNotFoundFault", "DB subnet group '%s' does not exist."},
			},
			Throttled: rateExceeded,
		},
		Writes: WriteFacts{TagReads: []tagRead{{op: "*", where: "TagList"}}},
		Names: map[string]nameRule{
			"CreateDBSubnetGroup": {"DBSubnetGroupName", 1, 255, regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._ -]*$`), "InvalidParameterValue"},
			"CreateDBInstance":    {"DBInstanceIdentifier", 1, 63, regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9])*$`), "InvalidParameterValue"},
		},
		Rights: RightFacts{
			Namings: map[string]naming{
				"rds db:*":       {members: []string{"DBInstanceIdentifier"}},
				"rds og:*":       {members: []string{"OptionGroupName"}},
				"rds pg:*":       {members: []string{"DBParameterGroupName"}},
				"rds secgrp:*":   {members: []string{"DBSecurityGroups.DBSecurityGroupName.#"}},
				"rds snapshot:*": {members: []string{"FinalDBSnapshotIdentifier", "DBSnapshotIdentifier"}},
				"rds subgrp:*":   {members: []string{"DBSubnetGroupName"}},
			},
			Dependents: slices.Concat([]dependent{
				{action: "rds:CreateDBInstance", needs: "rds:AddTagsToResource", with: withTags, at: []string{"rds db:*"}},
				{action: "rds:CreateDBSubnetGroup", needs: "rds:AddTagsToResource", with: withTags, at: []string{"rds subgrp:*"}},
				{action: "rds:ModifyDBInstance", needs: "rds:AddTagsToResource", never: "the request has no tags"},
				managed("rds:CreateDBInstance", "secretsmanager:CreateSecret"), managed("rds:CreateDBInstance", "secretsmanager:TagResource"),
				managed("rds:ModifyDBInstance", "secretsmanager:CreateSecret"), managed("rds:ModifyDBInstance", "secretsmanager:TagResource"),
				managed("rds:ModifyDBInstance", "secretsmanager:RotateSecret"),
				defaultsOf("OptionGroupName", "rds og:*"), defaultsOf("DBParameterGroupName", "rds pg:*"), defaultsOf("DBSubnetGroupName", "rds subgrp:*"),
				{action: "rds:CreateDBInstance", needs: "rds:CreateTenantDatabase", never: noTenants},
				{action: "rds:ModifyDBInstance", needs: "rds:CreateTenantDatabase", never: noTenants},
				{action: "rds:DeleteDBInstance", needs: "rds:DeleteTenantDatabase", never: noTenants},
				{action: "rds:DeleteDBInstance", needs: "rds:CreateDBSnapshot", with: "FinalDBSnapshotIdentifier", at: []string{"rds db:*", "rds snapshot:*"}},
				{action: "rds:DeleteDBInstance", needs: "rds:DeleteDBInstance", with: "FinalDBSnapshotIdentifier", at: []string{"rds snapshot:*"}, page: "seen in refusals"},
				{action: "rds:DeleteDBInstance", needs: "rds:AddTagsToResource", with: "FinalDBSnapshotIdentifier", at: []string{"rds snapshot:*"}},
				{action: "rds:CreateDBSnapshot", needs: "rds:AddTagsToResource", never: "the operator makes snapshots by deletions alone"},
				{action: "rds:CreateDBInstance", needs: "iam:PassRole", never: noRoles},
				{action: "rds:ModifyDBInstance", needs: "iam:PassRole", never: noRoles},
			},
				ofDatabase("rds:CreateDBInstance", "kms:CreateGrant"), ofDatabase("rds:CreateDBInstance", "kms:Decrypt"),
				ofDatabase("rds:CreateDBInstance", "kms:DescribeKey"), ofDatabase("rds:CreateDBInstance", "kms:GenerateDataKey"),
				ofDatabase("rds:ModifyDBInstance", "kms:CreateGrant"), ofDatabase("rds:ModifyDBInstance", "kms:Decrypt"),
				ofDatabase("rds:ModifyDBInstance", "kms:DescribeKey"), ofDatabase("rds:ModifyDBInstance", "kms:GenerateDataKey")),
		},
		Inventory: []inventoryKind{
			{"rds/instance", false, listXML("rds", "DescribeDBInstances", "2014-10-31", "DBInstanceIdentifier")},
			{"rds/subnet-group", false, listXML("rds", "DescribeDBSubnetGroups", "2014-10-31", "DBSubnetGroupName")},
		},
		Rewrites: []Rewrite{
			{Kind: "RDSInstance", Field: "dbName", What: "the name of a database of Oracle becomes upper case", ops: []string{"DescribeDBInstances"}, text: showNamesOfOracle},
			{Kind: "RDSInstance", Field: "engineVersion", What: "a version without its last number gets it", isRecorded: true, ops: []string{"DescribeDBInstances"},
				text: func(body string) string {
					// The emulator names the default parameter group after the version that was asked for, without its last number.
					body = strings.ReplaceAll(body, "<DBParameterGroupName>default.mysql8<", "<DBParameterGroupName>default.mysql8.0<")
					return shortVersion.ReplaceAllString(body, "<EngineVersion>8.0.39</EngineVersion>")
				}},
		},
	}
}

var shortVersion = regexp.MustCompile(`<EngineVersion>8\.0</EngineVersion>`)

const (
	noTenants = "only for multi-tenant Oracle, for which there is no field"
	noRoles   = "only for a monitoring or domain role, for which there is no field"
)

func (s *rdsService) Corrections() []Correction {
	return []Correction{
		{Name: "storage of new DB instances", Ops: []string{"CreateDBInstance"}, Before: s.checkNewStorage},
		{Name: "requests about DB instances that AWS refuses", Ops: []string{"ModifyDBInstance", "DeleteDBInstance"}, Before: s.refuseDatabaseRequest},
		{Name: "storage of DB instances", Ops: []string{"ModifyDBInstance"}, Before: s.checkStorage},
		{Name: "changes of DB instances take their time", Ops: []string{"ModifyDBInstance"}, Before: s.holdModification},
		{Name: "DB instances take their time", Ops: []string{"DescribeDBInstances"}, Before: s.prepareDatabase},
		{Name: "states and ports of DB instances", Ops: []string{"CreateDBInstance", "ModifyDBInstance", "DeleteDBInstance", "DescribeDBInstances"}, After: s.showDatabase},
		{Name: "DB subnet groups that AWS refuses", Ops: []string{"CreateDBSubnetGroup", "ModifyDBSubnetGroup"}, Before: s.refuseSubnetGroup},
		{Name: "changed DB subnet groups stay", Ops: []string{"ModifyDBSubnetGroup"}, Before: s.noteSubnetGroup, After: s.restoreSubnetGroup},
		{Name: "DB subnet groups in use are kept", Ops: []string{"DeleteDBSubnetGroup"}, Before: s.keepUsedSubnetGroup},
	}
}

func (s *rdsService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.databases, s.databaseDelay, s.storageDelay = map[string]*database{}, 0, 0
}

// askRDS calls an operation of RDS.
func (s *rdsService) askRDS(ctx context.Context, x *exchange, form url.Values) (*answer, error) {
	return s.askQuery(ctx, x, "rds", "2014-10-31", form)
}

// readRDS decodes the answer of RDS to a read.
func (s *rdsService) readRDS(ctx context.Context, x *exchange, form url.Values, into any) error {
	a, err := s.askRDS(ctx, x, form)
	if err != nil {
		return err
	}
	if !a.ok() {
		return fmt.Errorf("%s: status %d: %.300s", form.Get("Action"), a.status, a.body)
	}
	return xml.Unmarshal(a.body, into)
}

// refuseSubnetGroup: moto replaces an existing DB subnet group, fails for one that does not exist, and accepts subnets
// that do not exist or are in one Availability Zone.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSubnetGroup.html
func (s *rdsService) refuseSubnetGroup(ctx context.Context, x *exchange) *answer {
	name := x.form.Get("DBSubnetGroupName")
	found, err := s.askRDS(ctx, x, url.Values{"Action": {"DescribeDBSubnetGroups"}, "DBSubnetGroupName": {name}})
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	switch {
	case found.ok() && x.op == "CreateDBSubnetGroup":
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "DBSubnetGroupAlreadyExists", "The DB subnet group '" + name + "' already exists."})
	case !found.ok() && x.op == "ModifyDBSubnetGroup":
		return errorAnswer(x.request, awsError{http.StatusNotFound, "DBSubnetGroupNotFoundFault", "DB subnet group '" + name + "' does not exist."})
	}
	ask := url.Values{"Action": {"DescribeSubnets"}}
	n := 0
	for key, values := range x.form {
		if strings.HasPrefix(key, "SubnetIds.") {
			n++
			ask.Set(fmt.Sprintf("SubnetId.%d", n), values[0])
		}
	}
	var subnets struct {
		Zones []string `xml:"subnetSet>item>availabilityZone"`
	}
	described, err := s.askQuery(ctx, x, "ec2", ec2Version, ask)
	if err != nil || !described.ok() || xml.Unmarshal(described.body, &subnets) != nil {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidSubnet", "Some input subnets are invalid."})
	}
	zones := map[string]bool{}
	for _, zone := range subnets.Zones {
		zones[zone] = true
	}
	if len(zones) < 2 {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "DBSubnetGroupDoesNotCoverEnoughAZs",
			"The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. Current AZ coverage: " + strings.Join(subnets.Zones, ", ") + ". Add subnets to cover at least 2 AZs."})
	}
	return nil
}

// noteSubnetGroup and restoreSubnetGroup: moto loses a DB subnet group that it changes, and replaces one that is created
// again. So the group is created again, with the tags and the description that it had.
func (s *rdsService) noteSubnetGroup(ctx context.Context, x *exchange) *answer {
	again := maps.Clone(x.form)
	again.Set("Action", "CreateDBSubnetGroup")
	var group struct {
		ARN         string `xml:"DescribeDBSubnetGroupsResult>DBSubnetGroups>DBSubnetGroup>DBSubnetGroupArn"`
		Description string `xml:"DescribeDBSubnetGroupsResult>DBSubnetGroups>DBSubnetGroup>DBSubnetGroupDescription"`
	}
	var found struct {
		Tags []struct{ Key, Value string } `xml:"ListTagsForResourceResult>TagList>Tag"`
	}
	err := s.readRDS(ctx, x, url.Values{"Action": {"DescribeDBSubnetGroups"}, "DBSubnetGroupName": {x.form.Get("DBSubnetGroupName")}}, &group)
	if err == nil {
		err = s.readRDS(ctx, x, url.Values{"Action": {"ListTagsForResource"}, "ResourceName": {group.ARN}}, &found)
	}
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	for i, tag := range found.Tags {
		again.Set(fmt.Sprintf("Tags.Tag.%d.Key", i+1), tag.Key)
		again.Set(fmt.Sprintf("Tags.Tag.%d.Value", i+1), tag.Value)
	}
	if again.Get("DBSubnetGroupDescription") == "" {
		again.Set("DBSubnetGroupDescription", group.Description)
	}
	x.before = again
	return nil
}

func (s *rdsService) restoreSubnetGroup(ctx context.Context, x *exchange, a *answer) *answer {
	again, noted := x.before.(url.Values)
	if !a.ok() || !noted {
		return a
	}
	restored, err := s.askRDS(ctx, x, again)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return restored.withBody(bytes.ReplaceAll(restored.body, []byte("CreateDBSubnetGroup"), []byte(x.op)))
}

// keepUsedSubnetGroup: moto deletes a DB subnet group that DB instances use.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSubnetGroup.html
func (s *rdsService) keepUsedSubnetGroup(ctx context.Context, x *exchange) *answer {
	var found struct {
		Instances []struct {
			ID    string `xml:"DBInstanceIdentifier"`
			Group string `xml:"DBSubnetGroup>DBSubnetGroupName"`
		} `xml:"DescribeDBInstancesResult>DBInstances>DBInstance"`
	}
	if err := s.readRDS(ctx, x, url.Values{"Action": {"DescribeDBInstances"}}, &found); err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	name := x.form.Get("DBSubnetGroupName")
	for _, d := range found.Instances {
		if strings.EqualFold(d.Group, name) {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidDBSubnetGroupStateFault", fmt.Sprintf(
				"Cannot delete the subnet group '%s' because at least one database instance: %s is still using this subnet group.", name, d.ID)})
		}
	}
	return nil
}

// managed is a right to the secret with the password that RDS manages.
func managed(action, needs string) dependent {
	return dependent{action: action, needs: needs, with: "ManageMasterUserPassword=true", on: func(q *asker) []demand {
		return []demand{q.need(needs, "arn:"+q.partition()+":secretsmanager:"+q.x.region+":"+q.account()+":secret:rds!db-new", nil)}
	}}
}

// defaultsOf are the groups that a DB instance gets where the request names none. RDS evaluates them, too.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/security_iam_id-based-policy-examples.html
func defaultsOf(field, at string) dependent {
	return dependent{action: "rds:CreateDBInstance", needs: "rds:CreateDBInstance", with: "!" + field, at: []string{at}, page: "the guide allows the default groups beside the instance"}
}

// ofDatabase is one action of a key of RDS, which the reference lists each.
func ofDatabase(action, needs string) []dependent {
	return []dependent{{action: action, needs: needs, with: "KmsKeyId", on: func(q *asker) []demand {
		return throughKMS(q, "rds", q.x.form.Get("KmsKeyId"), nil, needs)
	}}, encrypted(action, "MasterUserSecretKmsKeyId", "secretsmanager", needs)}
}

var (
	dbInstance = regexp.MustCompile(`(?s)<DBInstance>.*?</DBInstance>`)
	dbName     = regexp.MustCompile(`<DBName>[^<]*</DBName>`)
)

// showNamesOfOracle shows the names of databases of Oracle as RDS stores them.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1530
func showNamesOfOracle(body string) string {
	return dbInstance.ReplaceAllStringFunc(body, func(instance string) string {
		if !strings.Contains(instance, "<Engine>oracle-") {
			return instance
		}
		return dbName.ReplaceAllStringFunc(instance, func(element string) string {
			return "<DBName>" + strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(element, "<DBName>"), "</DBName>")) + "</DBName>"
		})
	})
}
