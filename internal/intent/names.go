// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// EgressToNames is the ID of the intent that leaves only DNS names open.
const EgressToNames = "allowEgressToNames"

const (
	// httpsPort is the port of names when the intent has none.
	httpsPort = "443"
	dnsPort   = "53"
)

// dnsName checks a DNS name. Its first label may be a wildcard.
func dnsName(v string) string {
	rest := strings.TrimPrefix(v, "*.")
	_, notAddress := netip.ParseAddr(v)
	switch {
	case notAddress == nil:
		return "is an address: an intent with networks, such as denyExternalNetworkAccess, can open it"
	case v == "*":
		return "is every name: name the domains"
	case strings.Contains(rest, "*"):
		return "has a * that is not the whole first label, as in *.example.com"
	case len(validation.IsDNS1123Subdomain(rest)) > 0 || !strings.Contains(rest, "."):
		return "is not a DNS name such as api.example.com or *.example.com, in lower case"
	case slices.ContainsFunc(strings.Split(rest, "."), func(label string) bool { return len(label) > validation.DNS1123LabelMaxLength }):
		return fmt.Sprintf("has a label of more than %d characters, which no DNS name has", validation.DNS1123LabelMaxLength)
	case strings.HasSuffix(rest, ".cluster.local"):
		return "is a name inside the cluster: inCluster opens the way to pods"
	}
	return ""
}

// NameMatches reports whether a name of the intent, which may begin with *., stands for another one. The wildcard stands
// for exactly one label.
func NameMatches(pattern, name string) bool {
	domain, wildcard := strings.CutPrefix(pattern, "*.")
	if !wildcard || pattern == name {
		return pattern == name
	}
	label, rest, _ := strings.Cut(name, ".")
	return label != "*" && rest == domain
}

// NamesOutward holds the egress that a rule of the intent allowEgressToNames leaves open.
type NamesOutward struct {
	// Names and Ports are open together, by TCP. No names means that none is open.
	Names, Ports []string
	// InCluster opens the way to all pods.
	InCluster bool
	// Credentials opens the way to the EKS Pod Identity Agent on the pod's node, where there is one.
	Credentials bool
	// Note says which other intents close more than the rule, or nothing.
	Note string
}

// ReadNamesOutward returns the egress that a rule leaves open to its pods, or the claim that says why it can have no object. Network
// plugins add up the policies of all kinds that select a pod, so an object never opens a flow that another intent closes on one of its
// pods: it then closes more than the rule asks for.
func ReadNamesOutward(engine string, p Policy, r Rule, f Facts) (NamesOutward, *Claim) {
	reason, message := "", ""
	switch isolated := isolatesEgress(p, f); {
	case p.Namespace == "":
		reason, message = ReasonElsewhere, engine+" holds names in namespaces: the binding's policies there say it"
	case p.Namespace == f.OperatorNamespace:
		reason, message = ReasonNotCovered, "the operator's own namespace is never touched"
	case r.Audit():
		reason, message = ReasonAuditUnsupported, engine+" can only block: use action Block"
	case len(r.Params["names"]) == 0:
		reason, message = ReasonInvalidParams, "params.names must have at least one DNS name, such as api.example.com"
	case isolated != "":
		reason, message = ReasonAlreadyIsolated, fmt.Sprintf(
			"%s already isolates egress of some of these pods, and another policy would add to what it allows: delete it, or bind the intent to other pods", isolated)
	}
	if reason != "" {
		c := Not(r, reason, message)
		return NamesOutward{}, &c
	}
	out := NamesOutward{Names: slices.Clone(r.Params["names"]), Ports: portsOfNames(r), InCluster: r.Param("inCluster", "deny") == "allow",
		Credentials: true}
	var narrowing []string
	for _, o := range closersOf(p, r, f) {
		was := out
		out.narrow(o.rule)
		if was.size() != out.size() {
			narrowing = append(narrowing, o.policy+"/"+o.rule.ID)
		}
	}
	if len(narrowing) > 0 {
		out.Note = fmt.Sprintf("more egress is closed than the intent asks for: only what it and %s all allow is open; bind them to different pods", strings.Join(narrowing[:min(len(narrowing), 3)], ", "))
	}
	return out, nil
}

