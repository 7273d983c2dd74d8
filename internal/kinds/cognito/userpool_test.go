// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name   = "orders"
	ourUID = "uid-of-" + name

	create       = "cognito-idp:CreateUserPool"
	updatePool   = "cognito-idp:UpdateUserPool"
	setMFA       = "cognito-idp:SetUserPoolMfaConfig"
	createClient = "cognito-idp:CreateUserPoolClient"
	updateClient = "cognito-idp:UpdateUserPoolClient"
	deleteClient = "cognito-idp:DeleteUserPoolClient"
	createGroup  = "cognito-idp:CreateGroup"
	updateGroup  = "cognito-idp:UpdateGroup"
	deleteGroup  = "cognito-idp:DeleteGroup"
	createDomain = "cognito-idp:CreateUserPoolDomain"
	deleteDomain = "cognito-idp:DeleteUserPoolDomain"
	remove       = "cognito-idp:DeleteUserPool"
)

type (
	spec       = v1alpha1.CognitoUserPoolSpec
	clientSpec = v1alpha1.CognitoUserPoolClient
	groupSpec  = v1alpha1.CognitoUserPoolGroup
	idp        = cognitoidentityprovider.Client
)

// poolOf declares a pool that is deleted with its object, so that a life can end.
func poolOf(edits ...func(s *spec)) *v1alpha1.CognitoUserPool {
	o := &v1alpha1.CognitoUserPool{}
	o.Name, o.Spec.PoolName, o.Spec.DeletionPolicy = name, name, v1alpha1.DeletionDelete
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func passwords(edit func(p *v1alpha1.CognitoPasswordPolicy)) func(s *spec) {
	return func(s *spec) {
		if s.PasswordPolicy == nil {
			s.PasswordPolicy = &v1alpha1.CognitoPasswordPolicy{}
		}
		edit(s.PasswordPolicy)
	}
}

func length(n int32) func(s *spec) {
	return passwords(func(p *v1alpha1.CognitoPasswordPolicy) { p.MinimumLength = &n })
}

func symbols(on bool) func(s *spec) {
	return passwords(func(p *v1alpha1.CognitoPasswordPolicy) { p.RequireSymbols = &on })
}

func mfa(mode string) func(s *spec) { return func(s *spec) { s.MFA = &mode } }

func protected(on bool) func(s *spec) { return func(s *spec) { s.DeletionProtection = &on } }

func adminsCreate(on bool) func(s *spec) { return func(s *spec) { s.AdminCreateUserOnly = &on } }

func signInBy(attributes ...v1alpha1.CognitoContact) func(s *spec) {
	return func(s *spec) { s.UsernameAttributes = attributes }
}

func verified(attributes ...v1alpha1.CognitoContact) func(s *spec) {
	attributes = append([]v1alpha1.CognitoContact{}, attributes...)
	return func(s *spec) { s.AutoVerifiedAttributes = &attributes }
}

func domain(prefix string) func(s *spec) { return func(s *spec) { s.Domain = &prefix } }

func client(of string, edits ...func(c *clientSpec)) func(s *spec) {
	return func(s *spec) {
		c := clientSpec{Name: of, CallbackURLs: []v1alpha1.CognitoURL{"https://example.com/callback"}}
		for _, edit := range edits {
			edit(&c)
		}
		s.Clients = append(s.Clients, c)
	}
}

func callback(urls ...v1alpha1.CognitoURL) func(c *clientSpec) {
	return func(c *clientSpec) { c.CallbackURLs = urls }
}

func logout(urls ...v1alpha1.CognitoURL) func(c *clientSpec) {
	urls = append([]v1alpha1.CognitoURL{}, urls...)
	return func(c *clientSpec) { c.LogoutURLs = &urls }
}

func scopes(of ...v1alpha1.CognitoScope) func(c *clientSpec) {
	return func(c *clientSpec) { c.Scopes = of }
}

func group(of string, edits ...func(g *groupSpec)) func(s *spec) {
	return func(s *spec) {
		g := groupSpec{Name: of}
		for _, edit := range edits {
			edit(&g)
		}
		s.Groups = append(s.Groups, g)
	}
}

func described(v string) func(g *groupSpec) { return func(g *groupSpec) { g.Description = &v } }

func precedence(n int32) func(g *groupSpec) { return func(g *groupSpec) { g.Precedence = &n } }

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

func imports(id string) func(s *spec) {
	return func(s *spec) { s.ImportID, s.AdoptionPolicy = id, v1alpha1.AdoptAlways }
}

func api(r *kindtest.Rig) *idp { return cognitoidentityprovider.NewFromConfig(r.Config) }

func makePool(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateUserPool(t.Context(),
		&cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String(name), UserPoolTags: tags})
	kindtest.Must(t, err)
	return *out.UserPool.Id
}

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makePool(t, r, tags) }
}

