// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestCognito_DomainsAreUniqueAndKeepTheirPool(t *testing.T) {
	c, ctx := cognitoidentityprovider.NewFromConfig(config(proxy(t).URL())), t.Context()
	var ids []*string
	for range 2 {
		out, err := c.CreateUserPool(ctx,
			&cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String("users"), DeletionProtection: types.DeletionProtectionTypeActive})
		must.Succeed(t, err)
		ids = append(ids, out.UserPool.Id)
	}
	domain := func(pool *string, name string) string {
		_, err := c.CreateUserPoolDomain(ctx, &cognitoidentityprovider.CreateUserPoolDomainInput{UserPoolId: pool, Domain: &name})
		return code(err)
	}
	remove := func() string {
		_, err := c.DeleteUserPool(ctx, &cognitoidentityprovider.DeleteUserPoolInput{UserPoolId: ids[0]})
		return code(err)
	}
	const refused = "InvalidParameterException"
	if first, taken, second := domain(ids[0], "orders"), domain(ids[1], "orders"), domain(ids[0], "sales"); first != "" || taken != refused ||
		second != refused {
		t.Errorf("domains: %q, %q, %q", first, taken, second)
	}
	withDomain := remove()
	_, err := c.DeleteUserPoolDomain(ctx, &cognitoidentityprovider.DeleteUserPoolDomainInput{UserPoolId: ids[0], Domain: aws.String("orders")})
	must.Succeed(t, err)
	protected := remove()
	_, err = c.UpdateUserPool(ctx,
		&cognitoidentityprovider.UpdateUserPoolInput{UserPoolId: ids[0], DeletionProtection: types.DeletionProtectionTypeInactive})
	must.Succeed(t, err)
	if free := remove(); withDomain != refused || protected != refused || free != "" {
		t.Errorf("deletions: %q, %q, %q", withDomain, protected, free)
	}
}

func TestCognito_UpdatesKeepAndResetWhatAWSDoes(t *testing.T) {
	c, ctx := cognitoidentityprovider.NewFromConfig(config(proxy(t).URL())), t.Context()
	out, err := c.CreateUserPool(ctx, &cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String("users"),
		UsernameAttributes: []types.UsernameAttributeType{types.UsernameAttributeTypeEmail}})
	must.Succeed(t, err)
	id := out.UserPool.Id
	describe := func() *types.UserPoolType {
		out, err := c.DescribeUserPool(ctx, &cognitoidentityprovider.DescribeUserPoolInput{UserPoolId: id})
		must.Succeed(t, err)
		return out.UserPool
	}
	_, err = c.SetUserPoolMfaConfig(ctx,
		&cognitoidentityprovider.SetUserPoolMfaConfigInput{UserPoolId: id, MfaConfiguration: types.UserPoolMfaTypeOn,
			SoftwareTokenMfaConfiguration: &types.SoftwareTokenMfaConfigType{Enabled: true}})
	must.Succeed(t, err)
	if got := describe().MfaConfiguration; got != types.UserPoolMfaTypeOn {
		t.Errorf("MFA is %s", got)
	}
	_, err = c.UpdateUserPool(ctx, &cognitoidentityprovider.UpdateUserPoolInput{UserPoolId: id, PoolName: aws.String("people")})
	must.Succeed(t, err)
	if got := describe(); got.MfaConfiguration != types.UserPoolMfaTypeOff || *got.Name != "people" || len(got.UsernameAttributes) != 1 {
		t.Errorf("after an update that names neither MFA nor attributes: %+v", got)
	}
	_, err = c.UpdateUserPool(ctx, &cognitoidentityprovider.UpdateUserPoolInput{UserPoolId: id,
		AdminCreateUserConfig: &types.AdminCreateUserConfigType{UnusedAccountValidityDays: 7},
		Policies:              &types.UserPoolPolicyType{PasswordPolicy: &types.PasswordPolicyType{TemporaryPasswordValidityDays: 7}}})
	if got := code(err); got != "InvalidParameterException" {
		t.Errorf("two validities of temporary passwords: %q", got)
	}

	made, err := c.CreateUserPoolClient(ctx, &cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: id, ClientName: aws.String("web"),
		CallbackURLs:               []string{"https://example.com/"},
		PreventUserExistenceErrors: types.PreventUserExistenceErrorTypesEnabled})
	must.Succeed(t, err)
	changed, err := c.UpdateUserPoolClient(ctx,
		&cognitoidentityprovider.UpdateUserPoolClientInput{UserPoolId: id, ClientId: made.UserPoolClient.ClientId,
			LogoutURLs: []string{"https://example.com/"}})
	must.Succeed(t, err)
	if got := changed.UserPoolClient; len(got.CallbackURLs) > 0 || len(got.LogoutURLs) != 1 ||
		got.PreventUserExistenceErrors != types.PreventUserExistenceErrorTypesLegacy || *got.ClientName != "web" {
		t.Errorf("after an update that names only the logout URL: %+v", got)
	}
}

func TestCognito_UpdatesAtOnceKeepWhatNeverChanges(t *testing.T) {
	c, ctx := cognitoidentityprovider.NewFromConfig(config(proxy(t).URL())), t.Context()
	out, err := c.CreateUserPool(ctx, &cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String("users"),
		UsernameAttributes: []types.UsernameAttributeType{types.UsernameAttributeTypeEmail}})
	must.Succeed(t, err)
	var updates sync.WaitGroup
	for range 3 {
		updates.Go(func() {
			for range 10 {
				_, err := c.UpdateUserPool(ctx, &cognitoidentityprovider.UpdateUserPoolInput{UserPoolId: out.UserPool.Id})
				got, described := c.DescribeUserPool(ctx, &cognitoidentityprovider.DescribeUserPoolInput{UserPoolId: out.UserPool.Id})
				if err != nil || described != nil || len(got.UserPool.UsernameAttributes) != 1 {
					t.Errorf("%v %v: %+v", err, described, got)
					return
				}
			}
		})
	}
	updates.Wait()
}

// Of two clients of one name the dates say which is older.
func TestCognito_AppClientsHaveDates(t *testing.T) {
	c, ctx := cognitoidentityprovider.NewFromConfig(config(proxy(t).URL())), t.Context()
	pool, err := c.CreateUserPool(ctx, &cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String("users")})
	must.Succeed(t, err)
	made, err := c.CreateUserPoolClient(ctx,
		&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: pool.UserPool.Id, ClientName: aws.String("web"),
			AllowedOAuthScopes: []string{"openid"}})
	must.Succeed(t, err)
	created := aws.ToTime(made.UserPoolClient.CreationDate)
	if age := time.Since(created); age < -time.Second || age > time.Minute || len(made.UserPoolClient.AllowedOAuthScopes) != 1 {
		t.Errorf("created %s ago: %+v", age, made.UserPoolClient)
	}
	id := made.UserPoolClient.ClientId
	_, err = c.UpdateUserPoolClient(ctx,
		&cognitoidentityprovider.UpdateUserPoolClientInput{UserPoolId: pool.UserPool.Id, ClientId: id, ClientName: aws.String("web")})
	must.Succeed(t, err)
	out, err := c.DescribeUserPoolClient(ctx, &cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: pool.UserPool.Id, ClientId: id})
	must.Succeed(t, err)
	if got := aws.ToTime(out.UserPoolClient.CreationDate); !got.Equal(created) {
		t.Errorf("created at %s, and after an update at %s", created, got)
	}
}
