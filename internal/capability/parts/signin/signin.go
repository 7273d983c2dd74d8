// SPDX-License-Identifier: Apache-2.0

// Package signin implements spec.dataServices.cognito, the sign-in of users.
package signin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
)

const (
	usersPurpose = "users"
	// SignInClient is the name of the only app client of a capability's user pool.
	SignInClient = "app"
	// defaultCallback is the path of a capability that declares no callback.
	defaultCallback  = "/callback"
	minimumPassword  = 12
	temporaryPwdDays = 7
)

var (
	defaultGroups = []nexusv1.UserGroup{"admin", "operator", "viewer"}
	// reservedInDomains are the words that Cognito refuses in the prefix of a domain.
	// https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-assign-domain-prefix.html
	reservedInDomains = []string{"aws", "amazon", "cognito"}
)

// Names of the sign-in: of its kind and step.
const (
	kindPool    = "CognitoUserPool"
	StepCognito = "Cognito"
)

// Part is spec.cognito.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Name: StepCognito, Phase: nexusv1.PhaseProvisioningCognito, Condition: nexusv1.ConditionCognitoReady}},
		Kinds: []part.KindFacts{{
			Kind: kindPool, Step: StepCognito, Removed: part.Removal{Stage: part.RemovesData}, Proves: true, Store: true, IsBilled: true,
			Refusal: "is declared in spec.cognito",
			Prove: func(child awsv1.Resource, proof *part.Proof) {
				proof.Client = child.(*awsv1.CognitoUserPool).Status.ClientIDs[SignInClient]
			},
			Doom: func(c *nexusv1.NexusAICapability, want awsv1.Resource, _ bool) {
				want.(*awsv1.CognitoUserPool).Spec.DeletionProtection = new(part.EffectiveDeletionPolicy(c) != nexusv1.DeletionDelete)
			},
		}},
		Checks: []part.Turn[part.Checking]{part.At(1,
			func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkSignIn(v, &c.Spec) })},
		Compile: []func(*part.Compiler){addUserPool},
		Values: func(k *part.Compiler) []part.Value {
			return part.ValuesOf("cognito/", "NEXUS_COGNITO_", signInValues(k))
		},
		Publishes: []part.Turn[part.Publishing]{part.At(30, func(k *part.Compiler) []string { return []string{poolID(k)} })},
	}
}

// cognitoOf returns the settings of the sign-in with their defaults.
func cognitoOf(s *nexusv1.NexusAICapabilitySpec) nexusv1.CognitoSpec {
	var out nexusv1.CognitoSpec
	if s.Cognito != nil {
		out = *s.Cognito
	}
	if len(out.CallbackURLs) == 0 {
		out.CallbackURLs = []nexusv1.SignInURL{defaultCallback}
	}
	if len(out.Groups) == 0 {
		out.Groups = defaultGroups
	}
	return out
}

// poolID is the ID of the node of the user pool; "" without one.
func poolID(k *part.Compiler) string {
	if !k.Spec.EnableCognito {
		return ""
	}
	return kindPool + "/" + k.Names.Of(usersPurpose)
}

