// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// The defaults of how pods end. Nodes take about a second to learn that a pod ends; the targets of a load balancer take longer.
const (
	defaultDrain int64 = 5
	defaultGrace int64 = 30
)

// drain is for how many seconds a pod of a component serves on before it gets the signal to terminate.
func drain(c part.Component, f part.Facts) int64 {
	if f.NoDrain {
		return 0
	}
	if !c.IsServed() { // nothing sends it requests
		return ptr.Deref(c.DrainSeconds, 0)
	}
	return ptr.Deref(c.DrainSeconds, defaultDrain)
}

// setTermination sets how pods end: they serve on while the cluster stops sending them requests, and then have the grace period to end.
// The grace period of Kubernetes includes the time of the hook.
func setTermination(k *part.Compiler, c part.Component, pod *corev1.PodSpec) {
	pod.TerminationGracePeriodSeconds = c.TerminationGracePeriodSeconds
	seconds := drain(c, k.Facts)
	if seconds == 0 {
		return
	}
	pod.TerminationGracePeriodSeconds = new(seconds + ptr.Deref(c.TerminationGracePeriodSeconds, defaultGrace))
	pod.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
}

// cannotDrain reports whether a component is to drain and the API server does not know how.
func (s summary) cannotDrain() bool {
	return s.Facts.NoDrain && slices.ContainsFunc(part.ComponentsOf(&s.Capability.Spec), func(c part.Component) bool { return drain(c, part.Facts{}) > 0 })
}
