// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
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
func distinct[T any](v *part.Verdict, at, part string, elements []T, key func(T) string) {
	seen := map[string]bool{}
	for i, e := range elements {
		v.Require(!seen[key(e)], fmt.Sprintf("%s[%d]%s", at, i, part), "%q is listed twice", key(e))
		seen[key(e)] = true
	}
}

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

func checkWithin(v *part.Verdict, at string, n, least, most int64) {
	v.Require(n >= least && n <= most, at, "%d to %d", least, most)
}

func checkEnvironment(v *part.Verdict, at string, c nexusv1.ComponentSpec) {
	v.Require(len(c.Env) <= 64, at+".env", "at most 64")
	distinct(v, at+".env", ".name", c.Env, func(e nexusv1.EnvVar) string { return e.Name })
	for i, e := range c.Env {
		checkVariable(v, fmt.Sprintf("%s.env[%d]", at, i), e)
	}
	v.Require(len(c.EnvFrom) <= part.MaxList, at+".envFrom", "at most %d", part.MaxList)
	for i, e := range c.EnvFrom {
		at := fmt.Sprintf("%s.envFrom[%d]", at, i)
		checkExactlyOne(v, at, "configMapRef and secretRef", e.ConfigMapRef != nil, e.SecretRef != nil)
		v.Optional(at+".prefix", e.Prefix, 253, variablePattern)
		if e.ConfigMapRef != nil {
			part.CheckObjectName(v, at+".configMapRef.name", e.ConfigMapRef.Name)
		}
		if e.SecretRef != nil {
			part.CheckObjectName(v, at+".secretRef.name", e.SecretRef.Name)
		}
	}
	v.Require(len(c.ImagePullSecrets) <= part.MaxList, at+".imagePullSecrets", "at most %d", part.MaxList)
	distinct(v, at+".imagePullSecrets", ".name", c.ImagePullSecrets, func(s nexusv1.ImagePullSecret) string { return s.Name })
	for i, s := range c.ImagePullSecrets {
		part.CheckObjectName(v, fmt.Sprintf("%s.imagePullSecrets[%d].name", at, i), s.Name)
	}
}

func checkVariable(v *part.Verdict, at string, e nexusv1.EnvVar) {
	v.Matches(at+".name", e.Name, 253, variablePattern)
	v.Require(!strings.HasPrefix(e.Name, "NEXUS_") && !slices.Contains(setElsewhere, e.Name), at+".name",
		"NEXUS_*, %s are set by the operator and by EKS: choose another name", strings.Join(setElsewhere, ", "))
	v.Require(len(e.Value) <= 4096, at+".value", "at most 4096 characters")
	from := e.ValueFrom
	if from == nil {
		return
	}
	v.Require(e.Value == "", at, "value and valueFrom exclude each other: set one of them")
	at += ".valueFrom"
	checkExactlyOne(v, at, "configMapKeyRef, secretKeyRef and fieldRef", from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil,
		from.FieldRef != nil)
	for kind, ref := range map[string]*nexusv1.EnvKeySelector{"configMapKeyRef": from.ConfigMapKeyRef, "secretKeyRef": from.SecretKeyRef} {
		if ref != nil {
			part.CheckObjectName(v, at+"."+kind+".name", ref.Name)
			v.Matches(at+"."+kind+".key", ref.Key, 253, objectKeyPattern)
		}
	}
	if from.FieldRef != nil {
		v.Matches(at+".fieldRef.fieldPath", from.FieldRef.FieldPath, 400, podFieldPattern)
	}
}

// checkWords checks the words of a command.
func checkWords(v *part.Verdict, at string, list []nexusv1.CommandArgument) {
	v.Require(len(list) <= maxWords, at, "at most %d", maxWords)
	for i, word := range list {
		v.Require(len(word) <= 4096, fmt.Sprintf("%s[%d]", at, i), "at most 4096 characters")
	}
}

func checkProbes(v *part.Verdict, at string, p *nexusv1.ProbesSpec) {
	if p == nil {
		return
	}
	checkProbe(v, at+".startup", p.Startup, 1)
	checkProbe(v, at+".liveness", p.Liveness, 1)
	checkProbe(v, at+".readiness", p.Readiness, 1000)
}

// checkProbe checks a probe. Its successThreshold may be at most successes.
func checkProbe(v *part.Verdict, at string, p *nexusv1.Probe, successes int64) {
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
		v.Require(len(p.GRPC.Service) <= 253, at+".grpc.service", "at most 253 characters")
	}
	if p.Exec != nil {
		v.Require(len(p.Exec.Command) >= 1 && len(p.Exec.Command) <= 32, at+".exec.command", "1 to 32 words")
	}
}

func checkHttpProbe(v *part.Verdict, at string, h *nexusv1.HTTPProbe) {
	v.Optional(at+".path", h.Path, 1024, traffic.HealthPattern)
	checkProbePort(v, at+".port", h.Port)
	part.OneOf(v, at+".scheme", h.Scheme, "", corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	v.Require(len(h.HTTPHeaders) <= part.MaxList, at+".httpHeaders", "at most %d", part.MaxList)
	for i, header := range h.HTTPHeaders {
		v.Matches(fmt.Sprintf("%s.httpHeaders[%d].name", at, i), header.Name, 128, headerPattern)
		v.Require(len(header.Value) <= 1024, fmt.Sprintf("%s.httpHeaders[%d].value", at, i), "at most 1024 characters")
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
	v.Matches(at+".image", c.Image, 512, imagePattern)
	if _, err := reference.ParseNormalizedNamed(c.Image); err != nil {
		v.Require(false, at+".image", "%q is no image reference: %v; write registry/repository:tag, in lower case", status.Truncate(c.Image, 64), err)
	}
	checkWords(v, at+".command", c.Command)
	checkWords(v, at+".args", c.Args)
	if c.Replicas != nil {
		v.Require(*c.Replicas >= 0 && *c.Replicas <= 1000, at+".replicas", "0 to 1000")
	}
	if c.Port != nil {
		v.Require(*c.Port >= 1 && *c.Port <= 65535, at+".port", "1 to 65535")
	}
	if c.Service != nil {
		part.OneOf(v, at+".service.type", c.Service.Type, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort,
			corev1.ServiceTypeLoadBalancer)
		v.Annotations(at+".service.annotations", c.Service.Annotations)
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
	v.Require(len(r.Requests) <= part.MaxList && len(r.Limits) <= part.MaxList, at, "at most %d resources", part.MaxList)
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
