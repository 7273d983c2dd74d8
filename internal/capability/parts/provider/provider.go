// SPDX-License-Identifier: Apache-2.0

// Package provider is the AWSProvider of a capability that refers to none.
package provider

import (
	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// Part is the AWSProvider of a capability that refers to none.
func Part() part.Part {
	return part.Part{
		Kinds:   []part.KindFacts{{Kind: part.KindProvider, Removed: part.Removal{Stage: part.RemovesLast}}},
		Compile: []func(*part.Compiler){addProvider},
		Publishes: []part.Turn[part.Publishing]{part.At(10, func(k *part.Compiler) []string {
			return []string{part.KindProvider + "/" + part.ProviderName(k.Capability)}
		})},
	}
}

// addProvider makes the AWSProvider of a capability that refers to none. It has no credentials: the
// operator lends its own identity to this capability's children only, where the administrator allows it, and bounds
// their roles by the administrator's default boundary.
func addProvider(k *part.Compiler) {
	if k.Spec.ProviderRef != nil {
		return
	}
	p := &awsv1.AWSProvider{Spec: awsv1.AWSProviderSpec{Region: k.Home.Region, PermissionsBoundaryARN: k.Facts.Limits.DefaultBoundary}}
	p.Namespace = k.Capability.Namespace
	k.Add(part.Child{Kind: part.KindProvider, Name: k.Names.Prefix(), Component: "provider"}, awsv1.GroupVersion, p, nil)
}
