package ssm

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Converge makes, overwrites, tags and deletes parameter by parameter; deletions go ten a call.
func (p *parameterSet) Converge(want ParameterSetState, seen kind.Seen[ParameterSetState], diff kind.Diff) []kind.Step {
	if _, gone := diff.Keys("Tags"); len(gone) > 0 {
		return p.orphan(seen.State, gone)
	}
	var steps []kind.Step
	var dropped []string
	for _, name := range kind.SortedKeys(want.Parameters) {
		w, have := want.Parameters[name], seen.State.Parameters[name]
		switch path := at(name); {
		case w == nil && diff.Under(path):
			dropped = append(dropped, name)
		case w == nil:
		case have == nil:
			steps = append(steps, kind.Step{Action: "ssm:PutParameter", Fixes: []string{path}, Do: p.create(want, name)})
		default:
			steps = append(steps, p.adjust(want, name, diff)...)
		}
	}
	return append(steps, p.remove(want, dropped)...)
}

func at(name string) string { return "Parameters[" + name + "]" }

// orphan takes owner tags off every parameter.
func (p *parameterSet) orphan(have ParameterSetState, keys []string) []kind.Step {
	var steps []kind.Step
	for _, name := range kind.SortedKeys(have.Parameters) {
		steps = append(steps, p.untag(have, name, keys, "Tags"))
	}
	return steps
}

// adjust overwrites a parameter if anything but its tags differs, and settles its tags by calls of
// their own: PutParameter refuses Overwrite together with tags.
func (p *parameterSet) adjust(want ParameterSetState, name string, diff kind.Diff) []kind.Step {
	var steps []kind.Step
	var fixes []string
	tags := at(name) + ".Tags"
	for _, c := range diff {
		if c.At(at(name)) && !c.At(tags) {
			fixes = append(fixes, c.Path)
		}
	}
	if len(fixes) > 0 {
		steps = append(steps, kind.Step{Action: "ssm:PutParameter", Fixes: fixes, Do: p.overwrite(want, name)})
	}
	set, remove := diff.Keys(tags)
	if len(set) > 0 {
		steps = append(steps, kind.Step{Action: "ssm:AddTagsToResource", Fixes: paths(tags, set), Stage: 1, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := p.api.AddTagsToResource(ctx, &ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter,
				ResourceId: want.full(name), Tags: tagList(kind.Only(want.Tags, set))})
			return "", err
		}})
	}
	if len(remove) > 0 {
		steps = append(steps, p.untag(want, name, remove, tags))
	}
	return steps
}

func (p *parameterSet) untag(s ParameterSetState, name string, keys []string, field string) kind.Step {
	return kind.Step{Action: "ssm:RemoveTagsFromResource", Fixes: paths(field, keys), Stage: 1, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := p.api.RemoveTagsFromResource(ctx, &ssm.RemoveTagsFromResourceInput{ResourceType: types.ResourceTypeForTaggingParameter,
			ResourceId: s.full(name), TagKeys: keys})
		return "", err
	}}
}

func paths(field string, keys []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = field + "[" + k + "]"
	}
	return out
}

func tagList(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range kind.SortedKeys(tags) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}

// create carries the tags inside and does not overwrite: what came in between is somebody's.
func (p *parameterSet) create(want ParameterSetState, name string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := put(want, name)
		in.Tags = tagList(want.Tags)
		_, err := p.api.PutParameter(ctx, in)
		return "", err
	}
}

func (p *parameterSet) overwrite(want ParameterSetState, name string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := put(want, name)
		in.Overwrite = aws.Bool(true)
		_, err := p.api.PutParameter(ctx, in)
		if strings.HasPrefix(awsclient.Classify(err).Code, "HierarchyTypeMismatch") {
			return "", &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.parameters[" + name + "].type", Cause: err,
				Message: "AWS does not change the type of this parameter; take it out of spec.parameters, and put it back half a minute after it is gone"}
		}
		return "", err
	}
}

// put names only what is declared: on overwriting, Parameter Store keeps the rest as it is.
func put(want ParameterSetState, name string) *ssm.PutParameterInput {
	w := want.Parameters[name]
	in := &ssm.PutParameterInput{Name: want.full(name), Type: types.ParameterType(w.Type), Value: w.Value, Description: w.Description, KeyId: w.KeyID}
	if w.secure() {
		in.Value = w.Secret
	}
	if w.Tier != nil {
		in.Tier = types.ParameterTier(*w.Tier)
	}
	if w.Intelligent {
		in.Tier = types.ParameterTierIntelligentTiering
	}
	return in
}

// Remove deletes what Observe found to be ours.
func (p *parameterSet) Remove(seen kind.Seen[ParameterSetState]) []kind.Step {
	return p.remove(seen.State, kind.SortedKeys(seen.State.Parameters))
}

func (p *parameterSet) remove(s ParameterSetState, names []string) []kind.Step {
	var steps []kind.Step
	for part := range slices.Chunk(names, batch) {
		step := kind.Step{Action: "ssm:DeleteParameters", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := p.api.DeleteParameters(ctx, &ssm.DeleteParametersInput{Names: s.fulls(part)})
			return "", err
		}}
		for _, name := range part {
			step.Fixes = append(step.Fixes, at(name))
		}
		steps = append(steps, step)
	}
	return steps
}
