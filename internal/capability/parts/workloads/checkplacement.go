// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// checkPlacement checks where pods run and how they end.
func checkPlacement(v *part.Verdict, at string, c nexusv1.ComponentSpec) {
	if c.DrainSeconds != nil {
		checkWithin(v, at+".drainSeconds", *c.DrainSeconds, 0, 3600)
	}
	if c.TerminationGracePeriodSeconds != nil {
		checkWithin(v, at+".terminationGracePeriodSeconds", *c.TerminationGracePeriodSeconds, 1, 7200)
	}
	v.Require(len(c.NodeSelector) <= part.MaxList, at+".nodeSelector", "at most %d", part.MaxList)
	checkLabels(v, at+".nodeSelector", c.NodeSelector)
	v.Require(len(c.Tolerations) <= part.MaxList, at+".tolerations", "at most %d", part.MaxList)
	for i, t := range c.Tolerations {
		checkToleration(v, fmt.Sprintf("%s.tolerations[%d]", at, i), t)
	}
	checkAffinity(v, at+".affinity", c.Affinity)
	checkSpread(v, at+".topologySpreadConstraints", c.TopologySpreadConstraints)
}

func checkLabels(v *part.Verdict, at string, labels map[string]nexusv1.LabelValue) {
	for _, key := range part.SortedKeys(labels) {
		v.Matches(at+"."+key, key, 317, part.AnnotationPattern)
		v.Matches(at+"."+key, string(labels[key]), part.MaxLabel, labelPattern)
	}
}

