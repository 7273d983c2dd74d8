// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func life() kindtest.Life {
	return kindtest.Life{
		Sample: poolOf(length(12), mfa("OPTIONAL"), domain("orders-dev"), client("web"), group("admin", precedence(1)), group("viewer"),
			tagged("team", "a")), Exists: exists,
		Edited: poolOf(length(14), mfa("ON"), domain("sales-dev"), client("web", callback("https://example.com/other")), client("app"),
			group("admin", precedence(2)), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{poolOf(domain("my-aws-pool"), client("web")), poolOf(client("web", callback("http://example.com/")))},
	}
}

func TestUserPoolSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewUserPool), life()) }

func TestUserPoolSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewUserPool), life()) }

func subject(t *testing.T, o *v1alpha1.CognitoUserPool) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewUserPool), o), r
}

func statusOf(s *kindtest.Subject) v1alpha1.CognitoUserPoolStatus {
	return s.Object.(*v1alpha1.CognitoUserPool).Status
}

// have returns the request that leaves a client as it is.
func have(c types.UserPoolClientType) *cognitoidentityprovider.UpdateUserPoolClientInput {
	in := kind.Convert[cognitoidentityprovider.UpdateUserPoolClientInput](c)
	return &in
}

// All users are lost with their pool.
func TestAPoolOutlivesItsObjectByDefault(t *testing.T) {
	if got := engine.DeletionPolicyOf(poolOf(deletion("")), engine.For(NewUserPool).Meta()); got != v1alpha1.DeletionRetain {
		t.Errorf("the default is %s", got)
	}
}

// An update resets all settings that it leaves out, also those that others set and the spec cannot declare.
func TestUpdatesKeepTheSettingsOfOthers(t *testing.T) {
	s, r := subject(t, poolOf(mfa("ON"), signInBy("email"), client("web")))
	kindtest.Settled(t, s)
	updated(func(in *cognitoidentityprovider.UpdateUserPoolInput) {
		in.LambdaConfig = &types.LambdaConfigType{PreSignUp: aws.String("arn:aws:lambda:eu-west-1:123456789012:function:check")}
		in.AccountRecoverySetting = &types.AccountRecoverySettingType{RecoveryMechanisms: []types.RecoveryOptionType{{Name: types.RecoveryOptionNameTypeAdminOnly, Priority: aws.Int32(1)}}}
		in.PoolName = aws.String("renamed")
	})(t, r)
	pool := pools(t, r)[0]
	in := have(clientsOf(t, api(r), pool.Id)[0])
	in.AccessTokenValidity, in.TokenValidityUnits = aws.Int32(15), &types.TokenValidityUnitsType{AccessToken: types.TimeUnitsTypeMinutes}
	in.DefaultRedirectURI = aws.String("https://example.com/callback")
	_, err := api(r).UpdateUserPoolClient(t.Context(), in)
	kindtest.Must(t, err)

	s.Edit(poolOf(mfa("ON"), signInBy("email"), length(14), tagged("team", "a"), client("web", callback("https://example.com/other"))))
	kindtest.Settled(t, s)
	after := pools(t, r)[0]
	if after.LambdaConfig == nil || aws.ToString(after.LambdaConfig.PreSignUp) == "" ||
		len(after.AccountRecoverySetting.RecoveryMechanisms) != 1 || *after.Name != "renamed" ||
		*after.Policies.PasswordPolicy.MinimumLength != 14 || after.MfaConfiguration != types.UserPoolMfaTypeOn ||
		after.UserPoolTags["team"] != "a" || len(after.UsernameAttributes) != 1 {
		t.Errorf("the pool is %+v", after)
	}
	c := clientsOf(t, api(r), pool.Id)[0]
	if aws.ToInt32(c.AccessTokenValidity) != 15 || c.TokenValidityUnits == nil ||
		!slices.Equal(c.SupportedIdentityProviders, []string{"COGNITO"}) || c.DefaultRedirectURI != nil ||
		c.PreventUserExistenceErrors != types.PreventUserExistenceErrorTypesEnabled ||
		!slices.Equal(c.CallbackURLs, []string{"https://example.com/other"}) {
		t.Errorf("the client is %+v", c)
	}
}

