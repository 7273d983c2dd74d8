// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// byHand changes a derived object as a user does.
func (b *bed) byHand(kind schema.GroupVersionKind, name string, change func(u *unstructured.Unstructured)) {
	b.Helper()
	u := b.there(kind, team, name)
	change(u)
	b.must(b.api.Store.Update(b.Context(), u, client.FieldOwner("kubectl-edit")))
}

func TestReconcile_RestoresWhatIsChangedByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   schema.GroupVersionKind
		object string
		edit   func(u *unstructured.Unstructured)
		path   string
	}{
		{"the selector of a NetworkPolicy", networkPolicy, "web-dnsmanipulation", func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedStringMap(u.Object, map[string]string{"app": "nothing"}, "spec", "podSelector", "matchLabels")
		}, "spec.podSelector"},
		{"the action of a KubeArmorPolicy", kubeArmorPolicy, "web-dnsmanipulation", func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "Allow", "spec", "action")
		}, "spec.action"},
		{"the rules of a policy", intentfacts.PolicyKinds[0], "web", func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(u.Object, []any{}, "spec", "rules")
		}, "spec.rules"},
		{"the label of the owner", networkPolicy, "web-dnsmanipulation", func(u *unstructured.Unstructured) { u.SetLabels(nil) }, "metadata.labels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := bindingTo("web", "dnsmanipulation")
			b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), definition(kubeArmorPolicy))
			b.passed(web)
			want := b.there(c.kind, team, c.object)
			b.byHand(c.kind, c.object, c.edit)
			b.api.Writes()
			b.passed(web)
			got := b.there(c.kind, team, c.object)
			if !slices.Equal(contentOf(t, want), contentOf(t, got)) {
				t.Errorf("%s\nwant\n%s", contentOf(t, got), contentOf(t, want))
			}
			b.expectEvent("Normal Drift", c.path, c.object, "as derived again")
			b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
			b.api.Writes()
			b.passed(web)
			b.writes()
		})
	}
}

// contentOf returns an object as lines, without the fields that the API server keeps.
func contentOf(t *testing.T, u *unstructured.Unstructured) []string {
	t.Helper()
	u = u.DeepCopy()
	for _, field := range []string{"resourceVersion", "managedFields", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	delete(u.Object, "status")
	text, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), ",")
}

func TestReconcile_CreatesADeletedObjectAgain(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.must(b.api.Store.Delete(t.Context(), &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "web-dnsmanipulation"}}))
	b.api.Writes()
	b.passed(web)
	b.writes("apply NetworkPolicy team/web-dnsmanipulation")
	b.there(networkPolicy, team, "web-dnsmanipulation")
}

// timesIn counts how often a list names the kind of an object.
func timesIn(kinds []string, o client.Object) (n int) {
	for _, k := range kinds {
		if k == fmt.Sprintf("%T", o) {
			n++
		}
	}
	return n
}

func TestReconcile_FollowsEnginesThatComeAndGo(t *testing.T) {
	web := bindingTo("web", "swdeploymenttools")
	crd := definition(kubeArmorPolicy)
	b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "EngineMissing")
	b.shows(web, "Enforced", "False", "NotEnforced", "swDeploymentTools")

	b.must(b.api.Store.Create(t.Context(), crd))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "Enforced", "")
	b.shows(web, "Enforced", "True", "Enforced")
	b.there(kubeArmorPolicy, team, "web-swdeploymenttools")
	if timesIn(b.watched, &kubeArmorObject{}) != 1 || timesIn(b.derived.indexed, &kubeArmorObject{}) != 1 {
		t.Errorf("watches %q, indexes %q", b.watched, b.derived.indexed)
	}

	b.must(b.api.Store.Delete(t.Context(), crd))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "EngineMissing")
	if timesIn(b.derived.removed, &kubeArmorObject{}) != 1 {
		t.Errorf("the watch of a kind that is gone stays: %q", b.derived.removed)
	}

	b.must(b.api.Store.Create(t.Context(), definition(kubeArmorPolicy)))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "Enforced", "")
	if timesIn(b.watched, &kubeArmorObject{}) != 2 || timesIn(b.derived.indexed, &kubeArmorObject{}) != 2 { // of the new informer
		t.Errorf("watches %q, indexes %q", b.watched, b.derived.indexed)
	}
}

