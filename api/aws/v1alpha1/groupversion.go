// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every AWS resource kind.
const GroupName = "aws-infra-operator.runner.codes"

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme registers every kind of this package.
func AddToScheme(s *runtime.Scheme) error {
	addKnownTypes(s)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
