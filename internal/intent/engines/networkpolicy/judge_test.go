// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// scenario is a cluster with policies of other people, and the intents of namespace shop.
type scenario struct {
	cluster  cluster
	policies []intent.Policy
	// tight says that the engine's bounds may be too low for the intents.
	tight bool
}

func (s scenario) foreign() []networkingv1.NetworkPolicy {
	return slices.DeleteFunc(slices.Clone(s.cluster.policies), func(np networkingv1.NetworkPolicy) bool { return np.Namespace != "shop" })
}

// without is the scenario without one rule of one policy.
func (s scenario) without(policy, rule int) scenario {
	s.policies = slices.Clone(s.policies)
	p := s.policies[policy]
	p.Rules = slices.Delete(slices.Clone(p.Rules), rule, rule+1)
	s.policies[policy] = p
	return s
}

func (s scenario) String() string {
	var b strings.Builder
	for _, e := range s.cluster.ends {
		if e.namespace == "shop" {
			fmt.Fprintf(&b, "pod %s %v\n", e.name, e.labels)
		}
	}
	for _, np := range s.cluster.policies {
		fmt.Fprintf(&b, "foreign %s/%s %+v\n", np.Namespace, np.Name, np.Spec)
	}
	for _, p := range s.policies {
		fmt.Fprintf(&b, "policy %s %+v\n", p.Name, p.Selector)
		for _, r := range p.Rules {
			fmt.Fprintf(&b, "  %s %s %v\n", r.ID, r.Action, r.Params)
		}
	}
	return b.String()
}

// answer holds the objects and the claims of the engine for a scenario.
type answer struct {
	objects []networkingv1.NetworkPolicy
	// claims[i] are those of policy i.
	claims [][]intent.Claim
}

// ask translates every policy alone, as the operator does.
func (s scenario) ask(e intent.Engine) (answer, error) {
	var a answer
	names := map[string]bool{}
	for i, p := range s.policies {
		t := e.Translate(p, intent.Facts{OperatorNamespace: "nexus-system", NetworkPolicies: s.foreign(), Siblings: siblings(s.policies, i)})
		if len(t.Claims) != len(p.Rules) {
			return a, fmt.Errorf("%d claims for %d rules", len(t.Claims), len(p.Rules))
		}
		for j, c := range t.Claims {
			of := 0
			for _, o := range t.Objects {
				if o.GetLabels()[intent.LabelRule] == c.Intent {
					of++
				}
			}
			if err := honest(p.Rules[j], c, of); err != nil {
				return a, err
			}
		}
		a.claims = append(a.claims, t.Claims)
		for _, o := range t.Objects {
			np := decode(o)
			if names[np.Name] || np.Namespace != "shop" || len(np.Spec.PolicyTypes) == 0 {
				return a, fmt.Errorf("%s/%s with types %v is not a policy of ours, or not the only one of its name", np.Namespace, np.Name,
					np.Spec.PolicyTypes)
			}
			names[np.Name] = true
			a.objects = append(a.objects, np)
		}
	}
	return a, nil
}

// honest checks a claim alone.
func honest(r intent.Rule, c intent.Claim, objects int) error {
	switch {
	case c.Intent != r.ID:
		return fmt.Errorf("the claim for %s is of %s", r.ID, c.Intent)
	case c.Level == v1alpha1.LevelNone && objects > 0:
		return fmt.Errorf("%s claims None and has %d objects", r.ID, objects)
	case c.Level == v1alpha1.LevelAudited, c.Level == v1alpha1.LevelEnforced && r.Audit():
		return fmt.Errorf("%s with action %s claims %s", r.ID, r.Action, c.Level)
	case c.Level == v1alpha1.LevelEnforced && c.Reason != "", c.Level != v1alpha1.LevelEnforced && (c.Reason == "" || c.Message == ""):
		return fmt.Errorf("%s claims %s with reason %q and message %q", r.ID, c.Level, c.Reason, c.Message)
	case len(c.Message) > 512:
		return fmt.Errorf("a message of %d", len(c.Message))
	}
	return nil
}

