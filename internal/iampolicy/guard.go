// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// grants returns the statements that may grant something: all but those with exactly the effect Deny.
func (d Document) grants() []Statement {
	var out []Statement
	for _, s := range d.Statement {
		if s.Effect != Deny {
			out = append(out, s)
		}
	}
	return out
}

// CheckTrust returns an error that says why a trust policy is refused: it trusts every identity, or an
// open set of identities.
func CheckTrust(d Document) error {
	for _, s := range d.grants() {
		if s.NotPrincipal != nil || s.NotAction != nil {
			return errors.New("NotPrincipal and NotAction trust all identities except the named ones: use Principal and Action to name the trusted ones")
		}
		for _, names := range s.Principal {
			for _, name := range names {
				if strings.Trim(name, "*") == "" {
					return errors.New(`principal "*" trusts every AWS account: name the trusted accounts, roles or services`)
				}
				if strings.ContainsAny(name, "*?") { // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
					return fmt.Errorf("principal %q is a pattern, which IAM does not match: name the trusted accounts, roles or services", name)
				}
			}
		}
	}
	return nil
}

// CheckPermissions returns an error that says why a permission policy is refused: its holder could grant
// permissions to itself or to others. Resources of IAM are those of the given partition and account.
func CheckPermissions(d Document, partition, account string) error {
	for _, s := range d.grants() {
		if s.NotAction != nil {
			return errors.New("NotAction allows all actions except the named ones: use Action to name the allowed ones")
		}
		for _, a := range s.Action {
			service, name, ok := strings.Cut(strings.ToLower(a), ":")
			if !ok {
				name = service
			}
			switch {
			case strings.Trim(name, "*?") != "":
			case service == "iam":
				return errors.New("iam:* allows the role to grant itself any permission: name the actions")
			case MatchesPattern(service, "iam") && s.coversIAM(partition, account):
				return errors.New(`action "*" on resources of IAM allows the role to grant itself any permission: name the actions and the resources`)
			}
		}
	}
	return nil
}

// coversIAM reports whether the resources include any role, policy, user or group of the account.
func (s Statement) coversIAM(partition, account string) bool {
	if s.NotResource != nil {
		return true
	}
	for _, r := range s.Resource {
		for _, kind := range []string{"role", "policy", "user", "group"} {
			if MatchesPattern(r, "arn:"+partition+":iam::"+account+":"+kind+"/x") {
				return true
			}
		}
	}
	return false
}

// uniqueID is the ID of a user or a role:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
var uniqueID = regexp.MustCompile(`^A(IDA|ROA)[A-Z0-9]{12,124}$`)

// CheckPrincipals returns an error if a principal is a unique ID or a canonical user. AWS shows the ARN of such a principal. AWS returns
// the ARN of a principal that exists, so a document that names the ID would never equal the stored one; AWS refuses the ID of a deleted
// principal.
func CheckPrincipals(d Document) error {
	for i, s := range d.Statement {
		for element, principals := range map[string]Principals{"Principal": s.Principal, "NotPrincipal": s.NotPrincipal} {
			for _, name := range principals["CanonicalUser"] {
				return fmt.Errorf("%s: AWS shows an ARN instead of the canonical user %.12s…: name arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity ID, "+
					"or arn:aws:iam::ACCOUNT:root for an account", fmt.Sprintf("Statement[%d].%s", i, element), name)
			}
			for _, name := range principals["AWS"] {
				if uniqueID.MatchString(name) {
					return fmt.Errorf("%s: %s is the unique ID of a user or role: name its ARN, or remove the ID if the user or role was deleted",
						fmt.Sprintf("Statement[%d].%s", i, element), name)
				}
			}
		}
	}
	return nil
}

// MatchesPattern reports whether a pattern with IAM's wildcards matches: * is any text, ? is one character.
// After a mismatch only the last star is tried again, so the time is at most the product of the lengths.
func MatchesPattern(pattern, s string) bool {
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
