// SPDX-License-Identifier: Apache-2.0

// Package secretsmanager is the Secrets Manager kinds.
//
// No call here returns a secret's value: only the IDs of its versions are read.
package secretsmanager

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// SecretState is a secret as both the spec and Secrets Manager can express it.
type SecretState struct {
	Name string `drift:"identity"`
	ARN  string `drift:"id"`
	// RecoveryDays is the recovery window of a deletion; 0 deletes without one.
	RecoveryDays int64 `drift:"id"`
	// Initial composes the value of the first version.
	Initial initial `drift:"id"`
	// Source is the value from a Kubernetes Secret that AWS is to hold.
	Source value `drift:"id"`
	// SourcePut is the version that the status recorded as put for the source last.
	SourcePut string `drift:"id"`

	// Current is the version in force; empty while there is none.
	Current string `drift:"observed"`
	// SourceKnown is true when AWS still has the wanted version of the source, in force or not.
	SourceKnown bool `drift:"observed"`
	// RotationRole is the role that rotates a secret of another provider than AWS; the spec declares none.
	RotationRole *string `drift:"observed"`

	// ScheduledForDeletion is true in the recovery window, when AWS accepts only a restore.
	ScheduledForDeletion *bool
	Description          *string
	// KMSKeyID is the key that encrypts the value; "" is aws/secretsmanager.
	KMSKeyID *string
	// SourceVersion is the version made of Source: its own ID once it was put, and "" otherwise.
	SourceVersion *string `drift:"secret"`
	Policy        *string `drift:"json"`
	Rotation      *Rotation
	Tags          map[string]string `drift:"tags"`
}

// Rotation is the automatic rotation of a secret; empty while there is none.
type Rotation struct {
	LambdaARN string
	Days      *int64
	Window    *string `drift:"observed"` // the time window for the start of the function, of a schedule in days; the spec has no field for it
}

const (
	defaultRecoveryDays = 30
	// maxValue is Secrets Manager's limit for a value, in bytes.
	maxValue = 65536
	current  = "AWSCURRENT"
	// service names Secrets Manager in the alias of the KMS key that AWS manages for it.
	service = "secretsmanager"
	// conditionPopulated is False while people must still replace a placeholder.
	conditionPopulated = "SecretsPopulated"
)

type secret struct{ api *secretsmanager.Client }

