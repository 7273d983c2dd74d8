// SPDX-License-Identifier: Apache-2.0

package install

import (
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// Account is an AWS account with an IAM that accepts, or is to accept, the tokens of a cluster.
type Account struct {
	// Providers has the OIDC providers of IAM, and Roles its roles with their managed policies.
	Providers *Providers
	Roles     *Roles
	// Registry has the container images.
	Registry *Registry
	// Events has the queue of drift events, and the rules that fill it.
	Events *Events

	session *awsclient.Session
}

// NewAccount prepares to look at the account of a session for a cluster, which its ID identifies in tags. Without an ID
// nothing in the account proves to be of the cluster.
func NewAccount(s *awsclient.Session, cluster string) *Account {
	o, inIAM, out := owner{session: s, cluster: cluster}, iam.NewFromConfig(s.Config), released{}
	return &Account{
		session:   s,
		Providers: &Providers{owner: o, iam: inIAM, released: out},
		Roles:     &Roles{owner: o, iam: inIAM, released: out},
		Registry:  &Registry{owner: o, ecr: ecr.NewFromConfig(s.Config)},
		Events:    &Events{owner: o},
	}
}

// released are the ARNs of roles that planned changes delete, and of policies that they detach.
type released map[string]bool
