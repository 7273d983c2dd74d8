// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func token(issuer, subject, audience string) *string {
	payload := fmt.Sprintf(`{"iss":%q,"sub":%q,"aud":[%q]}`, issuer, subject, audience)
	return aws.String("e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".x")
}

func TestAWebIdentityMustBeTrustedAndHasTheRolesRights(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	const issuer, subject = "https://oidc.example.com/id/A", "system:serviceaccount:team:app"
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",` +
		`"Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/oidc.example.com/id/A"},` +
		`"Condition":{"StringEquals":{"oidc.example.com/id/A:sub":"` + subject + `","oidc.example.com/id/A:aud":"sts.amazonaws.com"}}}]}`
	role, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust})
	must.Succeed(t, err)
	_, err = c.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("app"), PolicyName: aws.String("app"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:CreateBucket","Resource":"*"}]}`)})
	must.Succeed(t, err)
	p.EnforceIAM(true)
	assume := func(arn *string, token *string) (*sts.AssumeRoleWithWebIdentityOutput, error) {
		return c.sts.AssumeRoleWithWebIdentity(ctx,
			&sts.AssumeRoleWithWebIdentityInput{RoleArn: arn, RoleSessionName: aws.String("s"), WebIdentityToken: token})
	}
	for name, wrong := range map[string]*string{
		"subject": token(issuer, subject+"s", "sts.amazonaws.com"), "audience": token(issuer, subject, "other"),
		"issuer": token(issuer+"B", subject, "sts.amazonaws.com"), "no token": aws.String("abc"),
	} {
		if _, err := assume(role.Role.Arn, wrong); err == nil {
			t.Errorf("%s: the role was assumed", name)
		}
	}
	right := token(issuer, subject, "sts.amazonaws.com")
	if _, err := assume(aws.String("arn:aws:iam::123456789012:role/none"), right); err == nil {
		t.Error("a role that does not exist was assumed")
	}
	got, err := assume(role.Role.Arn, right)
	must.Succeed(t, err)
	cfg := config(p.URL())
	cfg.Credentials = credentials.NewStaticCredentialsProvider(*got.Credentials.AccessKeyId, *got.Credentials.SecretAccessKey,
		*got.Credentials.SessionToken)
	app := clientsFor(cfg)
	must.Succeed(t, createBucket(ctx, app, "some-bucket"))
	if err := createTable(ctx, app, "orders"); err == nil {
		t.Error("a right that the role does not have was not needed")
	}
}
