// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"strings"
	"testing"
)

func TestARNsOf_FindsWhatAnIdentifierMeans(t *testing.T) {
	at := Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	for _, c := range []struct{ resource, value, want string }{
		{"ec2:subnet", "subnet-0123abcd", "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-0123abcd"},
		{"ec2:internet-gateway", "igw-0123abcd", "arn:aws:ec2:eu-west-1:123456789012:internet-gateway/igw-0123abcd"},
		{"ec2:internet-gateway", "vgw-0123abcd", "arn:aws:ec2:eu-west-1:123456789012:vpn-gateway/vgw-0123abcd"},
		{"rds:subgrp", "shop", "arn:aws:rds:eu-west-1:123456789012:subgrp:shop"},
		{"s3:bucket", "code", "arn:aws:s3:::code"},
		{"route53:hostedzone", "Z1", "arn:aws:route53:::hostedzone/Z1"},
		{"kms:key", "1234", "arn:aws:kms:eu-west-1:123456789012:key/1234"},
		{"kms:key", "alias/shop", "arn:aws:kms:eu-west-1:123456789012:alias/shop"},
		{"kms:key", "arn:aws:kms:us-east-1:123456789012:key/1234", "arn:aws:kms:us-east-1:123456789012:key/1234"},
		{"iam:role", "team/app", "arn:aws:iam::123456789012:role/team/app"},
		{"arn", "arn:aws:lambda:eu-west-1:123456789012:function:shop:live", "arn:aws:lambda:eu-west-1:123456789012:function:shop"},
		{"arn", "arn:aws:s3:::code/path", "arn:aws:s3:::code"},
		{"arn", "arn:aws:sqs:eu-west-1:999999999999:jobs", ""},
		{"arn", "ops@example.com", ""},
		{"arn", "arn:nonsense", ""},
		{"ecr:image", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/a/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/a/shop"},
		{"ecr:image", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/shop@sha256:12", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"ecr:image", "999999999999.dkr.ecr.eu-west-1.amazonaws.com/shop:v1", ""},
		{"ecr:image", "shop:v1", ""},
		{"ecr:image", "123456789012.dkr.ecr-fips.eu-west-1.amazonaws.com/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"ecr:image", "123456789012.dkr-ecr.eu-west-1.on.aws/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"ecr:image", "123456789012.DKR.ECR.eu-west-1.amazonaws.com/shop:v1", "arn:aws:ecr:eu-west-1:123456789012:repository/shop"},
		{"rds:subgrp", "SHOP", "arn:aws:rds:eu-west-1:123456789012:subgrp:shop"},
		{"ec2:security-group", "sg-0ABCDEF1", "arn:aws:ec2:eu-west-1:123456789012:security-group/sg-0abcdef1"},
		{"s3:bucket", "Code", "arn:aws:s3:::code"},
		{"kms:key", "AB12", "arn:aws:kms:eu-west-1:123456789012:key/ab12"},
		{"kms:key", "alias/Shop", "arn:aws:kms:eu-west-1:123456789012:alias/Shop"},
		{"kms:key", "arn:aws:kms:us-east-1:123456789012:key/AB12", "arn:aws:kms:us-east-1:123456789012:key/ab12"},
		{"arn", "arn:aws:dynamodb:eu-west-1:123456789012:table/shop/stream/2026-01-01", "arn:aws:dynamodb:eu-west-1:123456789012:table/shop"},
		{"arn", "arn:aws:logs:eu-west-1:123456789012:log-group:/shop:*", "arn:aws:logs:eu-west-1:123456789012:log-group:/shop"},
		{"arn", "arn:aws:ec2:eu-west-1:123456789012:i-0123abcd", "arn:aws:ec2:eu-west-1:123456789012:instance/i-0123abcd"},
		{"arn", "arn:aws:ec2:us-east-1:123456789012:instance/i-0123abcd", "arn:aws:ec2:us-east-1:123456789012:instance/i-0123abcd"},
		{"ec2:security-group", "eni-0123456789abcdef0", "arn:aws:ec2:eu-west-1:123456789012:network-interface/eni-0123456789abcdef0"},
		{"ec2:internet-gateway", "local", ""},
		{"ec2:vpc", "own-0123abcd", ""},
		{"ec2:snapshot", "snap-0123abcd",
			"arn:aws:ec2:eu-west-1::snapshot/snap-0123abcd arn:aws:ec2:eu-west-1:123456789012:snapshot/snap-0123abcd"},
		{"elasticache:subnetgroup", "Shop", "arn:aws:elasticache:eu-west-1:123456789012:subnetgroup:shop"},
		{"rds:pg", "Shop", "arn:aws:rds:eu-west-1:123456789012:pg:shop"},
		{"logs:log-group", "/Shop", "arn:aws:logs:eu-west-1:123456789012:log-group:/Shop"},
		{"ecs:capacity-provider", "Shop", "arn:aws:ecs:eu-west-1:123456789012:capacity-provider/Shop"},
		{"ecs:capacity-provider", "FARGATE_SPOT", ""},
		{"arn", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop/db-AbCdEf:password::",
			"arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop/db-AbCdEf"},
		{"arn", "arn:aws:states:eu-west-1:123456789012:stateMachine:shop:live", "arn:aws:states:eu-west-1:123456789012:stateMachine:shop"},
		{"arn", "arn:aws:ssm:eu-west-1:123456789012:parameter/shop/key:3", "arn:aws:ssm:eu-west-1:123456789012:parameter/shop/key"},
		{"arn", "arn:aws:sns:eu-west-1:123456789012:shop:0b6e-11", "arn:aws:sns:eu-west-1:123456789012:shop"},
		{"arn", "arn:aws:s3:eu-west-1:123456789012:accesspoint/shop/object/a", "arn:aws:s3:eu-west-1:123456789012:accesspoint/shop"},
		{"arn", "arn:aws:rds:eu-west-1:123456789012:db:SHOP", "arn:aws:rds:eu-west-1:123456789012:db:shop"},
		{"arn", "arn:aws:kms:eu-west-1:123456789012:alias/Shop", "arn:aws:kms:eu-west-1:123456789012:alias/Shop"},
		{"route53:healthcheck", "0b6e", "arn:aws:route53:::healthcheck/0b6e"},
	} {
		if got := strings.Join(ARNsOf(at, c.resource, c.value), " "); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.resource, c.value, got, c.want)
		}
	}
}

