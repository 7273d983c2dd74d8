// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var (
	variablePattern  = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)
	objectKeyPattern = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
	podFieldPattern  = regexp.MustCompile(`^(metadata[.](name|namespace|uid)|metadata[.](labels|annotations)\['[-A-Za-z0-9_./]+'\]|spec[.](nodeName|serviceAccountName)|status[.](hostIPs?|podIPs?))$`)
	labelPattern     = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
	headerPattern    = regexp.MustCompile(`^[-A-Za-z0-9]+$`)
)

// setElsewhere are the environment variables that the operator or EKS sets.
var setElsewhere = []string{"AWS_REGION", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"}

// maxWords bounds command and args.
const maxWords = 64

// distinct requires that no two elements of a list have the same key.
func distinct[T any](v *verdict, at, part string, elements []T, key func(T) string) {
	seen := map[string]bool{}
	for i, e := range elements {
		v.require(!seen[key(e)], fmt.Sprintf("%s[%d]%s", at, i, part), "%q is listed twice", key(e))
		seen[key(e)] = true
	}
}

// checkExactlyOne requires that one of some alternatives is set.
func checkExactlyOne(v *verdict, at, names string, set ...bool) {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	v.require(n == 1, at, "set exactly one of %s", names)
}

// checkObjectName requires that a reference names an object.
func checkObjectName(v *verdict, at, name string) { v.matches(at, name, 253, subdomainPattern) }

func checkWithin(v *verdict, at string, n, least, most int64) {
	v.require(n >= least && n <= most, at, "%d to %d", least, most)
}

func checkEnvironment(v *verdict, at string, c nexusv1.ComponentSpec) {
	v.require(len(c.Env) <= 64, at+".env", "at most 64")
	distinct(v, at+".env", ".name", c.Env, func(e nexusv1.EnvVar) string { return e.Name })
	for i, e := range c.Env {
		checkVariable(v, fmt.Sprintf("%s.env[%d]", at, i), e)
	}
	v.require(len(c.EnvFrom) <= maxList, at+".envFrom", "at most %d", maxList)
	for i, e := range c.EnvFrom {
		at := fmt.Sprintf("%s.envFrom[%d]", at, i)
		checkExactlyOne(v, at, "configMapRef and secretRef", e.ConfigMapRef != nil, e.SecretRef != nil)
		v.optional(at+".prefix", e.Prefix, 253, variablePattern)
		if e.ConfigMapRef != nil {
			checkObjectName(v, at+".configMapRef.name", e.ConfigMapRef.Name)
		}
		if e.SecretRef != nil {
			checkObjectName(v, at+".secretRef.name", e.SecretRef.Name)
		}
	}
	v.require(len(c.ImagePullSecrets) <= maxList, at+".imagePullSecrets", "at most %d", maxList)
	distinct(v, at+".imagePullSecrets", ".name", c.ImagePullSecrets, func(s nexusv1.ImagePullSecret) string { return s.Name })
	for i, s := range c.ImagePullSecrets {
		checkObjectName(v, fmt.Sprintf("%s.imagePullSecrets[%d].name", at, i), s.Name)
	}
}

func checkVariable(v *verdict, at string, e nexusv1.EnvVar) {
	v.matches(at+".name", e.Name, 253, variablePattern)
	v.require(!strings.HasPrefix(e.Name, "NEXUS_") && !slices.Contains(setElsewhere, e.Name), at+".name",
		"NEXUS_*, %s are set by the operator and by EKS: choose another name", strings.Join(setElsewhere, ", "))
	v.require(len(e.Value) <= 4096, at+".value", "at most 4096 characters")
	from := e.ValueFrom
	if from == nil {
		return
	}
	v.require(e.Value == "", at, "value and valueFrom exclude each other: set one of them")
	at += ".valueFrom"
	checkExactlyOne(v, at, "configMapKeyRef, secretKeyRef and fieldRef", from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil, from.FieldRef != nil)
	for kind, ref := range map[string]*nexusv1.EnvKeySelector{"configMapKeyRef": from.ConfigMapKeyRef, "secretKeyRef": from.SecretKeyRef} {
		if ref != nil {
			checkObjectName(v, at+"."+kind+".name", ref.Name)
			v.matches(at+"."+kind+".key", ref.Key, 253, objectKeyPattern)
		}
	}
	if from.FieldRef != nil {
		v.matches(at+".fieldRef.fieldPath", from.FieldRef.FieldPath, 400, podFieldPattern)
	}
}

// checkWords checks the words of a command.
func checkWords(v *verdict, at string, list []nexusv1.CommandArgument) {
	v.require(len(list) <= maxWords, at, "at most %d", maxWords)
	for i, word := range list {
		v.require(len(word) <= 4096, fmt.Sprintf("%s[%d]", at, i), "at most 4096 characters")
	}
}

func checkProbes(v *verdict, at string, p *nexusv1.ProbesSpec) {
	if p == nil {
		return
	}
	checkProbe(v, at+".startup", p.Startup, 1)
	checkProbe(v, at+".liveness", p.Liveness, 1)
	checkProbe(v, at+".readiness", p.Readiness, 1000)
}

// checkProbe checks a probe whose successThreshold may be at most successes.
func checkProbe(v *verdict, at string, p *nexusv1.Probe, successes int64) {
	if p == nil {
		return
	}
	checkExactlyOne(v, at, "httpGet, tcpSocket, grpc and exec", p.HTTPGet != nil, p.TCPSocket != nil, p.GRPC != nil, p.Exec != nil)
	checkWithin(v, at+".initialDelaySeconds", int64(p.InitialDelaySeconds), 0, 3600)
	checkWithin(v, at+".timeoutSeconds", int64(p.TimeoutSeconds), 0, 3600)
	checkWithin(v, at+".periodSeconds", int64(p.PeriodSeconds), 0, 3600)
	checkWithin(v, at+".successThreshold", int64(p.SuccessThreshold), 0, successes)
	checkWithin(v, at+".failureThreshold", int64(p.FailureThreshold), 0, 1000)
	if p.HTTPGet != nil {
		checkHttpProbe(v, at+".httpGet", p.HTTPGet)
	}
	if p.TCPSocket != nil {
		checkProbePort(v, at+".tcpSocket.port", p.TCPSocket.Port)
	}
	if p.GRPC != nil {
		if p.GRPC.Port != nil {
			checkWithin(v, at+".grpc.port", int64(*p.GRPC.Port), 1, 65535)
		}
		v.require(len(p.GRPC.Service) <= 253, at+".grpc.service", "at most 253 characters")
	}
	if p.Exec != nil {
		v.require(len(p.Exec.Command) >= 1 && len(p.Exec.Command) <= 32, at+".exec.command", "1 to 32 words")
	}
}

func checkHttpProbe(v *verdict, at string, h *nexusv1.HTTPProbe) {
	v.optional(at+".path", h.Path, 1024, healthPattern)
	checkProbePort(v, at+".port", h.Port)
	oneOf(v, at+".scheme", h.Scheme, "", corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	v.require(len(h.HTTPHeaders) <= maxList, at+".httpHeaders", "at most %d", maxList)
	for i, header := range h.HTTPHeaders {
		v.matches(fmt.Sprintf("%s.httpHeaders[%d].name", at, i), header.Name, 128, headerPattern)
		v.require(len(header.Value) <= 1024, fmt.Sprintf("%s.httpHeaders[%d].value", at, i), "at most 1024 characters")
	}
}

// checkProbePort allows the number of a port and the name of the container's only port.
func checkProbePort(v *verdict, at string, p *intstr.IntOrString) {
	if p == nil {
		return
	}
	number := p.Type == intstr.Int && p.IntVal >= 1 && p.IntVal <= 65535
	v.require(number || p.Type == intstr.String && p.StrVal == "http", at, "1 to 65535, or http")
}

func checkComponent(v *verdict, at string, c nexusv1.ComponentSpec) {
	v.matches(at+".image", c.Image, 512, imagePattern)
	if _, err := reference.ParseNormalizedNamed(c.Image); err != nil {
		v.require(false, at+".image", "%q is no image reference: %v; write registry/repository:tag, in lower case", status.Truncate(c.Image, 64), err)
	}
	checkWords(v, at+".command", c.Command)
	checkWords(v, at+".args", c.Args)
	if c.Replicas != nil {
		v.require(*c.Replicas >= 0 && *c.Replicas <= 1000, at+".replicas", "0 to 1000")
	}
	if c.Port != nil {
		v.require(*c.Port >= 1 && *c.Port <= 65535, at+".port", "1 to 65535")
	}
	if c.Service != nil {
		oneOf(v, at+".service.type", c.Service.Type, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)
		v.annotations(at+".service.annotations", c.Service.Annotations)
		v.ownedAnnotations(at+".service.annotations", c.Service.Annotations, ownServiceAnnotations, "service.type or spec.ingress.scheme")
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

func checkResources(v *verdict, at string, r nexusv1.ComponentResources) {
	v.require(len(r.Requests) <= maxList && len(r.Limits) <= maxList, at, "at most %d resources", maxList)
	for _, name := range sortedKeys(r.Limits) {
		limit := r.Limits[name]
		v.require(limit.Sign() >= 0, at+".limits."+string(name), "must not be negative")
	}
	for _, name := range sortedKeys(r.Requests) {
		request := r.Requests[name]
		v.require(request.Sign() >= 0, at+".requests."+string(name), "must not be negative")
		if limit, ok := r.Limits[name]; ok {
			v.require(request.Cmp(limit) <= 0, at+".requests."+string(name), "%s is more than the limit %s", request.String(), limit.String())
		}
	}
}
