// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// instances is a block of a Terraform state.
func instances(typeName string, attributes ...map[string]any) map[string]any {
	var all []any
	for _, a := range attributes {
		all = append(all, map[string]any{"attributes": a})
	}
	return map[string]any{"mode": "managed", "type": typeName, "name": "x", "instances": all}
}

func stateOf(t *testing.T, blocks ...map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"version": 4, "resources": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type attributes = map[string]any

func TestFromTerraform_FindsWhatAKindDeclares(t *testing.T) {
	buckets := instances("aws_s3_bucket", attributes{"bucket": "one", "id": "one"}, attributes{"bucket": "two"})
	parameters := func(names ...string) (out []map[string]any) {
		for _, n := range names {
			out = append(out, instances("aws_ssm_parameter", attributes{"id": n, "name": n}))
		}
		return out
	}
	module := instances("aws_route53_health_check")
	module["module"] = "module.net"
	for name, c := range map[string]struct {
		blocks        []map[string]any
		found, passed []string
	}{
		"two instances": {[]map[string]any{buckets}, []string{"S3Bucket/one", "S3Bucket/two"}, nil},
		"a name in two parts": {[]map[string]any{instances("aws_glue_catalog_table", attributes{"name": "t", "database_name": "d"})},
			[]string{"GlueTable/d/t"}, nil},
		"settings of another": {[]map[string]any{buckets, instances("aws_s3_bucket_versioning", attributes{"bucket": "two"})},
			[]string{"S3Bucket/one", "S3Bucket/two"}, nil},
		"settings of nothing here": {[]map[string]any{buckets, instances("aws_s3_bucket_versioning", attributes{"bucket": "three"})},
			[]string{"S3Bucket/one", "S3Bucket/two"},
			[]string{"aws_s3_bucket_versioning.x: passed over, it is a setting of a resource that this state does not manage: import that S3Bucket by its name"}},
		"a type without a kind": {[]map[string]any{instances("aws_route53_health_check")}, nil,
			[]string{"aws_route53_health_check.x: passed over, no kind declares it"}},
		"a module": {[]map[string]any{module}, nil,
			[]string{"module.net.aws_route53_health_check.x: passed over, no kind declares it"}},
		"a part that is left out": {[]map[string]any{instances("aws_route53_record",
			attributes{"zone_id": "Z1", "fqdn": "a.example.com", "type": "A", "set_identifier": ""})},
			[]string{"Route53RecordSet/Z1/a.example.com/A/"}, nil},
		"an instance without name": {[]map[string]any{instances("aws_vpc", attributes{})}, nil,
			[]string{"aws_vpc.x: passed over, the state does not say its id"}},
		"parameters of one path": {parameters("/app/dev/url", "/app/dev/db/host", "/other/key"),
			[]string{"SSMParameterSet/app/dev [db/host url]", "SSMParameterSet/other [key]"}, nil},
		"paths that begin alike": {append(parameters("/app/dev2/a", "/app/dev/b", "/app/dev/c/d"), buckets),
			[]string{"S3Bucket/one", "S3Bucket/two", "SSMParameterSet/app/dev [b c/d]", "SSMParameterSet/app/dev2 [a]"}, nil},
		"parameters without a path": {parameters("/url", "url"), nil,
			[]string{"aws_ssm_parameter.x: passed over, a parameter without a path belongs to no SSMParameterSet",
				"aws_ssm_parameter.x: passed over, a parameter without a path belongs to no SSMParameterSet"}},
		"an association": {[]map[string]any{instances("aws_eks_pod_identity_association",
			attributes{"id": "a-1", "cluster_name": "c", "namespace": "n", "service_account": "s"})}, []string{"PodIdentityAssociation/c/n/s"}, nil},
		"a database": {[]map[string]any{instances("aws_db_instance", attributes{"id": "db-ABC", "identifier": "orders"})},
			[]string{"RDSInstance/orders"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := FromTerraform(catalog.Kinds(), nil, stateOf(t, c.blocks...))
			var names []string
			for _, r := range state.Found {
				text := r.String()
				if len(r.Parameters) > 0 {
					text += fmt.Sprint(" ", r.Parameters)
				}
				names = append(names, text)
			}
			if err != nil || !slices.Equal(names, c.found) || !slices.Equal(state.PassedOver, c.passed) ||
				(state.Nothing == "") != (len(names) > 0) {
				t.Errorf("got %q, %q, %q, %v", names, state.PassedOver, state.Nothing, err)
			}
		})
	}
}

func TestFromTerraform_SaysWhyAFileIsNoState(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty file": {" \n", "the file is empty"},
		"HCL": {`terraform { backend "s3" {} }`,
			"it is not JSON; if it is a configuration (.tf), write the state itself with `terraform state pull"},
		"a plan file": {"PK\x03\x04rest", "is a plan or an archive"},
		"an old state": {`{"version": 3, "modules": [{"path": ["root"], "resources": {}}]}`,
			"version 3 of the format, which Terraform wrote before 0.12"},
		"a newer state":   {`{"version": 5, "resources": []}`, "version 5 of the format; only version 4 can be read (Terraform 0.12 and later)"},
		"encrypted state": {`{"serial": 4, "encrypted_data": "AAAA", "encryption_version": "v0"}`, "OpenTofu has encrypted the state"},
		"show -json":      {`{"format_version": "1.0", "values": {"root_module": {}}}`, "output of `terraform show -json`"},
		"a plan as JSON":  {`{"format_version": "1.2", "planned_values": {}}`, "describes a plan"},
		"a backend":       {`{"version": 3, "backend": {"type": "s3"}}`, "only says in which backend the state is"},
		"Pulumi":          {`{"version": 3, "deployment": {"resources": []}}`, "a stack of Pulumi"},
		"another object":  {`{"kind": "List"}`, "because it has no version"},
		"a list":          {`[]`, "no Terraform state"},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := FromTerraform(catalog.Kinds(), nil, []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %q", state, err, c.want)
			}
		})
	}
}

