// SPDX-License-Identifier: Apache-2.0

// Package existing checks the entries of all parts for stores that exist already.
package existing

import (
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// checkExisting checks the entries for stores that exist already.
func checkExisting(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	all := v.Parts.ExistingIn(&c.Spec)
	if len(all) > 0 && c.Spec.ProviderRef == nil {
		v.Refuse(status.ReasonNotPermitted, all[0].Field+".existing",
			"needs spec.providerRef: the operator lends its own identity only to what it composes itself, so name an AWSProvider of the namespace, whose spec.allowedExternalARNs allows the store")
	}
	seen := map[string]string{}
	for _, e := range all {
		at, of := e.Field+".existing", e.Of
		v.Require((e.Store.Name != "") != (e.Store.ARN != ""), at, "needs exactly one of name and arn")
		checkExistingARN(v, at+".arn", c, e, f)
		v.Require(len(e.NameIn()) <= of.Most && of.Names.MatchString(e.NameIn()), at, "%q is not the name of a %s",
			status.Truncate(e.NameIn(), 64), of.Noun)
		twin := e.Kind + "/" + e.NameIn()
		v.Require(seen[twin] == "", at, "names the same %s as %s", of.Noun, seen[twin])
		seen[twin] = e.Field
	}
	checkOnlyName(v, c)
}

// checkExistingARN requires an ARN of the kind of store in the place of the capability.
func checkExistingARN(v *part.Verdict, at string, c *nexusv1.NexusAICapability, e part.Existing, f part.Facts) {
	arn, of := e.Store.ARN, e.Of
	if arn == "" {
		return
	}
	parts := strings.SplitN(arn, ":", 6)
	v.Require(len(parts) == 6 && parts[2] == of.Service && strings.HasPrefix(parts[5], of.Prefix), at, "is not the ARN of a %s", of.Noun)
	if v.First != nil {
		return
	}
	v.Require(of.Ending == 0 || part.SecretARNEnding.MatchString(arn), at, "lacks the hyphen and six characters with which Secrets Manager ends the ARN: copy the whole ARN, or set name")
	if f.Provider.Partition != "" {
		v.Require(parts[1] == f.Provider.Partition, at,
			"the %s is in partition %s and the capability in %s", of.Noun, parts[1], f.Provider.Partition)
	}
	switch {
	case of.HasNoAccount:
		v.Require(parts[3] == "" && parts[4] == "", at, "is not the ARN of a %s, which has no region and no account", of.Noun)
	case of.IsGlobal:
		v.Require(parts[3] == "", at, "is not the ARN of a %s, which has no region", of.Noun)
		v.Local(at, of.Noun, arn, "", f)
	default:
		v.Local(at, of.Noun, arn, f.RegionOf(c), f)
	}
}

// checkOnlyName refuses fields that describe a store which the operator creates.
func checkOnlyName(v *part.Verdict, c *nexusv1.NexusAICapability) {
	refuse := func(at string, fields map[string]bool) {
		for _, field := range part.SortedKeys(fields) {
			v.Require(!fields[field], at+"."+field, "is about a store that the operator creates: remove it, or existing")
		}
	}
	for _, e := range v.Parts.ExistingIn(&c.Spec) {
		refuse(e.Field, v.Parts.Describes(e, &c.Spec))
	}
}

// Part checks the stores of all parts that exist already.
func Part() part.Part {
	return part.Part{Checks: []part.Turn[part.Checking]{part.At(95, checkExisting)}}
}
