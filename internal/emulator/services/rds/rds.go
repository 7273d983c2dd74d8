// SPDX-License-Identifier: Apache-2.0

// Package rds holds the emulator's facts and corrections for Amazon RDS.
package rds

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

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of DB instances that moto lacks.
type Service struct {
	proxy.Base
	databases     map[string]*database // by identity
	databaseDelay time.Duration        // how long DB instances are creating, modifying and deleting
	storageDelay  time.Duration        // how long they optimize their storage
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "rds",
		Requests: proxy.RequestFacts{Keys: []string{"DBInstanceIdentifier", "DBSubnetGroupName"}, ShortName: proxy.AfterColon},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"": {Status: http.StatusNotFound, Code: "DBInstanceNotFound", Message: "DBInstance %s not found."},
				"DescribeDBSubnetGroups": {Status: http.StatusNotFound, Code: "DBSubnetGroupNotFoundFault",
					Message: "DB subnet group '%s' does not exist."},
			},
			Throttled: proxy.RateExceeded,
		},
		Writes: proxy.WriteFacts{TagReads: []proxy.TagRead{{Op: "*", Where: "TagList"}}},
		Names: map[string]proxy.NameRule{
			"CreateDBSubnetGroup": {Member: "DBSubnetGroupName", Min: 1, Max: 255, Pattern: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._ -]*$`),
				Code: "InvalidParameterValue"},
			"CreateDBInstance": {Member: "DBInstanceIdentifier", Min: 1, Max: 63, Pattern: regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9])*$`),
				Code: "InvalidParameterValue"},
		},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"rds db:*":       {Members: []string{"DBInstanceIdentifier"}},
				"rds og:*":       {Members: []string{"OptionGroupName"}},
				"rds pg:*":       {Members: []string{"DBParameterGroupName"}},
				"rds secgrp:*":   {Members: []string{"DBSecurityGroups.DBSecurityGroupName.#"}},
				"rds snapshot:*": {Members: []string{"FinalDBSnapshotIdentifier", "DBSnapshotIdentifier"}},
				"rds subgrp:*":   {Members: []string{"DBSubnetGroupName"}},
			},
			Dependents: slices.Concat([]proxy.Dependent{
				{Action: "rds:CreateDBInstance", Needs: "rds:AddTagsToResource", With: proxy.WithTags, At: []string{"rds db:*"}},
				{Action: "rds:CreateDBSubnetGroup", Needs: "rds:AddTagsToResource", With: proxy.WithTags, At: []string{"rds subgrp:*"}},
				{Action: "rds:ModifyDBInstance", Needs: "rds:AddTagsToResource", Never: "the request has no tags"},
				managed("rds:CreateDBInstance", "secretsmanager:CreateSecret"), managed("rds:CreateDBInstance", "secretsmanager:TagResource"),
				managed("rds:ModifyDBInstance", "secretsmanager:CreateSecret"), managed("rds:ModifyDBInstance", "secretsmanager:TagResource"),
				managed("rds:ModifyDBInstance", "secretsmanager:RotateSecret"),
				defaultsOf("OptionGroupName", "rds og:*"), defaultsOf("DBParameterGroupName", "rds pg:*"), defaultsOf("DBSubnetGroupName",
					"rds subgrp:*"),
				{Action: "rds:CreateDBInstance", Needs: "rds:CreateTenantDatabase", Never: noTenants},
				{Action: "rds:ModifyDBInstance", Needs: "rds:CreateTenantDatabase", Never: noTenants},
				{Action: "rds:DeleteDBInstance", Needs: "rds:DeleteTenantDatabase", Never: noTenants},
				{Action: "rds:DeleteDBInstance", Needs: "rds:CreateDBSnapshot", With: "FinalDBSnapshotIdentifier",
					At: []string{"rds db:*", "rds snapshot:*"}},
				{Action: "rds:DeleteDBInstance", Needs: "rds:DeleteDBInstance", With: "FinalDBSnapshotIdentifier", At: []string{"rds snapshot:*"},
					Page: "seen in refusals"},
				{Action: "rds:DeleteDBInstance", Needs: "rds:AddTagsToResource", With: "FinalDBSnapshotIdentifier", At: []string{"rds snapshot:*"}},
				{Action: "rds:CreateDBSnapshot", Needs: "rds:AddTagsToResource", Never: "the operator makes snapshots by deletions alone"},
				{Action: "rds:CreateDBInstance", Needs: "iam:PassRole", Never: noRoles},
				{Action: "rds:ModifyDBInstance", Needs: "iam:PassRole", Never: noRoles},
			},
				ofDatabase("rds:CreateDBInstance", "kms:CreateGrant"), ofDatabase("rds:CreateDBInstance", "kms:Decrypt"),
				ofDatabase("rds:CreateDBInstance", "kms:DescribeKey"), ofDatabase("rds:CreateDBInstance", "kms:GenerateDataKey"),
				ofDatabase("rds:ModifyDBInstance", "kms:CreateGrant"), ofDatabase("rds:ModifyDBInstance", "kms:Decrypt"),
				ofDatabase("rds:ModifyDBInstance", "kms:DescribeKey"), ofDatabase("rds:ModifyDBInstance", "kms:GenerateDataKey")),
		},
		Inventory: []proxy.InventoryKind{
			{Name: "rds/instance", Global: false, List: proxy.ListXML("rds", "DescribeDBInstances", "2014-10-31", "DBInstanceIdentifier")},
			{Name: "rds/subnet-group", Global: false, List: proxy.ListXML("rds", "DescribeDBSubnetGroups", "2014-10-31", "DBSubnetGroupName")},
		},
		Rewrites: []proxy.Rewrite{
			{Kind: "RDSInstance", Field: "dbName", What: "the name of a database of Oracle becomes upper case",
				Ops: []string{"DescribeDBInstances"}, Text: showNamesOfOracle},
			{Kind: "RDSInstance", Field: "engineVersion", What: "a version without its last number gets it", IsRecorded: true,
				Ops: []string{"DescribeDBInstances"},
				Text: func(body string) string {
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

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "storage of new DB instances", Ops: []string{"CreateDBInstance"}, Before: s.checkNewStorage},
		{Name: "requests about DB instances that AWS refuses",
			Ops: []string{"ModifyDBInstance", "DeleteDBInstance"}, Before: s.refuseDatabaseRequest},
		{Name: "storage of DB instances", Ops: []string{"ModifyDBInstance"}, Before: s.checkStorage},
		{Name: "changes of DB instances take their time", Ops: []string{"ModifyDBInstance"}, Before: s.holdModification},
		{Name: "DB instances take their time", Ops: []string{"DescribeDBInstances"}, Before: s.prepareDatabase},
		{Name: "states and ports of DB instances",
			Ops: []string{"CreateDBInstance", "ModifyDBInstance", "DeleteDBInstance", "DescribeDBInstances"}, After: s.showDatabase},
		{Name: "DB subnet groups that AWS refuses", Ops: []string{"CreateDBSubnetGroup", "ModifyDBSubnetGroup"}, Before: s.refuseSubnetGroup},
		{Name: "changed DB subnet groups stay", Ops: []string{"ModifyDBSubnetGroup"}, Before: s.noteSubnetGroup, After: s.restoreSubnetGroup},
		{Name: "DB subnet groups in use are kept", Ops: []string{"DeleteDBSubnetGroup"}, Before: s.keepUsedSubnetGroup},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Locked(func() { s.databases, s.databaseDelay, s.storageDelay = map[string]*database{}, 0, 0 })
}

// askRDS calls an operation of RDS.
func (s *Service) askRDS(ctx context.Context, x *proxy.Exchange, form url.Values) (*proxy.Answer, error) {
	return s.AskQuery(ctx, x, "rds", "2014-10-31", form)
}

// readRDS decodes the answer of RDS to a read.
func (s *Service) readRDS(ctx context.Context, x *proxy.Exchange, form url.Values, into any) error {
	a, err := s.askRDS(ctx, x, form)
	if err != nil {
		return err
	}
	if !a.OK() {
		return fmt.Errorf("%s: status %d: %.300s", form.Get("Action"), a.Status, a.Body)
	}
	return xml.Unmarshal(a.Body, into)
}

// refuseSubnetGroup: moto replaces an existing DB subnet group, fails for one that does not exist, and accepts subnets
// that do not exist or are in one Availability Zone.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSubnetGroup.html
func (s *Service) refuseSubnetGroup(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	name := x.Form.Get("DBSubnetGroupName")
	found, err := s.askRDS(ctx, x, url.Values{"Action": {"DescribeDBSubnetGroups"}, "DBSubnetGroupName": {name}})
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	switch {
	case found.OK() && x.Op == "CreateDBSubnetGroup":
		return x.Refuse(http.StatusBadRequest, "DBSubnetGroupAlreadyExists", "The DB subnet group '"+name+"' already exists.")
	case !found.OK() && x.Op == "ModifyDBSubnetGroup":
		return x.Refuse(http.StatusNotFound, "DBSubnetGroupNotFoundFault", "DB subnet group '"+name+"' does not exist.")
	}
	ask := url.Values{"Action": {"DescribeSubnets"}}
	n := 0
	for key, values := range x.Form {
		if strings.HasPrefix(key, "SubnetIds.") {
			n++
			ask.Set(fmt.Sprintf("SubnetId.%d", n), values[0])
		}
	}
	var subnets struct {
		Zones []string `xml:"subnetSet>item>availabilityZone"`
	}
	described, err := s.AskQuery(ctx, x, "ec2", "2016-11-15", ask)
	if err != nil || !described.OK() || xml.Unmarshal(described.Body, &subnets) != nil {
		return x.Refuse(http.StatusBadRequest, "InvalidSubnet", "Some input subnets are invalid.")
	}
	zones := map[string]bool{}
	for _, zone := range subnets.Zones {
		zones[zone] = true
	}
	if len(zones) < 2 {
		return x.Refuse(http.StatusBadRequest, "DBSubnetGroupDoesNotCoverEnoughAZs",
			"The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. Current AZ coverage: "+strings.Join(subnets.Zones,
				", ")+". Add subnets to cover at least 2 AZs.")
	}
	return nil
}

// noteSubnetGroup and restoreSubnetGroup: moto loses a DB subnet group that it changes, and replaces one that is created
// again. So the group is created again, with the tags and the description that it had.
func (s *Service) noteSubnetGroup(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	again := maps.Clone(x.Form)
	again.Set("Action", "CreateDBSubnetGroup")
	var group struct {
		ARN         string `xml:"DescribeDBSubnetGroupsResult>DBSubnetGroups>DBSubnetGroup>DBSubnetGroupArn"`
		Description string `xml:"DescribeDBSubnetGroupsResult>DBSubnetGroups>DBSubnetGroup>DBSubnetGroupDescription"`
	}
	var found struct {
		Tags []struct{ Key, Value string } `xml:"ListTagsForResourceResult>TagList>Tag"`
	}
	err := s.readRDS(ctx, x, url.Values{"Action": {"DescribeDBSubnetGroups"}, "DBSubnetGroupName": {x.Form.Get("DBSubnetGroupName")}}, &group)
	if err == nil {
		err = s.readRDS(ctx, x, url.Values{"Action": {"ListTagsForResource"}, "ResourceName": {group.ARN}}, &found)
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	for i, tag := range found.Tags {
		again.Set(fmt.Sprintf("Tags.Tag.%d.Key", i+1), tag.Key)
		again.Set(fmt.Sprintf("Tags.Tag.%d.Value", i+1), tag.Value)
	}
	if again.Get("DBSubnetGroupDescription") == "" {
		again.Set("DBSubnetGroupDescription", group.Description)
	}
	x.Before = again
	return nil
}

func (s *Service) restoreSubnetGroup(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	again, noted := x.Before.(url.Values)
	if !a.OK() || !noted {
		return a
	}
	restored, err := s.askRDS(ctx, x, again)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return restored.WithBody(bytes.ReplaceAll(restored.Body, []byte("CreateDBSubnetGroup"), []byte(x.Op)))
}

// keepUsedSubnetGroup: moto deletes a DB subnet group that DB instances use.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSubnetGroup.html
func (s *Service) keepUsedSubnetGroup(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	var found struct {
		Instances []struct {
			ID    string `xml:"DBInstanceIdentifier"`
			Group string `xml:"DBSubnetGroup>DBSubnetGroupName"`
		} `xml:"DescribeDBInstancesResult>DBInstances>DBInstance"`
	}
	if err := s.readRDS(ctx, x, url.Values{"Action": {"DescribeDBInstances"}}, &found); err != nil {
		return proxy.ProxyError(x, err)
	}
	name := x.Form.Get("DBSubnetGroupName")
	for _, d := range found.Instances {
		if strings.EqualFold(d.Group, name) {
			return x.Refuse(http.StatusBadRequest, "InvalidDBSubnetGroupStateFault", fmt.Sprintf(
				"Cannot delete the subnet group '%s' because at least one database instance: %s is still using this subnet group.", name, d.ID))
		}
	}
	return nil
}

// managed is a right to the secret with the password that RDS manages.
func managed(action, needs string) proxy.Dependent {
	return proxy.Dependent{Action: action, Needs: needs, With: "ManageMasterUserPassword=true", On: func(q *proxy.Asker) []policy.Demand {
		return []policy.Demand{q.Need(needs, "arn:"+q.Partition()+":secretsmanager:"+q.X.Region+":"+q.Account()+":secret:rds!db-new", nil)}
	}}
}

// defaultsOf are the groups that a DB instance gets where the request names none. RDS evaluates them, too.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/security_iam_id-based-policy-examples.html
func defaultsOf(field, at string) proxy.Dependent {
	return proxy.Dependent{Action: "rds:CreateDBInstance", Needs: "rds:CreateDBInstance", With: "!" + field, At: []string{at},
		Page: "the guide allows the default groups beside the instance"}
}

// ofDatabase is one action of a key of RDS, which the reference lists each.
func ofDatabase(action, needs string) []proxy.Dependent {
	return []proxy.Dependent{{Action: action, Needs: needs, With: "KmsKeyId", On: func(q *proxy.Asker) []policy.Demand {
		return kms.Through(q, "rds", q.X.Form.Get("KmsKeyId"), nil, needs)
	}}, kms.Encrypted(action, "MasterUserSecretKmsKeyId", "secretsmanager", needs)}
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