func TestMFAOfOthersStays(t *testing.T) {
	s, r := subject(t, poolOf())
	kindtest.Settled(t, s)
	sms := &types.SmsMfaConfigType{SmsAuthenticationMessage: aws.String("{####}"),
		SmsConfiguration: &types.SmsConfigurationType{SnsCallerArn: aws.String("arn:aws:iam::123456789012:role/sms")}}
	_, err := api(r).SetUserPoolMfaConfig(t.Context(),
		&cognitoidentityprovider.SetUserPoolMfaConfigInput{UserPoolId: pools(t, r)[0].Id, MfaConfiguration: types.UserPoolMfaTypeOn,
			SmsMfaConfiguration: sms})
	kindtest.Must(t, err)
	s.Edit(poolOf(mfa("ON")))
	kindtest.Settled(t, s)
	out, err := api(r).GetUserPoolMfaConfig(t.Context(), &cognitoidentityprovider.GetUserPoolMfaConfigInput{UserPoolId: pools(t, r)[0].Id})
	kindtest.Must(t, err)
	if out.SmsMfaConfiguration == nil || out.SoftwareTokenMfaConfiguration == nil || !out.SoftwareTokenMfaConfiguration.Enabled {
		t.Errorf("%+v", out)
	}
}

func TestAClientIsPublicAndUsesTheCodeFlow(t *testing.T) {
	s, r := subject(t, poolOf(client("web")))
	kindtest.Settled(t, s)
	c := clientsOf(t, api(r), pools(t, r)[0].Id)[0]
	if c.ClientSecret != nil || !aws.ToBool(c.AllowedOAuthFlowsUserPoolClient) ||
		!slices.Equal(c.AllowedOAuthFlows, []types.OAuthFlowType{types.OAuthFlowTypeCode}) ||
		!slices.Equal(slices.Sorted(slices.Values(c.AllowedOAuthScopes)), []string{"email", "openid", "profile"}) ||
		!slices.Equal(c.ExplicitAuthFlows, []types.ExplicitAuthFlowsType{types.ExplicitAuthFlowsTypeAllowRefreshTokenAuth}) {
		t.Errorf("%+v", c)
	}
}

// A domain name that another pool has blocks no other part of the pool, and the remedy is another name.
func TestATakenDomainComesLastAndNamesTheRemedy(t *testing.T) {
	s, r := subject(t, poolOf(client("web"), group("admin"), domain("orders-dev")))
	_, err := api(r).CreateUserPoolDomain(t.Context(),
		&cognitoidentityprovider.CreateUserPoolDomainInput{UserPoolId: aws.String(makePool(t, r, nil)), Domain: aws.String("orders-dev")})
	kindtest.Must(t, err)
	_, err = s.Settle(t.Context(), nil)
	st, ok := status.AsStalled(err)
	if !ok || st.Reason != status.ReasonNameTaken || st.Field != "spec.domain" || !strings.Contains(st.Error(), "declare another prefix") {
		t.Fatalf("got %v", err)
	}
	_, _ = s.Settle(t.Context(), nil) // a stalled object is looked at again
	if got := statusOf(s); got.ClientIDs["web"] == "" || !slices.Equal(got.ManagedGroups, []string{"admin"}) {
		t.Errorf("%+v", got)
	}
	s.Edit(poolOf(client("web"), group("admin"), domain("orders-test")))
	kindtest.Settled(t, s)
	if got := statusOf(s); got.Domain != "orders-test" {
		t.Errorf("%+v", got)
	}
}

func TestADomainWhoseAnswerWasLostIsNotTaken(t *testing.T) {
	s, r := subject(t, poolOf(domain("orders-dev")))
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetLag(emulator.Lag{Settings: emulator.ForReads(2)})
	t.Cleanup(func() { r.AWS.SetLag(emulator.Lag{}); r.AWS.SetClock(nil) })
	r.AWS.Fault(emulator.Match{Service: "cognito-idp", Op: "CreateUserPoolDomain", Times: 1}, emulator.LoseAnswer())
	if _, err := s.Settle(t.Context(), nil); err != nil {
		kindtest.Settled(t, s)
	}
	if got := statusOf(s).Domain; got != "orders-dev" {
		t.Errorf("the domain is %q\n%s", got, r.AWS.Calls())
	}
}

