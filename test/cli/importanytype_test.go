// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// Resources of types without a kind are declared as they are, by their identifiers and from a state of Terraform, and adopted with tags
// alone.
func TestImport_DeclaresResourcesOfAnyType(t *testing.T) {
	extent.Full(t)
	const stream, prefixList, filter = "AWS::Kinesis::Stream", "AWS::EC2::PrefixList", "AWS::Logs::MetricFilter"
	typesFlag := "--types=" + strings.Join([]string{stream, prefixList, filter}, ",")
	x := newTool(t, "--check-interval=1h", typesFlag)
	types, err := awstypes.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	d := double.New(x.World.AWS().Account(), types, time.Now)
	x.World.AWS().Divert("cloudformation", d)
	api := cloudcontrol.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	exists := func(typeName, properties string) {
		t.Helper()
		if _, err := api.CreateResource(context.Background(),
			&cloudcontrol.CreateResourceInput{TypeName: &typeName, DesiredState: aws.String(properties)}); err != nil {
			t.Fatal(err)
		}
	}
	exists(stream, `{"Name":"events","RetentionPeriodHours":48,"Tags":[{"Key":"team","Value":"a"}]}`)
	exists(stream,
		`{"Name":"others","Tags":[{"Key":"nexus.ai/owner-uid","Value":"u"},{"Key":"nexus.ai/owner","Value":"AWSResource/b/others"}]}`)
	exists(prefixList, `{"PrefixListName":"office","AddressFamily":"IPv4","MaxEntries":5,"Entries":[{"Cidr":"192.0.2.0/24"}]}`)
	exists(filter,
		`{"FilterName":"errors","LogGroupName":"shop","FilterPattern":"ERROR","MetricTransformations":[{"MetricName":"errors","MetricNamespace":"shop","MetricValue":"1"}]}`)
	list := d.Identifiers(prefixList)[0]
	named := []string{"import", "-n", x.Namespace, stream, "events", prefixList + "/" + list, filter, d.Identifiers(filter)[0]}
	mark := x.World.AWS().Mark()
	observing := x.run("", named...)
	if observing.code != 0 || strings.Count(observing.err, "applying the object changes nothing") != 3 {
		t.Fatalf("exit code %d\n%s", observing.code, observing.err)
	}
	for _, text := range []string{"typeName: AWS::Kinesis::Stream", "name: events", "importID: " + list, "RetentionPeriodHours: 48", "team: a",
		"managementPolicy: Observe", "deletionPolicy: Retain"} {
		if !strings.Contains(observing.out, text) {
			t.Errorf("no %q in\n%s", text, observing.out)
		}
	}
	for _, text := range []string{"Arn", "Tags:", "OwnerId", "PrefixListId"} {
		if strings.Contains(observing.out, text) {
			t.Errorf("%q in\n%s", text, observing.out)
		}
	}
	state := filepath.Join(t.TempDir(), "terraform.tfstate")
	text := fmt.Sprintf(`{"version":4,"resources":[{"mode":"managed","type":"awscc_kinesis_stream","name":"e","instances":[{"attributes":{"id":"events"}}]},
		{"mode":"managed","type":"aws_ec2_prefix_list","name":"p","instances":[{"attributes":{"prefix_list_id":%q}}]},{"mode":"managed","type":"awscc_logs_metric_filter","name":"f","instances":[{"attributes":{"id":%q}}]},
		{"mode":"managed","type":"aws_cloudwatch_log_metric_filter","name":"g","instances":[{"attributes":{"id":"errors"}}]}]}`, list, d.Identifiers(filter)[0])
	if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := x.run("", "import", "-n", x.Namespace, "--from-terraform", state); a.code != 0 || a.out != observing.out ||
		!strings.Contains(a.err, "aws_cloudwatch_log_metric_filter.g: passed over, no kind declares it") {
		t.Errorf("from Terraform: exit code %d\n%s\n%s", a.code, a.out, a.err)
	}
	adopting := x.run("", append(named, "--adopt")...)
	if adopting.code != 0 || strings.Count(adopting.err, "writes owner tags and nothing else") != 3 {
		t.Fatalf("exit code %d\n%s", adopting.code, adopting.err)
	}
	for args, says := range map[string]string{
		stream + " others": "is managed already: its tags name the owner AWSResource/b/others", stream + " none": "does not exist in account",
		"AWS::S3::Bucket logs": "import it as s3bucket/NAME", "AWS::Kinesis::Steam x": "AWS has no resource type AWS::Kinesis::Steam",
		stream: "name the resource by its primary identifier",
	} {
		if a := x.run("", append([]string{"import"}, strings.Fields(args)...)...); a.code == 0 || !strings.Contains(a.err, says) {
			t.Errorf("%s: exit code %d\n%s", args, a.code, a.err)
		}
	}
	if w := x.World.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("the import wrote to AWS:\n%s", w)
	}
	p := provider(x.Namespace)
	p.Spec.AllowAdoption = true
	x.Create(p)
	x.Ready(p)
	x.apply(observing.out)
	x.allReady(observing.out)
	x.unchanged(observing.out, "-f", "-", "--operator-arg="+typesFlag)
	x.apply(adopting.out)
	x.allReady(adopting.out)
	x.unchanged(adopting.out, "-f", "-", "--operator-arg="+typesFlag)
	if n := x.World.AWS().Since(mark).Match("cloudformation", "UpdateResource", "*").Count(); n != 2 { // the metric filter has no tags
		t.Errorf("%d updates:\n%s", n, x.World.AWS().Since(mark).Writes())
	}
}
