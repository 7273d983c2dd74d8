// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// longestARN stands for the length of the ARN that a resource will have, for the size of policies.
const longestARN = 160

// resourceStatements allow exactly the declared actions on the proven resources, and on what lies below them where AWS evaluates an
// action for that.
func resourceStatements(k *compiler) (out []iampolicy.Statement) {
	var composed []iampolicy.Statement
	for _, r := range k.parts.selectedResources(k.spec) {
		if r.Access == nil {
			continue
		}
		grants, _, err := awsschema.GrantsOf(typeOfResource(r.ResourcePart))
		if err != nil {
			k.fail(err)
			return nil
		}
		arn := resourceARN(k, r, grants)
		if arn == "" {
			continue
		}
		statements := statementsFor(r.Access.Actions, func(action string) []string { return grants.ResourcesOf(action, arn) })
		switch {
		case r.compose == nil:
			out = append(out, statements...)
		case r.behind != nil:
			composed = append(composed, slices.Concat(statements, r.behind(k, arn))...)
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

// resourceARN is the ARN of a declared resource; "" when it is not proven to be the object's. A resource that is as declared and shows no
// ARN is refused access, because nothing would come of it.
func resourceARN(k *compiler, r resourcePart, grants awsschema.Grants) string {
	id := resourceID(k.names, r)
	switch {
	case k.expected != nil:
		return k.expect(id, Proof{ARN: placeholderFor(id)}).ARN
	case k.assumeOwned:
		return strings.Repeat("?", longestARN)
	case k.facts.Account == "": // the AWSProvider is not ready, or is to be made again: no ARN can be judged, and the role stays as it is
		return k.unknown
	}
	p := k.proof(id)
	arn := strings.TrimSuffix(p.ARN, ":*") // that of a log group ends so
	if arn == placeholderFor(id) || grants.IsOf(arn, k.home.account) {
		return arn
	}
	if p.Settled && k.c.DeletionTimestamp == nil {
		k.fail(refusedOf(k, r, ".access", "AWS shows no ARN of "+id+" that rights could be limited to", "remove access"))
	}
	return ""
}

// refusedOf is a refusal of a field of a resource, with what a person can do; the field of one that the operator composes is in no manifest.
func refusedOf(k *compiler, r resourcePart, field, message, remedy string) error {
	if r.compose != nil {
		return status.Invalid(resourceField(k, r), "%s: see the status of that object", message)
	}
	return status.Invalid(resourceField(k, r)+field, "%s: %s", message, remedy)
}

// resourceField is the field that declares a resource.
// The spec of a compiler may lack the resources that an access leaves out.
func resourceField(k *compiler, r resourcePart) string {
	if declared, ok := resourceOf(k.parts, k.c, kindOfResource(r.ResourcePart), k.names.Of(r.Name)); ok {
		return declared.field
	}
	return r.field
}
