// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Healing records the replacement of pods that started without credentials.
type Healing struct {
	// Injects is true where the cluster is known to give pods credentials when they start.
	Injects bool
	// Held says why no pod is replaced although some lack credentials; empty while the operator replaces them, or need not.
	Held string
	// Waits says why the replacement of a pod waits. The wait may end without a person.
	Waits string
}

// The limit of the replacements of pods without credentials: at most maxReplacements within the window. The window of a Deployment grows as
// long as its replacements do not help, up to longestWindow, so that a lasting failure costs ever fewer pods.
const (
	maxReplacements   = 3
	replacementWindow = 10 * time.Minute
	longestWindow     = 6 * time.Hour
	// maxReplaced bounds status.replacedPods.
	maxReplaced = 32
	// credentialsSettle is the least age of a pod that is replaced. Associations of EKS Pod Identity take effect some seconds after EKS
	// acknowledged them.
	// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-association.html
	credentialsSettle = 5 * time.Second
)

// CredentialPods are the pods of a Deployment's newest template, by whether they have a way to AWS credentials.
type CredentialPods struct {
	Have, Lack []corev1.Pod
}

// PodsToReplace chooses, among the pods of each Deployment that lack credentials, those to be replaced now. It returns the records of the
// replacements that still count, and whether the bound leaves pods without credentials. A pod that a record names and that is
// still there is chosen again, without a new record.
func PodsToReplace(records []nexusv1.ReplacedPod, of map[string]CredentialPods, now time.Time) (chosen, kept []nexusv1.ReplacedPod,
	bounded bool) {
	kept = replacementsThatCount(records, of, now)
	ofAll := maxReplacements - useless(since(kept, now.Add(-replacementWindow)), of)
	for _, d := range part.SortedKeys(of) {
		alone := map[string]CredentialPods{d: of[d]}
		left := min(ofAll, maxReplacements-useless(since(kept, now.Add(-windowOf(kept, d))), alone))
		for _, p := range of[d].Lack {
			i := slices.IndexFunc(kept, func(r nexusv1.ReplacedPod) bool { return r.UID == string(p.UID) })
			switch {
			case i >= 0:
				chosen = append(chosen, kept[i])
			case now.Sub(p.CreationTimestamp.Time) < credentialsSettle:
			case left <= 0 || len(kept) == maxReplaced:
				bounded = true
			default:
				left--
				ofAll--
				r := nexusv1.ReplacedPod{Deployment: d, Name: p.Name, UID: string(p.UID), Time: metav1.NewTime(now)}
				chosen, kept = append(chosen, r), append(kept, r)
			}
		}
	}
	return chosen, kept, bounded
}

// replacementsThatCount returns the records that are younger than replacementWindow. If no pod of a Deployment has got credentials since
// its first record, it also returns that record and the latest ones, maxReplacements at most.
func replacementsThatCount(records []nexusv1.ReplacedPod, of map[string]CredentialPods, now time.Time) []nexusv1.ReplacedPod {
	var out []nexusv1.ReplacedPod
	for i, r := range records {
		all := replacementsOf(records, r.Deployment)
		first := all[0].Time.Time.Truncate(time.Second)
		pods, known := of[r.Deployment]
		helped := slices.ContainsFunc(pods.Have, func(p corev1.Pod) bool { return !p.CreationTimestamp.Time.Before(first) })
		later := len(replacementsOf(records[i+1:], r.Deployment))
		if now.Sub(r.Time.Time) < replacementWindow || known && !helped && (later == len(all)-1 || later < maxReplacements) {
			out = append(out, r)
		}
	}
	return out
}

// windowOf returns the window of a Deployment.
func windowOf(records []nexusv1.ReplacedPod, deployment string) time.Duration {
	all := replacementsOf(records, deployment)
	if len(all) == 0 {
		return replacementWindow
	}
	return min(max(all[len(all)-1].Time.Sub(all[0].Time.Time), replacementWindow), longestWindow)
}

// replacementsOf returns the records of a Deployment, the oldest first.
func replacementsOf(records []nexusv1.ReplacedPod, deployment string) []nexusv1.ReplacedPod {
	return slices.DeleteFunc(slices.Clone(records), func(r nexusv1.ReplacedPod) bool { return r.Deployment != deployment })
}

