// SPDX-License-Identifier: Apache-2.0

// Package rds is the RDS kinds.
package rds

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// taggingOf writes the tags of any RDS resource by its ARN. list is nil where the description shows the tags.
func taggingOf[S any](api *rds.Client, arn func(S) *string, list func(context.Context, S) (map[string]string, error)) kind.Tagging[S] {
	out := kind.Tagging[S]{
		List: list,
		Sets: "rds:AddTagsToResource", Set: kind.Send(api.AddTagsToResource, func(have S, tags map[string]string) *rds.AddTagsToResourceInput {
			return &rds.AddTagsToResourceInput{ResourceName: arn(have), Tags: kind.SDKTags[types.Tag](tags)}
		}),
		Removes: "rds:RemoveTagsFromResource", Remove: kind.Send(api.RemoveTagsFromResource, func(have S, keys []string) *rds.RemoveTagsFromResourceInput {
			return &rds.RemoveTagsFromResourceInput{ResourceName: arn(have), TagKeys: keys}
		}),
	}
	if list != nil {
		out.Reads = "rds:ListTagsForResource"
	}
	return out
}
