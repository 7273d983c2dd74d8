// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	ecrtypes "github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// Image is a container image in the registry of an account.
type Image struct {
	// Repository is the name of the repository, and Version a tag, or a digest such as sha256:0123….
	Repository, Version string
}

// Registry is the registry of container images of an account.
type Registry struct {
	owner owner
	ecr   *ecr.Client
}

// ImageName writes the image as a pod names it.
func (r *Registry) ImageName(i Image) string {
	separator := ":"
	if strings.HasPrefix(i.Version, "sha256:") {
		separator = "@"
	}
	return r.host() + "/" + i.Repository + separator + i.Version
}

// host is the host of the account's registry: https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
func (r *Registry) host() string {
	s := r.owner.session
	return fmt.Sprintf("%s.dkr.ecr.%s.%s", s.Account, s.Region, wellknown.DNSSuffix(s.Partition))
}

// ParseImage reads an image as a pod names it. It is false for images in other registries.
func (r *Registry) ParseImage(name string) (Image, bool) {
	rest, ours := strings.CutPrefix(name, r.host()+"/")
	if !ours {
		return Image{}, false
	}
	if repository, digest, ok := strings.Cut(rest, "@"); ok {
		repository, _, _ = strings.Cut(repository, ":")
		return Image{Repository: repository, Version: digest}, true
	}
	repository, tag, ok := strings.Cut(rest, ":")
	if !ok {
		tag = "latest"
	}
	return Image{Repository: repository, Version: tag}, true
}

// Look looks whether an image exists. It returns the missing parts: the repository, which a change creates, and the image itself,
// which has to be pushed. Errors are the kinds that awsclient.Explain returns.
func (r *Registry) Look(ctx context.Context, i Image) (changes []Change, hasImage bool, err error) {
	out, err := r.ecr.DescribeRepositories(ctx, &ecr.DescribeRepositoriesInput{RepositoryNames: []string{i.Repository}})
	if awsclient.IsNotFound(err) || err == nil && len(out.Repositories) == 0 {
		return []Change{r.newRepository(i.Repository)}, false, nil
	}
	if err != nil {
		return nil, false, awsclient.ExplainOnce(err, "ecr:DescribeRepositories")
	}
	id := ecrtypes.ImageIdentifier{ImageTag: &i.Version}
	if strings.HasPrefix(i.Version, "sha256:") {
		id = ecrtypes.ImageIdentifier{ImageDigest: &i.Version}
	}
	_, err = r.ecr.DescribeImages(ctx, &ecr.DescribeImagesInput{RepositoryName: &i.Repository, ImageIds: []ecrtypes.ImageIdentifier{id}})
	if awsclient.IsNotFound(err) {
		return nil, false, nil
	}
	return nil, err == nil, awsclient.ExplainOnce(err, "ecr:DescribeImages")
}

// RecordRepository returns the change that records a repository which build created before there was a ledger: one that carries the
// tags of this cluster. It is nil where the repository is recorded, is not ours, or does not exist.
func (r *Registry) RecordRepository(ctx context.Context, l *Ledger, name string) (*Change, error) {
	record := Record{ARN: r.owner.regionalARN("ecr", "repository/"+name)}
	if l.find(record) >= 0 {
		return nil, nil
	}
	tags, err := r.tagsOfRepository(ctx, record.ARN)
	if awsclient.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || !r.owner.isOurs(tags) {
		return nil, awsclient.ExplainOnce(err, "ecr:ListTagsForResource")
	}
	return &Change{Object: record.ARN, Action: recordAction, Creates: &record, do: func(context.Context) error { return nil }}, nil
}

// tagsOfRepository reads the tags of a repository. Errors are those of the SDK.
func (r *Registry) tagsOfRepository(ctx context.Context, arn string) (map[string]string, error) {
	tags := map[string]string{}
	out, err := r.ecr.ListTagsForResource(ctx, &ecr.ListTagsForResourceInput{ResourceArn: &arn})
	if err == nil {
		for _, t := range out.Tags {
			tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
	}
	return tags, err
}

func (r *Registry) newRepository(name string) Change {
	arn := r.owner.regionalARN("ecr", "repository/"+name)
	var tags []ecrtypes.Tag
	for key, value := range r.owner.tags() {
		tags = append(tags, ecrtypes.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return Change{Object: arn, Action: "create the image repository", Creates: &Record{ARN: arn}, do: func(ctx context.Context) error {
		_, err := r.ecr.CreateRepository(ctx, &ecr.CreateRepositoryInput{RepositoryName: &name, Tags: tags,
			ImageScanningConfiguration: &ecrtypes.ImageScanningConfiguration{ScanOnPush: true}})
		if awsclient.Is(err, awsclient.Exists) {
			return nil // an answer was lost, or another client created it first: its tags say so when it is to be deleted
		}
		return awsclient.ExplainOnce(err, "ecr:CreateRepository")
	}}
}

// remove deletes the image repository with its images.
func (r *Registry) remove(ctx context.Context, record Record, name string) ([]Change, error) {
	tags, err := r.tagsOfRepository(ctx, record.ARN)
	return r.owner.judge(record, tags, err, func() ([]Change, error) {
		return []Change{removal(record, "delete the image repository with its images", func(ctx context.Context) error {
			_, err := r.ecr.DeleteRepository(ctx, &ecr.DeleteRepositoryInput{RepositoryName: &name, Force: true})
			return unlessGone(err, "ecr:DeleteRepository")
		})}, nil
	})
}
