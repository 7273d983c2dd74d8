// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/shard"
)

const (
	policyName = "nexus-operator-reach"
	// secretFinalizer is the only field of a Secret that the operator writes.
	secretFinalizer = "aws-infra-operator.runner.codes/credentials-in-use"
	// signingKey is the Secret in the operator's namespace that the operator creates, and no more.
	signingKey = "nexus-operator-signing-key"
	// deletionRecords begins the names of the ConfigMaps in the operator's namespace that record deleted capabilities.
	deletionRecords = "nexus-operator-deleted-"
	podSecurity     = "pod-security.kubernetes.io/"
)

// ownGroups are the API groups that this project defines.
var ownGroups = []string{"nexus.ai", "aws-infra-operator.runner.codes", "intent.security.nimbus.com"}

// ownerLabels hold the UID of the owner of an object that the operator created.
var ownerLabels = []string{"nexus.ai/capability-uid", "intent.security.nimbus.com/owner-uid"}

// ownerAnnotations name the present owner of an object, or the one that it had before it was orphaned.
var ownerAnnotations = []string{"nexus.ai/owner", "nexus.ai/orphaned-from"}

// records are resources that report what the operator does. They carry no owner.
var records = []string{
	"events.k8s.io/events", "coordination.k8s.io/leases",
	"authentication.k8s.io/tokenreviews", "authorization.k8s.io/subjectaccessreviews",
}

// policyFor returns the policy that limits a user to the given resources and to objects with the operator's marks.
func policyFor(user string, written []string) *admissionv1.ValidatingAdmissionPolicy {
	fail, equivalent := admissionv1.Fail, admissionv1.Equivalent
	p := &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: policyName, Labels: map[string]string{"app.kubernetes.io/name": "nexus-operator"}},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			// All defaults are stated: the API server compares this field as a whole, so that a second tool that applies it without them
			// conflicts with the first.
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy: &equivalent, NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []admissionv1.NamedRuleWithOperations{rule([]string{"*"}, "*/*")},
				// The rules below allow these writes wherever the roles do. They are most of the writes of a cluster and of the operator, and
				// the API server evaluates no expression for what is excluded.
				ExcludeResourceRules: []admissionv1.NamedRuleWithOperations{
					rule(ownGroups, "*/status"), rule([]string{"events.k8s.io"}, "events"),
				},
			},
			MatchConditions: []admissionv1.MatchCondition{{Name: "requested-by-the-operator",
				Expression: "request.userInfo.username == " + quote(user)}},
			Variables: variables(written),
		},
	}
	forbidden := metav1.StatusReasonForbidden
	for _, v := range validations() {
		p.Spec.Validations = append(p.Spec.Validations, admissionv1.Validation{Expression: v.expression, Message: v.message, Reason: &forbidden})
	}
	return p
}

func rule(groups []string, resource string) admissionv1.NamedRuleWithOperations {
	every := admissionv1.AllScopes
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.OperationAll},
		Rule:       admissionv1.Rule{APIGroups: groups, APIVersions: []string{"*"}, Resources: []string{resource}, Scope: &every},
	}}
}

// bindingOf returns the binding of a policy, which denies what the policy refuses.
func bindingOf(policy string) *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: policy, Labels: map[string]string{"app.kubernetes.io/name": "nexus-operator"}},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
}

// variables name the facts that the validations use. Each is evaluated only when a validation needs it.
func variables(written []string) []admissionv1.Variable {
	return []admissionv1.Variable{
		{Name: "operatorNamespace", Expression: "request.userInfo.username.split(':')[2]"},
		{Name: "status", Expression: "has(request.subResource) && request.subResource == 'status'"},
		{Name: "resource", Expression: "request.resource.group + '/' + request.resource.resource"},
		{Name: "name", Expression: "has(request.name) ? request.name : ''"},
		{Name: "targetNamespace",
			Expression: "variables.resource == '/namespaces' ? variables.name : has(request.namespace) ? request.namespace : ''"},
		{Name: "written", Expression: "variables.resource + (has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '') in\n" + list(written)},
		{Name: "record", Expression: "variables.resource in\n" + list(records)},
		// A person may have removed the labels, and an object that was orphaned has none: the annotations and the
		// controller identify its owner.
		{Name: "wasMarked", Expression: "oldObject != null && has(oldObject.metadata) && (" + marked("oldObject") + " || " +
			applied("oldObject") + ")"},
		{Name: "keepsMarks", Expression: "object != null && has(object.metadata) && (" + marked("object") + ")"},
		{Name: "isMarked", Expression: "variables.keepsMarks || object != null && has(object.metadata) && " + applied("object")},
		// Objects that people created get finalizers and annotations, and nothing else: none of the operator's marks either, which
		// would allow more.
		{Name: "metadataOfOwnKind", Expression: "request.operation == 'UPDATE' && request.resource.group in " + list(ownGroups) + " &&\n" +
			"(variables.wasMarked || !variables.isMarked) && has(object.spec) == has(oldObject.spec) && (!has(object.spec) || object.spec == oldObject.spec)"},
		{Name: "secretFinalizer", Expression: "request.operation == 'UPDATE' && variables.resource == '/secrets' &&\n" +
			strings.Join([]string{same("data"), same("type"), same("immutable"), same("metadata.labels"), same("metadata.annotations"),
				same("metadata.ownerReferences"), sameFinalizersBut(secretFinalizer)}, " &&\n")},
		{Name: "signingKey", Expression: "request.operation == 'CREATE' && variables.resource == '/secrets' && variables.targetNamespace == variables.operatorNamespace &&\n" +
			"object.metadata.name == " + quote(signingKey)},
		{Name: "deletionRecord", Expression: "variables.resource == '/configmaps' && variables.targetNamespace == variables.operatorNamespace &&\n" +
			"(request.operation == 'CREATE' ? object.metadata.name : variables.name).startsWith(" + quote(deletionRecords) + ")"},
		{Name: "bookkeeping", Expression: "variables.record || variables.status || variables.metadataOfOwnKind || variables.secretFinalizer || variables.signingKey || variables.deletionRecord"},
		// A PlanRequest declares nothing, and is deleted when it is old.
		{Name: "planRequest", Expression: "request.operation == 'DELETE' && variables.resource == 'nexus.ai/planrequests'"},
		{Name: "securityIntent", Expression: "[object, oldObject].exists(o, o != null && has(o.metadata.labels) && " + quote(ownerLabels[1]) +
			" in o.metadata.labels)"},
	}
}

