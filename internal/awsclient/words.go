// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// identityWords are the parts of errors that depend on the owner of the ambient identity, and on whether a failed call is repeated.
type identityWords struct {
	// configuration, signIn and role name parts of the identity at the beginning of a message.
	configuration, signIn, role string
	// missing is the whole message where there is no identity, and check the remedy for one that AWS does not accept.
	missing, check string
	// passes gives the remedy for a failure that passes.
	passes string
	// caller says who made a call, where AWS does not say it.
	caller string
	// invalid and expired give the remedy for credentials that AWS does not accept.
	invalid, expired string
}

var (
	operatorWords = identityWords{
		configuration: "the operator's own AWS configuration (environment, AWS files)",
		signIn:        "the operator's own sign-in",
		role:          "the operator's own role",
		missing:       "the operator has no AWS identity: give it one (IRSA, EKS Pod Identity) or set credentialsSecret on the provider",
		check:         "check the identity the operator runs with",
		passes:        "it is retried automatically; if this lasts",
		caller:        "the provider's identity (status.callerIdentity of its AWSProvider)",
		invalid:       "check the provider's",
		expired:       "the provider's credentials have expired",
	}
	personWords = identityWords{
		configuration: "your AWS configuration (environment, AWS files, --profile)",
		signIn:        "your sign-in to AWS",
		role:          "the role of your AWS credentials",
		missing:       "there are no AWS credentials: name a profile that has some (--profile, AWS_PROFILE), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
		check:         "check your AWS credentials (--profile, AWS_PROFILE, AWS_ACCESS_KEY_ID)",
		passes:        "try again; if this lasts",
		caller:        "the identity that made the call (aws sts get-caller-identity)",
		invalid:       "check them",
		expired:       "the credentials have expired: sign in again",
	}
)

// wordsFor returns the words for the identity of a person, or for that of the operator.
func wordsFor(person bool) *identityWords {
	if person {
		return &personWords
	}
	return &operatorWords
}

// CheckCredentials returns nil when a person has credentials, and otherwise a *status.Stalled that names the settings to make. It calls AWS
// only where the credentials are those of a role or of a session that has to be signed in.
func CheckCredentials(ctx context.Context, credentials aws.CredentialsProvider) error {
	return personWords.checkAmbient(ctx, credentials)
}
