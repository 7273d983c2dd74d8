// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

var midday = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// lookAt is a capability at a moment of its creation.
func lookAt(phase nexusv1.Phase, states ...nexusv1.ResourceState) *nexusv1.NexusAICapability {
	names := []nexusv1.ResourceStatus{{Kind: "DynamoDBTable", Name: "myapp-dev-license"}, {Kind: "S3Bucket", Name: "myapp-dev-call-data"}, {Kind: "S3Bucket", Name: "myapp-dev-logs"},
		{Kind: "IAMRole", Name: "myapp-dev-app-role"}, {Kind: "Deployment", Name: "myapp-dev-backend"}, {Kind: "Service", Name: "myapp-dev-frontend-svc"}}
	for i, s := range states {
		names[i].State = s
	}
	return &nexusv1.NexusAICapability{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "myapp", Generation: 2},
		Spec: nexusv1.NexusAICapabilitySpec{CapabilityName: "myapp", Environment: "dev",
			Frontend: nexusv1.FrontendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "frontend:1"}}, Backend: nexusv1.BackendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "backend:1"}}},
		Status: nexusv1.NexusAICapabilityStatus{Phase: phase, Ready: phase == nexusv1.PhaseRunning, ObservedGeneration: 2, Resources: names[:len(states)],
			Message: "waiting for DynamoDBTable/myapp-dev-license"},
	}
}
