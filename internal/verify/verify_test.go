// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/testkit/creation"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// everyOutcome is a verification with a check of each outcome.
func everyOutcome() verification {
	v := newVerification(creation.At(nexusv1.PhaseRunning), creation.Midday())
	for _, r := range []check.Result{
		check.Pass("S3Bucket/a is in AWS as declared", "a in 123456789012/eu-west-1"),
		check.Warn("every secret has its value", "PlaceholdersEmpty: myapp/dev/openai", "fill the secrets in"),
		check.Fail("S3Bucket/b is in AWS as declared", "Versioning.Enabled: false, declared is true <&>", "nexusctl reconcile s3bucket/b"),
		check.Skip("the security intents are in force", "none is declared"),
		check.Lacks("backend answers its health check", `services "http:b:80" is forbidden`,
			"ask for the right to get services/proxy in the namespace"),
	} {
		r.Group, r.Number, r.DurationSeconds = "resources", len(v.Checks)+1, 0.2
		v.Add(r)
	}
	v.DurationSeconds = 1
	return v
}

func TestVerify_PrintsEveryOutcome(t *testing.T) {
	v := everyOutcome()
	var text strings.Builder
	for _, r := range v.Checks {
		text.WriteString(check.Text(r))
	}
	for format, name := range map[string]string{"text": "verify.txt", "json": "verify.json", "yaml": "verify.yaml"} {
		t.Run(format, func(t *testing.T) {
			var b strings.Builder
			if format == "text" {
				b.WriteString(text.String())
			}
			if err := console.PrintAs(&b, format, v, func() string { return v.Summary.Text() + "\n" }); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name, b.String())
		})
	}
	junit, err := junitOf(v)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "verify.xml", string(junit))
}

