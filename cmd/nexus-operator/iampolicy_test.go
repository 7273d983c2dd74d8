// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// printed returns what iam-policy prints, read as AWS would read it.
func printed(t *testing.T, args ...string) []iampolicy.Document {
	t.Helper()
	var text strings.Builder
	if err := printIAMPolicies(&text, args); err != nil {
		t.Fatal(err)
	}
	var out []iampolicy.Document
	for d := json.NewDecoder(strings.NewReader(text.String())); ; {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		document, err := iampolicy.Parse(string(raw))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, document)
	}
}

func allowedActions(documents []iampolicy.Document) map[string]bool {
	out := map[string]bool{}
	for _, d := range documents {
		for _, s := range d.Statement {
			for _, action := range s.Action {
				out[action] = true
			}
		}
	}
	return out
}

// needed returns the rights without a call that a kind declares in its facts.
func needed(rights kind.Rights) (out []string) {
	for _, need := range rights.Needs {
		out = append(out, strings.Fields(need.Actions)...)
	}
	for _, use := range rights.Encrypts {
		out = append(out, strings.Fields(use)...)
	}
	return out
}

// The operator's policy allows every action that a kind declares, and no other. iam:PassRole, the use of keys by
// services, the invocation of functions that rotate secrets, what Lambda reads for its caller, the roles that services have, tags of new
// buckets and final snapshots are rights without a call.
func TestIAMPolicy_AllowsWhatTheKindsDeclareAndNoMore(t *testing.T) {
	want := map[string]bool{"iam:PassRole": true, "lambda:InvokeFunction": true, "lambda:ListTags": true, "lambda:GetLayerVersion": true,
		"ecr:BatchGetImage": true, "ecr:GetDownloadUrlForLayer": true, "iam:CreateServiceLinkedRole": true,
		"s3:TagResource": true, "s3:DeleteObject": true, "rds:CreateDBSnapshot": true, "cognito-idp:TagResource": true}
	for _, use := range []string{"CreateGrant", "Decrypt", "Encrypt", "GenerateDataKey", "GenerateDataKeyWithoutPlaintext", "ReEncryptFrom",
		"ReEncryptTo", "RetireGrant"} {
		want["kms:"+use] = true
	}
	for _, k := range catalog.Kinds() {
		for _, action := range slices.Concat(k.Meta().Reads, k.Meta().Writes, k.Meta().Optional, k.Meta().Judges,
			needed(k.Meta().Facts.Rights)) {
			want[action] = true
		}
	}
	if len(want) < 80 {
		t.Fatalf("the kinds declare only %d actions", len(want))
	}
	for _, args := range [][]string{{"operator"}, {"operator", "--name-prefix=team-", "--account=123456789012", "--region=eu-west-1",
		"--permissions-boundary=arn:aws:iam::123456789012:policy/b"}} {
		if got := allowedActions(printed(t, args...)); !maps.Equal(got, want) {
			t.Errorf("%v: got %v\nwant %v", args, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

func TestIAMPolicy_AddsWhatItsFlagsAskFor(t *testing.T) {
	got := allowedActions(printed(t, "operator", "--assume-roles=arn:aws:iam::210987654321:role/a", "--eks-cluster-name=c"))
	if !got["sts:AssumeRole"] || !got["eks:DescribeCluster"] {
		t.Errorf("got %v", got)
	}
	if got := allowedActions(printed(t, "installer")); !got["ecr:PutImage"] || got["s3:CreateBucket"] {
		t.Errorf("the installer gets %v", got)
	}
	if got := allowedActions(printed(t, "operator", "--kinds=S3Bucket,IAMRole")); !got["s3:CreateBucket"] || !got["iam:CreateRole"] ||
		got["sqs:CreateQueue"] {
		t.Errorf("for two kinds: %v", got)
	}
	if got := allowedActions(printed(t, "operator", "--types=AWS::Kinesis::*,AWS::DSQL::Cluster")); !got["kinesis:CreateStream"] ||
		!got["dsql:CreateCluster"] || !got["sqs:CreateQueue"] {
		t.Errorf("for types: %v", got)
	}
	if err := printIAMPolicies(io.Discard, []string{"operator", "--types=AWS::Kinesis::Strem"}); err == nil ||
		!strings.Contains(err.Error(), "describe-type") {
		t.Errorf("an unknown type: %v", err)
	}
	if err := printIAMPolicies(io.Discard, []string{"operator", "--kinds=S3Bukket"}); err == nil ||
		!strings.Contains(err.Error(), "SSMParameterSet") {
		t.Errorf("an unknown kind: %v", err)
	}
	for _, args := range [][]string{{}, {"everything"}, {"operator", "installer"}, {"operator", "--nonsense"}} {
		if err := printIAMPolicies(io.Discard, args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
