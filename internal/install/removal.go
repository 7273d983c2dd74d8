// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// Remove looks at something in the account that a record names, and returns the necessary changes. Something that does not prove to be
// created for this cluster, or that others need, stays: the only change is then that its record is dropped. The error is an *ElsewhereError
// for another account or region, or one of the kinds that awsclient.Explain returns.
func (a *Account) Remove(ctx context.Context, r Record) ([]Change, error) {
	parsed, err := arn.Parse(r.ARN)
	if err != nil {
		return nil, fmt.Errorf("the ledger names %q: %w", r.ARN, err)
	}
	if parsed.AccountID != a.session.Account || parsed.Region != "" && parsed.Region != a.session.Region {
		return nil, &ElsewhereError{ARN: r.ARN, Account: a.session.Account, Region: a.session.Region}
	}
	kind, name, typed := strings.Cut(parsed.Resource, "/")
	if parsed.Service == "sqs" && !typed { // the ARN of a queue has no type
		kind, name = "queue", parsed.Resource
	}
	look := map[string]func(context.Context, Record, string) ([]Change, error){
		"iam:role": a.Roles.remove, "iam:policy": a.Roles.removePolicy, "iam:oidc-provider": a.Providers.remove,
		"ecr:repository": a.Registry.remove, "events:rule": a.Events.removeRule, "sqs:queue": a.Events.removeQueue,
	}[parsed.Service+":"+kind]
	if look == nil {
		return nil, fmt.Errorf("the ledger names %s, of a kind that this version does not know: use the nexusctl that wrote it", r.ARN)
	}
	return look(ctx, r, name)
}

// ElsewhereError says that the credentials lead to another account or region than that of something to be removed.
type ElsewhereError struct{ ARN, Account, Region string }

// Error implements error.
func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("%s is not in account %s and region %s, to which your AWS credentials and settings lead: use those with which it was created (AWS_PROFILE, AWS_REGION)", e.ARN, e.Account, e.Region)
}

// Why something in the account is not deleted.
const (
	gone    = "do nothing: it does not exist any more"
	notOurs = "leave it: its tags do not say that nexusctl created it for this cluster"
)

// unlessGone explains an error, except that there is nothing any more.
func unlessGone(err error, action string) error {
	if awsclient.IsNotFound(err) {
		return nil
	}
	return awsclient.ExplainOnce(err, action)
}

// removal returns the change that deletes the recorded resource.
func removal(r Record, action string, do func(context.Context) error) Change {
	return Change{Object: r.ARN, Action: action, Removes: &r, do: do}
}
