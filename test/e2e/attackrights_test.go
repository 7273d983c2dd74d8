// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apitypes "k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// attempt is a request to the API server that one kind of user may not make: VERB APIVERSION/KIND NAMESPACE/NAME, with the subresource
// behind the kind. OWN and OTHER are the namespace of the user and another one.
type attempt struct{ user, request string }

const (
	ourAWS     = "aws-infra-operator.runner.codes/v1alpha1/"
	ourIntents = "intent.security.nimbus.com/v1alpha1/"
)

// attempts are beyond the rights of a tenant, of one with Kubernetes' admin, of a reader, and of who may only request plans.
var attempts = []attempt{
	{"edit", "patch " + ourAWS + "AWSProvider OWN/aws"},
	{"edit", "delete " + ourAWS + "AWSProvider OWN/aws"},
	{"edit", "clear " + ourAWS + "AWSProvider OWN/"},
	{"edit", "patch " + ourAWS + "AWSProvider/status OWN/aws"},
	{"edit", "patch " + ourIntents + "NimbusPolicy OWN/x"},
	{"edit", "delete " + ourIntents + "NimbusPolicy OWN/x"},
	{"edit", "patch " + ourIntents + "SecurityIntent /dns"},
	{"edit", "delete " + ourIntents + "ClusterSecurityIntentBinding /x"},
	{"edit", "get v1/Secret nexus-system/nexus-operator-signing-key"},
	{"edit", "create v1/Secret nexus-system/nexus-operator-signing-key"},
	{"edit", "patch v1/Secret nexus-system/nexus-operator-signing-key"},
	{"edit", "create v1/ConfigMap nexus-system/x"},
	{"edit", "create coordination.k8s.io/v1/Lease nexus-system/nexus-operator"},
	{"edit", "delete coordination.k8s.io/v1/Lease nexus-system/nexus-operator"},
	{"edit", "create v1/ServiceAccount/token nexus-system/nexus-operator"},
	{"edit", "patch v1/ServiceAccount nexus-system/nexus-operator"},
	{"edit", "create v1/Pod nexus-system/x"},
	{"edit", "create v1/Event nexus-system/x"},
	{"edit", "patch v1/Namespace /OWN"},
	{"edit", "create v1/Namespace /x"},
	{"edit", "create rbac.authorization.k8s.io/v1/RoleBinding OWN/x"},
	{"edit", "create admissionregistration.k8s.io/v1/MutatingWebhookConfiguration /x"},
	{"edit", "delete admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy /nexus-operator"},
	{"edit", "delete admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding /nexus-operator"},
	{"edit", "patch apiextensions.k8s.io/v1/CustomResourceDefinition /s3buckets." + v1alpha1.GroupName},
	{"edit", "get v1/Secret OTHER/token"},
	{"edit", "get " + ourAWS + "S3Bucket OTHER/x"},
	{"edit", "get nexus.ai/v1/PlanRequest OTHER/x"},
	{"edit", "delete nexus.ai/v1/NexusAICapability OTHER/x"},
	{"edit", "patch apps/v1/Deployment OTHER/x"},
	{"admin", "create " + ourAWS + "AWSProvider OWN/x"},
	{"admin", "patch " + ourAWS + "S3Bucket/status OWN/x"},
	{"admin", "grant nexus-operator-admin OWN/x"},
	{"admin", "grant nexus-operator OWN/x"},
	{"view", "create " + ourAWS + "S3Bucket OWN/x"},
	{"view", "create nexus.ai/v1/NexusAICapability OWN/x"},
	{"view", "create nexus.ai/v1/PlanRequest OWN/x"},
	{"view", "patch " + ourAWS + "AWSProvider OWN/aws"},
	{"view", "delete " + ourIntents + "SecurityIntentBinding OWN/x"},
	{"view", "get v1/Secret OWN/token"},
	{"nexus-operator-plan", "create " + ourAWS + "S3Bucket OWN/x"},
	{"nexus-operator-plan", "get " + ourAWS + "S3Bucket OWN/x"},
	{"nexus-operator-plan", "get " + ourAWS + "AWSProvider OWN/aws"},
	{"nexus-operator-plan", "get v1/Secret OWN/token"},
	{"nexus-operator-plan", "patch nexus.ai/v1/PlanRequest OWN/x"},
	{"nexus-operator-plan", "patch nexus.ai/v1/PlanRequest/status OWN/x"},
	{"nexus-operator-plan", "create nexus.ai/v1/PlanRequest OTHER/x"},
	{"nexus-operator-plan", "get nexus.ai/v1/PlanRequest OTHER/x"},
}