func checkToleration(v *part.Verdict, at string, t nexusv1.Toleration) {
	v.Optional(at+".key", string(t.Key), 317, part.AnnotationPattern)
	v.Matches(at+".value", string(t.Value), part.MaxLabel, labelPattern)
	part.OneOf(v, at+".operator", t.Operator, "", corev1.TolerationOpEqual, corev1.TolerationOpExists)
	part.OneOf(v, at+".effect", t.Effect, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
	exists := t.Operator == corev1.TolerationOpExists
	v.Require(t.Key != "" || exists, at, "without a key, operator must be Exists")
	v.Require(t.Value == "" || !exists, at, "operator Exists takes no value")
	if t.TolerationSeconds != nil {
		v.Require(t.Effect == corev1.TaintEffectNoExecute, at, "tolerationSeconds needs effect NoExecute")
		v.Require(*t.TolerationSeconds >= 0, at+".tolerationSeconds", "must not be negative")
	}
}

func checkAffinity(v *part.Verdict, at string, a *nexusv1.AffinitySpec) {
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

func checkNodeAffinity(v *part.Verdict, at string, n *nexusv1.NodeAffinity) {
	if n.Required != nil {
		terms := n.Required.NodeSelectorTerms
		v.Require(len(terms) >= 1 && len(terms) <= 8, at+required+".nodeSelectorTerms", "1 to 8")
		for i, t := range terms {
			checkNodeTerm(v, fmt.Sprintf("%s.nodeSelectorTerms[%d]", at+required, i), t)
		}
	}
	v.Require(len(n.Preferred) <= 8, at+preferred, "at most 8")
	for i, p := range n.Preferred {
		at := fmt.Sprintf("%s[%d]", at+preferred, i)
		checkWithin(v, at+".weight", int64(p.Weight), 1, 100)
		checkNodeTerm(v, at+".preference", p.Preference)
	}
}

func checkNodeTerm(v *part.Verdict, at string, t nexusv1.NodeSelectorTerm) {
	v.Require(len(t.MatchExpressions) >= 1 && len(t.MatchExpressions) <= 8, at+".matchExpressions", "1 to 8")
	for i, e := range t.MatchExpressions {
		at := fmt.Sprintf("%s.matchExpressions[%d]", at, i)
		v.Matches(at+".key", string(e.Key), 317, part.AnnotationPattern)
		part.OneOf(v, at+".operator", e.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
		least, most := 1, 32
		switch e.Operator {
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			least, most = 0, 0
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			most = 1
		}
		v.Require(len(e.Values) >= least && len(e.Values) <= most, at+".values",
			"In and NotIn need 1 to 32 values, Gt and Lt one value, Exists and DoesNotExist none")
		v.Require(!slices.ContainsFunc(e.Values,
			func(l nexusv1.LabelValue) bool { return len(l) > part.MaxLabel || !labelPattern.MatchString(string(l)) }),
			at+".values", "a value is not a legal label value")
	}
}

func checkPodAffinity(v *part.Verdict, at string, p *nexusv1.PodAffinity) {
	if p == nil {
		return
	}
	v.Require(len(p.Required) <= 8, at+required, "at most 8")
	for i, t := range p.Required {
		checkPodTerm(v, fmt.Sprintf("%s[%d]", at+required, i), t)
	}
	v.Require(len(p.Preferred) <= 8, at+preferred, "at most 8")
	for i, t := range p.Preferred {
		at := fmt.Sprintf("%s[%d]", at+preferred, i)
		checkWithin(v, at+".weight", int64(t.Weight), 1, 100)
		checkPodTerm(v, at+".podAffinityTerm", t.PodAffinityTerm)
	}
}

func checkPodTerm(v *part.Verdict, at string, t nexusv1.PodAffinityTerm) {
	v.Matches(at+".topologyKey", string(t.TopologyKey), 317, part.AnnotationPattern)
	v.Require(len(t.LabelSelector.MatchLabels) >= 1 && len(t.LabelSelector.MatchLabels) <= 8, at+".labelSelector.matchLabels", "1 to 8")
	checkLabels(v, at+".labelSelector.matchLabels", t.LabelSelector.MatchLabels)
}

func checkSpread(v *part.Verdict, at string, constraints []nexusv1.TopologySpread) {
	v.Require(len(constraints) <= 8, at, "at most 8")
	distinct(v, at, "", constraints, func(c nexusv1.TopologySpread) string {
		return string(c.TopologyKey) + " " + string(c.WhenUnsatisfiable)
	})
	for i, c := range constraints {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.Matches(at+".topologyKey", string(c.TopologyKey), 317, part.AnnotationPattern)
		part.OneOf(v, at+".whenUnsatisfiable", c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		checkWithin(v, at+".maxSkew", int64(c.MaxSkew), 1, 1000)
		if c.MinDomains != nil {
			v.Require(c.WhenUnsatisfiable == corev1.DoNotSchedule, at+".minDomains", "needs whenUnsatisfiable DoNotSchedule")
			checkWithin(v, at+".minDomains", int64(*c.MinDomains), 1, 1000)
		}
	}
}

var (
	volumePattern     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	mountPattern      = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
	profilePattern    = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)*$`)
	percentagePattern = regexp.MustCompile(`^(100|[1-9]?[0-9])%$`)
)

// restricted ends the messages about settings that Pod Security restricted refuses.
const restricted = ": pods meet Pod Security restricted"

// checkSecurity refuses settings that would weaken a pod.
func checkSecurity(v *part.Verdict, at string, s *nexusv1.SecurityContextSpec) {
	if s == nil {
		return
	}
	v.Require(part.BoolOr(s.RunAsNonRoot, true), at+".runAsNonRoot", "must not be false"+restricted)
	v.Require(!part.BoolOr(s.AllowPrivilegeEscalation, false), at+".allowPrivilegeEscalation", "must not be true"+restricted)
	v.Require(!part.BoolOr(s.Privileged, false), at+".privileged", "must not be true"+restricted)
	const most = 1<<31 - 1
	if s.RunAsUser != nil {
		checkWithin(v, at+".runAsUser", *s.RunAsUser, 1, most)
	}
	if s.RunAsGroup != nil {
		checkWithin(v, at+".runAsGroup", *s.RunAsGroup, 0, most)
	}
	if s.FSGroup != nil {
		checkWithin(v, at+".fsGroup", *s.FSGroup, 0, most)
	}
	if s.Capabilities != nil {
		for _, c := range s.Capabilities.Add {
			v.Require(c == "NET_BIND_SERVICE", at+".capabilities.add", "only NET_BIND_SERVICE may be added"+restricted)
		}
		v.Require(len(s.Capabilities.Add) <= 1, at+".capabilities.add", "each once")
	}
	if p := s.SeccompProfile; p != nil {
		part.OneOf(v, at+".seccompProfile.type", p.Type, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeLocalhost)
		local := p.Type == corev1.SeccompProfileTypeLocalhost
		v.Require(local == (p.LocalhostProfile != ""), at+".seccompProfile.localhostProfile", "Localhost needs it, and RuntimeDefault takes none")
		v.Optional(at+".seccompProfile.localhostProfile", p.LocalhostProfile, 256, profilePattern)
	}
}

func checkScratch(v *part.Verdict, at string, volumes []nexusv1.ScratchVolume) {
	v.Require(len(volumes) <= 8, at, "at most 8")
	distinct(v, at, ".name", volumes, func(s nexusv1.ScratchVolume) string { return s.Name })
	distinct(v, at, ".mountPath", volumes, func(s nexusv1.ScratchVolume) string { return s.MountPath })
	for i, s := range volumes {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.Matches(at+".name", s.Name, part.MaxLabel, volumePattern)
		v.Matches(at+".mountPath", s.MountPath, 256, mountPattern)
		v.Require(!strings.HasPrefix(s.MountPath, "/var/run/secrets") && !strings.HasPrefix(s.MountPath, "/run/secrets"), at+".mountPath",
			"the credentials of the pod are there: choose another path")
		part.OneOf(v, at+".medium", s.Medium, "", corev1.StorageMediumMemory)
		v.Require(s.SizeLimit == nil || s.SizeLimit.Sign() > 0, at+".sizeLimit", "must be more than 0")
	}
}

// checkScaling checks the autoscaler and the disruption budget of a component.
func checkScaling(v *part.Verdict, at string, c nexusv1.ComponentSpec) {
	if p := c.PDB; p != nil {
		v.Require(p.MinAvailable == nil || p.MaxUnavailable == nil, at+".pdb",
			"minAvailable and maxUnavailable exclude each other: set one of them")
		checkShare(v, at+".pdb.minAvailable", p.MinAvailable)
		checkShare(v, at+".pdb.maxUnavailable", p.MaxUnavailable)
	}
	a := c.Autoscaling
	if a == nil {
		return
	}
	at += ".autoscaling"
	checkWithin(v, at+".max", int64(a.Max), 1, 1000)
	if a.Min != nil {
		checkWithin(v, at+".min", int64(*a.Min), 1, 1000)
		v.Require(*a.Min <= a.Max, at+".min", "must not be more than max")
	}
	if a.TargetCPU != nil {
		checkWithin(v, at+".targetCPU", int64(*a.TargetCPU), 1, 1000)
	}
	resources := resourcesOf(part.Component{ComponentSpec: c})
	_, requested := resources.Requests[corev1.ResourceCPU]
	cpu := resources.Requests[corev1.ResourceCPU]
	if !requested { // the API server then takes the limit for the request
		cpu = resources.Limits[corev1.ResourceCPU]
	}
	v.Require(cpu.Sign() > 0, at, "needs a request of CPU, of which targetCPU is a percentage: set resources.requests.cpu")
}

// checkShare allows a number of pods or a percentage.
func checkShare(v *part.Verdict, at string, s *intstr.IntOrString) {
	if s == nil {
		return
	}
	number := s.Type == intstr.Int && s.IntVal >= 0 && s.IntVal <= 1000
	v.Require(number || s.Type == intstr.String && percentagePattern.MatchString(s.StrVal), at, "0 to 1000, or 0%% to 100%%")
}
