// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// OIDCProvider reads the IAM OIDC provider of an issuer in the session's account:
// docs.aws.amazon.com/IAM/latest/APIReference/API_GetOpenIDConnectProvider.html.
// It answers from memory for the duration every after it saw the provider accept ServiceAccount tokens, and for the
// duration retry after any other answer; concurrent callers share one call. Errors are the kinds that Explain
// returns. A passing failure is returned only while there is no earlier answer; a missing permission always is.
func (s *Session) OIDCProvider(ctx context.Context, issuer string, every, retry time.Duration) (kind.OIDCProvider, error) {
	look := s.Memo("oidc-provider "+issuer, func() any { return &oidcLookup{} }).(*oidcLookup)
	if found, err, ok := look.cached(s.now(), every, retry); ok {
		return found, err
	}
	found, err := look.flight.do(ctx, func(ctx context.Context) (kind.OIDCProvider, error) {
		if found, err, ok := look.cached(s.now(), every, retry); ok {
			return found, err
		}
		read := s.Memo(actionGetOIDCProvider,
			func() any { return ProviderReader(iam.NewFromConfig(s.Config).GetOpenIDConnectProvider) }).(ProviderReader)
		found, err := ReadOIDCProvider(ctx, read, s.Partition, s.Account, issuer)
		if ctx.Err() != nil {
			return found, err
		}
		return look.remember(s.now(), found, err)
	})
	return found, Explain(err, actionGetOIDCProvider)
}

const actionGetOIDCProvider = "iam:GetOpenIDConnectProvider"

// ProviderReader is the method of a client of IAM. As an interface, the client itself would keep all its methods in the binary.
type ProviderReader func(context.Context, *iam.GetOpenIDConnectProviderInput,
	...func(*iam.Options)) (*iam.GetOpenIDConnectProviderOutput, error)

// ReadOIDCProvider asks IAM for the provider of an issuer by its ARN, which follows from the issuer. An absent
// provider is no error. Errors are those of the SDK.
func ReadOIDCProvider(ctx context.Context, read ProviderReader, partition, account, issuer string) (kind.OIDCProvider, error) {
	found := kind.OIDCProvider{ARN: "arn:" + partition + ":iam::" + account + ":oidc-provider/" + strings.TrimPrefix(issuer, "https://")}
	out, err := read(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(found.ARN)})
	if IsNotFound(err) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	found.Exists, found.Audiences = true, out.ClientIDList
	return found, nil
}

// oidcLookup is the last answer about one issuer.
type oidcLookup struct {
	flight flight[kind.OIDCProvider]

	mu    sync.Mutex
	at    time.Time
	found kind.OIDCProvider
	known bool
	err   error
}

// cached returns the last answer while it is fresh.
func (l *oidcLookup) cached(now time.Time, every, retry time.Duration) (kind.OIDCProvider, error, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() {
		return kind.OIDCProvider{}, nil, false
	}
	limit := retry
	if l.err == nil && l.found.Accepts(kind.STSAudience) {
		limit = every
	}
	found, err := l.answer()
	return found, err, now.Sub(l.at) < limit
}

// remember remembers an answer. A failure leaves the answer before it in place.
func (l *oidcLookup) remember(now time.Time, found kind.OIDCProvider, err error) (kind.OIDCProvider, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.err = now, err
	if err == nil {
		l.found, l.known = found, true
	}
	return l.answer()
}

// answer returns the result for callers: the last answer of IAM, unless there is none or IAM refuses to answer now.
func (l *oidcLookup) answer() (kind.OIDCProvider, error) {
	if l.err != nil && (!l.known || Is(l.err, Denied)) {
		return kind.OIDCProvider{}, Explain(l.err, actionGetOIDCProvider)
	}
	return l.found, nil
}
