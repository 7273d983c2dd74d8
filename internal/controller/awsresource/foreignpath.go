// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// checkParameterPath refuses a set of SSM parameters that lie in the parameter path of a capability of another namespace:
// that capability's application reads every parameter below its path. A capability that has created nothing in AWS and
// cannot run holds no path.
func (r *Reconciler) checkParameterPath(ctx context.Context, obj v1alpha1.Resource) error {
	set, ok := obj.(*v1alpha1.SSMParameterSet)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	for _, names := range parameterTrees(set) {
		holder, err := reconciler.StrongestClaim(ctx, r.Client, names)
		if err != nil {
			return err
		}
		if holder == nil || holder.Namespace == set.Namespace {
			continue
		}
		reconciler.LogHolder(ctx, set.Status.Conditions, "A parameter path is refused: it is another capability's", names.ParameterPath(), holder)
		return &status.Stalled{Reason: status.ReasonNameConflict, Field: "spec.path", Message: fmt.Sprintf(
			"parameters below %s belong to a capability of another namespace; choose another path", names.ParameterPath())}
	}
	return nil
}

// parameterTrees are the names of the capabilities that would read parameters of a set: the first two parts of a
// parameter's full name are a capabilityName and an environment.
func parameterTrees(set *v1alpha1.SSMParameterSet) []capability.Names {
	found := map[capability.Names]bool{}
	add := func(path string) {
		if parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3); len(parts) > 1 {
			found[capability.Names{Capability: parts[0], Environment: parts[1]}] = true
		}
	}
	add(set.Spec.Path)
	for name := range set.Spec.Parameters {
		add(set.Spec.Path + "/" + name)
	}
	return slices.SortedFunc(maps.Keys(found),
		func(a, b capability.Names) int { return strings.Compare(a.ParameterPath(), b.ParameterPath()) })
}
