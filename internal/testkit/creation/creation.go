// SPDX-License-Identifier: Apache-2.0

// Package creation has a capability at the moments of its creation.
package creation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// Midday is the start time of a creation.
func Midday() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }

// At returns a capability in a phase. Its first resources have the given states.
func At(phase nexusv1.Phase, states ...nexusv1.ResourceState) *nexusv1.NexusAICapability {
	resources := []nexusv1.ResourceStatus{
		{Kind: "DynamoDBTable", Name: "myapp-dev-license"},
		{Kind: "S3Bucket", Name: "myapp-dev-call-data"},
		{Kind: "S3Bucket", Name: "myapp-dev-logs"},
		{Kind: "IAMRole", Name: "myapp-dev-app-role"},
		{Kind: "Deployment", Name: "myapp-dev-backend"},
		{Kind: "Service", Name: "myapp-dev-frontend-svc"},
	}
	for i, s := range states {
		resources[i].State = s
	}
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "myapp", Generation: 2}}
	c.Spec.CapabilityName, c.Spec.Environment = "myapp", "dev"
	c.Spec.Frontend.Image, c.Spec.Backend.Image = "frontend:1", "backend:1"
	c.Status = nexusv1.NexusAICapabilityStatus{
		Phase:              phase,
		Ready:              phase == nexusv1.PhaseRunning,
		ObservedGeneration: 2,
		Resources:          resources[:len(states)],
		Message:            "waiting for DynamoDBTable/myapp-dev-license",
	}
	return c
}
