// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// checkPlacement checks where pods run and how they end.
func checkPlacement(v *verdict, at string, c nexusv1.ComponentSpec) {
	if c.DrainSeconds != nil {
		checkWithin(v, at+".drainSeconds", *c.DrainSeconds, 0, 3600)
	}
	if c.TerminationGracePeriodSeconds != nil {
		checkWithin(v, at+".terminationGracePeriodSeconds", *c.TerminationGracePeriodSeconds, 1, 7200)
	}
	v.require(len(c.NodeSelector) <= maxList, at+".nodeSelector", "at most %d", maxList)
	checkLabels(v, at+".nodeSelector", c.NodeSelector)
	v.require(len(c.Tolerations) <= maxList, at+".tolerations", "at most %d", maxList)
	for i, t := range c.Tolerations {
		checkToleration(v, fmt.Sprintf("%s.tolerations[%d]", at, i), t)
	}
	checkAffinity(v, at+".affinity", c.Affinity)
	checkSpread(v, at+".topologySpreadConstraints", c.TopologySpreadConstraints)
}

func checkLabels(v *verdict, at string, labels map[string]nexusv1.LabelValue) {
	for _, key := range sortedKeys(labels) {
		v.matches(at+"."+key, key, 317, annotationPattern)
		v.matches(at+"."+key, string(labels[key]), maxLabel, labelPattern)
	}
}

func checkToleration(v *verdict, at string, t nexusv1.Toleration) {
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

func checkAffinity(v *verdict, at string, a *nexusv1.AffinitySpec) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		checkNodeAffinity(v, at+".nodeAffinity", n)
	}
	checkPodAffinity(v, at+".podAffinity", a.PodAffinity)
	checkPodAffinity(v, at+".podAntiAffinity", a.PodAntiAffinity)
}

// The fields of affinities.
const (
	required  = ".requiredDuringSchedulingIgnoredDuringExecution"
	preferred = ".preferredDuringSchedulingIgnoredDuringExecution"
)

func checkNodeAffinity(v *verdict, at string, n *nexusv1.NodeAffinity) {
	if n.Required != nil {
		terms := n.Required.NodeSelectorTerms
		v.require(len(terms) >= 1 && len(terms) <= 8, at+required+".nodeSelectorTerms", "1 to 8")
		for i, t := range terms {
			checkNodeTerm(v, fmt.Sprintf("%s.nodeSelectorTerms[%d]", at+required, i), t)
		}
	}
	v.require(len(n.Preferred) <= 8, at+preferred, "at most 8")
	for i, p := range n.Preferred {
		at := fmt.Sprintf("%s[%d]", at+preferred, i)
		checkWithin(v, at+".weight", int64(p.Weight), 1, 100)
		checkNodeTerm(v, at+".preference", p.Preference)
	}
}

func checkNodeTerm(v *verdict, at string, t nexusv1.NodeSelectorTerm) {
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

func checkPodAffinity(v *verdict, at string, p *nexusv1.PodAffinity) {
	if p == nil {
		return
	}
	v.require(len(p.Required) <= 8, at+required, "at most 8")
	for i, t := range p.Required {
		checkPodTerm(v, fmt.Sprintf("%s[%d]", at+required, i), t)
	}
	v.require(len(p.Preferred) <= 8, at+preferred, "at most 8")
	for i, t := range p.Preferred {
		at := fmt.Sprintf("%s[%d]", at+preferred, i)
		checkWithin(v, at+".weight", int64(t.Weight), 1, 100)
		checkPodTerm(v, at+".podAffinityTerm", t.PodAffinityTerm)
	}
}

func checkPodTerm(v *verdict, at string, t nexusv1.PodAffinityTerm) {
	v.matches(at+".topologyKey", string(t.TopologyKey), 317, annotationPattern)
	v.require(len(t.LabelSelector.MatchLabels) >= 1 && len(t.LabelSelector.MatchLabels) <= 8, at+".labelSelector.matchLabels", "1 to 8")
	checkLabels(v, at+".labelSelector.matchLabels", t.LabelSelector.MatchLabels)
}

func checkSpread(v *verdict, at string, constraints []nexusv1.TopologySpread) {
	v.require(len(constraints) <= 8, at, "at most 8")
	distinct(v, at, "", constraints, func(c nexusv1.TopologySpread) string {
		return string(c.TopologyKey) + " " + string(c.WhenUnsatisfiable)
	})
	for i, c := range constraints {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.matches(at+".topologyKey", string(c.TopologyKey), 317, annotationPattern)
		oneOf(v, at+".whenUnsatisfiable", c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		checkWithin(v, at+".maxSkew", int64(c.MaxSkew), 1, 1000)
		if c.MinDomains != nil {
			v.require(c.WhenUnsatisfiable == corev1.DoNotSchedule, at+".minDomains", "needs whenUnsatisfiable DoNotSchedule")
			checkWithin(v, at+".minDomains", int64(*c.MinDomains), 1, 1000)
		}
	}
}
