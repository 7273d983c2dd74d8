// SPDX-License-Identifier: Apache-2.0

package awsschema

// The orders of replacing a resource by another.
const (
	DeleteThenCreate = "delete_then_create"
	CreateThenDelete = "create_then_delete"
)

// HowToReplace returns the steps to get another value of a property that cannot be changed; empty if the schema does not give the order of
// replacement.
func (t *Type) HowToReplace() string {
	switch t.replacement {
	case DeleteThenCreate:
		return "declare what exists, or replace the resource. AWS accepts the new one only when the old one is gone: delete this object with deletionPolicy: Delete, wait until it is gone, and create another"
	case CreateThenDelete:
		return "declare what exists, or replace the resource. The new one can be created before the old one is deleted: create another object" +
			t.Identity.another() +
			", let what uses this resource use the new one, and delete this object"
	default:
		return ""
	}
}
