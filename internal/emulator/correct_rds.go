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
	"strings"
)

// askQuery calls an operation of a service of the query protocol, in the account and region of a client's request.
func (p *Proxy) askQuery(ctx context.Context, x *exchange, service, version string, form url.Values) (*answer, error) {
	form.Set("Version", version)
	asked := *x.request
	asked.service = service
	return p.ask(ctx, &exchange{request: &asked}, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
}

// askRDS calls an operation of RDS.
func (p *Proxy) askRDS(ctx context.Context, x *exchange, form url.Values) (*answer, error) {
	return p.askQuery(ctx, x, "rds", "2014-10-31", form)
}

// readRDS decodes the answer of RDS to a read.
func (p *Proxy) readRDS(ctx context.Context, x *exchange, form url.Values, into any) error {
	a, err := p.askRDS(ctx, x, form)
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
func refuseSubnetGroup(ctx context.Context, p *Proxy, x *exchange) *answer {
	name := x.form.Get("DBSubnetGroupName")
	found, err := p.askRDS(ctx, x, url.Values{"Action": {"DescribeDBSubnetGroups"}, "DBSubnetGroupName": {name}})
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
	described, err := p.askQuery(ctx, x, "ec2", ec2Version, ask)
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
func noteSubnetGroup(ctx context.Context, p *Proxy, x *exchange) *answer {
	again := maps.Clone(x.form)
	again.Set("Action", "CreateDBSubnetGroup")
	var group struct {
		ARN         string `xml:"DescribeDBSubnetGroupsResult>DBSubnetGroups>DBSubnetGroup>DBSubnetGroupArn"`
		Description string `xml:"DescribeDBSubnetGroupsResult>DBSubnetGroups>DBSubnetGroup>DBSubnetGroupDescription"`
	}
	var found struct {
		Tags []struct{ Key, Value string } `xml:"ListTagsForResourceResult>TagList>Tag"`
	}
	err := p.readRDS(ctx, x, url.Values{"Action": {"DescribeDBSubnetGroups"}, "DBSubnetGroupName": {x.form.Get("DBSubnetGroupName")}}, &group)
	if err == nil {
		err = p.readRDS(ctx, x, url.Values{"Action": {"ListTagsForResource"}, "ResourceName": {group.ARN}}, &found)
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
	x.again = again
	return nil
}

func restoreSubnetGroup(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	restored, err := p.askRDS(ctx, x, x.again)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return restored.withBody(bytes.ReplaceAll(restored.body, []byte("CreateDBSubnetGroup"), []byte(x.op)))
}

// keepUsedSubnetGroup: moto deletes a DB subnet group that DB instances use.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSubnetGroup.html
func keepUsedSubnetGroup(ctx context.Context, p *Proxy, x *exchange) *answer {
	var found struct {
		Instances []struct {
			ID    string `xml:"DBInstanceIdentifier"`
			Group string `xml:"DBSubnetGroup>DBSubnetGroupName"`
		} `xml:"DescribeDBInstancesResult>DBInstances>DBInstance"`
	}
	if err := p.readRDS(ctx, x, url.Values{"Action": {"DescribeDBInstances"}}, &found); err != nil {
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