// size tells one set of open flows from a smaller one.
func (n NamesOutward) size() [4]int {
	flag := func(b bool) int { return map[bool]int{true: 1}[b] }
	return [4]int{len(n.Names), len(n.Ports), flag(n.InCluster), flag(n.Credentials)}
}

// portsOfNames returns the ports that a rule opens to its names.
func portsOfNames(r Rule) []string {
	if ports := r.Params["ports"]; len(ports) > 0 {
		return slices.Clone(ports)
	}
	return []string{httpsPort}
}

// narrow removes the flows that another rule on the same pods closes.
func (n *NamesOutward) narrow(o Rule) {
	switch {
	case o.Canonical == EgressToNames:
		n.Names = commonNames(n.Names, o.Params["names"])
		n.Ports = slices.DeleteFunc(n.Ports, func(p string) bool { return !slices.Contains(portsOfNames(o), p) })
		n.InCluster = n.InCluster && o.Param("inCluster", "deny") == "allow"
	case o.Canonical == "dnsManipulation" && o.Param("otherEgress", "deny") == "allow":
		n.Ports = slices.DeleteFunc(n.Ports, func(p string) bool { return p == dnsPort })
		n.InCluster = false // among its ports is 53
	case o.Canonical == "denyExternalNetworkAccess":
		n.Names = nil
	default:
		n.Names, n.InCluster, n.Credentials = nil, false, false
	}
	if len(n.Names) == 0 || len(n.Ports) == 0 {
		n.Names, n.Ports = nil, nil
	}
}

// commonNames returns the names that both lists stand for, in the order of the first.
func commonNames(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			switch {
			case NameMatches(y, x):
				out = append(out, x)
			case NameMatches(x, y):
				out = append(out, y)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// closer is a rule that restricts egress, with the name of its policy.
type closer struct {
	policy string
	rule   Rule
}

// closersOf returns the rules that restrict egress of pods that a rule is for, without the rule itself, in a stable order.
func closersOf(p Policy, r Rule, f Facts) []closer {
	var out []closer
	siblings := slices.DeleteFunc(slices.Clone(f.Siblings), func(o Policy) bool { return o.Name == p.Name || o.Namespace != p.Namespace })
	for _, o := range append(siblings, p) {
		if len(o.NodeSelector) > 0 || !o.Selector.Meets(p.Selector) {
			continue
		}
		for _, rule := range o.Rules {
			e, _ := Lookup(rule.ID)
			itself := o.Name == p.Name && rule.ID == r.ID
			if !itself && e.Restricts&Egress != 0 && !rule.Audit() && e.Check(rule.Params) == "" {
				rule.Canonical = e.ID
				out = append(out, closer{o.Name, rule})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b closer) int {
		return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.rule.ID, b.rule.ID))
	})
	return out
}

// isolatesEgress names a policy of another owner that isolates egress of some of the policy's pods, or nothing.
func isolatesEgress(p Policy, f Facts) string {
	for i := range f.NetworkPolicies {
		np := &f.NetworkPolicies[i]
		isolates := slices.Contains(np.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) || len(np.Spec.PolicyTypes) == 0 &&
			len(np.Spec.Egress) > 0
		if isolates && (Selector{Labels: np.Spec.PodSelector.MatchLabels, Expressions: np.Spec.PodSelector.MatchExpressions}).Meets(p.Selector) {
			return "NetworkPolicy " + np.Name
		}
	}
	for _, o := range f.OtherPolicies {
		if o.Isolates&Egress != 0 && o.Selector.Meets(p.Selector) {
			return o.String()
		}
	}
	return ""
}

// OpenedBy names a policy of another owner that opens a direction that a policy restricts on some of its pods, and restricts nothing. It is
// empty for none.
func (f Facts) OpenedBy(p Policy, direction Direction) string {
	for _, o := range f.OtherPolicies {
		if o.Opens&direction != 0 && o.Selector.Meets(p.Selector) {
			return o.String()
		}
	}
	return ""
}

// Meets reports whether a pod can be in both selectors. A requirement that cannot be read excludes nothing.
func (s Selector) Meets(o Selector) bool {
	c := conjunction{needs: map[string]*need{}}
	for _, part := range []Selector{s, o} {
		c.labels("", part.Labels)
		for _, e := range part.Expressions {
			c.add("", metav1.LabelSelectorRequirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
		}
	}
	for _, n := range c.needs {
		if n.contradictory() {
			return false
		}
	}
	return true
}
