// SPDX-License-Identifier: Apache-2.0

package planrequest

import (
	"slices"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

func isOwnGroup(group string) bool {
	return slices.Contains([]string{nexusv1.GroupVersion.Group, v1alpha1.GroupName, intentv1alpha1.GroupName}, group)
}

// limitTo keeps the part of a plan that the request's namespace may see: the objects of the namespace, and those that a capability of the
// namespace owns elsewhere, without the values of their fields. Of an AWS resource that keeps the operator from an object, such as one of
// another owner, it shows nothing but the message that the object's condition would have.
func limitTo(q *nexusv1.PlanRequest, p plan.Plan) plan.Plan {
	capabilities := map[string]bool{}
	for _, it := range p.Items {
		if it.Kind == "NexusAICapability" && it.Namespace == q.Namespace {
			capabilities[it.Namespace+"/"+it.Name] = true
		}
	}
	var out []plan.Item
	for _, it := range p.Items {
		if it.Namespace != q.Namespace {
			if !capabilities[it.Owner] {
				continue
			}
			it.Fields = masked(it.Fields)
		}
		if it.Problem != nil && it.AWS != nil {
			aws := *it.AWS
			aws.Fields = nil
			it.AWS = &aws
		}
		out = append(out, it)
	}
	return plan.Of(out)
}

// masked are fields without their values.
func masked(fields []plan.Field) []plan.Field {
	var out []plan.Field
	for _, f := range fields {
		m := plan.Field{Path: f.Path}
		if f.Have != "" {
			m.Have = "***"
		}
		if f.Want != "" {
			m.Want = "***"
		}
		out = append(out, m)
	}
	return out
}
