// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const maxARN = 2048

var existingARNPattern = regexp.MustCompile(`^arn:aws(-[a-z]+)*:[a-z0-9]+:[a-z0-9-]*:([0-9]{12})?:[A-Za-z0-9/_+=.@:-]+$`)

// checkExisting checks the entries for stores that exist already.
func checkExisting(v *verdict, c *nexusv1.NexusAICapability, f Facts) {
	all := v.parts.existingIn(&c.Spec)
	if len(all) > 0 && c.Spec.ProviderRef == nil {
		v.refuse(status.ReasonNotPermitted, all[0].field+".existing",
			"needs spec.providerRef: the operator lends its own identity only to what it composes itself, so name an AWSProvider of the namespace, whose spec.allowedExternalARNs allows the store")
	}
	seen := map[string]string{}
	for _, e := range all {
		at, of := e.field+".existing", e.of
		v.require((e.store.Name != "") != (e.store.ARN != ""), at, "needs exactly one of name and arn")
		checkExistingARN(v, at+".arn", c, e, f)
		v.require(len(e.nameIn()) <= of.most && of.names.MatchString(e.nameIn()), at, "%q is not the name of a %s", status.Truncate(e.nameIn(), 64), of.noun)
		twin := e.kind + "/" + e.nameIn()
		v.require(seen[twin] == "", at, "names the same %s as %s", of.noun, seen[twin])
		seen[twin] = e.field
	}
	checkOnlyName(v, c)
}

// checkExistingARN requires an ARN of the kind of store in the place of the capability.
func checkExistingARN(v *verdict, at string, c *nexusv1.NexusAICapability, e existing, f Facts) {
	arn, of := e.store.ARN, e.of
	if arn == "" {
		return
	}
	v.matches(at, arn, maxARN, existingARNPattern)
	parts := strings.SplitN(arn, ":", 6)
	v.require(len(parts) == 6 && parts[2] == of.service && strings.HasPrefix(parts[5], of.prefix), at, "is not the ARN of a %s", of.noun)
	if v.first != nil {
		return
	}
	v.require(of.ending == 0 || secretARNEnding.MatchString(arn), at, "lacks the hyphen and six characters with which Secrets Manager ends the ARN: copy the whole ARN, or set name")
	if f.Partition != "" {
		v.require(parts[1] == f.Partition, at, "the %s is in partition %s and the capability in %s", of.noun, parts[1], f.Partition)
	}
	switch {
	case of.hasNoAccount:
		v.require(parts[3] == "" && parts[4] == "", at, "is not the ARN of a %s, which has no region and no account", of.noun)
	case of.isGlobal:
		v.require(parts[3] == "", at, "is not the ARN of a %s, which has no region", of.noun)
		v.local(at, of.noun, arn, "", f)
	default:
		v.local(at, of.noun, arn, f.region(c), f)
	}
}

// checkOnlyName refuses fields that describe a store which the operator creates.
func checkOnlyName(v *verdict, c *nexusv1.NexusAICapability) {
	refuse := func(at string, fields map[string]bool) {
		for _, field := range sortedKeys(fields) {
			v.require(!fields[field], at+"."+field, "is about a store that the operator creates: remove it, or existing")
		}
	}
	for _, e := range v.parts.existingIn(&c.Spec) {
		refuse(e.field, v.parts.describes(e, &c.Spec))
	}
}

// describes returns the fields that describe a store, and whether an entry sets them.
func (ps parts) describes(e existing, s *nexusv1.NexusAICapabilitySpec) map[string]bool {
	for _, of := range ps.allEntries() {
		if of.describes != nil && of.field == ps.fieldOf(e.kind) {
			return of.describes(s, e.purpose)
		}
	}
	return nil
}

// entryOf returns the entry of a list that fits.
func entryOf[T any](list []T, fits func(T) bool) (out T) {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}
	return out
}

// existingPart checks the stores of all parts that exist already.
func existingPart() part { return part{checks: []turn[checking]{at(95, checkExisting)}} }