// Names of clients are not unique: the ID of the first one is kept.
func TestOfTwoClientsOfOneNameTheFirstStays(t *testing.T) {
	s, r := subject(t, poolOf(client("web")))
	kindtest.Settled(t, s)
	first := statusOf(s).ClientIDs["web"]
	_, err := api(r).CreateUserPoolClient(t.Context(),
		&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: pools(t, r)[0].Id, ClientName: aws.String("web")})
	kindtest.Must(t, err)
	s.Edit(poolOf(client("web"), client("app")))
	kindtest.Settled(t, s)
	if got := statusOf(s).ClientIDs; got["web"] != first || got["app"] == "" || len(clientsOf(t, api(r), pools(t, r)[0].Id)) != 3 {
		t.Errorf("%v, want %s\n%s", got, first, r.AWS.Calls())
	}
}

// Two operators that create one client at the same time end with the client that Cognito created first.
func TestAClientThatAnotherOperatorMadeMeanwhileIsKept(t *testing.T) {
	s, r := subject(t, poolOf(length(12)))
	kindtest.Settled(t, s)
	pool := pools(t, r)[0].Id
	var first *string
	r.AWS.Fault(emulator.Match{Service: "cognito-idp", Op: "CreateUserPoolClient", Times: 1}, emulator.After(func() {
		out, err := api(r).CreateUserPoolClient(t.Context(),
			&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: pool, ClientName: aws.String("web")})
		if err == nil {
			first = out.UserPoolClient.ClientId
		}
	}))
	s.Edit(poolOf(length(12), client("web")))
	kindtest.Settled(t, s)
	if got := clientsOf(t, api(r), pool); len(got) != 1 || aws.ToString(got[0].ClientId) != aws.ToString(first) ||
		statusOf(s).ClientIDs["web"] != aws.ToString(first) {
		t.Errorf("clients %v, want %v alone, status %v\n%s", got, first, statusOf(s).ClientIDs, r.AWS.Calls())
	}
}

// A client and a group carry no owner: only the record shows that the operator made them.
func TestAMemberWhoseRecordIsLostIsStillRemoved(t *testing.T) {
	for op, member := range map[string]func(*spec){"CreateUserPoolClient": client("web"), "CreateGroup": group("admin")} {
		t.Run(op, func(t *testing.T) {
			s, r := subject(t, poolOf())
			kindtest.Settled(t, s)
			s.Edit(poolOf(member))
			r.AWS.Fault(emulator.Match{Service: "cognito-idp", Op: op, Times: 1}, emulator.ForwardThen(func() {}))
			if _, err := s.Pass(t.Context(), func() bool { return true }); err == nil {
				t.Fatal("the operator was not killed")
			}
			s.Edit(poolOf())
			kindtest.Settled(t, s)
			groups, err := api(r).ListGroups(t.Context(), &cognitoidentityprovider.ListGroupsInput{UserPoolId: pools(t, r)[0].Id})
			kindtest.Must(t, err)
			if clients := clientsOf(t, api(r), pools(t, r)[0].Id); len(clients)+len(groups.Groups) > 0 {
				t.Errorf("left behind: %v %v\n%s", clients, groups.Groups, r.AWS.Calls())
			}
		})
	}
}

// A capability that drops its pool must not lose the users.
func TestAGuardedPoolIsHeldWhileItHasUsers(t *testing.T) {
	s, r := subject(t, poolOf(protected(false)))
	kindtest.Settled(t, s)
	id := pools(t, r)[0].Id
	_, err := api(r).AdminCreateUser(t.Context(), &cognitoidentityprovider.AdminCreateUserInput{UserPoolId: id, Username: aws.String("ann")})
	kindtest.Must(t, err)
	s.Deleting, s.Guarded = true, true
	_, err = s.Settle(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonDataWouldBeLost || !strings.Contains(w.For, "about 1 users") {
		t.Fatalf("got %v", err)
	}
	_, err = api(r).AdminDeleteUser(t.Context(), &cognitoidentityprovider.AdminDeleteUserInput{UserPoolId: id, Username: aws.String("ann")})
	kindtest.Must(t, err)
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("the pool is still there")
	}
}

// A custom domain that others added keeps Cognito from deleting the pool, too.
func TestACustomDomainIsDeletedWithThePool(t *testing.T) {
	have := UserPoolState{Found: types.UserPoolType{Domain: aws.String("orders-dev"), CustomDomain: aws.String("login.example.com")}}
	if got := domainsOf(UserPoolState{}, have); !slices.Equal(got, []string{"login.example.com", "orders-dev"}) {
		t.Error(got)
	}
}

