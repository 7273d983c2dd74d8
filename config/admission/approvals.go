// SPDX-License-Identifier: Apache-2.0

package main

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	approvals = "nexus-operator-approvals"
	// approvedPlan is the annotation that approves a plan, and approve the verb of the right to set it.
	approvedPlan = "nexus.ai/approved-plan"
	approve      = "approve"
)

// approvalsPolicy returns the policy that lets only users with the right to approve a resource set the annotation of an approval.
// Everybody who may edit an object may remove it: its plan then waits.
func approvalsPolicy() *admissionv1.ValidatingAdmissionPolicy {
	fail, equivalent, every, forbidden := admissionv1.Fail, admissionv1.Equivalent, admissionv1.AllScopes, metav1.StatusReasonForbidden
	annotation := func(object string) string {
		return "has(" + object + ".metadata.annotations) && " + quote(approvedPlan) + " in " + object + ".metadata.annotations ? " + object +
			".metadata.annotations[" + quote(approvedPlan) + "] : ''"
	}
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: approvals, Labels: map[string]string{"app.kubernetes.io/name": "nexus-operator"}},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy: &equivalent, NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: ownGroups[:2], APIVersions: []string{"*"}, Resources: []string{"*"}, Scope: &every},
				}}},
			},
			MatchConditions: []admissionv1.MatchCondition{{Name: "approves-a-plan",
				Expression: "(" + annotation("object") + ") != '' && (oldObject == null || (" + annotation("object") + ") != (" +
					annotation("oldObject") + "))"}},
			Validations: []admissionv1.Validation{{
				Expression: "authorizer.group(request.resource.group).resource(request.resource.resource).namespace(object.metadata.namespace).name(has(object.metadata.name) ? object.metadata.name : '').check(" + quote(approve) + ").allowed()",
				Message: "the annotation " + approvedPlan + " approves a plan: this needs the right to the verb " + approve +
					" of the resource, which ClusterRole nexus-operator-approve has",
				Reason: &forbidden,
			}},
		},
	}
}
