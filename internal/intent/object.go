// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// Labels of engine objects, in addition to those that the reconciler adds.
const (
	// LabelRule holds the id of the rule that an object is for.
	LabelRule = "intent.security.nimbus.com/rule"
)

// Labels and other marks of the pods of assessments, so that their results are found.
const (
	// LabelAssessment names the subject of a pod's assessment: AssessmentTLS.
	LabelAssessment = "intent.security.nimbus.com/assessment"
	AssessmentTLS   = "tls"
	// AnnotationPolicy names the NimbusPolicy that the assessment is for.
	AnnotationPolicy = "intent.security.nimbus.com/policy"
	// AssessorContainer is the container that writes the result as its termination message.
	AssessorContainer = "assessor"
)

// NewObject starts an engine's object for a rule, with the name that users know: <policy>-<id in lower
// case>, and -<suffix> where there are several. It has the policy's namespace; a cluster-scoped kind is
// for policies without one.
func NewObject(engine string, kind schema.GroupVersionKind, p Policy, r Rule, suffix string) *unstructured.Unstructured {
	name := p.Name + "-" + strings.ToLower(r.ID)
	if suffix != "" {
		name += "-" + suffix
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetName(ShortenName(name, maxName))
	u.SetNamespace(p.Namespace)
	u.SetLabels(map[string]string{LabelRule: r.ID})
	u.SetAnnotations(map[string]string{wellknown.LabelManagedBy: "nimbus-" + strings.ToLower(engine)})
	return u
}

// maxName is the longest name of an object with a DNS subdomain as its name.
const maxName = 253

// ShortenName cuts a name that is longer than an engine takes, and makes it unique by a hash. A valid
// name, or value of a label, still is one.
func ShortenName(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:limit-9], ".-") + "-" + hex.EncodeToString(sum[:4])
}

// Unstructured returns the selector as label selectors are written in objects.
func (s Selector) Unstructured() map[string]any {
	out := map[string]any{}
	if len(s.Labels) > 0 {
		labels := map[string]any{}
		for k, v := range s.Labels {
			labels[k] = v
		}
		out["matchLabels"] = labels
	}
	if len(s.Expressions) == 0 {
		return out
	}
	expressions := make([]any, len(s.Expressions))
	for i, e := range s.Expressions {
		expression := map[string]any{"key": e.Key, "operator": string(e.Operator)}
		if len(e.Values) > 0 {
			values := make([]any, len(e.Values))
			for j, v := range e.Values {
				values[j] = v
			}
			expression["values"] = values
		}
		expressions[i] = expression
	}
	out["matchExpressions"] = expressions
	return out
}

// Enforces returns the claim that the engine fulfills the rule: it blocks, or audits.
func Enforces(r Rule) Claim {
	if r.Audit() {
		return Claim{Intent: r.ID, Level: v1alpha1.LevelAudited}
	}
	return Claim{Intent: r.ID, Level: v1alpha1.LevelEnforced}
}

// Holds reports whether the claim is that something is enforced or audited.
func (c Claim) Holds() bool { return isEnforced(c.Level) }

// Partly is the claim that the engine does some of it.
func Partly(r Rule, reason, message string) Claim {
	return Claim{Intent: r.ID, Level: v1alpha1.LevelPartial, Reason: reason, Message: message}
}

// Not is the claim that the engine does none of it.
func Not(r Rule, reason, message string) Claim {
	return Claim{Intent: r.ID, Level: v1alpha1.LevelNone, Reason: reason, Message: message}
}
