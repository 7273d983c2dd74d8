// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
)

// HowToReplace implements kind.Replacer: the schemas of some types say which of the two resources has to be there first. The others say
// nothing, and what holds for most of them may not hold for one.
func (*resource) HowToReplace(want State) string {
	switch want.schema.ReplacementStrategy() {
	case awsschema.DeleteThenCreate:
		return "declare what exists, or replace the resource. AWS accepts the new one only when the old one is gone: delete this object with deletionPolicy: Delete, wait until it is gone, and create another"
	case awsschema.CreateThenDelete:
		return "declare what exists, or replace the resource. The new one can be created before the old one is deleted: create another object" + otherIdentity(want.schema) +
			", let what uses this resource use the new one, and delete this object"
	default:
		return ""
	}
}

// otherIdentity says what must differ so that two resources of a type can exist side by side; empty where AWS assigns the identifier.
func otherIdentity(schema *awsschema.Type) string {
	if !schema.IsNamed() {
		return ""
	}
	return " with another " + strings.Join(schema.IdentifiedBy(), " or ")
}
