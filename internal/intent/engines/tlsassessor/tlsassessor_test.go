// SPDX-License-Identifier: Apache-2.0

package tlsassessor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/tlsassessor"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

const image = "registry.example.com/assessor@sha256:0f"

func policy(action v1alpha1.Action, addresses ...string) intent.Policy {
	r := intent.Rule{ID: "assessTLS", Canonical: "assessTLS", Intent: "assess-tls", Action: action,
		Params: map[string][]string{"external_addresses": addresses}}
	return intent.Policy{Name: "web", Namespace: "shop", Rules: []intent.Rule{r}}
}

func results(of ...v1alpha1.Assessment) []v1alpha1.Assessment { return of }

func passed(target string) v1alpha1.Assessment {
	return v1alpha1.Assessment{Target: target, Result: v1alpha1.AssessmentPassed}
}

func TestHowFarAnAssessmentGoes(t *testing.T) {
	const a, b = "a.example.com:443", "b.example.com:443"
	var many []string
	var all []v1alpha1.Assessment
	for i := range 40 {
		many = append(many, fmt.Sprintf("h%d.example.com:443", i))
		all = append(all, passed(many[i]))
	}
	failed := v1alpha1.Assessment{Target: b, Result: v1alpha1.AssessmentFailed, Message: "weak"}
	over := policy(v1alpha1.Audit, a)
	over.Namespace, over.FromCluster = "", true
	for name, tc := range map[string]struct {
		policy  intent.Policy
		facts   intent.TLS
		level   v1alpha1.Level
		reason  string
		message string
	}{
		"over the cluster": {over, intent.TLS{Image: image}, v1alpha1.LevelNone, "Elsewhere", "namespaces"},
		"no image":         {policy(v1alpha1.Audit, a), intent.TLS{}, v1alpha1.LevelNone, "ImageMissing", "--tls-assessor-image"},
		"no target": {policy(v1alpha1.Audit), intent.TLS{Image: image, Services: []intent.Service{{Name: "x", Ports: []int32{1}}}},
			v1alpha1.LevelNone, "NoTargets", "external_addresses"},
		"no result": {policy(v1alpha1.Audit, a, b), intent.TLS{Image: image, Results: results(passed(a))}, v1alpha1.LevelPartial,
			"NoResultYet", b},
		"a failure": {policy(v1alpha1.Audit, a),
			intent.TLS{Image: image, Results: results(passed(a)), Reason: "ResultInvalid", Problem: "why"}, v1alpha1.LevelPartial, "ResultInvalid",
			"why"},
		"old results": {policy(v1alpha1.Audit, a), intent.TLS{Image: image, Results: results(passed(a)), Outdated: true},
			v1alpha1.LevelPartial, "ResultOutdated", "params.schedule"},
		"too many": {policy(v1alpha1.Audit, many...), intent.TLS{Image: image, Results: all}, v1alpha1.LevelPartial, "TooManyTargets",
			"32 of 40"},
		"asked to block": {policy(v1alpha1.Block, a), intent.TLS{Image: image, Results: results(passed(a))}, v1alpha1.LevelPartial,
			"ReportsOnly", "action: Audit"},
		"nothing wrong": {policy(v1alpha1.Audit, a), intent.TLS{Image: image, Results: results(passed(a))}, v1alpha1.LevelAudited, "",
			"targets with problems: 0 of 1"},
		"one target is wrong": {policy(v1alpha1.Audit, a, b), intent.TLS{Image: image, Results: results(passed(a), failed)},
			v1alpha1.LevelAudited, "", "targets with problems: 1 of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tlsassessor.New().Translate(tc.policy, intent.Facts{TLS: tc.facts})
			if c := got.Claims[0]; c.Level != tc.level || c.Reason != tc.reason || !strings.Contains(c.Message, tc.message) {
				t.Errorf("%+v", c)
			}
			if n := len(got.Objects); (n == 1) != (tc.level != v1alpha1.LevelNone) {
				t.Errorf("%d objects", n)
			}
		})
	}
}

func TestTheCronJobOfAPolicy(t *testing.T) {
	p := policy(v1alpha1.Audit, "example.com:443", "[2001:db8::1]:443")
	p.Selector.Labels = map[string]string{"app": "web"}
	p.Rules[0].Params["schedule"] = []string{"30 2 * * 0"}
	got := tlsassessor.New().Translate(p, intent.Facts{TLS: intent.TLS{Image: image,
		Services: []intent.Service{{Name: "web", Selector: map[string]string{"app": "web"}, Ports: []int32{443}}}}})
	golden.Check(t, "cronjob.yaml", golden.Manifests(t, got.Objects))
}

func TestANameLeavesRoomForTheNamesOfJobs(t *testing.T) {
	p := policy(v1alpha1.Audit, "example.com:443")
	p.Name = strings.Repeat("n", 200)
	got := tlsassessor.New().Translate(p, intent.Facts{TLS: intent.TLS{Image: image}})
	if n := len(got.Objects[0].GetName()); n > 52 {
		t.Errorf("%d characters", n)
	}
}
