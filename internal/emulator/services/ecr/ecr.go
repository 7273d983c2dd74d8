// SPDX-License-Identifier: Apache-2.0

// Package ecr holds the emulator's facts and corrections for Amazon ECR.
package ecr

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service keeps nothing: moto has all that is needed.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "ecr",
		Requests: proxy.RequestFacts{Keys: []string{"repositoryName", "repositoryNames"}},
		Errors: proxy.ErrorFacts{Missing: map[string]proxy.Error{
			"": {Status: http.StatusBadRequest, Code: "RepositoryNotFoundException",
				Message: "The repository with name '%s' does not exist in the registry"}}},
		Writes: proxy.WriteFacts{TagReads: []proxy.TagRead{{Op: "ListTagsForResource", Where: "tags"}}},
		Names: map[string]proxy.NameRule{"CreateRepository": {Member: "repositoryName", Min: 2, Max: 256,
			Pattern: regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`),
			Code:    "InvalidParameterException"}},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{"ecr repository/*": {Members: []string{"repositoryName", "repositoryNames"}}},
			Dependents: []proxy.Dependent{
				{Action: "ecr:CreateRepository", Needs: "ecr:TagResource", With: proxy.WithTags, At: []string{"ecr repository/*"}},
				kms.Encrypted("ecr:CreateRepository", "encryptionConfiguration.kmsKey", "ecr", "kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"),
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "ecr/repository", Global: false,
			List: proxy.ListJSON("ecr", "AmazonEC2ContainerRegistry_V20150921.DescribeRepositories", "repositories", "repositoryName")}},
		Rewrites: []proxy.Rewrite{
			{Kind: "ECRRepository", Field: "encryptionConfiguration.kmsKey", What: "every identifier of a key, and none, becomes the key's ARN",
				Ops: []string{"DescribeRepositories"}, Members: showKeysOfRepositories},
			{Kind: "ECRRepository", Field: "repositoryPolicy", What: proxy.RewrittenPolicy,
				Ops: []string{"GetRepositoryPolicy"}, Member: "policyText", Text: proxy.RewritePolicy},
			{Kind: "ECRRepository", Field: "lifecyclePolicy.policyText",
				What: "rules get the order of their priorities, tags another order, and empty lists of them are left out", IsRecorded: true,
				Ops: []string{"GetLifecyclePolicy"}, Member: "lifecyclePolicyText", Text: orderLifecycle},
		},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{{Name: "scans that a request ends", Ops: []string{"PutImageScanningConfiguration"}, After: s.endScanning}}
}

// endScanning: scanOnPush is false where a request leaves it out, as clients do with false. moto keeps the value of before.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_ImageScanningConfiguration.html
func (s *Service) endScanning(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() || proxy.Member(x.JSON, "imageScanningConfiguration.scanOnPush") != nil {
		return a
	}
	request := maps.Clone(x.JSON)
	request["imageScanningConfiguration"] = map[string]any{"scanOnPush": false}
	again, _, err := s.AskJSON(ctx, x, x.Op, request)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return again
}

// showKeysOfRepositories shows the key behind an alias, also behind the one of AWS, which is used where none is named.
func showKeysOfRepositories(body map[string]any) {
	list, _ := body["repositories"].([]any)
	for _, listed := range list {
		r, _ := listed.(map[string]any)
		encryption, _ := proxy.Member(r, "encryptionConfiguration").(map[string]any)
		if proxy.Text(encryption["encryptionType"]) != "KMS" {
			continue
		}
		arn := strings.Split(proxy.Text(proxy.Member(r, "repositoryArn")), ":")
		switch key := proxy.Text(encryption["kmsKey"]); {
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
	return proxy.Redocument(policy, func(document map[string]any) {
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
func (s *Service) TagsOf(ctx context.Context, x *proxy.Exchange, resource string) []map[string]string {
	arn := "arn:" + proxy.PartitionOf(x.Region) + ":ecr:" + x.Region + ":" + s.AccountOf(x.AccessKey) + ":" + resource
	body, err := json.Marshal(map[string]string{"resourceArn": arn})
	if err != nil {
		return nil
	}
	a, err := s.Ask(ctx, x.To("ecr"), http.MethodPost, "/",
		http.Header{"X-Amz-Target": {"AmazonEC2ContainerRegistry_V20150921.ListTagsForResource"},
			"Content-Type": {"application/x-amz-json-1.1"}}, body)
	var found struct {
		Tags []struct{ Key, Value string }
	}
	if err != nil || json.Unmarshal(a.Body, &found) != nil {
		return nil
	}
	var out []map[string]string
	for _, t := range found.Tags {
		out = append(out, map[string]string{"Key": t.Key, "Value": t.Value})
	}
	return out
}
