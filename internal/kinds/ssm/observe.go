// SPDX-License-Identifier: Apache-2.0

package ssm

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// batch is Parameter Store's limit of names for GetParameters and DeleteParameters.
	batch = 10
	// filterValues is its limit of values in one filter, and of parameters in a page of DescribeParameters.
	filterValues = 50
	// parallel bounds the reads for one set that are under way at a time.
	parallel = 8
)

// Observe implements kind.Kind: it reads the values of all names and verifies owners as the package
// comment describes.
func (p *parameterSet) Observe(ctx context.Context, want ParameterSetState, look kind.Look) (kind.Seen[ParameterSetState], error) {
	have := ParameterSetState{Path: want.Path, ARN: want.ARN, Parameters: map[string]*Parameter{}}
	if look.Deleting {
		return p.observeDeletion(ctx, want, have)
	}
	names := kind.SortedKeys(want.Parameters)
	var proven map[string]bool
	if want.Search {
		var err error
		if proven, err = p.search(ctx, want); err != nil {
			return kind.Seen[ParameterSetState]{}, err
		}
		for _, name := range kind.SortedKeys(proven) {
			if _, ok := want.Parameters[name]; !ok {
				names = append(names, name)
			}
		}
	}
	for _, read := range []func() error{
		func() error { return p.values(ctx, want, names, have) },
		func() error { return p.details(ctx, want, have) },
		func() error { return p.owners(ctx, want, look, proven, have) },
	} {
		if err := read(); err != nil {
			return kind.Seen[ParameterSetState]{}, err
		}
	}
	keepUnseen(want, proven, &have)
	return observeExisting(want, have)
}

// keepUnseen keeps names recorded that were not seen: declared ones, which are created again, and dropped
// ones that the search still shows, which are deleted again. One answer "not found" proves nothing.
func keepUnseen(want ParameterSetState, proven map[string]bool, have *ParameterSetState) {
	for _, name := range want.Recorded {
		if have.Parameters[name] != nil {
			continue
		}
		if want.Parameters[name] != nil {
			have.Kept = append(have.Kept, name)
		} else if proven[name] {
			have.Parameters[name] = &Parameter{Tags: want.Tags}
		}
	}
}

// observeDeletion lists the parameters that carry the object's owner tags. It reads the values and tags only of the names that the list
// does not show.
func (p *parameterSet) observeDeletion(ctx context.Context, want, have ParameterSetState) (kind.Seen[ParameterSetState], error) {
	proven, err := p.search(ctx, want)
	if err != nil {
		return kind.Seen[ParameterSetState]{}, err
	}
	rest := slices.DeleteFunc(kind.SortedKeys(want.Parameters), func(name string) bool { return proven[name] })
	if err = p.values(ctx, want, rest, have); err == nil {
		have.Partial = len(have.Parameters) < len(rest) // the absence of the missing ones is not verified
		err = p.tags(ctx, want, kind.SortedKeys(have.Parameters), have)
	}
	if err != nil {
		return kind.Seen[ParameterSetState]{}, err
	}
	for name := range proven {
		have.Parameters[name] = &Parameter{Tags: want.Owner}
	}
	return observeForDeletion(want, have), nil
}

// observeForDeletion returns the next parameters for the deletion to decide on: the object's own parameters; when there are none, the
// recorded ones that show no owner, then those of one earlier object, then the other ones without an owner. Foreign ones are left alone.
func observeForDeletion(want, have ParameterSetState) kind.Seen[ParameterSetState] {
	groups := map[group]ParameterSetState{}
	for _, name := range kind.SortedKeys(have.Parameters) {
		v := have.Parameters[name]
		g := group{standing: want.standing(v.Tags), recorded: want.recorded(name)}
		switch g.standing {
		case foreign:
			continue
		case untagged:
		default:
			g = group{standing: g.standing, uid: v.Tags[wellknown.TagOwnerUID], cluster: v.Tags[wellknown.TagCluster]}
		}
		if groups[g].Parameters == nil {
			groups[g] = ParameterSetState{Path: have.Path, ARN: have.ARN, Parameters: map[string]*Parameter{}}
		}
		groups[g].Parameters[name] = v
	}
	if len(groups) == 0 {
		return kind.Seen[ParameterSetState]{}
	}
	g := slices.SortedFunc(maps.Keys(groups), compareGroups)[0]
	s := groups[g]
	s.Partial = have.Partial || len(groups) > 1
	for name := range have.Parameters {
		if s.Parameters[name] == nil && want.recorded(name) {
			s.Kept = append(s.Kept, name)
		}
	}
	first := kind.SortedKeys(s.Parameters)[0]
	seen := kind.Seen[ParameterSetState]{Exists: true, State: s, Tags: s.Parameters[first].Tags}
	if g.standing != ours {
		seen.Member = want.member(first)
	}
	return seen
}

