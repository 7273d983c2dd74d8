// SPDX-License-Identifier: Apache-2.0

// Package cognito is the kinds of Amazon Cognito.
package cognito

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// UserPoolState is a user pool as both the spec and Cognito can express it.
type UserPoolState struct {
	Search kind.Search `drift:"id"`
	Name   string      `drift:"identity"`
	// Guarded is true when the pool must not be deleted with its users.
	Guarded bool `drift:"id"`
	// Everything is true for an export: clients and groups of all names are read.
	Everything bool `drift:"id"`
	// KnownClients are the recorded IDs of the clients, by name.
	KnownClients map[string]string `drift:"id"`

	ID  string `drift:"id"`
	ARN string `drift:"id"`
	// Found is the complete answer of Cognito, because an update resets the settings that it leaves out. So are FoundMFA, and FoundClients
	// by the name of the client.
	Found        types.UserPoolType                                  `drift:"observed"`
	FoundMFA     *cognitoidentityprovider.GetUserPoolMfaConfigOutput `drift:"observed"`
	FoundClients map[string]types.UserPoolClientType                 `drift:"observed"`

	UsernameAttributes *[]string `drift:"immutable,set"`
	AutoVerified       *[]string `drift:"set"`
	AdminCreates       *bool
	Password           *v1alpha1.CognitoPasswordPolicy
	DeletionProtection *bool
	MFA                *string
	// Clients and Groups are by name; nil for one that the operator managed and the spec dropped.
	Clients map[string]*Client `drift:"keys"`
	Groups  map[string]*Group  `drift:"keys"`
	// Domains has the prefix of the domain as its only key.
	Domains map[string]*bool  `drift:"exact"`
	Tags    map[string]string `drift:"tags"`
}

// poolFields are the fields that UpdateUserPool sets.
var poolFields = []string{"AutoVerified", "AdminCreates", "Password", "DeletionProtection", "Tags"}

type userPool struct {
	api *cognitoidentityprovider.Client
}

// NewUserPool binds the CognitoUserPool kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncognitouserpools.html
func NewUserPool(cfg aws.Config) kind.Kind[*v1alpha1.CognitoUserPool, UserPoolState] {
	p := &userPool{api: cognitoidentityprovider.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.CognitoUserPool, UserPoolState]{
		Meta: kind.Meta{Facts: userPoolFacts(), Identity: kind.ByTag, HoldsData: true, Retains: true,
			Reads: []string{"cognito-idp:ListUserPoolClients", "cognito-idp:DescribeUserPoolDomain"}},
		Identify: identify, Declare: declare, Publish: publish, Refuse: refuse,
		Export:   kind.Export[*v1alpha1.CognitoUserPool, UserPoolState]{Identity: []string{"importID"}, Ask: askForEverything, Spec: exported, Separate: p.separateSettings()},
		Roles:    kind.Roles[UserPoolState]{Read: p.rolesOf},
		Describe: kind.Read[UserPoolState]{Actions: []string{"cognito-idp:DescribeUserPool", "cognito-idp:ListUserPools"}, Do: p.describe},
		Create:   kind.Call[UserPoolState]{Action: "cognito-idp:CreateUserPool", DoForID: p.create},
		// Cognito refuses some changes of a pool while another one is under way.
		OneByOne: true, DefaultsWhenNew: true,
		Parts: slices.Concat([]kind.Part[UserPoolState]{
			{Fields: []string{"UsernameAttributes"}, InCreate: true},
			{Fields: poolFields, InCreate: true, Write: kind.Call[UserPoolState]{Action: "cognito-idp:UpdateUserPool", DoDiff: kind.SendDiff(p.api.UpdateUserPool, update)}},
			{Fields: []string{"MFA"}, Reads: "cognito-idp:GetUserPoolMfaConfig", Read: p.readMFA, NeedsLook: true,
				Default: func(want UserPoolState) bool { return aws.ToString(want.MFA) == string(types.UserPoolMfaTypeOff) },
				Write:   kind.Call[UserPoolState]{Action: "cognito-idp:SetUserPoolMfaConfig", Do: kind.Send(p.api.SetUserPoolMfaConfig, mfaConfig)}},
		}, p.members()),
		// The look that follows the deletion searches by tags: it finds a duplicate that a lost answer left behind.
		Delete: []kind.Ending[UserPoolState]{
			{When: func(want, have UserPoolState) bool {
				return aws.ToBool(have.DeletionProtection) && kind.IsFalse(want.DeletionProtection)
			},
				Call: kind.Call[UserPoolState]{Action: "cognito-idp:UpdateUserPool", Do: kind.Send(p.api.UpdateUserPool, func(want, have UserPoolState) *cognitoidentityprovider.UpdateUserPoolInput {
					return update(want, have, nil)
				})}},
			{Each: domainsOf, When: func(want, have UserPoolState) bool { return len(domainsOf(want, have)) > 0 }, DoKey: p.removeDomain,
				Call: kind.Call[UserPoolState]{Action: "cognito-idp:DeleteUserPoolDomain", Effect: kind.Empties}},
			{Then: true, Call: kind.Call[UserPoolState]{Action: "cognito-idp:DeleteUserPool", Effect: kind.Deletes, Do: kind.Send(p.api.DeleteUserPool, func(_, have UserPoolState) *cognitoidentityprovider.DeleteUserPoolInput {
				return &cognitoidentityprovider.DeleteUserPoolInput{UserPoolId: &have.ID}
			})}},
		},
	})
}

