// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// HoldsData implements kind.Store.
func (*resource) HoldsData(want State) bool { return want.isRead && want.schema.HoldsData() }

// holds asks for a person's consent before data is lost that no API counts for all types.
func holds(want State) []kind.Hold {
	if !want.Guarded {
		return nil
	}
	return []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "the data of the resource to be given up: a resource of type " + want.TypeName +
		" may hold data, which the operator cannot count; set annotation " +
		wellknown.AnnotationDeleteData + " to the name of the object to delete it with its data, or set deletionPolicy: Retain to keep it"}}
}
