// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

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
		v.Require(p.MinAvailable == nil || p.MaxUnavailable == nil, at+".pdb", "minAvailable and maxUnavailable exclude each other: set one of them")
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