func TestVerify_JudgesWhatIsPlanned(t *testing.T) {
	in := func(r plan.Resource) *plan.Resource {
		r.Account, r.Region = "123456789012", "eu-west-1"
		if r.Action == "" {
			r.Action = plan.None
		}
		return &r
	}
	differs := []plan.Field{{Path: "Versioning", Have: "off", Want: "on"}}
	for name, tc := range map[string]struct {
		item     plan.Item
		want     check.Outcome
		evidence string
		lacks    bool
	}{
		"as declared": {plan.Item{AWS: in(plan.Resource{ID: "b"})}, check.OutcomePass, "b in 123456789012/eu-west-1", false},
		"missing": {plan.Item{AWS: in(plan.Resource{Action: plan.Create, Cause: "New"})}, check.OutcomeFail, "does not exist in AWS",
			false},
		"drifted": {plan.Item{AWS: in(plan.Resource{Action: plan.Update, Fields: differs})}, check.OutcomeFail,
			"Versioning: off, declared is on", false},
		"drifted, kept": {plan.Item{AWS: in(plan.Resource{Fields: differs, Reason: "only reports"})}, check.OutcomeFail,
			"declared is on; only reports", false},
		"edited": {plan.Item{Action: plan.Update, Fields: []plan.Field{{Path: "spec.a", Want: "1"}}, AWS: in(plan.Resource{})},
			check.OutcomeFail, "spec.a: none, declared is 1", false},
		"lost": {plan.Item{Problem: &plan.Problem{Reason: "Missing", Message: "it is gone"}}, check.OutcomeFail,
			"Missing: it is gone", false},
		"foreign": {plan.Item{Problem: &plan.Problem{Reason: "Conflict", Field: "spec.bucketName", Message: "another owner"}},
			check.OutcomeFail, "Conflict: spec.bucketName: another owner", false},
		"no right": {plan.Item{Problem: &plan.Problem{Reason: "AccessDenied", Message: "s3:GetBucketTagging"}}, check.OutcomeSkip,
			"s3:GetBucketTagging", true},
		"another account": {plan.Item{Problem: &plan.Problem{Reason: "ProviderMoved", Message: "your AWS credentials"}}, check.OutcomeSkip,
			"your AWS credentials", true},
		"no right, Secret": {plan.Item{Waits: "the right to read Secret a"}, check.OutcomeSkip, "the right to read Secret a", true},
		"waits":            {plan.Item{Waits: "AWSProvider/a"}, check.OutcomeFail, "it waits for AWSProvider/a", false},
		"busy":             {plan.Item{AWS: in(plan.Resource{Cause: "Busy", Reason: "creating"})}, check.OutcomeWarn, "Busy: creating", false},
		"not compared":     {plan.Item{}, check.OutcomeSkip, "not compared", false},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.item.Action == "" {
				tc.item.Action = plan.None
			}
			tc.item.Kind, tc.item.Name, tc.item.Namespace = "S3Bucket", "b", "team-a"
			got := judgeItem(tc.item)
			if got.Outcome != tc.want || !strings.Contains(got.Evidence, tc.evidence) || got.MissingRight != tc.lacks ||
				got.Outcome == check.OutcomeFail && got.Fix == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestVerify_JudgesAnswersOfTheProxy(t *testing.T) {
	for name, tc := range map[string]struct {
		code int
		said *metav1.Status
		want check.Outcome
	}{
		"answers":          {200, nil, check.OutcomePass},
		"leads elsewhere":  {302, nil, check.OutcomePass},
		"is sick":          {500, nil, check.OutcomeFail},
		"wants a password": {401, nil, check.OutcomeFail},
		"is not reached":   {503, &metav1.Status{Reason: metav1.StatusReasonServiceUnavailable, Message: "no endpoints"}, check.OutcomeFail},
		"no right":         {403, &metav1.Status{Reason: metav1.StatusReasonForbidden}, check.OutcomeSkip},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judgeAnswer("t", "GET /", "fix", tc.code, tc.said); got.Outcome != tc.want ||
				got.MissingRight != (tc.want == check.OutcomeSkip) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestVerify_AnErrorIsNeverAPass(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	for name, tc := range map[string]struct {
		err   error
		lacks bool
	}{
		"forbidden":    {forbidden, true},
		"no AWS":       {&plan.AccessError{Err: errors.New("no credentials")}, true},
		"precondition": {exit.Precondition(errors.New("no namespace")), true},
		"other":        {errors.New("broken"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check.Unmade("t", tc.err); got.Outcome == check.OutcomePass || got.MissingRight != tc.lacks || got.Evidence == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// verifierOf is a verifier of a capability without a cluster, for checks of its status.
func verifierOf(c *nexusv1.NexusAICapability) (*verifier, *strings.Builder) {
	var out strings.Builder
	s := &connection.Connection{Console: &console.Console{IOStreams: genericiooptions.IOStreams{Out: &out}, Clock: clock.RealClock{},
		Getenv: func(string) string { return "" }},
		Cluster: genericclioptions.NewConfigFlags(true)}
	s.Cluster.KubeConfig = new(os.DevNull)
	return &verifier{Connection: s, Options: &Options{Output: "text"}, subject: c, lapse: creation.Midday(),
		report: newVerification(c, creation.Midday())}, &out
}

func TestVerify_ACoverageIsTheBestOfTheEngines(t *testing.T) {
	c := creation.At(nexusv1.PhaseRunning)
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "a"}}}
	c.Status.Conditions = []metav1.Condition{{Type: nexusv1.ConditionPoliciesReady, Status: metav1.ConditionTrue, ObservedGeneration: 2}}
	c.Status.Coverage = []nexusv1.PolicyCoverage{
		{Intent: "x", Engine: "Kyverno", Level: "None"}, {Intent: "x", Engine: "NetworkPolicy", Level: "Enforced"},
		{Intent: "y", Engine: "Kyverno", Level: "Partial", Message: "half"},
		{Intent: "z", Component: "backend", Engine: "Istio", Level: "None", Message: "not installed"}}
	v, out := verifierOf(c)
	if err := v.checkPolicies(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := v.report.Summary; s.Passed != 2 || s.Warnings != 1 || s.Failed != 1 {
		t.Errorf("%+v\n%s", s, out)
	}
	for _, want := range []string{"PASS              intent x is enforced", "WARN              intent y is enforced",
		"seen: Kyverno: Partial, half", "FAIL              intent z of backend is enforced"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	v, _ = verifierOf(c)
	v.FailFast = true
	if err := v.checkPolicies(t.Context()); !errors.Is(err, errEnough) {
		t.Errorf("with --fail-fast: %v", err)
	}
	c.Generation = 3
	v, _ = verifierOf(c)
	if err := v.checkPolicies(t.Context()); err != nil || v.report.Checks[0].Outcome != check.OutcomeFail {
		t.Errorf("of a former generation: %v, %+v", err, v.report.Checks[0])
	}
}

func TestVerify_ReadsConditionsOfTheStatus(t *testing.T) {
	c := creation.At(nexusv1.PhaseRunning)
	for _, status := range []struct {
		value metav1.ConditionStatus
		want  check.Outcome
	}{{"", check.OutcomeSkip}, {metav1.ConditionTrue, check.OutcomePass}, {metav1.ConditionFalse, check.OutcomeWarn}} {
		c.Status.Conditions = nil
		if status.value != "" {
			c.Status.Conditions = []metav1.Condition{{Type: nexusv1.ConditionSecretsPopulated, Status: status.value, Reason: "A"},
				{Type: nexusv1.ConditionCredentialsInPods, Status: status.value, Reason: "B"}}
		}
		v, out := verifierOf(c)
		if err := errors.Join(v.checkSecrets(t.Context()), v.checkCredentialsInPods()); err != nil {
			t.Fatal(err)
		}
		for _, r := range v.report.Checks {
			if r.Outcome != status.want {
				t.Errorf("%q: %+v\n%s", status.value, r, out)
			}
		}
	}
}

func TestVerify_SkipsSecretsWhereThereAreNone(t *testing.T) {
	c := creation.At(nexusv1.PhaseRunning)
	c.Status.Conditions = []metav1.Condition{{Type: nexusv1.ConditionSecretsPopulated, Status: metav1.ConditionTrue, Reason: "Skipped",
		Message: "the capability has no secrets"}}
	v, out := verifierOf(c)
	if err := v.checkSecrets(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := v.report.Checks[0]; r.Outcome != check.OutcomeSkip || !strings.Contains(out.String(), "the capability has no secrets") {
		t.Errorf("%+v\n%s", r, out)
	}
}

func TestVerify_AsksForHealthWhereTheProbeDoes(t *testing.T) {
	d := &appsv1.Deployment{}
	c := creation.At(nexusv1.PhaseRunning)
	if got := healthPathOf(c, d); got != "/health" {
		t.Errorf("%q", got)
	}
	c.Spec.Ingress = &nexusv1.IngressSpec{HealthCheckPath: "/up"}
	if got := healthPathOf(c, d); got != "/up" {
		t.Errorf("%q", got)
	}
	d.Spec.Template.Spec.Containers = []corev1.Container{
		{ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready"}}}}}
	if got := healthPathOf(c, d); got != "/ready" {
		t.Errorf("%q", got)
	}
}

func TestVerify_KnowsWhichServicesHaveABalancer(t *testing.T) {
	c := creation.At(nexusv1.PhaseRunning)
	c.Spec.Backend.DualService = new(false)
	if all := capability.Workloads(c); all[0].Balanced || all[1].Balanced || len(all[0].Services) != 1 {
		t.Errorf("with an Ingress: %+v", all)
	}
	c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	c.Spec.Backend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}
	if all := capability.Workloads(c); all[0].Balanced || !all[1].Balanced {
		t.Errorf("without one: %+v", all)
	}
}

func TestVerify_TheApplicationsJSONIsNotTheAPIServers(t *testing.T) {
	for body, own := range map[string]bool{`{"kind":"Status","apiVersion":"v1","reason":"Forbidden"}`: true, `{"kind":"Status"}`: false,
		`{"status":"ok"}`: false, `[`: false} {
		r := &http.Response{Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody}
		r.Body = readCloser{strings.NewReader(body)}
		got, err := statusIn(r)
		if err != nil || (got != nil) != own {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestVerify_ExitCodes(t *testing.T) {
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-over.Done()
	for name, tc := range map[string]struct {
		ctx    context.Context
		checks []check.Result
		want   int
	}{
		"passed":         {t.Context(), []check.Result{check.Pass("a", ""), check.Warn("b", "", ""), check.Skip("c", "")}, 0},
		"failed":         {t.Context(), []check.Result{check.Pass("a", ""), check.Lacks("b", "", ""), check.Fail("c", "", "")}, 1},
		"a right lacks":  {t.Context(), []check.Result{check.Pass("a", ""), check.Lacks("b", "", "")}, 4},
		"the time is up": {over, []check.Result{check.Pass("a", ""), check.Fail("b", "", "")}, 124},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := verifierOf(creation.At(nexusv1.PhaseRunning))
			for _, r := range tc.checks {
				v.report.Add(r)
			}
			code, err := 0, v.verdict(tc.ctx)
			if f, ok := errors.AsType[*exit.Failure](err); ok {
				code = f.Code
			}
			if code != tc.want {
				t.Errorf("%d (%v), want %d", code, err, tc.want)
			}
		})
	}
}
