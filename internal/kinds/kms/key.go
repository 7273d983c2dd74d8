// SPDX-License-Identifier: Apache-2.0

// Package kms is the KMS kinds.
package kms

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// KeyState is a key as both the spec and KMS can express it.
type KeyState struct {
	Search kind.Search `drift:"id"`
	// Window says how many days KMS waits before it deletes the key.
	Window int32 `drift:"id"`
	// Guarded is set while the key must not be deleted.
	Guarded bool `drift:"id"`
	// Everything is true for an export: aliases of all names are read.
	Everything bool `drift:"id"`

	ID    string `drift:"id"`
	ARN   string `drift:"id"`
	State string `drift:"observed"`

	Usage       *string `drift:"immutable"`
	Spec        *string `drift:"immutable"`
	MultiRegion *bool   `drift:"immutable"`
	// ScheduledForDeletion is true in the waiting period, when KMS accepts only the cancellation of the deletion.
	ScheduledForDeletion *bool
	Enabled              *bool
	Description          *string
	Rotation             *bool
	Policy               *string `drift:"json"`
	// Aliases are by name; nil for one that the operator made and the spec dropped.
	Aliases map[string]*bool  `drift:"keys"`
	Tags    map[string]string `drift:"tags"`
}

const (
	defaultWindow = 30
	// policyName is that of the only policy that a key can have.
	policyName = "default"
)

type key struct {
	api  *kms.Client
	tags *tagging.Client
}

// The stages of a change: KMS accepts nothing for a key that is scheduled for deletion, and no rotation of one that is
// disabled.
const (
	stageRestore = iota - 2
	stageEnable
	stageSet
	stageDisable
)

// NewKey binds the KMSKey kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awskeymanagementservice.html
func NewKey(cfg aws.Config) kind.Kind[*v1alpha1.KMSKey, KeyState] {
	k := &key{api: kms.NewFromConfig(cfg), tags: tagging.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.KMSKey, KeyState]{
		Meta:     kind.Meta{Facts: keyFacts(), Identity: kind.ByTag, HoldsData: true, Retains: true, Users: kind.UsersOfCluster},
		Identify: identify, Declare: declare, Publish: publish, Refuse: refuse,
		Export:   kind.Export[*v1alpha1.KMSKey, KeyState]{Identity: []string{"importID"}, Ask: askForEverything, Spec: exported},
		Describe: kind.Read[KeyState]{Actions: []string{"kms:DescribeKey", "kms:ListResourceTags", "tag:GetResources", "kms:ListAliases"}, Do: k.describe},
		Create:   kind.Call[KeyState]{Action: "kms:CreateKey", DoForID: k.create},
		Tagging: kind.Tagging[KeyState]{
			Sets: "kms:TagResource", Set: kind.Send(k.api.TagResource, func(have KeyState, tags map[string]string) *kms.TagResourceInput {
				return &kms.TagResourceInput{KeyId: &have.ID, Tags: tagList(tags)}
			}),
			Removes: "kms:UntagResource", Remove: kind.Send(k.api.UntagResource, func(have KeyState, keys []string) *kms.UntagResourceInput {
				return &kms.UntagResourceInput{KeyId: &have.ID, TagKeys: keys}
			}),
		},
		OneByOne: true,
		Parts:    append(k.states(), k.settings()...),
		// KMS keeps the aliases until the key is deleted; another key may need them before.
		Delete: []kind.Ending[KeyState]{
			{Each: func(_, have KeyState) []string { return kind.SortedKeys(have.Aliases) }, DoKey: k.dropAlias, Call: kind.Call[KeyState]{Action: "kms:DeleteAlias", Effect: kind.Empties}},
			// The look that follows searches by tags: it finds a duplicate that a lost answer left behind.
			{Then: true, Call: kind.Call[KeyState]{Action: "kms:ScheduleKeyDeletion", Effect: kind.Deletes, Do: kind.Send(k.api.ScheduleKeyDeletion, func(want, have KeyState) *kms.ScheduleKeyDeletionInput {
				return &kms.ScheduleKeyDeletionInput{KeyId: &have.ID, PendingWindowInDays: &want.Window}
			})}},
		},
	})
}