// pools returns the pools of the account.
func pools(t *testing.T, r *kindtest.Rig) []types.UserPoolType {
	t.Helper()
	list, err := api(r).ListUserPools(t.Context(), &cognitoidentityprovider.ListUserPoolsInput{MaxResults: aws.Int32(page)})
	kindtest.Must(t, err)
	var out []types.UserPoolType
	for _, listed := range list.UserPools {
		d, err := api(r).DescribeUserPool(t.Context(), &cognitoidentityprovider.DescribeUserPoolInput{UserPoolId: listed.Id})
		kindtest.Must(t, err)
		out = append(out, *d.UserPool)
	}
	return out
}

func exists(t *testing.T, r *kindtest.Rig) bool { return len(pools(t, r)) > 0 }

// clientsOf returns the clients of the pool.
func clientsOf(t *testing.T, c *idp, pool *string) []types.UserPoolClientType {
	t.Helper()
	list, err := c.ListUserPoolClients(t.Context(),
		&cognitoidentityprovider.ListUserPoolClientsInput{UserPoolId: pool, MaxResults: aws.Int32(page)})
	kindtest.Must(t, err)
	var out []types.UserPoolClientType
	for _, listed := range list.UserPoolClients {
		d, err := c.DescribeUserPoolClient(t.Context(),
			&cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: pool, ClientId: listed.ClientId})
		kindtest.Must(t, err)
		out = append(out, *d.UserPoolClient)
	}
	return out
}

// onPool changes the only pool outside the operator.
func onPool(change func(t *testing.T, c *idp, id *string) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, change(t, api(r), pools(t, r)[0].Id))
	}
}

// updated changes the pool by one request.
func updated(edit func(in *cognitoidentityprovider.UpdateUserPoolInput)) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		have := pools(t, r)[0]
		in := update(UserPoolState{}, UserPoolState{ID: *have.Id, Found: have, Tags: have.UserPoolTags}, nil)
		edit(in)
		_, err := api(r).UpdateUserPool(t.Context(), in)
		kindtest.Must(t, err)
	}
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "CognitoUserPool", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestUserPool(t *testing.T) {
	kindtest.Run(t, engine.For(NewUserPool), slices.Concat(lives(), edits(), memberEdits(), drifts(), memberDrifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	refused := func(what string, edits ...func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: what, Object: poolOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: poolOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with settings", Object: poolOf(length(12), protected(false), adminsCreate(true), signInBy("email"), verified("email"),
			tagged("team", "a")), Cause: engine.New, Actions: []string{create}},
		{Name: "a protected pool", Object: poolOf(protected(true), deletion(v1alpha1.DeletionRetain)), Cause: engine.New,
			Actions: []string{create}},
		{Name: "with members", Object: poolOf(mfa("ON"), client("web"), group("admin"), domain("orders-dev")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "settings that a new pool has", Existing: poolOf(),
			Object: poolOf(mfa("OFF"), protected(false), adminsCreate(false), verified(), length(8), symbols(true), domain("")),
			Cause:  engine.InSync},
		{Name: "settings that are no longer declared stay",
			Existing: poolOf(mfa("ON"), length(12), adminsCreate(true), verified("email"), domain("orders-dev")), Object: poolOf(),
			Cause: engine.InSync},
		refused("a domain that Cognito reserves", domain("my-aws-pool")),
		refused("a callback without encryption", client("web", callback("http://example.com/"))),
		refused("a callback to a host that begins with localhost", client("web", callback("http://localhost.example.com/"))),
		refused("a client without callback", client("web", callback())),
		refused("two clients of one name", client("web"), client("web")),
		refused("a pool to import by its ARN", imports("arn:aws:cognito-idp:eu-west-1:123456789012:userpool/eu-west-1_AbCdEf123")),
	}
}

func edits() []kindtest.Case {
	edit := func(what, path, action string, from, to func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: what, Existing: poolOf(from), Object: poolOf(to), Cause: engine.Edited, Diff: []string{path},
			Actions: []string{action}}
	}
	none := func(*spec) {}
	return []kindtest.Case{
		edit("longer passwords", "Password.MinimumLength", updatePool, none, length(14)),
		edit("shorter passwords", "Password.MinimumLength", updatePool, length(14), length(10)),
		edit("no symbols", "Password.RequireSymbols", updatePool, none, symbols(false)),
		edit("symbols again", "Password.RequireSymbols", updatePool, symbols(false), symbols(true)),
		edit("all of a password", "Password.RequireLowercase", updatePool, none, passwords(func(p *v1alpha1.CognitoPasswordPolicy) {
			p.RequireLowercase, p.RequireUppercase, p.RequireNumbers, p.TemporaryPasswordValidityDays = aws.Bool(false), aws.Bool(true),
				aws.Bool(true), aws.Int32(7)
		})),
		edit("temporary passwords", "Password.TemporaryPasswordValidityDays", updatePool, none,
			passwords(func(p *v1alpha1.CognitoPasswordPolicy) { p.TemporaryPasswordValidityDays = aws.Int32(1) })),
		edit("only administrators", "AdminCreates", updatePool, none, adminsCreate(true)),
		edit("everybody", "AdminCreates", updatePool, adminsCreate(true), adminsCreate(false)),
		edit("verified addresses", "AutoVerified", updatePool, none, verified("email")),
		edit("no verified addresses", "AutoVerified", updatePool, verified("email"), verified()),
		edit("protection", "DeletionProtection", updatePool, none, protected(true)),
		edit("no protection", "DeletionProtection", updatePool, protected(true), protected(false)),
		edit("authenticator apps", "MFA", setMFA, none, mfa("OPTIONAL")),
		edit("authenticator apps for all", "MFA", setMFA, mfa("OPTIONAL"), mfa("ON")),
		edit("no authenticator apps", "MFA", setMFA, mfa("ON"), mfa("OFF")),
		{Name: "settings and tags in one call", Existing: poolOf(tagged("old", "1")),
			Object: poolOf(length(14), adminsCreate(true), tagged("team", "a")), Cause: engine.Edited,
			Diff: []string{"AdminCreates", "Password.MinimumLength", "Tags[team]", "Tags[old]"}, Actions: []string{updatePool}},
		{Name: "settings before MFA", Existing: poolOf(), Object: poolOf(length(14), mfa("ON")), Cause: engine.Edited,
			Diff: []string{"Password.MinimumLength", "MFA"}, Actions: []string{updatePool, setMFA}},
		{Name: "sign-in by another attribute", Existing: poolOf(signInBy("email")), Object: poolOf(signInBy("phone_number")),
			Stalled: status.ReasonImmutable},
		{Name: "another name", Existing: poolOf(), Object: poolOf(func(s *spec) { s.PoolName = "sales" }), Stalled: status.ReasonIdentityChanged},
	}
}

