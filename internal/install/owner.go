// SPDX-License-Identifier: Apache-2.0

package install

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// owner is the cluster that resources in an account are created for.
type owner struct {
	session *awsclient.Session
	cluster string
}

// tags are on everything that is created in the account.
func (o owner) tags() map[string]string {
	if o.cluster == "" {
		return map[string]string{TagCreatedBy: creator}
	}
	return map[string]string{TagCreatedBy: creator, wellknown.TagCluster: o.cluster}
}

func (o owner) iamTags() []iamtypes.Tag {
	var out []iamtypes.Tag
	for _, key := range slices.Sorted(maps.Keys(o.tags())) {
		out = append(out, iamtypes.Tag{Key: &key, Value: aws.String(o.tags()[key])})
	}
	return out
}

// isOurs reports whether tags are those of something that was created for this cluster.
func (o owner) isOurs(tags map[string]string) bool {
	for key, want := range o.tags() {
		if tags[key] != want {
			return false
		}
	}
	return o.cluster != ""
}

// iamARN is the ARN of something in the account's IAM.
func (o owner) iamARN(resource string) string {
	return "arn:" + o.session.Partition + ":iam::" + o.session.Account + ":" + resource
}

// regionalARN is the ARN of something in the region of the session.
func (o owner) regionalARN(service, resource string) string {
	return "arn:" + o.session.Partition + ":" + service + ":" + o.session.Region + ":" + o.session.Account + ":" + resource
}

// created judges the answer to a create. An existing resource is ours when an answer was lost, and not when another client created it
// first.
func (o owner) created(arn string, err error, action string, tags func() (map[string]string, error)) error {
	if !awsclient.Is(err, awsclient.Exists) {
		return awsclient.ExplainOnce(err, action)
	}
	have, err := tags()
	if err == nil && !o.isOurs(have) {
		return &ForeignError{ARN: arn, Remedy: "run the command again"}
	}
	return awsclient.ExplainOnce(err, "")
}

// judge decides about a recorded resource by its tags.
func (o owner) judge(r Record, tags map[string]string, looked error, remove func() ([]Change, error)) ([]Change, error) {
	switch {
	case awsclient.IsNotFound(looked):
		return []Change{Forget(r, gone)}, nil
	case looked != nil:
		return nil, awsclient.ExplainOnce(looked, "")
	case !o.isOurs(tags):
		return []Change{Forget(r, notOurs)}, nil
	default:
		return remove()
	}
}

// ofIAM is a list of tags as a map.
func ofIAM(tags []iamtypes.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}