// states are the parts that decide whether the key can be used.
func (k *key) states() []kind.Part[KeyState] {
	at := func(stage int) func(want, have KeyState) int { return func(_, _ KeyState) int { return stage } }
	enables := func(want, _ KeyState) bool { return aws.ToBool(want.Enabled) }
	return []kind.Part[KeyState]{
		{Fields: []string{"ScheduledForDeletion"}, InCreate: true, Stage: at(stageRestore),
			Write: kind.Call[KeyState]{Action: "kms:CancelKeyDeletion", Do: kind.Send(k.api.CancelKeyDeletion, func(_, have KeyState) *kms.CancelKeyDeletionInput {
				return &kms.CancelKeyDeletionInput{KeyId: &have.ID}
			})}},
		{Fields: []string{"Enabled"}, When: enables, Default: isEnabled, NeedsLook: true, Stage: at(stageEnable),
			Write: kind.Call[KeyState]{Action: "kms:EnableKey", Do: kind.Send(k.api.EnableKey, func(_, have KeyState) *kms.EnableKeyInput { return &kms.EnableKeyInput{KeyId: &have.ID} })}},
		{Fields: []string{"Enabled"}, When: func(want, have KeyState) bool { return !enables(want, have) }, Default: isEnabled, NeedsLook: true, Stage: at(stageDisable),
			Write: kind.Call[KeyState]{Action: "kms:DisableKey", Do: kind.Send(k.api.DisableKey, func(_, have KeyState) *kms.DisableKeyInput { return &kms.DisableKeyInput{KeyId: &have.ID} })}},
	}
}

// isEnabled and rotatesNot are the defaults of a new key.
func isEnabled(want KeyState) bool { return aws.ToBool(want.Enabled) }

func rotatesNot(want KeyState) bool { return !aws.ToBool(want.Rotation) }

func (k *key) settings() []kind.Part[KeyState] {
	on := func(want, _ KeyState) bool { return aws.ToBool(want.Rotation) }
	set := func(_, _ KeyState) int { return stageSet }
	return []kind.Part[KeyState]{
		{Fields: []string{"Description"}, InCreate: true, Stage: set,
			Write: kind.Call[KeyState]{Action: "kms:UpdateKeyDescription", Do: kind.Send(k.api.UpdateKeyDescription, func(want, have KeyState) *kms.UpdateKeyDescriptionInput {
				return &kms.UpdateKeyDescriptionInput{KeyId: &have.ID, Description: want.Description}
			})}},
		{Fields: []string{"Policy"}, InCreate: true, Stage: set, Reads: "kms:GetKeyPolicy", Read: k.policy,
			Write: kind.Call[KeyState]{Action: "kms:PutKeyPolicy", Do: kind.Send(k.api.PutKeyPolicy, func(want, have KeyState) *kms.PutKeyPolicyInput {
				return &kms.PutKeyPolicyInput{KeyId: &have.ID, PolicyName: aws.String(policyName), Policy: want.Policy}
			})}},
		{Fields: []string{"Rotation"}, When: on, Default: rotatesNot, NeedsLook: true, Stage: set, Reads: "kms:GetKeyRotationStatus", Read: k.rotation,
			Write: kind.Call[KeyState]{Action: "kms:EnableKeyRotation", Do: kind.Send(k.api.EnableKeyRotation, func(_, have KeyState) *kms.EnableKeyRotationInput {
				return &kms.EnableKeyRotationInput{KeyId: &have.ID}
			})}},
		{Fields: []string{"Rotation"}, When: func(want, have KeyState) bool { return !on(want, have) }, Default: rotatesNot, NeedsLook: true, Stage: set,
			Write: kind.Call[KeyState]{Action: "kms:DisableKeyRotation", Do: kind.Send(k.api.DisableKeyRotation, func(_, have KeyState) *kms.DisableKeyRotationInput {
				return &kms.DisableKeyRotationInput{KeyId: &have.ID}
			})}},
		{Fields: []string{"Aliases"}, NeedsLook: true, Stage: set, Read: k.aliases,
			Each: &kind.Each[KeyState]{Set: kind.KeyCall[KeyState]{Action: "kms:CreateAlias", Do: k.addAlias}, Unset: kind.KeyCall[KeyState]{Action: "kms:DeleteAlias", Do: k.dropAlias}}},
	}
}

