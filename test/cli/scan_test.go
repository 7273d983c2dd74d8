// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// scanned holds what the tests read of a scan.
type scanned struct {
	Server, Account, Region string
	Checks                  []struct{ Group, Title, Outcome, Evidence, Fix string }
	Summary                 struct{ Passed, Warnings, Failed, Skipped int }
}

// scan runs the verb and returns the outcomes of its checks by their titles.
func (x *tool) scan(args ...string) (map[string]string, scanned, answer) {
	x.Helper()
	var r scanned
	a := x.read(&r, append([]string{"scan"}, args...)...)
	out := map[string]string{}
	for _, c := range r.Checks {
		out[c.Title] = c.Outcome
	}
	return out, r, a
}

const (
	accepts  = "IAM accepts the tokens of the cluster's ServiceAccounts"
	injected = "pods are given the credentials of their ServiceAccount's role"
	room     = "a node has room for the operator"
	tagged   = "subnets of two zones are tagged for load balancers"
	serving  = "a load balancer controller serves Ingresses"
	install  = "you may install the operator"
)

func TestScan_SeesWhatIsMissingAndThenThere(t *testing.T) {
	x := newTool(t)
	got, r, a := x.scan()
	for title, want := range map[string]string{"AWS accepts your credentials": "PASS", "Kubernetes is of version 1.29 or later": "PASS",
		"the OIDC issuer of the cluster is known": "PASS",
		accepts: "PASS", injected: "WARN", "nodes are ready and take pods": "PASS", room: "PASS", tagged: "SKIP", serving: "WARN",
		install: "PASS",
		"policy engines for security intents are present": "WARN", "the sort of nodes is known": "PASS", "the cluster's DNS is located": "PASS",
		"NetworkPolicies are enforced": "PASS"} {
		if got[title] != want {
			t.Errorf("%s: %q, want %s", title, got[title], want)
		}
	}
	if a.code != 0 || r.Account != account || r.Summary.Failed != 0 || r.Summary.Warnings != 3 {
		t.Errorf("exit code %d, %+v", a.code, r)
	}
	x.installed(&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "pod-identity-webhook"}})
	selector, template := operatorPod()
	selector.MatchLabels, template.Labels = map[string]string{"a": "b"}, map[string]string{"a": "b"}
	x.installed(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alb",
		Labels: map[string]string{"app.kubernetes.io/name": "aws-load-balancer-controller"}},
		Spec: appsv1.DeploymentSpec{Selector: &selector, Template: template}})
	x.Eventually(30*time.Second, "the scan to see them", func() error {
		if got, r, _ := x.scan("--only", "identity,ingress"); got[injected] != "PASS" || got[serving] != "PASS" {
			return fmt.Errorf("%+v", r)
		}
		return nil
	})

	x.withoutProvider(world.DefaultIssuer)
	x.wants(x.run("", "scan"), 1, "FAIL identity "+accepts, "fix: nexusctl fix-irsa", "1 failed")
	x.wants(x.run("", "fix-irsa"), 0)
	x.wants(x.run("", "scan", "--only", "identity"), 0, "PASS identity "+accepts)
}

func TestScan_NamesTheRightsThatAreMissing(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.wants(x.as("stranger", "scan", "--only", "access"), 1, "you lack the rights to create clusterrolebindings.rbac.authorization.k8s.io",
		"patch namespaces")
	x.wants(x.as("stranger", "scan", "--only", "nodes"), 4, `cannot list resource "nodes"`)
	x.wants(x.runAs([]string{"KUBECONFIG=" + x.World.Kubeconfig()}, "", "scan"), 4, "SKIP aws", "PASS access", "SKIP identity "+accepts)
	x.wants(x.run("", "scan", "--only", "none"), 2, `"none" is none of aws, image, cluster`)
	x.wants(x.run("", "scan", "-o", "name"), 2, `"name" is none of`)
}

func TestScan_OfANodeWithoutRoom(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	nodes := &corev1.NodeList{}
	if err := x.Client.List(x.Ctx(), nodes); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		x.installed(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: n.Name}, Spec: corev1.PodSpec{NodeName: n.Name,
			Containers: []corev1.Container{{Name: "x", Image: "x", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(n.Status.Allocatable.Cpu().MilliValue()-50,
					resource.DecimalSI)}}}}}})
	}
	if got, r, a := x.scan("--only", "nodes"); a.code != 1 || got[room] != "FAIL" {
		t.Errorf("exit code %d, %+v", a.code, r)
	}
}

