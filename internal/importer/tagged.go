// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// FromARN returns the resource of the ARN, and false where none of the kinds has resources of such ARNs.
func FromARN(kinds []engine.Entry, arn string) (r Resource, ok bool) {
	for _, e := range kinds {
		if name, ok := e.Meta().Facts.ARN.Identify(arn); ok {
			return Resource{Kind: e.Name(), Name: name, ARN: arn}, true
		}
	}
	return Resource{}, false
}

// place names the account and the region that are read.
func (im *Importer) place() string {
	return "account " + im.Session.Account + ", region " + im.Session.Region
}

// taggable returns the kinds of resources that the tagging API lists with ARNs that identify them.
func (im *Importer) taggable() []string {
	var out []string
	for _, e := range im.importable() {
		if form := e.Meta().Facts.ARN; form.Service != "" && !form.Untagged {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out
}

// Tagged returns the resources that carry all tags, which are values by key; no values stand for any. Others are the ARNs of those
// that cannot be imported by their ARN. Where kinds are named, in any case, resources of other kinds are left out of both. Errors are
// *UnknownKindError for a kind that is not found by tags, and failures to reach AWS.
func (im *Importer) Tagged(ctx context.Context, tags map[string][]string, kinds []string) (found []Resource, others []string, err error) {
	known := im.taggable()
	contains := func(names []string, name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	for _, k := range kinds {
		if !contains(known, k) {
			return nil, nil, &UnknownKindError{Resource: Resource{Kind: k}, Known: known, ByTags: true}
		}
	}
	arns, err := im.Session.TaggedARNs(ctx, tags)
	slices.Sort(arns)
	for _, arn := range slices.Compact(arns) {
		switch r, ok := FromARN(im.Kinds, arn); {
		case len(kinds) > 0 && !contains(kinds, r.Kind):
		case ok && contains(im.ImportableKinds(), r.Kind):
			found = append(found, r)
		default:
			others = append(others, arn)
		}
	}
	return found, others, err
}
