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

// ImageName writes the image as a pod names it.
func (a *Account) ImageName(i Image) string {
	separator := ":"
	if strings.HasPrefix(i.Version, "sha256:") {
		separator = "@"
	}
	return a.registry() + "/" + i.Repository + separator + i.Version
}

// registry is the host of the account's registry: https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
func (a *Account) registry() string {
	return fmt.Sprintf("%s.dkr.ecr.%s.%s", a.session.Account, a.session.Region, wellknown.DNSSuffix(a.session.Partition))
}

// ParseImage reads an image as a pod names it. It is false for images in other registries.
func (a *Account) ParseImage(name string) (Image, bool) {
	rest, ours := strings.CutPrefix(name, a.registry()+"/")
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

// Repository looks whether an image exists. It returns the missing parts: the repository, which a change creates, and the image itself,
// which has to be pushed. Errors are the kinds that awsclient.Explain returns.
func (a *Account) Repository(ctx context.Context, i Image) (changes []Change, hasImage bool, err error) {
	out, err := a.ecr.DescribeRepositories(ctx, &ecr.DescribeRepositoriesInput{RepositoryNames: []string{i.Repository}})
	if awsclient.IsNotFound(err) || err == nil && len(out.Repositories) == 0 {
		return []Change{a.newRepository(i.Repository)}, false, nil
	}
	if err != nil {
		return nil, false, awsclient.ExplainOnce(err, "ecr:DescribeRepositories")
	}
	id := ecrtypes.ImageIdentifier{ImageTag: &i.Version}
	if strings.HasPrefix(i.Version, "sha256:") {
		id = ecrtypes.ImageIdentifier{ImageDigest: &i.Version}
	}
	_, err = a.ecr.DescribeImages(ctx, &ecr.DescribeImagesInput{RepositoryName: &i.Repository, ImageIds: []ecrtypes.ImageIdentifier{id}})
	if awsclient.IsNotFound(err) {
		return nil, false, nil
	}
	return nil, err == nil, awsclient.ExplainOnce(err, "ecr:DescribeImages")
}

// repositoryARN is the ARN of a repository of the account.
func (a *Account) repositoryARN(name string) string {
	return "arn:" + a.session.Partition + ":ecr:" + a.session.Region + ":" + a.session.Account + ":repository/" + name
}

// RecordRepository returns the change that records a repository which build created before there was a ledger: one that carries the
// tags of this cluster. It is nil where the repository is recorded, is not ours, or does not exist.
func (a *Account) RecordRepository(ctx context.Context, l *Ledger, name string) (*Change, error) {
	record := Record{ARN: a.repositoryARN(name)}
	if l.find(record) >= 0 {
		return nil, nil
	}
	tags, err := a.tagsOfRepository(ctx, record.ARN)
	if awsclient.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || !a.isOurs(tags) {
		return nil, awsclient.ExplainOnce(err, "ecr:ListTagsForResource")
	}
	return &Change{Object: record.ARN, Action: recordAction, Creates: &record, do: func(context.Context) error { return nil }}, nil
}

// tagsOfRepository reads the tags of a repository. Errors are those of the SDK.
func (a *Account) tagsOfRepository(ctx context.Context, arn string) (map[string]string, error) {
	tags := map[string]string{}
	out, err := a.ecr.ListTagsForResource(ctx, &ecr.ListTagsForResourceInput{ResourceArn: &arn})
	if err == nil {
		for _, t := range out.Tags {
			tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
	}
	return tags, err
}

func (a *Account) newRepository(name string) Change {
	arn := a.repositoryARN(name)
	var tags []ecrtypes.Tag
	for key, value := range a.ownTags() {
		tags = append(tags, ecrtypes.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return Change{Object: arn, Action: "create the image repository", Creates: &Record{ARN: arn}, do: func(ctx context.Context) error {
		_, err := a.ecr.CreateRepository(ctx, &ecr.CreateRepositoryInput{RepositoryName: &name, Tags: tags,
			ImageScanningConfiguration: &ecrtypes.ImageScanningConfiguration{ScanOnPush: true}})
		if awsclient.Is(err, awsclient.Exists) {
			return nil // an answer was lost, or another client created it first: its tags say so when it is to be deleted
		}
		return awsclient.ExplainOnce(err, "ecr:CreateRepository")
	}}
}
