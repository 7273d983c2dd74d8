// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// reserved are paths and names that AWS keeps for roles that it creates:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
var reserved = struct{ paths, names []string }{
	paths: []string{"/aws-service-role/", "/aws-reserved/"},
	names: []string{"AWSServiceRoleFor", "AWSReservedSSO_"},
}

func notPermitted(field, format string, args ...any) *status.Stalled {
	return &status.Stalled{Reason: status.ReasonNotPermitted, Field: field, Message: fmt.Sprintf(format, args...)}
}

// guardedSettings applies the provider's guards and returns the path and the boundary of the role. A provider's boundary and path hold for
// every role. A policy that a user writes needs the boundary, because people who may create objects here could otherwise give themselves
// any right.
func guardedSettings(sc kind.Scope, in v1alpha1.IAMRoleSpec) (path, boundary *string, err error) {
	if path, err = guardedPath(sc, in); err != nil {
		return nil, nil, err
	}
	boundary = in.PermissionsBoundary
	if of := sc.Guards.Boundary; of != "" {
		if boundary != nil && *boundary != of {
			return nil, nil, notPermitted("spec.permissionsBoundary", "the provider bounds every role by %s: leave the field out or repeat that", of)
		}
		boundary = &of
	} else if field := suppliedByUser(in); !sc.Trusted && field != "" {
		return nil, nil, notPermitted(field, "needs permissionsBoundaryARN on the AWSProvider, to bound what the role may do")
	}
	return path, boundary, nil
}

// keepBoundary refuses to remove the permissions boundary that a role has in AWS, and to replace it by another one that
// the provider does not require: a spec is written by tenants, and a boundary holds them. Removing it takes rights in
// the AWS account.
func keepBoundary(want, have RoleState, diff kind.Diff) error {
	bound := aws.ToString(have.Boundary)
	if bound == "" || want.Required || !diff.Under("Boundary") {
		return nil
	}
	return notPermitted("spec.permissionsBoundary", "the role has the permissions boundary %s in AWS, which the operator neither removes nor replaces: "+
		"declare it again (in a NexusAICapability: spec.identity.permissionsBoundaryARN, or the spec.providerRef whose AWSProvider requires it), "+
		"have an administrator set permissionsBoundaryARN of the AWSProvider to another policy, or have the boundary removed in AWS: "+
		"aws iam delete-role-permissions-boundary --role-name %s", bound, want.Name)
}

// whyNotAdopted refuses to adopt the role of the operator or of the provider, and any role without the permissions boundary of the
// provider: the role keeps the policies that it has, and the object says who may assume it.
func whyNotAdopted(sc kind.Scope, want, _ RoleState) (string, error) {
	if own, err := kind.IsCaller(sc, want.Name); own || err != nil {
		return "the operator, or the AWSProvider, calls AWS as this role, which no object adopts", err
	}
	if want.Required {
		return "", nil
	}
	return "an adoption would give the rights that the role has to this namespace: it needs permissionsBoundaryARN on the AWSProvider, to bound what the role may do", nil
}

func guardedPath(sc kind.Scope, in v1alpha1.IAMRoleSpec) (*string, error) {
	for _, name := range reserved.names {
		if strings.HasPrefix(in.RoleName, name) {
			return nil, notPermitted("spec.roleName", "%s… is reserved for roles that AWS makes", name)
		}
	}
	for _, p := range reserved.paths {
		if strings.HasPrefix(in.Path, p) {
			return nil, notPermitted("spec.path", "%s is reserved for roles that AWS makes", p)
		}
	}
	prefix := sc.Guards.RolePath
	if prefix != "" {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	switch {
	case in.Path == "" && prefix == "":
		return nil, nil
	case in.Path == "":
		return &prefix, nil
	case !strings.HasPrefix(in.Path, prefix):
		return nil, notPermitted("spec.path", "the provider keeps its roles under %s: leave the field out or begin it so", prefix)
	default:
		return &in.Path, nil
	}
}

// suppliedByUser names the first field that gives rights in the user's own words; a trust generated for
// a ServiceAccount gives none.
func suppliedByUser(in v1alpha1.IAMRoleSpec) string {
	switch {
	case in.AssumeRolePolicyDocument != "":
		return "spec.assumeRolePolicyDocument"
	case len(in.InlinePolicies) > 0:
		return "spec.inlinePolicies"
	case in.InlinePolicy != nil:
		return "spec.inlinePolicy"
	case len(in.ManagedPolicyArns) > 0:
		return "spec.managedPolicyArns"
	default:
		return ""
	}
}

// wantedTrust is the trust policy: the user's document, or the one made for a ServiceAccount.
func wantedTrust(sc kind.Scope, in v1alpha1.IAMRoleSpec) (*string, error) {
	const field = "spec.assumeRolePolicyDocument"
	if in.IRSA != nil || in.PodIdentity != nil {
		return workloadTrust(sc, in)
	}
	doc, text, err := parseDocument(field, in.AssumeRolePolicyDocument)
	if err != nil {
		return nil, err
	}
	if sc.Trusted {
		return &text, nil
	}
	if err := iampolicy.CheckTrust(doc); err != nil {
		return nil, notPermitted(field, "%v", err)
	}
	return &text, nil
}

// checkInline checks the documents and replaces them by their encoded form.
func checkInline(sc kind.Scope, in v1alpha1.IAMRoleSpec, inline map[string]*string) error {
	total := 0
	for _, p := range declaredPolicies(in) {
		field := "spec.inlinePolicies[" + p.PolicyName + "].policyDocument"
		doc, text, err := parseDocument(field, p.PolicyDocument)
		if err != nil {
			return err
		}
		if err := iampolicy.CheckPermissions(doc, sc.Partition, sc.Account); err != nil && !sc.Trusted {
			return notPermitted(field, "%v", err)
		}
		inline[p.PolicyName] = &text
		total += utf8.RuneCountInString(text)
	}
	if total > maxInline {
		return status.Invalid("spec.inlinePolicies", "the documents have %d characters without white space, AWS allows %d for all together: "+
			"shorten them or use managed policies", total, maxInline)
	}
	return nil
}