type validation struct{ expression, message string }

// validations are the rules, with the reason that a refused request shows.
func validations() []validation {
	return []validation{
		{"variables.written", "the operator never writes this resource"},
		{"variables.bookkeeping || variables.planRequest || !(variables.targetNamespace in ['kube-system', variables.operatorNamespace])",
			"the operator creates, changes and deletes no workloads and no policies in kube-system or in its own namespace: use another namespace"},
		{"variables.bookkeeping || variables.planRequest || variables.securityIntent || !(variables.targetNamespace in ['kube-public', 'kube-node-lease'])",
			"the operator writes only policies of security intents in kube-public and kube-node-lease: use another namespace"},
		{"request.operation != 'CREATE' || variables.record || variables.signingKey || variables.deletionRecord || (" + created("object") + ")",
			"the operator creates only objects that carry the label of their owner and the annotation " + ownerAnnotations[0]},
		{"request.operation == 'CREATE' || variables.bookkeeping || variables.wasMarked || variables.planRequest",
			"the operator changes and deletes only objects that it created, and of other objects of its own kinds only the status, finalizers and annotations"},
		{"request.operation != 'UPDATE' || variables.bookkeeping || variables.keepsMarks",
			"the operator leaves its marks on an object, or the annotation " + ownerAnnotations[1]},
		{"variables.resource != '/secrets' || variables.secretFinalizer || variables.signingKey",
			"the operator creates only Secret " + signingKey + ", in its own namespace, and writes only the finalizer " + secretFinalizer +
				" of others"},
		{"variables.resource != 'coordination.k8s.io/leases' || variables.targetNamespace == variables.operatorNamespace && variables.name in\n" +
			list(shard.Leases()),
			"the operator writes only its own Leases, such as " + shard.Leases()[0] + ", in its own namespace"},
		{podSecurityValues(), "the operator sets " + podSecurity + "enforce to restricted, and sets and removes no other Pod Security label"},
	}
}

// podSecurityValues holds for a Namespace whose Pod Security labels are as before or as the operator sets them.
func podSecurityValues() string {
	return "variables.resource != '/namespaces' || object == null ||\n" +
		"(!has(object.metadata.labels) || object.metadata.labels.all(k, !k.startsWith('" + podSecurity + "') ||\n" +
		"  k == '" + podSecurity + "enforce' && object.metadata.labels[k] == 'restricted' ||\n" +
		"  oldObject != null && has(oldObject.metadata.labels) && k in oldObject.metadata.labels && oldObject.metadata.labels[k] == object.metadata.labels[k])) &&\n" +
		"(oldObject == null || !has(oldObject.metadata.labels) || oldObject.metadata.labels.all(k, !k.startsWith('" + podSecurity + "') ||\n" +
		"  has(object.metadata.labels) && k in object.metadata.labels))"
}

// applied holds for an object of which the operator manages fields by server-side apply, which it uses for nothing but what
// it creates. The API server keeps that entry when a person removes every label and annotation.
func applied(object string) string {
	return "has(" + object + ".metadata.managedFields) && " + object +
		".metadata.managedFields.exists(m, has(m.manager) && m.manager == 'nexus-operator' &&\n" +
		"  has(m.operation) && m.operation == 'Apply' && (!has(m.subresource) || m.subresource == ''))"
}

// marked holds for an object with one of the operator's labels or annotations, or controlled by an object of its kinds.
func marked(object string) string {
	controller := object + ".metadata.ownerReferences.exists(r, has(r.controller) && r.controller && r.apiVersion.split('/')[0] in " +
		list(ownGroups) + ")"
	return strings.Join([]string{
		hasAnyKey(object+".metadata.labels", ownerLabels), hasAnyKey(object+".metadata.annotations", ownerAnnotations),
		"has(" + object + ".metadata.ownerReferences) && " + controller,
	}, " ||\n")
}

// created holds for an object as the operator creates it.
func created(object string) string {
	return object + " != null && has(" + object + ".metadata) &&\n(" + hasAnyKey(object+".metadata.labels", ownerLabels) + ") &&\n(" +
		hasAnyKey(object+".metadata.annotations", ownerAnnotations[:1]) + ")"
}

func hasAnyKey(path string, keys []string) string {
	var any []string
	for _, k := range keys {
		any = append(any, quote(k)+" in "+path)
	}
	return "has(" + path + ") && (" + strings.Join(any, " || ") + ")"
}

// same holds when a field has not changed.
func same(path string) string {
	return "has(object." + path + ") == has(oldObject." + path + ") && (!has(object." + path + ") || object." + path + " == oldObject." +
		path + ")"
}

func sameFinalizersBut(finalizer string) string {
	others := func(object string) string {
		return "(has(" + object + ".metadata.finalizers) ? " + object + ".metadata.finalizers : []).filter(f, f != " + quote(finalizer) + ")"
	}
	return others("object") + " == " + others("oldObject")
}

func quote(s string) string { return "'" + s + "'" }

func list(of []string) string {
	quoted := make([]string, len(of))
	for i, s := range of {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
