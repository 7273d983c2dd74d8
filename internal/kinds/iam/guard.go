package iam

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// reserved are paths and names that AWS keeps for roles of its own making:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
var reserved = struct{ paths, names []string }{
	paths: []string{"/aws-service-role/", "/aws-reserved/"},
	names: []string{"AWSServiceRoleFor", "AWSReservedSSO_"},
}

func notPermitted(field, format string, args ...any) *status.Stalled {
	return &status.Stalled{Reason: status.ReasonNotPermitted, Field: field, Message: fmt.Sprintf(format, args...)}
}

// guarded applies the provider's guards and returns the path and the boundary to be. A provider's
// boundary and path hold for every role; what a user writes into a role needs the boundary, lest who
// may create objects here could give themselves any right.
func guarded(sc kind.Scope, in v1alpha1.IAMRoleSpec) (path, boundary *string, err error) {
	if path, err = guardedPath(sc, in); err != nil {
		return nil, nil, err
	}
	boundary = in.PermissionsBoundary
	if sc.Boundary != "" {
		if boundary != nil && *boundary != sc.Boundary {
			return nil, nil, notPermitted("spec.permissionsBoundary", "the provider bounds every role by %s: leave the field out or repeat that", sc.Boundary)
		}
		boundary = &sc.Boundary
	}
	if field := suppliedByUser(in); sc.Boundary == "" && !sc.Trusted && field != "" {
		return nil, nil, notPermitted(field, "needs permissionsBoundaryARN on the AWSProvider, to bound what the role may do")
	}
	return path, boundary, nil
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
	prefix := sc.RolePath
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
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
	switch {
	case in.IRSA != nil && in.AssumeRolePolicyDocument != "":
		return nil, status.Invalid("spec.irsa", "set exactly one of assumeRolePolicyDocument and irsa")
	case in.IRSA != nil:
		return irsaTrust(sc, *in.IRSA)
	case in.AssumeRolePolicyDocument == "":
		return nil, status.Invalid(field, "set exactly one of assumeRolePolicyDocument and irsa")
	}
	doc, err := canonical(in.AssumeRolePolicyDocument)
	if err != nil {
		return nil, status.Invalid(field, "%v", err)
	}
	if sc.Trusted {
		return &doc, nil
	}
	if why := trustsAnybody(doc); why != "" {
		return nil, notPermitted(field, "%s", why)
	}
	return &doc, nil
}

// checkInline checks the documents and puts their canonical form in place.
func checkInline(sc kind.Scope, in v1alpha1.IAMRoleSpec, inline map[string]*string) error {
	total := 0
	seen := map[string]bool{}
	for _, p := range declared(in) {
		field := "spec.inlinePolicies[" + p.PolicyName + "].policyDocument"
		doc, err := canonical(p.PolicyDocument)
		if err != nil {
			return status.Invalid(field, "%v", err)
		}
		if seen[p.PolicyName] {
			return status.Invalid(field, "the name is used twice")
		}
		seen[p.PolicyName] = true
		if why := allowsTooMuch(doc, sc); why != "" && !sc.Trusted {
			return notPermitted(field, "%s", why)
		}
		inline[p.PolicyName] = &doc
		total += utf8.RuneCountInString(doc)
	}
	if total > maxInline {
		return status.Invalid("spec.inlinePolicies", "the documents have %d characters without white space, AWS allows %d for all together: "+
			"shorten them or use managed policies", total, maxInline)
	}
	return nil
}
