// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// WhyNotPassed says why a user must not give a role, by name or ARN, to an AWS service (iam:PassRole); empty when
// they may. A person who may write objects would otherwise act, through the service, with the rights of any role that the
// provider's identity may pass. A role by name is allowed only under the provider's rolePathPrefix, and not at all
// where the provider bounds every role, because nothing shows the boundary of a role that no IAMRole declares.
func WhyNotPassed(sc Scope, role string) string {
	if role == "" || sc.Deleting || sc.Observing {
		return ""
	}
	account, name := roleOf(sc.Place, role)
	prefix := "/" + strings.Trim(sc.Guards.RolePath, "/")
	if prefix != "/" {
		prefix += "/"
	}
	switch {
	case sc.Guards.Boundary != "":
		return fmt.Sprintf("the provider bounds every role by %s, and whether this role is bounded is not known", sc.Guards.Boundary)
	case sc.Guards.RolePath == "":
		return "needs rolePathPrefix on the AWSProvider, which says what roles may be given to AWS services"
	case account != sc.Account:
		return fmt.Sprintf("the role is in account %s and the provider in %s", account, sc.Account)
	case !isRoleOf(sc.Place, role):
		return "an ARN of a role begins with arn:" + sc.Partition + ":iam:"
	case !strings.HasPrefix(name, prefix), strings.Contains(name, "/../"), strings.Contains(name, "/./"):
		return fmt.Sprintf("the provider lets only roles under %s be given to AWS services", prefix)
	default:
		return ""
	}
}

// Roles reads the roles that a resource acts as, each as an ARN or a name. It leaves out roles for actions of AWS that the user of the
// resource cannot control, such as the metrics of a database.
type Roles[S any] struct {
	// Of returns those that a state shows, wanted or found; nil is none.
	Of func(s S) []string
	// Read reads those that no look shows, and Actions are its IAM actions.
	Read    func(ctx context.Context, have S) ([]string, error)
	Actions []string
}

// whyNotAdopted returns why a resource must not be adopted because it acts as a role that the provider does not pass; empty when it may. A
// user with write access to objects would otherwise act with the rights of that role. A role that the object declares was judged before.
func (r Roles[S]) whyNotAdopted(ctx context.Context, sc Scope, want, have S) (string, error) {
	var declared, found []string
	if r.Of != nil {
		declared, found = r.Of(want), r.Of(have)
	}
	if r.Read != nil {
		more, err := r.Read(ctx, have)
		if err != nil {
			return "", err
		}
		found = append(found, more...)
	}
	for _, role := range found {
		if slices.Contains(declared, role) {
			continue
		}
		if why := WhyNotPassed(sc, role); why != "" {
			return fmt.Sprintf("the resource acts as role %s, and an adoption would give the rights of that role to this namespace: %s; have an administrator change the role in AWS first", role, why), nil
		}
	}
	return "", nil
}

// IsCaller reports whether the operator, or the provider of an object, calls AWS as the role with a name in the account of the scope.
// The ARN of a session carries no path, and names of roles are unique in an account whatever their path.
func IsCaller(sc Scope, role string) (bool, error) {
	if sc.Callers == nil {
		return false, nil
	}
	callers, err := sc.Callers()
	return slices.ContainsFunc(callers, func(arn string) bool {
		parts := strings.SplitN(arn, ":", 6)
		if len(parts) < 6 || parts[4] != sc.Account {
			return false
		}
		words := strings.Split(parts[5], "/")
		return len(words) > 1 && words[0] == "assumed-role" && words[1] == role
	}), err
}

// isRoleOf reports whether the text that names a role is not an ARN of another partition or service. Such an ARN gives no role.
func isRoleOf(at Place, role string) bool {
	return !strings.HasPrefix(role, "arn:") || at.Partition == "" || strings.HasPrefix(role, "arn:"+at.Partition+":iam:")
}

// roleOf splits a role's ARN, or a name with or without its path, into account and path with name.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
func roleOf(at Place, role string) (account, name string) {
	parts := strings.SplitN(role, ":", 6)
	if len(parts) < 6 {
		return at.Account, "/" + strings.TrimPrefix(role, "/")
	}
	return parts[4], strings.TrimPrefix(parts[5], "role")
}
