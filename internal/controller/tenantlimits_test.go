// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// small is a capability without data services, in a namespace that may be that of its workloads.
func small(namespace, name, environment string) *nexusv1.NexusAICapability {
	c := example(namespace)
	c.Spec.CapabilityName, c.Spec.Environment, c.Spec.DataServices = name, environment, nil
	return c
}

// tenantOf makes a namespace and a user with Kubernetes' edit role in it.
func (h *home) tenantOf(namespace string) client.Client {
	h.Helper()
	h.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	return h.tenant(namespace)
}

// edit changes an object with the rights of a client.
func (h *home) edit(by client.Client, o client.Object, change func()) {
	h.Helper()
	h.eventually("the edit of "+o.GetName(), func() error {
		if err := by.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change()
		return by.Update(h.ctx(), o)
	})
}

func contains(t *testing.T, message string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("the message does not contain %q: %s", part, message)
		}
	}
}

// warned waits for a warning about an object.
func (h *home) warned(o client.Object, reason string) {
	h.Helper()
	h.eventually("the event "+reason, func() error {
		list := &eventsv1.EventList{}
		if err := errors.Join(h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o),
			h.c.List(h.ctx(), list, client.InNamespace(o.GetNamespace()))); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.UID == o.GetUID() && e.Type == "Warning" && e.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("not among %d events", len(list.Items))
	})
}

// Every capability could use the operator's identity, in any namespace and without a boundary.
func TestGeneratedProvider_NeedsTheAdministratorsConsent(t *testing.T) {
	h := startBare(t)
	tenant := h.tenantOf("rented-dev")
	mark := h.w.AWS().Mark()
	c := small("rented-dev", "rented", "dev")
	h.as(tenant, c)
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "rented-dev", Namespace: "rented-dev"}}
	contains(t, h.shows(p, "Stalled", "True", "AmbientNotAllowed"), "--capability-namespaces=rented-dev",
		"--default-permissions-boundary=<policy ARN>", "spec.providerRef")
	contains(t, h.shows(c, "Stalled", "True", "AmbientNotAllowed"), "--capability-namespaces=rented-dev")
	h.warned(p, "AmbientNotAllowed")
	h.warned(c, "AmbientNotAllowed")
	if calls := h.w.AWS().Since(mark); calls.Count() > 0 {
		t.Errorf("AWS was called:\n%s", calls)
	}
	h.remove(c)
	h.remove(p)

	h.stop()
	h = startBare(t, "--capability-namespaces=other,rent*")
	c = small("rented-dev", "rented", "dev")
	h.as(tenant, c)
	h.shows(c, "Ready", "True", "Ready")

	// After an administrator withdrew the namespace, deleting the capability still deletes everything in AWS.
	h.stop()
	h = startOn(t, "--capability-namespaces=other", "--check-interval=1s")
	contains(t, h.shows(p, "Stalled", "True", "AmbientNotAllowed"), "--capability-namespaces=other,rented-dev")
	h.remove(c)
	if left := h.left(); left != "" {
		t.Errorf("left in AWS: %s", left)
	}
}

const boundary = "arn:aws:iam::123456789012:policy/tenants"

