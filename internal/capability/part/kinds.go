// SPDX-License-Identifier: Apache-2.0

package part

// The kinds that several parts name.
const (
	// KindAnyType is the kind of resources that a capability declares by their type.
	KindAnyType   = "AWSResource"
	KindKey       = "KMSKey"
	KindNamespace = "Namespace"
	KindProvider  = "AWSProvider"
	KindQuota     = "ResourceQuota"
	KindRole      = "IAMRole"
	KindService   = "Service"
)

// The steps that several parts name.
const (
	StepBackend  = "Backend"
	StepFrontend = "Frontend"
	// StepComponents is the part of spec.components.
	StepComponents = "Components"
	// StepResources is that of spec.dataServices.resources.
	StepResources = "Resources"
)
