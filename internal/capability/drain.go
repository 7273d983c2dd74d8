// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The defaults of how pods end. Nodes take about a second to learn that a pod ends; the targets of a load balancer take longer.
const (
	defaultDrain int64 = 5
	defaultGrace int64 = 30
)

// drain is for how many seconds a pod of a component serves on before it gets the signal to terminate.
func drain(c component, f Facts) int64 {
	if f.NoDrain {
		return 0
	}
	if !c.isServed() { // nothing sends it requests
		return ptr.Deref(c.DrainSeconds, 0)
	}
	return ptr.Deref(c.DrainSeconds, defaultDrain)
}

// setTermination sets how pods end: they serve on while the cluster stops sending them requests, and then have the grace period to end.
// The grace period of Kubernetes includes the time of the hook.
func setTermination(k *compiler, c component, pod *corev1.PodSpec) {
	pod.TerminationGracePeriodSeconds = c.TerminationGracePeriodSeconds
	seconds := drain(c, k.facts)
	if seconds == 0 {
		return
	}
	pod.TerminationGracePeriodSeconds = new(seconds + ptr.Deref(c.TerminationGracePeriodSeconds, defaultGrace))
	pod.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
}

// cannotDrain reports whether a component is to drain and the API server does not know how.
func (s summary) cannotDrain() bool {
	return s.Facts.NoDrain && slices.ContainsFunc(componentsOf(&s.Capability.Spec), func(c component) bool { return drain(c, Facts{}) > 0 })
}