func TestFromTerraform_SaysWhyNothingIsFound(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {`{"version": 4, "resources": []}`, "manages no resources"},
		"data only": {`{"version": 4, "resources": [{"mode": "data", "type": "aws_caller_identity", "name": "me", "instances": [{"attributes": {"id": "1"}}]}]}`, "only data sources"},
		"foreign":   {`{"version": 4, "resources": [{"mode": "managed", "type": "google_storage_bucket", "name": "g", "instances": [{"attributes": {"id": "g"}}]}]}`, "manages nothing that can be imported"},
	} {
		if state, err := FromTerraform(catalog.Kinds(), nil, []byte(c.text)); err != nil || !strings.Contains(state.Nothing, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, state.Nothing, err, c.want)
		}
	}
}

func TestFromTerraform_TellsDeposedAndTaintedInstances(t *testing.T) {
	state, err := FromTerraform(catalog.Kinds(), nil, []byte(`{"version": 4, "resources": [{"module": "module.data[\"eu\"]", "mode": "managed", "type": "aws_dynamodb_table", "name": "t", "instances": [
		{"index_key": "new", "status": "tainted", "attributes": {"name": "orders"}},
		{"index_key": "old", "deposed": "00ab12cd", "attributes": {"name": "orders-old"}}, {"index_key": 1, "attributes": {}}]}]}`))
	want := []string{`module.data["eu"].aws_dynamodb_table.t["old"]: passed over, it is deposed (00ab12cd): Terraform has replaced it and is still to delete it`,
		`module.data["eu"].aws_dynamodb_table.t[1]: passed over, the state does not say its name`}
	if err != nil || len(state.Found) != 1 || !strings.Contains(state.Found[0].Remark, "tainted") ||
		state.Found[0].Address != `module.data["eu"].aws_dynamodb_table.t["new"]` ||
		!slices.Equal(state.PassedOver, want) {
		t.Errorf("%+v, %v", state, err)
	}
}

