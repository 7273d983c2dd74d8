// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/glue"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ownerPrefix begins the keys that record the owner of a resource. Users may not write them.
const (
	ownerPrefix = "nexus.ai/"
	clusterKey  = ownerPrefix + "cluster"
)

// arn returns the ARN of a Data Catalog resource, such as arn:aws:glue:eu-west-1:123456789012:database/lake.
func arn(sc kind.Scope, resource string) string {
	return fmt.Sprintf("arn:%s:glue:%s:%s:%s", sc.Partition, sc.Region, sc.Account, resource)
}

// tagging reads and writes the tags of a resource; arn returns its ARN.
func tagging[S any](api *glue.Client, arn func(S) string) kind.Tagging[S] {
	return kind.Tagging[S]{
		Reads: "glue:GetTags", List: func(ctx context.Context, have S) (map[string]string, error) {
			out, err := api.GetTags(ctx, &glue.GetTagsInput{ResourceArn: kind.Ptr(arn(have))})
			if err != nil {
				return nil, err
			}
			return out.Tags, nil
		},
		Sets: "glue:TagResource", Set: kind.Send(api.TagResource, func(have S, tags map[string]string) *glue.TagResourceInput {
			return &glue.TagResourceInput{ResourceArn: kind.Ptr(arn(have)), TagsToAdd: tags}
		}),
		Removes: "glue:UntagResource", Remove: kind.Send(api.UntagResource, func(have S, keys []string) *glue.UntagResourceInput {
			return &glue.UntagResourceInput{ResourceArn: kind.Ptr(arn(have)), TagsToRemove: keys}
		}),
	}
}

// explain turns "not found" for the tags of a resource that was just described into waiting: it was
// deleted between the two reads, or a replica of Glue lags.
func explain[S any](err error, _ kind.Seen[S]) error {
	if !awsclient.IsNotFound(err) {
		return err
	}
	return &status.Waiting{For: "a second look: Glue described the resource and answered that its tags do not exist", After: time.Second, Usable: true}
}

// wantedParameters returns the declared catalog parameters and, as nil, those that were declared before
// and are not any more. It leaves out the keys that Glue, crawlers and other writers added.
func wantedParameters(declared map[string]v1alpha1.GlueParameter, recorded []string) (map[string]*string, error) {
	out := make(map[string]*string, len(declared)+len(recorded))
	for _, k := range recorded {
		out[k] = nil
	}
	for k, v := range declared {
		if strings.HasPrefix(k, ownerPrefix) {
			return nil, status.Invalid("spec.parameters", "the key %s begins with %s, which is reserved for the operator; choose another key", k, ownerPrefix)
		}
		out[k] = kind.Ptr(string(v))
	}
	return out, nil
}

// seenParameters returns the catalog parameters without the owner keys.
func seenParameters(have map[string]string) map[string]*string {
	out := make(map[string]*string, len(have))
	for k, v := range have {
		if !strings.HasPrefix(k, ownerPrefix) {
			out[k] = kind.Ptr(v)
		}
	}
	return out
}

// ownerKeys returns the keys that record the owner.
func ownerKeys(parameters map[string]string) map[string]string {
	out := maps.Clone(parameters)
	maps.DeleteFunc(out, func(k, _ string) bool { return !strings.HasPrefix(k, ownerPrefix) })
	return out
}

// mergeChanged returns the found values with the differences in a map field applied and all other keys unchanged.
func mergeChanged(found, want map[string]string, diff kind.Diff, field string) map[string]string {
	set, remove := diff.Keys(field)
	return kind.MergeTags(found, kind.Only(want, set), remove)
}

// plainValues returns the parameters without those that are wanted to be absent.
func plainValues(want map[string]*string) map[string]string {
	out := make(map[string]string, len(want))
	for k, v := range want {
		if v != nil {
			out[k] = *v
		}
	}
	return out
}

// managedKeys returns the keys to record in the status: those that exist and that the spec declares, now or
// before.
func managedKeys(declared map[string]v1alpha1.GlueParameter, recorded []string, seen map[string]*string) []string {
	names := slices.Concat(kind.SortedKeys(declared), recorded)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(k string) bool { return seen[k] == nil })
}