// identify includes the deletion protection: false is the consent to lift it for a deletion.
func identify(sc kind.Scope, cr *v1alpha1.CognitoUserPool) (UserPoolState, error) {
	return UserPoolState{Search: sc.Search, Name: cr.Spec.PoolName, Guarded: sc.Data.Guarded, KnownClients: cr.Status.ClientIDs,
		DeletionProtection: cr.Spec.DeletionProtection, Tags: sc.Tags}, nil
}

func declare(sc kind.Scope, cr *v1alpha1.CognitoUserPool, want *UserPoolState) error {
	in := cr.Spec
	want.UsernameAttributes, want.AutoVerified = kind.Convert[*[]string](in.UsernameAttributes), kind.Convert[*[]string](in.AutoVerifiedAttributes)
	want.AdminCreates, want.Password, want.MFA = in.AdminCreateUserOnly, in.PasswordPolicy, in.MFA
	want.Clients = kind.WantedMembers(slices.Concat(cr.Status.ManagedClients, sc.Keys["Clients"]), in.Clients, wantedClient)
	want.Groups = kind.WantedMembers(slices.Concat(cr.Status.ManagedGroups, sc.Keys["Groups"]), in.Groups, wantedGroup)
	if in.Domain != nil {
		want.Domains = kind.KeySet(*in.Domain)
	}
	return nil
}

// publish also records the names of the clients and groups, so that they are deleted when the spec drops them.
func publish(cr *v1alpha1.CognitoUserPool, s UserPoolState) {
	st := &cr.Status
	st.ID, st.ARN, st.UserPoolID, st.Domain = s.ID, s.ARN, s.ID, aws.ToString(s.Found.Domain)
	if where, err := arn.Parse(s.ARN); err == nil {
		st.Issuer = fmt.Sprintf("https://cognito-idp.%s.%s/%s", where.Region, wellknown.DNSSuffix(where.Partition), s.ID)
		st.DomainURL = kind.Either(st.Domain == "", "", "https://"+st.Domain+signInHost(where.Partition)+where.Region+".amazoncognito.com")
	}
	if s.Clients != nil {
		st.ClientIDs = map[string]string{}
		for name, c := range s.FoundClients {
			st.ClientIDs[name] = aws.ToString(c.ClientId)
		}
		st.ManagedClients = kind.ManagedMembers(s.Clients, cr.Spec.Clients, func(c v1alpha1.CognitoUserPoolClient) string { return c.Name })
	}
	if s.Groups != nil {
		st.ManagedGroups = kind.ManagedMembers(s.Groups, cr.Spec.Groups, func(g v1alpha1.CognitoUserPoolGroup) string { return g.Name })
	}
}

// signInHost is between the prefix of a domain and the region: in GovCloud all domains have the FIPS form.
// https://docs.aws.amazon.com/govcloud-us/latest/UserGuide/govcloud-cog.html
func signInHost(partition string) string {
	return kind.Either(partition == "aws-us-gov", ".auth-fips.", ".auth.")
}

// refuse names a client that cannot become a public one.
func refuse(_, have UserPoolState, diff kind.Diff) error {
	for _, name := range kind.SortedKeys(have.Clients) {
		if have.Clients[name].HasSecret && diff.Under("Clients["+name+"].HasSecret") {
			return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.clients", Message: "the client " + name +
				" exists and has a secret, which Cognito cannot remove: delete it in Cognito, or declare a client of another name"}
		}
	}
	return nil
}

