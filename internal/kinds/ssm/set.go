// SPDX-License-Identifier: Apache-2.0

// Package ssm has the kinds of Systems Manager.
//
// An SSMParameterSet is one object and many parameters, each with an owner. Parameter Store reads values
// ten at a time and tags one at a time, so a check reads only values: ⌈n/10⌉ calls. The owner of a
// parameter is verified before every write and delete:
//
//   - A parameter that this process created within the settle time carries the tags of its create.
//   - A parameter in status.managedNames with the declared value is not written, and not verified.
//   - Recorded parameters that differ, and all parameters of a deletion, are verified together:
//     DescribeParameters lists those under the path that carry the object's owner tags, 50 a call.
//   - For all others, and where that list does not show a parameter, its own tags are read.
//   - All tags are read when the wanted tags are not those last seen on all parameters
//     (status.tagsDigest), and when a check is requested by annotation.
//
// The tags of a new parameter may take seconds to show. An untagged parameter that the status records is
// therefore neither written, nor deleted, nor given up; see package engine. A tag that is changed outside
// on a parameter that is otherwise as declared is noticed when the tags are next read.
//
// If one parameter belongs to another owner, nothing of the set is written. The deletion of the set
// leaves only that parameter alone.
//
// A crash can lose the record of a new parameter. Unless the set was Ready at its generation,
// DescribeParameters is therefore asked for the parameters that carry the object's owner tags.
package ssm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ParameterSetState is a set of parameters as both the spec and Parameter Store can express it.
type ParameterSetState struct {
	Path string `drift:"identity"`
	ARN  string `drift:"id"`
	// Search asks for parameters under the path that carry the object's owner tags and are not recorded.
	Search bool `drift:"id"`
	// Requested is true when a person requested the check: nothing is taken for known.
	Requested bool `drift:"id"`
	// AllTags asks for the tags of every parameter.
	AllTags bool `drift:"id"`
	// Adopts is true when the spec allows parameters without an owner to be adopted.
	Adopts bool `drift:"id"`
	// Recorded are the names that the status records as this object's.
	Recorded []string `drift:"id"`
	// DroppedTags are keys that were written before and are not wanted any more.
	DroppedTags []string          `drift:"id"`
	Owner       map[string]string `drift:"id"`
	Tags        map[string]string `drift:"id"`
	// Digest is a hash of the wanted tags; of a seen set, only when every parameter carries them.
	Digest string `drift:"id"`
	// Kept are recorded names that stay recorded although they are not among the seen Parameters.
	Kept []string `drift:"observed"`
	// Partial is true when the seen Parameters are not all that the deletion must decide on.
	Partial bool `drift:"observed"`

	// Parameters by relative name; a nil one is wanted to be absent.
	Parameters map[string]*Parameter
}

// Parameter is one of the set. A nil field is not declared.
type Parameter struct {
	Type string
	// Value or, of a SecureString, Secret.
	Value       *string           `json:",omitempty"`
	Secret      *string           `json:"-" drift:"secret"`
	Description *string           `json:",omitempty"`
	Tier        *string           `json:",omitempty"`
	KeyID       *string           `json:",omitempty"`
	Tags        map[string]string `json:"-" drift:"tags"`
	Version     int64             `json:"-" drift:"observed"`
	// Intelligent lets AWS choose the tier, which is then not compared.
	Intelligent bool `json:"-" drift:"id"`
}

type parameterSet struct{ api operations }

// operations holds the calls of a client that the kind needs: for a whole client in a struct that becomes an interface, the
// linker would keep all methods.
type operations struct {
	AddTagsToResource      operation[ssm.AddTagsToResourceInput, ssm.AddTagsToResourceOutput]
	DeleteParameters       operation[ssm.DeleteParametersInput, ssm.DeleteParametersOutput]
	DescribeParameters     operation[ssm.DescribeParametersInput, ssm.DescribeParametersOutput]
	GetParameters          operation[ssm.GetParametersInput, ssm.GetParametersOutput]
	ListTagsForResource    operation[ssm.ListTagsForResourceInput, ssm.ListTagsForResourceOutput]
	PutParameter           operation[ssm.PutParameterInput, ssm.PutParameterOutput]
	RemoveTagsFromResource operation[ssm.RemoveTagsFromResourceInput, ssm.RemoveTagsFromResourceOutput]
}

type operation[In, Out any] func(context.Context, *In, ...func(*ssm.Options)) (*Out, error)

// NewParameterSet binds the SSMParameterSet kind to an identity.
func NewParameterSet(cfg aws.Config) kind.Kind[*v1alpha1.SSMParameterSet, ParameterSetState] {
	c := ssm.NewFromConfig(cfg)
	return &parameterSet{operations{c.AddTagsToResource, c.DeleteParameters, c.DescribeParameters, c.GetParameters, c.ListTagsForResource, c.PutParameter, c.RemoveTagsFromResource}}
}

// Meta implements kind.Kind. The IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssystemsmanager.html
func (p *parameterSet) Meta() kind.Meta {
	return kind.Meta{
		Facts: parameterSetFacts(),
		// A parameter stays encrypted with its key until it is written again.
		Reads:  []string{"ssm:GetParameters", "ssm:DescribeParameters", "ssm:ListTagsForResource"},
		Writes: []string{"ssm:PutParameter", "ssm:DeleteParameters", "ssm:AddTagsToResource", "ssm:RemoveTagsFromResource"},
		// Package awsclient reads whether the account has higher throughput.
		Optional: []string{"ssm:GetServiceSetting"},
		// For SecureString: https://docs.aws.amazon.com/systems-manager/latest/userguide/secure-string-parameter-kms-encryption.html

		Identity: kind.ByName,
		Units:    map[string]string{"ssm:PutParameter": "parameters"},
	}
}

