package ssm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"golang.org/x/sync/errgroup"

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

// Observe reads the values of all names, and the tags of those whose owner is in doubt; see the package comment.
func (p *parameterSet) Observe(ctx context.Context, want ParameterSetState) (kind.Seen[ParameterSetState], error) {
	none := kind.Seen[ParameterSetState]{}
	names := kind.SortedKeys(want.Parameters)
	if want.Search {
		strays, err := p.search(ctx, want)
		if err != nil {
			return none, err
		}
		names = slices.Compact(slices.Sorted(slices.Values(append(names, strays...))))
	}
	have := ParameterSetState{Path: want.Path, ARN: want.ARN, Digest: want.Digest}
	if err := p.values(ctx, want, names, &have); err != nil {
		return none, err
	}
	if err := p.details(ctx, want, have); err != nil {
		return none, err
	}
	if err := p.tags(ctx, want, have); err != nil {
		return none, err
	}
	if want.Deleting {
		return leaving(want, have), nil
	}
	return staying(want, have)
}

// leaving is what a deletion has to do with: our parameters first and, when there are none left, those
// of an earlier object, which the engine judges. Others are left alone.
func leaving(want, have ParameterSetState) kind.Seen[ParameterSetState] {
	for _, group := range []standing{ours, inherited} {
		s := have
		s.Parameters = map[string]*Parameter{}
		var tags map[string]string
		for _, name := range kind.SortedKeys(have.Parameters) {
			if v := have.Parameters[name]; want.standing(v.Tags) == group {
				s.Parameters[name], tags = v, v.Tags
			}
		}
		if len(s.Parameters) > 0 {
			return kind.Seen[ParameterSetState]{Exists: true, State: s, Tags: tags}
		}
	}
	return kind.Seen[ParameterSetState]{}
}

// staying finds the one parameter that speaks for the owner of the set: the one least ours. A stray or
// dropped parameter that is not ours any more is none of our business.
func staying(want, have ParameterSetState) (kind.Seen[ParameterSetState], error) {
	maps.DeleteFunc(have.Parameters, func(name string, v *Parameter) bool {
		return want.Parameters[name] == nil && want.standing(v.Tags) > inherited
	})
	first := map[standing]string{}
	for _, name := range kind.SortedKeys(have.Parameters) {
		tags := have.Parameters[name].Tags
		at := want.standing(tags)
		// Of what was left behind, another cluster's speaks: only the engine knows whether we may inherit from it.
		if _, ok := first[at]; !ok || at == inherited && tags[tagCluster] != want.Owner[tagCluster] {
			first[at] = name
		}
		if !carries(tags, want) {
			have.Digest = ""
		}
	}
	if err := refuse(want, have, first); err != nil {
		return kind.Seen[ParameterSetState]{}, err
	}
	seen := kind.Seen[ParameterSetState]{Exists: len(have.Parameters) > 0, State: have, Tags: want.Owner}
	if !want.declares() { // or else it would be made for ever
		seen.Exists = true
	}
	for _, at := range []standing{inherited, nobodys} {
		if name, ok := first[at]; ok {
			seen.Tags = have.Parameters[name].Tags
		}
	}
	return seen, nil
}

// refuse names the parameter that stands in the way where no policy could let us have it: the engine's
// own verdict speaks of the set and could not say which one.
func refuse(want, have ParameterSetState, first map[standing]string) error {
	conflict := func(name, format string, args ...any) error {
		return &status.Stalled{Reason: status.ReasonConflict, Message: "parameter " + *want.full(name) + " is not ours: " + fmt.Sprintf(format, args...)}
	}
	if name, ok := first[foreign]; ok {
		tags := have.Parameters[name].Tags
		return conflict(name, "it is owned by %s in cluster %s", tags[tagOwner], tags[tagCluster])
	}
	name, ok := first[nobodys]
	if _, mixed := first[inherited]; ok && (mixed || !want.Adopt) {
		return conflict(name, "it already exists and carries no owner tags; import it with adoptionPolicy: Always, "+
			"an explicit deletionPolicy and allowAdoption on the provider, or choose another path")
	}
	return nil
}

