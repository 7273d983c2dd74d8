// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorded is an event in the form of the examples of AWS:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-event-cloudtrail.html
const recorded = `{"version":"0","id":"36eb8523-97d0-4518-b33d-ee3579ff19f0","detail-type":"AWS API Call via CloudTrail","source":"aws.s3","account":"123456789012",
"time":"2026-02-20T01:09:13Z","region":"us-east-1","resources":[],"detail":{"eventVersion":"1.08","userIdentity":{"type":"AssumedRole","principalId":"AROAEXAMPLE:jane",
"arn":"arn:aws:sts::123456789012:assumed-role/admin/jane","accountId":"123456789012","accessKeyId":"AKIAEXAMPLE"},"eventTime":"2026-02-20T01:09:13Z","eventSource":"s3.amazonaws.com",
"eventName":"PutBucketVersioning","awsRegion":"us-east-1","sourceIPAddress":"192.0.2.7","userAgent":"aws-cli","requestParameters":{"bucketName":"orders","versioning":"",
"VersioningConfiguration":{"Status":"Suspended"}},"responseElements":null,"requestID":"K3FE5QEXAMPLE","eventID":"09ef2600-3c7a-4b29-a8b1-2b6d7f0f1a11","readOnly":false,
"eventType":"AwsApiCall","managementEvent":true,"recipientAccountId":"123456789012"}}`

