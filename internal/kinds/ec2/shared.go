// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func arnPrefix(sc kind.Scope, resource string) string {
	return fmt.Sprintf("arn:%s:ec2:%s:%s:%s/", sc.Partition, sc.Region, sc.Account, resource)
}

// tagSpecification lets the tags travel inside a create call.
func tagSpecification(of types.ResourceType, tags map[string]string) []types.TagSpecification {
	if len(tags) == 0 {
		return nil
	}
	return []types.TagSpecification{{ResourceType: of, Tags: kind.SDKTags[types.Tag](tags)}}
}

// tagging writes the tags of any EC2 resource; descriptions show them.
func tagging[S any](api *ec2.Client, id func(S) string) kind.Tagging[S] {
	return kind.Tagging[S]{
		OwnerFirst: true,
		Sets:       "ec2:CreateTags", Set: kind.Send(api.CreateTags, func(have S, tags map[string]string) *ec2.CreateTagsInput {
			return &ec2.CreateTagsInput{Resources: []string{id(have)}, Tags: kind.SDKTags[types.Tag](tags)}
		}),
		Removes: "ec2:DeleteTags", Remove: kind.Send(api.DeleteTags, func(have S, keys []string) *ec2.DeleteTagsInput {
			in := &ec2.DeleteTagsInput{Resources: []string{id(have)}}
			for _, k := range keys {
				in.Tags = append(in.Tags, types.Tag{Key: aws.String(k)}) // without a value: whatever the value is
			}
			return in
		}),
	}
}

// wildcards are the characters with a meaning in the values of filters.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
var wildcards = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)

// tagFilters selects the resources that carry each tag with one of its values.
func tagFilters(tags map[string][]string) []types.Filter {
	out := make([]types.Filter, 0, len(tags))
	for _, key := range kind.SortedKeys(tags) {
		f := types.Filter{Name: aws.String("tag:" + key)}
		for _, v := range tags[key] {
			f.Values = append(f.Values, wildcards.Replace(v))
		}
		out = append(out, f)
	}
	return out
}

// Resource holds the fields that the states of all kinds have in common if EC2 assigns their identifiers.
type Resource struct {
	Search kind.Search
	// Account is the account that must own the resource: resources that another account shares are described as well.
	Account string
	// ARNPrefix is the ARN without the identifier; EC2 reports no ARN of most resources.
	ARNPrefix string
	ID        string
}

func identify(sc kind.Scope, resource string) Resource {
	return Resource{Search: sc.Search, Account: sc.Account, ARNPrefix: arnPrefix(sc, resource)}
}

// arn returns the ARN of a resource that exists.
func (r Resource) arn() string { return r.ARNPrefix + r.ID }

// referredID returns the literal identifier, or that of the object that the reference names.
func referredID(sc kind.Scope, kindName, literal string, ref *v1alpha1.ObjectReference) (string, error) {
	if ref == nil {
		return literal, nil
	}
	target, err := sc.Ref(kindName, ref.Name)
	return target.ID, err
}

// checkNetwork refuses a range that is not the address of a network.
func checkNetwork(field, block string) error {
	if p, err := netip.ParsePrefix(block); err != nil || p != p.Masked() {
		return status.Invalid(field, "%q is not the address of a network: the bits after the prefix must be zero", block)
	}
	return nil
}

// description reads descriptions of one kind of resource.
type description[R any] struct {
	// list returns the resources with the identifiers, or those that match the filters.
	list func(ctx context.Context, ids []string, filters []types.Filter) ([]R, error)
	// of returns the identifier, the owning account and the tags of a resource; the account is nil where
	// EC2 describes only the resources of the caller's own.
	of func(R) (id, account *string, tags []types.Tag)
	// filter is the name of the filter by identifier, and batch serves several checks.
	filter string
	batch  *kind.Batch[R]
}

// find returns the object's resource, nil when there is none, and its duplicates.
func (d description[R]) find(ctx context.Context, r Resource, check *kind.Check) (*R, []string, error) {
	own := func(ids []string, filters []types.Filter) ([]R, error) {
		all, err := d.list(ctx, ids, filters)
		if awsclient.IsNotFound(err) {
			return nil, nil
		}
		return slices.DeleteFunc(all, func(e R) bool {
			_, account, _ := d.of(e)
			return account != nil && *account != r.Account
		}), err
	}
	return kind.Finder[R]{
		ByID: func(ctx context.Context, id string) (*R, error) {
			if check != nil {
				if found := d.batch.Find(ctx, id, check, d.byIDs(own)); found != nil {
					return found, nil
				}
			}
			found, err := own([]string{id}, nil)
			if err != nil || len(found) == 0 {
				return nil, err
			}
			return &found[0], nil
		},
		ByTags: func(_ context.Context, tags map[string][]string) ([]R, error) { return own(nil, tagFilters(tags)) },
		ID:     d.id,
		Tags: func(e R) map[string]string {
			_, _, tags := d.of(e)
			return kind.TagMap(tags)
		},
	}.Find(ctx, r.Search)
}

func (d description[R]) id(e R) string {
	id, _, _ := d.of(e)
	return aws.ToString(id)
}

// byIDs reads many resources by a filter: EC2 refuses a call with identifiers if one of them does not exist.
func (d description[R]) byIDs(own func([]string, []types.Filter) ([]R, error)) func(context.Context, []string) (map[string]R, error) {
	return func(_ context.Context, ids []string) (map[string]R, error) {
		all, err := own(nil, []types.Filter{{Name: &d.filter, Values: ids}})
		return kind.ByID(all, d.id), err
	}
}
