// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ComponentType says what a component becomes.
// +kubebuilder:validation:Enum=Service;Worker;Job;CronJob
type ComponentType string

// The types of a component: a Service is a Deployment that is called through a Service of Kubernetes; a Worker is a Deployment that
// nothing calls; a Job runs to its end, once for each declaration; a CronJob runs to its end at the times of its schedule.
const (
	ComponentService ComponentType = "Service"
	ComponentWorker  ComponentType = "Worker"
	ComponentJob     ComponentType = "Job"
	ComponentCronJob ComponentType = "CronJob"
)

// ConcurrencyPolicy decides what happens at a time of the schedule while the run before has not ended.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

// NamedComponentSpec declares a component beside frontend and backend.
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Worker' || !has(self.routes) || size(self.routes) == 0",message="nothing calls a Worker: remove routes, or set type: Service",fieldPath=".routes"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Worker' || !has(self.service)",message="nothing calls a Worker: remove service, or set type: Service",fieldPath=".service"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.routes) || size(self.routes) == 0",message="nothing calls a Job or a CronJob: remove routes, or set type: Service",fieldPath=".routes"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.service)",message="nothing calls a Job or a CronJob: remove service, or set type: Service",fieldPath=".service"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.port)",message="nothing calls a Job or a CronJob: remove port, or set type: Service",fieldPath=".port"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.replicas)",message="a Job and a CronJob run one pod at a time: remove replicas, or set type: Worker",fieldPath=".replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.autoscaling)",message="a Job and a CronJob run one pod at a time: remove autoscaling, or set type: Worker",fieldPath=".autoscaling"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.pdb)",message="is for pods that serve: remove it from a Job or a CronJob",fieldPath=".pdb"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.drainSeconds)",message="nothing calls a Job or a CronJob: remove drainSeconds",fieldPath=".drainSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || !(self.type in ['Job', 'CronJob']) || !has(self.probes) || !has(self.probes.readiness)",message="nothing calls a Job or a CronJob: remove probes.readiness",fieldPath=".probes"
// +kubebuilder:validation:XValidation:rule="has(self.schedule) == (has(self.type) && self.type == 'CronJob')",message="a CronJob needs a schedule, and only a CronJob has one",fieldPath=".schedule"
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || has(self.type) && self.type == 'CronJob'",message="only a CronJob has it: remove it, or set type: CronJob",fieldPath=".timeZone"
// +kubebuilder:validation:XValidation:rule="!has(self.concurrencyPolicy) || has(self.type) && self.type == 'CronJob'",message="only a CronJob has it: remove it, or set type: CronJob",fieldPath=".concurrencyPolicy"
// +kubebuilder:validation:XValidation:rule="!has(self.backoffLimit) || has(self.type) && self.type in ['Job', 'CronJob']",message="only a Job and a CronJob have it: remove it, or set another type",fieldPath=".backoffLimit"
// +kubebuilder:validation:XValidation:rule="!has(self.activeDeadlineSeconds) || has(self.type) && self.type in ['Job', 'CronJob']",message="only a Job and a CronJob have it: remove it, or set another type",fieldPath=".activeDeadlineSeconds"
type NamedComponentSpec struct {
	// Name of the component: its Deployment, Job or CronJob is {capabilityName}-{environment}-{name}, and its Service
	// {capabilityName}-{environment}-{name}-svc. capabilityName, environment and name together have at most 57 characters, and those of a
	// CronJob 50.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['frontend', 'backend', 'policies'])",message="frontend and backend are fields of the capability, and policies is the name of an object of it: choose another name"
	Name string `json:"name"`
	// Type; default Service, which other components call at http://{capabilityName}-{environment}-{name}-svc:{port}. A Worker has no
	// Service, and a port and probes only where it declares them. A Job runs one pod to its end, and again after an edit of the component, of
	// the settings that the capability gives it, or of the version of the capability. A CronJob runs one at each time of its schedule.
	// +optional
	Type ComponentType `json:"type,omitempty"`
	// Schedule of a CronJob in the form of cron: minute, hour, day of the month, month and day of the week, such as "0 3 * * *" for three
	// o'clock every night; or @hourly, @daily, @weekly, @monthly or @yearly.
	// https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[^=]+$`
	Schedule string `json:"schedule,omitempty"`
	// TimeZone of the schedule, such as Asia/Singapore; default that of the cluster's controllers, which is UTC in EKS.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`
	TimeZone string `json:"timeZone,omitempty"`
	// ConcurrencyPolicy decides what a CronJob does when its last run has not ended: Allow starts another one beside it, Forbid leaves the new
	// one out, Replace ends the last one. Default Forbid.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// BackoffLimit limits the pods that a run starts in the place of those that failed, before the run fails; default 6.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// ActiveDeadlineSeconds ends a run that takes longer, as failed; default no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2592000
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	ComponentSpec `json:",inline"`
}

// Route leads requests from outside to a component.
type Route struct {
	// Path that requests begin with, as a whole part of the path: /chat leads /chat and /chat/1 to the component, and not /chats. Of two
	// paths that fit the longer one counts. Each path leads to one component.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`
	Path string `json:"path"`
}

// AccessName names data services of a capability.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([a-z0-9A-Z]+/)?[a-z]([a-z0-9-]*[a-z0-9])?$`
type AccessName string

// ComponentStatus reports a component of spec.components.
type ComponentStatus struct {
	// Name of the component.
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Type of the component.
	// +kubebuilder:validation:MaxLength=32
	Type ComponentType `json:"type"`
	// State is Waiting, Progressing, Ready or Failed.
	// +kubebuilder:validation:MaxLength=32
	State ResourceState `json:"state"`
	// Reason for a state other than Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// Message says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// URL at which other components call it; empty for what is not a Service.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// Runs of a Job or a CronJob.
	// +optional
	Runs *RunStatus `json:"runs,omitempty"`
}

// RunStatus reports the runs of a Job or a CronJob.
type RunStatus struct {
	// Last is the time at which the last run began.
	// +optional
	Last *metav1.Time `json:"last,omitempty"`
	// LastSuccess is the time at which the last run that succeeded ended.
	// +optional
	LastSuccess *metav1.Time `json:"lastSuccess,omitempty"`
	// Next is the time of the next run of a CronJob. It lies in the past while a run is overdue.
	// +optional
	Next *metav1.Time `json:"next,omitempty"`
	// Failures is the number of pods of a Job that failed, or of runs of a CronJob that failed since the last success, as far as they are
	// kept.
	// +optional
	Failures int32 `json:"failures,omitempty"`
}
