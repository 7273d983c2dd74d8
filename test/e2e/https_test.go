// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// dnsZone is a hosted zone that an administrator made.
type dnsZone struct {
	*bed
	api *route53.Client
	id  string
}

func (b *bed) zone(name string) dnsZone {
	b.Helper()
	api := route53.NewFromConfig(b.admin(homeAccount))
	out, err := api.CreateHostedZone(b.Ctx(), &route53.CreateHostedZoneInput{Name: &name, CallerReference: &name})
	return dnsZone{b, api, strings.TrimPrefix(*must(b, out, err).HostedZone.Id, "/hostedzone/")}
}

// records returns the records with addresses: the name to the target of an alias or the first value.
func (z dnsZone) records() map[string]string {
	z.Helper()
	out, err := z.api.ListResourceRecordSets(z.Ctx(), &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id})
	all := map[string]string{}
	for _, r := range must(z.bed, out, err).ResourceRecordSets {
		switch {
		case r.Type != types.RRTypeA:
		case r.AliasTarget != nil:
			all[strings.TrimSuffix(*r.Name, ".")] = strings.TrimSuffix(*r.AliasTarget.DNSName, ".") + " in " + *r.AliasTarget.HostedZoneId
		default:
			all[strings.TrimSuffix(*r.Name, ".")] = *r.ResourceRecords[0].Value
		}
	}
	return all
}

func (z dnsZone) change(action types.ChangeAction, name, address string) {
	z.Helper()
	set := &types.ResourceRecordSet{Name: &name, Type: types.RRTypeA, TTL: aws.Int64(60),
		ResourceRecords: []types.ResourceRecord{{Value: &address}}}
	out, err := z.api.ChangeResourceRecordSets(z.Ctx(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: &z.id,
		ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action, ResourceRecordSet: set}}}})
	must(z.bed, out, err)
}

// serves returns the host, certificate and address of the capability's Ingress.
func (b *bed) serves(c *nexusv1.NexusAICapability) (host, certificate, address string) {
	b.Helper()
	in := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Namespace + "-app-ingress"}}
	if err := b.Get(in); err != nil {
		b.Fatal(err)
	}
	if all := in.Status.LoadBalancer.Ingress; len(all) > 0 {
		address = all[0].Hostname
	}
	return in.Spec.Rules[0].Host, in.Annotations["alb.ingress.kubernetes.io/certificate-arn"], address
}

// certificates lists the objects of the capability's namespace.
func (b *bed) certificates(c *nexusv1.NexusAICapability) []v1alpha1.Certificate {
	b.Helper()
	l := &v1alpha1.CertificateList{}
	if err := b.Client.List(b.Ctx(), l, client.InNamespace(c.Namespace)); err != nil {
		b.Fatal(err)
	}
	return l.Items
}

