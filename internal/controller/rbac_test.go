// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

const (
	rbacDir   = "../../config/rbac"
	rightsDoc = "../../docs/rbac.md"
)

// right is one verb on one resource, which may be a subresource or, without a group, a path.
type right struct{ group, resource, verb string }

func (r right) String() string { return r.verb + " " + r.resource }

// roles reads the rules of every role of config/rbac by name.
func roles(t *testing.T) map[string]*rbacv1.ClusterRole {
	t.Helper()
	objects, err := world.ReadManifests(rbacDir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*rbacv1.ClusterRole{}
	for _, o := range objects {
		if !strings.HasSuffix(o.GetKind(), "Role") {
			continue
		}
		r := &rbacv1.ClusterRole{} // a Role has nothing that this lacks
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, r, true); err != nil {
			t.Fatalf("%s: %v", o.GetName(), err)
		}
		out[r.Name] = r
	}
	if len(out) != 15 {
		t.Fatalf("%d roles: %v", len(out), slices.Sorted(maps.Keys(out)))
	}
	return out
}

func rightsOf(roles ...*rbacv1.ClusterRole) map[right]bool {
	out := map[right]bool{}
	for _, role := range roles {
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				for _, url := range rule.NonResourceURLs {
					out[right{"", url, verb}] = true
				}
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						out[right{group, resource, verb}] = true
					}
				}
			}
		}
	}
	return out
}

// operators are the ClusterRoles that are bound to the operator: its own, and one for each policy engine.
var operators = []string{"nexus-operator", "nexus-operator-kubearmor", "nexus-operator-kyverno", "nexus-operator-istio",
	"nexus-operator-cilium", "nexus-operator-eksautomode"}

// operatorsRights returns the rights of the ClusterRoles that are bound to the operator.
func operatorsRights(all map[string]*rbacv1.ClusterRole) map[right]bool {
	out := map[right]bool{}
	for _, name := range operators {
		maps.Copy(out, rightsOf(all[name]))
	}
	return out
}

