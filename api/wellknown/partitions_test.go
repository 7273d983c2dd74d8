// SPDX-License-Identifier: Apache-2.0

package wellknown

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
)

func TestDNSSuffix_IsThatOfTheSDK(t *testing.T) {
	for partition, region := range map[string]string{"aws": "eu-west-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1",
		"aws-eusc": "eusc-de-east-1",
		"aws-iso":  "us-iso-east-1", "aws-iso-b": "us-isob-east-1", "aws-iso-e": "eu-isoe-west-1", "aws-iso-f": "us-isof-south-1"} {
		found, err := ecr.NewDefaultEndpointResolverV2().ResolveEndpoint(t.Context(),
			ecr.EndpointParameters{Region: aws.String(region), UseFIPS: aws.Bool(false), UseDualStack: aws.Bool(false)})
		if err != nil {
			t.Fatal(err)
		}
		if suffix := DNSSuffix(partition); !strings.HasSuffix(found.URI.Host, region+"."+suffix) {
			t.Errorf("%s has the suffix %s, and the SDK asks %s", partition, suffix, found.URI.Host)
		}
	}
}
