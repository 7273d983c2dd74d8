// SPDX-License-Identifier: Apache-2.0

package part

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// TagCapability is the cost allocation tag of a capability. Inference profiles carry it, and with spec.budget all resources that have
// costs.
const TagCapability = "capability"

// BilledTypes returns the types of the resources of the parts that a budget counts by their tag.
func (ps Parts) BilledTypes() (out []string) {
	for _, p := range ps {
		out = append(out, p.Billed...)
	}
	return out
}

// tagForBudget sets the tag that makes the budget count the costs of a resource; without a budget, tags stay as they are.
func tagForBudget(k *Compiler, kind string, o awsv1.Resource) {
	common := o.CommonSpec()
	if k.Spec.Budget == nil || common.ManagementPolicy == awsv1.ManageObserve {
		return
	}
	billed := k.Parts.FactsOf(kind).IsBilled
	if r, is := o.(*awsv1.AWSResource); is {
		billed = slices.Contains(k.Parts.BilledTypes(), r.Spec.TypeName)
	}
	if !billed {
		return
	}
	tags := map[string]awsv1.TagValue{}
	for key, value := range common.Tags {
		tags[key] = value
	}
	tags[TagCapability] = awsv1.TagValue(k.Names.Prefix())
	common.Tags = tags
}
