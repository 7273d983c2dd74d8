// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// stepsByKind are the steps of the kinds whose objects all belong to one step.
var stepsByKind = map[string]string{
	kindTable: StepDynamoDB, kindBucket: StepS3, kindGlueDatabase: StepGlue, kindGlueTable: StepGlue, kindGlueCrawler: StepGlue,
	kindParameters: StepSSM, kindSecret: StepSecrets, kindQueue: StepSQS, kindTopic: StepSNS, kindKey: StepKMS, kindPool: StepCognito, kindRole: StepIAM, kindAssociation: StepIAM, kindNamespace: StepNamespace, kindQuota: StepNamespace,
	kindServiceAccount: StepServiceAccount, kindConfigMap: StepBackend, kindIngress: StepIngress, kindGateway: StepIngress, kindRoute: StepIngress, kindBalancerSettings: StepIngress, kindTargetSettings: StepIngress, kindCertificate: StepIngress, kindRecordSet: StepIngress, kindHostedZone: StepIngress, kindPolicies: StepPolicies,
}

// StepOfResource returns the name of the step that an object of status.resources belongs to, StepPolicies for a
// binding of policies, and "" for an object that is in no step.
func StepOfResource(c *nexusv1.NexusAICapability, r nexusv1.ResourceStatus) string {
	n := NamesOf(c)
	switch r.Kind {
	case kindRole:
		if r.Name == n.GlueRole() {
			return StepGlue
		}
	case kindDeployment, kindService, kindDisruptionBudget, kindAutoscaler:
		if strings.HasPrefix(r.Name, n.Of(frontend)) {
			return StepFrontend
		}
		return StepBackend
	}
	return stepsByKind[r.Kind]
}