// allows reports whether a rule allows a flow, computed independently of the engine. The second value is false for a rule that does not
// restrict the direction or cannot be enforced.
func allows(r intent.Rule, direction intent.Direction, other end, p portOf) (allowed, restricted bool) {
	private := []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"}
	in := func(cidrs []string) bool {
		return !other.pod() && slices.ContainsFunc(cidrs, func(c string) bool { return netip.MustParsePrefix(c).Contains(other.address) })
	}
	if r.Audit() {
		return true, false
	}
	switch {
	case r.ID == "dnsManipulation" && direction == intent.Egress:
		onDNS := p.number == 53 && p.protocol != corev1.ProtocolSCTP
		toDNS := other.namespace == "kube-system" && other.labels["k8s-app"] == "kube-dns" || in(r.Params["dnsPeers"])
		return onDNS && toDNS || p.number != 53 && r.Param("otherEgress", "deny") == "allow", true
	case r.ID == "denyExternalNetworkAccess":
		return other.pod() || in(private) || in(r.Params["allowCIDRs"]), true
	case r.ID == "networkSegmentation" && direction == intent.Ingress:
		from := slices.Clone(r.Params["fromNamespaces"])
		for _, a := range r.Params["fromServiceAccounts"] {
			from = append(from, strings.Split(a, "/")[0])
		}
		if len(from) == 0 {
			return true, false
		}
		ports := r.Params["ports"]
		return slices.Contains(from, other.namespace) &&
			(len(ports) == 0 || slices.Contains(ports, fmt.Sprint(p.number)) && p.protocol != corev1.ProtocolSCTP), true
	}
	return true, false
}