// resourceOf returns the resource of a kind.
func resourceOf(gvk schema.GroupVersionKind) string {
	if name := strings.ToLower(gvk.Kind); strings.HasSuffix(name, "ey") || strings.HasSuffix(name, "ay") {
		return name + "s" // the guess turns every y into ies
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	return resource.Resource
}

func TestTheOperatorsRightsAreNamedOneByOneAndLeadToNoOthers(t *testing.T) {
	all := roles(t)
	for name, role := range all {
		for r := range rightsOf(role) {
			if strings.Contains(r.group+r.resource+r.verb, "*") {
				t.Errorf("%s: a wildcard: %s in %q", name, r, r.group)
			}
		}
	}
	beyond := map[string]bool{
		"secrets": true, "users": true, "groups": true, "serviceaccounts/token": true, "certificatesigningrequests": true,
		"persistentvolumes": true,
	}
	onlyRead := map[string]bool{"nodes": true, "mutatingwebhookconfigurations": true, "validatingwebhookconfigurations": true}
	for r := range operatorsRights(all) {
		if onlyRead[r.resource] && r.verb != "get" && r.verb != "list" {
			t.Errorf("the operator may %s", r)
		}
		if beyond[r.resource] || r.group == rbacv1.GroupName || strings.HasPrefix(r.resource, "pods/") && r.resource != "pods/eviction" ||
			slices.Contains([]string{"escalate", "bind", "impersonate", "approve", "sign"}, r.verb) {
			t.Errorf("the operator may %s", r)
		}
		if r.verb == "update" && !strings.HasSuffix(r.resource, "/finalizers") || r.verb == "deletecollection" {
			t.Errorf("the operator may %s, which no request of it does", r)
		}
	}
	for _, name := range append([]string{"nexus-operator-secrets", "nexus-operator-leader-election", "nexus-operator-signing-key"},
		operators...) {
		for label := range all[name].Labels {
			if strings.HasPrefix(label, "rbac.authorization.k8s.io/") {
				t.Errorf("%s is part of another role by label %s", name, label)
			}
		}
	}
}

func TestWhateverTheOperatorMakesItMayAlsoReadHealAndRemove(t *testing.T) {
	extent.Full(t)
	granted := operatorsRights(roles(t))
	var made []schema.GroupVersionKind
	for _, stage := range capability.DeletionOrder {
		made = append(made, stage.Kinds...)
	}
	for _, e := range catalog.Engines() {
		made = append(made, e.Makes()...)
	}
	for _, kind := range []string{"NimbusPolicy", "ClusterNimbusPolicy"} {
		made = append(made, schema.GroupVersionKind{Group: "intent.security.nimbus.com", Kind: kind})
	}
	for _, gvk := range made {
		for _, verb := range []string{"get", "list", "watch", "create", "patch", "delete"} {
			if r := (right{gvk.Group, resourceOf(gvk), verb}); !granted[r] {
				t.Errorf("the operator makes %s and may not %s", gvk.Kind, r)
			}
		}
	}
	// An object that people create, such as a VPC, gets a finalizer and a status; the operator makes and deletes none.
	for _, e := range catalog.Kinds() {
		resource := resourceOf(schema.GroupVersionKind{Group: "aws-infra-operator.runner.codes", Kind: e.Name()})
		for _, r := range []right{{v1alpha1.GroupVersion.Group, resource, "list"}, {v1alpha1.GroupVersion.Group, resource, "watch"},
			{v1alpha1.GroupVersion.Group, resource, "patch"}, {v1alpha1.GroupVersion.Group, resource + "/status", "patch"}} {
			if !granted[r] {
				t.Errorf("the operator reconciles %s and may not %s", e.Name(), r)
			}
		}
	}
	for _, e := range catalog.Engines() {
		for _, gvk := range e.Requires() {
			if r := (right{gvk.Group, resourceOf(gvk), "watch"}); !granted[r] {
				t.Errorf("%s requires %s and the operator may not %s", e.Name(), gvk.Kind, r)
			}
		}
	}
}

// writers says who may write the objects of each of our kinds: edit, the operator's admin, or no one but the operator. Those of other AWS
// resources are written by edit.
var writers = map[string]string{
	"nexuscapabilities": "edit", "planrequests": "edit", "securityintentbindings": "edit",
	"awsproviders": "admin", "securityintents": "admin", "clustersecurityintentbindings": "admin",
	"nimbuspolicies": "", "clusternimbuspolicies": "",
}

func TestRoles_ReadersWritersAndStatusOfEveryKind(t *testing.T) {
	definitions, err := world.ReadManifests("../../config/crd/bases")
	if err != nil {
		t.Fatal(err)
	}
	all := roles(t)
	granted, view := operatorsRights(all), rightsOf(all["nexus-operator-view"])
	edit, admin := rightsOf(all["nexus-operator-edit"]), rightsOf(all["nexus-operator-admin"])
	for _, u := range definitions {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
			t.Fatal(err)
		}
		group, resource := d.Spec.Group, d.Spec.Names.Plural
		who, known := writers[resource]
		if !known && group == v1alpha1.GroupName {
			who = "edit"
		} else if !known {
			t.Errorf("%s: who may write it?", resource)
		}
		for _, verb := range []string{"get", "list", "watch"} {
			r := right{group, resource, verb}
			if !view[r] || !admin[r] || verb != "get" && !granted[r] {
				t.Errorf("%s: view %v, admin %v, the operator %v", r, view[r], admin[r], granted[r])
			}
		}
		for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
			r := right{group, resource, verb}
			if view[r] || edit[r] != (who == "edit") || admin[r] != (who != "") {
				t.Errorf("%s: view %v, edit %v, admin %v; its writer is %q", r, view[r], edit[r], admin[r], who)
			}
		}
		if !granted[right{group, resource + "/status", "patch"}] {
			t.Errorf("the operator may not write the status of %s", resource)
		}
	}
	for r := range maps.Keys(edit) {
		if strings.Contains(r.resource, "/") || !admin[r] {
			t.Errorf("edit has %s, admin %v", r, admin[r])
		}
	}
}

