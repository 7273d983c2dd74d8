// SPDX-License-Identifier: Apache-2.0

package metrics

// The operator's own metrics, by the rules of prometheus.io/docs/practices/naming.
var (
	BuildInfo = Definition{Name: "nexus_build_info", Type: Gauge, Section: "The operator",
		Help: "Always 1; the labels tell which build of the operator runs.",
		Labels: []Label{{"version", "version of the Go module"}, {"revision", "commit, or empty when the build does not record it"},
			{"go_version", "release of Go"}}}
	Shards = Definition{Name: "nexus_shards", Type: Gauge, Section: "The operator",
		Help:   "Number of shards that divide the namespaces, 1 without `--shard`; the label tells which of them this process serves or stands by for.",
		Labels: []Label{{"shard", "number of the shard, from 0"}}}
	ReconcileFailures = Definition{Name: "nexus_reconcile_failures_total", Type: Counter, Section: "The operator",
		Help: "Reconciles that failed, by controller and class of the failure. Waiting and conflicting writes are no failures.",
		Labels: []Label{{"controller", "name of the controller"},
			{"class", "`Stalled` (a person must act), `AWS` (throttled or unreachable), `Kubernetes` (the API server refused or did not answer) or `Error` (anything else)"}}}

	Capabilities = Definition{Name: "nexus_capabilities", Type: Gauge, Section: "Capabilities",
		Help:   "NexusAICapabilities by phase.",
		Labels: []Label{{"phase", "`status.phase`; `Pending` before the first status, `Other` for a phase that this version does not know"}}}
	CapabilityPhase = Definition{Name: "nexus_capability_phase", Type: Gauge, Section: "Capabilities",
		Help: "Always 1; the labels tell the phase of one NexusAICapability. Only the first 1,000 by namespace and name have a series.",
		Labels: []Label{{"capability_namespace", "namespace of the capability"}, {"capability", "name of the capability"},
			{"phase", "as in `nexus_capabilities`"}}}
	CapabilityConditions = Definition{Name: "nexus_capability_conditions", Type: Gauge, Section: "Capabilities",
		Help:   "Conditions of NexusAICapabilities by type and status.",
		Labels: []Label{{"type", "type of the condition, from the list in [reasons.md](reasons.md)"}, {"status", "`True`, `False` or `Unknown`"}}}
	CapabilityStepDuration = Definition{Name: "nexus_capability_step_duration_seconds", Type: Histogram, Section: "Capabilities",
		Help:    "Time from the reconcile that began a step of a NexusAICapability until all of its objects were ready, also after it was disturbed. Steps that began before the operator started are not observed.",
		Labels:  []Label{{"step", "name of the step, as in `status.step.name`"}},
		Buckets: []float64{.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800}}
	RecoveryEnd = Definition{Name: "nexus_recovery_end_timestamp_seconds", Type: Gauge, Section: "Capabilities",
		Help: "Time until which the deletion of a capability can be undone ([undo.md](undo.md)), in seconds since the epoch: the earliest of the deletions in a state. 0 while there is none.",
		Labels: []Label{{"state",
			"`Waiting`, when the stores are deleted at that time, or `Released`, when the namespace is gone and the AWS resources stay until a person decides"}}}

	Resources = Definition{Name: "nexus_resources", Type: Gauge, Section: "Objects",
		Help: "Objects of the operator's kinds by kind and state.",
		Labels: []Label{{"kind", "kind of the object"},
			{"state", "`Recoverable` while the deletion can be undone, else `Deleting`, else `Paused`, else `Stalled`, else `Ready` at the current generation, else `Progressing`"}}}
	StalledResources = Definition{Name: "nexus_stalled_resources", Type: Gauge, Section: "Objects",
		Help: "Objects with condition Stalled by kind and reason, also those in deletion.",
		Labels: []Label{{"kind", "kind of the object"},
			{"reason", "reason of the condition, from the list in [reasons.md](reasons.md); `Other` from the 33rd reason of a kind on"}}}
	DriftedResources = Definition{Name: "nexus_drifted_resources", Type: Gauge, Section: "Objects",
		Help:   "AWS objects whose status lists drift, which is reported and not corrected, by kind.",
		Labels: []Label{{"kind", "kind of the object"}}}
	PendingPlans = Definition{Name: "nexus_pending_plans", Type: Gauge, Section: "Objects",
		Help:   "Capabilities and AWS objects whose plan waits for an approval ([plan-gate.md](plan-gate.md)), by kind.",
		Labels: []Label{{"kind", "kind of the object"}}}
	OldestPendingPlan = Definition{Name: "nexus_oldest_pending_plan_timestamp_seconds", Type: Gauge, Section: "Objects",
		Help:   "Time since which a plan of the kind has been waiting for an approval, in seconds since the epoch: that of the object that waits longest. 0 while none waits.",
		Labels: []Label{{"kind", "kind of the object"}}}
	DriftDetected = Definition{Name: "nexus_drift_detected_total", Type: Counter, Section: "Objects",
		Help:   "Times that an AWS resource was found changed outside the operator, by kind. A drift that lasts counts once.",
		Labels: []Label{{"kind", "kind of the object"}}}
	DriftCorrected = Definition{Name: "nexus_drift_corrected_total", Type: Counter, Section: "Objects",
		Help:   "Times that the operator corrected a drift and saw the AWS resource as declared again, by kind.",
		Labels: []Label{{"kind", "kind of the object"}}}

	DriftMessages = Definition{Name: "nexus_drift_events_messages_total", Type: Counter, Section: "Drift events",
		Help: "Messages read from the queues of drift events, by result. All but `Failed` ones are deleted from the queue.",
		Labels: []Label{{"result",
			"`Checked` (objects are checked), `Own` (a write of the operator), `Unknown` (no object has the resource), `Ineffective` (the request changed nothing), `Heartbeat`, " +
				"`OtherAccount` (not of the account of the AWSProvider), `Malformed`, `TooLarge`, or `Failed` (read again later)"}}}
	DriftHeartbeat = Definition{Name: "nexus_drift_events_heartbeat_timestamp_seconds", Type: Gauge, Section: "Drift events",
		Help:   "Time of the newest heartbeat that arrived through a queue of drift events, in seconds since the epoch. While it is less than five minutes old, checks are `--check-interval-with-events` apart.",
		Labels: []Label{{"account", "AWS account in which the events are made"}, {"region", "region in which the events are made"}}}
	DriftReadFailures = Definition{Name: "nexus_drift_events_read_failures_total", Type: Counter, Section: "Drift events",
		Help: "Failed attempts to read a queue of drift events, or to delete its messages."}

	AWSRequests = Definition{Name: "nexus_aws_requests_total", Type: Counter, Section: "AWS",
		Help: "AWS requests by service, operation, class and code of the answer.",
		Labels: []Label{{"service", "service in the SDK's words, in lower case, such as `s3`"},
			{"operation", "API operation, such as `CreateBucket`"},
			{"class", "`OK`, or the class of failure, such as `Denied`, `NotFound`, `Throttled` or `Transient`"},
			{"code", "error code of AWS; `OK` for success, `None` without an answer, `Other` from the 129th code on"}}}
	AWSRequestDuration = Definition{Name: "nexus_aws_request_duration_seconds", Type: Histogram, Section: "AWS",
		Help: "Duration of AWS requests, without the wait for their turn.", Labels: []Label{{"service", "as above"}, {"operation", "as above"}},
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}}
	AWSThrottled = Definition{Name: "nexus_aws_throttled_total", Type: Counter, Section: "AWS",
		Help: "AWS requests that AWS throttled, by service.", Labels: []Label{{"service", "as above"}}}
	AWSLimiterWait = Definition{Name: "nexus_aws_limiter_wait_seconds", Type: Histogram, Section: "AWS",
		Help:    "Time that AWS requests waited for their turn under the operator's own rate limit, also those that were refused in the end.",
		Labels:  []Label{{"service", "as above"}},
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10}}
	AWSLimiterRefused = Definition{Name: "nexus_aws_limiter_refused_total", Type: Counter, Section: "AWS",
		Help: "AWS requests that the operator's own rate limit refused, because their turn would not have come in time. Their objects are tried again.", Labels: []Label{{"service", "as above"}}}
	RoleSessionExpiry = Definition{Name: "nexus_aws_role_session_expiry_timestamp_seconds", Type: Gauge, Section: "AWS",
		Help: "When the first of the assumed-role sessions in use ends, in seconds since the epoch. Absent while no role was assumed in the last ten minutes. The operator replaces a session after three quarters of its lifetime."}
	RoleSessionRefreshFailures = Definition{Name: "nexus_aws_role_session_refresh_failures_total", Type: Counter, Section: "AWS",
		Help: "Failed attempts to get or to replace the credentials of an assumed role."}

	Intents = Definition{Name: "nexus_intents", Type: Gauge, Section: "Security intents",
		Help:   "Intents in the coverage of SecurityIntentBindings and ClusterSecurityIntentBindings, by policy engine and level.",
		Labels: []Label{{"engine", "name of the policy engine"}, {"level", "`Enforced`, `Audited`, `Partial` or `None`"}}}
)

