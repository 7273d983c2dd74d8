// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// TLS holds the facts from the cluster about the TLS assessments of a policy.
type TLS struct {
	// Image runs the assessment; empty when --tls-assessor-image is not set.
	Image string
	// Services lists the services of the policy's namespace, in any order.
	Services []Service
	// Results are the newest valid results of the current targets, in the order of the targets.
	Results []v1alpha1.Assessment
	// Reason and Problem say why the last run gave no valid result; empty when it gave one.
	Reason, Problem string
	// Outdated is true when the oldest result is older than two intervals of the schedule.
	Outdated bool
}

// Service is a Service of Kubernetes and its TCP ports.
type Service struct {
	Name     string
	Selector map[string]string
	Ports    []int32
}

// Run is a pod of an assessment.
type Run struct {
	Pod     string
	Created time.Time
	// Finished is the time when the assessment ended; zero while it runs.
	Finished time.Time
	// Failure says why the pod failed or cannot start; empty otherwise.
	Failure string
	// Message is the termination message.
	Message string
}

// Bounds of an assessment.
const (
	// MaxTLSTargets keeps the results of all targets within one termination message.
	MaxTLSTargets = 32
	// maxTLSMessage is the limit of a termination message in bytes:
	// https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/
	maxTLSMessage  = 4096
	maxTLSProblems = 8
	maxTLSProblem  = 128
	maxRuns        = 16
)

// defaultSchedule applies when params.schedule is absent.
const defaultSchedule = "@weekly"

// TLSSchedule returns the schedule of a rule in the format of a CronJob.
func TLSSchedule(r Rule) string { return r.Param("schedule", defaultSchedule) }

// AssessedTLS returns the rule of the policy that assesses TLS.
func AssessedTLS(p Policy) (Rule, bool) {
	i := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.Canonical == "assessTLS" })
	if i < 0 {
		return Rule{}, false
	}
	return p.Rules[i], true
}

// TLSTargets returns the host:port pairs that a rule assesses: its external addresses, then the ports of the Services
// that select bound pods only. At most MaxTLSTargets are returned; dropped is how many are not.
func TLSTargets(p Policy, r Rule, services []Service) (targets []string, dropped int) {
	targets = slices.Clone(r.Params["external_addresses"])
	sorted := slices.SortedFunc(slices.Values(services), func(a, b Service) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range sorted {
		if !p.Selector.selectsAllPodsOf(s) {
			continue
		}
		for _, n := range s.Ports {
			targets = append(targets, net.JoinHostPort(s.Name+"."+p.Namespace+".svc", strconv.Itoa(int(n))))
		}
	}
	var out []string
	for _, t := range targets {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	n := min(len(out), MaxTLSTargets)
	return out[:n], len(out) - n
}

// selectsAllPodsOf reports whether the labels that the Service asks for prove that the selector selects every pod
// behind it. A requirement on a label that the Service does not ask for proves nothing.
func (s Selector) selectsAllPodsOf(service Service) bool {
	if len(service.Selector) == 0 {
		return false
	}
	for k, v := range s.Labels {
		if service.Selector[k] != v {
			return false
		}
	}
	for _, e := range s.Expressions {
		if _, asked := service.Selector[e.Key]; !asked {
			return false
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: s.Expressions})
	return err == nil && selector.Matches(labels.Set(service.Selector))
}

// schedule checks the schedule of a CronJob by the parser that Kubernetes uses.
func schedule(v string) string {
	if strings.Contains(v, "TZ") {
		return "names a time zone: schedules are in UTC"
	}
	s, err := cron.ParseStandard(v)
	if err != nil {
		return "is not a schedule such as @weekly or \"30 2 * * 0\": " + err.Error()
	}
	if s.Next(time.Unix(0, 0).UTC()).IsZero() {
		return "is a schedule without any date"
	}
	return ""
}

// hostPort checks an address. It allows no character that a shell or a flag parser could interpret.
func hostPort(v string) string {
	host, p, err := net.SplitHostPort(v)
	if err != nil || port(p) != "" || !isHost(host) || net.JoinHostPort(host, p) != v {
		return "is not of the form host:port, such as example.com:443 or [2001:db8::1]:443"
	}
	return ""
}

// isHost reports whether a host is an IP address or a lower-case DNS name. Some resolvers would read a name as an IPv4 address if its last
// label is a number.
func isHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Zone() == ""
	}
	last := host[strings.LastIndex(host, ".")+1:]
	return len(validation.IsDNS1123Subdomain(host)) == 0 && strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

// AssessTLS merges the results of runs into the previous ones, for the given targets, and reports the problem of the last run. Results are
// untrusted: any user who may create pods in the namespace can write them.
func AssessTLS(targets []string, previous []v1alpha1.Assessment, runs []Run) TLS {
	var out TLS
	known := map[string]v1alpha1.Assessment{}
	for _, a := range previous {
		known[a.Target] = a
	}
	runs = slices.SortedFunc(slices.Values(runs),
		func(a, b Run) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Pod, b.Pod)) })
	for _, run := range runs[max(0, len(runs)-maxRuns):] {
		if run.Failure == "" && run.Finished.IsZero() {
			continue
		}
		var results []v1alpha1.Assessment
		results, out.Reason, out.Problem = run.results()
		for _, a := range results {
			if have, ok := known[a.Target]; !ok || !a.Time.Time.Before(have.Time.Time) {
				known[a.Target] = a
			}
		}
	}
	for _, t := range targets {
		if a, ok := known[t]; ok {
			out.Results = append(out.Results, a)
		}
	}
	return out
}

