// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// check is a healthcheck with the defaults of Compose.
type check struct {
	words                    []string
	period, timeout, retries int32
	start                    int32
	off                      bool
}

func (s *service) healthcheck(v value) error {
	c := check{period: 30, timeout: 30, retries: 3}
	all, err := v.entries()
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := s.readCheck(e, &c); err != nil {
			return err
		}
	}
	if c.off || len(c.words) == 0 {
		return nil
	}
	if appmodel.MayHaveSecret(c.words) {
		s.note(v, "is not carried over: its command may have a secret")
		return nil
	}
	s.probed = true
	probe := c.probe()
	s.component.Spec.Probes = &nexusv1.ProbesSpec{Readiness: &probe, Liveness: new(probe)}
	if c.start > 0 {
		startup := probe
		startup.FailureThreshold = min(c.start/c.period+c.retries, 1000)
		s.component.Spec.Probes.Startup = &startup
	}
	return nil
}

func (s *service) readCheck(e entry, c *check) (err error) {
	switch e.key {
	case "test":
		c.words, err = testOf(e.value)
		c.off = len(c.words) == 0
	case "interval":
		c.period, err = boundedSeconds(e.value)
	case "timeout":
		c.timeout, err = boundedSeconds(e.value)
	case "start_period":
		c.start, err = secondsOf(e.value)
	case "retries":
		var text string
		if text, err = e.text(); err == nil {
			n, convErr := strconv.Atoi(text)
			if convErr != nil || n < 0 {
				return e.fault("%q is no number of retries", text)
			}
			c.retries = int32(min(max(n, 1), 1000)) //nolint:gosec // bounded
		}
	case "disable":
		c.off, err = e.flag()
	case "start_interval":
		s.note(e.value, "is not carried over: a probe has one interval")
	default:
		return e.fault("is no field of a healthcheck")
	}
	return err
}

// boundedSeconds reads a duration as the seconds of a probe.
func boundedSeconds(v value) (int32, error) {
	n, err := secondsOf(v)
	return min(max(n, 1), 3600), err
}

// testOf returns the command of a healthcheck: without a shell, or as one text behind a shell. NONE returns no words.
func testOf(v value) ([]string, error) {
	if v.isScalar() {
		text, err := v.text()
		return []string{"/bin/sh", "-c", text}, err
	}
	words, err := v.texts()
	switch {
	case err != nil:
		return nil, err
	case len(words) == 1 && words[0] == "NONE":
		return nil, nil
	case len(words) > 1 && words[0] == "CMD":
		return words[1:], nil
	case len(words) == 2 && words[0] == "CMD-SHELL":
		return []string{"/bin/sh", "-c", words[1]}, nil
	default:
		return nil, v.fault("must begin with NONE, CMD or CMD-SHELL, followed by the command")
	}
}

// probe turns a healthcheck into a probe. A request to the container's own port becomes one of the kubelet, which needs no program in the
// image.
func (c check) probe() nexusv1.Probe {
	out := nexusv1.Probe{PeriodSeconds: c.period, TimeoutSeconds: c.timeout, FailureThreshold: c.retries}
	if get := httpProbe(strings.Join(c.words, " ")); get != nil {
		out.HTTPGet = get
		return out
	}
	if len(c.words) > 32 {
		c.words = []string{"/bin/sh", "-c", strings.Join(c.words, " ")}
	}
	out.Exec = &nexusv1.ExecProbe{}
	for _, w := range c.words {
		out.Exec.Command = append(out.Exec.Command, nexusv1.CommandArgument(w))
	}
	return out
}

var (
	fetches   = regexp.MustCompile(`^(/bin/sh -c )?\s*(/usr/bin/)?(curl|wget)\s`)
	localURL  = regexp.MustCompile(`["']?(https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])[^\s"'|;&]*)["']?`)
	pathInURL = regexp.MustCompile(`^/[!-~]*$`)
	// harmless may stand beside a request without changing the check.
	harmless = regexp.MustCompile(`^(-[a-zA-Z]+|--[a-z-]+(=\S+)?|[0-9]+|/dev/null|\|\||exit|GET|-)$`)
)

// httpProbe returns the request of a command that only fetches a URL of the container; nil for any other command.
func httpProbe(command string) *nexusv1.HTTPProbe {
	if !fetches.MatchString(command) {
		return nil
	}
	found := localURL.FindAllStringSubmatch(command, -1)
	rest := localURL.ReplaceAllString(fetches.ReplaceAllString(command, ""), " ")
	if len(found) != 1 || !allHarmless(rest) {
		return nil
	}
	return requestOf(found[0][1])
}

// requestOf returns the request for a URL of the container; nil where a probe cannot send it.
func requestOf(address string) *nexusv1.HTTPProbe {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return nil
	}
	out := &nexusv1.HTTPProbe{}
	if p := u.RequestURI(); p != "/" {
		out.Path = p
	}
	if u.Scheme == "https" {
		out.Scheme = corev1.URISchemeHTTPS
	}
	number := u.Port()
	if number == "" {
		number = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := appmodel.ReadPort(number)
	if err != nil || out.Path != "" && (len(out.Path) > 1024 || !pathInURL.MatchString(out.Path)) {
		return nil
	}
	out.Port = new(intstr.FromInt32(n))
	return out
}

func allHarmless(rest string) bool {
	for word := range strings.FieldsSeq(rest) {
		if !harmless.MatchString(word) || word == "-H" || word == "-X" || word == "-d" {
			return false
		}
	}
	return true
}
