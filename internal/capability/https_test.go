// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

const (
	certified = "arn:aws:acm:eu-west-1:123456789012:certificate/11111111-2222-3333-4444-555555555555"
	balancer  = "k8s-myapp-app-1234567890.eu-west-1.elb.amazonaws.com"
)

// named is a capability with a host in a zone that it may write to.
func named(edits ...func(in *nexusv1.IngressSpec)) *nexusv1.NexusAICapability {
	c := minimal()
	c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Region = "myapp", "dev", "eu-west-1"
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.example.com", HostedZoneID: "Z1D633PJN98FT9"}
	for _, edit := range edits {
		edit(c.Spec.Ingress)
	}
	return c
}

// recordSets are the specs of the record sets by their type; that of a certificate has none.
func recordSets(t *testing.T, g *graph.Graph) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, o := range ofKind(g, "Route53RecordSet") {
		spec := at(t, o, "spec").(map[string]any)
		kind, _ := spec["type"].(string)
		out[kind] = spec
	}
	return out
}

func ingressNode(t *testing.T, g *graph.Graph) graph.Node {
	t.Helper()
	for _, n := range g.Nodes() {
		if n.Object.GetKind() == "Ingress" {
			return n
		}
	}
	t.Fatal("no Ingress")
	return graph.Node{}
}

// The load balancer gets no certificate before ACM issued it, and the host leads nowhere before there is a load balancer.
func TestHTTPS_EachObjectWaitsForWhatItNeeds(t *testing.T) {
	f := facts()
	f.Owned = map[string]capability.Proof{}
	g := compile(t, named(), f)
	certificates := ofKind(g, "Certificate")
	if len(certificates) != 1 || at(t, certificates[0], "spec", "domainName") != "app.example.com" {
		t.Fatalf("%v", certificates)
	}
	id := "Certificate/" + certificates[0].GetName()
	in := ingressNode(t, g)
	if in.Unresolved != id || !slices.Contains(in.After, graph.NeedReady(id)[0]) {
		t.Errorf("the Ingress lacks %q and comes after %v", in.Unresolved, in.After)
	}
	for _, n := range g.Nodes() {
		spec, _ := n.Object.Object["spec"].(map[string]any)
		if n.Object.GetKind() != "Route53RecordSet" {
			continue
		}
		switch spec["type"] {
		case "A":
			if n.Unresolved != in.ID || !slices.Contains(n.After, graph.NeedApplied(in.ID)[0]) {
				t.Errorf("the record of the host lacks %q and comes after %v", n.Unresolved, n.After)
			}
		default:
			if n.Unresolved != "" || at(t, n.Object, "spec", "validates", "certificateRef", "name") != certificates[0].GetName() {
				t.Errorf("the validation record lacks %q: %v", n.Unresolved, spec)
			}
		}
	}

	f.Owned[id], f.Balancer.Name = capability.Proof{ARN: certified}, balancer
	g = compile(t, named(), f)
	in = ingressNode(t, g)
	if in.Unresolved != "" || in.Object.GetAnnotations()["alb.ingress.kubernetes.io/certificate-arn"] != certified ||
		in.Object.GetAnnotations()["alb.ingress.kubernetes.io/ssl-redirect"] != "443" {
		t.Errorf("lacks %q: %v", in.Unresolved, in.Object.GetAnnotations())
	}
	sets := recordSets(t, g)
	alias, _ := sets["A"]["aliasTarget"].(map[string]any)
	if len(sets) != 2 || alias["dnsName"] != balancer || alias["hostedZoneID"] != "Z32O12XQLNTSW2" || sets["A"]["hostedZoneID"] != "Z1D633PJN98FT9" {
		t.Errorf("%v", sets)
	}
}