// check judges an engine by a scenario: it returns nil, or the violation.
func check(e intent.Engine, s scenario) error {
	flows := s.cluster.flows(probes())
	before := s.cluster.judge(flows)
	a, err := s.ask(e)
	if err != nil {
		return err
	}
	with := s.cluster
	with.policies = slices.Concat(s.cluster.policies, a.objects)
	after := with.judge(flows)
	if err := opensNothing(with, flows, before, after, "the intents"); err != nil {
		return err
	}
	if err := s.standAlone(a, flows, before); err != nil {
		return err
	}
	if err := s.keepsWhatItSays(a, flows, before, after); err != nil {
		return err
	}
	if s.leftAlone(a) {
		return nil // beyond the bounds more is closed, and less with fewer rules
	}
	for i, p := range s.policies {
		for j, r := range p.Rules {
			fewer, err := s.without(i, j).ask(e)
			if err != nil {
				return err
			}
			if s.leftAlone(fewer) {
				continue // and adding a rule may bring them back within the bounds
			}
			others := s.cluster
			others.policies = slices.Concat(s.cluster.policies, fewer.objects)
			if err := opensNothing(with, flows, others.judge(flows), after, p.Name+"/"+r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// probes are ports at and beside those that matter.
func probes() []portOf {
	return []portOf{
		{corev1.ProtocolUDP, 53}, {corev1.ProtocolTCP, 53}, {corev1.ProtocolSCTP, 53}, {corev1.ProtocolTCP, 52},
		{corev1.ProtocolUDP, 54}, {corev1.ProtocolTCP, 8080}, {corev1.ProtocolUDP, 8080}, {corev1.ProtocolTCP, 65535},
	}
}

// opensNothing compares at each end, so that a flow that the other end closes hides nothing.
func opensNothing(c cluster, flows []flow, before, after []verdict, who string) error {
	for n, f := range flows {
		if b, a := before[n], after[n]; a.out && !b.out || a.in && !b.in || a.open() && !b.open() {
			return fmt.Errorf("%s opened %s → %s on %v", who, c.ends[f.from].name, c.ends[f.to].name, f.port)
		}
	}
	return nil
}

// standAlone checks that the objects of one policy enforce its claims when those of all others are gone, as when their bindings are
// deleted.
func (s scenario) standAlone(a answer, flows []flow, before []verdict) error {
	for i, p := range s.policies {
		alone := s
		alone.cluster.policies = slices.Concat(s.cluster.policies, a.of(p.Name))
		alone.policies = s.policies[i : i+1]
		after := alone.cluster.judge(flows)
		for n, f := range flows {
			from, to := s.cluster.ends[f.from], s.cluster.ends[f.to]
			if err := alone.holds(a.claims[i:i+1], intent.Egress, from, to, f.port, after[n].out); err != nil {
				return fmt.Errorf("with its own objects only: %w", err)
			}
			if err := alone.holds(a.claims[i:i+1], intent.Ingress, to, from, f.port, after[n].in); err != nil {
				return fmt.Errorf("with its own objects only: %w", err)
			}
			if b := before[n]; after[n].in && !b.in || after[n].out && !b.out {
				return fmt.Errorf("the objects of %s opened a flow", p.Name)
			}
		}
	}
	return nil
}

// of are the objects of a policy.
func (a answer) of(policy string) []networkingv1.NetworkPolicy {
	return slices.DeleteFunc(slices.Clone(a.objects),
		func(o networkingv1.NetworkPolicy) bool { return !strings.HasPrefix(o.Name, policy+"-") })
}

// holds checks that the flows that rules claim to close at an end are closed.
func (s scenario) holds(claims [][]intent.Claim, d intent.Direction, me, other end, p portOf, open bool) error {
	if me.namespace != "shop" || !open {
		return nil
	}
	for i, policy := range s.policies {
		for j, r := range policy.Rules {
			allowed, restricted := allows(r, d, other, p)
			if matches(selectorOf(policy), me.labels) && restricted && !allowed && claims[i][j].Level == v1alpha1.LevelEnforced {
				return fmt.Errorf("%s/%s claims Enforced, and %s talks to %s on %v (direction %d)", policy.Name, r.ID, me.name, other.name, p, d)
			}
		}
	}
	return nil
}

func (s scenario) leftAlone(a answer) bool {
	return slices.ContainsFunc(slices.Concat(a.claims...), func(c intent.Claim) bool {
		return (strings.Contains(c.Message, "left alone") || strings.Contains(c.Message, "is closed than"))
	})
}

// keepsWhatItSays checks the claims, and the flows that the intents promise to keep, against every flow at its shop end.
func (s scenario) keepsWhatItSays(a answer, flows []flow, before, after []verdict) error {
	for n, f := range flows {
		from, to := s.cluster.ends[f.from], s.cluster.ends[f.to]
		if err := s.endKeeps(a, intent.Egress, from, to, f.port, before[n].out, after[n].out); err != nil {
			return err
		}
		if err := s.endKeeps(a, intent.Ingress, to, from, f.port, before[n].in, after[n].in); err != nil {
			return err
		}
		if before[n].open() && !after[n].open() && after[n].in == before[n].in && after[n].out == before[n].out {
			return fmt.Errorf("%s → %s was closed by neither end", from.name, to.name)
		}
	}
	return s.saysAllItCan(a)
}

func (s scenario) endKeeps(a answer, d intent.Direction, me, other end, p portOf, before, after bool) error {
	if me.namespace != "shop" {
		if before != after {
			return fmt.Errorf("%s is not ours, and changed", me.name)
		}
		return nil
	}
	if err := s.holds(a.claims, d, me, other, p, after); err != nil {
		return err
	}
	kept := !s.leftAlone(a) // beyond the bounds more is closed
	for _, policy := range s.policies {
		if !matches(selectorOf(policy), me.labels) {
			continue
		}
		for _, r := range policy.Rules {
			allowed, _ := allows(r, d, other, p)
			kept = kept && allowed
		}
	}
	if kept && before && !after {
		return fmt.Errorf("every intent lets %s talk to %s on %v, and it was closed (direction %d)", me.name, other.name, p, d)
	}
	return nil
}

// saysAllItCan holds that a rule is enforced unless there is a reason in the scenario.
func (s scenario) saysAllItCan(a answer) error {
	for i, p := range s.policies {
		for j, r := range p.Rules {
			entry, _ := intent.Lookup(r.ID)
			free := !slices.ContainsFunc(s.foreign(), func(np networkingv1.NetworkPolicy) bool {
				return entry.Restricts&intent.Ingress != 0 && affects(np, intent.Ingress) || entry.Restricts&intent.Egress != 0 &&
					affects(np, intent.Egress)
			})
			_, nobody := allows(r, intent.Ingress, end{}, portOf{})
			_, nothing := allows(r, intent.Egress, end{}, portOf{})
			want := v1alpha1.LevelEnforced
			if slices.ContainsFunc(r.Params["fromServiceAccounts"], func(account string) bool {
				return !slices.Contains(r.Params["fromNamespaces"], strings.Split(account, "/")[0])
			}) {
				want = v1alpha1.LevelPartial
			}
			c := a.claims[i][j]
			if s.tight && c.Reason == intent.ReasonOverlaps {
				continue
			}
			if free && (nobody || nothing) && c.Level != want {
				return fmt.Errorf("nothing hinders %s/%s, and it claims %s: %s", p.Name, r.ID, c.Level, c.Message)
			}
		}
	}
	return nil
}

// decode panics if an object of the engine is not a NetworkPolicy.
func decode(o *unstructured.Unstructured) networkingv1.NetworkPolicy {
	var np networkingv1.NetworkPolicy
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &np, true); err != nil {
		panic(err)
	}
	return np
}

func selectorOf(p intent.Policy) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: p.Selector.Labels, MatchExpressions: p.Selector.Expressions}
}