// A capability with a host in a zone serves HTTPS under its name without a person. Another host serves before the one before
// it stops, and nothing is left in the end.
func TestHTTPS_AHostLivesAndChangesWithItsCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=2s")
	b.World.AWS().ACM.SetUnvalidated(true)
	t.Cleanup(func() { b.World.AWS().ACM.SetUnvalidated(false) })
	zone := b.zone("example.com")
	c := b.small("web")
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.example.com", HostedZoneID: zone.id}
	b.Create(c)
	t.Logf("Running after %.1f s", b.Running(c).Seconds())
	host, first, address := b.serves(c)
	issued := b.certificates(c)
	if len(issued) != 1 || issued[0].Status.CertificateStatus != "ISSUED" || issued[0].Status.ARN != first || host != "app.example.com" {
		t.Fatalf("%s by %q, certificates %+v", host, first, issued)
	}
	leads := address + " in Z1LMS91P8CMLE5"
	if got := zone.records(); len(got) != 1 || got["app.example.com"] != leads {
		t.Fatalf("records %v, want one that leads to %s", got, leads)
	}
	if c.Status.Endpoints.URL != "https://app.example.com" {
		t.Errorf("URL %s", c.Status.Endpoints.URL)
	}

	// The next host has no certificate yet: the one before is served by its own.
	held := b.World.AWS().Fault(emulator.Match{Service: "route53", Op: "ChangeResourceRecordSets"},
		emulator.Fail(400, "Throttling", "Rate exceeded"))
	b.Edit(c, func() { c.Spec.Ingress.Host = "shop.example.com" })
	b.Eventually(20*time.Second, "a second certificate to be pending", func() error {
		if n := len(b.certificates(c)); n != 2 {
			return fmt.Errorf("%d certificates", n)
		}
		return nil
	})
	time.Sleep(3 * time.Second)
	if host, arn, _ := b.serves(c); host != "app.example.com" || arn != first {
		t.Errorf("%s is served by %s before the certificate of shop.example.com is issued", host, arn)
	}
	if got := zone.records(); got["app.example.com"] != leads {
		t.Errorf("records %v", got)
	}
	held.Remove()
	b.Running(c)
	host, second, _ := b.serves(c)
	if host != "shop.example.com" || second == first {
		t.Errorf("%s by %s", host, second)
	}
	b.Eventually(30*time.Second, "the records and the certificate of the first host to go", func() error {
		if got := zone.records(); len(got) != 1 || got["shop.example.com"] != leads {
			return fmt.Errorf("records %v", got)
		}
		if now := b.certificates(c); len(now) != 1 || now[0].Status.ARN != second {
			return fmt.Errorf("%d certificates", len(now))
		}
		return nil
	})

	// A name that leads elsewhere already is never changed.
	zone.change(types.ChangeActionCreate, "taken.example.com", "192.0.2.7")
	b.Edit(c, func() { c.Spec.Ingress.Host = "taken.example.com" })
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "Conflict"), "Route53RecordSet/web-dev-host-")
	if got := zone.records(); got["taken.example.com"] != "192.0.2.7" {
		t.Errorf("records %v", got)
	}
	zone.change(types.ChangeActionDelete, "taken.example.com", "192.0.2.7")
	b.Running(c)

	b.Remove(c)
	if got := zone.records(); len(got) > 0 {
		t.Errorf("records left behind: %v", got)
	}
	_, err := zone.api.DeleteHostedZone(b.Ctx(), &route53.DeleteHostedZoneInput{Id: &zone.id})
	must(b, 0, err)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}

// A production capability keeps its stores, and no record that would lead to a load balancer that is gone.
func TestHTTPS_RecordsOfAKeptCapabilityGo(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	zone := b.zone("example.com")
	c := b.small("web")
	c.Spec.DeletionPolicy = nexusv1.DeletionRetain
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.example.com", HostedZoneName: "example.com"}
	b.Create(c)
	b.Running(c)

	// The zone under its ID is the same zone: its records stay.
	records, mark := zone.records(), b.World.AWS().Mark()
	b.Edit(c, func() { c.Spec.Ingress.HostedZoneName, c.Spec.Ingress.HostedZoneID = "", zone.id })
	b.Running(c)
	b.Eventually(30*time.Second, "the object of the zone to go", func() error {
		l := &v1alpha1.Route53HostedZoneList{}
		if err := b.Client.List(b.Ctx(), l, client.InNamespace(c.Namespace)); err != nil || len(l.Items) > 0 {
			return fmt.Errorf("%d objects, %v", len(l.Items), err)
		}
		return nil
	})
	if got := zone.records(); len(got) != 1 || !maps.Equal(got, records) {
		t.Errorf("records %v, were %v", got, records)
	}
	if made := b.World.AWS().Since(mark).Writes(); made.Count() > 0 {
		t.Errorf("another way to name the zone made %v", made)
	}
	b.Remove(c)
	inv := b.Inventory()
	if got := zone.records(); len(got) > 0 || len(inv["acm/certificate"]) > 0 {
		t.Errorf("left behind: records %v, %v", got, inv)
	}
	if kinds := slices.Sorted(maps.Keys(inv)); !slices.Contains(kinds, "ssm/parameter") {
		t.Errorf("kept: %v", kinds)
	}
}
