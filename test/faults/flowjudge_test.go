// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// This file judges flows. It replays what watches showed, in the order of the API server's resource versions,
// and asks after every single event whether a flow is open that an intent in force closes. It evaluates
// NetworkPolicies by their documentation and shares nothing with the operator's engine.

// far is one other end of a flow: a pod, or an address outside of the cluster.
type far struct {
	name, namespace string
	labels          map[string]string
	address         netip.Addr
}

// probe is a flow at a pod of a namespace: in a direction, with another end, on a port.
type probe struct {
	pod       int
	ingress   bool
	far, port int
}

// stage holds what flows are judged on: the same pods in every namespace, other ends and ports.
type stage struct {
	pods  []map[string]string
	fars  []far
	ports []networkingv1.NetworkPolicyPort
}

func (s stage) String(p probe) string {
	arrow := "→"
	if p.ingress {
		arrow = "←"
	}
	return fmt.Sprintf("pod %v %s %s on %s %d", s.pods[p.pod], arrow, s.fars[p.far].name, *s.ports[p.port].Protocol,
		s.ports[p.port].Port.IntVal)
}

// every calls f with each probe.
func (s stage) every(f func(probe)) {
	for pod := range s.pods {
		for _, ingress := range []bool{true, false} {
			for far := range s.fars {
				for port := range s.ports {
					f(probe{pod, ingress, far, port})
				}
			}
		}
	}
}

// selects reports whether a selector selects labels; one that cannot be read selects nothing.
func selects(s metav1.LabelSelector, labels map[string]string) bool {
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		got, ok := labels[e.Key]
		in := ok && slices.Contains(e.Values, got)
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			ok = in
		case metav1.LabelSelectorOpNotIn:
			ok = !in
		case metav1.LabelSelectorOpDoesNotExist:
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// open reports whether the NetworkPolicies of a namespace let a flow pass at its pod.
func (s stage) open(policies map[string]*networkingv1.NetworkPolicy, p probe) bool {
	isolated := false
	for _, np := range policies {
		direction := networkingv1.PolicyTypeEgress
		if p.ingress {
			direction = networkingv1.PolicyTypeIngress
		}
		if !slices.Contains(np.Spec.PolicyTypes, direction) || !selects(np.Spec.PodSelector, s.pods[p.pod]) {
			continue
		}
		isolated = true
		for _, r := range np.Spec.Ingress {
			if p.ingress && s.meant(np.Namespace, r.From, p) && s.onPort(r.Ports, p) {
				return true
			}
		}
		for _, r := range np.Spec.Egress {
			if !p.ingress && s.meant(np.Namespace, r.To, p) && s.onPort(r.Ports, p) {
				return true
			}
		}
	}
	return !isolated
}

func (s stage) meant(home string, peers []networkingv1.NetworkPolicyPeer, p probe) bool {
	f := s.fars[p.far]
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		switch {
		case peer.IPBlock != nil:
			return f.namespace == "" && netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(f.address)
		case f.namespace == "":
			return false
		case peer.NamespaceSelector == nil && f.namespace != home:
			return false
		case peer.NamespaceSelector != nil && !selects(*peer.NamespaceSelector, map[string]string{corev1.LabelMetadataName: f.namespace}):
			return false
		}
		return peer.PodSelector == nil || selects(*peer.PodSelector, f.labels)
	})
}

func (s stage) onPort(ports []networkingv1.NetworkPolicyPort, p probe) bool {
	want := s.ports[p.port]
	return len(ports) == 0 || slices.ContainsFunc(ports, func(have networkingv1.NetworkPolicyPort) bool {
		to := have.Port.IntVal
		if have.EndPort != nil {
			to = *have.EndPort
		}
		return *have.Protocol == *want.Protocol && have.Port.IntVal <= want.Port.IntVal && want.Port.IntVal <= to
	})
}

