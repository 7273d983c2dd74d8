// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func inMode(mode nexusv1.IdentityMode) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) { c.Spec.Identity = &nexusv1.IdentitySpec{Mode: mode} }
}

// onEKS are facts of an operator that knows its cluster, in the region of the capability.
func onEKS(identity capability.IdentityFacts) capability.Facts {
	f := facts()
	f.Region, f.Identity = f.Cluster.EKSRegion, identity
	return f
}

// ways says which ways to credentials a graph declares: of the role, of the ServiceAccount, the association, and of the pods.
func ways(t *testing.T, g *graph.Graph) string {
	t.Helper()
	var out []string
	add := func(condition bool, what string) {
		if condition {
			out = append(out, what)
		}
	}
	role := object(t, g, "IAMRole/myapp-dev-app-role")
	add(at(t, role, "spec", "irsa") != nil, "role:irsa")
	add(at(t, role, "spec", "podIdentity") != nil, "role:podIdentity")
	add(ofKind(g, "ServiceAccount")[0].GetAnnotations()[capability.AnnotationRoleARN] != "", "annotation")
	add(len(ofKind(g, "PodIdentityAssociation")) > 0, "association")
	for _, d := range ofKind(g, "Deployment") {
		mode, _, _ := unstructured.NestedString(d.Object, "spec", "template", "metadata", "annotations", capability.AnnotationIdentity)
		add(mode != "", d.GetLabels()[capability.LabelComponent]+":"+mode)
	}
	return strings.Join(out, " ")
}

const (
	onlyIRSA        = "role:irsa annotation"
	onlyPodIdentity = "role:podIdentity association backend:PodIdentity frontend:PodIdentity"
	bothForPods     = "role:irsa role:podIdentity annotation association backend:PodIdentity frontend:PodIdentity"
)