func TestHTTPS_RecordsFitTheLoadBalancer(t *testing.T) {
	for name, tc := range map[string]struct {
		address string
		edit    func(in *nexusv1.IngressSpec)
		want    string
	}{
		"an Application Load Balancer": {balancer, nil, "A alias Z32O12XQLNTSW2"},
		"of China":                     {"k8s-1.cn-north-1.elb.amazonaws.com.cn", nil, "A alias Z1GDH35T77C1KE"},
		"with both kinds of addresses": {balancer, func(in *nexusv1.IngressSpec) {
			in.Annotations = map[string]nexusv1.AnnotationValue{"alb.ingress.kubernetes.io/ip-address-type": "dualstack-without-public-ipv4"}
		}, "A alias Z32O12XQLNTSW2, AAAA alias Z32O12XQLNTSW2"},
		"of another region, not known": {"k8s-1.xx-north-9.elb.amazonaws.com", nil, "CNAME [k8s-1.xx-north-9.elb.amazonaws.com]"},
		"a Network Load Balancer":      {"k8s-1.elb.eu-west-1.amazonaws.com", nil, "A alias , AAAA alias "},
		"of another maker":             {"lb.example.net", nil, "CNAME [lb.example.net]"},
		"that tells only an address":   {"192.0.2.10", nil, "A [192.0.2.10]"},
		"that tells an IPv6 address":   {"2001:db8::1", nil, "AAAA [2001:db8::1]"},
		"that tells both families":     {"2001:db8::1 192.0.2.10 192.0.2.11", nil, "A [192.0.2.10 192.0.2.11], AAAA [2001:db8::1]"},
	} {
		t.Run(name, func(t *testing.T) {
			c := named(func(in *nexusv1.IngressSpec) {
				in.CertificateArn = certified
				if tc.edit != nil {
					tc.edit(in)
				}
			})
			f := facts()
			f.Balancer.Name, _, _ = strings.Cut(tc.address, " ")
			for text := range strings.FieldsSeq(tc.address) {
				if a, err := netip.ParseAddr(text); err == nil {
					f.Balancer.Addresses = append(f.Balancer.Addresses, a)
				}
			}
			g := compile(t, c, f)
			var got []string
			for kind, spec := range recordSets(t, g) {
				if alias, ok := spec["aliasTarget"].(map[string]any); ok {
					zone, _ := alias["hostedZoneID"].(string)
					got = append(got, kind+" alias "+zone)
				} else {
					got = append(got, strings.ReplaceAll(strings.TrimSpace(kind+" "+joined(spec["resourceRecords"])), "  ", " "))
				}
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("got %v, want %s", got, tc.want)
			}
			if len(ofKind(g, "Certificate")) > 0 {
				t.Error("a certificate beside that of the user")
			}
		})
	}
}

func joined(list any) string {
	var out []string
	for _, v := range list.([]any) {
		out = append(out, v.(string))
	}
	return "[" + strings.Join(out, " ") + "]"
}

// Another host or zone is another set of objects: the former set stays until the next one serves.
func TestHTTPS_AnotherHostIsAnotherCertificate(t *testing.T) {
	names := func(c *nexusv1.NexusAICapability) (out []string) {
		g := compile(t, c, facts())
		for _, o := range slices.Concat(ofKind(g, "Certificate"), ofKind(g, "Route53RecordSet")) {
			out = append(out, o.GetKind()+"/"+o.GetName())
		}
		return out
	}
	was := names(named())
	for _, name := range names(named(func(in *nexusv1.IngressSpec) { in.Host = "shop.example.com" })) {
		if slices.Contains(was, name) {
			t.Errorf("another host has %s too", name)
		}
	}
	same := 0
	for _, name := range names(named(func(in *nexusv1.IngressSpec) { in.HostedZoneID = "Z2" })) {
		if slices.Contains(was, name) {
			same++
		}
	}
	if same != 1 {
		t.Errorf("another zone shares %d objects, want the certificate alone", same)
	}
}

// However the spec names a zone, its records are the same objects: they would take the records from each other otherwise.
func TestHTTPS_AZoneHasManyNames(t *testing.T) {
	const zone = "Z1D633PJN98FT9"
	names := func(f capability.Facts, edit func(in *nexusv1.IngressSpec)) (out []string) {
		g := compile(t, named(func(in *nexusv1.IngressSpec) { in.HostedZoneID = ""; edit(in) }), f)
		for _, n := range g.Nodes() {
			if n.Object.GetKind() != "Route53RecordSet" {
				continue
			}
			id := at(t, n.Object, "spec", "hostedZoneID").(string)
			if f.Zone == "" && id != zone && n.Unresolved == "" {
				t.Errorf("%s is made in %s", n.ID, id)
			}
			out = append(out, n.ID+" in "+id)
		}
		slices.Sort(out)
		return out
	}
	byID := names(facts(), func(in *nexusv1.IngressSpec) { in.HostedZoneID = zone })
	known := facts()
	known.Zone = zone
	for how, edit := range map[string]func(in *nexusv1.IngressSpec){
		"a reference": func(in *nexusv1.IngressSpec) { in.HostedZoneRef = &nexusv1.HostedZoneReference{Name: "public"} },
		"a name":      func(in *nexusv1.IngressSpec) { in.HostedZoneName = "example.com" },
	} {
		if got := names(known, edit); !slices.Equal(got, byID) {
			t.Errorf("by %s: %v, want %v", how, got, byID)
		}
		if got := names(facts(), edit); len(got) != len(byID) {
			t.Errorf("by %s, before the zone is known: %v", how, got)
		}
	}
}

