// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

type found struct {
	id   string
	tags map[string]string
}

func owned(id, uid string) found {
	return found{id, map[string]string{wellknown.TagOwner: "K/ns/n", wellknown.TagOwnerUID: uid, wellknown.TagCluster: "c"}}
}

func TestFinder(t *testing.T) {
	index := errors.New("the index fails")
	for _, c := range []struct {
		name       string
		known      []found // the resources that AWS shows
		search     kind.Search
		id         string
		others     []string
		searches   int
		unfiltered bool
	}{
		{name: "the recorded one needs no search", known: []found{owned("b", "u")}, search: kind.Search{ID: "b"}, id: "b"},
		{name: "without a record the owner tags find it", known: []found{owned("b", "u")}, id: "b", searches: 1},
		{name: "of several the lowest identifier", known: []found{owned("b", "u"), owned("a", "u")}, id: "a", others: []string{"b"}, searches: 1},
		{name: "our own before an earlier object's", known: []found{owned("a", "earlier"), owned("b", "u")}, id: "b", searches: 1},
		{name: "an earlier object's where there is none", known: []found{owned("b", "earlier"), owned("a", "earlier")}, id: "a", searches: 2},
		{name: "a deletion does not search for an earlier object's", known: []found{owned("a", "earlier")}, search: kind.Search{Deleting: true},
			searches: 1},
		{name: "nor does a resource that vanished", known: []found{owned("a", "earlier")}, search: kind.Search{ID: "b"}, searches: 1},
		{name: "a vanished one is found by its tags", known: []found{owned("a", "u")}, search: kind.Search{ID: "b"}, id: "a", searches: 1},
		{name: "an imported one has no substitute", known: []found{owned("a", "u")}, search: kind.Search{ID: "b", Imported: true}},
		{name: "known duplicates are searched for again", known: []found{owned("b", "u"), owned("a", "u")},
			search: kind.Search{ID: "b", Duplicated: true}, id: "b", others: []string{"a"}, searches: 1},
		{name: "tags that are not shown are no contradiction", known: []found{{"a", nil}}, id: "a", searches: 1},
		{name: "unless the search looks at no tags", known: []found{{"a", nil}, owned("b", "u")}, id: "b", searches: 1, unfiltered: true},
		{name: "which then finds nothing", known: []found{{"a", nil}}, searches: 2, unfiltered: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			searches := 0
			f := kind.Finder[found]{
				ByID: func(_ context.Context, id string) (*found, error) {
					if i := slices.IndexFunc(c.known, func(r found) bool { return r.id == id }); i >= 0 {
						return &c.known[i], nil
					}
					return nil, nil
				},
				// An index that ignores its filters, as with wildcards.
				ByTags: func(context.Context, map[string][]string) ([]found, error) {
					searches++
					return slices.Clone(c.known), nil
				},
				ID: func(r found) string { return r.id }, Tags: func(r found) map[string]string { return r.tags }, Unfiltered: c.unfiltered,
			}
			s := c.search
			s.OwnerTags, s.Clusters = map[string]string{wellknown.TagOwner: "K/ns/n", wellknown.TagOwnerUID: "u", wellknown.TagCluster: "c"},
				[]string{"c"}
			r, others, err := f.Find(t.Context(), s)
			id := ""
			if r != nil {
				id = r.id
			}
			if err != nil || id != c.id || !slices.Equal(others, c.others) || searches != c.searches {
				t.Errorf("found %q and %q with %d searches, %v", id, others, searches, err)
			}
			f.ByTags = func(context.Context, map[string][]string) ([]found, error) { return nil, index }
			if _, _, err := f.Find(t.Context(), s); c.searches > 0 && !errors.Is(err, index) {
				t.Errorf("a failed search is taken for absence: %v", err)
			}
		})
	}
}

func TestDescribeEach(t *testing.T) {
	failure := errors.New("throttled")
	byID := func(_ context.Context, id string) (*found, error) {
		switch id {
		case "gone":
			return nil, nil
		case "fails":
			return nil, failure
		}
		return &found{id: id}, nil
	}
	got, err := kind.DescribeEach(t.Context(), []string{"a", "gone", "b"}, byID)
	if err != nil || len(got) != 2 || got[0].id != "a" || got[1].id != "b" {
		t.Errorf("%v %v", got, err)
	}
	if got, err := kind.DescribeEach(t.Context(), []string{"a", "fails"}, byID); !errors.Is(err, failure) || got != nil {
		t.Errorf("%v %v: a part was taken for all", got, err)
	}
}
