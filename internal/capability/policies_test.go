// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func both(name string) nexusv1.IntentReference { return nexusv1.IntentReference{Name: name} }

// bound adds intents to the observed capability, with all their bindings in force.
func bound(list ...nexusv1.IntentReference) func(*capability.Observed) {
	return func(o *capability.Observed) {
		intents(list...)(o.Capability)
		o.Graph, _ = capability.Compile(o.Capability, o.Facts)
		for _, n := range o.Graph.Nodes() {
			if n.Step == capability.StepPolicies {
				n.Object.SetGeneration(3)
				_ = unstructured.SetNestedField(n.Object.Object, int64(3), "status", "observedGeneration")
				o.States[n.ID] = capability.State{Applied: true, Ready: true, Live: n.Object}
			}
		}
	}
}

// covers puts rows of "intent engine level reason" into a binding's status.
func covers(id string, generation int64, rows ...string) func(*capability.Observed) {
	return func(o *capability.Observed) {
		var list []any
		for _, row := range rows {
			f := append(strings.Fields(row), "")
			list = append(list, map[string]any{"intent": f[0], "engine": f[1], "level": f[2], "reason": f[3], "message": "because"})
		}
		live := o.States[id].Live
		_ = unstructured.SetNestedSlice(live.Object, list, "status", "coverage")
		_ = unstructured.SetNestedField(live.Object, generation, "status", "observedGeneration")
	}
}

func closes(names ...string) func(*capability.Observed) {
	return func(o *capability.Observed) {
		o.Facts.ClosesEgress = map[string]string{}
		for _, name := range names {
			o.Facts.ClosesEgress[name] = "open " + name
		}
	}
}

func TestPoliciesArePartOfReadyAndOfNoStep(t *testing.T) {
	const binding, frontends = "SecurityIntentBinding/myapp-dev-policies", "SecurityIntentBinding/myapp-dev-frontend-policies"
	none := capability.State{Applied: true, Stalled: true, Reason: "NotEnforced", Message: "no engine does it"}
	blocked := "SecurityIntent dns closes the backend's way to AWS: open dns, or bind it to component frontend"
	for name, tc := range map[string]struct {
		edits           []func(*capability.Observed)
		want, condition string
	}{
		"none are asked for":   {nil, "Running 11/11 Ingress ready=True/Ready", "True/Skipped not asked for"},
		"an empty list":        {[]func(*capability.Observed){bound()}, "Running 11/11 Ingress ready=True/Ready", "True/Skipped not asked for"},
		"all are in force":     {[]func(*capability.Observed){bound(both("dns"))}, "Running 11/11 Ingress ready=True/Ready", "True/Ready "},
		"one is not in force":  {[]func(*capability.Observed){bound(both("dns")), ran, state(binding, none)}, "Failed 11/11 Ingress ready=False/NotEnforced", "False/NotEnforced " + binding + ": no engine does it (NX-SEC-001)"},
		"one is being applied": {[]func(*capability.Observed){bound(both("dns")), ran, state(binding, capability.State{Applied: true, Reason: "Progressing"})}, "Updating 11/11 Ingress ready=False/Progressing", "False/Progressing " + binding + ": Progressing"},
		"only policies lack at the end of a first rollout": {[]func(*capability.Observed){bound(both("dns")), state(binding, capability.State{Applied: true, Reason: "IntentMissing", Message: "dns does not exist"})},
			"DeployingFrontend 11/11 Ingress ready=False/IntentMissing", "False/IntentMissing " + binding + ": dns does not exist (NX-SEC-002)"},
		"policies lack while AWS is made": {[]func(*capability.Observed){bound(both("dns")), without("S3Bucket/", "Deployment/", "Ingress/"), state(binding, capability.State{Applied: true})},
			"ProvisioningDataServices 7/11 S3 ready=False/Progressing", "False/Progressing " + binding},
		"the way to AWS is closed": {[]func(*capability.Observed){bound(both("host"), both("dns")), closes("dns")},
			"Failed 11/11 Ingress ready=False/EgressToAWSBlocked", "False/EgressToAWSBlocked " + binding + ": " + blocked + " (NX-NET-004)"},
		"the way to AWS is closed before anything is there": {[]func(*capability.Observed){bound(forBackend("dns")), closes("dns"), without("")},
			"Failed 1/11 DynamoDB ready=False/EgressToAWSBlocked", "False/EgressToAWSBlocked SecurityIntentBinding/myapp-dev-backend-policies: " + blocked + " (NX-NET-004)"},
		"the cause is told before what it leads to": {[]func(*capability.Observed){bound(both("dns")), closes("dns"),
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Stalled: true, Reason: "CrashLoopBackOff"})},
			"Failed 10/11 Backend ready=False/EgressToAWSBlocked", "False/EgressToAWSBlocked " + binding + ": " + blocked + " (NX-NET-004)"},
		"the frontend's way is closed": {[]func(*capability.Observed){bound(forFrontend("dns"), forBackend("host")), closes("dns")},
			"Running 11/11 Ingress ready=True/Ready", "True/Ready "},
		"the way to AWS is closed, and the frontend's intents are not in force": {[]func(*capability.Observed){bound(forFrontend("segments"), forBackend("dns")), closes("dns"), state(frontends, none)},
			"Failed 11/11 Ingress ready=False/EgressToAWSBlocked", "False/EgressToAWSBlocked SecurityIntentBinding/myapp-dev-backend-policies: " + blocked + " (NX-NET-004)"},
		"one of two": {[]func(*capability.Observed){bound(both("dns"), forFrontend("segments")), state(frontends, none)},
			"Failed 11/11 Ingress ready=False/NotEnforced", "False/NotEnforced " + frontends + ": no engine does it (NX-SEC-001)"},
		"in deletion": {[]func(*capability.Observed){bound(both("dns")), closes("dns"), ran, leaving(binding)},
			"Deleting 4/11 Namespace ready=False/Deleting", "False/Deleting "},
	} {
		t.Run(name, func(t *testing.T) {
			st, got := summary(observe(t, tc.edits...))
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if got := conditionOf(st, nexusv1.ConditionPoliciesReady); got != tc.condition {
				t.Errorf("got  %s\nwant %s", got, tc.condition)
			}
		})
	}
}

