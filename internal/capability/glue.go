// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the catalog: of its kinds, step and access.
const (
	kindGlueDatabase = "GlueDatabase"
	kindGlueTable    = "GlueTable"
	kindGlueCrawler  = "GlueCrawler"
	StepGlue         = "Glue"
	ofGlue           = "glue"
)

// gluePart is spec.dataServices.glue.
func gluePart() part {
	const refusal = "is declared in spec.dataServices.glue"
	return part{
		steps: []Step{{3, StepGlue, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady}},
		kinds: []kindFacts{
			{kind: kindGlueDatabase, step: StepGlue, removed: removal{stage: removesData + 60, steps: []string{StepGlue}}, grants: true, kept: true, unlocks: ofGlue, refusal: refusal},
			{kind: kindGlueTable, step: StepGlue, removed: removal{stage: removesData + 50}, grants: true, refusal: refusal},
			{kind: kindRole, isPartial: true, stepOf: func(_ parts, c *nexusv1.NexusAICapability, name string) string {
				if name == NamesOf(c).GlueRole() {
					return StepGlue
				}
				return ""
			}},
			{kind: kindGlueCrawler, step: StepGlue, removed: removal{stage: removesRoleUsers}, grants: true, isBilled: true, refusal: refusal},
		},
		checks:  []turn[checking]{at(70, checkGlue), at(97, checkCatalogBucket)},
		compile: []func(*compiler){addCatalog, addCrawler},
		rights:  []turn[granting]{at(30, catalogStatements)},
		values:  catalogValues,
		entries: entries{
			place: 30, field: ofGlue, brings: ofBuckets + "/" + callData,
			names: func(s *nexusv1.NexusAICapabilitySpec) []string {
				if glueEnabled(s) {
					return []string{ofGlue}
				}
				return nil
			},
			keep: func(a accessSet, _ *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
				if !a.some(ofGlue) {
					data.Glue = nil
				}
			},
		},
	}
}

// catalogValues tell the application the names of the database and of the tables.
func catalogValues(k *compiler) (out []value) {
	if !glueEnabled(k.spec) {
		return nil
	}
	out = append(out, value{"glue/database", "NEXUS_GLUE_DATABASE", k.names.GlueDatabase()})
	for _, t := range glueTables {
		out = append(out, value{"glue/" + t + "-table", "NEXUS_GLUE_TABLE_" + environmentVariable(t), k.names.Glue(t)})
	}
	return out
}

// schedulePattern fits the schedule of a crawler, or none.
var schedulePattern = regexp.MustCompile(`^(cron[(].+[)])?$`)

func checkGlue(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
	spec := &c.Spec
	v.require(!glueWanted(spec) || glueEnabled(spec), "spec.dataServices.glue", "needs dataServices.s3 with the bucket %s", callData)
	if c := crawlerSpec(spec); c != nil {
		const at = "spec.dataServices.glue.crawler.schedule"
		v.matches(at, c.Schedule, 255, schedulePattern)
		if c.Schedule != "" {
			fault := cronFault(c.Schedule)
			v.require(fault == "", at, "%s; write it as cron(15 12 * * ? *)", fault)
		}
	}
}

// glueTables are the tables of the Data Catalog; each lies in the call-data bucket under its own name.
var glueTables = []string{"call-records", "wxcc-calls"}

func glueWanted(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.DataServices != nil && isEnabled(s.DataServices.Glue, func(g *nexusv1.GlueSpec) *bool { return g.Enabled })
}

// glueEnabled is true when Glue is wanted and has its bucket, as it has in every legal capability.
func glueEnabled(s *nexusv1.NexusAICapabilitySpec) bool {
	return glueWanted(s) && slices.ContainsFunc(selectedBuckets(s), func(b nexusv1.BucketSpec) bool { return b.Name == callData })
}

// crawlerSpec returns the crawler's settings, or nil when there shall be none.
func crawlerSpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.CrawlerSpec {
	if !glueEnabled(s) {
		return nil
	}
	c := s.DataServices.Glue.Crawler
	if c == nil {
		return &nexusv1.CrawlerSpec{}
	}
	if !boolOr(c.Enabled, true) {
		return nil
	}
	return c
}

func addCatalog(k *compiler) {
	if !glueEnabled(k.spec) {
		return
	}
	db := &awsv1.GlueDatabase{Spec: awsv1.GlueDatabaseSpec{
		DatabaseName: k.names.GlueDatabase(), Description: new("Call data of " + k.names.Prefix()),
	}}
	dbID := k.resource(child{kindGlueDatabase, k.names.Of("db"), StepGlue, "glue"}, db)
	k.addGrant(dbID)
	for _, purpose := range glueTables {
		o := &awsv1.GlueTable{Spec: glueTable(k, purpose)}
		k.addGrant(k.resource(child{kindGlueTable, k.names.Of(purpose), StepGlue, "glue"}, o, graph.NeedReady(dbID)...))
	}
}