// A zone is found by its name through an object that only observes, which one capability has once.
func TestHTTPS_AZoneIsOnlyObserved(t *testing.T) {
	byName := func(in *nexusv1.IngressSpec) { in.HostedZoneID, in.HostedZoneName = "", "example.com" }
	for _, policy := range []nexusv1.DeletionPolicy{nexusv1.DeletionRetain, nexusv1.DeletionOrphan, nexusv1.DeletionDelete} {
		c := named(byName)
		c.Spec.DeletionPolicy = policy
		zones := ofKind(compile(t, c, facts()), "Route53HostedZone")
		if len(zones) != 1 || at(t, zones[0], "spec", "managementPolicy") != "Observe" || at(t, zones[0], "spec", "name") != "example.com" {
			t.Fatalf("%v", zones)
		}
		if _, imports := zones[0].Object["spec"].(map[string]any)["importID"]; imports {
			t.Errorf("%v", zones[0])
		}
		if name, made := capability.ZoneObject(c); name != zones[0].GetName() || !made {
			t.Errorf("%s, want %s", name, zones[0].GetName())
		}
	}
	for _, edit := range []func(in *nexusv1.IngressSpec){
		func(in *nexusv1.IngressSpec) { in.HostedZoneName = "" },
		func(in *nexusv1.IngressSpec) { byName(in); in.Enabled = new(bool) },
	} {
		if zones := ofKind(compile(t, named(edit), facts()), "Route53HostedZone"); len(zones) > 0 {
			t.Errorf("%v", zones)
		}
	}
}

// Records would lead to a load balancer that is gone, so that Retain does not keep them.
func TestHTTPS_RecordsGoWithTheLoadBalancer(t *testing.T) {
	for policy, want := range map[nexusv1.DeletionPolicy]string{nexusv1.DeletionRetain: "Delete", nexusv1.DeletionOrphan: "Orphan", nexusv1.DeletionDelete: "Delete"} {
		c := named()
		c.Spec.DeletionPolicy = policy
		g := compile(t, c, facts())
		for _, o := range slices.Concat(ofKind(g, "Certificate"), ofKind(g, "Route53RecordSet")) {
			if got := at(t, o, "spec", "deletionPolicy"); got != want {
				t.Errorf("%s: %s has %v, want %s", policy, o.GetKind(), got, want)
			}
		}
	}
}

// While the certificate of the next host is not issued, the objects that serve the previous host are not pruned.
func TestHTTPS_WhatServesIsPrunedLast(t *testing.T) {
	c := named()
	f := facts()
	g := compile(t, c, f)
	o := capability.Observed{Capability: c, Facts: f, Graph: g, States: map[string]capability.State{}}
	for _, id := range g.IDs() {
		o.States[id] = capability.State{Applied: true, Ready: true}
	}
	kinds := []string{"Certificate", "Route53RecordSet", "Route53HostedZone"}
	for _, kind := range kinds {
		if !o.Prunable(kind) {
			t.Errorf("%s cannot be pruned although everything is done", kind)
		}
	}
	o.States[ingressNode(t, g).ID] = capability.State{Live: &unstructured.Unstructured{Object: map[string]any{}}}
	for _, kind := range kinds {
		if o.Prunable(kind) {
			t.Errorf("%s is pruned while the Ingress waits", kind)
		}
	}
	if !o.Prunable("SQSQueue") {
		t.Error("a queue waits for the Ingress")
	}
}

