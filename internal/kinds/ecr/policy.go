// SPDX-License-Identifier: Apache-2.0

package ecr

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// sidOfLambda is the Sid of the statement that Lambda adds to the policy of a repository when a function of an image in it is created.
// Without the statement, Lambda cannot start the function.
// https://docs.aws.amazon.com/lambda/latest/dg/images-create.html#gettingstarted-images-permissions
const sidOfLambda = "LambdaECRImageRetrievalPolicy"

// isOfLambda reports whether Lambda added a statement.
func isOfLambda(s iampolicy.Statement) bool {
	return s.Sid == sidOfLambda && len(s.Principal) == 1 && slices.Equal(s.Principal["Service"], iampolicy.Values{"lambda.amazonaws.com"})
}

// policyParts write the policy. A statement that Lambda added stays beside those of the spec, unless the spec has one of its Sid.
func (r *repository) policyParts() []kind.Part[RepositoryState] {
	removes := func(want, have RepositoryState) bool { return resultingPolicy(want, have) == "" }
	return []kind.Part[RepositoryState]{
		{Fields: []string{"Policy"}, When: func(want, have RepositoryState) bool { return !removes(want, have) }, Reads: "ecr:GetRepositoryPolicy", Read: r.policy,
			Write: kind.Call[RepositoryState]{Action: "ecr:SetRepositoryPolicy", Do: kind.Send(r.api.SetRepositoryPolicy, func(want, have RepositoryState) *ecr.SetRepositoryPolicyInput {
				return &ecr.SetRepositoryPolicyInput{RepositoryName: &want.Name, PolicyText: kind.Ptr(resultingPolicy(want, have))}
			})}},
		{Fields: []string{"Policy"}, When: removes,
			Write: kind.Call[RepositoryState]{Action: "ecr:DeleteRepositoryPolicy", Do: kind.Send(r.api.DeleteRepositoryPolicy, func(want, _ RepositoryState) *ecr.DeleteRepositoryPolicyInput {
				return &ecr.DeleteRepositoryPolicyInput{RepositoryName: &want.Name}
			})}},
	}
}

func (r *repository) policy(ctx context.Context, want RepositoryState, have *RepositoryState) error {
	out, err := awsclient.Lookup(ctx, r.api.GetRepositoryPolicy, &ecr.GetRepositoryPolicyInput{RepositoryName: &have.Name})
	have.Policy = kind.NonNil(kind.NonNil(out).PolicyText)
	found, unreadable := iampolicy.Parse(*have.Policy)
	at := slices.IndexFunc(found.Statement, isOfLambda)
	if declared, _ := iampolicy.Parse(aws.ToString(want.Policy)); err != nil || unreadable != nil || at < 0 || declared.Names(sidOfLambda) {
		return err
	}
	have.OfLambda = []iampolicy.Statement{found.Statement[at]}
	have.Policy = kind.Ptr(encoded(found.Without(sidOfLambda)))
	return nil
}

// resultingPolicy returns the policy that the repository is to have; "" for none.
func resultingPolicy(want, have RepositoryState) string {
	if len(have.OfLambda) == 0 {
		return aws.ToString(want.Policy)
	}
	doc := iampolicy.New()
	if text := aws.ToString(want.Policy); text != "" {
		doc, _ = iampolicy.Parse(text) // it was read when it was declared
	}
	doc.Statement = append(doc.Statement, have.OfLambda...)
	return encoded(doc)
}

// encoded returns a document as text; "" for one without statements.
func encoded(doc iampolicy.Document) string {
	if len(doc.Statement) == 0 {
		return ""
	}
	text, _ := doc.Encode() // of texts and lists only
	return text
}
