// SPDX-License-Identifier: Apache-2.0

// Package ecr is the ECR kinds.
package ecr

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// RepositoryState is a repository as both the spec and ECR can express it.
type RepositoryState struct {
	Name string `drift:"identity"`
	// Guarded is set while the repository must not be deleted with images in it, whatever ForceDelete says.
	ForceDelete, Guarded bool   `drift:"id"`
	ARN, URI, Registry   string `drift:"id"`

	Mutability     *string
	ScanOnPush     *bool
	EncryptionType *string `drift:"immutable"`
	KMSKey         *string `drift:"immutable"`
	// OfLambda is the statement that Lambda added to the policy, which Policy leaves out.
	OfLambda []iampolicy.Statement `drift:"observed"`

	// Lifecycle and Policy are "" where there is none.
	Lifecycle *string           `drift:"json"`
	Policy    *string           `drift:"json"`
	Tags      map[string]string `drift:"tags"`
}

type repository struct{ api *ecr.Client }

// NewRepository binds the ECRRepository kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerregistry.html
func NewRepository(cfg aws.Config) kind.Kind[*v1alpha1.ECRRepository, RepositoryState] {
	r := &repository{api: ecr.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.ECRRepository, RepositoryState]{
		Meta: kind.Meta{Facts: repositoryFacts(), Identity: kind.ByName, HoldsData: true, CreatesFirst: true, References: []string{"KMSKey"}},
		Identify: func(sc kind.Scope, cr *v1alpha1.ECRRepository) (RepositoryState, error) {
			return RepositoryState{Name: cr.Spec.RepositoryName, ForceDelete: cr.Spec.ForceDelete, Guarded: sc.Data.Guarded}, nil
		},
		Declare: declare, Publish: publish, Explain: awsclient.ExplainVanished[RepositoryState]("ECR described the repository and answered that a part of it does not exist"),
		Export:   kind.Export[*v1alpha1.ECRRepository, RepositoryState]{Identity: []string{"repositoryName"}, Spec: exported},
		Describe: kind.Read[RepositoryState]{Actions: []string{"ecr:DescribeRepositories", "ecr:ListImages"}, Do: r.describe},
		Create:   kind.Call[RepositoryState]{Action: "ecr:CreateRepository", Do: kind.Send(r.api.CreateRepository, creation)},
		// The policies are separate calls, which follow the create: its success shows that the repository is new.
		SettleWithCreate: func(RepositoryState) bool { return true },
		DefaultsWhenNew:  true,
		Tagging: kind.Tagging[RepositoryState]{
			Reads: "ecr:ListTagsForResource", List: r.tags,
			Sets: "ecr:TagResource", Set: kind.Send(r.api.TagResource, func(have RepositoryState, tags map[string]string) *ecr.TagResourceInput {
				return &ecr.TagResourceInput{ResourceArn: &have.ARN, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "ecr:UntagResource", Remove: kind.Send(r.api.UntagResource, func(have RepositoryState, keys []string) *ecr.UntagResourceInput {
				return &ecr.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
			}),
		},
		Parts: append(r.parts(), r.policyParts()...),
		Delete: []kind.Ending[RepositoryState]{{Call: kind.Call[RepositoryState]{Action: "ecr:DeleteRepository", Effect: kind.Deletes,
			Spares: func(want RepositoryState) bool { return !want.deletesImages() }, Do: func(ctx context.Context, want, _ RepositoryState) error {
				_, err := r.api.DeleteRepository(ctx, &ecr.DeleteRepositoryInput{RepositoryName: &want.Name, Force: want.deletesImages()})
				return awsclient.MarkNotEmpty(err)
			}}}},
	})
}

// deletesImages reports whether the repository goes with its images.
func (s RepositoryState) deletesImages() bool { return s.ForceDelete && !s.Guarded }

func (r *repository) parts() []kind.Part[RepositoryState] {
	return []kind.Part[RepositoryState]{
		{Fields: []string{"Mutability"}, InCreate: true,
			Write: kind.Call[RepositoryState]{Action: "ecr:PutImageTagMutability", Do: kind.Send(r.api.PutImageTagMutability, func(want, _ RepositoryState) *ecr.PutImageTagMutabilityInput {
				return &ecr.PutImageTagMutabilityInput{RepositoryName: &want.Name, ImageTagMutability: types.ImageTagMutability(*want.Mutability)}
			})}},
		{Fields: []string{"ScanOnPush"}, InCreate: true,
			Write: kind.Call[RepositoryState]{Action: "ecr:PutImageScanningConfiguration", Do: kind.Send(r.api.PutImageScanningConfiguration, func(want, _ RepositoryState) *ecr.PutImageScanningConfigurationInput {
				return &ecr.PutImageScanningConfigurationInput{RepositoryName: &want.Name, ImageScanningConfiguration: &types.ImageScanningConfiguration{ScanOnPush: *want.ScanOnPush}}
			})}},
		{Fields: []string{"Lifecycle"}, Reads: "ecr:GetLifecyclePolicy", Read: r.lifecycle,
			Write: kind.Call[RepositoryState]{Action: "ecr:PutLifecyclePolicy", Do: kind.Send(r.api.PutLifecyclePolicy, func(want, _ RepositoryState) *ecr.PutLifecyclePolicyInput {
				return &ecr.PutLifecyclePolicyInput{RepositoryName: &want.Name, LifecyclePolicyText: want.Lifecycle}
			})},
			Clear: kind.Call[RepositoryState]{Action: "ecr:DeleteLifecyclePolicy", Do: kind.Send(r.api.DeleteLifecyclePolicy, func(want, _ RepositoryState) *ecr.DeleteLifecyclePolicyInput {
				return &ecr.DeleteLifecyclePolicyInput{RepositoryName: &want.Name}
			})}},
	}
}

func declare(sc kind.Scope, cr *v1alpha1.ECRRepository, s *RepositoryState) error {
	in := cr.Spec
	s.Mutability, s.ScanOnPush, s.Policy = in.ImageTagMutability, in.ScanOnPush, in.RepositoryPolicy
	if policy := aws.ToString(in.RepositoryPolicy); policy != "" {
		if _, err := iampolicy.ParseOfUser(policy); err != nil {
			return status.Invalid("spec.repositoryPolicy", "%v", err)
		}
	}
	if in.LifecyclePolicy != nil {
		s.Lifecycle = &in.LifecyclePolicy.PolicyText
		if *s.Lifecycle != "" && !json.Valid([]byte(*s.Lifecycle)) {
			return status.Invalid("spec.lifecyclePolicy.policyText", "is not JSON")
		}
	}
	return declareEncryption(sc, in.EncryptionConfiguration, s)
}

// declareEncryption declares a key only where the spec names one: without one KMS chooses that of AWS for ECR.
func declareEncryption(sc kind.Scope, in *v1alpha1.ECREncryption, s *RepositoryState) error {
	if in == nil {
		return nil
	}
	key := kind.CustomerKMSKey("ecr", in.KMSKey)
	if kind.IsKMSAlias(key) {
		return status.Invalid("spec.encryptionConfiguration.kmsKey", "is an alias; give the key's ARN or ID: ECR shows only the key behind an alias, so that an alias cannot be compared")
	}
	s.EncryptionType, s.KMSKey = &in.EncryptionType, kind.NonEmpty(&key)
	if in.KMSKeyRef == nil {
		return nil
	}
	target, err := sc.Ref("KMSKey", in.KMSKeyRef.Name)
	s.KMSKey = &target.ARN
	return err
}

func publish(cr *v1alpha1.ECRRepository, s RepositoryState) {
	st := &cr.Status
	st.ARN, st.ID, st.RepositoryARN, st.RepositoryURI, st.RegistryID = s.ARN, s.Name, s.ARN, s.URI, s.Registry
}

func creation(want, _ RepositoryState) *ecr.CreateRepositoryInput {
	in := &ecr.CreateRepositoryInput{RepositoryName: &want.Name, ImageTagMutability: types.ImageTagMutability(aws.ToString(want.Mutability)), Tags: kind.SDKTags[types.Tag](want.Tags)}
	if want.ScanOnPush != nil {
		in.ImageScanningConfiguration = &types.ImageScanningConfiguration{ScanOnPush: *want.ScanOnPush}
	}
	if want.EncryptionType != nil {
		in.EncryptionConfiguration = &types.EncryptionConfiguration{EncryptionType: types.EncryptionType(*want.EncryptionType), KmsKey: want.KMSKey}
	}
	return in
}

func (r *repository) describe(ctx context.Context, want RepositoryState, look kind.Look) (kind.Seen[RepositoryState], error) {
	out, err := awsclient.Lookup(ctx, r.api.DescribeRepositories, &ecr.DescribeRepositoriesInput{RepositoryNames: []string{want.Name}})
	if out == nil || len(out.Repositories) == 0 {
		return kind.Seen[RepositoryState]{}, err
	}
	d := out.Repositories[0]
	encryption := kind.NonNil(d.EncryptionConfiguration)
	seen := kind.Seen[RepositoryState]{Exists: true, Created: aws.ToTime(d.CreatedAt), State: RepositoryState{
		Name: want.Name, ARN: aws.ToString(d.RepositoryArn), URI: aws.ToString(d.RepositoryUri), Registry: aws.ToString(d.RegistryId),
		Mutability: kind.Ptr(mutabilityOf(d)), ScanOnPush: kind.Ptr(kind.NonNil(d.ImageScanningConfiguration).ScanOnPush),
		EncryptionType: kind.Ptr(string(encryption.EncryptionType)), KMSKey: kind.KMSKeyAs(want.KMSKey, encryption.KmsKey),
	}}
	if look.Contents {
		err = r.images(ctx, want, &seen)
	}
	return seen, err
}

// mutabilityOf also names the exceptions, because no spec can declare them, so that a plan shows the ones that a change would remove.
func mutabilityOf(d types.Repository) string {
	var except []string
	for _, f := range d.ImageTagMutabilityExclusionFilters {
		except = append(except, aws.ToString(f.Filter))
	}
	return string(cmp.Or(d.ImageTagMutability, types.ImageTagMutabilityMutable)) + kind.Either(len(except) == 0, "", " "+strings.Join(except, ", "))
}

// images holds the deletion while the repository has images. It counts one page of their tags and digests, because any
// number keeps ECR from deleting the repository.
func (r *repository) images(ctx context.Context, want RepositoryState, seen *kind.Seen[RepositoryState]) error {
	out, err := awsclient.Lookup(ctx, r.api.ListImages, &ecr.ListImagesInput{RepositoryName: &want.Name, MaxResults: aws.Int32(1000)})
	if out == nil || len(out.ImageIds) == 0 {
		return err
	}
	n := countImages(out.ImageIds)
	held := fmt.Sprintf("the repository to be empty: it holds %s%d %s", kind.Either(out.NextToken != nil, "at least ", ""), n, kind.Either(n == 1, "image", "images"))
	hold := kind.Hold{Reason: status.ReasonRepositoryNotEmpty, Message: held + "; delete them, set forceDelete: true, or set deletionPolicy: Retain"}
	if want.Guarded {
		hold = kind.Hold{Reason: status.ReasonDataWouldBeLost, Message: held}
	}
	seen.Holds = []kind.Hold{hold}
	return nil
}

// countImages counts digests: an image with two tags is listed twice.
func countImages(ids []types.ImageIdentifier) int {
	digests := map[string]bool{}
	for _, id := range ids {
		digests[aws.ToString(id.ImageDigest)] = true
	}
	return len(digests)
}

func (r *repository) tags(ctx context.Context, have RepositoryState) (map[string]string, error) {
	out, err := r.api.ListTagsForResource(ctx, &ecr.ListTagsForResourceInput{ResourceArn: &have.ARN})
	if err != nil {
		return nil, err
	}
	return kind.TagMap(out.Tags), nil
}

func (r *repository) lifecycle(ctx context.Context, want RepositoryState, have *RepositoryState) error {
	out, err := awsclient.Lookup(ctx, r.api.GetLifecyclePolicy, &ecr.GetLifecyclePolicyInput{RepositoryName: &have.Name})
	have.Lifecycle = lifecycleAs(want.Lifecycle, kind.NonNil(kind.NonNil(out).LifecyclePolicyText))
	return err
}
