// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestReconcile_WritesPolicyObjectsAndStatusOnce(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), definition(kubeArmorPolicy))
	if res := b.passed(web); !res.IsZero() {
		t.Errorf("a binding at rest is looked at again: %+v", res)
	}
	b.writes("apply NimbusPolicy team/web", "apply NetworkPolicy team/web-dnsmanipulation", "apply KubeArmorPolicy team/web-dnsmanipulation",
		"status NimbusPolicy team/web", "status SecurityIntentBinding team/web")
	b.shows(web, "Ready", "True", "Ready")
	b.shows(web, "Enforced", "True", "Enforced")
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	b.covers(web, "dnsManipulation", "Kyverno", "None", "EngineMissing")
	if s := web.Status; s.NimbusPolicy != "web" || s.NumberOfBoundIntents != 1 || !slices.Equal(s.BoundIntents, []string{"dnsmanipulation"}) || s.LastUpdated == nil {
		t.Errorf("status %+v", s)
	}
	for range 2 {
		b.clock.SetTime(b.clock.Now().Add(time.Hour)) // nothing depends on the time
		b.passed(web)
		b.writes()
	}
	if e := b.takeEvents(); len(e) != 0 {
		t.Errorf("events of a clean run: %q", e)
	}
}

func TestReconcile_WritesAClusterBindingsPolicies(t *testing.T) {
	over := overNamespaces("over", []string{team, "absent"}, "dnsmanipulation")
	b := newBed(t, over, namespaceOf("other", nil), intentOf("dnsManipulation", "Block", nil))
	b.passed(over)
	b.writes("apply ClusterNimbusPolicy /over", "apply NimbusPolicy team/nimbus-ctlr-gen-over", "apply NetworkPolicy team/nimbus-ctlr-gen-over-dnsmanipulation",
		"status ClusterNimbusPolicy /over", "status NimbusPolicy team/nimbus-ctlr-gen-over", "status ClusterSecurityIntentBinding /over")
	if s := over.Status; s.ClusterNimbusPolicy != "over" || s.NumberOfNimbusPolicies != 1 || !slices.Equal(s.NimbusPolicyNamespaces, []string{team}) {
		t.Errorf("status %+v", s)
	}
	b.passed(over)
	b.writes()
}

func TestReconcile_DeletesWhatANamespaceLosesWithItsLabel(t *testing.T) {
	over := overNamespaces("over", []string{team, "other"}, "dnsmanipulation")
	b := newBed(t, over, namespaceOf("other", nil), intentOf("dnsManipulation", "Block", nil))
	b.passed(over)
	b.edit(over, func() { over.Spec.Selector.NsSelector.MatchNames = over.Spec.Selector.NsSelector.MatchNames[:1] })
	b.api.Writes()
	b.passed(over)
	if b.exists(intentfacts.PolicyKinds[0], "other", "nimbus-ctlr-gen-over") || !b.exists(intentfacts.PolicyKinds[0], team, "nimbus-ctlr-gen-over") {
		t.Error("the policy of the namespace that is no longer selected stays, or the other one goes")
	}
	if got := b.api.Writes(); !slices.Contains(got, "delete NimbusPolicy other/nimbus-ctlr-gen-over") {
		t.Errorf("writes %q", got)
	}
}

func TestReconcile_WaitsForIntentsThatAreMissing(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation", "later")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	if res := b.passed(web); !res.IsZero() {
		t.Errorf("%+v: the event of the intent wakes the binding, no timer", res)
	}
	b.shows(web, "Ready", "False", "IntentMissing", "later")
	b.there(networkPolicy, team, "web-dnsmanipulation") // what can be enforced is
	b.edit(web, func() { web.Spec.Intents = matched([]string{"later"}) })
	b.passed(web)
	if b.exists(intentfacts.PolicyKinds[0], team, "web") || web.Status.NimbusPolicy != "" || web.Status.NumberOfBoundIntents != 0 {
		t.Errorf("without an intent the policy stays: %+v", web.Status)
	}
}

