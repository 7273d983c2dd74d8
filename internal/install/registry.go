// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// ecrHost is the host of a registry in ECR: https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
var ecrHost = regexp.MustCompile(`^\d{12}\.dkr[.-]ecr(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|on\.aws|on\.amazonwebservices\.com\.cn)$`)

// RegistryRegion is the region of a registry in ECR; false for every other host.
func RegistryRegion(host string) (string, bool) {
	m := ecrHost.FindStringSubmatch(host)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// RegistryLogin returns the user and the password for registries in ECR, in the region of a session. They are valid for 12 hours,
// for every registry that the caller has rights in. Errors are the kinds that awsclient.Explain returns.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html
func RegistryLogin(ctx context.Context, cfg aws.Config) (user, password string, err error) {
	out, err := ecr.NewFromConfig(cfg).GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return "", "", awsclient.ExplainOnce(err, "ecr:GetAuthorizationToken")
	}
	for _, data := range out.AuthorizationData {
		text, err := base64.StdEncoding.DecodeString(aws.ToString(data.AuthorizationToken))
		if user, password, ok := strings.Cut(string(text), ":"); ok && err == nil {
			return user, password, nil
		}
	}
	return "", "", errors.New("ecr:GetAuthorizationToken answered without a token")
}
