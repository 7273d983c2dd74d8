// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
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
	account, name := roleOf(sc, role)
	prefix := "/" + strings.Trim(sc.RolePath, "/")
	if prefix != "/" {
		prefix += "/"
	}
	switch {
	case sc.Boundary != "":
		return fmt.Sprintf("the provider bounds every role by %s, and whether this role is bounded is not known", sc.Boundary)
	case sc.RolePath == "":
		return "needs rolePathPrefix on the AWSProvider, which says what roles may be given to AWS services"
	case account != sc.Account:
		return fmt.Sprintf("the role is in account %s and the provider in %s", account, sc.Account)
	case !strings.HasPrefix(name, prefix):
		return fmt.Sprintf("the provider lets only roles under %s be given to AWS services", prefix)
	default:
		return ""
	}
}

// WhyNotAdoptedAs says why a resource must not be adopted that acts as a role which the provider does not pass; empty when it may: who may
// write objects would act with the rights of that role. The role that the object declares was judged before.
func WhyNotAdoptedAs(sc Scope, want, have string) string {
	if have == "" || have == want {
		return ""
	}
	why := WhyNotPassed(sc, have)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("the resource acts as role %s, and an adoption would give the rights of that role to this namespace: %s; have an administrator change the role in AWS first", have, why)
}

// roleOf splits a role's ARN, or a name with or without its path, into account and path with name.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
func roleOf(sc Scope, role string) (account, name string) {
	parts := strings.SplitN(role, ":", 6)
	if len(parts) < 6 {
		return sc.Account, "/" + strings.TrimPrefix(role, "/")
	}
	return parts[4], strings.TrimPrefix(parts[5], "role")
}