func TestReconcile_InvalidSelectorSelectsNothing(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.edit(web, func() { web.Spec.CEL = []string{`labels["app"].startsWith("w")`} })
	for range 2 {
		_, err := b.pass(web)
		if _, ok := status.AsStalled(err); !ok {
			t.Errorf("%v: the work queue would retry it with growing pauses", err)
		}
	}
	b.get(web)
	b.shows(web, "Stalled", "True", "SelectorUnsupported")
	b.shows(web, "SelectorUnsupported", "True", "SelectorUnsupported", "cel[0]")
	if b.exists(intentfacts.PolicyKinds[0], team, "web") {
		t.Error("the policy of a selector that cannot be read stays as it was")
	}
	b.expectEvent("Warning SelectorUnsupported", "cel[0]")
	b.must(b.api.Store.Delete(t.Context(), &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "web-dnsmanipulation"}})) // as the garbage collector
	b.edit(web, func() { web.Spec.CEL = nil })
	b.passed(web)
	b.shows(web, "Ready", "True", "Ready")
	b.shows(web, "Stalled", "False", "Ready")
}

func TestReconcile_KeepsCoverageWhileNothingCanBeRead(t *testing.T) {
	for _, read := range []string{"list SecurityIntent ", "list Namespace ", "list CustomResourceDefinition "} {
		web := bindingTo("web", "dnsmanipulation")
		b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
		b.passed(web)
		b.api.Writes()
		b.api.Fail(read, errOutage)
		if _, err := b.pass(web); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("%s: %v does not reach the work queue", read, err)
		}
		b.get(web)
		b.shows(web, "Ready", "True", "Ready") // a passing failure
		b.shows(web, "Reconciling", "True", "Retrying", "the API server restarts")
		b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
		b.writes("status SecurityIntentBinding team/web")
		_, _ = b.pass(web)
		b.writes()
		b.clock.SetTime(start.Add(11 * time.Minute))
		_, _ = b.pass(web)
		b.get(web)
		b.shows(web, "Stalled", "True", "Retrying", "the API server restarts")
		b.api.Fail(read, nil)
		b.passed(web)
		b.shows(web, "Ready", "True", "Ready")
		b.shows(web, "Reconciling", "False", "Ready")
	}
}

func TestReconcile_ReportsWritesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, call string
		err        error
		// condition and conditionStatus are wanted of the binding, reason and text of the NetworkPolicy.
		condition, conditionStatus, reason, text string
		claim                                    string
	}{
		{"no permission for policies", "apply NimbusPolicy", errForbidden, "Stalled", "True", "AccessDenied", "RBAC says no", "AccessDenied"},
		{"no permission for an engine's object", "apply NetworkPolicy", errForbidden, "Stalled", "True", "AccessDenied", "NetworkPolicy team/web-dnsmanipulation", "AccessDenied"},
		{"admission refuses an object", "apply NetworkPolicy", apierrors.NewBadRequest("a webhook refuses it"), "Stalled", "True", "InvalidSpec", "a webhook refuses it", "InvalidSpec"},
		{"no answer to an object", "apply NetworkPolicy", errOutage, "Reconciling", "True", "Retrying", "restarts", "Retrying"},
		{"too many requests", "apply NetworkPolicy", apierrors.NewTooManyRequests("slow down", 1), "Reconciling", "True", "Throttled", "slow down", "Retrying"},
		{"no answer to the policy's status", "status NimbusPolicy", errOutage, "Reconciling", "True", "Retrying", "restarts", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := bindingTo("web", "dnsmanipulation")
			b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
			b.api.Fail(c.call, c.err)
			for range 3 {
				if _, err := b.pass(web); err == nil {
					t.Error("the failure does not reach the work queue")
				}
			}
			b.get(web)
			b.shows(web, c.condition, c.conditionStatus, c.reason, c.text)
			b.shows(web, "Ready", "False", c.reason)
			if c.claim != "" {
				b.covers(web, "dnsManipulation", "NetworkPolicy", "None", c.claim)
				b.shows(web, "Enforced", "False", "NotEnforced")
			}
			if c.condition == "Stalled" {
				b.expectEvent("Warning "+c.reason, c.text)
			} else if e := b.takeEvents(); len(e) != 0 {
				t.Errorf("events of a failure that passes: %q", e)
			}
			b.api.Fail(c.call, nil)
			b.passed(web)
			b.shows(web, "Ready", "True", "Ready")
			b.shows(web, "Stalled", "False", "Ready")
			b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
		})
	}
}