func TestCoverageRepeatsWhatTheBindingsSay(t *testing.T) {
	const all, back = "SecurityIntentBinding/myapp-dev-policies", "SecurityIntentBinding/myapp-dev-backend-policies"
	given := []func(*capability.Observed){bound(forBackend("segments"), both("dns")),
		covers(all, 3, "dnsManipulation NetworkPolicy Enforced", "dnsManipulation KubeArmor None EngineMissing"),
		covers(back, 3, "networkSegmentation NetworkPolicy Partial Overlaps")}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("intent%d Kyverno None NotCovered", i))
	}
	for name, tc := range map[string]struct {
		edit func(*capability.Observed)
		want []string
	}{
		"all of it": {func(*capability.Observed) {}, []string{
			" dnsManipulation NetworkPolicy Enforced ", " dnsManipulation KubeArmor None EngineMissing", "backend networkSegmentation NetworkPolicy Partial Overlaps"}},
		"not that of an earlier generation": {covers(all, 2, "dnsManipulation NetworkPolicy Enforced"), []string{"backend networkSegmentation NetworkPolicy Partial Overlaps"}},
		"nothing once no intent is named":   {bound(), nil},
		"nothing in deletion":               {leaving(all), nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, append(given, tc.edit)...)
			o.Capability.Status.Coverage = []nexusv1.PolicyCoverage{{Intent: "before"}}
			st, _ := summary(o)
			var got []string
			for _, c := range st.Coverage {
				got = append(got, fmt.Sprintf("%s %s %s %s %s", c.Component, c.Intent, c.Engine, c.Level, c.Reason))
				if c.Message != "because" {
					t.Errorf("the message is lost: %+v", c)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
	if st, _ := summary(observe(t, append(given, covers(all, 3, many...))...)); len(st.Coverage) != 256 {
		t.Errorf("%d rows, want as many as the schema allows", len(st.Coverage))
	}
}

func TestWhatAnIntentMovedFromStaysUntilItIsInForceWhereItMovedTo(t *testing.T) {
	const binding = "SecurityIntentBinding/myapp-dev-policies"
	for name, tc := range map[string]struct {
		edits []func(*capability.Observed)
		want  bool
	}{
		"no intents":                    {nil, false},
		"all dealt with":                {[]func(*capability.Observed){bound(both("dns"))}, false},
		"dealt with as it was":          {[]func(*capability.Observed){bound(both("dns")), covers(binding, 2)}, true},
		"a foreign object in its place": {[]func(*capability.Observed){bound(both("dns")), state(binding, capability.State{Stalled: true, Reason: "Conflict"})}, false},
		"dealt with, and not in force": {[]func(*capability.Observed){bound(both("dns")), func(o *capability.Observed) {
			s := o.States[binding]
			s.Ready, s.Stalled = false, true
			o.States[binding] = s
		}}, false},
		"nothing is known of what there is": {[]func(*capability.Observed){func(o *capability.Observed) { o.Graph = nil }}, false},
	} {
		if o := observe(t, tc.edits...); o.Settling() != tc.want {
			t.Errorf("%s: settling is %v", name, !tc.want)
		}
	}
}

// TestBindingsSelectThePodsOfTheirComponentsOnly holds the selectors against the labels that the pods of
// the Deployments get, of this capability and of others.
func TestBindingsSelectThePodsOfTheirComponentsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		g := compile(t, c, facts())
		other := c.DeepCopy()
		other.UID = "another-uid"
		pods := map[string]map[string]string{}
		for _, component := range []string{"frontend", "backend"} {
			pods[component] = podLabels(t, g, c, component)
			pods["another's "+component] = podLabels(t, compile(t, other, facts()), other, component)
		}
		for _, n := range g.Nodes() {
			if n.Step != capability.StepPolicies {
				continue
			}
			m, _, err := unstructured.NestedStringMap(n.Object.Object, "spec", "selector", "workloadSelector", "matchLabels")
			if err != nil || n.Object.GetNamespace() != c.Spec.CapabilityName+"-"+c.Spec.Environment {
				t.Fatalf("%s: %v", n.ID, err)
			}
			var got []string
			for _, name := range slices.Sorted(maps.Keys(pods)) {
				if labels.SelectorFromSet(m).Matches(labels.Set(pods[name])) {
					got = append(got, name)
				}
			}
			if want := wantedPods(n.Object.GetName()); !slices.Equal(got, want) {
				t.Fatalf("%s selects %q, want %q", n.ID, got, want)
			}
		}
	})
}