func TestPeopleGetWhatTheirRolesInANamespaceMean(t *testing.T) {
	extent.Full(t)
	h := &home{T: t, w: world.Shared(t)}
	h.connect()
	if _, err := operator.Config(h.w); err != nil { // which installs every role
		t.Fatal(err)
	}
	ns := h.namespace(nil)
	c, err := kubernetes.NewForConfig(h.w.Config())
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"view", "edit", "admin", "nexus-operator-admin"} {
		h.make(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: role + "-" + ns}},
		})
	}
	may := func(user string, r right, in string) bool {
		t.Helper()
		answer, err := c.AuthorizationV1().SubjectAccessReviews().Create(h.ctx(),
			&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user + "-" + ns, ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: in, Group: r.group, Resource: r.resource,
					Verb: r.verb},
			}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status.Allowed
	}
	capabilities, providers := right{"nexus.ai", "nexuscapabilities", "create"},
		right{"aws-infra-operator.runner.codes", "awsproviders", "create"}
	bindings, intents := right{"intent.security.nimbus.com", "securityintentbindings", "delete"},
		right{"intent.security.nimbus.com", "securityintents", "create"}
	reading := right{"nexus.ai", "nexuscapabilities", "get"}
	// Kubernetes' own roles learn of ours by a controller.
	h.eventually("Kubernetes' own roles to have ours", func() error {
		if !may("admin", capabilities, ns) || !may("view", reading, ns) {
			return os.ErrPermission
		}
		return nil
	})
	for user, want := range map[string][]bool{
		"view": {true, false, false, false, false}, "edit": {true, true, true, false, false},
		"admin": {true, true, true, false, false}, "nexus-operator-admin": {true, true, true, true, false},
	} {
		var got, elsewhere []bool
		for _, r := range []right{reading, capabilities, bindings, providers} {
			got = append(got, may(user, r, ns))
			elsewhere = append(elsewhere, may(user, r, "default"))
		}
		if got = append(got, may(user, intents, "")); !slices.Equal(got, want) {
			t.Errorf("%s: reading, capabilities, bindings, providers, intents: %v, want %v", user, got, want)
		}
		if slices.Contains(elsewhere, true) {
			t.Errorf("%s reaches another namespace: %v", user, elsewhere)
		}
	}
}

// seldom reads the rights that docs/rbac.md says need not be seen in a life.
func seldom(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(rightsDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n## Granted, and not seen every time\n")
	if !ok {
		t.Fatal("docs/rbac.md has no table of what is granted and not seen every time")
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(rest, -1) {
		for _, resource := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[2], -1) {
			names := []string{resource[1]}
			if resource[1] == listOfResources {
				names = declarable(t)
			}
			for _, name := range names {
				out = append(out, m[1]+" "+name)
			}
		}
	}
	return out
}

// listOfResources has a line for each kind that capabilities declare in dataServices.resources. In docs/rbac.md it stands for them.
const listOfResources = "internal/capability/parts/resources/kinds.txt"

// declarable returns the plurals of the kinds in listOfResources.
func declarable(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../" + listOfResources)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		kind, _, _ := strings.Cut(line, " ")
		out = append(out, resourceOf(v1alpha1.GroupVersion.WithKind(kind)))
	}
	return out
}

// unused compares the granted rights with the used ones, both ways.
func unused(t *testing.T, granted map[right]bool, seen map[right]int, judged func(right) bool) {
	t.Helper()
	excused, known := seldom(t), map[string]bool{}
	for r := range granted {
		known[r.String()] = true
	}
	for _, name := range excused {
		if !known[name] {
			t.Errorf("docs/rbac.md explains %q, which is not granted", name)
		}
	}
	order := func(a, b right) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.verb, b.verb))
	}
	for _, r := range slices.SortedFunc(maps.Keys(granted), order) {
		switch {
		case seen[r] > 0 || !judged(r):
		case slices.Contains(excused, r.String()):
			t.Logf("granted and not seen this time: %s (%s)", r, r.group)
		default:
			t.Errorf("granted and never used: %s (%s): take it away, or say in docs/rbac.md what it is for", r, r.group)
		}
	}
}