// NewSecret binds the SecretsManagerSecret kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecretsmanager.html
// A customer managed key needs kms:GenerateDataKey and kms:Decrypt too, which its key policy grants best.
func NewSecret(cfg aws.Config) kind.Kind[*v1alpha1.SecretsManagerSecret, SecretState] {
	s := &secret{api: secretsmanager.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.SecretsManagerSecret, SecretState]{
		// Without kms:Encrypt, Secrets Manager shows another key and encrypts nothing with it; versions without a label it never does.
		// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_UpdateSecret.html
		Meta:     kind.Meta{Facts: secretFacts(), Identity: kind.ByName, HoldsData: true, CreatesFirst: true},
		Identify: identify, Declare: declare, Publish: publish, Export: kind.Export[*v1alpha1.SecretsManagerSecret, SecretState]{Identity: []string{"secretName"}, Spec: exported},
		Roles:    kind.Roles[SecretState]{Of: func(s SecretState) []string { return kind.Present(s.RotationRole) }},
		Describe: kind.Read[SecretState]{Actions: []string{"secretsmanager:DescribeSecret", "secretsmanager:ListSecretVersionIds"}, Do: s.describe},
		// CreateSecret succeeds, and changes nothing, where a secret of the name has a version of the same ID and value, which an earlier
		// object of the name may have put. The look at the tags that follows shows its owner.
		// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html
		Create: kind.Call[SecretState]{Action: "secretsmanager:CreateSecret", Effect: kind.Ensures, Do: s.create},
		Tagging: kind.Tagging[SecretState]{
			Sets: "secretsmanager:TagResource", Set: kind.Send(s.api.TagResource, func(have SecretState, tags map[string]string) *secretsmanager.TagResourceInput {
				return &secretsmanager.TagResourceInput{SecretId: &have.Name, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "secretsmanager:UntagResource", Remove: kind.Send(s.api.UntagResource, func(have SecretState, keys []string) *secretsmanager.UntagResourceInput {
				return &secretsmanager.UntagResourceInput{SecretId: &have.Name, TagKeys: keys}
			}),
		},
		// The restore goes first, and a new value must be encrypted by the new key.
		OneByOne: true,
		Parts:    s.parts(),
		Delete: []kind.Ending[SecretState]{
			// AWS deletes in the background where there is no recovery window:
			// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DeleteSecret.html
			{When: func(want, _ SecretState) bool { return want.RecoveryDays == 0 }, Call: s.delete(kind.Deletes)},
			{Call: s.delete(kind.Ends)},
		},
	})
}

func (s *secret) parts() []kind.Part[SecretState] {
	scheduled := func(_, have SecretState) bool { return aws.ToBool(have.ScheduledForDeletion) }
	return append([]kind.Part[SecretState]{
		// The versions of a secret show only after its restore, so the next look judges the source.
		{Fields: []string{"ScheduledForDeletion", "SourceVersion"}, InCreate: true, When: scheduled, Stage: func(_, _ SecretState) int { return -1 },
			Write: kind.Call[SecretState]{Action: "secretsmanager:RestoreSecret", Do: kind.Send(s.api.RestoreSecret, func(want, _ SecretState) *secretsmanager.RestoreSecretInput {
				return &secretsmanager.RestoreSecretInput{SecretId: &want.Name}
			})}},
		// UpdateSecret does not change the value, nor settings that are not in the request.
		{Fields: []string{"Description", "KMSKeyID"}, InCreate: true, Write: kind.Call[SecretState]{Action: "secretsmanager:UpdateSecret",
			DoDiff: kind.SendDiff(s.api.UpdateSecret, func(want, _ SecretState, diff kind.Diff) *secretsmanager.UpdateSecretInput {
				in := &secretsmanager.UpdateSecretInput{SecretId: &want.Name}
				kind.SetChanged(diff, "Description", &in.Description, want.Description)
				kind.SetChanged(diff, "KMSKeyID", &in.KmsKeyId, want.KMSKeyID)
				return in
			})}},
		{Fields: []string{"SourceVersion"}, InCreate: true, When: func(want, have SecretState) bool { return !scheduled(want, have) && have.SourceKnown },
			Write: kind.Call[SecretState]{Action: "secretsmanager:UpdateSecretVersionStage", Do: kind.Send(s.api.UpdateSecretVersionStage, promotionInput)}},
		{Fields: []string{"SourceVersion"}, InCreate: true, When: func(want, have SecretState) bool { return !scheduled(want, have) && !have.SourceKnown },
			Write: kind.Call[SecretState]{Action: "secretsmanager:PutSecretValue", Do: kind.Send(s.api.PutSecretValue, func(want, _ SecretState) *secretsmanager.PutSecretValueInput {
				in := &secretsmanager.PutSecretValueInput{SecretId: &want.Name, ClientRequestToken: want.SourceVersion}
				in.SecretString, in.SecretBinary = want.Source.members()
				return in
			})}},
	}, s.accessParts()...)
}

// identify ignores a recovery window that AWS would refuse: it must not stop a deletion.
func identify(_ kind.Scope, cr *v1alpha1.SecretsManagerSecret) (SecretState, error) {
	want := SecretState{Name: cr.Spec.SecretName, RecoveryDays: defaultRecoveryDays}
	if days := cr.Spec.RecoveryWindowInDays; days != nil && validWindow(*days) {
		want.RecoveryDays = *days
	}
	return want, nil
}

func validWindow(days int64) bool { return days == 0 || days >= 7 && days <= 30 }

func declare(sc kind.Scope, cr *v1alpha1.SecretsManagerSecret, want *SecretState) error {
	in := cr.Spec
	if err := checkGenerate(in.Generate, len(in.Placeholder) > 0); err != nil {
		return err
	}
	want.ScheduledForDeletion, want.Description = aws.Bool(false), in.Description
	if in.KmsKeyId != nil {
		want.KMSKeyID = kind.Ptr(kind.CustomerKMSKey(service, *in.KmsKeyId))
	}
	want.Initial = initialOf(cr)
	if err := declareAccess(in, want); err != nil {
		return err
	}
	return readSource(sc, cr, want)
}

// readSource reads the Kubernetes Secret with the value of the wanted version.
func readSource(sc kind.Scope, cr *v1alpha1.SecretsManagerSecret, want *SecretState) error {
	field, ref, binary := "spec.secretStringRef", cr.Spec.SecretStringRef, cr.Spec.SecretBinaryRef != nil
	if binary {
		field, ref = "spec.secretBinaryRef", cr.Spec.SecretBinaryRef
	}
	switch {
	case ref == nil:
		return nil
	case ref.Namespace != "" && ref.Namespace != sc.Namespace:
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: field + ".namespace", Message: "must be the object's own namespace"}
	}
	v, err := sc.Secret(ref.Name, ref.Key)
	if err != nil {
		return err
	}
	source := value{text: string(v), binary: binary}
	if err := source.check(); err != nil {
		return status.Invalid(field, "the value in key %s of Secret %s %v", ref.Key, ref.Name, err)
	}
	want.Source, want.SourceVersion, want.SourcePut = source, aws.String(source.version(sc.UID)), cr.Status.SourceVersionId
	return nil
}

// describe reads everything but values and the IDs of versions without a label. A secret in its recovery
// window exists, to be restored, because its tags name its owner; while deleting it is absent.
func (s *secret) describe(ctx context.Context, want SecretState, look kind.Look) (kind.Seen[SecretState], error) {
	absent := kind.Seen[SecretState]{}
	out, err := s.api.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &want.Name})
	if awsclient.IsNotFound(err) || err == nil && look.Deleting && out.DeletedDate != nil {
		return absent, nil
	}
	if err != nil {
		return absent, err
	}
	have := SecretState{
		Name: want.Name, ARN: aws.ToString(out.ARN), ScheduledForDeletion: aws.Bool(out.DeletedDate != nil),
		Description: out.Description, KMSKeyID: fromKey(want.KMSKeyID, out.KmsKeyId),
		Rotation: fromRotation(out), RotationRole: out.ExternalSecretRotationRoleArn,
	}
	for id, labels := range out.VersionIdsToStages {
		if slices.Contains(labels, current) {
			have.Current = id
		}
	}
	if want.SourceVersion != nil {
		labeled := len(out.VersionIdsToStages[*want.SourceVersion]) > 0
		if err := s.judgeSource(ctx, want, labeled, &have); err != nil {
			return absent, err
		}
	}
	seen := kind.Seen[SecretState]{Exists: true, State: have, Created: aws.ToTime(out.CreatedDate),
		Tags: kind.TagMap(out.Tags)}
	if look.Deleting {
		seen.Holds = replicaHolds(out)
	} else {
		seen.Notes = notes(want, have)
	}
	return seen, nil
}

