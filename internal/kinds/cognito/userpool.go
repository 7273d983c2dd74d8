// SPDX-License-Identifier: Apache-2.0

// Package cognito is the kinds of Amazon Cognito.
package cognito

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
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
	// Found is everything that Cognito returned: an update resets what it leaves out. So are FoundMFA and FoundClients, by
	// the name of the client.
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
		Meta: kind.Meta{Identity: kind.ByTag, HoldsData: true, Retains: true,
			Reads: []string{"cognito-idp:ListUserPoolClients", "cognito-idp:DescribeUserPoolDomain"}},
		Identify: identify, Declare: declare, Publish: publish, Refuse: refuse,
		Export:   kind.Export[*v1alpha1.CognitoUserPool, UserPoolState]{Identity: []string{"importID"}, Ask: askForEverything, Spec: exported},
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
				return aws.ToBool(have.DeletionProtection) && liftsProtection(want)
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
	return UserPoolState{Search: sc.Search(), Name: cr.Spec.PoolName, Guarded: sc.GuardData, KnownClients: cr.Status.ClientIDs,
		DeletionProtection: cr.Spec.DeletionProtection, Tags: sc.Tags}, nil
}

func declare(sc kind.Scope, cr *v1alpha1.CognitoUserPool, want *UserPoolState) error {
	in := cr.Spec
	want.UsernameAttributes, want.AutoVerified = kind.Convert[*[]string](in.UsernameAttributes), kind.Convert[*[]string](in.AutoVerifiedAttributes)
	want.AdminCreates, want.Password, want.MFA = in.AdminCreateUserOnly, in.PasswordPolicy, in.MFA
	want.Clients = kind.WantedMembers(slices.Concat(cr.Status.ManagedClients, sc.Keys["Clients"]), in.Clients, wantedClient)
	want.Groups = kind.WantedMembers(slices.Concat(cr.Status.ManagedGroups, sc.Keys["Groups"]), in.Groups, wantedGroup)
	if in.Domain != nil {
		want.Domains = map[string]*bool{}
		if *in.Domain != "" {
			want.Domains[*in.Domain] = aws.Bool(true)
		}
	}
	return nil
}

// publish also records the names of the clients and groups, so that they are deleted when the spec drops them.
func publish(cr *v1alpha1.CognitoUserPool, s UserPoolState) {
	st := &cr.Status
	st.ID, st.ARN, st.UserPoolID, st.Domain = s.ID, s.ARN, s.ID, aws.ToString(s.Found.Domain)
	if where, err := arn.Parse(s.ARN); err == nil {
		st.Issuer = fmt.Sprintf("https://cognito-idp.%s.%s/%s", where.Region, kind.Either(where.Partition == "aws-cn", "amazonaws.com.cn", "amazonaws.com"), s.ID)
		st.DomainURL = kind.Either(st.Domain == "", "", "https://"+st.Domain+".auth."+where.Region+".amazoncognito.com")
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

// liftsProtection reports whether the spec consents to removing the deletion protection.
func liftsProtection(want UserPoolState) bool {
	return want.DeletionProtection != nil && !*want.DeletionProtection
}

// domainsOf are the domains with which Cognito refuses to delete the pool.
func domainsOf(_, have UserPoolState) []string {
	return slices.DeleteFunc([]string{aws.ToString(have.Found.CustomDomain), aws.ToString(have.Found.Domain)}, func(d string) bool { return d == "" })
}

func (p *userPool) create(ctx context.Context, want UserPoolState, _ string) (string, error) {
	in := &cognitoidentityprovider.CreateUserPoolInput{PoolName: &want.Name, UserPoolTags: want.Tags, DeletionProtection: protection(want),
		UsernameAttributes: kind.Convert[[]types.UsernameAttributeType](want.UsernameAttributes), AutoVerifiedAttributes: kind.Convert[[]types.VerifiedAttributeType](want.AutoVerified)}
	if want.AdminCreates != nil {
		in.AdminCreateUserConfig = &types.AdminCreateUserConfigType{AllowAdminCreateUserOnly: *want.AdminCreates}
	}
	if want.Password != nil {
		in.Policies = withPassword(nil, want.Password)
	}
	out, err := p.api.CreateUserPool(ctx, in)
	if err != nil || out.UserPool == nil {
		return "", err
	}
	return aws.ToString(out.UserPool.Id), nil
}

// update returns what was found with the declared settings. UpdateUserPool resets every setting that it leaves out.
// https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_UpdateUserPool.html
func update(want, have UserPoolState, diff kind.Diff) *cognitoidentityprovider.UpdateUserPoolInput {
	in := kind.Convert[cognitoidentityprovider.UpdateUserPoolInput](have.Found)
	in.UserPoolId, in.PoolName = &have.ID, have.Found.Name
	set, removed := diff.Keys("Tags")
	in.UserPoolTags = kind.MergeTags(have.Tags, kind.Only(want.Tags, set), removed)
	if want.DeletionProtection != nil {
		in.DeletionProtection = protection(want)
	}
	if want.AutoVerified != nil {
		in.AutoVerifiedAttributes = kind.Convert[[]types.VerifiedAttributeType](want.AutoVerified)
	}
	if want.Password != nil {
		in.Policies = withPassword(in.Policies, want.Password)
	}
	users := *kind.NonNil(in.AdminCreateUserConfig)
	if want.AdminCreates != nil {
		users.AllowAdminCreateUserOnly = *want.AdminCreates
	}
	if policy := kind.NonNil(in.Policies).PasswordPolicy; policy != nil && policy.TemporaryPasswordValidityDays != 0 {
		users.UnusedAccountValidityDays = 0 // Cognito reports both, and refuses a request with both
	}
	in.AdminCreateUserConfig = &users
	return &in
}

// withPassword returns the policies with the declared settings of passwords. A pool without a policy has Cognito's
// defaults: https://docs.aws.amazon.com/cognito/latest/developerguide/managing-users-passwords.html
func withPassword(found *types.UserPoolPolicyType, want *v1alpha1.CognitoPasswordPolicy) *types.UserPoolPolicyType {
	out := *kind.NonNil(found)
	policy := types.PasswordPolicyType{MinimumLength: aws.Int32(8), RequireLowercase: true, RequireNumbers: true, RequireSymbols: true, RequireUppercase: true, TemporaryPasswordValidityDays: 7}
	if out.PasswordPolicy != nil {
		policy = *out.PasswordPolicy
	}
	kind.Overlay(&policy, want)
	out.PasswordPolicy = &policy
	return &out
}

// protection returns the declared deletion protection as Cognito names it; "" where none is declared.
func protection(want UserPoolState) types.DeletionProtectionType {
	switch {
	case want.DeletionProtection == nil:
		return ""
	case *want.DeletionProtection:
		return types.DeletionProtectionTypeActive
	default:
		return types.DeletionProtectionTypeInactive
	}
}

// mfaConfig permits authenticator apps beside what was found. SetUserPoolMfaConfig takes the whole configuration.
func mfaConfig(want, have UserPoolState) *cognitoidentityprovider.SetUserPoolMfaConfigInput {
	in := kind.Convert[cognitoidentityprovider.SetUserPoolMfaConfigInput](have.FoundMFA)
	in.UserPoolId, in.MfaConfiguration = &have.ID, types.UserPoolMfaType(*want.MFA)
	if in.MfaConfiguration != types.UserPoolMfaTypeOff {
		in.SoftwareTokenMfaConfiguration = &types.SoftwareTokenMfaConfigType{Enabled: true}
	}
	return &in
}