func drifts() []kindtest.Case {
	drift := func(path, action string, object *v1alpha1.CognitoUserPool, change func(*testing.T, *kindtest.Rig)) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: object, Object: object, Drift: true, Before: change, Cause: engine.Drifted,
			Diff: []string{path}, Actions: []string{action}}
	}
	declared := poolOf(length(12), protected(false), adminsCreate(true), verified("email"))
	type in = cognitoidentityprovider.UpdateUserPoolInput
	return []kindtest.Case{
		drift("Password.MinimumLength", updatePool, declared, updated(func(in *in) { in.Policies.PasswordPolicy.MinimumLength = aws.Int32(6) })),
		drift("DeletionProtection", updatePool, declared, updated(func(in *in) { in.DeletionProtection = types.DeletionProtectionTypeActive })),
		drift("AdminCreates", updatePool, declared, updated(func(in *in) { in.AdminCreateUserConfig.AllowAdminCreateUserOnly = false })),
		drift("AutoVerified", updatePool, declared, updated(func(in *in) { in.AutoVerifiedAttributes = nil })),
		drift("Tags[nexus.ai/owner]", updatePool, declared, updated(func(in *in) { delete(in.UserPoolTags, "nexus.ai/owner") })),
		drift("MFA", setMFA, poolOf(mfa("ON")), onPool(func(t *testing.T, c *idp, id *string) error {
			_, err := c.SetUserPoolMfaConfig(t.Context(),
				&cognitoidentityprovider.SetUserPoolMfaConfigInput{UserPoolId: id, MfaConfiguration: types.UserPoolMfaTypeOptional,
					SoftwareTokenMfaConfiguration: &types.SoftwareTokenMfaConfigType{Enabled: true}})
			return err
		})),
		{Name: "an update repeats the role for text messages of others", Existing: declared, Object: declared, Drift: true, Cause: engine.Drifted,
			Diff: []string{"DeletionProtection"}, Actions: []string{updatePool}, Before: updated(func(in *in) {
				in.DeletionProtection = types.DeletionProtectionTypeActive
				in.SmsConfiguration = &types.SmsConfigurationType{SnsCallerArn: aws.String("arn:aws:iam::123456789012:role/sms")}
			})},
		{Name: "settings and tags of others stay", Existing: poolOf(), Object: poolOf(), Drift: true, Cause: engine.InSync,
			Before: updated(func(in *in) {
				in.Policies.PasswordPolicy.MinimumLength, in.UserPoolTags["theirs"] = aws.Int32(6), "1"
			})},
	}
}

