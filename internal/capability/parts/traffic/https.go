// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// addressTTL is the TTL in seconds of a record that leads to a load balancer without an alias.
	addressTTL = 60
	// maxCertifiedName is the limit of ACM for the first name of a certificate.
	// https://docs.aws.amazon.com/acm/latest/userguide/acm-certificate-characteristics.html
	maxCertifiedName = 64
	albIPAddressType = alb + "ip-address-type"
	cname            = "CNAME"
)

// UsesZone reports whether the capability keeps the records of its host.
func UsesZone(s *nexusv1.NexusAICapabilitySpec) bool {
	in := Settings(s)
	return IsEnabled(s) && in.Host != "" && (in.HostedZoneID != "" || in.HostedZoneRef != nil || in.HostedZoneName != "")
}

// KeepsRecords reports whether the capability keeps the records of its host.
func KeepsRecords(c *nexusv1.NexusAICapability) bool { return UsesZone(&c.Spec) }

// IngressWithRecords returns the Ingress with the load balancer that the records of the host lead to; ok is false when the capability keeps
// no records, or has a Gateway.
func IngressWithRecords(c *nexusv1.NexusAICapability) (namespace, name string, ok bool) {
	n := part.NamesOf(c)
	return n.WorkloadNamespace(), n.Ingress(), KeepsRecords(c) && GatewayOf(c) == nil
}

// hosted names an object that belongs to a host. Host and zone of a record never change, so that another host or zone makes another object.
// It is created before the object of the previous host is deleted.
func hosted(n part.Names, purpose string, of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, " ")))
	return n.Of(purpose + "-" + hex.EncodeToString(sum[:4]))
}

// certificateName is that of the certificate that the capability requests for its host; "" without one.
func certificateName(k *part.Compiler) string {
	in := Settings(k.Spec)
	if !UsesZone(k.Spec) || in.CertificateArn != "" || !MayCertify(k.Spec, k.Facts) {
		return ""
	}
	return hosted(k.Names, "certificate", in.Host)
}

// Names of the way in: of its kinds and step.
const (
	kindCertificate      = "Certificate"
	kindRecordSet        = "Route53RecordSet"
	kindHostedZone       = "Route53HostedZone"
	kindIngress          = "Ingress"
	kindGateway          = "Gateway"
	kindRoute            = "HTTPRoute"
	kindBalancerSettings = "LoadBalancerConfiguration"
	kindTargetSettings   = "TargetGroupConfiguration"
	StepIngress          = "Ingress"
)

// Part is spec.ingress.
func Part() part.Part {
	const refusal = "is declared in spec.ingress"
	return part.Part{
		Steps: []part.Step{{Number: 11, Name: StepIngress, Phase: nexusv1.PhaseDeployingFrontend, Condition: nexusv1.ConditionIngressReady}},
		Kinds: []part.KindFacts{
			{Kind: kindRecordSet, Step: StepIngress, Removed: part.Removal{Stage: part.RemovesTraffic}, Refusal: refusal, IsTemporary: true},
			{Kind: kindIngress, Version: schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}, Step: StepIngress,
				Removed: part.Removal{Stage: part.RemovesTraffic + 10, Steps: []string{StepIngress}}},
			{Kind: kindRoute, Version: schema.GroupVersion{Group: GatewayGroup, Version: "v1"}, Step: StepIngress,
				Removed: part.Removal{Stage: part.RemovesTraffic + 10}},
			{Kind: kindGateway, Version: schema.GroupVersion{Group: GatewayGroup, Version: "v1"}, Step: StepIngress,
				Removed: part.Removal{Stage: part.RemovesTraffic + 20}},
			// Their controller needs them as long as the Gateway exists.
			{Kind: kindBalancerSettings, Version: balancerVersion, Step: StepIngress, Removed: part.Removal{Stage: part.RemovesTraffic + 30}},
			{Kind: kindTargetSettings, Version: balancerVersion, Step: StepIngress, Removed: part.Removal{Stage: part.RemovesTraffic + 30}},
			{Kind: kindCertificate, Step: StepIngress, Removed: part.Removal{Stage: part.RemovesTraffic + 40}, Refusal: refusal, IsTemporary: true,
				Proves: true},
			{Kind: kindHostedZone, Step: StepIngress, Removed: part.Removal{Stage: part.RemovesTraffic + 40}, Refusal: refusal, IsTemporary: true},
		},
		Checks: []part.Turn[part.Checking]{part.At(4, func(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
			checkIngress(v, Settings(&c.Spec), f)
		})},
		Compile: []func(*part.Compiler){addZone, addCertificate, addIngress, addGateway, addRecords},
		Publishes: []part.Turn[part.Publishing]{part.At(40, func(k *part.Compiler) []string {
			return []string{certificateID(k), balancerID(k), zoneID(k)}
		})},
	}
}

// certificateID is the ID of the node of that certificate; "" without one.
func certificateID(k *part.Compiler) string {
	if name := certificateName(k); name != "" {
		return kindCertificate + "/" + name
	}
	return ""
}

