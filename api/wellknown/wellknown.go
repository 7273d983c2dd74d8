// SPDX-License-Identifier: Apache-2.0

// Package wellknown holds the labels, annotations and AWS tags that several packages, or users, depend on. Their values are
// persisted in clusters and in AWS accounts and never change.
package wellknown

// OperatorName is the name of the operator: its field manager, and the value of LabelManagedBy and TagManagedBy.
const OperatorName = "nexus-operator"

// Prefix is that of the labels, annotations and tags that only the operator writes.
const Prefix = "nexus.ai/"

// Labels.
const (
	// LabelManagedBy is Kubernetes' recommended label for the tool that manages an object.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelCapability holds the name of the capability that an object belongs to.
	LabelCapability = Prefix + "capability"
	// LabelCapabilityUID holds the UID of the capability that an object belongs to.
	LabelCapabilityUID = Prefix + "capability-uid"
	// LabelPolicyOwner holds the UID of the security intent binding, or of the policy, that an object was derived from.
	LabelPolicyOwner = "intent.security.nimbus.com/owner-uid"
	// LabelPlanGate on a Namespace, with the value "closed", has every edit of its objects wait until its plan is approved.
	LabelPlanGate = Prefix + "plan-gate"
)

// Annotations.
const (
	// AnnotationCapability names the capability, as namespace/name, of an object in another namespace.
	AnnotationCapability = Prefix + "capability"
	// AnnotationPaused freezes an object while its value is "true".
	AnnotationPaused = Prefix + "paused"
	// AnnotationDeleteData lists, separated by commas, the names of stores whose data may be deleted with them. On a
	// capability it lets an edit that drops these stores delete them; on a store's object, which names itself, it
	// lets the deletion of that object go on.
	AnnotationDeleteData = Prefix + "delete-data"
	// AnnotationUndo asks, on a deleted capability whose UID it holds, to keep the AWS resources, because the capability is to be created
	// again.
	AnnotationUndo = Prefix + "undo"
	// AnnotationDeleteNow ends, on a deleted capability whose UID it holds, the time for which its stores are kept.
	AnnotationDeleteNow = Prefix + "delete-now"
	// AnnotationRecoverableUntil holds, on the object of a store whose capability is deleted, the time until which the store is kept.
	AnnotationRecoverableUntil = Prefix + "recoverable-until"
	// AnnotationRecoveryState holds, on the record of a deleted capability, the last state of its recovery.
	AnnotationRecoveryState = Prefix + "recovery-state"
	// AnnotationReconcileAt requests a check whenever its value changes.
	AnnotationReconcileAt = Prefix + "reconcile-requested-at"
	// AnnotationApprovedPlan holds the hash of the plan that may run, where plans need approval. Only people with the right to the verb
	// approve of the resource may set it; an admission policy refuses it of others.
	AnnotationApprovedPlan = Prefix + "approved-plan"
	// AnnotationMinReplicas holds the number of replicas that a Deployment with an autoscaler starts with.
	AnnotationMinReplicas = Prefix + "min-replicas"
	// AnnotationNotDeclared names the settings that an imported resource had in AWS and that no field of its object says.
	AnnotationNotDeclared = Prefix + "not-declared"
)

// PlanGateClosed is the value of LabelPlanGate that closes the gate.
const PlanGateClosed = "closed"

// ApprovalsPolicy is the name of the ValidatingAdmissionPolicy that refuses approvals of people without the right to approve, and
// ApproveVerb the verb of that right.
const (
	ApprovalsPolicy = "nexus-operator-approvals"
	ApproveVerb     = "approve"
)

// Tags of AWS resources that mark the owner.
const (
	// TagManagedBy holds OperatorName.
	TagManagedBy = Prefix + "managed-by"
	// TagCluster holds the ID of the cluster of the owner.
	TagCluster = Prefix + "cluster"
	// TagOwner holds Kind/namespace/name of the owner.
	TagOwner = Prefix + "owner"
	// TagOwnerUID holds the UID of the owner.
	TagOwnerUID = Prefix + "owner-uid"
	// TagRecoverableUntil holds the time until which a store is kept whose capability is deleted.
	TagRecoverableUntil = Prefix + "recoverable-until"
)

// AnnotationSimulatedNode marks a node that kwok simulates: its pods are ready and run no container.
// https://kwok.sigs.k8s.io/docs/user/kwok-manage-nodes-and-pods/
const AnnotationSimulatedNode = "kwok.x-k8s.io/node"

// SigningKeySecret is the Secret in the operator's namespace whose keys sign what the operator writes where others can write, too.
const SigningKeySecret = "nexus-operator-signing-key"