func TestReconcile_RetriesAConflictWithoutAReport(t *testing.T) {
	for _, call := range []string{"apply NimbusPolicy", "apply NetworkPolicy", "status NimbusPolicy", "status SecurityIntentBinding"} {
		web := bindingTo("web", "dnsmanipulation")
		b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
		b.api.Fail(call, errConflict)
		res, err := b.pass(web)
		if err != nil || res.RequeueAfter <= 0 || res.RequeueAfter > time.Minute {
			t.Errorf("%s: %+v %v, want a retry soon", call, res, err)
		}
		b.get(web)
		if len(web.Status.Conditions) != 0 || len(b.takeEvents()) != 0 {
			t.Errorf("%s: a lost race is reported: %+v", call, web.Status.Conditions)
		}
		b.api.Fail(call, nil)
		b.passed(web)
		b.shows(web, "Ready", "True", "Ready")
	}
}

func TestReconcile_LeavesObjectsOfOthersAlone(t *testing.T) {
	theirs := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "web-dnsmanipulation", UID: "theirs"}}
	theirs.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, theirs.DeepCopy(), intentOf("dnsManipulation", "Block", nil))
	_, err := b.pass(web)
	if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonConflict {
		t.Errorf("got %v", err)
	}
	b.get(web)
	b.shows(web, "Conflict", "True", "Conflict", "NetworkPolicy team/web-dnsmanipulation", "choose another name")
	b.covers(web, "dnsManipulation", "NetworkPolicy", "None", "Conflict")
	b.expectEvent("Warning Conflict", "choose another name")
	live := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: theirs.Name}}
	b.get(live)
	if live.UID != "theirs" || len(live.Labels) != 0 || len(live.Spec.PolicyTypes) != 1 {
		t.Errorf("the object of somebody else is changed: %+v", live)
	}
	b.must(b.api.Store.Delete(t.Context(), live))
	b.passed(web)
	b.shows(web, "Ready", "True", "Ready")
	for _, c := range web.Status.Conditions {
		if c.Type == v1alpha1.ConditionConflict {
			t.Error("the conflict stays in the status after its end")
		}
	}
}

func TestReconcile_LeavesPoliciesOfOthersAlone(t *testing.T) {
	theirs := &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "web", UID: "theirs"}}
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, theirs, intentOf("dnsManipulation", "Block", nil))
	if _, err := b.pass(web); err == nil {
		t.Error("a conflict is no error")
	}
	b.get(web)
	b.shows(web, "Conflict", "True", "Conflict", "NimbusPolicy team/web")
	b.writes("status SecurityIntentBinding team/web")
}

func TestReconcile_WritesNothingForABindingThatGoes(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	web.Finalizers = []string{"example.com/hold"}
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.must(b.api.Store.Delete(t.Context(), web))
	b.api.Writes()
	if res := b.passed(web); !res.IsZero() {
		t.Errorf("%+v", res)
	}
	b.writes() // its objects have owner references: the garbage collector deletes them
}

func TestReconcile_ReportsABindingThatCannotBeRead(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web)
	b.api.Fail("get SecurityIntentBinding", errOutage)
	if _, err := b.pass(web); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v", err)
	}
	b.writes()
}

// A status patch that is computed from an outdated status would leave the fields that the write in between added.
func TestReconcile_ReadsPastACacheThatLags(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.Applier.Wrote(refOf(web), "99999") // as after a write that the cache does not show
	b.api.Calls()
	b.passed(web)
	if got := b.api.Calls("live get SecurityIntentBinding"); len(got) != 1 {
		t.Errorf("the API server is asked %d times for the binding", len(got))
	}
}

