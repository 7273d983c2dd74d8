// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// NewS3Control returns a client of S3 Control. Its hosts begin with the number of the account, but those that are addresses.
func NewS3Control(cfg aws.Config) *s3control.Client {
	return s3control.NewFromConfig(cfg, func(o *s3control.Options) { o.EndpointResolverV2 = withoutAccount{o.EndpointResolverV2} })
}

// withoutAccount takes the number of the account out of the host where that is an address, such as the one of an emulator.
type withoutAccount struct{ s3control.EndpointResolverV2 }

// ResolveEndpoint implements s3control.EndpointResolverV2.
func (r withoutAccount) ResolveEndpoint(ctx context.Context, params s3control.EndpointParameters) (smithyendpoints.Endpoint, error) {
	out, err := r.EndpointResolverV2.ResolveEndpoint(ctx, params)
	host := strings.TrimPrefix(out.URI.Host, aws.ToString(params.AccountId)+".")
	if name, _, splitErr := net.SplitHostPort(host); err == nil && splitErr == nil && net.ParseIP(name) != nil {
		out.URI.Host = host
	}
	return out, err
}
