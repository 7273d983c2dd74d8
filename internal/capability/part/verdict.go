// SPDX-License-Identifier: Apache-2.0

package part

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationLastApplied is kubectl's own record; passed on it would lie.
const AnnotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ReservedNexus begins the annotations of the operator.
const ReservedNexus = "nexus.ai/"

// Verdict keeps the first requirement that is not met.
type Verdict struct {
	First *status.Stalled
	Read  Reads
	Parts Parts
}

// Require refuses a field if ok is false.
func (v *Verdict) Require(ok bool, field, format string, args ...any) {
	if !ok && v.First == nil {
		v.First = status.Invalid(field, format, args...)
	}
}

// Refuse refuses a field that is valid, but not acceptable for the reason.
func (v *Verdict) Refuse(reason, field, format string, args ...any) {
	if v.First == nil {
		v.First = &status.Stalled{Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
	}
}

// Matches requires a bounded text of a pattern.
func (v *Verdict) Matches(field, text string, most int, p *regexp.Regexp) {
	v.Require(len(text) <= most, field, "at most %d characters", most)
	v.Require(p.MatchString(text), field, "%q does not match %s", status.Truncate(text, 64), p)
}

// MapKey requires a key that Kubernetes takes, of an annotation or a label. The schema has it as a rule, because the keys of maps have no
// pattern there.
func (v *Verdict) MapKey(field, key string) { v.Matches(field, key, 317, mapKeyPattern) }

var mapKeyPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// AnnotationKeys requires annotations that Kubernetes takes.
func (v *Verdict) AnnotationKeys(at string, annotations map[string]nexusv1.AnnotationValue) {
	for _, key := range SortedKeys(annotations) {
		v.MapKey(fmt.Sprintf("%s[%s]", at, status.Truncate(key, 64)), key)
	}
}

// OwnedAnnotations refuses the annotations that the operator sets: a value that is dropped silently is taken for one in force.
func (v *Verdict) OwnedAnnotations(at string, annotations map[string]nexusv1.AnnotationValue, owned []string, remedy string) {
	for _, key := range SortedKeys(annotations) {
		v.Require(!slices.Contains(owned, key) && !strings.HasPrefix(key, ReservedNexus), fmt.Sprintf("%s[%s]", at, status.Truncate(key, 64)),
			"is set by the operator: remove it, and set %s where another value is needed", remedy)
	}
}

// Bounds that follow from the names AWS and Kubernetes allow.
const (
	MaxLabel = 63
	// MaxPolicies limits the characters of all inline policies of a role, without white space.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
	MaxPolicies = 10240
)

// Local requires that an ARN is of a region and of the provider's account, as far as those are known. It ignores a
// text that is no ARN, which a pattern refuses.
func (v *Verdict) Local(at, noun, arn, region string, f Facts) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return
	}
	if region != "" {
		v.Require(parts[3] == region, at, "the %s is in region %s and the capability in %s: name a %s of %s", noun, parts[3], region, noun,
			region)
	}
	v.Require(f.Provider.Account == "" || parts[4] == f.Provider.Account, at,
		"the %s belongs to account %s and the capability to %s: name a %s of that account", noun, parts[4], f.Provider.Account, noun)
}