func carries(tags map[string]string, want ParameterSetState) bool {
	for k, v := range want.Tags {
		if have, ok := tags[k]; !ok || have != v {
			return false
		}
	}
	return !slices.ContainsFunc(want.DroppedTags, func(k string) bool { _, ok := tags[k]; return ok })
}

// search finds the parameters under the path that carry our UID.
func (p *parameterSet) search(ctx context.Context, want ParameterSetState) (names []string, err error) {
	err = p.describe(ctx, func(m types.ParameterMetadata) {
		if name, ok := strings.CutPrefix(aws.ToString(m.Name), want.Path+"/"); ok {
			names = append(names, name)
		}
	}, types.ParameterStringFilter{Key: aws.String("Path"), Option: aws.String("Recursive"), Values: []string{want.Path}},
		types.ParameterStringFilter{Key: aws.String("tag:" + tagOwnerUID), Values: []string{want.Owner[tagOwnerUID]}})
	return names, err
}

func (p *parameterSet) describe(ctx context.Context, each func(types.ParameterMetadata), filters ...types.ParameterStringFilter) error {
	pages := ssm.NewDescribeParametersPaginator(p.api, &ssm.DescribeParametersInput{MaxResults: aws.Int32(filterValues), ParameterFilters: filters})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, m := range out.Parameters {
			each(m)
		}
	}
	return nil
}

// values reads ten names a call. Secure ones go together, so that others are not read with decryption.
func (p *parameterSet) values(ctx context.Context, want ParameterSetState, names []string, have *ParameterSetState) error {
	have.Parameters = map[string]*Parameter{}
	secure := func(name string) bool { return want.Parameters[name].secure() && !want.Deleting }
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case secure(a) == secure(b):
			return 0
		case secure(a):
			return -1
		default:
			return 1
		}
	})
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
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
				have.Parameters[strings.TrimPrefix(aws.ToString(v.Name), want.Path+"/")] = found(v)
			}
			return nil
		})
	}
	return group.Wait()
}

func found(v types.Parameter) *Parameter {
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

// details reads description, tier and key, which GetParameters does not tell, where they are declared.
func (p *parameterSet) details(ctx context.Context, want, have ParameterSetState) error {
	if want.Deleting {
		return nil
	}
	var names []string
	for _, name := range kind.SortedKeys(have.Parameters) {
		if want.Parameters[name].detailed() {
			names = append(names, name)
		}
	}
	for part := range slices.Chunk(names, filterValues) {
		err := p.describe(ctx, func(m types.ParameterMetadata) {
			if v := have.Parameters[strings.TrimPrefix(aws.ToString(m.Name), want.Path+"/")]; v != nil {
				v.Description, v.Tier, v.KeyID = m.Description, aws.String(string(m.Tier)), m.KeyId
			}
		}, types.ParameterStringFilter{Key: aws.String("Name"), Option: aws.String("Equals"), Values: want.fulls(part)})
		if err != nil {
			return err
		}
	}
	return nil
}

// tags reads the tags of every parameter in doubt; the others carry what we recorded.
func (p *parameterSet) tags(ctx context.Context, want, have ParameterSetState) error {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for name, v := range maps.Clone(have.Parameters) {
		if trusted(want, name, v) {
			v.Tags = want.Tags
			continue
		}
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
			v.Tags = make(map[string]string, len(out.TagList))
			for _, t := range out.TagList {
				v.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
			return nil
		})
	}
	return group.Wait()
}

// trusted says that a parameter's tags need not be read: it is on record as ours, nothing is going to
// be written to it, and the wanted tags are those last seen on all.
func trusted(want ParameterSetState, name string, have *Parameter) bool {
	w := want.Parameters[name]
	return w != nil && !want.AllTags && slices.Contains(want.Recorded, name) && w.Type == have.Type &&
		same(w.Value, have.Value) && same(w.Secret, have.Secret) && same(w.Description, have.Description) && same(w.Tier, have.Tier) && same(w.KeyID, have.KeyID)
}

// same says whether have is as wanted; what is not declared always is.
func same(want, have *string) bool { return want == nil || *want == aws.ToString(have) }
