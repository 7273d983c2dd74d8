// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// ecrService keeps nothing: moto has all that is needed.
type ecrService struct{ base }

func (s *ecrService) Facts() *Facts {
	return &Facts{
		Prefix:   "ecr",
		Requests: RequestFacts{Keys: []string{"repositoryName", "repositoryNames"}},
		Errors: ErrorFacts{Missing: map[string]awsError{
			"": {http.StatusBadRequest, "RepositoryNotFoundException", "The repository with name '%s' does not exist in the registry"}}},
		Writes: WriteFacts{TagReads: []tagRead{{op: "ListTagsForResource", where: "tags"}}},
		Names: map[string]nameRule{"CreateRepository": {"repositoryName", 2, 256,
			regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`), "InvalidParameterException"}},
		Rights: RightFacts{
			Namings: map[string]naming{"ecr repository/*": {members: []string{"repositoryName", "repositoryNames"}}},
			Dependents: []dependent{
				{action: "ecr:CreateRepository", needs: "ecr:TagResource", with: withTags, at: []string{"ecr repository/*"}},
				encrypted("ecr:CreateRepository", "encryptionConfiguration.kmsKey", "ecr", "kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"),
			},
		},
		Inventory: []inventoryKind{{"ecr/repository", false, listJSON("ecr", "AmazonEC2ContainerRegistry_V20150921.DescribeRepositories", "repositories", "repositoryName")}},
		Rewrites: []Rewrite{
			{Kind: "ECRRepository", Field: "encryptionConfiguration.kmsKey", What: "every identifier of a key, and none, becomes the key's ARN",
				ops: []string{"DescribeRepositories"}, members: showKeysOfRepositories},
			{Kind: "ECRRepository", Field: "repositoryPolicy", What: rewrittenPolicy, ops: []string{"GetRepositoryPolicy"}, member: "policyText", text: rewritePolicy},
			{Kind: "ECRRepository", Field: "lifecyclePolicy.policyText", What: "rules get the order of their priorities, tags another order, and empty lists of them are left out", isRecorded: true,
				ops: []string{"GetLifecyclePolicy"}, member: "lifecyclePolicyText", text: orderLifecycle},
		},
	}
}

func (s *ecrService) Corrections() []Correction {
	return []Correction{{Name: "scans that a request ends", Ops: []string{"PutImageScanningConfiguration"}, After: s.endScanning}}
}

// endScanning: scanOnPush is false where a request leaves it out, as clients do with false. moto keeps the value of before.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_ImageScanningConfiguration.html
func (s *ecrService) endScanning(ctx context.Context, x *exchange, a *answer) *answer {
	if !a.ok() || member(x.json, "imageScanningConfiguration.scanOnPush") != nil {
		return a
	}
	request := maps.Clone(x.json)
	request["imageScanningConfiguration"] = map[string]any{"scanOnPush": false}
	again, _, err := s.askJSON(ctx, x, x.op, request)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return again
}

// showKeysOfRepositories shows the key behind an alias, also behind the one of AWS, which is used where none is named.
func showKeysOfRepositories(body map[string]any) {
	list, _ := body["repositories"].([]any)
	for _, listed := range list {
		r, _ := listed.(map[string]any)
		encryption, _ := member(r, "encryptionConfiguration").(map[string]any)
		if text(encryption["encryptionType"]) != "KMS" {
			continue
		}
		arn := strings.Split(text(member(r, "repositoryArn")), ":")
		switch key := text(encryption["kmsKey"]); {
		case strings.Contains(key, ":key/"):
		case key == "" || strings.Contains(key, "alias/"):
			encryption["kmsKey"] = "arn:aws:kms:" + arn[3] + ":" + arn[4] + ":key/0d0d0d0d-0000-4000-8000-00000000000a"
		default:
			encryption["kmsKey"] = "arn:aws:kms:" + arn[3] + ":" + arn[4] + ":key/" + key
		}
	}
}

// orderLifecycle orders a lifecycle policy as ECR does.
func orderLifecycle(policy string) string {
	return redocument(policy, func(document map[string]any) {
		rules, _ := document["rules"].([]any)
		slices.SortFunc(rules, func(a, b any) int { return cmp.Compare(priority(a), priority(b)) })
		for _, rule := range rules {
			r, _ := rule.(map[string]any)
			selection, _ := r["selection"].(map[string]any)
			for _, name := range []string{"tagPrefixList", "tagPatternList"} {
				tags, _ := selection[name].([]any)
				slices.Reverse(tags)
				if len(tags) == 0 {
					delete(selection, name)
				}
			}
		}
	})
}

func priority(rule any) float64 {
	r, _ := rule.(map[string]any)
	n, _ := r["rulePriority"].(float64)
	return n
}

// TagsOf returns the tags of repositories, which moto's tagging API leaves out.
func (s *ecrService) TagsOf(ctx context.Context, x *exchange, resource string) []map[string]string {
	arn := "arn:" + partitionOf(x.region) + ":ecr:" + x.region + ":" + s.accountOf(x.accessKey) + ":" + resource
	body, err := json.Marshal(map[string]string{"resourceArn": arn})
	if err != nil {
		return nil
	}
	a, err := s.ask(ctx, x.to("ecr"), http.MethodPost, "/",
		http.Header{"X-Amz-Target": {"AmazonEC2ContainerRegistry_V20150921.ListTagsForResource"}, "Content-Type": {"application/x-amz-json-1.1"}}, body)
	var found struct {
		Tags []struct{ Key, Value string }
	}
	if err != nil || json.Unmarshal(a.body, &found) != nil {
		return nil
	}
	var out []map[string]string
	for _, t := range found.Tags {
		out = append(out, map[string]string{"Key": t.Key, "Value": t.Value})
	}
	return out
}