// replicaHolds holds the deletion of a secret that others replicated to other regions: AWS refuses it.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/delete-replica.html
func replicaHolds(out *secretsmanager.DescribeSecretOutput) []kind.Hold {
	var regions []string
	for _, r := range out.ReplicationStatus {
		regions = append(regions, aws.ToString(r.Region))
	}
	if len(regions) == 0 {
		return nil
	}
	all := strings.Join(regions, " ")
	return []kind.Hold{{Reason: status.ReasonInUse, Message: "the replicas of the secret in " + all + " to be removed: run aws secretsmanager remove-regions-from-replication --secret-id " +
		aws.ToString(out.Name) + " --remove-replica-regions " + all + ", or set deletionPolicy: Retain"}}
}

// judgeSource decides whether the source's value was put: it is in force, or the status records it as the
// last one put, or the status records none and AWS has the version; a newer version that a person put then
// stays. Versions without a label are in no description. They are listed only where a write would follow.
func (s *secret) judgeSource(ctx context.Context, want SecretState, labeled bool, have *SecretState) error {
	id := *want.SourceVersion
	have.SourceVersion, have.SourceKnown = new(string), labeled
	if have.Current == id || want.SourcePut == id {
		have.SourceVersion = &id
		return nil
	}
	if !labeled && !*have.ScheduledForDeletion && have.Current != "" {
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
	// AWS keeps about 100 versions
	in := &secretsmanager.ListSecretVersionIdsInput{SecretId: &name, IncludeDeprecated: aws.Bool(true), MaxResults: aws.Int32(100)}
	all, err := kind.Pages(ctx, s.api.ListSecretVersionIds, in, &in.NextToken, func(out *secretsmanager.ListSecretVersionIdsOutput) ([]types.SecretVersionsListEntry, *string) {
		return out.Versions, out.NextToken
	})
	return slices.ContainsFunc(all, func(v types.SecretVersionsListEntry) bool { return aws.ToString(v.VersionId) == id }), err
}

// fromKey returns "" for AWS's own key, which a description leaves out, and want where have names the same key.
func fromKey(want, have *string) *string {
	return kind.KMSKeyAs(want, kind.Ptr(kind.CustomerKMSKey(service, aws.ToString(have))))
}

// notes report whether people have replaced the placeholder.
func notes(want, have SecretState) []kind.Note {
	if len(want.Initial.placeholder) == 0 {
		return nil
	}
	if isPopulated(want.Initial, have.Current) {
		return []kind.Note{{Type: conditionPopulated, Reason: status.ReasonPopulated, True: true, Message: "secret " + want.Name + " has a value that replaced its placeholder"}}
	}
	return []kind.Note{{Type: conditionPopulated, Reason: status.ReasonPlaceholdersEmpty,
		Message: "secret " + want.Name + " still has the placeholder that it was created with: put its value in Secrets Manager"}}
}

// create creates the secret with its first value, if it has one. Random values are composed here, sent and
// not kept. The ID of the first version is derived, not random, so that every later look recognizes it.
func (s *secret) create(ctx context.Context, want, _ SecretState) error {
	in := &secretsmanager.CreateSecretInput{Name: &want.Name, Description: want.Description, KmsKeyId: kind.NonEmpty(want.KMSKeyID), Tags: kind.SDKTags[types.Tag](want.Tags)}
	if want.SourceVersion != nil {
		in.ClientRequestToken = want.SourceVersion
		in.SecretString, in.SecretBinary = want.Source.members()
	} else if want.Initial.version != "" {
		text, err := want.Initial.compose()
		if err != nil {
			return err
		}
		in.ClientRequestToken, in.SecretString = &want.Initial.version, &text
	}
	_, err := s.api.CreateSecret(ctx, in)
	return err
}

// promotionInput puts a version in force that AWS already has: the source was changed back to an earlier value.
func promotionInput(want, have SecretState) *secretsmanager.UpdateSecretVersionStageInput {
	return &secretsmanager.UpdateSecretVersionStageInput{SecretId: &want.Name, VersionStage: aws.String(current),
		MoveToVersionId: want.SourceVersion, RemoveFromVersionId: kind.NonEmpty(&have.Current)}
}

func (s *secret) delete(effect kind.Effect) kind.Call[SecretState] {
	return kind.Call[SecretState]{Action: "secretsmanager:DeleteSecret", Effect: effect, Do: kind.Send(s.api.DeleteSecret, func(want, _ SecretState) *secretsmanager.DeleteSecretInput {
		if want.RecoveryDays == 0 {
			return &secretsmanager.DeleteSecretInput{SecretId: &want.Name, ForceDeleteWithoutRecovery: aws.Bool(true)}
		}
		return &secretsmanager.DeleteSecretInput{SecretId: &want.Name, RecoveryWindowInDays: &want.RecoveryDays}
	})}
}

func publish(cr *v1alpha1.SecretsManagerSecret, have SecretState) {
	st := &cr.Status
	st.ARN, st.ID, st.VersionId = have.ARN, have.Name, have.Current
	if v := aws.ToString(have.SourceVersion); v != "" {
		st.SourceVersionId = v
	}
	first := initialOf(cr)
	if first.version != "" && have.Current == first.version {
		st.InitialVersionId = first.version
	}
	st.Populated = nil
	if len(cr.Spec.Placeholder) > 0 {
		st.Populated = aws.Bool(isPopulated(first, have.Current))
	}
}
