package iam

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Effect    string
	Principal map[string]string
	Action    string
	Condition map[string]map[string]string
}

// irsaTrust lets exactly one ServiceAccount assume the role, by the tokens that the cluster issues for STS.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
func irsaTrust(sc kind.Scope, in v1alpha1.IAMRoleIRSA) (*string, error) {
	namespace := sc.Namespace
	if in.Namespace != "" && in.Namespace != sc.Namespace {
		if !sc.Trusted {
			return nil, notPermitted("spec.irsa.namespace", "a role can be given only to ServiceAccounts of the object's own namespace, %s", sc.Namespace)
		}
		namespace = in.Namespace
	}
	if sc.Issuer == "" {
		return nil, &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "the cluster's OIDC issuer to be known"}
	}
	issuer, ok := strings.CutPrefix(sc.Issuer, "https://")
	if !ok {
		return nil, status.Invalid("spec.irsa", "the cluster's OIDC issuer %s is no https URL, so AWS cannot trust its tokens", sc.Issuer)
	}
	return encoded(document{Version: "2012-10-17", Statement: []statement{{
		Effect:    "Allow",
		Principal: map[string]string{"Federated": "arn:" + sc.Partition + ":iam::" + sc.Account + ":oidc-provider/" + issuer},
		Action:    "sts:AssumeRoleWithWebIdentity",
		Condition: map[string]map[string]string{"StringEquals": {
			issuer + ":aud": "sts.amazonaws.com",
			issuer + ":sub": "system:serviceaccount:" + namespace + ":" + in.ServiceAccount,
		}},
	}}})
}

func encoded(v any) (*string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	s := strings.TrimSuffix(b.String(), "\n")
	return &s, err
}

// canonical parses a document and writes it anew, without white space and with no key twice: what is
// checked is what is sent.
func canonical(doc string) (string, error) {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil || v == nil {
		return "", errors.New("is not a JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("has more than one JSON object")
	}
	if len(statements(v)) == 0 {
		return "", errors.New("has no Statement")
	}
	s, err := encoded(v)
	return *s, err
}

// clause is one statement, read leniently: keys in any case, single values as lists of one.
type clause map[string]any

func statements(doc map[string]any) []clause {
	var out []clause
	for k, v := range doc {
		if !strings.EqualFold(k, "Statement") {
			continue
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, e := range list {
			if m, ok := e.(map[string]any); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// grants are the statements of a canonical document that give something. What is not plainly a Deny
// counts as one.
func grants(doc string) []clause {
	var v map[string]any
	if json.Unmarshal([]byte(doc), &v) != nil {
		return nil
	}
	var out []clause
	for _, c := range statements(v) {
		if effect := c.values("Effect"); len(effect) != 1 || effect[0] != "Deny" {
			out = append(out, c)
		}
	}
	return out
}

func (c clause) has(key string) bool {
	for k := range c {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// values are all strings at or below a key.
func (c clause) values(key string) []string {
	var out []string
	for k, v := range c {
		if strings.EqualFold(k, key) {
			out = append(out, texts(v)...)
		}
	}
	return out
}

func texts(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	}
	return out
}

// trustsAnybody says why a trust policy is refused: it lets in whoever asks, or nobody can tell whom.
func trustsAnybody(doc string) string {
	for _, c := range grants(doc) {
		if c.has("NotPrincipal") || c.has("NotAction") {
			return "NotPrincipal and NotAction trust everybody but some: name whom the role trusts"
		}
		for _, p := range c.values("Principal") {
			if strings.Trim(p, "*") == "" {
				return `principal "*" trusts everybody: name whom the role trusts`
			}
		}
	}
	return ""
}

// allowsTooMuch says why a permission policy is refused: it would let the role give rights, to itself
// and to others, beyond any review.
func allowsTooMuch(doc string, sc kind.Scope) string {
	for _, c := range grants(doc) {
		if c.has("NotAction") {
			return "NotAction allows everything but some: name the actions"
		}
		for _, a := range c.values("Action") {
			service, name, ok := strings.Cut(strings.ToLower(a), ":")
			if !ok {
				name = service
			}
			switch {
			case strings.Trim(name, "*?") != "":
			case service == "iam":
				return "iam:* would let the role give itself any right: name the actions"
			case like(service, "iam") && c.coversIAM(sc):
				return `action "*" on every resource is without bounds: name actions and resources`
			}
		}
	}
	return ""
}

// coversIAM says whether the clause reaches any of the account's roles, policies or users.
func (c clause) coversIAM(sc kind.Scope) bool {
	if c.has("NotResource") {
		return true
	}
	for _, r := range c.values("Resource") {
		for _, what := range []string{"role", "policy", "user", "group"} {
			if like(r, "arn:"+sc.Partition+":iam::"+sc.Account+":"+what+"/x") {
				return true
			}
		}
	}
	return false
}

// like matches IAM's wildcards: * is any text, ? one character. On a mismatch only the last star is
// tried anew, so that no pattern takes longer than the product of the lengths.
func like(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