func TestFromTerraform_NamesWhatDependsOnTheUndeclared(t *testing.T) {
	const policy, names = "arn:aws:iam::123456789012:policy/uploads", "arn:aws:servicediscovery:eu-west-1:123456789012:namespace/ns-a"
	state, err := FromTerraform(catalog.Kinds(), nil, stateOf(t,
		instances("aws_iam_role", attributes{"name": "uploader", "arn": "arn:aws:iam::123456789012:role/uploader"},
			attributes{"name": "reader", "managed_policy_arns": []any{policy}}, attributes{"name": "other"}),
		instances("aws_s3_bucket", attributes{"bucket": "uploader"}),
		instances("aws_iam_policy", attributes{"id": policy, "arn": policy, "name": "uploads"}),
		instances("aws_iam_role_policy_attachment", attributes{"id": "uploader-2026", "role": "uploader", "policy_arn": policy}),
		instances("aws_service_discovery_http_namespace", attributes{"id": "ns-a", "arn": names}),
		instances("aws_network_acl", attributes{"id": "acl-0a1b2c3d", "arn": "arn:aws:ec2:eu-west-1:123456789012:network-acl/acl-0a1b2c3d"}),
		instances("aws_ecs_cluster", attributes{"name": "shop", "configuration": []any{map[string]any{"namespace": names}}})))
	want := []string{"aws_iam_policy.x: passed over, no kind declares it; keep it, because it is used by IAMRole/uploader, IAMRole/reader",
		"aws_service_discovery_http_namespace.x: passed over, no kind declares it; keep it, because it is used by ECSCluster/shop",
		"aws_network_acl.x: passed over, no kind declares it"}
	if err != nil || !slices.Equal(state.PassedOver, want) {
		t.Errorf("%q, %v", state.PassedOver, err)
	}
}

// Terraform names the place of a resource by its ARN, by region or by its owner, depending on the type and on the version of the provider.
func TestEveryTypeOfTerraform_IsRefusedFromElsewhere(t *testing.T) {
	im := &Importer{Session: &awsclient.Session{Partition: "aws", Region: "eu-west-1", Account: "123456789012"}}
	for _, e := range catalog.Kinds() {
		known, identity := e.Meta().Facts.Terraform, attributes{}
		typeName := known.Type
		for _, a := range known.Identity {
			identity[strings.TrimSuffix(a, kind.OptionalIdentity)] = "/a/b"
		}
		service := func(partition, region, account string) string {
			return fmt.Sprintf("arn:%s:service:%s:%s:thing/a", partition, region, account)
		}
		arn := "arn"
		if typeName == "aws_eks_pod_identity_association" {
			arn = "association_arn"
		}
		for what, c := range map[string]struct {
			more attributes
			want string // in the refusal; "" for what is here
		}{
			"nothing said": {attributes{}, ""},
			"here": {attributes{arn: service("aws", "eu-west-1", "123456789012"), "region": "eu-west-1",
				"owner_id": "123456789012"}, ""},
			"a global ARN":      {attributes{arn: service("aws", "", "")}, ""},
			"another account":   {attributes{arn: service("aws", "eu-west-1", "999999999999")}, "account 999999999999, region eu-west-1"},
			"another region":    {attributes{arn: service("aws", "us-east-1", "123456789012")}, "region us-east-1"},
			"another partition": {attributes{arn: service("aws-cn", "", "")}, "partition aws-cn"},
			"region alone":      {attributes{"region": "us-east-1"}, "region us-east-1"},
			"owner alone":       {attributes{"owner_id": "999999999999"}, "account 999999999999"},
			"registry":          {attributes{"registry_id": "999999999999"}, "account 999999999999"},
			"catalog":           {attributes{"catalog_id": "999999999999"}, "account 999999999999"},
		} {
			all := attributes{}
			for _, m := range []attributes{identity, c.more} {
				for k, v := range m {
					all[k] = v
				}
			}
			state, err := FromTerraform(catalog.Kinds(), nil, stateOf(t, instances(typeName, all)))
			if err != nil || len(state.Found) != 1 {
				t.Fatalf("%s, %s: %+v, %v", typeName, what, state, err)
			}
			if got := im.elsewhere(state.Found[0]); (got != "") != (c.want != "") || !strings.Contains(got, c.want) || got != "" &&
				!strings.Contains(got, "the Terraform state has "+typeName+".x in ") {
				t.Errorf("%s, %s: %q, want %q", typeName, what, got, c.want)
			}
		}
	}
}

func TestFromTerraform_KeepsParametersOfOtherPlacesApart(t *testing.T) {
	state, err := FromTerraform(catalog.Kinds(), nil, stateOf(t,
		instances("aws_ssm_parameter", attributes{"name": "/app/a", "arn": "arn:aws:ssm:eu-west-1:123456789012:parameter/app/a"}),
		instances("aws_ssm_parameter", attributes{"name": "/app/b", "arn": "arn:aws:ssm:us-east-1:123456789012:parameter/app/b"})))
	if err != nil || len(state.Found) != 2 || !slices.Equal(state.Found[0].Parameters, []string{"a"}) || state.Found[1].Region != "us-east-1" {
		t.Errorf("%+v, %v", state, err)
	}
}

