// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"cmp"
	"context"
	"slices"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// Search holds the facts about a resource that gets its identifier from AWS. A state keeps them in a field tagged `drift:"id"`; Identify
// fills it in from Scope.
type Search struct {
	// ID is the identifier that AWS assigned, from the status, or the one to import; empty while there is none. Only kinds with identifiers
	// that AWS assigns read it.
	ID string
	// Imported is true when the user named the identifier: no other resource may take its place.
	Imported bool
	// OwnerTags are only the operator's own tags, also for resources that keep them elsewhere than in tags.
	OwnerTags map[string]string
	// Clusters are the clusters that the object may take over resources from, its own first.
	Clusters []string
	// Duplicated is true while the object reports DuplicateResources, so that each look searches again.
	Duplicated bool
	// Deleting is true when the object is being deleted: only identity matters then.
	Deleting bool
	// MayUse reports whether the object may use a resource with these tags without owning it: one without an owner, of the object's
	// namespace, or of a namespace that an administrator shares.
	MayUse func(tags map[string]string) bool
}

// queries are the searches by tags, in order; the first that finds something decides. Resources left by
// an earlier object of the name are searched only before the object has a resource: a deletion, or a
// resource that vanished, must not lead to a resource that this object never had.
func (s Search) queries() []map[string][]string {
	own := map[string][]string{wellknown.TagOwnerUID: {s.OwnerTags[wellknown.TagOwnerUID]}, wellknown.TagCluster: s.Clusters}
	if s.Deleting || s.ID != "" {
		return []map[string][]string{own}
	}
	return []map[string][]string{own, {wellknown.TagOwner: {s.OwnerTags[wellknown.TagOwner]}, wellknown.TagCluster: s.Clusters}}
}

// Finder finds the resource of an object where AWS assigns the identifiers: by the recorded identifier,
// and while there is none, or AWS does not know it, by the owner tags that the create call carried.
type Finder[R any] struct {
	// ByID returns the resource with the identifier; nil when AWS does not know it.
	ByID func(ctx context.Context, id string) (*R, error)
	// ByTags returns the resources that carry each of the tags with one of its values.
	ByTags func(ctx context.Context, tags map[string][]string) ([]R, error)
	// Unfiltered is true where ByTags also returns resources without the tags, because no search of the service looks at
	// tags. A resource then has to show each of them.
	Unfiltered bool
	// ID and Tags read a resource.
	ID   func(r R) string
	Tags func(r R) map[string]string
}

// Find returns the object's resource, nil when there is none, and the identifiers of further resources
// that carry the object's UID. Of several the one with the lowest identifier is the object's.
func (f Finder[R]) Find(ctx context.Context, s Search) (*R, []string, error) {
	if s.ID != "" {
		r, err := f.ByID(ctx, s.ID)
		if err != nil || s.Imported && r == nil || r != nil && !s.Duplicated {
			return r, nil, err
		}
		if r != nil {
			others, err := f.search(ctx, s.queries()[0])
			return r, f.others(others, s.ID), err
		}
	}
	return f.findByTags(ctx, s)
}

// findByTags tries one search after the other until one finds something.
func (f Finder[R]) findByTags(ctx context.Context, s Search) (*R, []string, error) {
	for i, tags := range s.queries() {
		found, err := f.search(ctx, tags)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			continue
		}
		if i > 0 {
			return &found[0], nil, nil
		}
		return &found[0], f.others(found, f.ID(found[0])), nil
	}
	return nil, nil, nil
}

// search returns the resources with the tags, in the order of the identifiers. A tag that AWS does not show is no contradiction:
// descriptions lag behind the index that the search uses.
func (f Finder[R]) search(ctx context.Context, tags map[string][]string) ([]R, error) {
	found, err := f.ByTags(ctx, tags)
	found = slices.DeleteFunc(found, func(r R) bool {
		have := f.Tags(r)
		for key, values := range tags {
			if v, ok := have[key]; (ok || f.Unfiltered) && !slices.Contains(values, v) {
				return true
			}
		}
		return false
	})
	slices.SortFunc(found, func(a, b R) int { return cmp.Compare(f.ID(a), f.ID(b)) })
	return found, err
}

func (f Finder[R]) others(found []R, id string) []string {
	var out []string
	for _, r := range found {
		if f.ID(r) != id {
			out = append(out, f.ID(r))
		}
	}
	return out
}

// DescribeEach returns the resources with the identifiers, without those that AWS does not know.
func DescribeEach[R any](ctx context.Context, ids []string, byID func(ctx context.Context, id string) (*R, error)) ([]R, error) {
	var out []R
	for _, id := range ids {
		r, err := byID(ctx, id)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, nil
}