func locationOf(k *compiler, purpose string) string {
	return "s3://" + nameInS3(k, callData) + "/" + purpose + "/"
}

// glueTable describes JSON lines, one call a line, partitioned by day.
func glueTable(k *compiler, purpose string) awsv1.GlueTableSpec {
	return awsv1.GlueTableSpec{
		DatabaseRef: &awsv1.ObjectReference{Name: k.names.Of("db")},
		TableName:   k.names.Glue(purpose),
		Description: new("JSON lines under " + locationOf(k, purpose)),
		TableType:   new("EXTERNAL_TABLE"),
		PartitionKeys: &[]awsv1.GlueColumn{
			{Name: "dt", Type: "string"},
		},
		StorageDescriptor: &awsv1.GlueStorageDescriptor{
			Columns: []awsv1.GlueColumn{
				{Name: "call_id", Type: "string"}, {Name: "agent", Type: "string"},
				{Name: "started_at", Type: "timestamp"}, {Name: "ended_at", Type: "timestamp"}, {Name: "payload", Type: "string"},
			},
			Location:     locationOf(k, purpose),
			InputFormat:  "org.apache.hadoop.mapred.TextInputFormat",
			OutputFormat: "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
			SerdeInfo:    &awsv1.GlueSerdeInfo{Name: "json", SerializationLibrary: "org.openx.data.jsonserde.JsonSerDe"},
		},
		Parameters: map[string]awsv1.GlueParameter{"classification": "json", "EXTERNAL": "TRUE"},
	}
}

func databaseID(k *compiler) string { return kindGlueDatabase + "/" + k.names.Of("db") }

// addCrawler adds the crawler and its role.
func addCrawler(k *compiler) {
	c, dbID := crawlerSpec(k.spec), databaseID(k)
	if c == nil {
		return
	}
	roleID := addGlueRole(k, dbID)
	o := &awsv1.GlueCrawler{Spec: awsv1.GlueCrawlerSpec{
		CrawlerName: k.names.Crawler(),
		RoleRef:     &awsv1.ObjectReference{Name: k.names.GlueRole()},
		DatabaseRef: &awsv1.ObjectReference{Name: k.names.Of("db")},
		Schedule:    &c.Schedule,
		// Glue names a table after its folder: with this prefix the crawler finds the declared ones.
		TablePrefix: new(k.names.Glue("")),
		Description: new("Finds partitions of the call data of " + k.names.Prefix()),
	}}
	for _, purpose := range glueTables {
		o.Spec.S3Targets = append(o.Spec.S3Targets, awsv1.GlueS3Target{Path: locationOf(k, purpose)})
	}
	after := graph.NeedReady(dbID, roleID, callDataID(k))
	k.addGrant(k.resource(child{kindGlueCrawler, k.names.Crawler(), StepGlue, "glue"}, o, after...))
}

func callDataID(k *compiler) string { return kindBucket + "/" + bucketObject(k.c, callData) }

// addGlueRole adds the role of the crawler, which reads the two folders and writes the one database.
func addGlueRole(k *compiler, dbID string) string {
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:                 k.names.GlueRole(),
		AssumeRolePolicyDocument: k.document(glueTrust(k)),
		Description:              new("Crawler of " + k.names.Prefix()),
		InlinePolicies:           []awsv1.IAMInlinePolicy{{PolicyName: "crawler", PolicyDocument: k.document(crawlerStatements(k, dbID)...)}},
		PermissionsBoundary:      boundaryOf(k),
		MaxSessionDuration:       new(sessionSeconds),
		ExclusivePolicies:        true,
	}}
	return k.resource(child{kindRole, k.names.GlueRole(), StepGlue, "glue"}, o, graph.NeedReady(dbID, callDataID(k))...)
}

// glueTrust lets Glue act as the role, for crawlers of this account only.
// https://docs.aws.amazon.com/glue/latest/dg/cross-service-confused-deputy-prevention.html
func glueTrust(k *compiler) iampolicy.Statement {
	return iampolicy.Statement{
		Effect: "Allow", Action: []string{"sts:AssumeRole"}, Principal: iampolicy.Principals{"Service": {"glue.amazonaws.com"}},
		Condition: iampolicy.Conditions{"StringEquals": {"aws:SourceAccount": {k.home.account}}},
	}
}