// group holds the properties of parameters that the engine decides on together during a deletion.
type group struct {
	standing
	recorded     bool
	uid, cluster string
}

// rank orders the groups by when they are decided on.
func (g group) rank() int {
	switch {
	case g.standing == ours:
		return 0
	case g.standing == untagged && g.recorded:
		return 1
	case g.standing == inherited:
		return 2
	default:
		return 3
	}
}

func compareGroups(a, b group) int {
	return cmp.Or(a.rank()-b.rank(), strings.Compare(a.cluster+"/"+a.uid, b.cluster+"/"+b.uid))
}

// firstOfEach names a parameter of each standing, and returns the digest of the tags when all carry them. Of
// the inherited ones, another cluster's is named: the engine knows whether it may be taken over.
func firstOfEach(want, have ParameterSetState) (map[standing]string, string) {
	first, digest := map[standing]string{}, want.Digest
	for _, name := range kind.SortedKeys(have.Parameters) {
		tags := have.Parameters[name].Tags
		at := want.standing(tags)
		if _, ok := first[at]; !ok || at == inherited && tags[wellknown.TagCluster] != want.Owner[wellknown.TagCluster] {
			first[at] = name
		}
		if !hasOwnerTags(tags, want) {
			digest = ""
		}
	}
	return first, digest
}

// observeExisting reports the parameter that is furthest from being this object's. It leaves out undeclared
// parameters that are neither this object's nor recorded.
func observeExisting(want, have ParameterSetState) (kind.Seen[ParameterSetState], error) {
	maps.DeleteFunc(have.Parameters, func(name string, v *Parameter) bool {
		at := want.standing(v.Tags)
		return want.Parameters[name] == nil && (at == foreign || at == untagged && !want.recorded(name))
	})
	var first map[standing]string
	first, have.Digest = firstOfEach(want, have)
	if err := refuseMixture(want, first); err != nil {
		return kind.Seen[ParameterSetState]{}, err
	}
	// A set that declares nothing always exists; otherwise it would be created at every look.
	seen := kind.Seen[ParameterSetState]{Exists: len(have.Parameters) > 0 || !want.declares(), State: have, Tags: want.Owner}
	for _, at := range []standing{inherited, untagged, foreign} {
		if name, ok := first[at]; ok {
			seen.Tags, seen.Member = have.Parameters[name].Tags, want.member(name)
		}
	}
	return seen, nil
}

// refuseMixture refuses to adopt untagged parameters beside those of an earlier object: the engine
// judges one of them and would take over the others unjudged.
func refuseMixture(want ParameterSetState, first map[standing]string) error {
	name, mixed := first[untagged]
	if _, ok := first[inherited]; !ok || !mixed || !want.Adopts {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonConflict, Message: "parameter " + *want.full(name) + " carries no owner tags, and other parameters of the set were left " +
		"by an earlier object; delete or tag the parameter, or choose another path"}
}

func hasOwnerTags(tags map[string]string, want ParameterSetState) bool {
	for k, v := range want.Tags {
		if have, ok := tags[k]; !ok || have != v {
			return false
		}
	}
	return !slices.ContainsFunc(want.DroppedTags, func(k string) bool { _, ok := tags[k]; return ok })
}

// search returns the names under the path that carry the object's owner tags: 50 a call.
func (p *parameterSet) search(ctx context.Context, want ParameterSetState) (map[string]bool, error) {
	filters := []types.ParameterStringFilter{{Key: aws.String("Path"), Option: aws.String("Recursive"), Values: []string{want.Path}}}
	for _, tag := range []string{wellknown.TagOwnerUID, wellknown.TagOwner, wellknown.TagCluster} {
		filters = append(filters, types.ParameterStringFilter{Key: aws.String("tag:" + tag), Values: []string{want.Owner[tag]}})
	}
	names := map[string]bool{}
	err := p.describe(ctx, func(m types.ParameterMetadata) {
		if name, ok := strings.CutPrefix(aws.ToString(m.Name), want.Path+"/"); ok {
			names[name] = true
		}
	}, filters...)
	return names, err
}

func (p *parameterSet) describe(ctx context.Context, each func(types.ParameterMetadata), filters ...types.ParameterStringFilter) error {
	in := &ssm.DescribeParametersInput{MaxResults: aws.Int32(filterValues), ParameterFilters: filters}
	all, err := kind.Pages(ctx, p.api.DescribeParameters, in, &in.NextToken, func(out *ssm.DescribeParametersOutput) ([]types.ParameterMetadata, *string) {
		return out.Parameters, out.NextToken
	})
	for _, m := range all {
		each(m)
	}
	return err
}

