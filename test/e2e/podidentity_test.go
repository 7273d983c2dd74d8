// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/testkit/ekswebhook"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const eksCluster = "production"

func (b *bed) makeEKSCluster() {
	b.Helper()
	_, err := eks.NewFromConfig(b.admin(homeAccount)).CreateCluster(b.Ctx(),
		&eks.CreateClusterInput{Name: aws.String(eksCluster), RoleArn: aws.String("arn:aws:iam::123456789012:role/eks"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{"subnet-1", "subnet-2"}}})
	if err != nil {
		b.Fatal(err)
	}
}

// runAgent installs the EKS Pod Identity Agent on the nodes with these labels.
func (b *bed) runAgent(nodes map[string]string) {
	b.Helper()
	labels := map[string]string{"app": "eks-pod-identity-agent"}
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "eks-pod-identity-agent"}, Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{NodeSelector: nodes,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, // as the add-on of EKS
			Containers:  []corev1.Container{{Name: "agent", Image: "agent:1"}}}}}}
	err := b.Client.Create(b.Ctx(), d)
	if apierrors.IsAlreadyExists(err) {
		b.Edit(d, func() { d.Spec.Template.Spec.NodeSelector = nodes })
		return
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.Client.Delete(b.Ctx(), d) })
}

// trusted says which ways to credentials a role of the workloads trusts in AWS.
func (b *bed) trusted(role string) string {
	b.Helper()
	out, err := iam.NewFromConfig(b.admin(homeAccount)).GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: &role})
	if err != nil {
		b.Fatal(err)
	}
	var ways []string
	for _, way := range []string{"sts.amazonaws.com", "pods.eks.amazonaws.com"} {
		if strings.Contains(*out.Role.AssumeRolePolicyDocument, way) {
			ways = append(ways, way)
		}
	}
	return strings.Join(ways, " ")
}

// associations returns the associations of EKS, as CLUSTER/NAMESPACE/SERVICEACCOUNT.
func (b *bed) associations() []string {
	b.Helper()
	found, err := b.World.AWS().Inventory(b.Ctx())
	if err != nil {
		b.Fatal(err)
	}
	return found["eks/pod-identity-association"]
}

// handedOver waits until each role trusts one way only, and the associations are as wanted.
func (b *bed) handedOver(c *nexusv1.NexusAICapability, way string, associations ...string) {
	b.Helper()
	b.Eventually(60*time.Second, "the roles to trust "+way+" alone", func() error {
		for _, w := range capability.Workloads(c) {
			if got := b.trusted(w.Role); got != way {
				return fmt.Errorf("%s of %s trusts %s", w.Role, w.Component, got)
			}
		}
		if got := b.associations(); !slices.Equal(got, associations) {
			return fmt.Errorf("associations %v", got)
		}
		return nil
	})
}

func TestPodIdentity_ALifeOfACapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	ekswebhook.Start(t, b.World, eksCluster)
	b.deleteOIDCProvider(homeAccount) // EKS Pod Identity needs none
	c := b.small("pods")
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityPodIdentity}
	b.Create(c)
	b.contains(b.Shows(c, nexusv1.ConditionIdentityReady, metav1.ConditionFalse, "PodIdentityAgentMissing"), "eks-pod-identity-agent",
		"aws eks create-addon --cluster-name "+eksCluster)
	b.Shows(c, nexusv1.ConditionBackendReady, metav1.ConditionTrue, "Ready") // the workloads do not wait for it
	b.runAgent(map[string]string{"no": "node"})
	b.Eventually(30*time.Second, "the DaemonSet to be seen", func() error {
		if k, err := b.Condition(c, nexusv1.ConditionIdentityReady); err != nil || !strings.Contains(k.Message, "has no ready pods") {
			return fmt.Errorf("%+v %v", k, err)
		}
		return nil
	})
	b.runAgent(nil)
	b.Running(c)
	b.Shows(c, nexusv1.ConditionCredentialsInPods, metav1.ConditionTrue, "Ready")
	if s := c.Status.Identity; s == nil || s.Mode != nexusv1.IdentityPodIdentity {
		t.Errorf("%+v", s)
	}
	const association = eksCluster + "/pods-dev/pods-dev-app-sa"
	b.handedOver(c, "pods.eks.amazonaws.com", association)
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "pods-dev-app-sa"}}
	if err := b.Get(sa); err != nil || sa.Annotations["eks.amazonaws.com/role-arn"] != "" {
		t.Errorf("%v %v", sa.Annotations, err)
	}

	// To IRSA and back.
	b.createOIDCProvider(homeAccount, "sts.amazonaws.com")
	b.Edit(c, func() { c.Spec.Identity.Mode = nexusv1.IdentityIRSA })
	b.handedOver(c, "sts.amazonaws.com")
	b.Running(c)
	b.Edit(c, func() { c.Spec.Identity.Mode = nexusv1.IdentityAuto })
	b.handedOver(c, "pods.eks.amazonaws.com", association)
	b.Running(c)
	if s := c.Status.Identity; s == nil || *s != (nexusv1.IdentityStatus{Mode: nexusv1.IdentityPodIdentity, Requested: nexusv1.IdentityAuto}) {
		t.Errorf("%+v", s)
	}
	b.Remove(c)
	if left := b.Inventory(); len(left) != 1 || len(left["eks/cluster"]) != 1 { // an inventory has the associations too
		t.Errorf("left behind beside the cluster: %v", left)
	}
}