func TestParse_ReadsAnEventOfAWS(t *testing.T) {
	e, err := Parse(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if e.Kind != Change || e.Account != "123456789012" || e.Region != "us-east-1" || e.Service != "s3" || e.Name != "PutBucketVersioning" ||
		e.RequestID != "K3FE5QEXAMPLE" ||
		e.Principal != "arn:aws:sts::123456789012:assumed-role/admin/jane" || e.Source != "192.0.2.7" ||
		e.ID != "09ef2600-3c7a-4b29-a8b1-2b6d7f0f1a11" || !e.Names["orders"] {
		t.Errorf("read %+v", e)
	}
}

// edited returns the recorded event with other fields in its detail.
func edited(t *testing.T, fields map[string]any) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(recorded), &all); err != nil {
		t.Fatal(err)
	}
	detail := all["detail"].(map[string]any)
	for k, v := range fields {
		detail[k] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse_RefusesWhatIsNoEvent(t *testing.T) {
	for what, body := range map[string]string{
		"no JSON": "{", "a list": "[]", "a text": `"x"`, "null": "null", "empty": "",
		"another detail type":           strings.Replace(recorded, "AWS API Call via CloudTrail", "EC2 Instance State-change", 1),
		"no account":                    strings.Replace(recorded, `"account":"123456789012"`, `"account":"../1"`, 1),
		"another account in the detail": edited(t, map[string]any{"recipientAccountId": "210987654321"}),
		"another region in the detail":  edited(t, map[string]any{"awsRegion": "eu-west-1"}),
		"a host as the source":          edited(t, map[string]any{"eventSource": "s3.example.com"}),
		"a name with a line break":      edited(t, map[string]any{"eventName": "Put\nBucket"}),
		"no time":                       edited(t, map[string]any{"eventTime": "0001-01-01T00:00:00Z"}),
		"a detail that is a text":       strings.Replace(recorded, `"detail":{`, `"detail":"x","x":{`, 1),
	} {
		if e, err := Parse(body); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
	}
	if _, err := Parse(strings.Repeat(" ", MaxBody+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large message: %v", err)
	}
}

func TestParse_RequestsThatChangeNothingAreIneffective(t *testing.T) {
	for what, fields := range map[string]map[string]any{"a read": {"readOnly": true}, "a read in words": {"readOnly": "true"},
		"a refused request": {"errorCode": "AccessDenied"}} {
		if e, err := Parse(edited(t, fields)); err != nil || e.Kind != Ineffective || len(e.Names) > 0 {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
	}
}

func TestParse_BoundsAndCleansWhatIsShown(t *testing.T) {
	e, err := Parse(edited(t, map[string]any{"eventID": strings.Repeat("e", 999), "sourceIPAddress": "a\x1b[31m\u202eb",
		"userIdentity": map[string]any{"arn": "arn:\n" + strings.Repeat("p", 9999)}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.ID) != maxEventID || len(e.Principal) != maxPrincipal || !strings.HasPrefix(e.Principal, "arn:?p") || e.Source != "a?[31m?b" {
		t.Errorf("shown: %d %d %.10q %q", len(e.ID), len(e.Principal), e.Principal, e.Source)
	}
}

func TestParse_BoundsTheNames(t *testing.T) {
	var many []any
	for i := range 5000 {
		many = append(many, fmt.Sprintf("arn:aws:s3:::%d/a/b/c/d/e/f/g", i))
	}
	var deep any = "bottom"
	for range 50 {
		deep = []any{deep}
	}
	e, err := Parse(edited(t,
		map[string]any{"requestParameters": map[string]any{"many": many, "deep": deep, "long": strings.Repeat("x", 5000)}}))
	if err != nil || len(e.Names) > maxNames+64 || e.Names["bottom"] || e.Names[strings.Repeat("x", 5000)] {
		t.Errorf("%d names, %v", len(e.Names), err)
	}
}

func TestHeartbeats(t *testing.T) {
	for what, body := range map[string]string{
		"of a schedule": `{"version":"0","detail-type":"Scheduled Event","source":"aws.events","account":"123456789012","time":"2026-02-20T01:09:00Z","region":"eu-west-1","detail":{}}`,
		"of a test":     `{"detail-type":"x","source":"nexus.ai.heartbeat","account":"123456789012","time":"2026-02-20T01:09:00Z","region":"eu-west-1"}`,
	} {
		if e, err := Parse(body); err != nil || e.Kind != Heartbeat || e.Account != "123456789012" || e.Region != "eu-west-1" {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
	}
}

func TestResource_IsFoundByWhatEventsNameItWith(t *testing.T) {
	const account = "123456789012"
	at := func(service, resource string) string {
		return "arn:aws:" + service + ":eu-west-1:" + account + ":" + resource
	}
	for _, c := range []struct {
		what    string
		of      Resource
		service string
		says    any
		want    bool
	}{
		{"a bucket by its name", Resource{"arn:aws:s3:::orders", "orders", []string{"s3"}}, "s3", "orders", true},
		{"a queue of the name of a bucket", Resource{at("sqs", "orders"), "orders", []string{"sqs"}}, "s3", "orders", false},
		{"a queue by its URL", Resource{at("sqs", "orders"), "orders", []string{"sqs"}}, "sqs",
			"https://sqs.eu-west-1.amazonaws.com/123456789012/orders", true},
		{"a table of Glue", Resource{at("glue", "table/sales/daily"), "daily", []string{"glue"}}, "glue", []any{"sales", "daily"}, true},
		{"a table of another database", Resource{at("glue", "table/sales/daily"), "daily", []string{"glue"}}, "glue", []any{"test", "daily"},
			false},
		{"a role with a path", Resource{"arn:aws:iam::" + account + ":role/team/app", "", []string{"iam"}}, "iam", "app", true},
		{"a topic by a subscription", Resource{at("sns", "alerts"), "alerts", []string{"sns"}}, "sns", at("sns", "alerts:0f6e"), true},
		{"parameters by one of them", Resource{at("ssm", "parameter/shop/dev"), "/shop/dev", []string{"ssm"}}, "ssm", "/shop/dev/db/url", true},
		{"parameters of another path", Resource{at("ssm", "parameter/shop/dev"), "/shop/dev", []string{"ssm"}}, "ssm", "/shop/prod/db/url",
			false},
		{"a secret by its name", Resource{at("secretsmanager", "secret:shop/db-AbCdEf"), "shop/db", []string{"secretsmanager"}}, "secretsmanager",
			"shop/db", true},
		{"a function by an ARN with a version", Resource{at("lambda", "function:f"), "f", []string{"lambda"}}, "lambda",
			at("lambda", "function:f:7"), true},
		{"a log group with its ending", Resource{at("logs", "log-group:/app/x"), "/app/x", []string{"logs"}}, "logs",
			at("logs", "log-group:/app/x:*"), true},
		{"a record by zone and name", Resource{"", "Z123_www.example.com_A_one", []string{"route53"}}, "route53",
			[]any{"/hostedzone/Z123", "www.example.com."}, true},
		{"a record of another zone", Resource{"", "Z123_www.example.com_A", []string{"route53"}}, "route53", []any{"Z456", "www.example.com."},
			false},
		{"a resource of any type by its identifier", Resource{"", "stream-1", nil}, "kinesis", "stream-1", true},
		{"tags by ARN", Resource{at("sqs", "orders"), "orders", []string{"sqs"}}, "tag", []any{at("sqs", "orders")}, true},
	} {
		e := Event{Service: c.service, Names: namesIn(c.says)}
		if got := c.of.IsNamedBy(e); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
		indexed := false
		for _, key := range c.of.Keys() {
			indexed = indexed || e.Names[key]
		}
		if c.want && !indexed {
			t.Errorf("%s: none of the keys %v is in the event", c.what, c.of.Keys())
		}
	}
}

func TestRegionOf_GlobalServicesAreRecordedInOneRegion(t *testing.T) {
	for _, c := range [][3]string{{"iam", "eu-west-1", "us-east-1"}, {"iam", "cn-northwest-1", "cn-north-1"},
		{"route53", "us-gov-east-1", "us-gov-west-1"}, {"s3", "eu-west-1", "eu-west-1"}} {
		if got := RegionOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s is recorded in %s", c[0], c[1], got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(recorded)
	f.Add(`{"source":"aws.events","detail-type":"Scheduled Event"}`)
	f.Fuzz(func(t *testing.T, body string) {
		e, err := Parse(body)
		if err == nil && (len([]rune(e.Principal)) > maxPrincipal || len(e.Names) > maxNames+64) {
			t.Errorf("%d characters, %d names", len(e.Principal), len(e.Names))
		}
	})
}
