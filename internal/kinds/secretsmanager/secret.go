// Package secretsmanager is the Secrets Manager kinds.
//
// No call here returns a secret's value: what is in force is known by version ids alone.
package secretsmanager

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// SecretState is a secret as both the spec and Secrets Manager can say it.
type SecretState struct {
	Name, ARN    string `drift:"id"`
	Deleting     bool   `drift:"id"`
	RecoveryDays int64  `drift:"id"`
	// Initial makes the value of the first version.
	Initial initial `drift:"id"`
	// Source is the value to be kept in AWS, from a Kubernetes Secret.
	Source value `drift:"id"`
	// SourcePut is the version that was put for the source last, as far as is recorded.
	SourcePut string `drift:"id"`

	// Current is the version in force, "" while there is none.
	Current string `drift:"observed"`
	// SourceKnown says that AWS still has the wanted version of the source, in force or not.
	SourceKnown bool `drift:"observed"`

	// ScheduledForDeletion is true in the recovery window, in which nothing but a restore is possible.
	ScheduledForDeletion *bool
	Description          *string
	// KMSKeyID is the key that encrypts the value; "" is aws/secretsmanager.
	KMSKeyID *string
	// SourceVersion is the version made of Source: its own, once it was put, and "" otherwise.
	SourceVersion *string           `drift:"secret"`
	Tags          map[string]string `drift:"tags"`
}

type secret struct{ api *secretsmanager.Client }

// NewSecret binds the SecretsManagerSecret kind to an identity.
func NewSecret(cfg aws.Config) kind.Kind[*v1alpha1.SecretsManagerSecret, SecretState] {
	return &secret{api: secretsmanager.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecretsmanager.html
// A customer managed key needs kms:GenerateDataKey and kms:Decrypt beside, which its key policy grants best.
func (s *secret) Meta() kind.Meta {
	return kind.Meta{
		Reads: []string{"secretsmanager:DescribeSecret", "secretsmanager:ListSecretVersionIds"},
		Writes: []string{"secretsmanager:CreateSecret", "secretsmanager:RestoreSecret", "secretsmanager:UpdateSecret", "secretsmanager:PutSecretValue",
			"secretsmanager:UpdateSecretVersionStage", "secretsmanager:TagResource", "secretsmanager:UntagResource", "secretsmanager:DeleteSecret"},
		Identity:  kind.ByName,
		HoldsData: true,
	}
}

const (
	defaultRecoveryDays = 30
	// maxValue is Secrets Manager's limit for a value, in bytes.
	maxValue = 65536
	current  = "AWSCURRENT"
)

func (s *secret) Desired(sc kind.Scope, cr *v1alpha1.SecretsManagerSecret) (SecretState, error) {
	in := cr.Spec
	w := SecretState{Name: in.SecretName, Deleting: sc.Deleting, RecoveryDays: defaultRecoveryDays, Tags: sc.Tags}
	if in.RecoveryWindowInDays != nil {
		w.RecoveryDays = *in.RecoveryWindowInDays
	}
	if sc.Deleting {
		return w, nil
	}
	w.ScheduledForDeletion, w.Description, w.KMSKeyID = aws.Bool(false), in.Description, in.KmsKeyId
	if aws.ToString(in.KmsKeyId) == awsManagedKey {
		w.KMSKeyID = new(string)
	}
	if err := check(in); err != nil {
		return w, err
	}
	w.Initial = initialOf(cr)
	if in.SecretStringRef == nil {
		return w, nil
	}
	return withSource(sc, w, cr)
}

// withSource reads the source, which makes the version that is wanted.
func withSource(sc kind.Scope, w SecretState, cr *v1alpha1.SecretsManagerSecret) (SecretState, error) {
	const field = "spec.secretStringRef"
	ref := cr.Spec.SecretStringRef
	if ref.Namespace != "" && ref.Namespace != sc.Namespace {
		return w, &status.Stalled{Reason: status.ReasonNotPermitted, Field: field + ".namespace", Message: "must be the object's own namespace"}
	}
	v, err := sc.Secret(ref.Name, ref.Key)
	if err != nil {
		return w, err
	}
	if err := checkValue(v); err != nil {
		return w, status.Invalid(field, "the value in key %s of Secret %s %v", ref.Key, ref.Name, err)
	}
	w.Source = value{text: string(v)}
	w.SourceVersion = aws.String(versionOf(sc.UID, v))
	w.SourcePut = cr.Status.SourceVersionId
	return w, nil
}

func (s *secret) Converge(want SecretState, seen kind.Seen[SecretState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "secretsmanager:CreateSecret", Do: s.create(want)}}
	}
	// One after the other: nothing else is possible before the restore, and a new value is encrypted
	// by the new key.
	var steps []kind.Step
	add := func(action string, do func(ctx context.Context) error, fixes ...string) {
		if len(fixes) > 0 && diff.Under(fixes...) {
			steps = append(steps, kind.Step{Action: action, Fixes: fixes, Stage: len(steps),
				Do: func(ctx context.Context, _ string) (string, error) { return "", do(ctx) }})
		}
	}
	name := &want.Name
	scheduled := aws.ToBool(seen.State.ScheduledForDeletion)
	if scheduled { // what versions there are shows only after it
		add("secretsmanager:RestoreSecret", func(ctx context.Context) error {
			_, err := s.api.RestoreSecret(ctx, &secretsmanager.RestoreSecretInput{SecretId: name})
			return err
		}, "ScheduledForDeletion", "SourceVersion")
	}
	set, remove := diff.Keys("Tags")
	add("secretsmanager:TagResource", func(ctx context.Context) error {
		_, err := s.api.TagResource(ctx, &secretsmanager.TagResourceInput{SecretId: name, Tags: tagSet(kind.Only(want.Tags, set))})
		return err
	}, tagPaths(set)...)
	add("secretsmanager:UntagResource", func(ctx context.Context) error {
		_, err := s.api.UntagResource(ctx, &secretsmanager.UntagResourceInput{SecretId: name, TagKeys: remove})
		return err
	}, tagPaths(remove)...)
	add("secretsmanager:UpdateSecret", func(ctx context.Context) error {
		_, err := s.api.UpdateSecret(ctx, settings(want, diff))
		return err
	}, "Description", "KMSKeyID")
	switch {
	case scheduled:
	case seen.State.SourceKnown:
		add("secretsmanager:UpdateSecretVersionStage", func(ctx context.Context) error { return s.promote(ctx, want, seen.State) }, "SourceVersion")
	default:
		add("secretsmanager:PutSecretValue", func(ctx context.Context) error {
			_, err := s.api.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: name, ClientRequestToken: want.SourceVersion, SecretString: &want.Source.text})
			return err
		}, "SourceVersion")
	}
	return steps
}

