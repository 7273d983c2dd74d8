// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"slices"
	"strings"
)

// actionWebIdentity is the call that exchanges a token of a ServiceAccount for credentials of a role:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
const actionWebIdentity = "sts:AssumeRoleWithWebIdentity"

// ServiceAccount is a Kubernetes ServiceAccount as IAM recognizes its tokens.
type ServiceAccount struct {
	// Provider is the ARN of the IAM OIDC provider of the cluster's issuer.
	Provider string
	// Audience is the audience of the tokens.
	Audience string
	// Namespace and Name are those of the ServiceAccount.
	Namespace, Name string
}

// Trust is the statement that lets the ServiceAccount, and no other, assume a role:
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
func (a ServiceAccount) Trust() Statement {
	issuer := issuerOf(a.Provider)
	return Statement{
		Effect:    Allow,
		Principal: Principals{"Federated": {a.Provider}},
		Action:    Values{actionWebIdentity},
		Condition: Conditions{"StringEquals": {issuer + ":aud": {a.Audience}, issuer + ":sub": {a.subject()}}},
	}
}

func (a ServiceAccount) subject() string {
	return "system:serviceaccount:" + a.Namespace + ":" + a.Name
}

// issuerOf is the issuer, without its scheme, of an IAM OIDC provider: the prefix of its condition keys.
func issuerOf(provider string) string {
	_, issuer, _ := strings.Cut(provider, ":oidc-provider/")
	return issuer
}

// RepairTrust is a role's trust policy that lets the ServiceAccount assume the role. Statements that allow it by its name and name a
// provider that is gone, as that of a cluster that was created again, get the present provider, and keep their other conditions. Where no
// statement lets the ServiceAccount in, one is added. Everything else stays.
func (d Document) RepairTrust(a ServiceAccount, gone func(provider string) bool) Document {
	out := Document{Version: d.Version, ID: d.ID}
	for _, s := range d.Statement {
		if old := s.federated(); old != a.Provider && s.names(issuerOf(old)) && s.grantsTo(a, issuerOf(old)) && gone(old) {
			s = s.withProvider(old, a.Provider)
		}
		if !slices.ContainsFunc(out.Statement, func(have Statement) bool { return have.canonical() == s.canonical() }) {
			out.Statement = append(out.Statement, s)
		}
	}
	if !slices.ContainsFunc(out.Statement,
		func(s Statement) bool { return s.federated() == a.Provider && s.grantsTo(a, issuerOf(a.Provider)) }) {
		out.Statement = append(out.Statement, a.Trust())
	}
	return out
}

// federated is the one OIDC provider that a statement trusts; empty when it trusts another principal.
func (s Statement) federated() string {
	if names := s.Principal["Federated"]; len(s.Principal) == 1 && len(names) == 1 && issuerOf(names[0]) != "" {
		return names[0]
	}
	return ""
}

// names reports whether a statement limits the ServiceAccounts of an issuer by their name.
func (s Statement) names(issuer string) bool {
	for _, keys := range s.Condition {
		if _, ok := keys[issuer+":sub"]; ok {
			return true
		}
	}
	return false
}

// grantsTo reports whether a statement lets a ServiceAccount of an issuer in. Conditions about anything but the subject and
// the audience are taken as the administrator's further limits.
func (s Statement) grantsTo(a ServiceAccount, issuer string) bool {
	if s.Effect != Allow || issuer == "" ||
		!slices.ContainsFunc(s.Action, func(action string) bool { return strings.EqualFold(action, actionWebIdentity) }) {
		return false
	}
	for operator, keys := range s.Condition {
		for key, values := range keys {
			if !admits(operator, key, issuer, a, values) {
				return false
			}
		}
	}
	return true
}

// admits reports whether a condition of a trust policy admits a ServiceAccount.
func admits(operator, key, issuer string, a ServiceAccount, values Values) bool {
	name, ofIssuer := strings.CutPrefix(key, issuer+":")
	want := map[string]string{"aud": a.Audience, "sub": a.subject()}[name]
	if !ofIssuer || want == "" {
		return !strings.HasSuffix(key, ":sub") && !strings.HasSuffix(key, ":aud") // of another issuer: its tokens have no such key
	}
	switch operator {
	case "StringEquals":
		return slices.Contains(values, want)
	case "StringLike":
		return slices.ContainsFunc(values, func(pattern string) bool { return MatchesPattern(pattern, want) })
	default:
		return false // any other operator may exclude it: another statement is safer
	}
}

// withProvider replaces the provider of a statement, also in the keys of its conditions.
func (s Statement) withProvider(old, next string) Statement {
	s.Principal = Principals{"Federated": {next}}
	conditions := Conditions{}
	for operator, keys := range s.Condition {
		conditions[operator] = map[string]Values{}
		for key, values := range keys {
			if name, ok := strings.CutPrefix(key, issuerOf(old)+":"); ok {
				key = issuerOf(next) + ":" + name
			}
			conditions[operator][key] = values
		}
	}
	s.Condition = conditions
	return s
}

// PodIdentity is a Kubernetes ServiceAccount as EKS Pod Identity names it in the tags of a session.
type PodIdentity struct {
	// Cluster is the ARN of the EKS cluster.
	Cluster string
	// Namespace and Name are those of the ServiceAccount.
	Namespace, Name string
}

// Trust is the statement that lets EKS Pod Identity assume a role for the ServiceAccount, and for no other:
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
func (p PodIdentity) Trust() Statement {
	const tag = "aws:RequestTag/"
	return Statement{
		Effect:    Allow,
		Principal: Principals{"Service": {"pods.eks.amazonaws.com"}},
		Action:    Values{"sts:AssumeRole", "sts:TagSession"},
		Condition: Conditions{"StringEquals": {tag + "eks-cluster-arn": {p.Cluster}, tag + "kubernetes-namespace": {p.Namespace},
			tag + "kubernetes-service-account": {p.Name}}},
	}
}
