// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// network is one namespace with what testdata/network.yaml declares.
type network struct {
	*bed
	namespace string
	objs      []*unstructured.Unstructured
}

func newNetwork(b *bed, namespace string) *network {
	b.Helper()
	n := &network{bed: b, namespace: b.MakeNamespace(namespace)}
	for _, o := range b.File("test/e2e/testdata/network.yaml") {
		o.SetNamespace(namespace)
		for _, field := range []string{"queueName", "topicName", "keyName", "dbSubnetGroupName", "dbInstanceIdentifier"} {
			if name, found, _ := unstructured.NestedString(o.Object, "spec", field); found {
				_ = unstructured.SetNestedField(o.Object, strings.ReplaceAll(name, "NAMESPACE", namespace), "spec", field)
			}
		}
		if err := b.Client.Create(b.Ctx(), o); err != nil {
			b.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		n.objs = append(n.objs, o)
	}
	return n
}

// object returns the object of a kind and name.
func (n *network) object(kind, name string) *unstructured.Unstructured {
	return n.objs[slices.IndexFunc(n.objs, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name })]
}

// id returns the identifier that an object published.
func (n *network) id(kind, name string) string {
	id, _, _ := unstructured.NestedString(n.object(kind, name).Object, "status", "id")
	return id
}

// ready waits until every object is ready as it is declared now.
func (n *network) ready() {
	n.Helper()
	for _, o := range n.objs {
		n.Eventually(90*time.Second, n.namespace+" "+o.GetKind()+" "+o.GetName()+" to be ready", func() error {
			if err := n.Get(o); err != nil {
				return err
			}
			ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
			if seen, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); !ready || seen != o.GetGeneration() {
				return fmt.Errorf("%v", o.Object["status"])
			}
			return nil
		})
	}
}

// set edits one field of the spec of an object.
func (n *network) set(kind, name string, value any, field string) {
	n.Helper()
	o := n.object(kind, name)
	n.Edit(o, func() {
		if err := unstructured.SetNestedField(o.Object, value, "spec", field); err != nil {
			n.Fatal(err)
		}
	})
}

// defaultTarget returns where EC2 leads the traffic of a route table by default, and how many subnets use the table.
func (n *network) defaultTarget(c *ec2.Client, table string) (target string, subnets int) {
	n.Helper()
	out, err := c.DescribeRouteTables(n.Ctx(), &ec2.DescribeRouteTablesInput{RouteTableIds: []string{n.id("RouteTable", table)}})
	if err != nil {
		n.Fatal(err)
	}
	for _, r := range out.RouteTables[0].Routes {
		if aws.ToString(r.DestinationCidrBlock) == "0.0.0.0/0" {
			target = aws.ToString(r.GatewayId) + aws.ToString(r.NatGatewayId)
		}
	}
	return target, len(out.RouteTables[0].Associations)
}

// orders are the orders in which networks are deleted: as they were made, the reverse, and two at random.
var orders = map[string]func(objs []*unstructured.Unstructured){
	"team-forward": func([]*unstructured.Unstructured) {},
	"team-reverse": slices.Reverse[[]*unstructured.Unstructured],
	"team-random1": shuffled(1),
	"team-random2": shuffled(2),
}

func shuffled(seed uint64) func(objs []*unstructured.Unstructured) {
	return func(objs []*unstructured.Unstructured) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(objs), func(i, j int) { objs[i], objs[j] = objs[j], objs[i] })
	}
}