func TestScan_OfTheClustersSubnets(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	config := x.owner()
	network := ec2.NewFromConfig(config)
	vpc, err := network.CreateVpc(x.Ctx(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.9.0.0/16")})
	if err != nil {
		t.Fatal(err)
	}
	var subnets []string
	for zone, block := range map[string]string{"a": "10.9.0.0/24", "b": "10.9.1.0/24"} {
		s, err := network.CreateSubnet(x.Ctx(),
			&ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: &block, AvailabilityZone: aws.String("ap-southeast-1" + zone)})
		if err != nil {
			t.Fatal(err)
		}
		subnets = append(subnets, *s.Subnet.SubnetId)
	}
	t.Cleanup(func() {
		for _, id := range subnets {
			if _, err := network.DeleteSubnet(x.Ctx(), &ec2.DeleteSubnetInput{SubnetId: &id}); err != nil {
				t.Error(err)
			}
		}
		if _, err := network.DeleteVpc(x.Ctx(), &ec2.DeleteVpcInput{VpcId: vpc.Vpc.VpcId}); err != nil {
			t.Error(err)
		}
	})
	name := x.makeCluster(config, subnets, nil)
	if got, r, a := x.scan("--only", "network", "--cluster-name", name); a.code != 0 || got[tagged] != "WARN" {
		t.Errorf("without tags: exit code %d, %+v", a.code, r)
	}
	if _, err := network.CreateTags(x.Ctx(), &ec2.CreateTagsInput{Resources: subnets,
		Tags: []ec2types.Tag{{Key: aws.String("kubernetes.io/role/internal-elb"), Value: aws.String("1")}}}); err != nil {
		t.Fatal(err)
	}
	if got, r, a := x.scan("--only", "network", "--cluster-name", name); a.code != 0 || got[tagged] != "PASS" ||
		r.Checks[0].Evidence != *vpc.Vpc.VpcId+", internal: 2 zones" {
		t.Errorf("with tags: exit code %d, %+v", a.code, r)
	}
	if got, r, a := x.scan("--only", "network", "--cluster-name", "none"); a.code != 1 || got[tagged] != "FAIL" {
		t.Errorf("of no cluster: exit code %d, %+v", a.code, r)
	}
}

// owner has every right in the account.
func (x *tool) owner() aws.Config {
	return aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
}

// makeCluster creates a cluster of EKS, which ends with the test, and returns its name.
func (x *tool) makeCluster(config aws.Config, subnets []string, compute *ekstypes.ComputeConfigRequest) string {
	x.Helper()
	clusters, name := eks.NewFromConfig(config), strings.ToLower(x.Namespace)
	if _, err := clusters.CreateCluster(x.Ctx(),
		&eks.CreateClusterInput{Name: &name, RoleArn: aws.String("arn:aws:iam::" + account + ":role/cluster"), ComputeConfig: compute,
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: subnets}}); err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() {
		if _, err := clusters.DeleteCluster(x.Ctx(), &eks.DeleteClusterInput{Name: &name}); err != nil {
			x.Error(err)
		}
	})
	return name
}

// EKS says that Auto Mode is enabled, before a node does; its first node has a label.
func TestScan_TellsOfEKSAutoModeBeforeItsFirstNode(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	const sort = "the sort of nodes is known"
	name := x.makeCluster(x.owner(), nil, &ekstypes.ComputeConfigRequest{Enabled: aws.Bool(true)})
	evidence := func(args ...string) (seen, fix string) {
		t.Helper()
		_, r, _ := x.scan(args...)
		for _, c := range r.Checks {
			if c.Title == sort {
				seen = c.Evidence
			}
			if c.Title == serving {
				fix = c.Fix
			}
		}
		return seen, fix
	}
	if got, fix := evidence("--cluster-name", name); !strings.Contains(got, "0 nodes of EKS Auto Mode") ||
		!strings.Contains(got, "EKS Auto Mode is enabled and starts nodes as pods need them") ||
		!strings.Contains(fix, "create an IngressClass alb with controller eks.amazonaws.com/alb") {
		t.Errorf("before the first node: %q; %q", got, fix)
	}
	if got, fix := evidence("--cluster-name", "none"); strings.Contains(got, "is enabled") || strings.Contains(fix, "eks.amazonaws.com/alb") {
		t.Errorf("of no cluster: %q; %q", got, fix)
	}
	x.installed(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto-" + name,
		Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}})
	if got, _ := evidence("--cluster-name", "none"); !strings.Contains(got, "1 nodes of EKS Auto Mode") {
		t.Errorf("with its first node: %q", got)
	}
}