func TestReconcile_DeletesObjectsOfAnEngineThatIsSwitchedOff(t *testing.T) {
	web := bindingTo("web", "swdeploymenttools")
	b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil), definition(kubeArmorPolicy))
	b.passed(web)
	i := slices.IndexFunc(b.Engines, func(e Engine) bool { return e.Name() == "KubeArmor" })
	b.Engines[i].Enabled = false // --adapters leaves it out
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "EngineDisabled")
	if b.exists(kubeArmorPolicy, team, "web-swdeploymenttools") {
		t.Error("the object of an engine that is left out stays")
	}
}

func TestReconcile_NamesTheRoleForAnEngineItMayNotList(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		web := bindingTo("web", "swdeploymenttools", "dnsmanipulation")
		b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil), intentOf("dnsManipulation", "Block", nil), definition(kubeArmorPolicy))
		b.api.Fail("live list KubeArmorPolicy", errForbidden)
		b.Engines[slices.IndexFunc(b.Engines, func(e Engine) bool { return e.Name() == "KubeArmor" })].Enabled = enabled
		_, err := b.pass(web)
		b.get(web)
		b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "") // one engine never stops another
		if !enabled {
			b.must(err) // an administrator need not bind the role of an engine that is left out
			b.covers(web, "swDeploymentTools", "KubeArmor", "None", "EngineDisabled")
			continue
		}
		b.shows(web, "Stalled", "True", "AccessDenied", "may not list KubeArmorPolicy", "nexus-operator-kubearmor", "--adapters")
		b.covers(web, "swDeploymentTools", "KubeArmor", "None", "AccessDenied")
		b.expectEvent("Warning AccessDenied", "nexus-operator-kubearmor")
		if b.exists(kubeArmorPolicy, team, "web-swdeploymenttools") || timesIn(b.watched, &kubeArmorObject{}) != 0 {
			t.Error("a kind that may not be listed is written or watched")
		}
		b.api.Fail("live list KubeArmorPolicy", nil)
		b.passed(web)
		b.shows(web, "Ready", "True", "Ready")
		b.there(kubeArmorPolicy, team, "web-swdeploymenttools")
	}
}

// Make before break: an edited intent becomes another rule, and connections that it had closed stay closed until that exists.
func TestReconcile_KeepsARuleUntilItsReplacementExists(t *testing.T) {
	sw := intentOf("swDeploymentTools", "Block", nil)
	web := bindingTo("web", "swdeploymenttools")
	b := newBed(t, web, sw, definition(kubeArmorPolicy))
	b.passed(web)
	old := b.there(kubeArmorPolicy, team, "web-swdeploymenttools")

	escape := intentOf("escapeToHost", "Block", nil)
	b.changed(func(c client.Client) error { return c.Create(t.Context(), escape) })
	b.edit(web, func() { web.Spec.Intents = matched([]string{"swdeploymenttools", "escapetohost"}) })
	b.api.Fail("apply KubeArmorPolicy", errOutage)
	if _, err := b.pass(web); err == nil {
		t.Error("a failed write is no error")
	}
	if now := b.there(kubeArmorPolicy, team, "web-swdeploymenttools"); now.GetUID() != old.GetUID() {
		t.Error("the object was deleted")
	}
	b.edit(web, func() { web.Spec.Intents = matched([]string{"escapetohost"}) })
	if _, err := b.pass(web); err == nil {
		t.Error("a failed write is no error")
	}
	b.there(kubeArmorPolicy, team, "web-swdeploymenttools") // nothing is deleted while writes fail
	b.api.Fail("apply KubeArmorPolicy", nil)
	b.passed(web)
	if b.exists(kubeArmorPolicy, team, "web-swdeploymenttools") {
		t.Error("the object of an intent that is no longer bound stays")
	}
	b.covers(web, "escapeToHost", "KubeArmor", "Enforced", "")
}

func TestReconcile_DeletesObjectsAfterTheirReplacement(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), intentOf("denyExternalNetworkAccess", "Block", nil))
	b.passed(web)
	b.edit(web, func() { web.Spec.Intents = matched([]string{"denyexternalnetworkaccess"}) })
	b.api.Calls()
	b.passed(web)
	var order []string
	for _, c := range b.api.Calls("apply NetworkPolicy", "delete NetworkPolicy") {
		order = append(order, c[:5])
	}
	if !slices.Equal(slices.Compact(order), []string{"apply", "delet"}) {
		t.Errorf("order %q", order)
	}
}