// A network is made from one file of references, edited, and deleted in several orders at the same time.
func TestASmallNetworkFromOneFile(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	config := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	c := ec2.NewFromConfig(config)
	var networks []*network
	for namespace := range orders {
		networks = append(networks, newNetwork(b, namespace))
	}
	for _, n := range networks {
		n.ready()
		n.leads(c, "public", n.id("InternetGateway", "internet"), 1)
		n.leads(c, "private", n.id("NATGateway", "exit"), 1)
	}
	for _, n := range networks {
		n.set("RouteTable", "private", []any{}, "subnetRefs")
		n.set("RouteTable", "public", []any{map[string]any{"name": "public"}, map[string]any{"name": "private"}}, "subnetRefs")
		n.set("RouteTable", "private",
			[]any{map[string]any{"destinationCidrBlock": "0.0.0.0/0", "gatewayRef": map[string]any{"name": "internet"}}}, "routes")
		n.set("NATGateway", "exit", map[string]any{"team": "a"}, "tags")
		n.set("EC2Instance", "web", "Stopped", "state")
		n.set("RDSInstance", "orders", int64(3), "backupRetentionPeriod")
	}
	for _, n := range networks {
		n.ready()
		n.leads(c, "public", n.id("InternetGateway", "internet"), 2)
		n.leads(c, "private", n.id("InternetGateway", "internet"), 0)
		if state, _, _ := unstructured.NestedString(n.object("EC2Instance", "web").Object, "status", "instanceState"); state != "stopped" {
			t.Errorf("%s: the instance is %s", n.namespace, state)
		}
	}
	for _, n := range networks {
		orders[n.namespace](n.objs)
		for _, o := range n.objs {
			if err := b.Client.Delete(b.Ctx(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range networks {
		n.gone()
	}
	if left := leftInEC2(t, b, c); left != "" {
		t.Errorf("left behind: %s", left)
	}
	inv := b.Inventory()
	for _, key := range inv["kms/key"] { // KMS deletes a key after days
		if d, err := kms.NewFromConfig(config).DescribeKey(b.Ctx(), &kms.DescribeKeyInput{KeyId: &key}); err != nil ||
			d.KeyMetadata.KeyState != kmstypes.KeyStatePendingDeletion {
			t.Errorf("the key %s: %v, %+v", key, err, d)
		}
	}
	if delete(inv, "kms/key"); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// leads asserts the default route of a table in AWS, and how many subnets use it.
func (n *network) leads(c *ec2.Client, table, want string, subnets int) {
	n.Helper()
	if target, used := n.defaultTarget(c, table); target != want || used != subnets || want == "" {
		n.Errorf("%s: the table %s leads %d subnets to %q, want %d to %q", n.namespace, table, used, target, subnets, want)
	}
}

// gone waits until every object is gone: a deletion that something else holds is tried again after a while.
func (n *network) gone() {
	n.Helper()
	for _, o := range n.objs {
		n.Eventually(3*time.Minute, n.namespace+" "+o.GetKind()+" "+o.GetName()+" to be gone", func() error {
			if err := n.Get(o); err == nil {
				return fmt.Errorf("%v", o.Object["status"])
			}
			return nil
		})
	}
}

// leftInEC2 describes what of the networks is left.
func leftInEC2(t *testing.T, b *bed, c *ec2.Client) string {
	t.Helper()
	ranges := []types.Filter{{Name: aws.String("cidr-block-association.cidr-block"), Values: []string{"10.30.0.0/16"}}}
	vpcs, err := c.DescribeVpcs(b.Ctx(), &ec2.DescribeVpcsInput{Filters: ranges})
	addresses, err2 := c.DescribeAddresses(b.Ctx(), &ec2.DescribeAddressesInput{})
	nats, err3 := c.DescribeNatGateways(b.Ctx(),
		&ec2.DescribeNatGatewaysInput{Filter: []types.Filter{{Name: aws.String("state"), Values: []string{"available"}}}})
	gateways, err4 := c.DescribeInternetGateways(b.Ctx(), &ec2.DescribeInternetGatewaysInput{})
	keys, err5 := c.DescribeKeyPairs(b.Ctx(), &ec2.DescribeKeyPairsInput{})
	instances, err6 := c.DescribeInstances(b.Ctx(),
		&ec2.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("instance-state-name"),
			Values: []string{"pending", "running", "stopping", "stopped"}}}})
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	left := map[string]int{"VPCs": len(vpcs.Vpcs), "addresses": len(addresses.Addresses), "NAT gateways": len(nats.NatGateways),
		"internet gateways": len(gateways.InternetGateways),
		"key pairs":         len(keys.KeyPairs), "instances": len(instances.Reservations)}
	if maps.DeleteFunc(left, func(_ string, n int) bool { return n == 0 }); len(left) > 0 {
		return fmt.Sprint(left)
	}
	return ""
}
