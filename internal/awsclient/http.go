package awsclient

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/smithy-go/logging"
)

// appID marks our calls in CloudTrail and AWS's statistics:
// docs.aws.amazon.com/sdkref/latest/guide/feature-appid.html.
const appID = "nexus-operator"

// NewHTTPClient is the one HTTP client of the operator: bounded in every phase, so that a hanging or
// dripping answer costs a minute, not a worker. It follows no redirect but 307 and 308.
func NewHTTPClient() aws.HTTPClient {
	// Frozen, because service clients would otherwise each make a copy with its own connections.
	return buildableClient().Freeze()
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
// AWS_ENDPOINT_URL and AWS_CA_BUNDLE are honoured: the HTTP client of its configuration trusts the bundle.
func LoadAmbient(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx,
		// Not frozen yet: the SDK refuses a CA bundle for a client it cannot change.
		config.WithHTTPClient(buildableClient()),
		config.WithRetryer(noRetries),
		config.WithAppID(appID),
		config.WithLogger(logging.Nop{}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			// The SDK would make up a new name at every refresh, and the caller's ARN with it.
			if o.RoleSessionName == "" {
				o.RoleSessionName = appID
			}
		}),
	)
	if buildable, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = buildable.Freeze()
	}
	return cfg, err
}

// noRetries: a failed call goes back to the queue, a worker never sleeps.
func noRetries() aws.Retryer { return aws.NopRetryer{} }