// Components with different access have different roles, all of which are handed over, each with its ServiceAccount: pods of every
// component have credentials in the new way before any role stops trusting the old one.
func TestPodIdentity_HandsOverTheRoleOfEachAccess(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	ekswebhook.Start(t, b.World, eksCluster)
	b.runAgent(nil)
	c := b.small("several")
	c.Spec.DataServices = &nexusv1.DataServicesSpec{Queues: []nexusv1.QueueSpec{{Name: "jobs"}, {Name: "mails"}}}
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityIRSA}
	of := func(name string, access ...nexusv1.AccessName) nexusv1.NamedComponentSpec {
		return nexusv1.NamedComponentSpec{Name: name, Type: nexusv1.ComponentWorker,
			ComponentSpec: nexusv1.ComponentSpec{Image: c.Spec.Backend.Image, Replicas: new(int32(1)), Access: &access}}
	}
	c.Spec.Components = []nexusv1.NamedComponentSpec{of("worker", "jobs"), of("mailer", "mails"), of("both", "jobs")}
	b.Create(c)
	b.Running(c)
	b.handedOver(c, "sts.amazonaws.com")
	var associations []string
	for _, w := range capability.Workloads(c) {
		if a := eksCluster + "/" + c.Namespace + "/" + w.ServiceAccount; !slices.Contains(associations, a) {
			associations = append(associations, a)
		}
	}
	if slices.Sort(associations); len(associations) != 3 {
		t.Fatalf("associations %v, want one for everything, one for jobs and one for mails", associations)
	}
	for _, mode := range []nexusv1.IdentityMode{nexusv1.IdentityPodIdentity, nexusv1.IdentityIRSA} {
		b.Edit(c, func() { c.Spec.Identity.Mode = mode })
		if mode == nexusv1.IdentityPodIdentity {
			b.handedOver(c, "pods.eks.amazonaws.com", associations...)
		} else {
			b.handedOver(c, "sts.amazonaws.com")
		}
		b.Running(c)
		b.Shows(c, nexusv1.ConditionCredentialsInPods, metav1.ConditionTrue, "Ready")
	}
	b.Remove(c)
	if left := b.Inventory(); len(left) != 1 || len(left["eks/cluster"]) != 1 {
		t.Errorf("left behind beside the cluster: %v", left)
	}
}

// onAutoMode labels all nodes as those of EKS Auto Mode until the test ends.
func (b *bed) onAutoMode() {
	b.Helper()
	nodes := &corev1.NodeList{}
	if err := b.Client.List(b.Ctx(), nodes); err != nil {
		b.Fatal(err)
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		before := n.Labels[computeType]
		label := func(value string) {
			was := n.DeepCopy()
			n.Labels[computeType] = value
			if err := b.Client.Patch(context.WithoutCancel(b.Ctx()), n, client.MergeFrom(was)); err != nil {
				b.Error(err)
			}
		}
		label("auto")
		b.Cleanup(func() { label(before) })
	}
}

const computeType = "eks.amazonaws.com/compute-type"

// Nodes of EKS Auto Mode have the agent without a DaemonSet.
func TestPodIdentity_OnAutoModeNeedsNoAgent(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	b.onAutoMode()
	ekswebhook.Start(t, b.World, eksCluster)
	b.deleteOIDCProvider(homeAccount)
	c := b.small("auto")
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityAuto}
	b.Create(c)
	b.Running(c)
	b.Shows(c, nexusv1.ConditionCredentialsInPods, metav1.ConditionTrue, "Ready")
	if s := c.Status.Identity; s == nil || s.Mode != nexusv1.IdentityPodIdentity {
		t.Errorf("%+v", s)
	}
	b.Remove(c)
}

func TestPodIdentity_WithoutTheNameOfTheClusterIsRefused(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("nameless")
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityPodIdentity}
	b.Create(c)
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "NotPermitted"), "spec.identity.mode", "--eks-cluster-name")
	if err := b.Get(&v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "nameless-dev-app-role", Namespace: c.Namespace}}); err == nil {
		t.Error("a role was made all the same")
	}
	b.Edit(c, func() { c.Spec.Identity.Mode = nexusv1.IdentityAuto })
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}