func deletions() []kindtest.Case {
	orphan, full := poolOf(deletion(v1alpha1.DeletionOrphan)), poolOf(client("web"), group("admin"), domain("orders-dev"))
	return []kindtest.Case{
		{Name: "deleting takes one call", Existing: poolOf(), Object: poolOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{remove}},
		{Name: "deleting deletes the domain before", Existing: full, Object: full, Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{deleteDomain, remove}},
		{Name: "deleting a protected pool waits", Existing: poolOf(protected(true)), Object: poolOf(protected(true)), Deleting: true, Drift: true,
			Waiting: status.ReasonDeletionProtected},
		{Name: "protection that is not declared holds", Existing: poolOf(), Object: poolOf(), Deleting: true, Drift: true,
			Waiting: status.ReasonDeletionProtected,
			Before: updated(func(in *cognitoidentityprovider.UpdateUserPoolInput) {
				in.DeletionProtection = types.DeletionProtectionTypeActive
			})},
		{Name: "false lifts the protection", Existing: poolOf(protected(false)), Object: poolOf(protected(false)), Deleting: true, Drift: true,
			Cause: engine.Deleting, Actions: []string{updatePool},
			Before: updated(func(in *cognitoidentityprovider.UpdateUserPoolInput) {
				in.DeletionProtection = types.DeletionProtectionTypeActive
			})},
		{Name: "deleting a pool that is gone", Existing: poolOf(), Object: poolOf(), Deleting: true, Drift: true, Cause: engine.Gone,
			Before: onPool(func(t *testing.T, c *idp, id *string) error {
				_, err := c.DeleteUserPool(t.Context(), &cognitoidentityprovider.DeleteUserPoolInput{UserPoolId: id})
				return err
			})},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{updatePool}},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: poolOf(),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{updatePool}},
		{Name: "unless adoption is refused", Object: poolOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's object of this name has its own", Object: poolOf(), Before: before(ownerTags("an-earlier-one", "another")),
			Cause: engine.New, Actions: []string{create}},
		{Name: "a pool of the name without owner is left alone", Object: poolOf(), Before: before(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Cause: engine.New, Actions: []string{create}},
		{Name: "a pool that is gone is reported", Existing: poolOf(), Object: poolOf(), Drift: true, Stalled: status.ReasonMissing,
			Before: onPool(func(t *testing.T, c *idp, id *string) error {
				_, err := c.DeleteUserPool(t.Context(), &cognitoidentityprovider.DeleteUserPoolInput{UserPoolId: id})
				return err
			})},
	}
}

func TestPublish_NamesAreThoseOfThePartition(t *testing.T) {
	for arn, want := range map[string][2]string{
		"arn:aws:cognito-idp:eu-west-1:123456789012:userpool/p": {"https://cognito-idp.eu-west-1.amazonaws.com/p",
			"https://orders.auth.eu-west-1.amazoncognito.com"},
		"arn:aws-cn:cognito-idp:cn-north-1:123456789012:userpool/p": {"https://cognito-idp.cn-north-1.amazonaws.com.cn/p",
			"https://orders.auth.cn-north-1.amazoncognito.com"},
		"arn:aws-us-gov:cognito-idp:us-gov-west-1:123456789012:userpool/p": {"https://cognito-idp.us-gov-west-1.amazonaws.com/p",
			"https://orders.auth-fips.us-gov-west-1.amazoncognito.com"},
		"arn:aws-eusc:cognito-idp:eusc-de-east-1:123456789012:userpool/p": {"https://cognito-idp.eusc-de-east-1.amazonaws.eu/p",
			"https://orders.auth.eusc-de-east-1.amazoncognito.com"},
	} {
		cr := &v1alpha1.CognitoUserPool{}
		publish(cr, UserPoolState{ID: "p", ARN: arn, Found: types.UserPoolType{Domain: aws.String("orders")}})
		if got := [2]string{cr.Status.Issuer, cr.Status.DomainURL}; got != want {
			t.Errorf("%s: got %v, want %v", arn, got, want)
		}
	}
}
