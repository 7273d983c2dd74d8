// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// checkPlacement checks where pods run.
func checkPlacement(v *part.Verdict, at string, c nexusv1.ComponentSpec) {
	checkLabelKeys(v, at+".nodeSelector", c.NodeSelector)
	for i, t := range c.Tolerations {
		checkToleration(v, fmt.Sprintf("%s.tolerations[%d]", at, i), t)
	}
	checkAffinity(v, at+".affinity", c.Affinity)
	checkSpread(v, at+".topologySpreadConstraints", c.TopologySpreadConstraints)
}

func checkLabelKeys(v *part.Verdict, at string, labels map[string]nexusv1.LabelValue) {
	for _, key := range part.SortedKeys(labels) {
		v.MapKey(at+"."+key, key)
	}
}

func checkToleration(v *part.Verdict, at string, t nexusv1.Toleration) {
	exists := t.Operator == corev1.TolerationOpExists
	v.Require(t.Key != "" || exists, at, "without a key, operator must be Exists")
	v.Require(t.Value == "" || !exists, at, "operator Exists takes no value")
	v.Require(t.TolerationSeconds == nil || t.Effect == corev1.TaintEffectNoExecute, at, "tolerationSeconds needs effect NoExecute")
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
		for i, t := range n.Required.NodeSelectorTerms {
			checkNodeTerm(v, fmt.Sprintf("%s.nodeSelectorTerms[%d]", at+required, i), t)
		}
	}
	for i, p := range n.Preferred {
		checkNodeTerm(v, fmt.Sprintf("%s[%d].preference", at+preferred, i), p.Preference)
	}
}

func checkNodeTerm(v *part.Verdict, at string, t nexusv1.NodeSelectorTerm) {
	for i, e := range t.MatchExpressions {
		fits := len(e.Values) >= 1
		switch e.Operator {
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			fits = len(e.Values) == 0
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			fits = len(e.Values) == 1
		}
		v.Require(fits, fmt.Sprintf("%s.matchExpressions[%d].values", at, i),
			"In and NotIn need 1 to 32 values, Gt and Lt one value, Exists and DoesNotExist none")
	}
}

func checkPodAffinity(v *part.Verdict, at string, p *nexusv1.PodAffinity) {
	if p == nil {
		return
	}
	for i, t := range p.Required {
		checkPodTerm(v, fmt.Sprintf("%s[%d]", at+required, i), t)
	}
	for i, t := range p.Preferred {
		checkPodTerm(v, fmt.Sprintf("%s[%d].podAffinityTerm", at+preferred, i), t.PodAffinityTerm)
	}
}

func checkPodTerm(v *part.Verdict, at string, t nexusv1.PodAffinityTerm) {
	checkLabelKeys(v, at+".labelSelector.matchLabels", t.LabelSelector.MatchLabels)
}

func checkSpread(v *part.Verdict, at string, constraints []nexusv1.TopologySpread) {
	for i, c := range constraints {
		v.Require(c.MinDomains == nil || c.WhenUnsatisfiable == corev1.DoNotSchedule, fmt.Sprintf("%s[%d].minDomains", at, i),
			"needs whenUnsatisfiable DoNotSchedule")
	}
}

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
	if s.Capabilities != nil {
		for _, c := range s.Capabilities.Add {
			v.Require(c == "NET_BIND_SERVICE", at+".capabilities.add", "only NET_BIND_SERVICE may be added"+restricted)
		}
	}
	if p := s.SeccompProfile; p != nil {
		local := p.Type == corev1.SeccompProfileTypeLocalhost
		v.Require(local == (p.LocalhostProfile != ""), at+".seccompProfile.localhostProfile", "Localhost needs it, and RuntimeDefault takes none")
	}
}

func checkScratch(v *part.Verdict, at string, volumes []nexusv1.ScratchVolume) {
	seen := map[string]bool{}
	for i, s := range volumes {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.Require(!seen[s.MountPath], at+".mountPath", "%q is listed twice", s.MountPath)
		seen[s.MountPath] = true
		v.Require(!strings.HasPrefix(s.MountPath, "/var/run/secrets") && !strings.HasPrefix(s.MountPath, "/run/secrets"), at+".mountPath",
			"the credentials of the pod are there: choose another path")
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
	v.Require(a.Min == nil || *a.Min <= a.Max, at+".min", "must not be more than max")
	resources := resourcesOf(part.Component{ComponentSpec: c})
	_, requested := resources.Requests[corev1.ResourceCPU]
	cpu := resources.Requests[corev1.ResourceCPU]
	if !requested { // the API server then takes the limit for the request
		cpu = resources.Limits[corev1.ResourceCPU]
	}
	v.Require(cpu.Sign() > 0, at, "needs a request of CPU, of which targetCPU is a percentage: set resources.requests.cpu")
}

var percentagePattern = regexp.MustCompile(`^(100|[1-9]?[0-9])%$`)

// checkShare allows a number of pods or a percentage.
func checkShare(v *part.Verdict, at string, s *intstr.IntOrString) {
	if s == nil {
		return
	}
	number := s.Type == intstr.Int && s.IntVal >= 0 && s.IntVal <= 1000
	v.Require(number || s.Type == intstr.String && percentagePattern.MatchString(s.StrVal), at, "0 to 1000, or 0%% to 100%%")
}