func TestImportID_AdoptsAPoolWhereAllowed(t *testing.T) {
	s, r := subject(t, poolOf())
	id := makePool(t, r, map[string]string{"theirs": "1"})
	s.Object.(*v1alpha1.CognitoUserPool).Spec = poolOf(imports(id)).Spec
	s.Object.CommonSpec().ProviderRef.Name = "provider"
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("got %v, want a conflict", err)
	}
	s.AllowAdoption = true
	kindtest.Settled(t, s)
	if got := pools(t, r); len(got) != 1 || statusOf(s).ID != id || got[0].UserPoolTags["theirs"] != "1" {
		t.Errorf("%+v, %d pools", statusOf(s), len(got))
	}
}

// Members of a group get its role from an identity pool, and the object says who is a member.
func TestAPoolWithTheRoleOfAGroupIsNotAdopted(t *testing.T) {
	s, r := subject(t, poolOf())
	id := makePool(t, r, nil)
	_, err := api(r).CreateGroup(t.Context(), &cognitoidentityprovider.CreateGroupInput{UserPoolId: &id, GroupName: aws.String("admins"),
		RoleArn: aws.String("arn:aws:iam::123456789012:role/finance-admin")})
	kindtest.Must(t, err)
	s.Object.(*v1alpha1.CognitoUserPool).Spec = poolOf(imports(id)).Spec
	s.Object.CommonSpec().ProviderRef.Name = "provider"
	s.AllowAdoption, s.RolePath = true, "/team/"
	_, err = s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonNotPermitted || len(pools(t, r)[0].UserPoolTags) > 0 {
		t.Errorf("%v, tags %v", err, pools(t, r)[0].UserPoolTags)
	}
}

// CreateUserPool has no client token: only the search by tags and the wait keep the pool single.
func TestLostCreatesMakeOnePool(t *testing.T) {
	s, r := subject(t, poolOf(client("web")))
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetLag(emulator.LikeAWS())
	t.Cleanup(func() { r.AWS.SetLag(emulator.Lag{}); r.AWS.SetClock(nil) })
	r.AWS.Fault(emulator.Match{Service: "cognito-idp", Op: "CreateUserPool", Times: 1}, emulator.LoseAnswer())
	if _, err := s.Settle(t.Context(), nil); err != nil {
		kindtest.Settled(t, s)
	}
	r.AWS.SetLag(emulator.Lag{})
	if n := len(pools(t, r)); n != 1 {
		t.Fatalf("%d pools\n%s", n, r.AWS.Calls())
	}
}

func TestUserPoolCosts(t *testing.T) {
	s, _ := subject(t, poolOf(length(12), client("web"), domain("orders-dev"), group("admin"), group("operator"), group("viewer")))
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create",
			Calls: map[string]int{"ListUserPools": 2, "CreateUserPool": 1, "CreateUserPoolClient": 1, "CreateUserPoolDomain": 1, "CreateGroup": 3,
				"DescribeUserPool":    2,
				"ListUserPoolClients": 2, "DescribeUserPoolClient": 1, "ListGroups": 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"DescribeUserPool": 1, "DescribeUserPoolClient": 1, "ListGroups": 1},
			Change: s.Forget},
		kindtest.Cost{Name: "delete",
			Calls:  map[string]int{"DeleteUserPoolDomain": 1, "DeleteUserPool": 1, "DescribeUserPool": 2, "ListUserPools": 1},
			Change: func() { s.Deleting = true }})
}

func TestPublishedFields(t *testing.T) {
	s, r := subject(t, poolOf(client("web"), group("admin"), domain("orders-dev")))
	kindtest.Settled(t, s)
	st, pool := statusOf(s), pools(t, r)[0]
	client := clientsOf(t, api(r), pool.Id)[0]
	if st.ID != *pool.Id || st.UserPoolID != st.ID || st.ARN != *pool.Arn ||
		!maps.Equal(st.ClientIDs, map[string]string{"web": *client.ClientId}) || st.Domain != "orders-dev" ||
		st.DomainURL != "https://orders-dev.auth."+kindtest.Region+".amazoncognito.com" || st.Issuer != "https://cognito-idp."+kindtest.Region+
		".amazonaws.com/"+st.ID ||
		!slices.Equal(st.ManagedClients, []string{"web"}) || !slices.Equal(st.ManagedGroups, []string{"admin"}) {
		t.Errorf("%+v", st)
	}
	if pool.UserPoolTags["nexus.ai/owner-uid"] != ourUID {
		t.Errorf("the pool carries no owner: %v", pool.UserPoolTags)
	}
}