// closes reports whether a rule closes a flow, from the documentation of the intents.
func (s stage) closes(r intent.Rule, p probe) bool {
	f, port := s.fars[p.far], s.ports[p.port]
	in := func(cidrs ...string) bool {
		return f.namespace == "" && slices.ContainsFunc(cidrs, func(c string) bool { return netip.MustParsePrefix(c).Contains(f.address) })
	}
	if r.Audit() {
		return false
	}
	switch {
	case r.ID == "dnsManipulation" && !p.ingress:
		if port.Port.IntVal == 53 {
			dns := f.namespace == "kube-system" && f.labels["k8s-app"] == "kube-dns" || in(r.Params["dnsPeers"]...)
			return !dns || *port.Protocol == corev1.ProtocolSCTP
		}
		return r.Param("otherEgress", "deny") != "allow"
	case r.ID == "denyExternalNetworkAccess":
		private := []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"}
		return f.namespace == "" && !in(slices.Concat(private, r.Params["allowCIDRs"])...)
	case r.ID == "networkSegmentation" && p.ingress:
		ports := r.Params["ports"]
		return !slices.Contains(r.Params["fromNamespaces"], f.namespace) || len(ports) > 0 &&
			!slices.Contains(ports, strconv.Itoa(int(port.Port.IntVal)))
	}
	return false
}

// closedBy are the flows that some rules of a policy close.
func (s stage) closedBy(selector metav1.LabelSelector, rules []intent.Rule) map[probe]bool {
	out := map[probe]bool{}
	s.every(func(p probe) {
		if selects(selector, s.pods[p.pod]) && slices.ContainsFunc(rules, func(r intent.Rule) bool { return s.closes(r, p) }) {
			out[p] = true
		}
	})
	return out
}

// change is one event of a watch.
type change struct {
	version int64
	deleted bool
	object  client.Object
}

// flowJudge replays changes. A flow counts as closed by an intent in force from the moment at which a policy's
// status says Enforced, until the binding or the intent asks for it no longer: whether the operator has acted on
// that, or takes its claim back meanwhile, does not matter.
type flowJudge struct {
	stage    stage
	policies map[string]map[string]*networkingv1.NetworkPolicy
	intents  map[string]*v1alpha1.SecurityIntent
	bindings map[string]client.Object
	nimbus   map[string]*v1alpha1.NimbusPolicy
	// inForce holds, by namespace/policy, the closed flows.
	inForce map[string]map[probe]bool
	// events, claims and checks are how much was judged.
	events, claims, checks int
	problems               []string
	// story are the changes in words, told with the first problem.
	story []string
}

func newFlowJudge(s stage) *flowJudge {
	return &flowJudge{
		stage: s, policies: map[string]map[string]*networkingv1.NetworkPolicy{}, intents: map[string]*v1alpha1.SecurityIntent{},
		bindings: map[string]client.Object{}, nimbus: map[string]*v1alpha1.NimbusPolicy{}, inForce: map[string]map[probe]bool{},
	}
}

func key(o client.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// replay judges all changes, in order.
func (j *flowJudge) replay(changes []change) {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b change) int { return int(a.version - b.version) })
	for _, c := range changes {
		j.events++
		j.tell(c)
		switch o := c.object.(type) {
		case *networkingv1.NetworkPolicy:
			j.policyChanged(c, o)
		case *v1alpha1.SecurityIntent:
			if j.intents[o.Name] = o; c.deleted {
				delete(j.intents, o.Name)
			}
			j.wanted()
		case *v1alpha1.NimbusPolicy:
			if j.nimbus[key(o)] = o; c.deleted {
				delete(j.nimbus, key(o))
			}
			j.claimed(key(o))
		default:
			k := fmt.Sprintf("%T %s", o, key(o))
			if j.bindings[k] = o; c.deleted || o.GetDeletionTimestamp() != nil {
				delete(j.bindings, k)
			}
			j.wanted()
		}
	}
}

// tell remembers a change in words.
func (j *flowJudge) tell(c change) {
	var spec any
	switch o := c.object.(type) {
	case *networkingv1.NetworkPolicy:
		spec = fmt.Sprintf("%+v %d in %d out", o.Spec.PodSelector, len(o.Spec.Ingress), len(o.Spec.Egress))
	case *v1alpha1.SecurityIntent:
		spec = o.Spec.Intent
	case *v1alpha1.SecurityIntentBinding:
		spec = o.Spec
	case *v1alpha1.ClusterSecurityIntentBinding:
		spec = o.Spec
	case *v1alpha1.NimbusPolicy:
		spec = fmt.Sprintf("generation %d, observed %d, %v", o.Generation, o.Status.ObservedGeneration, o.Spec.Rules)
	}
	j.story = append(j.story, fmt.Sprintf("%d %T %s deleted %v: %v", c.version, c.object, key(c.object), c.deleted, spec))
}