func podLabels(t fatal, g *graph.Graph, c *nexusv1.NexusAICapability, component string) map[string]string {
	prefix := c.Spec.CapabilityName + "-" + c.Spec.Environment
	d := &appsv1.Deployment{}
	o := object(t, g, graph.ID("Deployment", prefix, prefix+"-"+component, c.Namespace))
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d); err != nil {
		t.Fatalf("%v", err)
	}
	return d.Spec.Template.Labels
}

func wantedPods(binding string) []string {
	for _, component := range []string{"frontend", "backend"} {
		if strings.HasSuffix(binding, "-"+component+"-policies") {
			return []string{component}
		}
	}
	return []string{"backend", "frontend"}
}

func TestEveryIntentIsBoundOnceForEachComponentInTheOrderGiven(t *testing.T) {
	c := minimal(intents(forBackend("z"), both("b"), forFrontend("z"), both("a"), forBackend("y")))
	g := compile(t, c, facts())
	for name, want := range map[string][]string{
		"policies": {"b", "a"}, "frontend-policies": {"z"}, "backend-policies": {"z", "y"},
	} {
		list, _, _ := unstructured.NestedSlice(object(t, g, "SecurityIntentBinding/myapp-dev-"+name).Object, "spec", "intents")
		var got []string
		for _, item := range list {
			got = append(got, item.(map[string]any)["name"].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s binds %q, want %q", name, got, want)
		}
	}
}

func TestNothingWaitsForPoliciesAndTheyWaitForTheirNamespaceOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		g := compile(t, c, facts())
		for i, n := range g.Nodes() {
			if n.Step != capability.StepPolicies {
				continue
			}
			if d := g.Dependants(n.ID); len(d) > 0 || n.Unresolved != "" {
				t.Fatalf("%s is waited for by %q, unresolved %q", n.ID, d, n.Unresolved)
			}
			for _, e := range n.After {
				if kindOf(e.To) != "Namespace" {
					t.Fatalf("%s waits for %s", n.ID, e.To)
				}
			}
			for _, id := range g.IDs()[:i] {
				if kindOf(id) == "Deployment" {
					t.Fatalf("%s is applied after %s", n.ID, id)
				}
			}
		}
	})
}

