// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var (
	// roleARN finds the ARNs of roles, also within documents.
	roleARN = regexp.MustCompile(`arn:[a-z-]+:iam::[0-9]*:role/[A-Za-z0-9+=,.@_/-]+`)
	// roleName matches the names of properties that name a role.
	roleName = regexp.MustCompile(`(Role|RoleArn|RoleARN|RoleName)$`)
)

// checkRoles refuses properties with a role that the provider does not let be given to AWS services: whoever may write objects would act
// with its rights. It judges the ARNs of roles wherever they are, and the values of properties that the schema names after a role. What refers to an IAMRole is a passedRole.
func checkRoles(sc kind.Scope, schema *awsschema.Type, at []string, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if err := checkRoles(sc, schema, append(slices.Clone(at), name), value[name]); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range value {
			if err := checkRoles(sc, schema, append(slices.Clone(at), awsschema.Every), element); err != nil {
				return err
			}
		}
	case *kind.WriteOnly:
		if namesRole(schema, at) && !sc.Observing {
			return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.properties." + awsschema.Text(at), Message: "names a role, which cannot be in a Secret: refer to an IAMRole, or declare the role"}
		}
	case string:
		return checkRolesIn(sc, schema, at, value)
	}
	return nil
}

// namesRole reports whether a property is named after a role and may have any value.
func namesRole(schema *awsschema.Type, at []string) bool {
	return len(at) > 0 && roleName.MatchString(at[len(at)-1]) && !schema.IsChoice(at...)
}

func checkRolesIn(sc kind.Scope, schema *awsschema.Type, at []string, text string) error {
	roles := roleARN.FindAllString(text, -1)
	if len(roles) == 0 && namesRole(schema, at) {
		roles = []string{text}
	}
	for _, role := range roles {
		if why := kind.WhyNotPassed(sc, role); why != "" {
			return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.properties." + awsschema.Text(at), Message: fmt.Sprintf("names role %s: %s", role, why)}
		}
	}
	return nil
}
