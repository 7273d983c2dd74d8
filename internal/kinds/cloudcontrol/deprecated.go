// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// notesOn reports the declared properties that AWS deprecates; nil for a type that deprecates none.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
func notesOn(schema *awsschema.Type, declared map[string]any) []kind.Note {
	if !schema.Deprecates() {
		return nil
	}
	paths := schema.Deprecated(declared)
	if len(paths) == 0 {
		return []kind.Note{{Type: v1alpha1.ConditionPropertiesCurrent, Reason: status.ReasonReady, True: true, Message: "no declared property is deprecated"}}
	}
	return []kind.Note{{Type: v1alpha1.ConditionPropertiesCurrent, Reason: status.ReasonDeprecated, Message: "AWS deprecates spec.properties." + strings.Join(paths, ", spec.properties.") +
		": it may ignore what is declared there, or not show it. Declare what the documentation of " + schema.Name + " names in its place"}}
}