func TestReconcile_ReportsADeletionThatIsRefused(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation", "swdeploymenttools")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), intentOf("swDeploymentTools", "Block", nil), definition(kubeArmorPolicy))
	b.passed(web)
	b.edit(web, func() { web.Spec.Intents = web.Spec.Intents[:1] })
	b.api.Fail("delete KubeArmorPolicy", errForbidden)
	if _, err := b.pass(web); err == nil {
		t.Error("no error")
	}
	b.get(web)
	b.shows(web, "Stalled", "True", "AccessDenied", "deleting KubeArmorPolicy team/web-swdeploymenttools")
	b.expectEvent("Warning AccessDenied")
}

// An engine's own annotation may switch a policy off, such as istio.io/dry-run.
func TestReconcile_RemovesAnnotationsThatSwitchAnEngineOff(t *testing.T) {
	web := bindingTo("web", "swdeploymenttools")
	b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil), definition(kubeArmorPolicy))
	b.passed(web)
	annotate := func(u *unstructured.Unstructured) {
		a := u.GetAnnotations()
		a["policy.kubearmor.com/skip"], a["example.com/note"] = "true", "mine"
		u.SetAnnotations(a)
	}
	b.byHand(kubeArmorPolicy, "web-swdeploymenttools", annotate)
	b.passed(web)
	got := b.there(kubeArmorPolicy, team, "web-swdeploymenttools").GetAnnotations()
	if got["policy.kubearmor.com/skip"] != "" || got["example.com/note"] != "mine" {
		t.Errorf("annotations %v", got)
	}
	b.expectEvent("Normal Drift", "policy.kubearmor.com/skip")

	b.byHand(kubeArmorPolicy, "web-swdeploymenttools", annotate)
	b.api.Fail("patch KubeArmorPolicy", errForbidden)
	if _, err := b.pass(web); err == nil || !strings.Contains(err.Error(), "removing annotation policy.kubearmor.com/skip") {
		t.Errorf("got %v", err)
	}
	b.get(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "Retrying")
}

func TestAnnotationsOfAnEngine(t *testing.T) {
	for _, c := range []struct {
		group, annotation string
		want              bool
	}{
		{"security.istio.io", "istio.io/dry-run", true},
		{"security.istio.io", "networking.istio.io/x", true},
		{"security.istio.io", "notistio.io/dry-run", false},
		{"security.istio.io", "istio.io", false},
		{"kyverno.io", "policies.kyverno.io/scored", true},
		{"kyverno.io", "nexus.ai/hash", false},
		{"networking.k8s.io", "k8s.io/x", false},
	} {
		if got := intentfacts.IsSwitchedBy(c.group, c.annotation); got != c.want {
			t.Errorf("%s by %s: %v", c.group, c.annotation, got)
		}
	}
}

func TestOutcomes_ClaimOnlyWhatIsLive(t *testing.T) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kubeArmorPolicy)
	object.SetName("web-x")
	object.SetLabels(map[string]string{intent.LabelRule: "x"})
	for _, c := range []struct {
		name   string
		piece  piece
		level  v1alpha1.Level
		reason string
		listed int
	}{
		{"as written", piece{object: object}, "Enforced", "", 1},
		{"changed by a webhook", piece{object: object, res: apply.Result{Unsettled: []apply.Difference{{Path: "spec.action"}}}}, "None", "NotLive", 0},
		{"no answer", piece{object: object, err: errOutage}, "None", "Retrying", 0},
		{"waits", piece{object: object, err: &status.Waiting{For: "the namespace", Reason: status.ReasonDeleting}}, "None", "Deleting", 0},
	} {
		er := intent.EngineReport{Engine: "KubeArmor", Claims: []intent.Claim{{Intent: "x", Level: "Enforced"}, {Intent: "y", Level: "Enforced"}}}
		recordOutcome(&er, c.piece)
		if er.Claims[0].Level != c.level || er.Claims[0].Reason != c.reason || len(er.Objects) != c.listed || er.Claims[1].Level != "Enforced" {
			t.Errorf("%s: %+v", c.name, er)
		}
	}
}

