// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type runEdit = func(*nexusv1.NamedComponentSpec)

func aJob(edits ...runEdit) componentEdit {
	return with("once", append([]runEdit{func(n *nexusv1.NamedComponentSpec) { n.Type = nexusv1.ComponentJob }}, edits...)...)
}

func aCronJob(edits ...runEdit) componentEdit {
	return with("nightly", append([]runEdit{func(n *nexusv1.NamedComponentSpec) { n.Type, n.Schedule = nexusv1.ComponentCronJob, "0 3 * * *" }}, edits...)...)
}

// Fields that a Job or a CronJob cannot have, or must have, are refused by the schema as well as by the operator, with their names.
func TestRuns_FieldsOfOtherTypesAreRefused(t *testing.T) {
	s := newAdmission(t)
	probe := func(n *nexusv1.NamedComponentSpec) {
		n.Probes = &nexusv1.ProbesSpec{Readiness: &nexusv1.Probe{Exec: &nexusv1.ExecProbe{Command: []nexusv1.CommandArgument{"x"}}}}
	}
	for name, tc := range map[string]struct {
		edit  componentEdit
		field string
		// schema is false for errors that only the operator finds.
		schema bool
	}{
		"routes":      {aJob(paths("/x")), "routes", true},
		"a service":   {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.Service = &nexusv1.ServiceSpec{} }), "service", true},
		"a port":      {aJob(func(n *nexusv1.NamedComponentSpec) { n.Port = new(int32(80)) }), "port", true},
		"replicas":    {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.Replicas = new(int32(1)) }), "replicas", true},
		"autoscaling": {aJob(func(n *nexusv1.NamedComponentSpec) { n.Autoscaling = &nexusv1.AutoscalingSpec{Max: 2} }), "autoscaling", true},
		"a disruption budget": {aJob(func(n *nexusv1.NamedComponentSpec) {
			n.PDB = &nexusv1.DisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1))}
		}), "pdb", true},
		"a time to drain":             {aJob(func(n *nexusv1.NamedComponentSpec) { n.DrainSeconds = new(int64(1)) }), "drainSeconds", true},
		"a readiness probe":           {aCronJob(probe), "probes", true},
		"a CronJob without schedule":  {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.Schedule = "" }), "schedule", true},
		"a Job with schedule":         {aJob(func(n *nexusv1.NamedComponentSpec) { n.Schedule = "0 3 * * *" }), "schedule", true},
		"a Service with schedule":     {with("a", func(n *nexusv1.NamedComponentSpec) { n.Schedule = "0 3 * * *" }), "schedule", true},
		"a schedule of four fields":   {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.Schedule = "0 3 * *" }), "schedule", false},
		"a schedule of AWS":           {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.Schedule = "cron(0 3 * * ? *)" }), "schedule", false},
		"a schedule with a time zone": {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.Schedule = "TZ=UTC 0 3 * * *" }), "schedule", true},
		"a Job with a time zone":      {aJob(func(n *nexusv1.NamedComponentSpec) { n.TimeZone = "UTC" }), "timeZone", true},
		"a Job with concurrency":      {aJob(func(n *nexusv1.NamedComponentSpec) { n.ConcurrencyPolicy = "Forbid" }), "concurrencyPolicy", true},
		"an unknown concurrency":      {aCronJob(func(n *nexusv1.NamedComponentSpec) { n.ConcurrencyPolicy = "Queue" }), "concurrencyPolicy", true},
		"a Worker with backoffLimit":  {worker("w", func(n *nexusv1.NamedComponentSpec) { n.BackoffLimit = new(int32(1)) }), "backoffLimit", true},
		"a Worker with a deadline":    {worker("w", func(n *nexusv1.NamedComponentSpec) { n.ActiveDeadlineSeconds = new(int64(1)) }), "activeDeadlineSeconds", true},
		"a negative backoffLimit":     {aJob(func(n *nexusv1.NamedComponentSpec) { n.BackoffLimit = new(int32(-1)) }), "backoffLimit", true},
		"no time at all":              {aJob(func(n *nexusv1.NamedComponentSpec) { n.ActiveDeadlineSeconds = new(int64(0)) }), "activeDeadlineSeconds", true},
		"a long name of a CronJob": {components(aCronJob(), func(c *nexusv1.NexusAICapability) {
			c.Spec.CapabilityName, c.Spec.Components[0].Name = strings.Repeat("b", 20), strings.Repeat("a", 30)
		}), "components", true},
	} {
		c := minimal(tc.edit)
		err := s.admit(manifest(t, c))
		if isInvalid(err) != tc.schema || tc.schema && !strings.Contains(err.Error(), tc.field) {
			t.Errorf("%s: admission says %v", name, err)
		}
		stalled, ok := status.AsStalled(capability.Validate(c, facts()))
		if !ok || !strings.HasPrefix(stalled.Field, "spec.components[0].") || tc.field != "components" && !strings.HasSuffix(stalled.Field, "."+tc.field) {
			t.Errorf("%s: the operator says %v", name, stalled)
		}
	}
	good := minimal(aJob(func(n *nexusv1.NamedComponentSpec) {
		n.BackoffLimit, n.ActiveDeadlineSeconds = new(int32(0)), new(int64(60))
	}),
		aCronJob(func(n *nexusv1.NamedComponentSpec) {
			n.Schedule, n.TimeZone, n.ConcurrencyPolicy = "@daily", "America/Argentina/Buenos_Aires", "Replace"
		}))
	if err := s.admit(manifest(t, good)); err != nil {
		t.Error(err)
	}
	if err := capability.Validate(good, facts()); err != nil {
		t.Error(err)
	}
}

