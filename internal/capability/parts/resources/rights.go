// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// longestARN stands for the length of the ARN that a resource will have, for the size of policies.
const longestARN = 160

// resourceStatements allow exactly the declared actions on the proven resources, and on their sub-resources where AWS evaluates an action
// for those.
func resourceStatements(k *part.Compiler) (out []iampolicy.Statement) {
	var composed []iampolicy.Statement
	for _, r := range k.Parts.ResourcesByName(k.Spec) {
		if r.Access == nil {
			continue
		}
		grants, _, err := awsschema.GrantsOf(TypeOfResource(r.ResourcePart))
		if err != nil {
			k.Fail(err)
			return nil
		}
		arn := ResourceARN(k, r, grants)
		if arn == "" {
			continue
		}
		statements := statementsFor(r.Access.Actions, func(action string) []string { return grants.ResourcesOf(action, arn) })
		switch {
		case r.Compose == nil:
			out = append(out, statements...)
		case r.Behind != nil:
			composed = append(composed, slices.Concat(statements, r.Behind(k, arn))...)
		default:
			composed = append(composed, statements...)
		}
	}
	return append(out, joined(composed)...)
}

// statementsFor returns a statement for each set of resources, with the actions that are about them.
func statementsFor(actions []nexusv1.PartAction, resourcesOf func(action string) []string) (out []iampolicy.Statement) {
	sorted := slices.Clone(actions)
	slices.Sort(sorted)
	for _, action := range slices.Compact(sorted) {
		resources := resourcesOf(string(action))
		if len(resources) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(s iampolicy.Statement) bool { return slices.Equal(s.Resource, resources) })
		if i < 0 {
			out = append(out, iampolicy.Statement{Resource: resources})
			i = len(out) - 1
		}
		out[i].Action = append(out[i].Action, string(action))
	}
	return out
}

// ResourceARN is the ARN of a declared resource; "" when it is not proven to be the object's. A resource that is as declared and shows no
// ARN is refused access, because nothing would come of it.
func ResourceARN(k *part.Compiler, r part.Resource, grants awsschema.Grants) string {
	id := ID(k.Names, r)
	switch {
	case k.Expected != nil:
		return k.Expect(id, part.Proof{ARN: part.PlaceholderFor(id)}).ARN
	case k.AssumeOwned:
		return strings.Repeat("?", longestARN)
	// The AWSProvider is not ready, or is to be made again: no ARN can be judged, and the role stays as it is.
	case k.Facts.Provider.Account == "":
		return k.Unknown
	}
	p := k.Proof(id)
	arn := strings.TrimSuffix(p.ARN, ":*") // that of a log group ends so
	if arn == part.PlaceholderFor(id) || grants.IsOf(arn, k.Home.Account) {
		return arn
	}
	if p.Settled && k.Capability.DeletionTimestamp == nil {
		k.Fail(refusedOf(k, r, ".access", "AWS shows no ARN of "+id+" that rights could be limited to", "remove access"))
	}
	return ""
}

// refusedOf returns the refusal of a field of a resource, with the remedy. The field of a resource that the operator composes is in no
// manifest.
func refusedOf(k *part.Compiler, r part.Resource, field, message, remedy string) error {
	if r.Compose != nil {
		return status.Invalid(resourceField(k, r), "%s: see the status of that object", message)
	}
	return status.Invalid(resourceField(k, r)+field, "%s: %s", message, remedy)
}

// resourceField is the field that declares a resource.
// The spec of a compiler may lack the resources that an access leaves out.
func resourceField(k *part.Compiler, r part.Resource) string {
	if declared, ok := Find(k.Parts, k.Capability, KindOfResource(r.ResourcePart), k.Names.Of(r.Name)); ok {
		return declared.Field
	}
	return r.Field
}

// joined returns one statement for those with the same actions and no condition, so that the policy of a role stays short.
func joined(statements []iampolicy.Statement) (out []iampolicy.Statement) {
	for _, s := range statements {
		i := slices.IndexFunc(out, func(o iampolicy.Statement) bool {
			return slices.Equal(o.Action, s.Action) && len(o.Condition)+len(s.Condition) == 0
		})
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].Resource = append(slices.Clone(out[i].Resource), s.Resource...)
	}
	return out
}