// stagesOf counts the stages that remove an object.
func stagesOf(kind, name string) (n int) {
	for _, s := range capability.DeletionOrder {
		if s.Includes(kind, name) {
			n++
		}
	}
	return n
}

func TestEveryKindHasItsPlaceInTheOrderOfDeletion(t *testing.T) {
	place := map[string]int{}
	for i, stage := range capability.DeletionOrder {
		for _, k := range stage.Kinds {
			if stage.ServiceRoles {
				continue
			}
			if _, twice := place[k.Kind]; twice || k.Version == "" {
				t.Errorf("%s stands twice, or without a version", k)
			}
			place[k.Kind] = i
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, n := range compile(t, anyCapability().Draw(t, "capability"), facts()).Nodes() {
			i, ok := place[n.Object.GetKind()]
			if !ok || !slices.Contains(capability.DeletionOrder[i].Kinds, n.Object.GroupVersionKind()) {
				t.Fatalf("%s has no place", n.Object.GroupVersionKind())
			}
			if stages := stagesOf(n.Object.GetKind(), n.Object.GetName()); stages != 1 {
				t.Fatalf("%s is in %d stages", n.ID, stages)
			}
		}
	})
	if place["SecurityIntentBinding"] <= place["Deployment"] || place["SecurityIntentBinding"] >= place["Namespace"] {
		t.Error("policies go after the pods that they hold, and before the namespace that holds both")
	}
}

func TestTheChildThatHasMostToSayIsNamed(t *testing.T) {
	slow := capability.State{Applied: true, Reason: status.ReasonProgressing, Message: "1 of 2 replicas are available"}
	for name, tc := range map[string]struct {
		edits         []func(*capability.Observed)
		want, message string
	}{
		"a reason before mere progress": {[]func(*capability.Observed){state("Deployment/myapp-dev-backend", slow),
			state("Deployment/myapp-dev-frontend", capability.State{Applied: true, Reason: status.ReasonUnschedulable, Message: "no node"})},
			"DeployingBackend 9/11 Backend ready=False/Unschedulable", "waiting for Deployment/myapp-dev-frontend: no node"},
		"the first of equals": {[]func(*capability.Observed){state("Deployment/myapp-dev-backend", slow), state("Deployment/myapp-dev-frontend", slow)},
			"DeployingBackend 9/11 Backend ready=False/Progressing", "waiting for Deployment/myapp-dev-backend: 1 of 2 replicas are available"},
		"busy is the usual way of AWS": {[]func(*capability.Observed){without("S3Bucket/myapp-dev-call-data"),
			state("DynamoDBTable/myapp-dev-license", capability.State{Applied: true, Reason: status.ReasonBusy})},
			"ProvisioningDataServices 9/11 DynamoDB ready=False/Progressing", "waiting for DynamoDBTable/myapp-dev-license: Busy"},
		"only a person's help comes before": {[]func(*capability.Observed){
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Reason: status.ReasonUnschedulable, Message: "no node"}),
			state("Deployment/myapp-dev-frontend", capability.State{Applied: true, Stalled: true, Reason: status.ReasonImagePull, Message: "push it"})},
			"Failed 9/11 Backend ready=False/ImagePullBackOff", "Deployment/myapp-dev-frontend: push it (NX-K8S-001)"},
	} {
		t.Run(name, func(t *testing.T) {
			st, got := summary(observe(t, tc.edits...))
			if got != tc.want || st.Message != tc.message {
				t.Errorf("got  %s: %s\nwant %s: %s", got, st.Message, tc.want, tc.message)
			}
		})
	}
}

