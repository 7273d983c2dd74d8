// SPDX-License-Identifier: Apache-2.0

package ssm

import (
	"context"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// secureAdvice is the reason that an export leaves a SecureString out, and the remedy.
const secureAdvice = "a manifest would contain the value of a SecureString; it stays in Parameter Store as it is and unmanaged. " +
	"Move the value to Secrets Manager (SecretsManagerSecret), or add the parameter to the manifest with the value where you keep manifests encrypted"

// ExportIdentity implements kind.Exporter.
func (p *parameterSet) ExportIdentity() []string { return []string{"path"} }

// SeparateSettings implements kind.Exporter.
func (p *parameterSet) SeparateSettings() []kind.SeparateSetting[ParameterSetState] { return nil }

// Export implements kind.Exporter. It declares the parameters below the path, or only those that the object names already, with the tags
// that all of them carry. It leaves out every SecureString, because it does not read the values of these.
func (p *parameterSet) Export(ctx context.Context, sc kind.Scope, cr *v1alpha1.SSMParameterSet) (kind.Seen[ParameterSetState], error) {
	cr.Spec.Path = "/" + strings.Trim(cr.Spec.Path, "/")
	want, err := p.Desired(sc, cr)
	if err != nil {
		return kind.Seen[ParameterSetState]{}, err
	}
	seen := kind.Seen[ParameterSetState]{State: ParameterSetState{Path: want.Path, ARN: want.ARN, Parameters: map[string]*Parameter{}}}
	all, err := p.below(ctx, want.Path)
	if err != nil {
		return seen, err
	}
	seen.Omitted = keepNamed(all, cr.Spec.Parameters, want)
	if len(all) == 0 {
		return seen, nil
	}
	for _, name := range kind.SortedKeys(all) {
		if all[name].Type == types.ParameterTypeSecureString {
			seen.Omitted = append(seen.Omitted, *want.full(name)+": "+secureAdvice)
			delete(all, name)
		}
	}
	if len(all) == 0 {
		return seen, status.Invalid("spec.parameters", "every parameter below %s is a SecureString: %s", want.Path, secureAdvice)
	}
	names := kind.SortedKeys(all)
	if err := p.values(ctx, want, names, seen.State); err != nil {
		return seen, err
	}
	if err := p.tags(ctx, want, kind.SortedKeys(seen.State.Parameters), seen.State); err != nil {
		return seen, err
	}
	seen.Exists, seen.Tags = len(seen.State.Parameters) > 0, exportedTags(seen.State)
	cr.Spec.Parameters = map[string]v1alpha1.SSMParameter{}
	for name, v := range seen.State.Parameters {
		cr.Spec.Parameters[name] = exportedParameter(*v, all[name])
	}
	return seen, nil
}

// keepNamed removes the parameters that the object does not name, if it names any, and returns the problems with the named ones.
func keepNamed(all map[string]types.ParameterMetadata, named map[string]v1alpha1.SSMParameter, want ParameterSetState) (missing []string) {
	for _, name := range kind.SortedKeys(named) {
		if _, there := all[name]; !there {
			missing = append(missing, *want.full(name)+": does not exist")
		}
	}
	if len(named) > 0 {
		maps.DeleteFunc(all, func(name string, _ types.ParameterMetadata) bool { _, ok := named[name]; return !ok })
	}
	return missing
}

// below returns the parameters below a path, by their names relative to it.
func (p *parameterSet) below(ctx context.Context, path string) (map[string]types.ParameterMetadata, error) {
	all := map[string]types.ParameterMetadata{}
	err := p.describe(ctx, func(m types.ParameterMetadata) {
		if name, ok := strings.CutPrefix(aws.ToString(m.Name), path+"/"); ok {
			all[name] = m
		}
	}, types.ParameterStringFilter{Key: aws.String("Path"), Option: aws.String("Recursive"), Values: []string{path}})
	return all, err
}

// exportedParameter leaves out settings that a new parameter has by default.
func exportedParameter(v Parameter, m types.ParameterMetadata) v1alpha1.SSMParameter {
	out := v1alpha1.SSMParameter{Value: aws.ToString(v.Value), Description: kind.NonEmpty(m.Description)}
	if v.Type != string(types.ParameterTypeString) {
		out.Type = v.Type
	}
	if m.Tier != types.ParameterTierStandard {
		out.Tier = string(m.Tier)
	}
	return out
}

// exportedTags are the tags that all parameters carry, and those that mark the owner of any.
func exportedTags(have ParameterSetState) map[string]string {
	var common map[string]string
	owner := map[string]string{}
	for _, name := range kind.SortedKeys(have.Parameters) {
		tags := have.Parameters[name].Tags
		if common == nil {
			common = maps.Clone(tags)
		}
		maps.DeleteFunc(common, func(k, v string) bool { other, ok := tags[k]; return !ok || other != v })
		for k, v := range tags {
			if strings.HasPrefix(k, wellknown.Prefix) {
				owner[k] = v
			}
		}
	}
	maps.Copy(owner, common)
	return owner
}