func TestKindsOfEngines_LeaveOutThoseOfKubernetes(t *testing.T) {
	b := newBed(t)
	if b.kinds.all[networkPolicy] || !b.kinds.all[kubeArmorPolicy] {
		t.Errorf("kinds by definitions: %v", b.kinds.all)
	}
	for group, want := range map[string]bool{"security.kubearmor.com": true, "policies.kyverno.io": true, "example.com": false, "networking.k8s.io": false} {
		d := definition(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "X"})
		if got := b.kinds.concerns(d); got != want {
			t.Errorf("a definition of %s concerns engines: %v", group, got)
		}
	}
	if b.kinds.concerns(namespaceOf("x", nil)) {
		t.Error("a Namespace counts as a definition")
	}
}

func TestServedKinds_NeedAnEstablishedDefinition(t *testing.T) {
	now := metav1.Now()
	for _, c := range []struct {
		name   string
		change func(d *apiextensionsv1.CustomResourceDefinition)
		want   int
	}{
		{"established", func(*apiextensionsv1.CustomResourceDefinition) {}, 1},
		{"not established", func(d *apiextensionsv1.CustomResourceDefinition) { d.Status.Conditions = nil }, 0},
		{"names not accepted", func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Status.Conditions[0].Status = apiextensionsv1.ConditionFalse
		}, 0},
		{"being deleted", func(d *apiextensionsv1.CustomResourceDefinition) { d.DeletionTimestamp = &now }, 0},
		{"a version that is not served", func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2"})
		}, 1},
	} {
		d := definition(kubeArmorPolicy)
		c.change(d)
		if got := servedBy(d); len(got) != c.want || c.want == 1 && got[0] != kubeArmorPolicy {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestDefinitions_AreCachedWithoutSchemas(t *testing.T) {
	d := definition(kubeArmorPolicy)
	d.Annotations = map[string]string{"a": "megabyte"}
	d.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Description: "long"}}
	want := servedBy(d)
	got, err := WithoutSchemas(d)
	if err != nil || got.(*apiextensionsv1.CustomResourceDefinition).Spec.Versions[0].Schema != nil || len(d.Annotations) != 0 {
		t.Errorf("%v %v", got, err)
	}
	if !slices.Equal(servedBy(d), want) {
		t.Error("the kinds that it serves are lost")
	}
	ns := namespaceOf("x", map[string]string{"a": "b"})
	if same, _ := WithoutSchemas(ns); same != client.Object(ns) {
		t.Error("another object is changed")
	}
}

func TestKindsReconcile_WakesBindingsAlsoAfterAFailure(t *testing.T) {
	b := newBed(t, definition(kubeArmorPolicy))
	req := anyDefinition(t.Context(), nil)[0]
	for _, failure := range []error{nil, errOutage} {
		b.api.Fail("list CustomResourceDefinition", failure)
		if _, err := b.kinds.Reconcile(t.Context(), req); (err != nil) != (failure != nil) {
			t.Errorf("got %v", err)
		}
		if len(b.kinds.changed) != 1 {
			t.Errorf("after %v the bindings are not woken", failure)
		}
		<-b.kinds.changed
	}
	if timesIn(b.watched, &kubeArmorObject{}) != 1 {
		t.Errorf("watches %q, want the served kind once", b.watched)
	}
}