// domainsOf are the domains that keep Cognito from deleting the pool.
func domainsOf(_, have UserPoolState) []string {
	return kind.SortedKeys(kind.KeySet(aws.ToString(have.Found.CustomDomain), aws.ToString(have.Found.Domain)))
}

func (p *userPool) create(ctx context.Context, want UserPoolState, _ string) (string, error) {
	in := kind.Convert[cognitoidentityprovider.CreateUserPoolInput](update(want, UserPoolState{}, nil))
	in.PoolName, in.UserPoolTags, in.UsernameAttributes = &want.Name, want.Tags, kind.Convert[[]types.UsernameAttributeType](want.UsernameAttributes)
	out, err := p.api.CreateUserPool(ctx, &in)
	return aws.ToString(kind.NonNil(kind.NonNil(out).UserPool).Id), err
}

// update returns the found settings with the declared ones. UpdateUserPool resets every setting that it leaves out.
// https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_UpdateUserPool.html
func update(want, have UserPoolState, diff kind.Diff) *cognitoidentityprovider.UpdateUserPoolInput {
	in := kind.Convert[cognitoidentityprovider.UpdateUserPoolInput](have.Found)
	in.UserPoolId, in.PoolName = &have.ID, have.Found.Name
	set, removed := diff.Keys("Tags")
	in.UserPoolTags = kind.MergeTags(have.Tags, kind.Only(want.Tags, set), removed)
	if want.DeletionProtection != nil {
		in.DeletionProtection = kind.Either(*want.DeletionProtection, types.DeletionProtectionTypeActive, types.DeletionProtectionTypeInactive)
	}
	declared := settings{AutoVerifiedAttributes: want.AutoVerified}
	declared.AdminCreateUserConfig.AllowAdminCreateUserOnly = want.AdminCreates
	if want.Password != nil {
		passwords := *cmp.Or(kind.NonNil(in.Policies).PasswordPolicy, newPasswords())
		kind.Overlay(&passwords, want.Password)
		declared.Policies = &policies{passwords}
	}
	kind.Overlay(&in, declared)
	if policy := kind.NonNil(in.Policies).PasswordPolicy; policy != nil && policy.TemporaryPasswordValidityDays != 0 {
		in.AdminCreateUserConfig.UnusedAccountValidityDays = 0 // Cognito reports both, and refuses a request with both
	}
	kind.DropEmpty(&in)
	return &in
}

// settings are the declared members of UpdateUserPoolInput.
type settings struct {
	AutoVerifiedAttributes *[]string
	AdminCreateUserConfig  struct{ AllowAdminCreateUserOnly *bool }
	Policies               *policies
}

type policies struct{ PasswordPolicy types.PasswordPolicyType }

// newPasswords are Cognito's defaults for a pool without a policy.
// https://docs.aws.amazon.com/cognito/latest/developerguide/managing-users-passwords.html
func newPasswords() *types.PasswordPolicyType {
	return &types.PasswordPolicyType{MinimumLength: aws.Int32(8), RequireLowercase: true, RequireNumbers: true, RequireSymbols: true, RequireUppercase: true, TemporaryPasswordValidityDays: 7}
}

// mfaConfig permits authenticator apps in addition to the found factors. SetUserPoolMfaConfig takes the whole configuration, and refuses to
// turn MFA off and to configure one of its factors in one request.
func mfaConfig(want, have UserPoolState) *cognitoidentityprovider.SetUserPoolMfaConfigInput {
	in := kind.Convert[cognitoidentityprovider.SetUserPoolMfaConfigInput](have.FoundMFA)
	in.UserPoolId, in.MfaConfiguration = &have.ID, types.UserPoolMfaType(*want.MFA)
	if in.MfaConfiguration == types.UserPoolMfaTypeOff {
		return &cognitoidentityprovider.SetUserPoolMfaConfigInput{UserPoolId: in.UserPoolId, MfaConfiguration: in.MfaConfiguration, WebAuthnConfiguration: in.WebAuthnConfiguration}
	}
	in.SoftwareTokenMfaConfiguration = &types.SoftwareTokenMfaConfigType{Enabled: true}
	kind.DropEmpty(&in)
	return &in
}

// page is the largest page of Cognito's lists.
const page = 60

