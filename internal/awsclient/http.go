// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
)

// appID marks our calls in CloudTrail and AWS's statistics:
// docs.aws.amazon.com/sdkref/latest/guide/feature-appid.html.
const appID = "nexus-operator"

// NewHTTPClient is the one HTTP client of the operator: bounded in every phase, so that a hanging or
// dripping answer costs a minute, not a worker. It follows no redirect but 307 and 308.
func NewHTTPClient() aws.HTTPClient {
	// Frozen, because service clients would otherwise each make a copy with its own connections.
	return freeze(buildableClient())
}

// freeze returns the client that a buildable one makes. All service clients share it.
func freeze(b *awshttp.BuildableClient) aws.HTTPClient {
	frozen := b.Freeze()
	if client, ok := frozen.(*http.Client); ok {
		client.Transport = readingTransport{client.Transport}
	}
	return frozen
}

// readingTransport reads the body of a request instead of letting it write itself. The SDK closes the body as soon as the answer begins,
// and the WriteTo of a closed body fails with io.EOF. net/http may call it only then, to find out that the body has no more bytes, takes
// the error for a write that failed, and closes the connection before the rest of the answer is read:
// https://github.com/aws/aws-sdk-go-v2/issues/2737
type readingTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t readingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, writes := r.Body.(io.WriterTo); writes && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return t.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections closes the connections that no request uses.
func (t readingTransport) CloseIdleConnections() {
	if idle, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

func buildableClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) {
			d.Timeout = 5 * time.Second
		}).
		WithTransportOptions(func(t *http.Transport) {
			t.TLSHandshakeTimeout = 5 * time.Second
			t.ResponseHeaderTimeout = 30 * time.Second
			t.IdleConnTimeout = 60 * time.Second
			t.MaxIdleConns = 256
			t.MaxIdleConnsPerHost = 32
			t.MaxConnsPerHost = 128
		}).
		WithTimeout(60 * time.Second)
}

// LoadAmbient reads the operator's own identity: environment, IRSA, Pod Identity, shared files,
// instance role, in the SDK's order:
// docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html. It is also where
// AWS_ENDPOINT_URL and AWS_CA_BUNDLE are honored: the HTTP client of its configuration trusts the bundle.
func LoadAmbient(ctx context.Context, more ...func(*config.LoadOptions) error) (aws.Config, error) {
	var endpoint *string // read when a role is assumed, after the configuration is complete
	own := []func(*config.LoadOptions) error{
		// Not frozen yet: the SDK refuses a CA bundle for a client it cannot change.
		config.WithHTTPClient(buildableClient()),
		config.WithRetryer(newRetryer),
		config.WithAppID(appID),
		config.WithLogger(logging.Nop{}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			// The SDK would make up a new name at every refresh, and the caller's ARN with it.
			if o.RoleSessionName == "" {
				o.RoleSessionName = appID
			}
			if o.Client != nil { // the SDK asks once for a client before it makes its own
				o.Client = signIn{o.Client, &endpoint}
			}
		}),
	}
	cfg, err := config.LoadDefaultConfig(ctx, append(own, more...)...)
	if buildable, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = freeze(buildable)
	}
	endpoint = cfg.BaseEndpoint
	return cfg, err
}

// signIn exchanges the token of a pod for credentials at the endpoint of the configuration. The SDK makes the client for it before it has
// read that endpoint, and otherwise heeds AWS_ENDPOINT_URL_STS only.
type signIn struct {
	stscreds.AssumeRoleWithWebIdentityAPIClient
	endpoint **string
}

// AssumeRoleWithWebIdentity implements stscreds.AssumeRoleWithWebIdentityAPIClient.
func (s signIn) AssumeRoleWithWebIdentity(ctx context.Context, in *sts.AssumeRoleWithWebIdentityInput,
	more ...func(*sts.Options)) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	return s.AssumeRoleWithWebIdentityAPIClient.AssumeRoleWithWebIdentity(ctx, in, append(more, func(o *sts.Options) {
		if o.BaseEndpoint == nil {
			o.BaseEndpoint = *s.endpoint
		}
	})...)
}

// newRetryer makes the retryer of every client. A failed call goes back to the workqueue, so that a worker
// never sleeps; only a call that AWS rejected because of the clock is repeated, once and at once.
func newRetryer() aws.Retryer { return clockSkewRetryer{} }

// clockSkewRetryer repeats a call that AWS rejected because the clock of this machine is wrong: the SDK has
// measured the difference by then, and signs the second attempt with it. AWS rejects such a call before it
// has any effect. Without it a client that makes a single call, such as those of STS, never recovers.
type clockSkewRetryer struct{ aws.NopRetryer }

// IsErrorRetryable implements aws.Retryer. The SDK marks rejections because of the clock as retryable. The SDK's own retryer is not asked
// here, so that no other error is retried.
func (clockSkewRetryer) IsErrorRetryable(err error) bool {
	marked, ok := errors.AsType[interface {
		error
		RetryableError() bool
	}](err)
	return ok && marked.RetryableError()
}

// MaxAttempts implements aws.Retryer.
func (clockSkewRetryer) MaxAttempts() int { return 2 }

// RetryDelay implements aws.Retryer.
func (clockSkewRetryer) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