func TestKindsReconcile_RetriesAWatchThatFails(t *testing.T) {
	b := newBed(t, definition(kubeArmorPolicy))
	watch := b.kinds.watch
	b.kinds.watch = func(client.Object) error { return errOutage }
	if _, err := b.kinds.look(t.Context()); err == nil || !strings.Contains(err.Error(), "following ") {
		t.Errorf("got %v", err)
	}
	b.kinds.watch = watch
	for range 2 {
		if _, err := b.kinds.look(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if timesIn(b.watched, &kubeArmorObject{}) != 1 || timesIn(b.derived.indexed, &kubeArmorObject{}) != 1 { // a second index of one informer is an error
		t.Errorf("watched %q, indexed %q", b.watched, b.derived.indexed)
	}
}

func TestForeignPolicies_AreWatchedOnce(t *testing.T) {
	b := newBed(t)
	calls := 0
	var failure error = errOutage
	b.kinds.foreign = func(context.Context) error { calls++; return failure }
	if err := b.kinds.watchForeign(t.Context()); err == nil || !strings.Contains(err.Error(), "NetworkPolicies") {
		t.Errorf("got %v", err)
	}
	failure = nil
	for range 3 {
		b.must(b.kinds.watchForeign(t.Context()))
	}
	if calls != 2 {
		t.Errorf("%d watches begun, want the failed one and one more", calls)
	}
}

// A webhook that puts such an annotation back would be contested without end.
func TestReconcile_ReportsAnAnnotationThatComesBack(t *testing.T) {
	web := bindingTo("web", "swdeploymenttools")
	b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil), definition(kubeArmorPolicy))
	b.passed(web)
	b.byHand(kubeArmorPolicy, "web-swdeploymenttools", func(u *unstructured.Unstructured) {
		a := u.GetAnnotations()
		a["policy.kubearmor.com/skip"] = "true"
		u.SetAnnotations(a)
	})
	b.Applier.Client = interceptor.NewClient(b.api, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		err := c.Patch(ctx, o, p, opts...)
		a := o.GetAnnotations()
		a["policy.kubearmor.com/skip"] = "true"
		o.SetAnnotations(a)
		return err
	}})
	_, err := b.pass(web)
	if s, ok := status.AsStalled(err); !ok || s.Reason != intent.ReasonNotLive {
		t.Errorf("got %v", err)
	}
	b.get(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "NotLive")
	b.shows(web, "Stalled", "True", "NotLive", "policy.kubearmor.com/skip", "webhook")
}

// If a webhook changes an object, the object is not as the intent asks for.
func TestReconcile_ClaimsNothingForAnObjectThatAWebhookChanges(t *testing.T) {
	web := bindingTo("web", "swdeploymenttools")
	b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil), definition(kubeArmorPolicy))
	b.Applier.Client = interceptor.NewClient(b.api, interceptor.Funcs{Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
		err := c.Apply(ctx, o, opts...)
		if u, ok := o.(interface {
			GetKind() string
			UnstructuredContent() map[string]any
		}); ok && u.GetKind() == kubeArmorPolicy.Kind {
			u.UnstructuredContent()["spec"].(map[string]any)["action"] = "Audit"
		}
		return err
	}})
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "NotLive")
	b.shows(web, "Enforced", "False", "NotEnforced")
}

func TestReconcile_BlocksNothingForAnAudit(t *testing.T) {
	dns := intentOf("dnsManipulation", "Block", nil)
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, dns, definition(kubeArmorPolicy))
	b.passed(web)
	b.edit(dns, func() { dns.Spec.Intent.Action = "Audit" })
	b.passed(web)
	if b.exists(networkPolicy, team, "web-dnsmanipulation") {
		t.Error("a NetworkPolicy blocks what is only to be audited")
	}
	b.covers(web, "dnsManipulation", "NetworkPolicy", "None", "AuditUnsupported")
	b.covers(web, "dnsManipulation", "KubeArmor", "Audited", "")
	b.shows(web, "Enforced", "True", "Enforced")
	if action, _, _ := unstructured.NestedString(b.there(kubeArmorPolicy, team, "web-dnsmanipulation").Object, "spec", "action"); action != "Audit" {
		t.Errorf("KubeArmor is told to %s", action)
	}
	b.edit(dns, func() { dns.Spec.Intent.Action = "Block" })
	b.passed(web)
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
}

// NetworkPolicies add up: until the new one exists, the old one still closes the same connections.
func TestReconcile_KeepsANetworkPolicyWhoseSuccessorIsRefused(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), intentOf("denyExternalNetworkAccess", "Block", nil))
	b.passed(web)
	b.edit(web, func() { web.Spec.Intents = matched([]string{"denyexternalnetworkaccess"}) })
	b.api.Fail("apply NetworkPolicy", errForbidden)
	if _, err := b.pass(web); err == nil {
		t.Error("no error")
	}
	b.there(networkPolicy, team, "web-dnsmanipulation")
	b.api.Fail("apply NetworkPolicy", nil)
	b.passed(web)
	if b.exists(networkPolicy, team, "web-dnsmanipulation") {
		t.Error("the NetworkPolicy stays beside its successor")
	}
}