func TestElsewhere_ComparesPartitionRegionAndAccount(t *testing.T) {
	im := &Importer{Session: &awsclient.Session{Partition: "aws", Region: "eu-west-1", Account: "123456789012"}}
	for arn, want := range map[string]bool{
		"": false, "arn:aws:s3:::orders": false, "arn:aws:sns:eu-west-1:123456789012:orders": false, "arn:aws-cn:s3:::orders": true,
		"arn:aws:sns:eu-west-2:123456789012:orders": true, "arn:aws:sns:eu-west-1:210987654321:orders": true,
		"arn:aws:iam::210987654321:role/app": true,
	} {
		if got := im.elsewhere(Resource{ARN: arn}) != ""; got != want {
			t.Errorf("%q: %v, want %v", arn, got, want)
		}
	}
}

// allTypes are the types that nexusctl knows.
type allTypes struct{ *bundled.Bundle }

func (a allTypes) Names() []string { return a.Types }

func (a allTypes) Type(name string) (*awsschema.Type, error) {
	text, err := a.Schema(name)
	if err != nil || text == nil {
		return nil, err
	}
	return awsschema.Parse(text)
}

// Resources of types without a kind are found by the names that Terraform makes of those of AWS.
func TestFromTerraform_FindsTypesWithoutAKind(t *testing.T) {
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	const arn = "arn:aws:s3vectors:eu-west-1:123456789012:bucket/vectors"
	state, err := FromTerraform(catalog.Kinds(), allTypes{b}, stateOf(t,
		instances("awscc_kinesis_stream", attributes{"id": "events", "name": "events"}),
		instances("aws_kinesis_stream", attributes{"id": "arn:aws:kinesis:eu-west-1:123456789012:stream/orders", "name": "orders"}),
		instances("aws_s3vectors_vector_bucket", attributes{"vector_bucket_arn": arn, "region": "eu-west-1"}),
		instances("awscc_logs_metric_filter", attributes{"id": "shop|errors"}),
		instances("aws_dsql_cluster", attributes{"arn": "arn:aws:dsql:eu-west-1:123456789012:cluster/abc"}),
		instances("awscc_s3_bucket", attributes{"id": "logs"}),
		instances("awscc_appmesh_mesh", attributes{"id": "m"}), instances("aws_cloudwatch_log_metric_filter", attributes{"id": "errors"}),
		instances("awscc_kinesis_stream"),
		instances("aws_iam_policy", attributes{"id": "arn:aws:iam::123456789012:policy/p", "arn": "arn:aws:iam::123456789012:policy/p"}),
		instances("random_id", attributes{"id": "x"})))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, r := range state.Found {
		found = append(found, r.Kind+" "+r.String()+" "+r.Region)
	}
	if want := []string{"AWSResource AWS::Kinesis::Stream/events ", "AWSResource AWS::Kinesis::Stream/orders eu-west-1",
		"AWSResource AWS::S3Vectors::VectorBucket/" + arn + " eu-west-1",
		"AWSResource AWS::Logs::MetricFilter/shop|errors "}; !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
	if want := []string{
		"aws_dsql_cluster.x: passed over, Identifier identifies a AWS::DSQL::Cluster, and the state does not say it: import it by its identifier, nexusctl import AWS::DSQL::Cluster IDENTIFIER",
		"awscc_s3_bucket.x: passed over, kind S3Bucket manages resources of type AWS::S3::Bucket: import it as s3bucket/NAME",
		"awscc_appmesh_mesh.x: passed over, AWS::AppMesh::Mesh has no handlers to create, read, delete resources, so that Cloud Control API cannot manage them",
		"aws_cloudwatch_log_metric_filter.x: passed over, no kind declares it", "awscc_kinesis_stream.x: passed over, no kind declares it",
		"aws_iam_policy.x: passed over, no kind declares it", "random_id.x: passed over, no kind declares it",
	}; !slices.Equal(state.PassedOver, want) {
		t.Errorf("%q", state.PassedOver)
	}
}

// The attributes that identify resources are named as Terraform names them.
func TestAttributeOf_IsThePropertyInWords(t *testing.T) {
	for property, want := range map[string]string{"Name": "name", "VectorBucketArn": "vector_bucket_arn", "Id": "id",
		"DBClusterIdentifier": "db_cluster_identifier", "KMSKeyId": "kms_key_id", "PrefixListId": "prefix_list_id"} {
		if got := attributeOf(property); got != want {
			t.Errorf("%s is %s, want %s", property, got, want)
		}
	}
}
