// Package ssm is the Systems Manager kinds.
//
// An SSMParameterSet is one object and many parameters, each with an owner of its own. Parameter Store
// reads values ten at a time and tags one at a time, so at rest only values are read: ⌈n/10⌉ calls. The
// tags, which tell the owner, are read directly of every parameter that is
//
//   - new to us: it exists and is not among status.managedNames,
//   - about to be written or deleted: what drifted may be another's, made anew under the name,
//   - one of a set whose wanted tags are not those last seen on all of them (status.tagsDigest).
//
// So nothing is written or deleted whose tags were not seen a moment before. The price: a tag that
// somebody changes on a parameter that is otherwise as declared is noticed when the tags are next
// read, at the latest when a check is asked for by annotation.
//
// If one parameter is somebody else's, nothing of the set is written. When the set is deleted, only
// that one is left alone.
//
// A crash can lose the record of a parameter just made. Unless the set was Ready at its generation,
// DescribeParameters is therefore asked once for everything under the path that carries our owner-uid.
package ssm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ParameterSetState is a set of parameters as both the spec and Parameter Store can say it.
type ParameterSetState struct {
	Path, ARN string `drift:"id"`
	Deleting  bool   `drift:"id"`
	// Search asks for strays: parameters of ours under the path that nobody recorded.
	Search bool `drift:"id"`
	// AllTags asks for the tags of every parameter.
	AllTags bool `drift:"id"`
	// Adopt says that parameters without an owner may become ours, if the provider agrees.
	Adopt bool `drift:"id"`
	// Recorded are the names that status knows to be ours.
	Recorded []string `drift:"id"`
	// DroppedTags are keys we wrote once and do not want any more.
	DroppedTags []string          `drift:"id"`
	Owner       map[string]string `drift:"id"`
	Tags        map[string]string `drift:"id"`
	// Digest is that of the wanted tags; of a seen set, only when every parameter is known to carry them.
	Digest string `drift:"id"`

	// Parameters by relative name; nil shall be absent.
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
	// Intelligent leaves the tier to AWS, which answers with the one it chose: nothing to compare.
	Intelligent bool `json:"-" drift:"id"`
}

type parameterSet struct{ api *ssm.Client }

