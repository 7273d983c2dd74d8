// SPDX-License-Identifier: Apache-2.0

// Package glue implements spec.dataServices.glue. Its tables describe the data of a bucket.
package glue

import (
	"cmp"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/buckets"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the catalog: of its kinds, step and access.
const (
	kindGlueDatabase = "GlueDatabase"
	kindGlueTable    = "GlueTable"
	kindGlueCrawler  = "GlueCrawler"
	StepGlue         = "Glue"
	OfGlue           = "glue"
)

// Part is spec.dataServices.glue.
func Part() part.Part {
	const refusal = "is declared in spec.dataServices.glue"
	return part.Part{
		Steps: []part.Step{{Number: 3, Name: StepGlue, Phase: nexusv1.PhaseProvisioningDataServices,
			Condition: nexusv1.ConditionDataServicesReady}},
		Kinds: []part.KindFacts{
			{Kind: kindGlueDatabase, Step: StepGlue, Removed: part.Removal{Stage: part.RemovesData + 60, Steps: []string{StepGlue}}, Grants: true,
				Kept: true, Unlocks: OfGlue, Refusal: refusal},
			{Kind: kindGlueTable, Step: StepGlue, Removed: part.Removal{Stage: part.RemovesData + 50}, Grants: true, Refusal: refusal},
			{Kind: part.KindRole, IsPartial: true, StepOf: func(_ part.Parts, c *nexusv1.NexusAICapability, name string) string {
				if name == part.NamesOf(c).GlueRole() {
					return StepGlue
				}
				return ""
			}},
			{Kind: kindGlueCrawler, Step: StepGlue, Removed: part.Removal{Stage: part.RemovesRoleUsers}, Grants: true, IsBilled: true,
				Refusal: refusal},
		},
		Checks:  []part.Turn[part.Checking]{part.At(70, checkGlue), part.At(97, checkCatalogBucket)},
		Compile: []func(*part.Compiler){addCatalog, addCrawler},
		Rights:  []part.Turn[part.Granting]{part.At(30, catalogStatements)},
		Values:  catalogValues,
		Entries: part.Entries{
			Place: 30, Field: OfGlue, Brings: buckets.OfBuckets + "/" + part.CallData,
			Names: func(s *nexusv1.NexusAICapabilitySpec) []string {
				if glueEnabled(s) {
					return []string{OfGlue}
				}
				return nil
			},
			Keep: func(a part.AccessSet, _ *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
				if !a.Some(OfGlue) {
					data.Glue = nil
				}
			},
		},
	}
}

// catalogValues returns the settings with the names of the database and of the tables.
func catalogValues(k *part.Compiler) (out []part.Value) {
	if !glueEnabled(k.Spec) {
		return nil
	}
	out = append(out, part.Value{Parameter: "glue/database", Variable: "NEXUS_GLUE_DATABASE", Text: k.Names.GlueDatabase()})
	for _, t := range glueTables {
		out = append(out, part.Value{Parameter: "glue/" + t + "-table", Variable: "NEXUS_GLUE_TABLE_" + part.EnvironmentVariable(t),
			Text: k.Names.Glue(t)})
	}
	return out
}

func checkGlue(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
	spec := &c.Spec
	v.Require(!glueWanted(spec) || glueEnabled(spec), "spec.dataServices.glue", "needs dataServices.s3 with the bucket %s", part.CallData)
	if c := crawlerSpec(spec); c != nil {
		if c.Schedule != "" {
			fault := cronFault(c.Schedule)
			v.Require(fault == "", "spec.dataServices.glue.crawler.schedule", "%s; write it as cron(15 12 * * ? *)", fault)
		}
	}
}

// glueTables are the tables of the Data Catalog; each lies in the call-data bucket under its own name.
var glueTables = []string{"call-records", "wxcc-calls"}

func glueWanted(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.DataServices != nil && part.IsEnabled(s.DataServices.Glue, func(g *nexusv1.GlueSpec) *bool { return g.Enabled })
}

// glueEnabled is true when Glue is wanted and has its bucket, as it has in every legal capability.
func glueEnabled(s *nexusv1.NexusAICapabilitySpec) bool {
	return glueWanted(s) && slices.ContainsFunc(buckets.Selected(s), func(b nexusv1.BucketSpec) bool { return b.Name == part.CallData })
}

// crawlerSpec returns the crawler's settings, or nil for no crawler.
func crawlerSpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.CrawlerSpec {
	if !glueEnabled(s) {
		return nil
	}
	c := s.DataServices.Glue.Crawler
	if c == nil {
		return &nexusv1.CrawlerSpec{}
	}
	if !part.BoolOr(c.Enabled, true) {
		return nil
	}
	return c
}

func addCatalog(k *part.Compiler) {
	if !glueEnabled(k.Spec) {
		return
	}
	db := &awsv1.GlueDatabase{Spec: awsv1.GlueDatabaseSpec{
		DatabaseName: k.Names.GlueDatabase(), Description: new("Call data of " + k.Names.Prefix()),
	}}
	dbID := k.Resource(part.Child{Kind: kindGlueDatabase, Name: k.Names.Of("db"), Step: StepGlue, Component: "glue"}, db)
	k.AddGrant(dbID)
	for _, purpose := range glueTables {
		o := &awsv1.GlueTable{Spec: glueTable(k, purpose)}
		k.AddGrant(k.Resource(part.Child{Kind: kindGlueTable, Name: k.Names.Of(purpose), Step: StepGlue, Component: "glue"}, o,
			graph.NeedReady(dbID)...))
	}
}

func locationOf(k *part.Compiler, purpose string) string {
	return "s3://" + buckets.NameInS3(k, part.CallData) + "/" + purpose + "/"
}

// glueTable describes JSON lines, one call a line, partitioned by day.
func glueTable(k *part.Compiler, purpose string) awsv1.GlueTableSpec {
	return awsv1.GlueTableSpec{
		DatabaseRef: &awsv1.ObjectReference{Name: k.Names.Of("db")},
		TableName:   k.Names.Glue(purpose),
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

func databaseID(k *part.Compiler) string { return kindGlueDatabase + "/" + k.Names.Of("db") }

// addCrawler adds the crawler and its role.
func addCrawler(k *part.Compiler) {
	c, dbID := crawlerSpec(k.Spec), databaseID(k)
	if c == nil {
		return
	}
	roleID := addGlueRole(k, dbID)
	o := &awsv1.GlueCrawler{Spec: awsv1.GlueCrawlerSpec{
		CrawlerName: k.Names.Crawler(),
		RoleRef:     &awsv1.ObjectReference{Name: k.Names.GlueRole()},
		DatabaseRef: &awsv1.ObjectReference{Name: k.Names.Of("db")},
		Schedule:    &c.Schedule,
		// Glue names a table after its folder: with this prefix the crawler finds the declared ones.
		TablePrefix: new(k.Names.Glue("")),
		Description: new("Finds partitions of the call data of " + k.Names.Prefix()),
	}}
	for _, purpose := range glueTables {
		o.Spec.S3Targets = append(o.Spec.S3Targets, awsv1.GlueS3Target{Path: locationOf(k, purpose)})
	}
	after := graph.NeedReady(dbID, roleID, callDataID(k))
	k.AddGrant(k.Resource(part.Child{Kind: kindGlueCrawler, Name: k.Names.Crawler(), Step: StepGlue, Component: "glue"}, o, after...))
}

func callDataID(k *part.Compiler) string {
	return buckets.KindBucket + "/" + buckets.Object(k.Capability, part.CallData)
}

// addGlueRole adds the role of the crawler, which reads the two folders and writes the one database.
func addGlueRole(k *part.Compiler, dbID string) string {
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:                 k.Names.GlueRole(),
		AssumeRolePolicyDocument: k.Document(glueTrust(k)),
		Description:              new("Crawler of " + k.Names.Prefix()),
		InlinePolicies:           []awsv1.IAMInlinePolicy{{PolicyName: "crawler", PolicyDocument: k.Document(crawlerStatements(k, dbID)...)}},
		PermissionsBoundary:      part.BoundaryOf(k),
		MaxSessionDuration:       new(part.SessionSeconds),
		ExclusivePolicies:        true,
	}}
	return k.Resource(part.Child{Kind: part.KindRole, Name: k.Names.GlueRole(), Step: StepGlue, Component: "glue"}, o,
		graph.NeedReady(dbID, callDataID(k))...)
}

// glueTrust lets Glue act as the role, for crawlers of this account only.
// https://docs.aws.amazon.com/glue/latest/dg/cross-service-confused-deputy-prevention.html
func glueTrust(k *part.Compiler) iampolicy.Statement {
	return iampolicy.Statement{
		Effect: "Allow", Action: []string{"sts:AssumeRole"}, Principal: iampolicy.Principals{"Service": {"glue.amazonaws.com"}},
		Condition: iampolicy.Conditions{"StringEquals": {"aws:SourceAccount": {k.Home.Account}}},
	}
}

func crawlerStatements(k *part.Compiler, dbID string) []iampolicy.Statement {
	logs := "log-group:/aws-glue/crawlers"
	out := []iampolicy.Statement{
		{Sid: "WriteLogs", Action: []string{"logs:CreateLogStream", "logs:PutLogEvents"},
			Resource: []string{k.Home.ARN("logs", logs+":log-stream:"+k.Names.Crawler())}},
		{Sid: "MakeLogGroup", Action: []string{"logs:CreateLogGroup"},
			Resource: []string{k.Home.ARN("logs", logs), k.Home.ARN("logs", logs+":log-stream:")}},
	}
	if bucket := k.Owned(callDataID(k), k.Home.BucketARN(buckets.NameInS3(k, part.CallData))); bucket != "" {
		out = append(out, callDataStatements(bucket)...)
		if key := cmp.Or(k.StoreKey(buckets.Spec(k.Spec).KMSKeyArn), part.KeptKey(k)); key != "" {
			out = append(out, buckets.KeyStatement(k, part.KeyReads, key, []string{bucket}))
		}
	}
	if database := k.Owned(dbID, k.Home.ARN("glue", "database/"+k.Names.GlueDatabase())); database != "" {
		out = append(out, iampolicy.Statement{Sid: "WriteCatalog", Action: []string{
			"glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:BatchUpdatePartition", "glue:CreatePartition", "glue:CreateTable",
			"glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions", "glue:GetTable", "glue:GetTables", "glue:UpdatePartition",
			"glue:UpdateTable",
		}, Resource: []string{k.Home.ARN("glue", "catalog"), database, k.Home.ARN("glue", "table/"+k.Names.GlueDatabase()+"/*")}})
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

func catalogStatements(k *part.Compiler) []iampolicy.Statement {
	if !glueEnabled(k.Spec) {
		return nil
	}
	database := k.Owned(databaseID(k), k.Home.ARN("glue", "database/"+k.Names.GlueDatabase()))
	if database == "" {
		return nil
	}
	// Glue asks for rights on the catalog and the database as well for any table:
	// https://docs.aws.amazon.com/glue/latest/dg/glue-specifying-resource-arns.html
	resources := []string{k.Home.ARN("glue", "catalog"), database}
	for _, t := range glueTables {
		if arn := k.Owned(kindGlueTable+"/"+k.Names.Of(t), k.Home.ARN("glue", "table/"+k.Names.GlueDatabase()+"/"+k.Names.Glue(t))); arn != "" {
			resources = append(resources, arn)
		}
	}
	out := []iampolicy.Statement{{Sid: "Catalog", Action: []string{
		"glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions",
		"glue:GetTable", "glue:GetTables",
	}, Resource: resources}}
	crawler := k.Owned(kindGlueCrawler+"/"+k.Names.Crawler(), k.Home.ARN("glue", "crawler/"+k.Names.Crawler()))
	if crawlerSpec(k.Spec) != nil && crawler != "" {
		out = append(out, iampolicy.Statement{Sid: "Crawler", Action: []string{"glue:GetCrawler", "glue:StartCrawler"},
			Resource: []string{crawler}})
	}
	return out
}

// checkCatalogBucket requires a bucket that the capability owns.
func checkCatalogBucket(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
	if b, is := v.Parts.ExistingOf(c, buckets.KindBucket, part.NamesOf(c).ObjectOf(part.CallData, &nexusv1.ExistingStore{})); is {
		v.Require(!glueWanted(&c.Spec), b.Field+".existing", "Glue needs a bucket %s of the capability itself: remove dataServices.glue, or existing", part.CallData)
	}
}