// addUserPool makes the user pool, with one public client for the frontend. It sets every field, so that a setting that a user removes
// returns to its default; MFA is left to the administrators of the pool.
func addUserPool(k *part.Compiler) {
	if !k.Spec.EnableCognito {
		return
	}
	in := cognitoOf(k.Spec)
	host := traffic.Settings(k.Spec).Host
	o := &awsv1.CognitoUserPool{Spec: awsv1.CognitoUserPoolSpec{
		PoolName:               k.Names.Of(usersPurpose),
		UsernameAttributes:     []awsv1.CognitoContact{"email"},
		AutoVerifiedAttributes: &[]awsv1.CognitoContact{"email"},
		AdminCreateUserOnly:    new(true),
		PasswordPolicy: &awsv1.CognitoPasswordPolicy{MinimumLength: new(int32(minimumPassword)), RequireLowercase: new(true),
			RequireUppercase: new(true),
			RequireNumbers:   new(true), RequireSymbols: new(true), TemporaryPasswordValidityDays: new(int32(temporaryPwdDays))},
		DeletionProtection: new(part.EffectiveDeletionPolicy(k.Capability) != nexusv1.DeletionDelete),
		Domain:             new(domainPrefix(k)),
		Clients: []awsv1.CognitoUserPoolClient{{Name: SignInClient, CallbackURLs: completed(in.CallbackURLs, host),
			LogoutURLs: new(completed(in.LogoutURLs, host)), Scopes: []awsv1.CognitoScope{"email", "openid", "profile"}}},
		RecreateOnLoss: in.RecreateOnLoss,
	}}
	for _, name := range slices.Sorted(slices.Values(in.Groups)) {
		o.Spec.Groups = append(o.Spec.Groups, awsv1.CognitoUserPoolGroup{Name: string(name), Description: new("")})
	}
	k.Resource(part.Child{Kind: kindPool, Name: k.Names.Of(usersPurpose), Step: StepCognito, Component: "cognito"}, o)
}

// completed returns the URLs in order, with the host before paths.
func completed(urls []nexusv1.SignInURL, host string) []awsv1.CognitoURL {
	out := make([]awsv1.CognitoURL, 0, len(urls))
	for _, u := range urls {
		if strings.HasPrefix(string(u), "/") {
			u = nexusv1.SignInURL("https://"+host) + u
		}
		out = append(out, awsv1.CognitoURL(u))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func domainPrefix(k *part.Compiler) string {
	return cmp.Or(cognitoOf(k.Spec).DomainPrefix, k.Names.Prefix()+"-"+k.Home.Account)
}

// signInValues returns the values that an application needs to sign users in and to check their tokens. The keys are the ends of the names
// of the parameters. Identifiers that AWS assigns are known once the pool is proven to be the capability's.
func signInValues(k *part.Compiler) map[string]string {
	id := poolID(k)
	if id == "" {
		return nil
	}
	proof, where := k.Proof(id), k.Home
	where.Partition = part.PartitionOf(where.Region) // the issuer depends on the region alone
	_, pool, _ := strings.Cut(proof.ARN, ":userpool/")
	pool = cmp.Or(pool, part.PlaceholderFor(id))
	return map[string]string{
		"user-pool-id": pool, "client-id": cmp.Or(proof.Client, part.PlaceholderFor(id)),
		"issuer":     "https://" + where.Service("cognito-idp") + "/" + pool,
		"domain-url": "https://" + domainPrefix(k) + ".auth." + k.Home.Region + ".amazoncognito.com",
	}
}

func checkSignIn(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec) {
	const at = "spec.cognito"
	v.Require(s.Cognito == nil || s.EnableCognito, at, "needs enableCognito: true")
	if !s.EnableCognito {
		return
	}
	in := cognitoOf(s)
	checkSignInURLs(v, at+".callbackURLs", in.CallbackURLs, s)
	checkSignInURLs(v, at+".logoutURLs", in.LogoutURLs, s)
	prefix := cmp.Or(in.DomainPrefix, s.CapabilityName+"-"+s.Environment)
	for _, word := range reservedInDomains {
		v.Require(!strings.Contains(prefix, word), at+".domainPrefix", "%q contains %s, which Cognito reserves: declare another domainPrefix",
			prefix, word)
	}
}

func checkSignInURLs(v *part.Verdict, at string, urls []nexusv1.SignInURL, s *nexusv1.NexusAICapabilitySpec) {
	host := traffic.Settings(s).Host
	for i, u := range urls {
		field := at
		if s.Cognito != nil && len(s.Cognito.CallbackURLs) > 0 {
			field = fmt.Sprintf("%s[%d]", at, i)
		}
		v.Require(!strings.HasPrefix(string(u), "/") || host != "" && !strings.HasPrefix(host, "*"), field,
			"%q is completed with spec.ingress.host: set the host, without *, or declare whole URLs", string(u))
	}
}