// results returns the results of a run, or why they are unknown.
func (r Run) results() (results []v1alpha1.Assessment, reason, problem string) {
	if r.Failure != "" {
		return nil, ReasonAssessmentFailed,
			fmt.Sprintf("pod %s of the last assessment: %s; read kubectl describe pod and kubectl logs, and correct the cause or the operator's --tls-assessor-image", r.Pod, r.Failure)
	}
	found, err := ParseAssessment(r.Message)
	if err != nil {
		return nil, ReasonResultInvalid,
			fmt.Sprintf("pod %s wrote a termination message that is not a result of docs/intents.md: %v; use a --tls-assessor-image that keeps to the format", r.Pod, err)
	}
	for i := range found {
		found[i].Time = metav1.NewTime(r.Finished.UTC().Truncate(time.Second))
	}
	return found, "", ""
}

// OutdatedTLS reports whether the oldest result is older than two intervals of the schedule and an hour.
func OutdatedTLS(r Rule, results []v1alpha1.Assessment, now time.Time) bool {
	s, err := cron.ParseStandard(TLSSchedule(r))
	if err != nil || len(results) == 0 {
		return false
	}
	oldest := slices.MinFunc(results, func(a, b v1alpha1.Assessment) int { return a.Time.Compare(b.Time.Time) }).Time
	return now.After(s.Next(s.Next(oldest.UTC())).Add(time.Hour))
}

// tlsProtocols are the names of protocol versions in results.
var tlsProtocols = []string{"SSLv2", "SSLv3", "TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"}

// tlsResult is the result of one target, as the assessor writes it.
type tlsResult struct {
	Host      string   `json:"host"`
	Port      int      `json:"port"`
	Protocols []string `json:"protocols"`
	Problems  []string `json:"problems"`
}

// ParseAssessment reads the termination message of an assessor. It refuses the whole message for any mistake, and
// returns results without a time.
func ParseAssessment(message string) ([]v1alpha1.Assessment, error) {
	if message == "" {
		return nil, errors.New("it is empty")
	}
	if len(message) > maxTLSMessage {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are read", len(message), maxTLSMessage)
	}
	var file struct {
		Version int         `json:"version"`
		Targets []tlsResult `json:"targets"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(message)))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("it is not the JSON document expected: %s", printable(err.Error()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the JSON document")
	}
	if file.Version != 1 {
		return nil, fmt.Errorf("version is %d, and must be 1", file.Version)
	}
	if len(file.Targets) > MaxTLSTargets {
		return nil, fmt.Errorf("it has %d targets, and at most %d are read", len(file.Targets), MaxTLSTargets)
	}
	out := make([]v1alpha1.Assessment, 0, len(file.Targets))
	for i, t := range file.Targets {
		if problem := t.check(); problem != "" {
			return nil, fmt.Errorf("targets[%d].%s", i, problem)
		}
		out = append(out, t.assessment())
	}
	return out, nil
}

func (t tlsResult) check() string {
	if hostPort(t.target()) != "" {
		return "host and port are not those of a target"
	}
	for _, p := range t.Protocols {
		if !slices.Contains(tlsProtocols, p) {
			return "protocols: only " + strings.Join(tlsProtocols, ", ") + " are known"
		}
	}
	switch {
	case len(t.Protocols) > len(tlsProtocols):
		return "protocols: some are given twice"
	case len(t.Problems) > maxTLSProblems:
		return fmt.Sprintf("problems: %d are given, and at most %d are read", len(t.Problems), maxTLSProblems)
	case len(t.Protocols)+len(t.Problems) == 0:
		return "problems: a target without any protocol must say why"
	}
	for _, p := range t.Problems {
		if p == "" || len(p) > maxTLSProblem || printable(p) != p {
			return fmt.Sprintf("problems: each must be a printable text of at most %d bytes", maxTLSProblem)
		}
	}
	return ""
}

func (t tlsResult) target() string { return net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) }

func (t tlsResult) assessment() v1alpha1.Assessment {
	a := v1alpha1.Assessment{Target: t.target(), Result: v1alpha1.AssessmentPassed, Protocols: t.Protocols}
	if len(t.Problems) > 0 {
		a.Result, a.Message = v1alpha1.AssessmentFailed, status.Truncate(strings.Join(t.Problems, "; "), maxMessage)
	}
	return a
}

// printable replaces characters that could change the display of a text on a terminal or a page.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, text)
}