func TestARNsByForm_KnowsURLsOfQueues(t *testing.T) {
	at := Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	const jobs = "arn:aws:sqs:eu-west-1:123456789012:jobs"
	for value, want := range map[string]string{
		"https://sqs.eu-west-1.amazonaws.com/123456789012/jobs":      jobs,
		"https://SQS-FIPS.EU-WEST-1.amazonaws.com/123456789012/jobs": jobs,
		"https://eu-west-1.queue.amazonaws.com/123456789012/jobs":    jobs,
		"https://queue.amazonaws.com/123456789012/jobs":              jobs,
		"https://sqs.eu-west-1.amazonaws.com/999999999999/jobs":      "",
		"https://example.com/123456789012/jobs":                      "",
		"subnet-0123abcd":                                            "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-0123abcd",
		jobs:                                                         jobs,
		"events":                                                     "",
	} {
		if got := strings.Join(ARNsByForm(at, value), " "); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestARNsByForm_KnowsPlacesInBucketsAndARNsInARNs(t *testing.T) {
	at := Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	for value, want := range map[string]string{
		"s3://shop/model.tar.gz":                            "arn:aws:s3:::shop",
		"S3://shop":                                         "arn:aws:s3:::shop",
		"s3a://shop.data/x/":                                "arn:aws:s3:::shop.data",
		"https://shop.s3.amazonaws.com/a.json":              "arn:aws:s3:::shop",
		"https://shop.data.s3.eu-west-1.amazonaws.com/a":    "arn:aws:s3:::shop.data",
		"https://s3.eu-west-1.amazonaws.com/shop/a":         "arn:aws:s3:::shop",
		"https://s3-eu-west-1.amazonaws.com/shop/a":         "arn:aws:s3:::shop",
		"https://S3.dualstack.eu-west-1.AMAZONAWS.com/shop": "arn:aws:s3:::shop",
		"https://shop.s3-accelerate.amazonaws.com":          "arn:aws:s3:::shop",
		"http://shop.s3-website-eu-west-1.amazonaws.com/":   "arn:aws:s3:::shop",
		"https://shop.s3.cn-north-1.amazonaws.com.cn":       "arn:aws:s3:::shop",
		"s3.eu-west-1.amazonaws.com":                        "",
		"s3://":                                             "",
		"https://shop.s3.example.com/a":                     "",
		"https://sts.amazonaws.com/s3":                      "",
		"ftp://shop.s3.amazonaws.com/a":                     "",
		"arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:shop:live/invocations": "arn:aws:lambda:eu-west-1:123456789012:function:shop",
		"arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:shop/invocations":      "arn:aws:lambda:eu-west-1:123456789012:function:shop",
	} {
		if got := strings.Join(ARNsByForm(at, value), " "); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// The name of a host says less than a URL: service principals have names of that form.
func TestARNsOfHost_KnowsBuckets(t *testing.T) {
	at := Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	for value, want := range map[string]string{
		"shop.s3.eu-west-1.amazonaws.com": "arn:aws:s3:::shop", "logging.s3.amazonaws.com": "arn:aws:s3:::logging",
		"s3.amazonaws.com": "", "com.amazonaws.eu-west-1.s3": "", "s3://shop": "", "shop": "",
	} {
		if got := strings.Join(ARNsOfHost(at, value), " "); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
		if got := ARNsByForm(at, value); len(got) > 0 && value != "s3://shop" {
			t.Errorf("%s: %q by its form", value, got)
		}
	}
}
