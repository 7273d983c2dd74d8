// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// placement checks where pods run and how they end.
func (v *verdict) placement(at string, c nexusv1.ComponentSpec) {
	if c.DrainSeconds != nil {
		v.within(at+".drainSeconds", *c.DrainSeconds, 0, 3600)
	}
	if c.TerminationGracePeriodSeconds != nil {
		v.within(at+".terminationGracePeriodSeconds", *c.TerminationGracePeriodSeconds, 1, 7200)
	}
	v.require(len(c.NodeSelector) <= maxList, at+".nodeSelector", "at most %d", maxList)
	v.labels(at+".nodeSelector", c.NodeSelector)
	v.require(len(c.Tolerations) <= maxList, at+".tolerations", "at most %d", maxList)
	for i, t := range c.Tolerations {
		v.toleration(fmt.Sprintf("%s.tolerations[%d]", at, i), t)
	}
	v.affinity(at+".affinity", c.Affinity)
	v.spread(at+".topologySpreadConstraints", c.TopologySpreadConstraints)
}

func (v *verdict) labels(at string, labels map[string]nexusv1.LabelValue) {
	for _, key := range sortedKeys(labels) {
		v.matches(at+"."+key, key, 317, annotationPattern)
		v.matches(at+"."+key, string(labels[key]), maxLabel, labelPattern)
	}
}

func (v *verdict) toleration(at string, t nexusv1.Toleration) {
	v.optional(at+".key", string(t.Key), 317, annotationPattern)
	v.matches(at+".value", string(t.Value), maxLabel, labelPattern)
	oneOf(v, at+".operator", t.Operator, "", corev1.TolerationOpEqual, corev1.TolerationOpExists)
	oneOf(v, at+".effect", t.Effect, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
	exists := t.Operator == corev1.TolerationOpExists
	v.require(t.Key != "" || exists, at, "without a key, operator must be Exists")
	v.require(t.Value == "" || !exists, at, "operator Exists takes no value")
	if t.TolerationSeconds != nil {
		v.require(t.Effect == corev1.TaintEffectNoExecute, at, "tolerationSeconds needs effect NoExecute")
		v.require(*t.TolerationSeconds >= 0, at+".tolerationSeconds", "must not be negative")
	}
}

func (v *verdict) affinity(at string, a *nexusv1.AffinitySpec) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		v.nodeAffinity(at+".nodeAffinity", n)
	}
	v.podAffinity(at+".podAffinity", a.PodAffinity)
	v.podAffinity(at+".podAntiAffinity", a.PodAntiAffinity)
}

// The fields of affinities.
const (
	required  = ".requiredDuringSchedulingIgnoredDuringExecution"
	preferred = ".preferredDuringSchedulingIgnoredDuringExecution"
)

func (v *verdict) nodeAffinity(at string, n *nexusv1.NodeAffinity) {
	if n.Required != nil {
		terms := n.Required.NodeSelectorTerms
		v.require(len(terms) >= 1 && len(terms) <= 8, at+required+".nodeSelectorTerms", "1 to 8")
		for i, t := range terms {
			v.nodeTerm(fmt.Sprintf("%s.nodeSelectorTerms[%d]", at+required, i), t)
		}
	}
	v.require(len(n.Preferred) <= 8, at+preferred, "at most 8")
	for i, p := range n.Preferred {
		at := fmt.Sprintf("%s[%d]", at+preferred, i)
		v.within(at+".weight", int64(p.Weight), 1, 100)
		v.nodeTerm(at+".preference", p.Preference)
	}
}

func (v *verdict) nodeTerm(at string, t nexusv1.NodeSelectorTerm) {
	v.require(len(t.MatchExpressions) >= 1 && len(t.MatchExpressions) <= 8, at+".matchExpressions", "1 to 8")
	for i, e := range t.MatchExpressions {
		at := fmt.Sprintf("%s.matchExpressions[%d]", at, i)
		v.matches(at+".key", string(e.Key), 317, annotationPattern)
		oneOf(v, at+".operator", e.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
		least, most := 1, 32
		switch e.Operator {
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			least, most = 0, 0
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			most = 1
		}
		v.require(len(e.Values) >= least && len(e.Values) <= most, at+".values",
			"In and NotIn need 1 to 32 values, Gt and Lt one value, Exists and DoesNotExist none")
		v.require(!slices.ContainsFunc(e.Values, func(l nexusv1.LabelValue) bool { return len(l) > maxLabel || !labelPattern.MatchString(string(l)) }),
			at+".values", "a value is not a legal label value")
	}
}

func (v *verdict) podAffinity(at string, p *nexusv1.PodAffinity) {
	if p == nil {
		return
	}
	v.require(len(p.Required) <= 8, at+required, "at most 8")
	for i, t := range p.Required {
		v.podTerm(fmt.Sprintf("%s[%d]", at+required, i), t)
	}
	v.require(len(p.Preferred) <= 8, at+preferred, "at most 8")
	for i, t := range p.Preferred {
		at := fmt.Sprintf("%s[%d]", at+preferred, i)
		v.within(at+".weight", int64(t.Weight), 1, 100)
		v.podTerm(at+".podAffinityTerm", t.PodAffinityTerm)
	}
}

func (v *verdict) podTerm(at string, t nexusv1.PodAffinityTerm) {
	v.matches(at+".topologyKey", string(t.TopologyKey), 317, annotationPattern)
	v.require(len(t.LabelSelector.MatchLabels) >= 1 && len(t.LabelSelector.MatchLabels) <= 8, at+".labelSelector.matchLabels", "1 to 8")
	v.labels(at+".labelSelector.matchLabels", t.LabelSelector.MatchLabels)
}

func (v *verdict) spread(at string, constraints []nexusv1.TopologySpread) {
	v.require(len(constraints) <= 8, at, "at most 8")
	distinct(v, at, "", constraints, func(c nexusv1.TopologySpread) string {
		return string(c.TopologyKey) + " " + string(c.WhenUnsatisfiable)
	})
	for i, c := range constraints {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.matches(at+".topologyKey", string(c.TopologyKey), 317, annotationPattern)
		oneOf(v, at+".whenUnsatisfiable", c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		v.within(at+".maxSkew", int64(c.MaxSkew), 1, 1000)
		if c.MinDomains != nil {
			v.require(c.WhenUnsatisfiable == corev1.DoNotSchedule, at+".minDomains", "needs whenUnsatisfiable DoNotSchedule")
			v.within(at+".minDomains", int64(*c.MinDomains), 1, 1000)
		}
	}
}