func TestPodIdentity_DeclaresWhatIsNeeded(t *testing.T) {
	g := compile(t, minimal(inMode(nexusv1.IdentityPodIdentity)), onEKS(capability.IdentityFacts{}))
	if got := ways(t, g); got != onlyPodIdentity {
		t.Errorf("got %s", got)
	}
	a := object(t, g, "PodIdentityAssociation/myapp-dev-app-identity")
	for field, want := range map[string]any{"clusterName": "production", "namespace": "myapp-dev", "serviceAccount": "myapp-dev-app-sa", "disableSessionTags": false} {
		if got := at(t, a, "spec", field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	n, _ := g.Node("Deployment/myapp-dev-backend")
	if !slices.ContainsFunc(n.After, func(e graph.Edge) bool { return e.To == "PodIdentityAssociation/myapp-dev-app-identity" }) {
		t.Error("pods may start before the association is ready, and then get no credentials")
	}
	for _, mode := range []nexusv1.IdentityMode{"", nexusv1.IdentityIRSA} {
		if got := ways(t, compile(t, minimal(inMode(mode)), onEKS(capability.IdentityFacts{}))); got != onlyIRSA {
			t.Errorf("mode %q: got %s", mode, got)
		}
	}
}

// Each step follows from the result of the step before, and the role always trusts every identity mode that running pods need.
func TestPodIdentity_TheModeIsHandedOver(t *testing.T) {
	const irsa, pod = nexusv1.IdentityIRSA, nexusv1.IdentityPodIdentity
	type seen = capability.IdentityFacts
	for _, walk := range []struct {
		mode  nexusv1.IdentityMode
		steps []struct {
			seen seen
			want string
		}
	}{
		{pod, []struct {
			seen seen
			want string
		}{
			{seen{TrustsIssuer: true, RoleReady: true, Rolled: irsa}, bothForPods},
			{seen{TrustsIssuer: true, TrustsPodIdentity: true, RoleReady: true, Rolled: irsa}, bothForPods},
			{seen{TrustsIssuer: true, TrustsPodIdentity: true, RoleReady: true, Associated: true}, bothForPods}, // the Deployments roll
			{seen{TrustsIssuer: true, TrustsPodIdentity: true, RoleReady: true, Associated: true, Rolled: pod}, onlyPodIdentity},
			{seen{TrustsPodIdentity: true, RoleReady: true, Associated: true, Rolled: pod}, onlyPodIdentity},
			{seen{TrustsPodIdentity: true, RoleReady: true, Associated: true}, onlyPodIdentity}, // a later edit rolls the pods
		}},
		{irsa, []struct {
			seen seen
			want string
		}{
			{seen{TrustsPodIdentity: true, RoleReady: true, Associated: true, Rolled: pod}, bothForPods},
			{seen{TrustsPodIdentity: true, TrustsIssuer: true, Associated: true, Rolled: pod}, bothForPods}, // IAM does not accept the issuer yet
			{seen{TrustsPodIdentity: true, TrustsIssuer: true, RoleReady: true, Associated: true, Rolled: pod},
				"role:irsa role:podIdentity annotation backend:PodIdentity frontend:PodIdentity"},
			{seen{TrustsPodIdentity: true, TrustsIssuer: true, RoleReady: true, Rolled: pod}, "role:irsa role:podIdentity annotation"},
			{seen{TrustsPodIdentity: true, TrustsIssuer: true, RoleReady: true}, "role:irsa role:podIdentity annotation"},
			{seen{TrustsPodIdentity: true, TrustsIssuer: true, RoleReady: true, Rolled: irsa}, onlyIRSA},
			{seen{TrustsIssuer: true, RoleReady: true, Rolled: irsa}, onlyIRSA},
		}},
	} {
		for i, s := range walk.steps {
			if got := ways(t, compile(t, minimal(inMode(walk.mode)), onEKS(s.seen))); got != s.want {
				t.Errorf("to %s, step %d:\n got %s\nwant %s", walk.mode, i, got, s.want)
			}
		}
	}
}

func TestPodIdentity_AutoChoosesOnce(t *testing.T) {
	c := minimal(inMode(nexusv1.IdentityAuto))
	recorded := func(mode, requested nexusv1.IdentityMode) nexusv1.IdentityStatus {
		return nexusv1.IdentityStatus{Mode: mode, Requested: requested}
	}
	const auto, pod, irsa = nexusv1.IdentityAuto, nexusv1.IdentityPodIdentity, nexusv1.IdentityIRSA
	for name, tc := range map[string]struct {
		seen   capability.IdentityFacts
		change func(*capability.Facts)
		want   string
	}{
		"an agent":                       {capability.IdentityFacts{AgentReady: true}, nil, onlyPodIdentity},
		"no agent":                       {capability.IdentityFacts{}, nil, onlyIRSA},
		"an agent that went away":        {capability.IdentityFacts{Recorded: recorded(pod, auto), TrustsPodIdentity: true}, nil, onlyPodIdentity},
		"an agent that came":             {capability.IdentityFacts{Recorded: recorded(irsa, auto), AgentReady: true}, nil, onlyIRSA},
		"a person asked for IRSA before": {capability.IdentityFacts{Recorded: recorded(irsa, irsa), AgentReady: true}, nil, onlyPodIdentity},
		"an unknown cluster": {capability.IdentityFacts{AgentReady: true}, func(f *capability.Facts) { f.Cluster.EKSName = "" },
			onlyIRSA},
		"a cluster in another region": {capability.IdentityFacts{AgentReady: true},
			func(f *capability.Facts) { f.Cluster.EKSRegion = "eu-west-1" },
			onlyIRSA},
	} {
		f := onEKS(tc.seen)
		if tc.change != nil {
			tc.change(&f)
		}
		if got := ways(t, compile(t, c, f)); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

func TestPodIdentity_IsRefusedWhereItCannotBeMade(t *testing.T) {
	for says, change := range map[string]func(*capability.Facts){
		"--eks-cluster-name": func(f *capability.Facts) { f.Cluster.EKSName = "" },
		"is in eu-west-1 and the capability in ap-southeast-1": func(f *capability.Facts) { f.Cluster.EKSRegion = "eu-west-1" },
	} {
		f := onEKS(capability.IdentityFacts{})
		change(&f)
		_, err := capability.Compile(minimal(inMode(nexusv1.IdentityPodIdentity)), f)
		if st, ok := status.AsStalled(err); !ok || st.Field != "spec.identity.mode" || !strings.Contains(st.Message, says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
}

func TestPodIdentity_IdentityReadyReportsTheAgent(t *testing.T) {
	c := minimal(inMode(nexusv1.IdentityPodIdentity))
	f := onEKS(capability.IdentityFacts{})
	g := compile(t, c, f)
	for name, tc := range map[string]struct {
		agent  capability.Agent
		state  string
		reason string
		says   string
	}{
		"ready pods": {capability.Agent{Known: true, Found: true, Ready: 3}, "True", "Ready", ""},
		"a node without the agent that has no pods": {capability.Agent{Known: true, Ready: 3, Without: []string{"a", "b"}, PodNodes: []string{"c"}}, "True", "Ready", ""},
		"pods on nodes without the agent": {capability.Agent{Known: true, Found: true, Ready: 1, Without: []string{"a", "b", "c", "d", "e", "f", "g", "x"}, PodNodes: []string{"a", "b", "c", "d", "e", "f", "g", "y"}},
			"False", "PodIdentityAgentMissing", "get no credentials there: a, b, c, d, e and 2 more; let DaemonSet kube-system/eks-pod-identity-agent"},
		"nodes of Auto Mode alone": {capability.Agent{Known: true, Ready: 2, PodNodes: []string{"c"}}, "True", "Ready", ""},
		"no ready pods":            {capability.Agent{Known: true, Found: true}, "False", "PodIdentityAgentMissing", "has no ready pods"},
		"none":                     {capability.Agent{Known: true}, "False", "PodIdentityAgentMissing", "aws eks create-addon --cluster-name production --addon-name eks-pod-identity-agent"},
		"no right": {capability.Agent{Known: true, Err: &status.Stalled{Reason: status.ReasonAccessDenied, Message: "cannot get daemonsets"}},
			"Unknown", "AccessDenied", "it is not known whether"},
		"a failure that passes": {capability.Agent{Known: true, Err: errors.New("timeout")}, "Unknown", "Retrying", "timeout"},
	} {
		states := map[string]capability.State{}
		for _, n := range g.Nodes() {
			states[n.ID] = capability.State{Applied: true, Ready: true}
		}
		r := capability.Summarize(capability.Observed{Capability: c, Facts: f, Graph: g, States: states, Agent: tc.agent})
		for _, k := range r.Conditions {
			if k.Type == nexusv1.ConditionIdentityReady && (string(k.Status) != tc.state || k.Reason != tc.reason || !strings.Contains(k.Message, tc.says)) {
				t.Errorf("%s: %+v", name, k)
			}
		}
		if ready := r.Err == nil; ready != (tc.state == "True") {
			t.Errorf("%s: %v", name, r.Err)
		}
		if want := (nexusv1.IdentityStatus{Mode: nexusv1.IdentityPodIdentity, Requested: nexusv1.IdentityPodIdentity}); r.Identity != want {
			t.Errorf("%+v", r.Identity)
		}
	}
}
