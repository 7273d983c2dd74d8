// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the AWS resource kinds: one Kubernetes object for one AWS resource.
//
// An absent field is not managed; an explicit empty value ([], "", {}, 0, false) clears the
// setting in AWS where AWS can clear it. Clearable fields are therefore pointers.
//
// +kubebuilder:object:generate=true
// +groupName=aws-infra-operator.runner.codes
package v1alpha1
