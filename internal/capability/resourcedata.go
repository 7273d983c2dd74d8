// SPDX-License-Identifier: Apache-2.0

package capability

import (
	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// HoldsData reports whether data is lost with the AWS resource of an object of dataServices.resources. A type that is newer than this
// version may hold some.
func HoldsData(o awsv1.Resource) bool {
	if r, is := o.(*awsv1.AWSResource); is {
		return TypeHoldsData(r.Spec.TypeName)
	}
	return false
}

// TypeHoldsData reports whether resources of a type of AWS hold data.
func TypeHoldsData(typeName string) bool {
	grants, known, err := awsschema.GrantsOf(typeName)
	return err != nil || !known || grants.HoldsData()
}

// IsStoreKind reports whether objects of a kind of dataServices.resources are stores. Of an AWSResource, its type decides.
func IsStoreKind(kind string) bool { return resourceKinds[kind].store || kind == part.KindAnyType }