// NewParameterSet binds the SSMParameterSet kind to an identity.
func NewParameterSet(cfg aws.Config) kind.Kind[*v1alpha1.SSMParameterSet, ParameterSetState] {
	return &parameterSet{api: ssm.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssystemsmanager.html
func (p *parameterSet) Meta() kind.Meta {
	return kind.Meta{
		Reads:  []string{"ssm:GetParameters", "ssm:DescribeParameters", "ssm:ListTagsForResource"},
		Writes: []string{"ssm:PutParameter", "ssm:DeleteParameters", "ssm:AddTagsToResource", "ssm:RemoveTagsFromResource"},
		// For SecureString: https://docs.aws.amazon.com/systems-manager/latest/userguide/secure-string-parameter-kms-encryption.html
		Implied:  []string{"kms:Encrypt", "kms:Decrypt", "kms:GenerateDataKey"},
		Identity: kind.ByName,
	}
}

// reconcileAt is the annotation that asks for a check now.
const reconcileAt = "nexus.ai/reconcile-requested-at"

func (p *parameterSet) Desired(sc kind.Scope, cr *v1alpha1.SSMParameterSet) (ParameterSetState, error) {
	in, st := cr.Spec, cr.Status
	asked := cr.Annotations[reconcileAt] != st.LastHandledReconcileAt
	s := ParameterSetState{
		Path: in.Path, ARN: fmt.Sprintf("arn:%s:ssm:%s:%s:parameter%s", sc.Partition, sc.Region, sc.Account, in.Path),
		Deleting: sc.Deleting, Adopt: in.AdoptionPolicy == v1alpha1.AdoptAlways,
		Search:  sc.Deleting || asked || mayHaveStrays(cr),
		AllTags: sc.Deleting || asked || st.TagsDigest != digest(sc.Tags), Digest: digest(sc.Tags),
		Recorded: st.ManagedNames, Owner: sc.OwnerTags, Tags: sc.Tags,
		DroppedTags: slices.DeleteFunc(slices.Clone(st.ManagedTagKeys), func(k string) bool { _, ok := sc.Tags[k]; return ok }),
		Parameters:  make(map[string]*Parameter, len(in.Parameters)),
	}
	for _, name := range st.ManagedNames {
		s.Parameters[name] = nil
	}
	for _, name := range kind.SortedKeys(in.Parameters) {
		if err := check(in, name); err != nil && !sc.Deleting {
			return s, err
		}
		s.Parameters[name] = wanted(in.Parameters[name], sc.Tags)
	}
	return s, nil
}

// mayHaveStrays says that an earlier pass may have made what nobody recorded and the spec does not
// name any more. What the first generation declares is all that can have been made under it.
func mayHaveStrays(cr *v1alpha1.SSMParameterSet) bool {
	return cr.Generation > 1 && !status.ReadyAt(cr.Status.Conditions, cr.Generation)
}

func wanted(in v1alpha1.SSMParameter, tags map[string]string) *Parameter {
	w := &Parameter{Type: in.Type, Description: in.Description, Tags: tags}
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
	if in.KeyID != "" {
		w.KeyID = &in.KeyID
	}
	return w
}

func (w *Parameter) secure() bool {
	return w != nil && w.Type == string(types.ParameterTypeSecureString)
}

// detailed says that something is declared which only DescribeParameters tells.
func (w *Parameter) detailed() bool {
	return w != nil && (w.Description != nil || w.Tier != nil || w.KeyID != nil)
}

// Limits of Parameter Store, in bytes and levels:
// https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm,
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-su-create.html
const (
	standardSize = 4 << 10
	advancedSize = 8 << 10
	maxLevels    = 15
)

// check says what Parameter Store would refuse, before anything is written.
func check(in v1alpha1.SSMParameterSetSpec, name string) error {
	v := in.Parameters[name]
	field := func(sub string) string { return "spec.parameters[" + name + "]." + sub }
	big := v.Tier == string(types.ParameterTierAdvanced) || v.Tier == string(types.ParameterTierIntelligentTiering)
	switch size := len(v.Value); {
	case size == 0:
		return status.Invalid(field("value"), "a parameter cannot be empty; leave it out")
	case size > advancedSize:
		return status.Invalid(field("value"), "has %d bytes; a parameter holds at most %d", size, advancedSize)
	case size > standardSize && !big:
		return status.Invalid(field("value"), "has %d bytes; more than %d need tier Advanced or Intelligent-Tiering", size, standardSize)
	case v.KeyID != "" && v.Type != string(types.ParameterTypeSecureString):
		return status.Invalid(field("keyID"), "only a SecureString is encrypted; set type: SecureString or leave keyID out")
	case strings.Count(in.Path+"/"+name, "/") > maxLevels:
		return status.Invalid("spec.parameters["+name+"]", "a parameter name has at most %d levels", maxLevels)
	}
	return nil
}

// digest is a short hash of tags.
func digest(tags map[string]string) string {
	h := sha256.New()
	for _, k := range kind.SortedKeys(tags) {
		_, _ = fmt.Fprintf(h, "%q=%q\n", k, tags[k])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// declares says whether there is any parameter to have.
func (s ParameterSetState) declares() bool {
	for _, w := range s.Parameters {
		if w != nil {
			return true
		}
	}
	return false
}

func (s ParameterSetState) full(name string) *string { return aws.String(s.Path + "/" + name) }

// standing is how far a parameter is from being this object's.
type standing int

const (
	ours      standing = iota
	inherited          // left by an earlier object of this kind, namespace and name, perhaps in another cluster
	nobodys
	foreign
)

func (s ParameterSetState) standing(tags map[string]string) standing {
	same := func(k string) bool { return tags[k] == s.Owner[k] }
	marked := slices.ContainsFunc(kind.SortedKeys(tags), func(k string) bool { return strings.HasPrefix(k, tagPrefix) })
	switch {
	case !marked:
		return nobodys
	case !same(tagOwner), !same(tagManagedBy):
		return foreign
	case !same(tagOwnerUID), !same(tagCluster):
		return inherited
	default:
		return ours
	}
}

// The engine's owner tags.
const (
	tagPrefix    = "nexus.ai/"
	tagManagedBy = tagPrefix + "managed-by"
	tagCluster   = tagPrefix + "cluster"
	tagOwner     = tagPrefix + "owner"
	tagOwnerUID  = tagPrefix + "owner-uid"
)

// Publish records every name that was seen to be ours: one that is not declared any more stays on
// record, and is deleted, until it is gone.
func (p *parameterSet) Publish(cr *v1alpha1.SSMParameterSet, s ParameterSetState) {
	cr.Status.ARN, cr.Status.ID = s.ARN, s.Path
	cr.Status.ManagedNames, cr.Status.Count, cr.Status.TagsDigest = kind.SortedKeys(s.Parameters), int32(len(s.Parameters)), s.Digest
	cr.Status.Versions = nil
	for name, v := range s.Parameters {
		if cr.Status.Versions == nil {
			cr.Status.Versions = make(map[string]int64, len(s.Parameters))
		}
		cr.Status.Versions[name] = v.Version
	}
}
