// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// askForEverything lets the only look read clients and groups of all names.
func askForEverything(want, _ *UserPoolState) bool {
	want.Everything = true
	return false
}

// exported declares a pool as it is, with the members that a spec can declare.
func exported(cr *v1alpha1.CognitoUserPool, have UserPoolState) {
	out := &cr.Spec
	out.PoolName, out.AdminCreateUserOnly, out.PasswordPolicy, out.DeletionProtection = aws.ToString(have.Found.Name), have.AdminCreates, have.Password, have.DeletionProtection
	out.UsernameAttributes, out.AutoVerifiedAttributes = kind.Convert[[]v1alpha1.CognitoContact](have.Found.UsernameAttributes), kind.NonEmptyList(kind.Convert[*[]v1alpha1.CognitoContact](have.AutoVerified))
	out.Domain = kind.NonEmpty(have.Found.Domain)
	if mode := aws.ToString(have.MFA); slices.Contains([]string{"OFF", "OPTIONAL", "ON"}, mode) {
		out.MFA = &mode
	}
	for _, name := range kind.SortedKeys(have.Clients) {
		if c := have.Clients[name]; isDeclarable(name, *c) {
			out.Clients = append(out.Clients, v1alpha1.CognitoUserPoolClient{Name: name, CallbackURLs: kind.Convert[[]v1alpha1.CognitoURL](c.CallbackURLs),
				LogoutURLs: kind.NonEmptyList(kind.Convert[*[]v1alpha1.CognitoURL](c.LogoutURLs)), Scopes: kind.Convert[[]v1alpha1.CognitoScope](c.Scopes)})
		}
	}
	for _, name := range kind.SortedKeys(have.Groups) {
		if g := have.Groups[name]; groupName.MatchString(name) {
			out.Groups = append(out.Groups, v1alpha1.CognitoUserPoolGroup{Name: name, Description: kind.NonEmpty(g.Description), Precedence: g.Precedence})
		}
	}
}

// The names that a spec can declare.
var (
	clientName = regexp.MustCompile(`^[A-Za-z0-9_+=,.@-]( ?[A-Za-z0-9_+=,.@-])*$`)
	groupName  = regexp.MustCompile(`^[A-Za-z0-9_+=,.@:/-]+$`)
)

// isDeclarable reports whether a spec can declare the client: a public one with the authorization code flow alone.
func isDeclarable(name string, c Client) bool {
	return clientName.MatchString(name) && !c.HasSecret && c.OAuth && slices.Equal(c.Flows, []string{"code"}) && len(c.CallbackURLs) > 0 && len(c.Scopes) > 0
}

// separateSettings are the settings of a user pool that no field says, with one read for each.
func (p *userPool) separateSettings() []kind.SeparateSetting[UserPoolState] {
	return []kind.SeparateSetting[UserPoolState]{
		kind.ReadSeparately(kind.ImportRead{Setting: "identityProviders", Action: "cognito-idp:ListIdentityProviders"}, p.api.ListIdentityProviders,
			func(have UserPoolState) *cognitoidentityprovider.ListIdentityProvidersInput {
				return &cognitoidentityprovider.ListIdentityProvidersInput{UserPoolId: &have.ID}
			},
			func(out *cognitoidentityprovider.ListIdentityProvidersOutput) bool { return len(out.Providers) > 0 }),
		kind.ReadSeparately(kind.ImportRead{Setting: "logConfigurations", Action: "cognito-idp:GetLogDeliveryConfiguration"}, p.api.GetLogDeliveryConfiguration,
			func(have UserPoolState) *cognitoidentityprovider.GetLogDeliveryConfigurationInput {
				return &cognitoidentityprovider.GetLogDeliveryConfigurationInput{UserPoolId: &have.ID}
			},
			func(out *cognitoidentityprovider.GetLogDeliveryConfigurationOutput) bool {
				return len(kind.NonNil(out.LogDeliveryConfiguration).LogConfigurations) > 0
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "resourceServers", Action: "cognito-idp:ListResourceServers"}, p.api.ListResourceServers,
			func(have UserPoolState) *cognitoidentityprovider.ListResourceServersInput {
				return &cognitoidentityprovider.ListResourceServersInput{UserPoolId: &have.ID}
			},
			func(out *cognitoidentityprovider.ListResourceServersOutput) bool { return len(out.ResourceServers) > 0 }),
		kind.ReadSeparately(kind.ImportRead{Setting: "riskConfiguration", Action: "cognito-idp:DescribeRiskConfiguration"}, p.api.DescribeRiskConfiguration,
			func(have UserPoolState) *cognitoidentityprovider.DescribeRiskConfigurationInput {
				return &cognitoidentityprovider.DescribeRiskConfigurationInput{UserPoolId: &have.ID}
			},
			func(out *cognitoidentityprovider.DescribeRiskConfigurationOutput) bool {
				return kind.NonNil(out.RiskConfiguration).LastModifiedDate != nil
			}).If(protectsFromRisks),
	}
}

// protectsFromRisks reports whether the pool has the add-on for threats.
func protectsFromRisks(have UserPoolState) bool {
	mode := kind.NonNil(have.Found.UserPoolAddOns).AdvancedSecurityMode
	return mode != "" && mode != types.AdvancedSecurityModeTypeOff
}