// The mark of a run changes only with the declaration of its pods, their access and their settings.
func TestRuns_TheMarkFollowsTheDeclaration(t *testing.T) {
	mark := func(edits ...componentEdit) string {
		return object(t, compile(t, minimal(edits...), facts()), "Job/myapp-dev-once").GetAnnotations()[capability.AnnotationRun]
	}
	same := mark(withData, aJob())
	for name, edit := range map[string]componentEdit{
		"labels":            func(c *nexusv1.NexusAICapability) { c.Labels = map[string]string{"a": "b"} },
		"another component": worker("w"),
		"the identity":      func(c *nexusv1.NexusAICapability) { c.UID = "another" },
		"a health check":    func(c *nexusv1.NexusAICapability) { c.Spec.Ingress = &nexusv1.IngressSpec{HealthCheckPath: "/other"} },
	} {
		if mark(withData, aJob(), edit) != same {
			t.Errorf("%s runs the Job again", name)
		}
	}
	for name, edit := range map[string]componentEdit{
		"an image":    aJob(func(n *nexusv1.NamedComponentSpec) { n.Image = "other:2" }),
		"a command":   aJob(func(n *nexusv1.NamedComponentSpec) { n.Command = []nexusv1.CommandArgument{"x"} }),
		"a variable":  aJob(func(n *nexusv1.NamedComponentSpec) { n.Env = []nexusv1.EnvVar{{Name: "A", Value: "1"}} }),
		"an access":   aJob(access()),
		"a deadline":  aJob(func(n *nexusv1.NamedComponentSpec) { n.ActiveDeadlineSeconds = new(int64(9)) }),
		"the version": components(aJob(), func(c *nexusv1.NexusAICapability) { c.Spec.Version = "9" }),
	} {
		if mark(withData, edit) == same {
			t.Errorf("%s does not run the Job again", name)
		}
	}
}

// Pods of a Job carry the labels that policies and bindings use to select the pods of a component. Its Job template has no label that would
// make a run a child.
func TestRuns_PodsAreSelectedAsThoseOfOtherComponents(t *testing.T) {
	g := compile(t, minimal(withData, aJob(), aCronJob(), worker("w")), facts())
	labels := func(id string, path ...string) map[string]string {
		out, _, err := unstructured.NestedStringMap(object(t, g, id).Object, path...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	like := labels("Deployment/myapp-dev-w", "spec", "template", "metadata", "labels")
	delete(like, capability.LabelVersion)
	for component, have := range map[string]map[string]string{
		"once":    labels("Job/myapp-dev-once", "spec", "template", "metadata", "labels"),
		"nightly": labels("CronJob/myapp-dev-nightly", "spec", "jobTemplate", "spec", "template", "metadata", "labels"),
	} {
		for key, want := range like {
			if key == capability.LabelComponent {
				want = component
			}
			if have[key] != want {
				t.Errorf("pods of %s have %s=%s", component, key, have[key])
			}
		}
	}
	if l := labels("CronJob/myapp-dev-nightly", "spec", "jobTemplate", "metadata", "labels"); l["nexus.ai/capability-uid"] != "" || len(l) == 0 {
		t.Errorf("the Jobs of a CronJob have %v", l)
	}
	for _, w := range capability.Workloads(minimal(withData, aJob(), aCronJob())) {
		if ends := w.Component == "once" || w.Component == "nightly"; ends != (w.Deployment == "") || ends && len(w.Services) > 0 {
			t.Errorf("%+v", w)
		}
	}
}

// A capability that takes over a deleted one only to delete it runs no Job.
func TestRuns_WhatIsToBeDeletedRunsNone(t *testing.T) {
	c := minimal(aJob(), aCronJob())
	out := capability.ToBeDeleted(c)
	out.UID = "another"
	if err := capability.Validate(out, facts()); err != nil {
		t.Error(err)
	}
	g := compile(t, out, facts())
	if n := len(ofKind(g, "Job")) + len(ofKind(g, "CronJob")); n > 0 || !capability.IsToBeDeleted(out) {
		t.Errorf("%d Jobs", n)
	}
}
