// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// found is a key with its tags.
type found struct {
	*types.KeyMetadata
	tags map[string]string
}

// describe finds the key. One that is scheduled for deletion exists, to be restored, because its tags name its owner;
// while deleting it is absent.
func (k *key) describe(ctx context.Context, want KeyState, look kind.Look) (kind.Seen[KeyState], error) {
	finder := kind.Finder[found]{
		ByID: func(ctx context.Context, id string) (*found, error) { return k.byID(ctx, id, look.Deleting) },
		ByTags: func(ctx context.Context, tags map[string][]string) ([]found, error) {
			return k.byTags(ctx, tags, look.Deleting)
		},
		ID:   func(f found) string { return aws.ToString(f.KeyId) },
		Tags: func(f found) map[string]string { return f.tags },
	}
	d, duplicates, err := finder.Find(ctx, want.Search)
	if err != nil || d == nil {
		return kind.Seen[KeyState]{}, err
	}
	seen := kind.Seen[KeyState]{Exists: true, Tags: d.tags, Created: aws.ToTime(d.CreationDate), Duplicates: duplicates, State: KeyState{
		ID: aws.ToString(d.KeyId), ARN: aws.ToString(d.Arn), State: string(d.KeyState), Usage: kind.Ptr(string(d.KeyUsage)), Spec: kind.Ptr(string(d.KeySpec)),
		MultiRegion: aws.Bool(aws.ToBool(d.MultiRegion)), ScheduledForDeletion: aws.Bool(isScheduled(d.KeyState)), Enabled: &d.Enabled, Description: kind.NonNil(d.Description),
	}}
	if seen.Busy = kind.BusyUnless("the key", d.KeyState, settledStates...); !look.Deleting {
		if err := unusable(d.KeyMetadata); err != nil {
			return kind.Seen[KeyState]{}, err
		}
	}
	if want.Guarded {
		seen.Holds = []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "the key to be given up: it may be needed to read what it encrypted"}}
	}
	if look.Deleting && len(want.Aliases) > 0 {
		err = k.aliases(ctx, want, &seen.State)
	}
	return seen, err
}

// settledStates lists the states that KMS leaves on request alone. Read only.
var settledStates = []types.KeyState{types.KeyStateEnabled, types.KeyStateDisabled, types.KeyStatePendingDeletion, types.KeyStatePendingReplicaDeletion,
	types.KeyStatePendingImport, types.KeyStateUnavailable}

// unusable reports a state that makes the key unusable, if only a person can end it; nil for all others. KMS refuses to enable such a key.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
func unusable(d *types.KeyMetadata) error {
	id, needs := aws.ToString(d.KeyId), ""
	switch d.KeyState {
	case types.KeyStatePendingImport:
		needs = "it has no key material, or that has expired: import it with aws kms import-key-material --key-id " + id
	case types.KeyStateUnavailable:
		needs = "its custom key store " + aws.ToString(d.CustomKeyStoreId) + " is not connected: see aws kms describe-custom-key-stores, and connect it"
	default:
		return nil
	}
	return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: "key " + id + " is " + string(d.KeyState) + ": " + needs}
}

func isScheduled(s types.KeyState) bool {
	return s == types.KeyStatePendingDeletion || s == types.KeyStatePendingReplicaDeletion
}

// byID describes the key and reads its tags.
func (k *key) byID(ctx context.Context, id string, deleting bool) (*found, error) {
	out, err := awsclient.Lookup(ctx, k.api.DescribeKey, &kms.DescribeKeyInput{KeyId: &id})
	if out == nil || out.KeyMetadata == nil || deleting && isScheduled(out.KeyMetadata.KeyState) {
		return nil, err
	}
	in := &kms.ListResourceTagsInput{KeyId: &id}
	tags, err := kind.Pages(ctx, k.api.ListResourceTags, in, &in.Marker, func(out *kms.ListResourceTagsOutput) ([]types.Tag, *string) { return out.Tags, out.NextMarker })
	if awsclient.IsNotFound(err) {
		return nil, nil
	}
	f := &found{out.KeyMetadata, map[string]string{}}
	for _, t := range tags {
		f.tags[aws.ToString(t.TagKey)] = aws.ToString(t.TagValue)
	}
	return f, err
}

// byTags asks the tagging API, because KMS lists keys without their tags.
func (k *key) byTags(ctx context.Context, tags map[string][]string, deleting bool) ([]found, error) {
	arns, err := awsclient.TaggedARNs(ctx, k.tags.GetResources, "kms:key", tags)
	if err != nil {
		return nil, err
	}
	return kind.DescribeEach(ctx, arns, func(ctx context.Context, arn string) (*found, error) {
		return k.byID(ctx, arn[strings.LastIndex(arn, "/")+1:], deleting)
	})
}

func (k *key) policy(ctx context.Context, _ KeyState, have *KeyState) error {
	out, err := k.api.GetKeyPolicy(ctx, &kms.GetKeyPolicyInput{KeyId: &have.ID, PolicyName: aws.String(policyName)})
	if err == nil {
		have.Policy = out.Policy
	}
	return err
}

// rotation leaves the field unset in an export of a key that cannot be rotated, such as one with imported key material.
func (k *key) rotation(ctx context.Context, want KeyState, have *KeyState) error {
	out, err := k.api.GetKeyRotationStatus(ctx, &kms.GetKeyRotationStatusInput{KeyId: &have.ID})
	switch {
	case err == nil:
		have.Rotation = &out.KeyRotationEnabled
	case want.Everything && awsclient.Classify(err).Code == "UnsupportedOperationException":
		return nil
	}
	return err
}

// aliases reads which of the declared and recorded aliases the key has, or all of them.
func (k *key) aliases(ctx context.Context, want KeyState, have *KeyState) error {
	in := &kms.ListAliasesInput{KeyId: &have.ID}
	all, err := kind.Pages(ctx, k.api.ListAliases, in, &in.Marker, func(out *kms.ListAliasesOutput) ([]types.AliasListEntry, *string) { return out.Aliases, out.NextMarker })
	have.Aliases = map[string]*bool{}
	for _, a := range all {
		name := aws.ToString(a.AliasName)
		if _, ours := want.Aliases[name]; ours || want.Everything {
			have.Aliases[name] = aws.Bool(true)
		}
	}
	return err
}

// addAlias succeeds where the key has the alias already: KMS may not list it yet.
func (k *key) addAlias(ctx context.Context, _, have KeyState, name string) error {
	_, err := k.api.CreateAlias(ctx, &kms.CreateAliasInput{AliasName: &name, TargetKeyId: &have.ID})
	if !awsclient.Is(err, awsclient.Exists) {
		return err
	}
	out, lookup := awsclient.Lookup(ctx, k.api.DescribeKey, &kms.DescribeKeyInput{KeyId: &name})
	switch {
	case lookup != nil || out == nil || out.KeyMetadata == nil:
		return err
	case aws.ToString(out.KeyMetadata.KeyId) == have.ID:
		return nil
	}
	return &status.Stalled{Reason: status.ReasonConflict, Field: "spec.aliases", Message: name + " exists and leads to another key: delete the alias, or declare another one"}
}

func (k *key) dropAlias(ctx context.Context, _, _ KeyState, name string) error {
	_, err := awsclient.Lookup(ctx, k.api.DeleteAlias, &kms.DeleteAliasInput{AliasName: &name})
	return err
}

// tagList is SDKTags for the names that KMS has for the parts of a tag.
func tagList(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range kind.SortedKeys(tags) {
		out = append(out, types.Tag{TagKey: aws.String(k), TagValue: aws.String(tags[k])})
	}
	return out
}