// Desired implements kind.Kind. While the object is being deleted, only the names of its parameters matter.
func (p *parameterSet) Desired(sc kind.Scope, cr *v1alpha1.SSMParameterSet) (ParameterSetState, error) {
	in, st := cr.Spec, cr.Status
	s := ParameterSetState{
		Path: in.Path, ARN: fmt.Sprintf("arn:%s:ssm:%s:%s:parameter%s", sc.Partition, sc.Region, sc.Account, in.Path),
		Recorded: st.ManagedNames, Owner: sc.OwnerTags, Tags: sc.Tags, Parameters: make(map[string]*Parameter, len(in.Parameters)),
	}
	for _, name := range slices.Concat(st.ManagedNames, kind.SortedKeys(in.Parameters)) {
		s.Parameters[name] = nil
	}
	if sc.Deleting {
		return s, nil
	}
	s.Digest, s.Adopts = digest(sc.Tags), in.AdoptionPolicy == v1alpha1.AdoptAlways
	s.Requested = cr.Annotations[wellknown.AnnotationReconcileAt] != st.LastHandledReconcileAt
	s.Search, s.AllTags = s.Requested || mayHaveStrays(cr), s.Requested || st.TagsDigest != s.Digest
	s.DroppedTags = slices.DeleteFunc(slices.Clone(sc.WrittenTags), func(k string) bool { _, ok := sc.Tags[k]; return ok })
	for _, name := range kind.SortedKeys(in.Parameters) {
		if err := check(in, name); err != nil {
			return s, err
		}
		s.Parameters[name] = wantedParameter(in.Parameters[name], sc.Tags)
	}
	return s, nil
}

// mayHaveStrays reports whether an earlier pass may have created parameters that were not recorded and are not declared any more. At the
// first generation, only declared parameters can have been created.
func mayHaveStrays(cr *v1alpha1.SSMParameterSet) bool {
	return cr.Generation > 1 && !status.ReadyAt(cr.Status.Conditions, cr.Generation)
}

func wantedParameter(in v1alpha1.SSMParameter, tags map[string]string) *Parameter {
	w := &Parameter{Type: in.Type, Description: in.Description, KeyID: kind.NonEmpty(&in.KeyID), Tags: tags}
	if w.Type == "" {
		w.Type = string(types.ParameterTypeString)
	}
	if w.secure() {
		w.Secret = &in.Value
	} else {
		w.Value = &in.Value
	}
	w.Intelligent = in.Tier == string(types.ParameterTierIntelligentTiering)
	if in.Tier != "" && !w.Intelligent {
		w.Tier = &in.Tier
	}
	return w
}

func (w *Parameter) secure() bool {
	return w != nil && w.Type == string(types.ParameterTypeSecureString)
}

// detailed reports whether something is declared that only DescribeParameters returns.
func (w *Parameter) detailed() bool {
	return w != nil && (w.Description != nil || w.Tier != nil || w.KeyID != nil)
}

// digest is a short hash of tags.
func digest(tags map[string]string) string {
	h := sha256.New()
	for _, k := range kind.SortedKeys(tags) {
		_, _ = fmt.Fprintf(h, "%q=%q\n", k, tags[k])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// declares reports whether any parameter is declared.
func (s ParameterSetState) declares() bool {
	for _, w := range s.Parameters {
		if w != nil {
			return true
		}
	}
	return false
}

func (s ParameterSetState) recorded(name string) bool { return slices.Contains(s.Recorded, name) }

func (s ParameterSetState) full(name string) *string { return aws.String(s.Path + "/" + name) }

// member describes a parameter to the engine.
func (s ParameterSetState) member(name string) *kind.Member {
	return &kind.Member{Name: "parameter " + *s.full(name), Recorded: s.recorded(name)}
}

// standing says how far a parameter is from being this object's.
type standing int

const (
	ours      standing = iota
	inherited          // left by an earlier object of this kind, namespace and name, perhaps in another cluster
	untagged           // carries no owner tags, or does not show them yet
	foreign
)

func (s ParameterSetState) standing(tags map[string]string) standing {
	same := func(k string) bool { return tags[k] == s.Owner[k] }
	marked := slices.ContainsFunc(kind.SortedKeys(tags), func(k string) bool { return strings.HasPrefix(k, wellknown.Prefix) })
	switch {
	case !marked:
		return untagged
	case !same(wellknown.TagOwner), !same(wellknown.TagManagedBy):
		return foreign
	case !same(wellknown.TagOwnerUID), !same(wellknown.TagCluster):
		return inherited
	default:
		return ours
	}
}

// Publish implements kind.Kind. It records every name that was observed to be this object's. A name that is
// not declared any more stays recorded, and is deleted, until it is gone.
func (p *parameterSet) Publish(cr *v1alpha1.SSMParameterSet, s ParameterSetState) {
	names := maps.Collect(maps.All(s.Parameters))
	for _, name := range s.Kept {
		names[name] = nil
	}
	cr.Status.ARN, cr.Status.ID = s.ARN, s.Path
	cr.Status.ManagedNames, cr.Status.Count, cr.Status.TagsDigest = kind.SortedKeys(names), int32(len(s.Parameters)), s.Digest
	cr.Status.Versions = nil
	for name, v := range s.Parameters {
		if cr.Status.Versions == nil {
			cr.Status.Versions = make(map[string]int64, len(s.Parameters))
		}
		cr.Status.Versions[name] = v.Version
	}
}