// settings sends only what differs: UpdateSecret leaves the rest, and the value, as they are.
func settings(want SecretState, diff kind.Diff) *secretsmanager.UpdateSecretInput {
	in := &secretsmanager.UpdateSecretInput{SecretId: &want.Name}
	if diff.Under("Description") {
		in.Description = want.Description
	}
	if diff.Under("KMSKeyID") {
		in.KmsKeyId = want.KMSKeyID
	}
	return in
}

// promote puts a version in force that AWS has already: the source was changed back to an earlier value.
func (s *secret) promote(ctx context.Context, want, have SecretState) error {
	in := &secretsmanager.UpdateSecretVersionStageInput{SecretId: &want.Name, VersionStage: aws.String(current), MoveToVersionId: want.SourceVersion}
	if have.Current != "" {
		in.RemoveFromVersionId = &have.Current
	}
	_, err := s.api.UpdateSecretVersionStage(ctx, in)
	return err
}

// create makes the secret with its first value, if it has one. Random values are made here, sent and
// forgotten. The first version's id is derived, not drawn, so that it is known again for ever.
func (s *secret) create(want SecretState) func(context.Context, string) (string, error) {
	return func(ctx context.Context, token string) (string, error) {
		in := &secretsmanager.CreateSecretInput{Name: &want.Name, ClientRequestToken: &token, Description: want.Description, Tags: tagSet(want.Tags)}
		if aws.ToString(want.KMSKeyID) != "" {
			in.KmsKeyId = want.KMSKeyID
		}
		if want.SourceVersion != nil {
			in.ClientRequestToken, in.SecretString = want.SourceVersion, &want.Source.text
		} else if want.Initial.version != "" {
			text, err := want.Initial.compose()
			if err != nil {
				return "", err
			}
			in.ClientRequestToken, in.SecretString = &want.Initial.version, &text
		}
		_, err := s.api.CreateSecret(ctx, in)
		return "", err
	}
}

// Remove schedules the deletion, or deletes at once where the recovery window is 0.
func (s *secret) Remove(seen kind.Seen[SecretState]) []kind.Step {
	in := &secretsmanager.DeleteSecretInput{SecretId: &seen.State.Name}
	if seen.State.RecoveryDays == 0 {
		in.ForceDeleteWithoutRecovery = aws.Bool(true)
	} else {
		in.RecoveryWindowInDays = &seen.State.RecoveryDays
	}
	return []kind.Step{{Action: "secretsmanager:DeleteSecret", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := s.api.DeleteSecret(ctx, in)
		return "", err
	}}}
}

func (s *secret) Publish(cr *v1alpha1.SecretsManagerSecret, have SecretState) {
	st := &cr.Status
	st.ARN, st.ID, st.VersionId = have.ARN, have.Name, have.Current
	if v := aws.ToString(have.SourceVersion); v != "" {
		st.SourceVersionId = v
	}
	if have.Deleting {
		return
	}
	if first := initialOf(cr).version; first != "" && have.Current == first {
		st.InitialVersionId = first
	}
	st.Populated = nil
	if len(cr.Spec.Placeholder) > 0 {
		st.Populated = aws.Bool(populated(initialOf(cr), have.Current))
	}
}

func tagPaths(keys []string) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, "Tags["+k+"]")
	}
	return out
}

func tagSet(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range kind.SortedKeys(tags) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}