func (j *flowJudge) policyChanged(c change, o *networkingv1.NetworkPolicy) {
	if j.policies[o.Namespace] == nil {
		j.policies[o.Namespace] = map[string]*networkingv1.NetworkPolicy{}
	}
	j.policies[o.Namespace][o.Name] = o
	what := "written"
	if c.deleted {
		delete(j.policies[o.Namespace], o.Name)
		what = "deleted"
	}
	for _, policy := range slices.Sorted(maps.Keys(j.inForce)) {
		if strings.HasPrefix(policy, o.Namespace+"/") {
			j.check(policy, fmt.Sprintf("when NetworkPolicy %s was %s at %d", key(o), what, c.version))
		}
	}
}

// desired returns what the bindings and intents come to, as policies by namespace/name.
func (j *flowJudge) desired() map[string]intent.Policy {
	out := map[string]intent.Policy{}
	var namespaces []intent.Namespace
	for ns := range j.policies {
		namespaces = append(namespaces, intent.Namespace{Name: ns})
	}
	for _, o := range j.bindings {
		var b intent.Binding
		switch o := o.(type) {
		case *v1alpha1.SecurityIntentBinding:
			b = intent.OfBinding(o)
		case *v1alpha1.ClusterSecurityIntentBinding:
			b = intent.OfClusterBinding(o)
		}
		for _, p := range intent.Resolve(b, j.intents, namespaces, intent.Options{}).Policies {
			out[p.Namespace+"/"+p.Name] = p
		}
	}
	return out
}

func (j *flowJudge) asked(p intent.Policy) map[probe]bool {
	return j.stage.closedBy(metav1.LabelSelector{MatchLabels: p.Selector.Labels, MatchExpressions: p.Selector.Expressions}, p.Rules)
}

// wanted drops from what is in force what is asked for no longer.
func (j *flowJudge) wanted() {
	desired := j.desired()
	for policy, closed := range j.inForce {
		p, there := desired[policy]
		if !there {
			delete(j.inForce, policy)
			continue
		}
		still := j.asked(p)
		maps.DeleteFunc(closed, func(p probe, _ bool) bool { return !still[p] })
	}
}

// claimed puts in force what a policy's status says is enforced, as far as it is still asked for.
func (j *flowJudge) claimed(policy string) {
	np, there := j.nimbus[policy]
	p, asked := j.desired()[policy]
	if !there || !asked || np.Status.ObservedGeneration != np.Generation {
		return
	}
	var rules []intent.Rule
	for _, r := range np.Spec.Rules {
		if slices.ContainsFunc(np.Status.Coverage, func(c v1alpha1.Coverage) bool {
			return c.Engine == "NetworkPolicy" && c.Intent == r.ID && c.Level == v1alpha1.LevelEnforced
		}) {
			params := map[string][]string{}
			for k, v := range r.Rule.Params {
				params[k] = v
			}
			action := v1alpha1.Block
			if r.Rule.Action == v1alpha1.Audit {
				action = v1alpha1.Audit
			}
			rules = append(rules, intent.Rule{ID: r.ID, Canonical: r.ID, Action: action, Params: params})
		}
	}
	still := j.asked(p)
	for flow := range j.stage.closedBy(metav1.LabelSelector{MatchLabels: np.Spec.Selector.MatchLabels,
		MatchExpressions: np.Spec.Selector.MatchExpressions}, rules) {
		if still[flow] {
			if j.inForce[policy] == nil {
				j.inForce[policy] = map[probe]bool{}
			}
			j.inForce[policy][flow] = true
		}
	}
	j.claims += len(rules)
	j.check(policy, "when its status said Enforced at "+np.ResourceVersion)
}

// before are the last changes in a namespace, and of cluster scope.
func (j *flowJudge) before(namespace string) []string {
	about := slices.DeleteFunc(slices.Clone(j.story), func(s string) bool {
		return !strings.Contains(s, " "+namespace+"/") && !strings.Contains(s, " /")
	})
	return about[max(0, len(about)-40):]
}

// check holds what a policy has in force against the NetworkPolicies.
func (j *flowJudge) check(policy, when string) {
	namespace, _, _ := strings.Cut(policy, "/")
	for p := range j.inForce[policy] {
		j.checks++
		if j.stage.open(j.policies[namespace], p) {
			if len(j.problems) == 0 {
				j.problems = append(j.problems, "what went before:\n"+strings.Join(j.before(namespace), "\n"))
			}
			j.problems = append(j.problems, fmt.Sprintf("%s holds %s closed, and it was open %s", policy, j.stage.String(p), when))
			delete(j.inForce[policy], p) // once is enough
		}
	}
}