// values reads ten names a call. Secure ones are read together, so that others are read without
// decryption.
func (p *parameterSet) values(ctx context.Context, want ParameterSetState, names []string, have ParameterSetState) error {
	secure := func(name string) bool { return want.Parameters[name].secure() }
	names = slices.Concat(keepNames(names, secure), keepNames(names, func(name string) bool { return !secure(name) }))
	var mu sync.Mutex
	group, ctx := kind.NewGroup(ctx)
	group.SetLimit(parallel)
	for part := range slices.Chunk(names, batch) {
		group.Go(func() error {
			out, err := p.api.GetParameters(ctx, &ssm.GetParametersInput{Names: want.fulls(part), WithDecryption: aws.Bool(secure(part[0]))})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, v := range out.Parameters {
				have.Parameters[strings.TrimPrefix(aws.ToString(v.Name), want.Path+"/")] = foundParameter(v)
			}
			return nil
		})
	}
	return group.Wait()
}

func keepNames(names []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !keep(name) })
}

func foundParameter(v types.Parameter) *Parameter {
	out := &Parameter{Type: string(v.Type), Version: v.Version}
	if out.secure() {
		out.Secret = v.Value
	} else {
		out.Value = v.Value
	}
	return out
}

func (s ParameterSetState) fulls(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = *s.full(name)
	}
	return out
}

// details reads the description, tier and key where they are declared; GetParameters does not return them.
func (p *parameterSet) details(ctx context.Context, want, have ParameterSetState) error {
	names := keepNames(kind.SortedKeys(have.Parameters), func(name string) bool { return want.Parameters[name].detailed() })
	listed := map[string]bool{}
	for part := range slices.Chunk(names, filterValues) {
		err := p.describe(ctx, func(m types.ParameterMetadata) {
			name := strings.TrimPrefix(aws.ToString(m.Name), want.Path+"/")
			if v := have.Parameters[name]; v != nil {
				v.Description, v.Tier, v.KeyID, listed[name] = m.Description, aws.String(string(m.Tier)), m.KeyId, true
			}
		}, types.ParameterStringFilter{Key: aws.String("Name"), Option: aws.String("Equals"), Values: want.fulls(part)})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		if !listed[name] { // new, or deleted between the two calls
			return &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to list parameter " + *want.full(name), After: time.Second, Usable: true}
		}
	}
	return nil
}

// knowsOwner reports whether the owner of a parameter with the declared value is known without a look: this process created it just now, or
// the status records it and nothing asks for the tags.
func (s ParameterSetState) knowsOwner(name string, look kind.Look) bool {
	return look.Created[fieldPath(name)] && !s.Requested || s.recorded(name) && !s.AllTags
}

// owners fills in the tags: without a call where they are known, by one search where several recorded
// parameters are in doubt, and by a call for each of the others.
func (p *parameterSet) owners(ctx context.Context, want ParameterSetState, look kind.Look, proven map[string]bool, have ParameterSetState) error {
	var doubtful []string
	for _, name := range kind.SortedKeys(have.Parameters) {
		v := have.Parameters[name]
		if unchanged(want.Parameters[name], v) && want.knowsOwner(name, look) {
			v.Tags = want.Tags
			continue
		}
		doubtful = append(doubtful, name)
	}
	if want.AllTags {
		return p.tags(ctx, want, doubtful, have)
	}
	if recorded := keepNames(doubtful, want.recorded); proven == nil && len(recorded) > 1 {
		var err error
		if proven, err = p.search(ctx, want); err != nil {
			return err
		}
	}
	return p.tags(ctx, want, keepNames(doubtful, func(name string) bool {
		if want.recorded(name) && proven[name] {
			have.Parameters[name].Tags = want.Tags
			return false
		}
		return true
	}), have)
}

// tags reads the tags of each name.
func (p *parameterSet) tags(ctx context.Context, want ParameterSetState, names []string, have ParameterSetState) error {
	var mu sync.Mutex
	group, ctx := kind.NewGroup(ctx)
	group.SetLimit(parallel)
	for _, name := range names {
		group.Go(func() error {
			out, err := p.api.ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: want.full(name)})
			mu.Lock()
			defer mu.Unlock()
			if awsclient.IsNotFound(err) { // deleted between the two calls
				delete(have.Parameters, name)
				return nil
			}
			if err != nil {
				return err
			}
			have.Parameters[name].Tags = kind.TagMap(out.TagList)
			return nil
		})
	}
	return group.Wait()
}

// unchanged reports whether a declared parameter is as declared, apart from its tags, so that nothing is
// going to be written to it.
func unchanged(want, have *Parameter) bool {
	return want != nil && want.Type == have.Type && sameOrUnset(want.Value, have.Value) && sameOrUnset(want.Secret, have.Secret) &&
		sameOrUnset(want.Description, have.Description) && sameOrUnset(want.Tier, have.Tier) && sameOrUnset(want.KeyID, have.KeyID)
}

// sameOrUnset reports whether have is as wanted; always true for an undeclared value.
func sameOrUnset(want, have *string) bool { return want == nil || *want == aws.ToString(have) }