func TestReconcile_MarksPoliciesThatABindingLeftBehind(t *testing.T) {
	for _, c := range []struct {
		name    string
		binding client.Object
		policy  client.Object
		owner   string
	}{
		{"of a namespace", bindingTo("web", "dnsmanipulation"), &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "web"}}, "SecurityIntentBinding/team/web"},
		{"of the cluster", overNamespaces("over", []string{team}, "dnsmanipulation"), &v1alpha1.ClusterNimbusPolicy{ObjectMeta: metav1.ObjectMeta{Name: "over"}}, "ClusterSecurityIntentBinding/over"},
		{"of a cluster binding in a namespace", overNamespaces("over", []string{team}, "dnsmanipulation"), &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "nimbus-ctlr-gen-over"}}, "ClusterSecurityIntentBinding/over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, c.binding, intentOf("dnsManipulation", "Block", nil))
			b.passed(c.binding)
			b.get(c.policy)
			c.policy.SetOwnerReferences(nil) // as kubectl delete --cascade=orphan leaves it
			b.must(b.api.Store.Update(t.Context(), c.policy))
			b.must(b.api.Store.Delete(t.Context(), c.binding))
			b.api.Writes()
			_, err := b.pass(c.binding)
			b.must(err)
			b.get(c.policy)
			b.shows(c.policy, "Ready", "False", "Abandoned", c.owner, "delete it")
			b.shows(c.policy, "Enforced", "False", "Abandoned")
			if CommonOf(c.policy).Coverage != nil {
				t.Errorf("an abandoned policy still covers %+v", CommonOf(c.policy).Coverage)
			}
			if got := b.api.Writes(); len(got) != 1 || !strings.HasPrefix(got[0], "status ") {
				t.Errorf("writes %q, want the policy's status alone", got)
			}
			_, err = b.pass(c.binding)
			b.must(err)
			b.writes()
		})
	}
}

func TestReconcile_LeavesPoliciesOfOtherBindingsUnmarked(t *testing.T) {
	web, other := bindingTo("web", "dnsmanipulation"), bindingTo("other", "dnsmanipulation")
	b := newBed(t, web, other, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.passed(other)
	b.must(b.api.Store.Delete(t.Context(), web)) // its policy is still controlled: the garbage collector takes it
	b.api.Writes()
	_, err := b.pass(web)
	b.must(err)
	b.writes()
	for _, list := range []string{"list NimbusPolicy", "list ClusterNimbusPolicy"} {
		b.api.Fail(list, errOutage)
		if _, err := b.pass(web); !errors.Is(err, errOutage) {
			t.Errorf("%s: %v, want a retry", list, err)
		}
		b.api.Fail(list, nil)
	}
}

func TestReconcile_TakesOverThePolicyOfAnEarlierBinding(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	policy := &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "web"}}
	b.get(policy)
	policy.OwnerReferences = nil
	b.must(b.api.Store.Update(t.Context(), policy))
	b.changed(func(c client.Client) error { return c.Delete(t.Context(), web) })
	_, err := b.pass(web)
	b.must(err)
	again := bindingTo("web", "dnsmanipulation")
	again.UID = "uid-again"
	b.changed(func(c client.Client) error { return c.Create(t.Context(), again) })
	b.passed(again)
	b.shows(again, "Ready", "True", "Ready")
	b.get(policy)
	if !metav1.IsControlledBy(policy, again) || policy.Labels[LabelPolicyOwner] != "uid-again" || policy.Annotations[apply.AnnotationOwner] != "SecurityIntentBinding/team/web" {
		t.Errorf("the policy is not the new binding's: %+v", policy.ObjectMeta)
	}
	b.shows(policy, "Ready", "True", "Ready")
}

func TestReconcile_WaitsForANamespaceThatGoes(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	terminating := apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("nimbuspolicies").GroupResource(), "web", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	b.api.Fail("apply NimbusPolicy", terminating)
	if res := b.passed(web); res.RequeueAfter <= 0 {
		t.Errorf("%+v", res)
	}
	b.shows(web, "Ready", "False", "Waiting", "namespace team to be gone")
	b.shows(web, "Stalled", "False", "Waiting")
	if e := b.takeEvents(); len(e) != 0 {
		t.Errorf("events %q: nobody has to do anything", e)
	}
}

func TestReconcile_LeavesNamespacesThatGoOut(t *testing.T) {
	over := overNamespaces("over", []string{team, "going"}, "dnsmanipulation")
	going := namespaceOf("going", nil)
	going.Finalizers, going.DeletionTimestamp = []string{"example.com/x"}, &metav1.Time{Time: start}
	b := newBed(t, over, going, intentOf("dnsManipulation", "Block", nil))
	b.passed(over)
	if b.exists(intentfacts.PolicyKinds[0], "going", "nimbus-ctlr-gen-over") || !slices.Equal(over.Status.NimbusPolicyNamespaces, []string{team}) {
		t.Errorf("a policy is made in a namespace that is being deleted: %v", over.Status.NimbusPolicyNamespaces)
	}
	b.shows(over, "Ready", "True", "Ready")
}