// since returns the records of replacements after a time.
func since(records []nexusv1.ReplacedPod, start time.Time) []nexusv1.ReplacedPod {
	return slices.DeleteFunc(slices.Clone(records), func(r nexusv1.ReplacedPod) bool { return !r.Time.Time.After(start) })
}

// useless counts the replacements that no pod with credentials has followed yet.
func useless(records []nexusv1.ReplacedPod, of map[string]CredentialPods) int {
	n := 0
	for _, d := range part.SortedKeys(of) {
		var first time.Time
		made := 0
		for _, r := range records {
			if r.Deployment == d {
				if made++; first.IsZero() || r.Time.Time.Before(first) {
					first = r.Time.Time
				}
			}
		}
		for _, p := range of[d].Have {
			if made > 0 && !p.CreationTimestamp.Time.Before(first.Truncate(time.Second)) {
				made--
			}
		}
		n += made
	}
	return n
}

// ReplacementsExhausted is the message that the limit of replacements is reached.
const ReplacementsExhausted = "3 pods that were replaced have started without credentials again, so that the operator waits before it replaces more, longer each time: " +
	"look at what adds the credentials, on EKS the pod identity webhook of the control plane; once it does, restart the pods with kubectl rollout restart"

// lackingPods names the Deployments with pods that lack credentials, each with the number of these pods.
func (s summary) lackingPods() []string {
	var ids []string
	for _, v := range s.nodes {
		if v.NoCredentials != "" {
			ids = append(ids, v.NoCredentials+" of "+v.ID)
		}
	}
	return ids
}

// credentials reports whether the pods have a way to the role of the capability.
func (s summary) credentials() metav1.Condition {
	c := metav1.Condition{Type: nexusv1.ConditionCredentialsInPods, Status: metav1.ConditionTrue, Reason: status.ReasonReady}
	if slices.ContainsFunc(s.nodes, func(v view) bool { return v.Object.GetKind() == workloads.KindDeployment && !v.isDone() && !v.Serving }) {
		c.Status, c.Reason = metav1.ConditionFalse, status.ReasonNotStarted
	}
	if ids := s.lackingPods(); len(ids) > 0 {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, status.ReasonCredentialsNotInPods, status.Truncate(s.withoutCredentials(ids), 1024)
	}
	return c
}

func (s summary) withoutCredentials(ids []string) string {
	out := strings.Join(ids, ", ") + " have neither AWS_ROLE_ARN with a projected token nor the EKS Pod Identity agent's address"
	remedy := "install the EKS pod identity webhook (part of EKS), then restart the pods with kubectl rollout restart"
	if identity.WaysOf(s.Capability, s.Facts).Pods == nexusv1.IdentityPodIdentity {
		out = strings.Join(ids, ", ") + " do not have AWS_CONTAINER_CREDENTIALS_FULL_URI, which EKS adds when they start after their PodIdentityAssociation"
		remedy = "restart them with kubectl rollout restart"
	}
	switch {
	case s.Healing.Held != "":
		return out + ": " + s.Healing.Held
	case s.Healing.Waits != "":
		return out + ": " + s.Healing.Waits
	case s.Healing.Injects:
		return out + ": the operator replaces them"
	default:
		return out + ": " + remedy
	}
}

// credentialError keeps a capability from being Ready for the first time while pods lack credentials that the cluster gives others. Where
// nothing is known to give credentials the pods may have some of another kind, such as a node's role; and pods that run and serve are no
// less ready for a neighbor that started without.
func (s summary) credentialError() error {
	ids := s.lackingPods()
	if len(ids) == 0 || !s.Healing.Injects || s.hasRun() || s.Deleting {
		return nil
	}
	if s.Healing.Held != "" {
		return &status.Stalled{Reason: status.ReasonCredentialsNotInPods, Message: s.withoutCredentials(ids)}
	}
	return &status.Waiting{Reason: status.ReasonCredentialsNotInPods, For: "AWS credentials: " + s.withoutCredentials(ids)}
}