// The condition names the record that a host without a zone needs.
func TestHTTPS_AHostWithoutAZoneNeedsARecord(t *testing.T) {
	for zone, want := range map[string]string{"": "create a DNS record that leads app.example.com to " + balancer + " unless there is one, or set spec.ingress.hostedZoneID", "Z1D633PJN98FT9": ""} {
		c := named(func(in *nexusv1.IngressSpec) { in.HostedZoneID = zone })
		f := facts()
		f.Balancer.Name = balancer
		g := compile(t, c, f)
		o := capability.Observed{Capability: c, Facts: f, Graph: g, States: map[string]capability.State{}}
		for _, id := range g.IDs() {
			o.States[id] = capability.State{Applied: true, Ready: true}
		}
		o.States[ingressNode(t, g).ID] = capability.State{Applied: true, Ready: true, Live: &unstructured.Unstructured{Object: map[string]any{
			"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"hostname": balancer}}}},
		}}}
		report := capability.Summarize(o)
		i := slices.IndexFunc(report.Conditions, func(c metav1.Condition) bool { return c.Type == nexusv1.ConditionIngressReady })
		if got := report.Conditions[i]; got.Status != metav1.ConditionTrue || got.Message != want {
			t.Errorf("zone %q: %+v", zone, got)
		}
		url := "http://app.example.com"
		if zone != "" {
			url = "https://app.example.com"
		}
		if report.Endpoints.URL != url {
			t.Errorf("zone %q: URL %s", zone, report.Endpoints.URL)
		}
	}
}

// ACM proves a name, and all names below it, by one record: two objects would take it from each other.
func TestTheRecordOfACertificateIsOneForAHostAndItsWildcard(t *testing.T) {
	name := func(host string) string {
		g := compile(t, named(func(in *nexusv1.IngressSpec) { in.Host = host }), facts())
		for _, n := range g.Nodes() {
			if _, found, _ := unstructured.NestedMap(n.Object.Object, "spec", "validates"); found {
				return n.Object.GetName()
			}
		}
		return ""
	}
	if a, b, c := name("app.example.com"), name("*.app.example.com"), name("other.example.com"); a == "" || a != b || a == c {
		t.Errorf("%q, %q, %q", a, b, c)
	}
}

// The parameters of an IngressClass override the annotation of an Ingress.
func TestHTTPS_IPv6RecordsFollowTheClassParameters(t *testing.T) {
	for _, tc := range []struct {
		parameters, annotation string
		want                   bool
	}{
		{"", "", false}, {"", "dualstack", true}, {"dualstack", "", true}, {"dualstack-without-public-ipv4", "", true},
		{"dualstack", "ipv4", true}, {"ipv4", "dualstack", false},
	} {
		f := facts()
		f.Balancer.Name, f.Balancer.IPAddressType = balancer, tc.parameters
		c := named(func(in *nexusv1.IngressSpec) {
			if tc.annotation != "" {
				in.Annotations = map[string]nexusv1.AnnotationValue{"alb.ingress.kubernetes.io/ip-address-type": nexusv1.AnnotationValue(tc.annotation)}
			}
		})
		if _, got := recordSets(t, compile(t, c, f))["AAAA"]; got != tc.want {
			t.Errorf("parameters %q, annotation %q: a record for IPv6: %v", tc.parameters, tc.annotation, got)
		}
	}
}

// Only AWS knows the zone of these load balancers, and an identity of the capability's own may not find them.
func TestHTTPS_RecordsAskForTheZoneOfALoadBalancer(t *testing.T) {
	const elsewhere = "k8s-1.xx-north-9.elb.amazonaws.com"
	types := func(c *nexusv1.NexusAICapability, f capability.Facts) string {
		var out []string
		for kind := range recordSets(t, compile(t, c, f)) {
			out = append(out, kind)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	c, f := named(func(in *nexusv1.IngressSpec) { in.CertificateArn = certified }), facts()
	c.Spec.Region, f.Balancer.Name, f.Provider.Region = "", elsewhere, "xx-north-9"
	if got := types(c, f); got != "A" {
		t.Errorf("%s in the region of the provider", got)
	}
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
	if got := types(c, f); got != "CNAME" {
		t.Errorf("%s by an identity that may be of another account", got)
	}
	record := ofKind(compile(t, c, f), "Route53RecordSet")[0].GetName()
	if got := capability.CNAMEObject(c, f); got != record {
		t.Errorf("%s is looked for, and the record is %s", got, record)
	}
	c.Spec.ProviderRef, f.HasCNAME = nil, true
	if got := types(c, f); got != "CNAME" {
		t.Errorf("%s beside the CNAME record that the host has", got)
	}
	f.Balancer.Name = balancer
	if got := types(c, f) + capability.CNAMEObject(c, f); got != "A" {
		t.Errorf("%s to a load balancer whose zone is known", got)
	}
}
