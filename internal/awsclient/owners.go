// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

const (
	// ownersLast bounds how long the tags of a named resource serve other objects.
	ownersLast = time.Minute
	// maxARNs limits the resources that one request of the tagging API names:
	// https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
	maxARNs = 100
)

// globalRegions says where the tagging API shows the resources of services without regions, by partition.
var globalRegions = map[string]string{"aws": "us-east-1", "aws-cn": "cn-northwest-1", "aws-us-gov": "us-gov-west-1"}

// owners remembers tags by ARN.
type owners struct {
	mu   sync.Mutex
	tags map[string]tagsAt
}

type tagsAt struct {
	at   time.Time
	tags map[string]string
}

// OwnersOf returns the tags of resources by their ARNs, and none of resources without tags, of other accounts, and of those that do
// not exist. An answer serves a minute. The tagging API shows new tags after some seconds, and a bucket in another region not at
// all. Errors are the kinds that Explain returns.
func (s *Session) OwnersOf(ctx context.Context, arns []string) (map[string]map[string]string, error) {
	known := s.Memo("owners", func() any { return &owners{tags: map[string]tagsAt{}} }).(*owners)
	out, unknown := known.of(arns, s.now())
	byRegion, aliases := map[string][]string{}, map[string]string{}
	for _, arn := range unknown {
		tags, tagged, err := s.ownersElsewhere(ctx, arn)
		if err != nil {
			return nil, err
		}
		if tagged == "" {
			out[arn] = known.remember(arn, tags, s.now())
			continue
		}
		aliases[arn] = tagged
		byRegion[regionOf(s, tagged)] = append(byRegion[regionOf(s, tagged)], tagged)
	}
	found, err := s.tagged(ctx, byRegion)
	if err != nil {
		return nil, err
	}
	for arn, tagged := range aliases {
		out[arn] = known.remember(arn, found[tagged], s.now())
	}
	return out, nil
}

// tagged reads the tags of resources by their regions.
func (s *Session) tagged(ctx context.Context, byRegion map[string][]string) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	for _, region := range kind.SortedKeys(byRegion) {
		for batch := range slices.Chunk(byRegion[region], maxARNs) {
			if err := s.addTags(ctx, region, batch, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// of returns the tags that are known, and the ARNs of all others.
func (o *owners) of(arns []string, now time.Time) (known map[string]map[string]string, unknown []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known = map[string]map[string]string{}
	for _, arn := range arns {
		if t, ok := o.tags[arn]; ok && now.Sub(t.at) < ownersLast {
			known[arn] = t.tags
		} else {
			unknown = append(unknown, arn)
		}
	}
	return known, unknown
}

func (o *owners) remember(arn string, tags map[string]string, now time.Time) map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for other, t := range o.tags {
		if now.Sub(t.at) >= ownersLast {
			delete(o.tags, other)
		}
	}
	o.tags[arn] = tagsAt{now, tags}
	return tags
}

// regionOf returns the region of the tagging API that shows a resource.
func regionOf(s *Session, arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	switch {
	case parts[3] != "":
		return parts[3]
	case parts[2] == "s3":
		return s.Region
	default:
		return globalRegions[s.Partition]
	}
}

// ownersElsewhere reads the tags of a resource that the tagging API does not show: of a role. For an alias of a key it returns the
// ARN of the key, and for every other resource the ARN as it is.
func (s *Session) ownersElsewhere(ctx context.Context, arn string) (tags map[string]string, tagged string, err error) {
	parts := strings.SplitN(arn, ":", 6)
	switch resource := parts[5]; {
	case parts[2] == "iam" && strings.HasPrefix(resource, "role/"):
		tags, err = s.tagsOfRole(ctx, resource[strings.LastIndex(resource, "/")+1:])
		return tags, "", err
	case parts[2] == "kms" && strings.HasPrefix(resource, "alias/aws/"):
		return nil, "", nil
	case parts[2] == "kms" && strings.HasPrefix(resource, "alias/"):
		out, err := Lookup(ctx, kms.NewFromConfig(s.in(parts[3])).DescribeKey, &kms.DescribeKeyInput{KeyId: &arn})
		if err != nil || out == nil {
			return nil, "", Explain(err, "kms:DescribeKey")
		}
		return nil, aws.ToString(out.KeyMetadata.Arn), nil
	default:
		return nil, arn, nil
	}
}

func (s *Session) tagsOfRole(ctx context.Context, name string) (map[string]string, error) {
	out, err := Lookup(ctx, iam.NewFromConfig(s.Config).GetRole, &iam.GetRoleInput{RoleName: &name})
	if err != nil || out == nil {
		return nil, Explain(err, "iam:GetRole")
	}
	return kind.TagMap(out.Role.Tags), nil
}

// in returns the configuration of the session for another region.
func (s *Session) in(region string) aws.Config {
	cfg := s.Config
	cfg.Region = region
	return cfg
}

// addTags reads the tags of resources of one region. The tagging API refuses all ARNs of a request when it does not know the form of one,
// as that of a service without tags; such an ARN has none: https://github.com/aws/aws-sdk/issues/589
func (s *Session) addTags(ctx context.Context, region string, arns []string, to map[string]map[string]string) error {
	found, err := s.tagsIn(ctx, region, arns)
	api, isAPI := errors.AsType[smithy.APIError](err)
	switch {
	case isAPI && api.ErrorCode() == "InvalidParameterException" && len(arns) > 1:
		half := len(arns) / 2
		return cmp.Or(s.addTags(ctx, region, arns[:half], to), s.addTags(ctx, region, arns[half:], to))
	case isAPI && api.ErrorCode() == "InvalidParameterException":
		return nil
	}
	maps.Copy(to, found)
	return err
}

// tagsIn reads the tags of resources of one region.
func (s *Session) tagsIn(ctx context.Context, region string, arns []string) (map[string]map[string]string, error) {
	api := s.Memo("tagging in "+region, func() any { return tagging.NewFromConfig(s.in(region)) }).(*tagging.Client)
	in := &tagging.GetResourcesInput{ResourceARNList: arns}
	found, err := kind.Pages(ctx, api.GetResources, in, &in.PaginationToken,
		func(out *tagging.GetResourcesOutput) ([]types.ResourceTagMapping, *string) {
			return out.ResourceTagMappingList, out.PaginationToken
		})
	if err != nil {
		return nil, Explain(err, "tag:GetResources")
	}
	out := map[string]map[string]string{}
	for _, r := range found {
		out[aws.ToString(r.ResourceARN)] = kind.TagMap(r.Tags)
	}
	return out, nil
}