func TestReconcile_LeavesTheOperatorsNamespaceOut(t *testing.T) {
	over := overNamespaces("over", []string{"*"}, "dnsmanipulation")
	b := newBedOf(t, options.Options{Namespace: "nexus-system"}, over, namespaceOf("nexus-system", nil), namespaceOf("kube-system", nil), intentOf("dnsManipulation", "Block", nil))
	b.passed(over)
	for _, ns := range []string{"nexus-system", "kube-system"} {
		if b.exists(intentfacts.PolicyKinds[0], ns, "nimbus-ctlr-gen-over") {
			t.Errorf("a policy is made in %s", ns)
		}
	}
	b.there(networkPolicy, team, "nimbus-ctlr-gen-over-dnsmanipulation")
	b.edit(over, func() { over.Spec.Selector.NsSelector.MatchNames = []v1alpha1.NamespaceName{"nexus-system"} })
	if _, err := b.pass(over); err == nil || !strings.Contains(err.Error(), "the operator runs there") {
		t.Errorf("got %v", err)
	}
}

func TestReconcile_ReportsIntentsOfTheSameID(t *testing.T) {
	again := intentOf("dnsManipulation", "Audit", nil)
	again.Name, again.UID = "again", "uid-again"
	web := bindingTo("web", "dnsmanipulation", "again")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), again)
	b.passed(web)
	b.shows(web, "DuplicateIntent", "True", "DuplicateIntent", "again")
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	b.edit(web, func() { web.Spec.Intents = web.Spec.Intents[:1] })
	b.passed(web)
	for _, c := range web.Status.Conditions {
		if c.Type == v1alpha1.ConditionDuplicateIntent {
			t.Error("the condition stays after its end")
		}
	}
}

// The API server refuses a whole status if one list in it is too long.
func TestStatus_ListsNoMoreNamespacesThanItsSchemaAllows(t *testing.T) {
	b := newBed(t)
	over := overNamespaces("over", nil, "dnsmanipulation")
	report := intent.BindingReport{}
	for i := range 300 {
		p := intent.Policy{Name: "nimbus-ctlr-gen-over", Namespace: fmt.Sprintf("ns-%d", i)}
		report.Resolution.Policies = append(report.Resolution.Policies, p)
		report.Policies = append(report.Policies, intent.PolicyReport{Policy: p})
	}
	report.Policies = append(report.Policies, intent.PolicyReport{Policy: intent.Policy{Name: "over"}})
	b.updateConditions(over, report)
	if s := over.Status; len(s.NimbusPolicyNamespaces) != 256 || s.NumberOfNimbusPolicies != 300 || s.ClusterNimbusPolicy != "over" {
		t.Errorf("%d listed of %d, %q", len(s.NimbusPolicyNamespaces), s.NumberOfNimbusPolicies, s.ClusterNimbusPolicy)
	}
}

// One policy's failure is the binding's, and keeps no other policy from being written.
func TestReconcile_WritesThePoliciesBesideOneThatFails(t *testing.T) {
	over := overNamespaces("over", []string{team, "other"}, "dnsmanipulation")
	b := newBed(t, over, namespaceOf("other", nil), intentOf("dnsManipulation", "Block", nil))
	b.api.Fail("apply NetworkPolicy other/", errForbidden)
	if _, err := b.pass(over); err == nil {
		t.Error("no error")
	}
	b.get(over)
	b.shows(over, "Stalled", "True", "AccessDenied", "NetworkPolicy other/nimbus-ctlr-gen-over-dnsmanipulation")
	b.there(networkPolicy, team, "nimbus-ctlr-gen-over-dnsmanipulation")
	for ns, ready := range map[string]string{team: "True", "other": "False"} {
		p := &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "nimbus-ctlr-gen-over"}}
		b.get(p)
		if c := meta.FindStatusCondition(p.Status.Conditions, "Ready"); c == nil || string(c.Status) != ready {
			t.Errorf("%s: %+v", ns, c)
		}
	}
}