// certificateArn returns the certificate of the load balancer; "" without HTTPS. The ARN of a certificate is known before ACM has issued
// it. The Ingress waits until then.
func certificateArn(k *part.Compiler) string {
	if id := certificateID(k); id != "" {
		return k.ProvenARN(id)
	}
	return Settings(k.Spec).CertificateArn
}

// addCertificate makes the certificate of the host, and the record that proves the host to ACM. The record stays: ACM looks for
// it before each renewal.
func addCertificate(k *part.Compiler) {
	name, in := certificateName(k), Settings(k.Spec)
	if name == "" {
		return
	}
	host := awsv1.CertificateName(in.Host)
	id := k.Resource(part.Child{Kind: kindCertificate, Name: name, Step: StepIngress, Component: "ingress"},
		&awsv1.Certificate{Spec: awsv1.CertificateSpec{DomainName: in.Host}})
	addRecord(k, "validation", awsv1.Route53RecordSetSpec{Validates: &awsv1.RecordOfCertificate{CertificateRef: awsv1.ObjectReference{Name: name}, DomainName: host}},
		graph.NeedApplied(id)...)
}

// addRecords lead the host to the load balancer, once that exists.
func addRecords(k *part.Compiler) {
	if !UsesZone(k.Spec) {
		return
	}
	ingress := EntryID(k.Capability)
	for _, target := range recordTargets(k, part.PlaceholderFor(ingress)) {
		target.Name = Settings(k.Spec).Host
		addRecord(k, "host", target, graph.NeedApplied(ingress)...)
	}
}

// recordTargets returns the record sets that lead to the load balancer, without their name. An alias also works for the name of the zone
// itself, and costs no queries; if the hosted zone of the load balancer is not known, records with addresses or a CNAME record replace it.
func recordTargets(k *part.Compiler, unknown string) []awsv1.Route53RecordSetSpec {
	target := k.Facts.Balancer.Name
	b, isBalancer := wellknown.BalancerOf(target)
	zone := b.HostedZone()
	switch {
	case target == "":
		return recordAliases(k, unknown, unknown)
	case isBalancer && (zone != "" || findsBalancer(k, b) && !k.Facts.HasCNAME):
		return recordAliases(k, zone, target)
	case len(k.Facts.Balancer.Addresses) > 0:
		return recordsOf(k.Facts.Balancer.Addresses)
	default:
		return []awsv1.Route53RecordSetSpec{plainRecords(cname, target)}
	}
}

// findsBalancer reports whether the records can ask AWS for a load balancer of the cluster: the operator's own identity, which a
// capability without providerRef has, is in the account of the cluster, and a provider asks in its region alone.
func findsBalancer(k *part.Compiler, b wellknown.Balancer) bool {
	return k.Spec.ProviderRef == nil && b.Region == k.Facts.RegionOf(k.Capability)
}

// CNAMEObject names the Route53RecordSet of the CNAME record that the host of c has or had; "" where the records do
// not depend on it.
func CNAMEObject(c *nexusv1.NexusAICapability, f part.Facts) string {
	b, isBalancer := wellknown.BalancerOf(f.Balancer.Name)
	if !UsesZone(&c.Spec) || !isBalancer || b.HostedZone() != "" {
		return ""
	}
	return recordName(part.NewCompiler(nil, c, f), "host", cname)
}

// recordAliases lead to the IPv4 addresses of a load balancer, and to its IPv6 addresses where it has some. The cluster has no information
// about the IPv6 addresses of a Network Load Balancer; Route 53 answers an alias to addresses that do not exist with no records.
func recordAliases(k *part.Compiler, zone, target string) []awsv1.Route53RecordSetSpec {
	out := []awsv1.Route53RecordSetSpec{{Type: "A"}}
	addresses := cmp.Or(k.Facts.Balancer.IPAddressType, string(Settings(k.Spec).Annotations[albIPAddressType]))
	if b, _ := wellknown.BalancerOf(target); strings.HasPrefix(addresses, "dualstack") || b.Network && k.Facts.Balancer.IPAddressType == "" {
		out = append(out, awsv1.Route53RecordSetSpec{Type: "AAAA"})
	}
	for i := range out {
		out[i].AliasTarget = &awsv1.RecordAliasTarget{HostedZoneID: zone, DNSName: target}
	}
	return out
}

// recordsOf lists addresses in a record set for each family.
func recordsOf(addresses []netip.Addr) []awsv1.Route53RecordSetSpec {
	families := map[string][]string{}
	for _, a := range addresses {
		family := "A"
		if a.Is6() {
			family = "AAAA"
		}
		families[family] = append(families[family], a.String())
	}
	var out []awsv1.Route53RecordSetSpec
	for _, family := range []string{"A", "AAAA"} {
		if values := families[family]; len(values) > 0 {
			out = append(out, plainRecords(family, values...))
		}
	}
	return out
}