// identify includes the aliases, which are removed with the key. It ignores a waiting period that KMS would refuse:
// it must not stop a deletion.
func identify(sc kind.Scope, cr *v1alpha1.KMSKey) (KeyState, error) {
	want := KeyState{Search: sc.Search, Window: defaultWindow, Guarded: sc.Data.Guarded}
	if days := aws.ToInt32(cr.Spec.PendingWindowInDays); days >= 7 && days <= defaultWindow {
		want.Window = days
	}
	want.Window = max(want.Window, min(int32(sc.Data.NeededDays), defaultWindow)) // a deleted secret is restored with its key
	recorded := slices.Concat(cr.Status.ManagedAliases, sc.Keys["Aliases"])
	if len(recorded)+len(cr.Spec.Aliases) == 0 {
		return want, nil
	}
	want.Aliases = map[string]*bool{}
	for _, name := range recorded {
		want.Aliases[name] = nil
	}
	for _, name := range cr.Spec.Aliases {
		want.Aliases[string(name)] = aws.Bool(true)
	}
	return want, nil
}

func declare(_ kind.Scope, cr *v1alpha1.KMSKey, want *KeyState) error {
	in := cr.Spec
	want.Usage, want.Spec, want.MultiRegion = kind.NonEmpty(&in.KeyUsage), kind.NonEmpty(&in.KeySpec), in.MultiRegion
	want.ScheduledForDeletion, want.Enabled = aws.Bool(false), aws.Bool(in.Enabled == nil || *in.Enabled)
	want.Description, want.Rotation, want.Policy = in.Description, in.EnableKeyRotation, in.KeyPolicy
	if in.KeyPolicy != nil {
		if _, err := iampolicy.ParseOfUser(*in.KeyPolicy); err != nil {
			return status.Invalid("spec.keyPolicy", "%v", err)
		}
	}
	return nil
}

// refuse stops an edit that KMS accepts for no key that is and stays disabled. The operator does not enable one for a
// moment: the person who disabled it relies on its not being used.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
func refuse(want, have KeyState, diff kind.Diff) error {
	if !diff.Under("Rotation") || aws.ToBool(want.Enabled) || aws.ToBool(have.Enabled) {
		return nil
	}
	return status.Invalid("spec.enableKeyRotation", "KMS changes the rotation of enabled keys only, and this key is disabled: keep %t, or set enabled: true until the rotation has changed",
		aws.ToBool(have.Rotation))
}

// publish also records the aliases that the operator made, so that they are removed when the spec drops them.
func publish(cr *v1alpha1.KMSKey, s KeyState) {
	st := &cr.Status
	st.ID, st.ARN, st.KeyID, st.KeyState = s.ID, s.ARN, s.ID, s.State
	if s.Aliases == nil {
		return
	}
	names := kind.SortedKeys(s.Aliases)
	for _, name := range cr.Spec.Aliases {
		names = append(names, string(name))
	}
	slices.Sort(names)
	st.ManagedAliases = slices.Compact(names)
}

func (k *key) create(ctx context.Context, want KeyState, _ string) (string, error) {
	out, err := k.api.CreateKey(ctx, &kms.CreateKeyInput{Description: kind.NonEmpty(want.Description), KeySpec: types.KeySpec(aws.ToString(want.Spec)),
		KeyUsage: types.KeyUsageType(aws.ToString(want.Usage)), MultiRegion: want.MultiRegion, Policy: want.Policy, Tags: tagList(want.Tags)})
	if err != nil || out.KeyMetadata == nil {
		return "", err
	}
	return aws.ToString(out.KeyMetadata.KeyId), nil
}
