// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// bad are values that a field must not have. The refusal names the field and contains the words, which describe a valid value.
type bad struct {
	field  string
	words  string
	values []any
}

// list returns a list that is empty, and not null, where there are no values.
func list(v ...any) []any { return append([]any{}, v...) }

type fields = map[string]any

func statement(actions, resources []any) fields {
	return fields{"permissionsBoundaryARN": boundary, "extraPolicyStatements": list(fields{"actions": actions, "resources": resources})}
}

func rule(more fields) []any {
	out := fields{"id": "r"}
	for k, v := range more {
		out[k] = v
	}
	return list(out)
}

func transition(days int64, class string) []any {
	return list(fields{"days": days, "storageClass": class})
}

var badManifests = []bad{
	{"metadata.name", "", list("A", "a_b", "-a", "a b", strings.Repeat("a", 64))},
	{"spec.capabilityName", "", list("", "A", "1a", "-a", "a-", "a_b", "a.b", "a b", "é", strings.Repeat("a", 41))},
	{"spec.capabilityName", "must not begin with", list("aws", "aws-app", "ssm-app", "xn--app", "sthree-app", "amzn-s3-demo-app")},
	{"spec.capabilityName", "Kubernetes reserves", list("kube", "kube-app")},
	{"spec.environment", "", list("", "Dev", "1dev", "d-ev", "d.ev", "d ev", "d_ev", strings.Repeat("d", 17))},
	{"spec.version", "", list("", "-1", "1-", "1 0", "1/0", "1+0", strings.Repeat("1", 64))},
	{"spec.region", "", list("eu", "eu-west", "EU-WEST-1", "eu_west_1", "eu-west-1a", "1-west-1", strings.Repeat("a", 33))},
	{"spec.region", "--additional-regions", list("eu-west-9", "xx-nowhere-1", "us-south-1", "ap-southeast-99")},
	{"spec.providerRef.name", "", list("", strings.Repeat("a", 254))},
	{"spec.cognito", "", list(fields{"callbackURLs": list("http://example.com/")}, fields{"callbackURLs": list()}, fields{"callbackURLs": list("https://a.example/", "https://a.example/")}, fields{"logoutURLs": list("ftp://a.example/")},
		fields{"groups": list("a b")}, fields{"groups": list()}, fields{"domainPrefix": "A"}, fields{"domainPrefix": strings.Repeat("a", 64)})},
	{"spec.cognito", "must not contain aws", list(fields{"domainPrefix": "my-aws"})},
	{"spec.deletionPolicy", "", list("delete", "Keep", "retain", " ")},
	{"spec.driftPolicy", "", list("correct", "Ignore", " ")},
	{"spec.backend.image", "", list("", "a b", "app:\t1", strings.Repeat("a", 513))},
	{"spec.backend.image", "registry/repository:tag", list("App:1", "registry.example/App", "app:", "app@sha256:abc", "https://registry.example/app", ":1", "/app", "app//b", "app:1:2", "-app", "app@", "app:"+strings.Repeat("1", 129))},
	{"spec.frontend.image", "", list("", "a b")},
	{"spec.frontend.image", "registry/repository:tag", list("App:1", "app:", "docker://app", "app@sha256:"+strings.Repeat("g", 64), "registry.example:port/app")},
	{"spec.backend.replicas", "", list(int64(-1), int64(1001), "2")},
	{"spec.frontend.replicas", "", list(int64(-1), int64(1001))},
	{"spec.backend.port", "", list(int64(0), int64(-1), int64(65536))},
	{"spec.frontend.port", "", list(int64(0), int64(65536))},
	{"spec.backend.service.type", "", list("ExternalName", "clusterip", "None")},
	{"spec.frontend.service.type", "", list("ExternalName", "loadBalancer")},
	{"spec.backend.resources.requests.cpu", "", list("-1", "much")},
	{"spec.backend.resources.limits.memory", "", list("-1Gi", "1 Gi")},
	{"spec.ingress.scheme", "", list("public", "Internal", "internet")},
	{"spec.ingress.healthCheckPath", "", list("health", "/a b", "/é", "/"+strings.Repeat("a", 1024))},
	{"spec.ingress.host", "", list("App.example", "-a.example", "a..b", "a.example.", "http://a.example", "a.example/x", "*.*.example", strings.Repeat("a", 254))},
	{"spec.ingress.hostedZoneName", "", list("Example.com", "-a.example", "a..b", "a.example.", "*.example.com", strings.Repeat("a", 254))},
	{"spec.ingress", "is not within this zone", list(fields{"host": "a.example.com", "hostedZoneName": "ample.com"}, fields{"host": "example.com", "hostedZoneName": "a.example.com"})},
	{"spec.ingress", "excludes hostedZoneID and hostedZoneRef", list(fields{"host": "a.example.com", "hostedZoneName": "example.com", "hostedZoneID": "Z1"},
		fields{"host": "a.example.com", "hostedZoneName": "example.com", "hostedZoneRef": fields{"name": "z"}})},
	{"spec.ingress.certificateArn", "", list("c", "arn:aws:acm:eu-central-1:1:certificate/a", "arn:aws:s3:::b", "arn:aws:acm:eu-central-1:123456789012:cert/a")},
	{"spec.ingress.groupName", "", list("Team", "-a", "a_b", strings.Repeat("a", 64))},
	{"spec.ingress.groupName", "--allowed-ingress-groups", list("team-b", "shared")},
	{"spec.ingress.annotations", "groupName", list(fields{"alb.ingress.kubernetes.io/group.name": "a"}, fields{"alb.ingress.kubernetes.io/group.order": "1"})},
	{"spec.ingress.annotations", "set scheme, healthCheckPath, certificateArn", list(fields{"alb.ingress.kubernetes.io/scheme": "internal"}, fields{"kubernetes.io/ingress.class": "nginx"},
		fields{"alb.ingress.kubernetes.io/target-type": "instance"}, fields{"alb.ingress.kubernetes.io/listen-ports": "[]"}, fields{"alb.ingress.kubernetes.io/certificate-arn": "arn"},
		fields{"alb.ingress.kubernetes.io/ssl-redirect": "443"}, fields{"alb.ingress.kubernetes.io/ssl-policy": "p"}, fields{"alb.ingress.kubernetes.io/healthcheck-path": "/"},
		fields{"alb.ingress.kubernetes.io/success-codes": "200"}, fields{"alb.ingress.kubernetes.io/tags": "a=b"}, fields{"nexus.ai/capability": "other/one"},
		fields{"kubectl.kubernetes.io/last-applied-configuration": "{}"})},
	{"spec.backend.service.annotations", "set service.type and spec.ingress.scheme", list(fields{"service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"},
		fields{"service.beta.kubernetes.io/aws-load-balancer-internal": "false"}, fields{"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"},
		fields{"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "instance"}, fields{"service.beta.kubernetes.io/aws-load-balancer-additional-resource-tags": "a=b"},
		fields{"nexus.ai/capability": "other/one"}, fields{"kubectl.kubernetes.io/last-applied-configuration": "{}"})},
	{"spec.ingress.annotations", "", list(fields{"a b": "1"}, fields{"": "1"}, fields{"a/b/c": "1"}, fields{"-a": "1"}, fields{"a": strings.Repeat("1", 1025)})},
	{"spec.dataServices.dynamodb.tables", "", list(list(fields{}), list(fields{"name": "A"}), list(fields{"name": "a_b"}), list(fields{"name": strings.Repeat("a", 41)}),
		list(fields{"name": "a"}, fields{"name": "a"}), list(fields{"name": "a", "hashKey": fields{"name": "", "type": "S"}}), list(fields{"name": "a", "hashKey": fields{"name": "k", "type": "X"}}),
		list(fields{"name": "a", "hashKey": fields{"name": "k"}}), list(fields{"name": "a", "rangeKey": fields{"name": "k", "type": "S"}}),
		list(fields{"name": "a", "hashKey": fields{"name": "k", "type": "S"}, "rangeKey": fields{"name": "k", "type": "S"}}), list(fields{"name": "a", "ttl": fields{"enabled": true, "attributeName": strings.Repeat("a", 256)}}))},
	{"spec.dataServices.dynamodb.tables", "existing needs exactly one of name and arn", list(list(fields{"name": "a", "existing": fields{}}),
		list(fields{"name": "a", "existing": fields{"name": "orders", "arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/orders"}}))},
	{"spec.dataServices.dynamodb.tables", "is about a store that the operator creates", list(list(fields{"name": "a", "existing": fields{"name": "orders"}, "hashKey": fields{"name": "k", "type": "S"}}),
		list(fields{"name": "a", "existing": fields{"name": "orders"}, "ttl": fields{"enabled": true}}), list(fields{"name": "a", "existing": fields{"name": "orders"}, "pointInTimeRecovery": true}))},
	{"spec.dataServices.s3.buckets", "is about a store that the operator creates", list(list(fields{"name": "a", "existing": fields{"name": "media"}, "forceDestroy": true}),
		list(fields{"name": "a", "existing": fields{"name": "media"}, "lifecycle": rule(fields{"expirationDays": int64(1)})}))},
	{"spec.dataServices.queues", "is about a store that the operator creates", list(list(fields{"name": "a", "existing": fields{"name": "jobs"}, "fifo": true}), list(fields{"name": "a", "existing": fields{"name": "jobs"}, "visibilityTimeoutSeconds": int64(1)}),
		list(fields{"name": "a", "existing": fields{"name": "jobs"}, "messageRetentionSeconds": int64(60)}), list(fields{"name": "a", "existing": fields{"name": "jobs"}, "deadLetter": fields{}}), list(fields{"name": "a", "existing": fields{"name": "jobs"}, "forceDestroy": true}))},
	{"spec.dataServices.topics", "is about a store that the operator creates", list(list(fields{"name": "a", "existing": fields{"name": "news"}, "fifo": true}), list(fields{"name": "a", "existing": fields{"name": "news"}, "subscribeQueues": list("jobs")}))},
	{"spec.secrets", "is about a store that the operator creates", list(list(fields{"name": "a", "existing": fields{"name": "db"}, "generate": fields{}}), list(fields{"name": "a", "existing": fields{"name": "db"}, "recreateOnLoss": true}))},
	{"spec.dataServices.dynamodb.kmsKeyArn", "", list("k", "alias/k", "arn:aws:kms:eu-central-1:1:key/k", "arn:aws:kms:eu-central-1:123456789012:alias/k")},
	{"spec.dataServices.dynamodb.kmsKeyArn", "name a key of", list(key("us-east-1", "123456789012"), key("eu-central-1", "999999999999"))},
	{"spec.dataServices.s3.kmsKeyArn", "", list("k", "alias/k", "arn:aws:kms:eu-central-1:1:key/k")},
	{"spec.dataServices.s3.kmsKeyArn", "name a key of", list(key("us-east-1", "123456789012"), key("eu-central-1", "999999999999"))},
	{"spec.dataServices.s3.buckets", "", list(list(fields{}), list(fields{"name": "A"}), list(fields{"name": "a.b"}), list(fields{"name": strings.Repeat("a", 21)}),
		list(fields{"name": "a"}, fields{"name": "a"}), list(fields{"name": "s3alias"}), list(fields{"name": "a--x-s3"}), list(fields{"name": "a--ol-s3"}))},
	{"spec.dataServices.s3.lifecycle", "", list(rule(nil), rule(fields{"id": "", "expirationDays": int64(1)}), rule(fields{"expirationDays": int64(0)}), rule(fields{"noncurrentVersionExpirationDays": int64(0)}),
		rule(fields{"abortIncompleteMultipartUploadDays": int64(-1)}), rule(fields{"transitions": transition(-1, "GLACIER")}), rule(fields{"transitions": transition(30, "TAPE")}),
		rule(fields{"prefix": strings.Repeat("a", 1025), "expirationDays": int64(1)}), append(rule(fields{"expirationDays": int64(1)}), rule(fields{"expirationDays": int64(2)})...))},
	{"spec.dataServices.s3.lifecycle", "at least 30 days", list(rule(fields{"transitions": transition(0, "STANDARD_IA")}), rule(fields{"transitions": transition(29, "STANDARD_IA")}), rule(fields{"transitions": transition(29, "ONEZONE_IA")}))},
	{"spec.dataServices.s3.lifecycle", "must be more than", list(rule(fields{"expirationDays": int64(10), "transitions": transition(20, "GLACIER")}), rule(fields{"expirationDays": int64(40), "transitions": transition(40, "STANDARD_IA")}))},
	{"spec.dataServices.glue.crawler.schedule", "", list("daily", "0 10 * * ? *", "rate(1 day)", "cron()", strings.Repeat("a", 256))},
	{"spec.dataServices.glue.crawler.schedule", "write it as cron(", list("cron(15 12 * * ?)", "cron(15 12 * * ? * *)", "cron(15 12 1 * MON *)", "cron(15 12 ? * ? *)", "cron(60 12 * * ? *)", "cron(0 24 * * ? *)",
		"cron(0 12 32 * ? *)", "cron(0 12 0 * ? *)", "cron(0 12 1 13 ? *)", "cron(0 12 1 FOO ? *)", "cron(0 12 ? * 8 *)", "cron(0 12 ? * FUNDAY *)", "cron(0 12 1 * ? 1969)", "cron(0/0 12 1 * ? *)", "cron(5-1 12 1 * ? *)", "cron(a b c d e f)")},
	{"spec.dataServices.bedrock.region", "", list("us", "US-EAST-1", "us-east-1a")},
	{"spec.dataServices.bedrock.models", "", list(list(fields{}), list(fields{"name": "A", "modelID": "a.b"}), list(fields{"name": "a"}), list(fields{"modelID": "a.b"}), list(fields{"name": "a", "modelID": "*"}),
		list(fields{"name": "a", "modelID": "amazon.*"}), list(fields{"name": "a", "modelID": "nova"}), list(fields{"name": "a", "modelID": "a.b/c"}), list(fields{"name": "a", "modelID": "a.b", "inferenceProfile": "*"}),
		list(fields{"name": "a", "modelID": "a.b", "inferenceProfile": "us.a.?"}), list(fields{"name": "a", "modelID": "a.b", "inferenceProfile": "a.b"}), list(fields{"name": "a", "modelID": "a.b"}, fields{"name": "a", "modelID": "a.c"}))},
	{"spec.dataServices.bedrock.models", "inferenceProfile is the ARN", list(list(fields{"name": "a", "modelID": "a.b", "inferenceProfile": "us.a.c"}), list(fields{"name": "a", "modelID": "a.b", "inferenceProfile": "us.b.a.bb"}))},
	{"spec.dataServices.bedrock.knowledgeBases", "", list(list(fields{"name": "a"}), list(fields{"name": "a", "id": "*"}), list(fields{"name": "a", "id": "KB1"}), list(fields{"name": "a", "id": "kb12345678"}))},
	{"spec.dataServices.bedrock.guardrails", "", list(list(fields{"name": "a"}), list(fields{"name": "a", "id": "*"}), list(fields{"name": "a", "id": ""}), list(fields{"name": "a", "id": "a", "version": "0"}), list(fields{"name": "a", "id": "a", "version": "draft"}))},
	{"spec.dataServices.queues", "", list(list(fields{}), list(fields{"name": "A"}), list(fields{"name": "*"}), list(fields{"name": "a.fifo"}), list(fields{"name": strings.Repeat("a", 29)}), list(fields{"name": "a"}, fields{"name": "a"}),
		list(fields{"name": "a", "visibilityTimeoutSeconds": int64(43201)}), list(fields{"name": "a", "messageRetentionSeconds": int64(59)}), list(fields{"name": "a", "deadLetter": fields{"maxReceiveCount": int64(0)}}))},
	{"spec.dataServices.queues", "dead-letter queues", list(list(fields{"name": "a-dlq"}))},
	{"spec.dataServices.topics", "", list(list(fields{}), list(fields{"name": "A"}), list(fields{"name": "*"}), list(fields{"name": "a.fifo"}), list(fields{"name": strings.Repeat("a", 41)}), list(fields{"name": "a"}, fields{"name": "a"}),
		list(fields{"name": "a", "subscribeQueues": list("*")}))},
	{"spec.dataServices.topics", "subscribeQueues names queues of dataServices.queues", list(list(fields{"name": "a", "subscribeQueues": list("jobs")}))},
	{"spec.secrets", "", list(list(fields{}), list(fields{"name": "A", "generate": fields{}}), list(fields{"name": "extra"}), list(fields{"name": strings.Repeat("a", 41), "generate": fields{}}),
		list(fields{"name": "a", "generate": fields{"length": int64(8)}}), list(fields{"name": "a", "generate": fields{"length": int64(2000)}}), list(fields{"name": "a", "placeholder": fields{"keys": list("k k")}}),
		list(fields{"name": "a", "placeholder": fields{"keys": list()}}), list(fields{"name": "a", "valueFrom": fields{"name": "s"}}), list(fields{"name": "a", "valueFrom": fields{"name": "s", "key": "k"}, "generate": fields{}}))},
	{"spec.identity", "", list(fields{"permissionsBoundaryARN": "b"}, fields{"permissionsBoundaryARN": "arn:aws:iam::1:policy/b"}, fields{"extraPolicyStatements": list(fields{"actions": list("sqs:SendMessage"), "resources": list("*")})})},
	{"spec.identity.extraPolicyStatements", "", list(list(fields{"actions": list(), "resources": list("*")}), list(fields{"actions": list("*"), "resources": list("*")}), list(fields{"actions": list("sqs"), "resources": list("*")}))},
	{"spec.identity", "", list(statement(list("iam:PassRole"), list("*")), statement(list("sts:AssumeRole"), list("*")), statement(list("organizations:List"), list("*")), statement(list("sqs:Send"), list("queue")), statement(list("sqs:Send"), list()))},
	{"spec.security.intents", "", list(list(fields{}), list(fields{"name": "A_B"}), list(fields{"name": "a", "component": "database"}), list(fields{"name": "a"}, fields{"name": "a"}))},
	{"spec.frontend", "", list("image", list())},
	{"spec.dataServices", "", list("all", fields{"glue": fields{}}, fields{"glue": fields{}, "s3": fields{"enabled": false}}, fields{"glue": fields{}, "s3": fields{"buckets": list(fields{"name": "a"})}})},
	{"spec.suspend", "", list("yes", int64(1))},
	{"spec.backend.dualService", "", list("yes")},
	{"spec.unknown", "unknown field", list("x")},
	{"spec.backend.workingDir", "unknown field", list("/app")},
	{"spec.backend.command", "", list("sh", list(int64(1)), list(strings.Repeat("x", 4097)))},
}

func TestBadManifests_AreRefusedWithFieldAndRemedy(t *testing.T) {
	s, n := newAdmission(t), 0
	for _, b := range badManifests {
		for _, v := range b.values {
			n++
			m := manifest(t, minimal(withData))
			if err := unstructured.SetNestedField(m.Object, runtime.DeepCopyJSONValue(v), strings.Split(b.field, ".")...); err != nil {
				t.Fatal(err)
			}
			refusal := refusalOf(t, s, m)
			leaf := b.field[strings.LastIndexByte(b.field, '.')+1:]
			if refusal == "" || !strings.Contains(refusal, leaf) || !strings.Contains(refusal, b.words) {
				t.Errorf("%s: %.120s: the refusal does not name the field and %q: %s", b.field, fmt.Sprint(v), b.words, refusal)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d manifests", n)
	}
}

// refusalOf returns how admission refuses a manifest or, where that accepts it, the operator; "" when both accept it.
func refusalOf(t *testing.T, s admission, m *unstructured.Unstructured) string {
	t.Helper()
	err := s.admit(m)
	if isInvalid(err) {
		return err.Error()
	}
	if err != nil {
		t.Fatalf("admission: %v", err)
	}
	c := &nexusv1.NexusAICapability{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object, c); err != nil {
		return err.Error()
	}
	f := facts()
	f.Regions, f.Limits.AllowedIngressGroups = []string{"eu-central-1"}, []string{"team-a"}
	if stalled, ok := status.AsStalled(capability.Validate(c, f)); ok && stalled.Field != "" {
		return stalled.Error()
	}
	return ""
}