func plainRecords(kind string, values ...string) awsv1.Route53RecordSetSpec {
	out := awsv1.Route53RecordSetSpec{Type: kind, TTL: new(int64(addressTTL))}
	for _, v := range values {
		out.ResourceRecords = append(out.ResourceRecords, awsv1.RecordValue(v))
	}
	return out
}

// ZoneObject returns the name of the Route53HostedZone with the ID of the capability's zone; "" without one. made is true where the spec
// has only the name of the zone: the capability makes the object then.
func ZoneObject(c *nexusv1.NexusAICapability) (name string, made bool) {
	in := Settings(&c.Spec)
	switch {
	case !UsesZone(&c.Spec) || in.HostedZoneID != "":
		return "", false
	case in.HostedZoneRef != nil:
		return in.HostedZoneRef.Name, false
	default:
		return hosted(part.NamesOf(c), "zone", in.HostedZoneName), true
	}
}

// addZone makes the object that finds the zone of the host by its name. It only observes: the zone and its other records belong to
// others.
func addZone(k *part.Compiler) {
	name, made := ZoneObject(k.Capability)
	if !made {
		return
	}
	zone := &awsv1.Route53HostedZone{Spec: awsv1.Route53HostedZoneSpec{Name: Settings(k.Spec).HostedZoneName}}
	zone.Spec.ManagementPolicy = awsv1.ManageObserve
	k.Resource(part.Child{Kind: kindHostedZone, Name: name, Step: StepIngress, Component: "ingress"}, zone)
}

// zoneID returns the ID of the node that has the ID of the zone in its status; "" when the spec has it.
func zoneID(k *part.Compiler) string {
	if name, _ := ZoneObject(k.Capability); name != "" {
		return kindHostedZone + "/" + name
	}
	return ""
}

// addRecord adds a record set to the zone of the host. However the spec names the zone, the record is the same object.
func addRecord(k *part.Compiler, purpose string, spec awsv1.Route53RecordSetSpec, after ...graph.Edge) {
	id := zoneID(k)
	if _, made := ZoneObject(k.Capability); made {
		after = append(after, graph.NeedApplied(id)...)
	}
	if spec.HostedZoneID = knownZone(k); spec.HostedZoneID == "" {
		spec.HostedZoneID = part.PlaceholderFor(id)
	}
	name := recordName(k, purpose, spec.Type)
	k.Resource(part.Child{Kind: kindRecordSet, Name: name, Step: StepIngress, Component: "ingress"}, &awsv1.Route53RecordSet{Spec: spec},
		after...)
}

// knownZone returns the ID of the zone of the host; "" until the status of its object has the ID.
func knownZone(k *part.Compiler) string { return cmp.Or(Settings(k.Spec).HostedZoneID, k.Facts.Zone) }

// recordName names the object of a record set of the host; recordType is "" for the one that proves the host to ACM, which proves
// the host and all names below it by one record.
func recordName(k *part.Compiler, purpose, recordType string) string {
	host := Settings(k.Spec).Host
	if recordType == "" {
		host = strings.TrimPrefix(host, "*.")
	}
	return hosted(k.Names, purpose, host, cmp.Or(knownZone(k), zoneID(k)), recordType)
}

// balancerID returns the ID of the node with the load balancer that the records lead to; "" without records.
func balancerID(k *part.Compiler) string {
	if UsesZone(k.Spec) {
		return EntryID(k.Capability)
	}
	return ""
}

// objectNames fits the names of objects. The schema allows a hyphen or a dot beside a dot, too.
var objectNames = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// checkObjectName requires that a reference, if there is one, names an object.
func checkObjectName(v *part.Verdict, at, name string) {
	v.Require(name == "" || objectNames.MatchString(name), at, "%q does not match %s", status.Truncate(name, 64), objectNames)
}

func checkZone(v *part.Verdict, in nexusv1.IngressSpec) {
	const at = "spec.ingress"
	if name := in.HostedZoneName; name != "" {
		v.Require(in.HostedZoneID == "" && in.HostedZoneRef == nil, at+".hostedZoneName", "excludes hostedZoneID and hostedZoneRef")
		v.Require(in.Host == "" || in.Host == name || strings.HasSuffix(in.Host, "."+name), at+".hostedZoneName", "%s is not within this zone",
			in.Host)
	}
	if in.HostedZoneRef != nil {
		v.Require(in.HostedZoneID == "", at+".hostedZoneRef", "excludes hostedZoneID")
		checkObjectName(v, at+".hostedZoneRef.name", in.HostedZoneRef.Name)
	}
	if in.HostedZoneID == "" && in.HostedZoneRef == nil && in.HostedZoneName == "" {
		return
	}
	v.Require(in.Host != "", at+".host", "the hosted zone gets the records of host: set host")
	v.Require(in.CertificateArn != "" || len(in.Host) <= maxCertifiedName, at+".host",
		"ACM issues certificates for at most %d characters: choose a shorter host, or set certificateArn", maxCertifiedName)
	v.Require(in.Host == "" || strings.Contains(strings.TrimPrefix(in.Host, "*."), "."), at+".host", "%q is no name within a hosted zone",
		in.Host)
}
