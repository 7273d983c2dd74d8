// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func assessing(addresses ...string) (intent.Policy, intent.Rule) {
	r := rule("assessTLS")
	r.Params = map[string][]string{"external_addresses": addresses}
	return intent.Policy{Name: "web", Namespace: "shop", Rules: []intent.Rule{r}}, r
}

func TestTLSTargets_AreAddressesAndServicesOfBoundPodsOnly(t *testing.T) {
	services := []intent.Service{
		{Name: "web", Selector: map[string]string{"app": "web", "tier": "front"}, Ports: []int32{443, 8443}},
		{Name: "api", Selector: map[string]string{"app": "api"}, Ports: []int32{443}},
		{Name: "all", Selector: map[string]string{"part": "shop"}, Ports: []int32{443}},
		{Name: "external", Ports: []int32{443}},
	}
	for name, tc := range map[string]struct {
		selector intent.Selector
		want     []string
	}{
		"every pod": {intent.Selector{},
			[]string{"all.shop.svc:443", "api.shop.svc:443", "web.shop.svc:443", "web.shop.svc:8443"}},
		"a label": {intent.Selector{Labels: map[string]string{"app": "web"}},
			[]string{"web.shop.svc:443", "web.shop.svc:8443"}},
		"a label that no Service asks for": {intent.Selector{Labels: map[string]string{"app": "web", "env": "prod"}}, nil},
		"a value": {intent.Selector{Expressions: []metav1.LabelSelectorRequirement{{Key: "app",
			Operator: metav1.LabelSelectorOpIn, Values: []string{"api", "db"}}}}, []string{"api.shop.svc:443"}},
		"another value": {intent.Selector{Expressions: []metav1.LabelSelectorRequirement{{Key: "app",
			Operator: metav1.LabelSelectorOpNotIn, Values: []string{"web"}}}}, []string{"api.shop.svc:443"}},
		"no label, which nothing proves": {intent.Selector{Expressions: []metav1.LabelSelectorRequirement{{Key: "canary",
			Operator: metav1.LabelSelectorOpDoesNotExist}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, r := assessing("example.com:443", "example.com:443")
			p.Selector = tc.selector
			got, dropped := intent.TLSTargets(p, r, services)
			equal(t, "targets", got, append([]string{"example.com:443"}, tc.want...))
			equal(t, "dropped", dropped, 0)
		})
	}
}

func TestTLSTargets_BeyondTheLimitAreCounted(t *testing.T) {
	var addresses []string
	for i := range 40 {
		addresses = append(addresses, fmt.Sprintf("h%d.example.com:443", i))
	}
	p, r := assessing(addresses...)
	got, dropped := intent.TLSTargets(p, r, nil)
	equal(t, "targets", got, addresses[:intent.MaxTLSTargets])
	equal(t, "dropped", dropped, 8)
}

func TestParseAssessment_ReadsWhatTheFormatSays(t *testing.T) {
	got, err := intent.ParseAssessment(`{"version": 1, "targets": [
		{"host": "example.com", "port": 443, "protocols": ["TLSv1.2", "TLSv1.3"]},
		{"host": "2001:db8::1", "port": 8443, "protocols": ["TLSv1.0"], "problems": ["TLSv1.0 is offered", "the certificate ends in 3 days"]},
		{"host": "192.0.2.1", "port": 443, "problems": ["connection refused"]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "results", got, []v1alpha1.Assessment{
		{Target: "example.com:443", Result: v1alpha1.AssessmentPassed, Protocols: []string{"TLSv1.2", "TLSv1.3"}},
		{Target: "[2001:db8::1]:8443", Result: v1alpha1.AssessmentFailed, Protocols: []string{"TLSv1.0"},
			Message: "TLSv1.0 is offered; the certificate ends in 3 days"},
		{Target: "192.0.2.1:443", Result: v1alpha1.AssessmentFailed, Message: "connection refused"},
	})
}

// target is a document with one target.
func target(fields string) string { return `{"version": 1, "targets": [{` + fields + `}]}` }

func TestParseAssessment_RefusesEverythingElse(t *testing.T) {
	const host = `"host": "example.com", "port": 443, `
	for message, says := range map[string]string{
		"":                                 "empty",
		strings.Repeat("x", 4097):          "4097 bytes",
		"panic: no route":                  "JSON",
		"[]":                               "JSON",
		`{"version": 1, "targets": [`:      "JSON",
		`{"version": 1, "targets": []} {}`: "follows",
		`{"version": 2, "targets": []}`:    "version is 2",
		`{"targets": []}`:                  "version is 0",
		`{"version": 1, "extra": true}`:    "extra",
		target(host + `"cipher": "x"`):     "cipher",
		target(host + `"protocols": [1]`):  "JSON",
		target(`"host": "a b", "port": 443, "protocols": ["TLSv1.3"]`):                       "host and port",
		target(`"host": "--help", "port": 443, "protocols": ["TLSv1.3"]`):                    "host and port",
		target(`"host": "example.com", "port": 70000, "protocols": ["TLSv1.3"]`):             "host and port",
		target(host + `"protocols": ["TLSv9"]`):                                              "protocols",
		target(host + `"protocols": [` + strings.Repeat(`"TLSv1.3",`, 6) + `"TLSv1.3"]`):     "twice",
		target(host + `"protocols": []`):                                                     "problems",
		target(host + `"problems": [""]`):                                                    "printable",
		target(host + `"problems": ["a\u001b[31m"]`):                                         "printable",
		target(host + `"problems": ["a\u202eb"]`):                                            "printable",
		target(host + `"problems": ["a\nReady=True"]`):                                       "printable",
		target(host + "\"problems\": [\"\xff\"]"):                                            "printable",
		target(host + `"problems": ["` + strings.Repeat("x", 129) + `"]`):                    "128 bytes",
		target(host + `"problems": [` + strings.Repeat(`"x",`, 8) + `"x"]`):                  "at most 8",
		`{"version": 1, "targets": [` + strings.Repeat(`{"port": 1},`, 32) + `{"port": 1}]}`: "33 targets",
	} {
		got, err := intent.ParseAssessment(message)
		if err == nil || !strings.Contains(err.Error(), says) || len(got) > 0 {
			t.Errorf("%.60q: %v, %v; want %q", message, got, err, says)
		}
		if err != nil && (len(err.Error()) > 512 || strings.ContainsAny(err.Error(), "\x1b\n\u202e")) {
			t.Errorf("the error repeats what it refuses: %q", err)
		}
	}
}

func FuzzParseAssessment(f *testing.F) {
	f.Add(target(`"host": "example.com", "port": 443, "protocols": ["TLSv1.2"], "problems": ["weak"]`))
	f.Fuzz(func(t *testing.T, message string) {
		got, err := intent.ParseAssessment(message)
		if err != nil && len(got) > 0 {
			t.Fatal("both results and an error")
		}
		for _, a := range got {
			if check(t, "assessTLS", map[string][]string{"external_addresses": {a.Target}}) != "" || len(a.Message) > 512 || len(a.Protocols) > 6 ||
				(a.Message == "") != (a.Result == v1alpha1.AssessmentPassed) {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// passed is the message of a run that found nothing wrong with hosts on port 443.
func passed(hosts ...string) string {
	var all []string
	for _, h := range hosts {
		all = append(all, fmt.Sprintf(`{"host": %q, "port": 443, "protocols": ["TLSv1.3"]}`, h))
	}
	return `{"version": 1, "targets": [` + strings.Join(all, ",") + `]}`
}

func at(hours int) time.Time { return time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC) }

func TestAssessTLS_TheNewestResultOfEachTargetCounts(t *testing.T) {
	old := v1alpha1.Assessment{Target: "a:443", Result: v1alpha1.AssessmentFailed, Message: "old", Time: metav1.NewTime(at(1))}
	kept := v1alpha1.Assessment{Target: "b:443", Result: v1alpha1.AssessmentPassed, Protocols: []string{"TLSv1.2"},
		Time: metav1.NewTime(at(1))}
	gone := v1alpha1.Assessment{Target: "c:443", Result: v1alpha1.AssessmentPassed, Time: metav1.NewTime(at(1))}
	got := intent.AssessTLS([]string{"a:443", "b:443", "d:443"}, []v1alpha1.Assessment{old, kept, gone}, []intent.Run{
		{Pod: "running", Created: at(5)},
		{Pod: "new", Created: at(4), Finished: at(4), Message: passed("a", "elsewhere")},
		{Pod: "first", Created: at(2), Finished: at(2), Message: "nonsense"},
	})
	equal(t, "assessment", got, intent.TLS{Results: []v1alpha1.Assessment{
		{Target: "a:443", Result: v1alpha1.AssessmentPassed, Protocols: []string{"TLSv1.3"}, Time: metav1.NewTime(at(4))}, kept,
	}})
}

func TestAssessTLS_ReportsALastRunWithoutResult(t *testing.T) {
	good := intent.Run{Pod: "good", Created: at(1), Finished: at(1), Message: passed("a")}
	for reason, last := range map[string]intent.Run{
		intent.ReasonResultInvalid:    {Pod: "last", Created: at(2), Finished: at(2), Message: strings.Repeat("x", 5000)},
		intent.ReasonAssessmentFailed: {Pod: "last", Created: at(2), Failure: "the container ended with exit code 1"},
	} {
		got := intent.AssessTLS([]string{"a:443"}, nil, []intent.Run{last, good})
		if got.Reason != reason || !strings.Contains(got.Problem, "pod last") || !strings.Contains(got.Problem, "--tls-assessor-image") ||
			len(got.Problem) > 512 {
			t.Errorf("%s: %+v", reason, got)
		}
		if len(got.Results) != 1 || got.Results[0].Target != "a:443" {
			t.Errorf("%s: the earlier result is lost: %+v", reason, got.Results)
		}
	}
}

func TestOutdatedTLS_AfterTwoIntervalsOfTheSchedule(t *testing.T) {
	_, r := assessing("a:443")
	r.Params["schedule"] = []string{"0 * * * *"}
	results := []v1alpha1.Assessment{{Target: "b:443", Time: metav1.NewTime(at(9))}, {Target: "a:443", Time: metav1.NewTime(at(4))}}
	equal(t, "in time", intent.OutdatedTLS(r, results, at(7)), false)
	equal(t, "late", intent.OutdatedTLS(r, results, at(7).Add(time.Second)), true)
	equal(t, "without results", intent.OutdatedTLS(r, nil, at(7)), false)
}
