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

// Matches requires a bounded text of a pattern; empty is for the caller to allow.
func (v *Verdict) Matches(field, text string, most int, p *regexp.Regexp) {
	v.Require(len(text) <= most, field, "at most %d characters", most)
	v.Require(p.MatchString(text), field, "%q does not match %s", status.Truncate(text, 64), p)
}

// Optional is Matches for a text that may be empty.
func (v *Verdict) Optional(field, text string, most int, p *regexp.Regexp) {
	if text != "" {
		v.Matches(field, text, most, p)
	}
}

// OneOf requires one of the allowed values.
func OneOf[T ~string](v *Verdict, field string, value T, allowed ...T) {
	v.Require(slices.Contains(allowed, value), field, "%q is none of %v", string(value), allowed)
}

// Annotations requires annotations that Kubernetes takes.
func (v *Verdict) Annotations(at string, annotations map[string]nexusv1.AnnotationValue) {
	v.Require(len(annotations) <= 32, at, "at most 32")
	for _, key := range SortedKeys(annotations) {
		at := fmt.Sprintf("%s[%s]", at, status.Truncate(key, 64))
		v.Matches(at, key, 317, AnnotationPattern)
		v.Require(len(annotations[key]) <= 1024, at, "at most 1024 characters")
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
	MaxList  = 16
	// MaxPolicies limits the characters of all inline policies of a role, without white space.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
	MaxPolicies = 10240
)

// The patterns of the schema, here once more: the operator does not trust that a server checked them.
var (
	NamePattern       = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	RegionPattern     = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)
	AnnotationPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
	SubdomainPattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	AccessPattern     = regexp.MustCompile(`^([a-z0-9A-Z]+/)?[a-z]([a-z0-9-]*[a-z0-9])?$`)
)

// Distinct requires legal names, each once.
func (v *Verdict) Distinct(at string, names []string, most int) {
	v.Require(len(names) <= MaxList, at, "at most %d", MaxList)
	seen := map[string]bool{}
	for i, n := range names {
		field := fmt.Sprintf("%s[%d].name", at, i)
		v.Matches(field, n, most, NamePattern)
		v.Require(!seen[n], field, "%q is there twice", n)
		seen[n] = true
	}
}

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
	v.Require(f.Account == "" || parts[4] == f.Account, at, "the %s belongs to account %s and the capability to %s: name a %s of that account", noun, parts[4], f.Account, noun)
}

// CheckObjectName requires that a reference names an object.
func CheckObjectName(v *Verdict, at, name string) { v.Matches(at, name, 253, SubdomainPattern) }
