// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// TaggedARNs returns the ARNs of the resources of a type, such as kms:key, that carry each of the tags with one of its values, or with any
// where it has none. No type stands for all. It is for services that show no tags in their lists. The tagging API shows new resources and
// tags after some seconds. Errors are those of the SDK.
func TaggedARNs(ctx context.Context,
	call func(context.Context, *tagging.GetResourcesInput, ...func(*tagging.Options)) (*tagging.GetResourcesOutput, error),
	resourceType string, tags map[string][]string) ([]string, error) {
	in := &tagging.GetResourcesInput{}
	if resourceType != "" {
		in.ResourceTypeFilters = []string{resourceType}
	}
	for _, name := range kind.SortedKeys(tags) {
		in.TagFilters = append(in.TagFilters, types.TagFilter{Key: &name, Values: tags[name]})
	}
	return kind.Pages(ctx, call, in, &in.PaginationToken, func(out *tagging.GetResourcesOutput) (arns []string, next *string) {
		for _, r := range out.ResourceTagMappingList {
			arns = append(arns, aws.ToString(r.ResourceARN))
		}
		return arns, out.PaginationToken
	})
}

// TaggedARNs is the function of this name for the resources of all types in the session's region.
func (s *Session) TaggedARNs(ctx context.Context, tags map[string][]string) ([]string, error) {
	return TaggedARNs(ctx, tagging.NewFromConfig(s.Config).GetResources, "", tags)
}
