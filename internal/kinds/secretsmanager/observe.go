package secretsmanager

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// awsManagedKey is what AWS calls the key it takes when none is named.
const awsManagedKey = "alias/aws/secretsmanager"

// conditionPopulated is False while people must still fill in a placeholder.
const conditionPopulated = "SecretsPopulated"

// Observe describes the secret, which tells everything but values and the ids of versions without a
// label. While deleting, a secret in its recovery window is absent; otherwise it is there, to be
// restored: its tags say whose it is.
func (s *secret) Observe(ctx context.Context, want SecretState) (kind.Seen[SecretState], error) {
	absent := kind.Seen[SecretState]{}
	out, err := s.api.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &want.Name})
	if awsclient.IsNotFound(err) {
		return absent, nil
	}
	if err != nil {
		return absent, err
	}
	if want.Deleting && out.DeletedDate != nil {
		return absent, nil
	}
	have := SecretState{
		Name: want.Name, ARN: aws.ToString(out.ARN), Deleting: want.Deleting, RecoveryDays: want.RecoveryDays,
		ScheduledForDeletion: aws.Bool(out.DeletedDate != nil), Description: out.Description,
		KMSKeyID: sameKey(want.KMSKeyID, out.KmsKeyId), Tags: make(map[string]string, len(out.Tags)),
	}
	for _, t := range out.Tags {
		have.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	for id, labels := range out.VersionIdsToStages {
		if slices.Contains(labels, current) {
			have.Current = id
		}
	}
	labelled := len(out.VersionIdsToStages[aws.ToString(want.SourceVersion)]) > 0
	if err := s.source(ctx, want, labelled, &have); err != nil {
		return absent, err
	}
	return kind.Seen[SecretState]{Exists: true, State: have, Tags: have.Tags, Created: aws.ToTime(out.CreatedDate), Notes: notes(want, have)}, nil
}

// source judges whether the source's value was put. It was if it is in force, if the status says that
// it was the last one put, or, where the status says nothing, if AWS has it at all: somebody's newer
// version then stays. Versions without a label are in no description, so they are listed, but only
// where a write would follow otherwise.
func (s *secret) source(ctx context.Context, want SecretState, labelled bool, have *SecretState) error {
	if want.SourceVersion == nil {
		return nil
	}
	id := *want.SourceVersion
	have.SourceVersion, have.SourceKnown = new(string), labelled
	if have.Current == id || want.SourcePut == id {
		have.SourceVersion = &id
		return nil
	}
	if !labelled && !*have.ScheduledForDeletion && have.Current != "" {
		known, err := s.hasVersion(ctx, want.Name, id)
		if err != nil {
			return err
		}
		have.SourceKnown = known
	}
	if want.SourcePut == "" && have.SourceKnown {
		have.SourceVersion = &id
	}
	return nil
}

func (s *secret) hasVersion(ctx context.Context, name, id string) (bool, error) {
	pages := secretsmanager.NewListSecretVersionIdsPaginator(s.api, &secretsmanager.ListSecretVersionIdsInput{
		SecretId: &name, IncludeDeprecated: aws.Bool(true), MaxResults: aws.Int32(100)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return false, err
		}
		for _, v := range out.Versions {
			if aws.ToString(v.VersionId) == id {
				return true, nil
			}
		}
	}
	return false, nil
}

// sameKey gives the key in the words of want where both name the same one: AWS may answer with an id or
// an ARN, and with nothing for the key it takes by itself.
func sameKey(want, have *string) *string {
	h := aws.ToString(have)
	if h == "" || h == awsManagedKey || strings.HasSuffix(h, ":"+awsManagedKey) {
		return new(string)
	}
	if w := aws.ToString(want); w != "" && (strings.HasSuffix(h, ":key/"+w) || strings.HasSuffix(w, ":key/"+h) ||
		strings.HasSuffix(h, ":"+w) || strings.HasSuffix(w, ":"+h)) {
		return want
	}
	return have
}

// notes say whether people have filled in the placeholder.
func notes(want, have SecretState) []kind.Note {
	if want.Deleting || len(want.Initial.placeholder) == 0 {
		return nil
	}
	if populated(want.Initial, have.Current) {
		return []kind.Note{{Type: conditionPopulated, Reason: status.ReasonPopulated, True: true, Message: "secret " + want.Name + " was filled in"}}
	}
	return []kind.Note{{Type: conditionPopulated, Reason: status.ReasonPlaceholdersEmpty,
		Message: "secret " + want.Name + " still has the placeholder that it was made with: put its value in Secrets Manager"}}
}
