package glue

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/glue"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ownerPrefix begins the keys that say whose a resource is: users may not write them.
const ownerPrefix = "nexus.ai/"

// arn is a Data Catalog name such as arn:aws:glue:eu-west-1:123456789012:database/lake.
func arn(sc kind.Scope, resource string) string {
	return fmt.Sprintf("arn:%s:glue:%s:%s:%s", sc.Partition, sc.Region, sc.Account, resource)
}

func getTags(ctx context.Context, api *glue.Client, arn string) (map[string]string, error) {
	out, err := api.GetTags(ctx, &glue.GetTagsInput{ResourceArn: &arn})
	if err != nil {
		return nil, err
	}
	return out.Tags, nil
}

// tagSteps adds and removes exactly the keys that differ.
func tagSteps(api *glue.Client, arn string, want map[string]string, diff kind.Diff) []kind.Step {
	set, remove := diff.Keys("Tags")
	var steps []kind.Step
	if len(set) > 0 {
		steps = append(steps, kind.Step{Action: "glue:TagResource", Fixes: tagPaths(set), Do: func(ctx context.Context, _ string) (string, error) {
			_, err := api.TagResource(ctx, &glue.TagResourceInput{ResourceArn: &arn, TagsToAdd: kind.Only(want, set)})
			return "", err
		}})
	}
	if len(remove) > 0 {
		steps = append(steps, kind.Step{Action: "glue:UntagResource", Fixes: tagPaths(remove), Do: func(ctx context.Context, _ string) (string, error) {
			_, err := api.UntagResource(ctx, &glue.UntagResourceInput{ResourceArn: &arn, TagsToRemove: remove})
			return "", err
		}})
	}
	return steps
}

func tagPaths(keys []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "Tags[" + k + "]"
	}
	return out
}

// wantedParameters are the declared catalog parameters and, as nil, those that were declared once and
// are not any more. Glue and its crawlers add keys of their own, which are not ours to remove.
func wantedParameters(declared map[string]v1alpha1.GlueParameter, recorded []string) (map[string]*string, error) {
	out := make(map[string]*string, len(declared)+len(recorded))
	for _, k := range recorded {
		out[k] = nil
	}
	for k, v := range declared {
		if strings.HasPrefix(k, ownerPrefix) {
			return nil, status.Invalid("spec.parameters", "%s: keys beginning with %s are the operator's own", k, ownerPrefix)
		}
		out[k] = kind.Ptr(string(v))
	}
	return out, nil
}

// seenParameters are the catalog parameters that are not owner keys.
func seenParameters(have map[string]string) map[string]*string {
	out := make(map[string]*string, len(have))
	for k, v := range have {
		if !strings.HasPrefix(k, ownerPrefix) {
			out[k] = kind.Ptr(v)
		}
	}
	return out
}

// setParameters applies the differences in Parameters to what is there and touches no other key.
func setParameters(have map[string]string, want map[string]*string, diff kind.Diff) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	set, remove := diff.Keys("Parameters")
	for _, k := range set {
		out[k] = *want[k]
	}
	for _, k := range remove {
		delete(out, k)
	}
	return out
}

// plain drops the keys that shall be absent.
func plain(want map[string]*string) map[string]string {
	out := make(map[string]string, len(want))
	for k, v := range want {
		if v != nil {
			out[k] = *v
		}
	}
	return out
}

// managed are the keys to record: those found that the spec declares or once declared.
func managed(declared map[string]v1alpha1.GlueParameter, recorded []string, seen map[string]*string) []string {
	ours := make(map[string]bool, len(declared)+len(recorded))
	for _, k := range recorded {
		ours[k] = seen[k] != nil
	}
	for k := range declared {
		ours[k] = seen[k] != nil
	}
	maps.DeleteFunc(ours, func(_ string, found bool) bool { return !found })
	return kind.SortedKeys(ours)
}

// orNil sends nothing for what is wanted to be empty: Glue takes an absent member of a whole object for that.
func orNil(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}