func TestLoadBalancerBlocked_WhereOneLeadsToClosedPods(t *testing.T) {
	const binding, backends, frontends = "SecurityIntentBinding/myapp-dev-policies", "SecurityIntentBinding/myapp-dev-backend-policies", "SecurityIntentBinding/myapp-dev-frontend-policies"
	ways := func(in *nexusv1.IngressSpec, backend, frontend corev1.ServiceType, controller string) func(*capability.Observed) {
		return func(o *capability.Observed) {
			o.Capability.Spec.Ingress = in
			o.Capability.Spec.Backend.Service = &nexusv1.ServiceSpec{Type: backend}
			o.Capability.Spec.Frontend.Service = &nexusv1.ServiceSpec{Type: frontend}
			o.Facts.Gateway.Controller = controller
			for _, b := range capability.BalancedComponents(o.Capability, o.Facts) {
				o.Facts.ClosedToBalancers = append(o.Facts.ClosedToBalancers, capability.ClosedToBalancer{Intent: "calls", Component: b.Component, To: "only pods", Remedy: "open it"})
			}
		}
	}
	off := &nexusv1.IngressSpec{Enabled: new(false)}
	of := func(class, name string) *nexusv1.IngressSpec {
		return &nexusv1.IngressSpec{Gateway: &nexusv1.GatewaySpec{Class: class, Name: name}}
	}
	const cluster, balancer = corev1.ServiceTypeClusterIP, corev1.ServiceTypeLoadBalancer
	for name, tc := range map[string]struct {
		way   func(*capability.Observed)
		bound nexusv1.IntentReference
		want  string
	}{
		"by an Ingress":                    {ways(nil, "", "", ""), both("calls"), binding + ": SecurityIntent calls lets only pods call the frontend and the backend,"},
		"by an Ingress, the backend":       {ways(nil, "", "", ""), forBackend("calls"), backends + ": SecurityIntent calls lets only pods call the backend,"},
		"by an Ingress, another intent":    {ways(nil, "", "", ""), both("dns"), ""},
		"by no Ingress":                    {ways(off, cluster, cluster, ""), both("calls"), ""},
		"by a Service":                     {ways(off, cluster, balancer, ""), both("calls"), binding + ": SecurityIntent calls lets only pods call the frontend,"},
		"by the Service of the other":      {ways(off, cluster, balancer, ""), forBackend("calls"), ""},
		"by a Service of the default type": {ways(off, "", cluster, ""), both("calls"), binding + ": SecurityIntent calls lets only pods call the backend,"},
		"by a Service beside an Ingress":   {ways(of("istio", ""), "", balancer, "istio.io/gateway-controller"), forFrontend("calls"), frontends + ": SecurityIntent calls lets only pods call the frontend,"},
		"by a Gateway of AWS":              {ways(of("aws-alb", ""), "", "", "gateway.k8s.aws/alb"), forBackend("calls"), backends + ": SecurityIntent calls lets only pods call the backend,"},
		"by a Gateway of pods":             {ways(of("istio", ""), "", "", "istio.io/gateway-controller"), both("calls"), ""},
		"by a Gateway of an unknown class": {ways(of("istio", ""), "", "", ""), both("calls"), ""},
		"by a Gateway of others":           {ways(of("", "shared"), "", "", ""), both("calls"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := summary(observe(t, tc.way, bound(tc.bound)))
			got := conditionOf(st, nexusv1.ConditionPoliciesReady)
			if is := strings.HasPrefix(got, "False/LoadBalancerBlocked "); is != (tc.want != "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %q", got, tc.want)
			}
		})
	}
}

func TestLoadBalancerBlocked_SaysOfEachWhatClosesIt(t *testing.T) {
	st, _ := summary(observe(t, bound(both("calls"), both("tls")), func(o *capability.Observed) {
		for _, b := range capability.BalancedComponents(o.Capability, o.Facts) {
			o.Facts.ClosedToBalancers = append(o.Facts.ClosedToBalancers, capability.ClosedToBalancer{Intent: "calls", Component: b.Component, To: "only pods", Remedy: "open it"},
				capability.ClosedToBalancer{Intent: "tls", Component: b.Component, To: "only TLS", Remedy: fmt.Sprint("except ", b.Port)})
		}
	}))
	got := conditionOf(st, nexusv1.ConditionPoliciesReady)
	for _, want := range []string{"False/LoadBalancerBlocked ", "calls lets only pods call the frontend,", "or open it; ", "tls lets only TLS call the backend,", "except 8000"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", got, want)
		}
	}
}

func TestEgressToAWSBlocked_SaysOnceWhatClearsSeveral(t *testing.T) {
	given := closes("dns", "names", "external")
	st, _ := summary(observe(t, bound(both("dns"), both("names"), both("external")), given, func(o *capability.Observed) {
		o.Facts.ClosesEgress["external"] = o.Facts.ClosesEgress["dns"]
	}))
	want := "SecurityIntent dns, external closes the backend's way to AWS: open dns, or bind it to component frontend; " +
		"SecurityIntent names closes the backend's way to AWS: open names, or bind it to component frontend"
	if got := conditionOf(st, nexusv1.ConditionPoliciesReady); !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