// describe finds the pool by its ID, and otherwise by its name and its tags.
func (p *userPool) describe(ctx context.Context, want UserPoolState, _ kind.Look) (kind.Seen[UserPoolState], error) {
	finder := kind.Finder[types.UserPoolType]{
		ByID: p.byID,
		ByTags: func(ctx context.Context, _ map[string][]string) ([]types.UserPoolType, error) {
			return p.byTags(ctx, want.Name)
		}, Unfiltered: true,
		ID:   func(found types.UserPoolType) string { return aws.ToString(found.Id) },
		Tags: func(found types.UserPoolType) map[string]string { return found.UserPoolTags },
	}
	found, duplicates, err := finder.Find(ctx, want.Search)
	if err != nil || found == nil {
		return kind.Seen[UserPoolState]{}, err
	}
	have := UserPoolState{
		Name: want.Name, ID: aws.ToString(found.Id), ARN: aws.ToString(found.Arn), Found: *found, Tags: found.UserPoolTags,
		UsernameAttributes: kind.Ptr(kind.Convert[[]string](found.UsernameAttributes)), AutoVerified: kind.Ptr(kind.Convert[[]string](found.AutoVerifiedAttributes)),
		AdminCreates: aws.Bool(kind.NonNil(found.AdminCreateUserConfig).AllowAdminCreateUserOnly), DeletionProtection: aws.Bool(found.DeletionProtection == types.DeletionProtectionTypeActive),
		Password: kind.Convert[*v1alpha1.CognitoPasswordPolicy](kind.NonNil(found.Policies).PasswordPolicy), Domains: kind.KeySet(aws.ToString(found.Domain)),
	}
	return kind.Seen[UserPoolState]{Exists: true, State: have, Tags: found.UserPoolTags, Created: aws.ToTime(found.CreationDate), Duplicates: duplicates, Holds: holds(want, have)}, nil
}

// holds are the reasons not to delete the pool. Cognito estimates the number of users.
func holds(want, have UserPoolState) []kind.Hold {
	var out []kind.Hold
	if users := have.Found.EstimatedNumberOfUsers; want.Guarded && users > 0 {
		out = append(out, kind.Hold{Reason: status.ReasonDataWouldBeLost, Message: fmt.Sprintf("the user pool to be empty: it holds about %d users", users)})
	}
	if *have.DeletionProtection && !kind.IsFalse(want.DeletionProtection) {
		out = append(out, kind.Hold{Reason: status.ReasonDeletionProtected, Message: "the deletion protection of the user pool to be removed: " +
			"set deletionProtection: false to delete the pool, or deletionPolicy: Retain to keep it"})
	}
	return out
}

func (p *userPool) byID(ctx context.Context, id string) (*types.UserPoolType, error) {
	out, err := awsclient.Lookup(ctx, p.api.DescribeUserPool, &cognitoidentityprovider.DescribeUserPoolInput{UserPoolId: &id})
	return kind.NonNil(out).UserPool, err
}

// byTags describes the pools of the name, because Cognito lists pools without their tags.
func (p *userPool) byTags(ctx context.Context, name string) ([]types.UserPoolType, error) {
	in := &cognitoidentityprovider.ListUserPoolsInput{MaxResults: aws.Int32(page)}
	all, err := kind.Pages(ctx, p.api.ListUserPools, in, &in.NextToken, func(out *cognitoidentityprovider.ListUserPoolsOutput) ([]types.UserPoolDescriptionType, *string) {
		return out.UserPools, out.NextToken
	})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, listed := range all {
		if aws.ToString(listed.Name) == name {
			ids = append(ids, aws.ToString(listed.Id))
		}
	}
	return kind.DescribeEach(ctx, ids, p.byID)
}

// readMFA reports MFA without authenticator apps as a separate mode, which no spec declares.
func (p *userPool) readMFA(ctx context.Context, _ UserPoolState, have *UserPoolState) error {
	out, err := p.api.GetUserPoolMfaConfig(ctx, &cognitoidentityprovider.GetUserPoolMfaConfigInput{UserPoolId: &have.ID})
	if err != nil {
		return err
	}
	mode := cmp.Or(out.MfaConfiguration, types.UserPoolMfaTypeOff)
	withoutApps := mode != types.UserPoolMfaTypeOff && !kind.NonNil(out.SoftwareTokenMfaConfiguration).Enabled
	have.FoundMFA, have.MFA = out, kind.Ptr(string(mode)+kind.Either(withoutApps, " without authenticator apps", ""))
	return nil
}
