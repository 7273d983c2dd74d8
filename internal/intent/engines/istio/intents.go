// SPDX-License-Identifier: Apache-2.0

package istio

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// ensureTLS sets how the pods accept connections. An audit leaves that alone, because nothing tries a
// PeerAuthentication without enforcing it, and reports who comes without an identity instead.
func (s site) ensureTLS(r intent.Rule) ([]*unstructured.Unstructured, intent.Claim) {
	except := r.Params["exceptPorts"]
	if r.Audit() {
		return []*unstructured.Unstructured{s.requireIdentity(r, except)}, intent.Enforces(r)
	}
	strict := r.Param("mode", "strict") == "strict"
	objects := []*unstructured.Unstructured{s.peerAuthentication(r, strict, except)}
	if r.Param("requireIdentity", "false") == "true" {
		objects = append(objects, s.requireIdentity(r, except))
	}
	if strict && len(except) > 0 && len(s.policy.Selector.Labels) == 0 {
		return objects, intent.Partly(r, intent.ReasonSelectorUnsupported, fmt.Sprintf(
			"Istio excepts ports only where pods are selected by label; %s are as strict as all others until the binding does so",
			strings.Join(except, ", ")))
	}
	return objects, intent.Enforces(r)
}

// peerAuthentication leaves excepted ports PERMISSIVE: they take plain text and mutual TLS. DISABLE would
// break those clients that use TLS already, and ztunnel ignores it. Istio refuses exceptions without a
// selector, and a permissive policy has nothing to except from.
func (s site) peerAuthentication(r intent.Rule, strict bool, except []string) *unstructured.Unstructured {
	u := s.object("PeerAuthentication", r, "")
	spec := u.Object["spec"].(map[string]any)
	if !strict {
		spec["mtls"] = mode("PERMISSIVE")
		return u
	}
	spec["mtls"] = mode("STRICT")
	if len(except) == 0 || spec["selector"] == nil {
		return u
	}
	ports := map[string]any{}
	for _, p := range except {
		ports[p] = mode("PERMISSIVE")
	}
	spec["portLevelMtls"] = ports
	return u
}

func mode(m string) map[string]any { return map[string]any{"mode": m} }

// requireIdentity refuses who has no principal, which is who came without mutual TLS.
func (s site) requireIdentity(r intent.Rule, except []string) *unstructured.Unstructured {
	rule := map[string]any{"from": from(map[string]any{"notPrincipals": []any{"*"}})}
	if len(except) > 0 {
		rule["to"] = to("notPorts", except)
	}
	return s.deny(r, "identity", rule)
}

// networkSegmentation refuses who is neither of the namespaces nor of the accounts, on any port, and
// everybody on ports other than those given. Who comes in plain text has neither and is refused.
func (s site) networkSegmentation(r intent.Rule) ([]*unstructured.Unstructured, intent.Claim) {
	source := map[string]any{}
	if namespaces := r.Params["fromNamespaces"]; len(namespaces) > 0 {
		source["notNamespaces"] = list(namespaces)
	}
	if accounts := r.Params["fromServiceAccounts"]; len(accounts) > 0 {
		source["notPrincipals"] = s.principals(accounts)
	}
	if len(source) == 0 {
		return nil, nothingAsked(r, "fromNamespaces and fromServiceAccounts")
	}
	rules := []any{map[string]any{"from": from(source)}}
	if ports := r.Params["ports"]; len(ports) > 0 {
		rules = append(rules, map[string]any{"to": to("notPorts", ports)})
	}
	claim := intent.Enforces(r)
	if s.mesh == intent.AmbientMesh && s.waypoint != "" {
		claim = intent.Partly(r, intent.ReasonNotCovered, fmt.Sprintf(
			"what comes through waypoint %s has the waypoint's identity, not its sender's: allow the waypoint here, and restrict its senders with a policy on the waypoint", s.waypoint))
	}
	return []*unstructured.Unstructured{s.deny(r, "", rules...)}, claim
}

func (s site) principals(accounts []string) []any {
	out := make([]any, len(accounts))
	for i, a := range accounts {
		ns, account, _ := strings.Cut(a, "/")
		out[i] = s.trustDomain + "/ns/" + ns + "/sa/" + account
	}
	return out
}

// apiSegmentation refuses other methods, other paths, and the paths to deny: one rule each, because the
// fields of one rule would all have to hold.
func (s site) apiSegmentation(r intent.Rule) ([]*unstructured.Unstructured, intent.Claim) {
	var rules []any
	for _, f := range []struct{ param, field string }{
		{"allowMethods", "notMethods"}, {"allowPaths", "notPaths"}, {"denyPaths", "paths"},
	} {
		if values := r.Params[f.param]; len(values) > 0 {
			rules = append(rules, map[string]any{"to": to(f.field, values)})
		}
	}
	if len(rules) == 0 {
		return nil, nothingAsked(r, "allowMethods, allowPaths and denyPaths")
	}
	if s.mesh == intent.AmbientMesh {
		// ztunnel enforces a DENY without its HTTP fields: nothing would be left of ours but "deny".
		return nil, intent.Not(r, intent.ReasonNotCovered, fmt.Sprintf(
			"namespace %s is in ambient mode, where methods and paths are known only to waypoints: ztunnel would refuse every connection instead",
			s.policy.Namespace))
	}
	claim := intent.Enforces(r)
	// A sidecar, too, leaves out the HTTP fields of a DENY where it sees no HTTP.
	claim.Message = "on ports that Istio does not know as HTTP everything is refused: name the ports of Services http or http-…, or give them an appProtocol"
	return []*unstructured.Unstructured{s.deny(r, "", rules...)}, claim
}

// nothingAsked is the claim for a rule without any of the parameters that allow callers or requests. To read it as an empty list would
// close the pods by an omission.
func nothingAsked(r intent.Rule, params string) intent.Claim {
	return intent.Not(r, intent.ReasonInvalidParams,
		fmt.Sprintf("SecurityIntent %s: %s needs at least one of the parameters %s", r.Intent, r.ID, params))
}