func crawlerStatements(k *compiler, dbID string) []iampolicy.Statement {
	logs := "log-group:/aws-glue/crawlers"
	out := []iampolicy.Statement{
		{Sid: "WriteLogs", Action: []string{"logs:CreateLogStream", "logs:PutLogEvents"},
			Resource: []string{k.home.arn("logs", logs+":log-stream:"+k.names.Crawler())}},
		{Sid: "MakeLogGroup", Action: []string{"logs:CreateLogGroup"},
			Resource: []string{k.home.arn("logs", logs), k.home.arn("logs", logs+":log-stream:")}},
	}
	if bucket := k.owned(callDataID(k), k.home.bucketARN(nameInS3(k, callData))); bucket != "" {
		out = append(out, callDataStatements(bucket)...)
		if key := cmp.Or(k.storeKey(s3Spec(k.spec).KMSKeyArn), keptKey(k)); key != "" {
			out = append(out, bucketKey(k, keyReads, key, []string{bucket}))
		}
	}
	if database := k.owned(dbID, k.home.arn("glue", "database/"+k.names.GlueDatabase())); database != "" {
		out = append(out, iampolicy.Statement{Sid: "WriteCatalog", Action: []string{
			"glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:BatchUpdatePartition", "glue:CreatePartition", "glue:CreateTable",
			"glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions", "glue:GetTable", "glue:GetTables", "glue:UpdatePartition", "glue:UpdateTable",
		}, Resource: []string{k.home.arn("glue", "catalog"), database, k.home.arn("glue", "table/"+k.names.GlueDatabase()+"/*")}})
	}
	return out
}

func callDataStatements(bucket string) []iampolicy.Statement {
	var objects, prefixes []string
	for _, purpose := range glueTables {
		objects = append(objects, bucket+"/"+purpose+"/*")
		prefixes = append(prefixes, purpose, purpose+"/*")
	}
	return []iampolicy.Statement{
		{Sid: "ReadCallData", Action: []string{"s3:GetObject"}, Resource: objects},
		{Sid: "ListCallData", Action: []string{"s3:ListBucket"}, Resource: []string{bucket},
			Condition: iampolicy.Conditions{"StringLike": {"s3:prefix": prefixes}}},
		{Sid: "LocateCallData", Action: []string{"s3:GetBucketLocation"}, Resource: []string{bucket}},
	}
}

func catalogStatements(k *compiler) []iampolicy.Statement {
	if !glueEnabled(k.spec) {
		return nil
	}
	database := k.owned(databaseID(k), k.home.arn("glue", "database/"+k.names.GlueDatabase()))
	if database == "" {
		return nil
	}
	// Glue asks for rights on the catalog and the database as well for any table:
	// https://docs.aws.amazon.com/glue/latest/dg/glue-specifying-resource-arns.html
	resources := []string{k.home.arn("glue", "catalog"), database}
	for _, t := range glueTables {
		if arn := k.owned(kindGlueTable+"/"+k.names.Of(t), k.home.arn("glue", "table/"+k.names.GlueDatabase()+"/"+k.names.Glue(t))); arn != "" {
			resources = append(resources, arn)
		}
	}
	out := []iampolicy.Statement{{Sid: "Catalog", Action: []string{
		"glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions",
		"glue:GetTable", "glue:GetTables",
	}, Resource: resources}}
	crawler := k.owned(kindGlueCrawler+"/"+k.names.Crawler(), k.home.arn("glue", "crawler/"+k.names.Crawler()))
	if crawlerSpec(k.spec) != nil && crawler != "" {
		out = append(out, iampolicy.Statement{Sid: "Crawler", Action: []string{"glue:GetCrawler", "glue:StartCrawler"}, Resource: []string{crawler}})
	}
	return out
}

// Glue names something in the Data Catalog, where hyphens become underscores.
func (n Names) Glue(purpose string) string { return strings.ReplaceAll(n.Of(purpose), "-", "_") }

// GlueDatabase names the database in the Data Catalog.
func (n Names) GlueDatabase() string { return n.Glue("db") }

// Crawler names the crawler.
func (n Names) Crawler() string { return n.Of(callData + "-crawler") }

// GlueRole names the role of the crawler.
func (n Names) GlueRole() string { return n.Of("glue-role") }

// callData is the bucket that Glue reads.
const callData = "call-data"

// checkCatalogBucket requires a bucket that the capability owns.
func checkCatalogBucket(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
	if b, is := v.parts.existingOf(c, kindBucket, NamesOf(c).object(callData, &nexusv1.ExistingStore{})); is {
		v.require(!glueWanted(&c.Spec), b.field+".existing", "Glue needs a bucket %s of the capability itself: remove dataServices.glue, or existing", callData)
	}
}