// make sends the request, and returns its error.
func (a attempt) make(t *testing.T, c client.Client, own, other string) error {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("OWN", own, "OTHER", other).Replace(a.request))
	verb, what := words[0], words[1]
	namespace, name, _ := strings.Cut(words[2], "/")
	parts, sub := strings.Split(what, "/"), ""
	if last := parts[len(parts)-1]; last == strings.ToLower(last) && len(parts) > 2 {
		parts, sub = parts[:len(parts)-1], last
	}
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace}}}
	if verb == "grant" {
		o.SetAPIVersion("rbac.authorization.k8s.io/v1")
		o.SetKind("RoleBinding")
		o.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": what}
		return c.Create(t.Context(), o)
	}
	o.SetAPIVersion(strings.Join(parts[:len(parts)-1], "/"))
	o.SetKind(parts[len(parts)-1])
	patch := client.RawPatch(apitypes.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`))
	switch {
	case verb == "get":
		return c.Get(t.Context(), client.ObjectKeyFromObject(o), o)
	case verb == "delete":
		return c.Delete(t.Context(), o)
	case verb == "clear":
		return c.DeleteAllOf(t.Context(), o, client.InNamespace(namespace))
	case verb == "create" && sub != "":
		return c.SubResource(sub).Create(t.Context(), o,
			&unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}})
	case verb == "create":
		return c.Create(t.Context(), o)
	case sub != "":
		return c.SubResource(sub).Patch(t.Context(), o, patch)
	default:
		return c.Patch(t.Context(), o, patch)
	}
}

func TestAttack_NobodyReachesBeyondTheirRights(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	other := b.MakeNamespace(b.Namespace + "-other")
	for _, a := range attempts {
		err := a.make(t, b.User(a.user+"-of-"+b.Namespace, a.user, b.Namespace), b.Namespace, other)
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %s: %v", a.user, a.request, err)
		}
	}
}

// More requests than a namespace has at a time are in another test.
func TestAttack_PlansOfOtherThingsAreRefused(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	planner, made := b.User("planner-of-"+b.Namespace, "nexus-operator-plan", b.Namespace), map[int]*unstructured.Unstructured{}
	for i, a := range attacksByOtherPlans {
		o := a.object(t, 800+i, b.Namespace, nil)
		if err := a.admission(a.make(t, planner, o)); err != nil {
			t.Errorf("%s: %v", a.wants, err)
		} else if len(a.refused) == 0 {
			made[i] = o
		}
	}
	b.refuses(attacksByOtherPlans, made)
}

// Fields that a tenant adds under the operator's field manager count as the tenant's.
func TestAttack_TheFieldManagerOfTheOperatorHidesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("forged")
	b.Create(c)
	b.Running(c)
	tenant := b.Tenant(c.Namespace)
	for _, o := range []*unstructured.Unstructured{
		child("apps/v1", "Deployment", c.Namespace, "forged-dev-backend"),
		child(strings.TrimSuffix(ourAWS, "/"), "IAMRole", c.Namespace, "forged-dev-app-role"),
	} {
		if err := tenant.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		field, value := []string{"spec", "template", "spec", "hostNetwork"}, any(true)
		if o.GetKind() == "IAMRole" {
			field, value = []string{"spec", "managedPolicyArns"}, []any{"arn:aws:iam::aws:policy/AdministratorAccess"}
		}
		if err := unstructured.SetNestedField(o.Object, value, field...); err != nil {
			t.Fatal(err)
		}
		o.SetManagedFields(nil)
		delete(o.Object, "status")
		o.SetResourceVersion("")
		if err := tenant.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("nexus-operator"),
			client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
		b.Eventually(30*time.Second, "the field of "+o.GetKind()+" to be taken out", func() error {
			if err := b.Get(o); err != nil {
				return err
			}
			if v, found, _ := unstructured.NestedFieldNoCopy(o.Object, field...); found {
				return fmt.Errorf("%v", v)
			}
			return nil
		})
	}
	if attached := b.World.AWS().Calls().Match("iam", "AttachRolePolicy", "*"); len(attached) > 0 {
		t.Errorf("attached: %s", attached)
	}
	b.Remove(c)
}

func child(version, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// Rights in two namespaces do not make them one.
func TestAttack_TwoNamespacesOfATenantStayTwo(t *testing.T) {
	extent.Full(t)
	second := "team-second"
	b := newBed(t, "--ambient-namespaces=team-*")
	b.MakeNamespace(second)
	b.provider()
	p, o := provider("aws"), bucket("bucket-of-second")
	p.Namespace, o.Namespace = second, second
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: second, Name: "token"}, StringData: map[string]string{"value": "canary"}}
	b.Create(p, o, token)
	b.Ready(p, o)
	tenant := b.User("tenant-of-two", "edit", b.Namespace, second)
	mark, made := b.World.AWS().Mark(), map[int]*unstructured.Unstructured{}
	rows := attacksFromTwoNamespaces
	for i, a := range rows {
		rows[i].spec = strings.ReplaceAll(a.spec, "SECOND", second)
		made[i] = rows[i].object(t, 900+i, b.Namespace, nil)
		if err := rows[i].admission(rows[i].make(t, tenant, made[i])); err != nil {
			t.Errorf("%s: %v", a.wants, err)
		}
	}
	b.refuses(rows, made)
	if w := awsWrites(b.World.AWS().Since(mark)); len(w) > 0 {
		t.Errorf("AWS was written to:\n%s", w)
	}
}
