// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// In the subnets of another team runs a platform of eight components with a database and a cache, whose addresses reach the pods. A
// second look writes nothing, and it goes with everything but the final snapshot of the database.
func TestGallery_OfEightComponentsRunsWithADatabaseAndACache(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=team-*,gallery-staging")
	c := b.Capability("examples/gallery.yaml")
	b.inNetworkOfAnotherTeam(c)
	team := provider("team")
	team.Namespace = c.Namespace
	b.Create(team)
	b.Ready(team)
	b.Create(c)
	b.Running(c)

	shown := b.exportsOf(c)
	for component, names := range map[string][]string{"web": {"DATABASE_HOST", "DATABASE_PORT", "DATABASE_SECRET_ARN", "CACHE_HOST",
		"CACHE_PORT"},
		"search": {"DATABASE_HOST", "DATABASE_PORT", "DATABASE_SECRET_ARN"}, "thumbnails": nil} {
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace,
			Name: strings.TrimSuffix(workload(c, component).Role, "role") + "config"}}
		if err := b.Get(settings); err != nil {
			t.Fatal(err)
		}
		for name, want := range shown {
			if !slices.Contains(names, name) {
				want = ""
			}
			if got := settings.Data[name]; got != want || shown[name] == "" {
				t.Errorf("%s of %s is %q, want %q", name, component, got, want)
			}
		}
	}
	if len(c.Status.Components) != 8 || len(capability.Workloads(c)) != 8 {
		t.Errorf("components %+v", c.Status.Components)
	}
	b.Shows(c, nexusv1.ConditionComponentsReady, metav1.ConditionTrue, "Ready")

	b.Quiet()
	calls, kube := b.Mark()
	b.Passed("nexusaicapability", "rdsinstance")
	if writes := b.World.AWS().Since(calls).Writes(); writes.Count() > 0 {
		t.Errorf("a second look writes to AWS:\n%s", writes)
	}
	for _, w := range b.KubeWrites(kube) {
		t.Errorf("a second look writes to Kubernetes: %s", w)
	}

	b.Remove(c)
	b.nothingLeft(c.Namespace)
	for kind, left := range b.Inventory() {
		for _, name := range left {
			if strings.Contains(name, "gallery-staging") && kind != "rds/snapshot" {
				t.Errorf("%s %s is left", kind, name)
			}
		}
	}
}

// exportsOf returns what the objects of a capability's resources show for the variables that these export.
func (b *bed) exportsOf(c *nexusv1.NexusAICapability) map[string]string {
	b.Helper()
	out := map[string]string{}
	for _, r := range c.Spec.DataServices.Resources {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(r.Kind))
		if err := b.Client.Get(b.Ctx(), client.ObjectKey{Namespace: c.Namespace, Name: c.Namespace + "-" + r.Name}, o); err != nil {
			b.Fatal(err)
		}
		for variable, value := range r.Exports {
			shown, _, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(string(value), ".")...)
			if err != nil || shown == nil {
				b.Fatalf("%s %s shows no %s: %v", r.Kind, r.Name, value, err)
			}
			out[variable] = fmt.Sprint(shown)
		}
	}
	return out
}

// inNetworkOfAnotherTeam makes the subnets and the security group that the example names by identifiers, which belong to no object of the
// operator, and names them in the capability.
func (b *bed) inNetworkOfAnotherTeam(c *nexusv1.NexusAICapability) {
	b.Helper()
	network := ec2.NewFromConfig(b.admin(homeAccount))
	vpc, err := network.CreateVpc(b.Ctx(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.77.0.0/16")})
	if err != nil {
		b.Fatal(err)
	}
	var replace []string
	for zone, of := range map[string]struct{ id, block string }{"a": {"subnet-0a0a0a0a0a0a0a0a0", "10.77.1.0/24"},
		"b": {"subnet-0b0b0b0b0b0b0b0b0", "10.77.2.0/24"}} {
		made, err := network.CreateSubnet(b.Ctx(),
			&ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: &of.block, AvailabilityZone: aws.String("ap-southeast-1" + zone)})
		if err != nil {
			b.Fatal(err)
		}
		replace = append(replace, of.id, *made.Subnet.SubnetId)
	}
	group, err := network.CreateSecurityGroup(b.Ctx(),
		&ec2.CreateSecurityGroupInput{VpcId: vpc.Vpc.VpcId, GroupName: aws.String("databases"), Description: aws.String("databases")})
	if err != nil {
		b.Fatal(err)
	}
	made := strings.NewReplacer(append(replace, "sg-0c0c0c0c0c0c0c0c0", *group.GroupId)...)
	for i := range c.Spec.DataServices.Resources {
		if spec := c.Spec.DataServices.Resources[i].Spec; spec != nil {
			spec.Raw = []byte(made.Replace(string(spec.Raw)))
		}
	}
}
