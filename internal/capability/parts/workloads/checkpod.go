// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// setElsewhere are the environment variables that the operator or EKS sets.
var setElsewhere = []string{"AWS_REGION", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"}

// checkExactlyOne requires that one of some alternatives is set.
func checkExactlyOne(v *part.Verdict, at, names string, set ...bool) {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	v.Require(n == 1, at, "set exactly one of %s", names)
}

func checkEnvironment(v *part.Verdict, at string, c nexusv1.ComponentSpec) {
	for i, e := range c.Env {
		checkVariable(v, fmt.Sprintf("%s.env[%d]", at, i), e)
	}
	for i, e := range c.EnvFrom {
		checkExactlyOne(v, fmt.Sprintf("%s.envFrom[%d]", at, i), "configMapRef and secretRef", e.ConfigMapRef != nil, e.SecretRef != nil)
	}
}

func checkVariable(v *part.Verdict, at string, e nexusv1.EnvVar) {
	v.Require(!strings.HasPrefix(e.Name, "NEXUS_") && !slices.Contains(setElsewhere, e.Name), at+".name",
		"NEXUS_*, %s are set by the operator and by EKS: choose another name", strings.Join(setElsewhere, ", "))
	from := e.ValueFrom
	if from == nil {
		return
	}
	v.Require(e.Value == "", at, "value and valueFrom exclude each other: set one of them")
	checkExactlyOne(v, at+".valueFrom", "configMapKeyRef, secretKeyRef and fieldRef", from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil,
		from.FieldRef != nil)
}

func checkProbes(v *part.Verdict, at string, p *nexusv1.ProbesSpec) {
	if p == nil {
		return
	}
	checkProbe(v, at+".startup", p.Startup)
	checkOneSuccess(v, at+".startup", p.Startup)
	checkProbe(v, at+".liveness", p.Liveness)
	checkOneSuccess(v, at+".liveness", p.Liveness)
	checkProbe(v, at+".readiness", p.Readiness)
}

// checkOneSuccess refuses a successThreshold that only a readiness probe may have.
func checkOneSuccess(v *part.Verdict, at string, p *nexusv1.Probe) {
	v.Require(p == nil || p.SuccessThreshold <= 1, at+".successThreshold", "must be 1 for this probe")
}

func checkProbe(v *part.Verdict, at string, p *nexusv1.Probe) {
	if p == nil {
		return
	}
	checkExactlyOne(v, at, "httpGet, tcpSocket, grpc and exec", p.HTTPGet != nil, p.TCPSocket != nil, p.GRPC != nil, p.Exec != nil)
	if p.HTTPGet != nil {
		checkProbePort(v, at+".httpGet.port", p.HTTPGet.Port)
	}
	if p.TCPSocket != nil {
		checkProbePort(v, at+".tcpSocket.port", p.TCPSocket.Port)
	}
}

// checkProbePort allows the number of a port and the name of the container's only port.
func checkProbePort(v *part.Verdict, at string, p *intstr.IntOrString) {
	if p == nil {
		return
	}
	number := p.Type == intstr.Int && p.IntVal >= 1 && p.IntVal <= 65535
	v.Require(number || p.Type == intstr.String && p.StrVal == "http", at, "1 to 65535, or http")
}

func checkComponent(v *part.Verdict, at string, c nexusv1.ComponentSpec) {
	if _, err := reference.ParseNormalizedNamed(c.Image); err != nil {
		v.Require(false, at+".image", "%q is no image reference: %v; write registry/repository:tag, in lower case", status.Truncate(c.Image, 64), err)
	}
	if c.Service != nil {
		v.AnnotationKeys(at+".service.annotations", c.Service.Annotations)
		v.OwnedAnnotations(at+".service.annotations", c.Service.Annotations, ownServiceAnnotations, "service.type or spec.ingress.scheme")
	}
	if c.Resources != nil {
		checkResources(v, at+".resources", *c.Resources)
	}
	checkEnvironment(v, at, c)
	checkProbes(v, at+".probes", c.Probes)
	checkPlacement(v, at, c)
	checkSecurity(v, at+".securityContext", c.SecurityContext)
	checkScratch(v, at+".scratchVolumes", c.ScratchVolumes)
	checkScaling(v, at, c)
}

func checkResources(v *part.Verdict, at string, r nexusv1.ComponentResources) {
	for _, name := range part.SortedKeys(r.Limits) {
		limit := r.Limits[name]
		v.Require(limit.Sign() >= 0, at+".limits."+string(name), "must not be negative")
	}
	for _, name := range part.SortedKeys(r.Requests) {
		request := r.Requests[name]
		v.Require(request.Sign() >= 0, at+".requests."+string(name), "must not be negative")
		if limit, ok := r.Limits[name]; ok {
			v.Require(request.Cmp(limit) <= 0, at+".requests."+string(name), "%s is more than the limit %s", request.String(), limit.String())
		}
	}
}