// iam is a client of the account's administrator, who has made the boundary.
func (h *home) iam() *iam.Client {
	h.Helper()
	c := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(h.w.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`
	for _, name := range []string{"tenants", "everything"} {
		if _, err := c.CreatePolicy(h.ctx(), &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &document}); err != nil {
			h.Fatal(err)
		}
	}
	return c
}

// boundaryOf is the permissions boundary that a role has in AWS.
func (h *home) boundaryOf(c *iam.Client, role string) string {
	h.Helper()
	out, err := c.GetRole(h.ctx(), &iam.GetRoleInput{RoleName: &role})
	if err != nil {
		h.Fatal(err)
	}
	if out.Role.PermissionsBoundary == nil {
		return ""
	}
	return aws.ToString(out.Role.PermissionsBoundary.PermissionsBoundaryArn)
}

func TestGeneratedProvider_BoundsEveryRoleByTheDefault(t *testing.T) {
	extent.Full(t)
	for _, flags := range [][]string{nil, {"--capability-namespaces=*"}} {
		h := startBare(t, append(flags, "--default-permissions-boundary="+boundary)...)
		api := h.iam()
		namespace := fmt.Sprintf("bounded%d-dev", len(flags))
		name := strings.TrimSuffix(namespace, "-dev")
		tenant := h.tenantOf(namespace)
		c := small(namespace, name, "dev")
		c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{}, Glue: &nexusv1.GlueSpec{}}
		h.as(tenant, c)
		h.shows(c, "Ready", "True", "Ready")
		for _, role := range []string{"app-role", "glue-role"} {
			if got := h.boundaryOf(api, namespace+"-"+role); got != boundary {
				t.Errorf("%s-%s has the boundary %q", namespace, role, got)
			}
		}
		h.edit(tenant, c, func() {
			c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "arn:aws:iam::123456789012:policy/everything"}
		})
		contains(t, h.shows(c, "Stalled", "True", "NotPermitted"), "spec.identity.permissionsBoundaryARN", boundary)
		if got := h.boundaryOf(api, namespace+"-app-role"); got != boundary {
			t.Errorf("the role has the boundary %q", got)
		}
		h.remove(c)
		h.stop()
	}
}

// The operator deleted a boundary in AWS when a capability dropped the provider that required it.
func TestBoundaryInForce_SurvivesEveryEditOfATenant(t *testing.T) {
	const namespace = "fenced-dev"
	h := startBare(t, "--capability-namespaces="+namespace)
	api := h.iam()
	tenant := h.tenantOf(namespace)
	p, s, _ := keyed(namespace)
	p.Spec.PermissionsBoundaryARN = boundary
	h.create(s, p)
	c := small(namespace, "fenced", "dev")
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: p.Name}
	h.as(tenant, c)
	h.shows(c, "Ready", "True", "Ready")
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-app-role", Namespace: namespace}}
	mark := h.w.AWS().Mark()

	refused := func(remedy string, change func()) {
		t.Helper()
		h.edit(tenant, c, change)
		contains(t, h.shows(role, "Stalled", "True", "NotPermitted"), "spec.permissionsBoundary", boundary, remedy)
		contains(t, h.shows(c, "Stalled", "True", "NotPermitted"), boundary)
	}
	refused("aws iam delete-role-permissions-boundary --role-name "+role.Name, func() { c.Spec.ProviderRef = nil })
	h.warned(role, "NotPermitted")
	refused("spec.identity.permissionsBoundaryARN", func() {
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "arn:aws:iam::123456789012:policy/everything"}
	})
	if got := h.boundaryOf(api, role.Name); got != boundary {
		t.Errorf("the role has the boundary %q", got)
	}
	if writes := h.w.AWS().Since(mark).Match("iam", "*PermissionsBoundary", "*"); writes.Count() > 0 {
		t.Errorf("boundaries were written:\n%s", writes)
	}

	// Each remedy of the message helps: to declare the boundary, to name the provider, to remove it in AWS.
	h.edit(tenant, c, func() { c.Spec.Identity.PermissionsBoundaryARN = boundary })
	h.shows(c, "Ready", "True", "Ready")
	refused("spec.providerRef", func() { c.Spec.Identity = nil })
	h.edit(tenant, c, func() { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: p.Name} })
	h.shows(c, "Ready", "True", "Ready")
	refused("removed in AWS", func() { c.Spec.ProviderRef = nil })
	if _, err := api.DeleteRolePermissionsBoundary(h.ctx(), &iam.DeleteRolePermissionsBoundaryInput{RoleName: &role.Name}); err != nil {
		t.Fatal(err)
	}
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c, p, s)
}

// A capability that changes its mind about its provider, at any moment of the change before, ends as it is declared.
func TestProviderRef_GoesBackAndForth(t *testing.T) {
	extent.Full(t)
	const namespace = "undecided-dev"
	h := startBare(t, "--capability-namespaces="+namespace)
	tenant := h.tenantOf(namespace)
	p, s, _ := keyed(namespace)
	h.create(s, p)
	c := small(namespace, "undecided", "dev")
	h.as(tenant, c)
	h.shows(c, "Ready", "True", "Ready")
	for i := range 12 {
		h.edit(h.c, c, func() { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: p.Name} })
		if i%3 != 0 {
			h.shows(c, "Ready", "True", "Ready")
		}
		h.edit(h.c, c, func() { c.Spec.ProviderRef = nil })
		if i%3 != 1 {
			h.shows(c, "Ready", "True", "Ready")
		}
	}
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c, p, s)
}

// nothingMade checks that a namespace and a capability's children do not exist.
func (h *home) nothingMade(c *nexusv1.NexusAICapability, namespace string) {
	h.Helper()
	if _, err := h.object(corev1.SchemeGroupVersion.WithKind("Namespace"), "", namespace); !apierrors.IsNotFound(err) {
		h.Errorf("namespace %s: %v", namespace, err)
	}
	list := &v1alpha1.AWSProviderList{}
	if err := h.c.List(h.ctx(), list, client.InNamespace(c.Namespace)); err != nil || len(list.Items) > 0 {
		h.Errorf("%d providers (%v)", len(list.Items), err)
	}
}

// Everyone who could create a capability had any namespace created, such as istio-system.
func TestTenant_HasNoNamespaceCreatedByDefault(t *testing.T) {
	h := startBare(t)
	tenant := h.tenantOf("squatter")
	for _, n := range []struct {
		name, environment string
		says              []string
	}{
		{"squatter", "dev", []string{"--workload-namespaces=squatter-dev", "in a namespace squatter-dev instead"}},
		{"istio", "system", []string{"istio-system", "choose another capabilityName or environment"}},
		{"cert", "manager", []string{"cert-manager"}},
	} {
		c := small("squatter", n.name, n.environment)
		h.as(tenant, c)
		contains(t, h.shows(c, "Stalled", "True", "NotPermitted"), n.says...)
		h.shows(c, "NamespaceReady", "False", "NotPermitted")
		h.warned(c, "NotPermitted")
		h.nothingMade(c, n.name+"-"+n.environment)
		h.remove(c)
	}
}

func TestTenant_HasNoSystemNamespaceCreatedByAPattern(t *testing.T) {
	extent.Full(t)
	h := startBare(t, "--workload-namespaces=*", "--capability-namespaces=*")
	tenant := h.tenantOf("intruder")
	c := small("intruder", "gatekeeper", "system")
	h.as(tenant, c)
	contains(t, h.shows(c, "Stalled", "True", "NotPermitted"), "gatekeeper-system", "spec.capabilityName")
	h.nothingMade(c, "gatekeeper-system")
	h.remove(c)
}

func TestNamespaceCreatedBefore_StaysInUse(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := small("settler", "settler", "dev")
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	h.stop()
	h = startOn(t, "--capability-namespaces=settler")
	h.alter(c, func() { c.Spec.Backend.Image = "back:2" })
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c)
	h.gone(corev1.SchemeGroupVersion.WithKind("Namespace"), "", "settler-dev")
}

// Workloads escaped the quota of the namespace of their capability into a namespace made for them.
func TestWorkloadNamespaceQuota_HoldsAgainstATenant(t *testing.T) {
	extent.Full(t)
	h := startBare(t, "--capability-namespaces=*", "--workload-namespaces=roomy-*", "--workload-namespace-quota=pods=3,requests.cpu=8")
	tenant := h.tenantOf("roomy")
	c := small("roomy", "roomy", "dev")
	many := int32(24)
	c.Spec.Backend.Replicas = &many
	h.as(tenant, c)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "roomy-dev-quota", Namespace: "roomy-dev"}}
	h.eventually("the quota to be used up", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if used := quota.Status.Used.Pods(); used.Value() != 3 {
			return fmt.Errorf("%s pods are used", used)
		}
		return nil
	})
	pods := &corev1.PodList{}
	if err := h.c.List(h.ctx(), pods, client.InNamespace("roomy-dev")); err != nil || len(pods.Items) > 3 {
		t.Errorf("%d pods (%v)", len(pods.Items), err)
	}
	inside := h.tenant("roomy-dev")
	if err := inside.Get(h.ctx(), client.ObjectKeyFromObject(quota), quota); err != nil {
		t.Fatal(err)
	}
	quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("100")
	if err := inside.Update(h.ctx(), quota); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant of the namespace may edit its quota: %v", err)
	}
	h.alter(quota, func() { quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("100") })
	h.eventually("the quota to be restored", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if hard := quota.Spec.Hard.Pods(); hard.Value() != 3 {
			return fmt.Errorf("%s pods are allowed", hard)
		}
		return nil
	})
	was := quota.UID
	if err := h.c.Delete(h.ctx(), quota); err != nil {
		t.Fatal(err)
	}
	h.eventually("the quota to be created again", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(quota), quota); err != nil || quota.UID == was {
			return fmt.Errorf("%v, UID %s", err, quota.UID)
		}
		return nil
	})

	// Without the flag the quota goes.
	h.stop()
	h = startOn(t, "--capability-namespaces=*")
	h.gone(corev1.SchemeGroupVersion.WithKind("ResourceQuota"), "roomy-dev", quota.Name)
	// The ReplicaSet was refused pods, and waits before it tries again for as long as that has lasted. It looks at once after a pod is gone.
	if err := h.c.DeleteAllOf(h.ctx(), &corev1.Pod{}, client.InNamespace("roomy-dev")); err != nil {
		t.Fatal(err)
	}
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c)
}