// All returns the definitions of every metric, in the order of the document.
func All() []Definition {
	return []Definition{
		BuildInfo, Shards, ReconcileFailures,
		Capabilities, CapabilityPhase, CapabilityConditions, CapabilityStepDuration, RecoveryEnd,
		Resources, StalledResources, DriftedResources, PendingPlans, OldestPendingPlan, DriftDetected, DriftCorrected,
		DriftMessages, DriftHeartbeat, DriftReadFailures,
		AWSRequests, AWSRequestDuration, AWSThrottled, AWSLimiterWait, AWSLimiterRefused, RoleSessionExpiry, RoleSessionRefreshFailures,
		Intents,
	}
}

// Library lists metrics of controller-runtime, client-go and the Go client library that the alerts and dashboards of the
// chart use.
func Library() []Definition {
	return []Definition{
		{Name: "controller_runtime_reconcile_total", Type: Counter, Help: "Reconciles by controller and result."},
		{Name: "controller_runtime_reconcile_panics_total", Type: Counter, Help: "Panics in reconciles by controller."},
		{Name: "controller_runtime_reconcile_time_seconds", Type: Histogram, Help: "Duration of reconciles by controller."},
		{Name: "controller_runtime_active_workers", Type: Gauge, Help: "Workers that reconcile at this moment, by controller."},
		{Name: "controller_runtime_max_concurrent_reconciles", Type: Gauge, Help: "Workers by controller; `--workers`."},
		{Name: "workqueue_depth", Type: Gauge, Help: "Objects that wait to be reconciled, by controller."},
		{Name: "rest_client_requests_total", Type: Counter, Help: "Requests to the API server by status code and method."},
		{Name: "process_resident_memory_bytes", Type: Gauge, Help: "Memory of the process."},
		{Name: "process_cpu_seconds_total", Type: Counter, Help: "CPU time of the process."},
	}
}
