// SPDX-License-Identifier: Apache-2.0

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

// Converge implements kind.Kind: it creates, overwrites and tags parameter by parameter, and deletes ten
// a call.
func (p *parameterSet) Converge(want ParameterSetState, seen kind.Seen[ParameterSetState], diff kind.Diff) []kind.Step {
	if _, gone := diff.Keys("Tags"); len(gone) > 0 {
		return p.orphan(seen.State, gone)
	}
	var steps []kind.Step
	var dropped []string
	for _, name := range kind.SortedKeys(want.Parameters) {
		w, have := want.Parameters[name], seen.State.Parameters[name]
		switch path := fieldPath(name); {
		case w == nil && diff.Under(path):
			dropped = append(dropped, name)
		case w == nil:
		case have == nil:
			steps = append(steps, kind.Step{Action: "ssm:PutParameter", Effect: kind.Creates, Fixes: []string{path}, Do: p.create(want, name)})
		default:
			steps = append(steps, p.adjust(want, name, diff)...)
		}
	}
	return append(steps, p.delete(want, dropped)...)
}

func fieldPath(name string) string { return "Parameters[" + name + "]" }

// orphan removes owner tags from every parameter.
func (p *parameterSet) orphan(have ParameterSetState, keys []string) []kind.Step {
	var steps []kind.Step
	for _, name := range kind.SortedKeys(have.Parameters) {
		steps = append(steps, p.untag(have, name, keys, "Tags"))
	}
	return steps
}

// adjust overwrites a parameter if anything but its tags differs, and settles its tags by other calls:
// PutParameter refuses Overwrite together with tags.
func (p *parameterSet) adjust(want ParameterSetState, name string, diff kind.Diff) []kind.Step {
	var steps []kind.Step
	var fixes []string
	tags := fieldPath(name) + ".Tags"
	for _, c := range diff {
		if c.At(fieldPath(name)) && !c.At(tags) {
			fixes = append(fixes, c.Path)
		}
	}
	if len(fixes) > 0 {
		steps = append(steps, kind.Step{Action: "ssm:PutParameter", Fixes: fixes, Do: p.overwrite(want, name)})
	}
	set, remove := diff.Keys(tags)
	if len(set) > 0 {
		steps = append(steps, kind.Step{Action: "ssm:AddTagsToResource", Fixes: kind.KeyPaths(tags, set), Stage: 1, Do: func(ctx context.Context, _ string) (string, error) {
			return "", p.tag(ctx, want, name, kind.Only(want.Tags, set))
		}})
	}
	if len(remove) > 0 {
		steps = append(steps, p.untag(want, name, remove, tags))
	}
	return steps
}

func (p *parameterSet) tag(ctx context.Context, want ParameterSetState, name string, tags map[string]string) error {
	_, err := p.api.AddTagsToResource(ctx, &ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter,
		ResourceId: want.full(name), Tags: kind.SDKTags[types.Tag](tags)})
	return err
}

func (p *parameterSet) untag(s ParameterSetState, name string, keys []string, field string) kind.Step {
	return kind.Step{Action: "ssm:RemoveTagsFromResource", Fixes: kind.KeyPaths(field, keys), Stage: 1, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := p.api.RemoveTagsFromResource(ctx, &ssm.RemoveTagsFromResourceInput{ResourceType: types.ResourceTypeForTaggingParameter,
			ResourceId: s.full(name), TagKeys: keys})
		return "", err
	}}
}

// create carries the tags and does not overwrite: AWS refuses it if another owner has created the name by then.
func (p *parameterSet) create(want ParameterSetState, name string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := putInput(want, name)
		in.Tags = kind.SDKTags[types.Tag](want.Tags)
		_, err := p.api.PutParameter(ctx, in)
		return "", err
	}
}

// overwrite creates a parameter that was deleted after the look, and cannot carry tags. The first version of one is
// therefore tagged at once: without its tags the set could never delete it.
func (p *parameterSet) overwrite(want ParameterSetState, name string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := putInput(want, name)
		in.Overwrite = aws.Bool(true)
		out, err := p.api.PutParameter(ctx, in)
		if err == nil && out.Version == 1 {
			return "", p.tag(ctx, want, name, want.Tags)
		}
		if strings.HasPrefix(awsclient.Classify(err).Code, "HierarchyTypeMismatch") {
			return "", &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.parameters[" + name + "].type", Cause: err,
				Message: "AWS does not change the type of this parameter; remove it from spec.parameters, and add it again half a minute after it was deleted"}
		}
		return "", err
	}
}

// putInput contains only the declared fields: when a parameter is overwritten, Parameter Store keeps the rest.
func putInput(want ParameterSetState, name string) *ssm.PutParameterInput {
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

// Remove implements kind.Kind. The last call ends the deletion, unless the absence of some parameters must
// still be verified or their owner is to be judged.
func (p *parameterSet) Remove(_ ParameterSetState, seen kind.Seen[ParameterSetState]) []kind.Step {
	steps := p.delete(seen.State, kind.SortedKeys(seen.State.Parameters))
	for i := range steps {
		steps[i].Effect = kind.Empties
	}
	if last := len(steps) - 1; last >= 0 && !seen.State.Partial {
		steps[last].Effect, steps[last].Stage = kind.Ends, 1
	}
	return steps
}

func (p *parameterSet) delete(s ParameterSetState, names []string) []kind.Step {
	var steps []kind.Step
	for part := range slices.Chunk(names, batch) {
		step := kind.Step{Action: "ssm:DeleteParameters", Do: func(ctx context.Context, _ string) (string, error) {
			_, err := p.api.DeleteParameters(ctx, &ssm.DeleteParametersInput{Names: s.fulls(part)})
			return "", err
		}}
		for _, name := range part {
			step.Fixes = append(step.Fixes, fieldPath(name))
		}
		steps = append(steps, step)
	}
	return steps
}
