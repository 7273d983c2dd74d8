// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/plantext"
	"github.com/nexus-operator/nexus-operator/internal/progress"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func (v *verifier) key() string { return v.subject.Namespace + "/" + v.subject.Name }

// checkCapability looks at the operator's report.
func (v *verifier) checkCapability(ctx context.Context) error {
	c := v.subject
	p := progress.Of(c, nil, nil)
	title := fmt.Sprintf("NexusAICapability %s is Running at generation %d", v.key(), c.Generation)
	fix := "nexusctl monitor " + v.key() + " shows what it waits for"
	switch {
	case p.Frozen != "" && !p.Running:
		return v.add(check.Fail(title, p.Frozen, fix))
	case p.Running:
		return v.add(check.Pass(title, p.Message))
	}
	v.cause, _ = inspect.ExplainCapability(ctx, v.ReaderOf(v.client), v.subject) // without the rights, there is the message of the status
	err := v.add(v.failCapability(title, p.Phase, p.Missing(progress.UntilRunning)))
	v.causeCheck = len(v.report.Checks)
	return err
}

// checkResources plans the operator's changes to the capability as it is: an empty plan of an object proves that it is as declared.
func (v *verifier) checkResources(ctx context.Context) error {
	p, err := v.Planner(ctx, false)
	if err != nil {
		return err
	}
	u, err := inspect.CapabilityObject(v.subject)
	if err != nil {
		return err
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var others []plan.Item
	p.Planned = func(it plan.Item) {
		if it.AWS == nil && it.Problem == nil && it.Waits == "" {
			others = append(others, it)
		} else if err := v.add(v.judge(it)); err != nil {
			cancel(err) // ends the plan
		}
	}
	found, err := p.Check(limited, []*unstructured.Unstructured{u})
	if err := cmp.Or(context.Cause(limited), err); err != nil {
		return err
	}
	whole := found.Items[0]
	if whole.Problem != nil || whole.Waits != "" {
		r := v.judge(whole)
		r.Title = "what the capability declares can be made"
		return v.add(r)
	}
	return v.checkDeclaredObjects(others, found.Items[1:])
}

// checkDeclaredObjects judges the objects that stand for nothing in AWS, and those that the capability no longer
// declares.
func (v *verifier) checkDeclaredObjects(others, all []plan.Item) error {
	var wrong []string
	onlyMissing := true
	for _, it := range others {
		if it.Changes() {
			wrong = append(wrong, fmt.Sprintf("%s: %s%s", plantext.TitleOf(it), plantext.Words[it.Action],
				console.Prefixed(" ", fieldsText(it.Fields))))
			onlyMissing = onlyMissing && it.Action == plan.Create
		}
	}
	for _, it := range all {
		if it.Action == plan.Delete {
			wrong = append(wrong, plantext.TitleOf(it)+" is no longer declared and exists")
			onlyMissing = false
		}
	}
	title := fmt.Sprintf("%d Kubernetes objects are as declared", len(others))
	if len(wrong) > 0 {
		r := check.Fail(title, strings.Join(wrong, "; "), "nexusctl plan ncap/"+v.subject.Name+" -n "+v.subject.Namespace+
			" shows what the operator does about it; check that it runs")
		return v.add(r.FollowsIf(onlyMissing))
	}
	return v.add(check.Pass(title, ""))
}

// callersReasons are the reasons of problems that the credentials of the user cause.
var callersReasons = []string{"AccessDenied", "CredentialsInvalid", "CredentialsMissing", "ProviderMoved"}

// unsettledCauses lists the causes of a plan that says nothing of the settings: AWS is at work on the resource, or does not show
// its tags yet.
var unsettledCauses = []string{"Busy", "Unowned"}

// judge is the check of one object. That of the cause itself repeats the check of the capability.
func (v *verifier) judge(it plan.Item) check.Result {
	r := judgeItem(it)
	return r.FollowsIf(v.cause != nil && v.cause.Cause.Kind == it.Kind && v.cause.Cause.Name == it.Name)
}

// judgeItem is the check of one object and its AWS resource.
func judgeItem(it plan.Item) check.Result {
	name := it.Kind + "/" + it.Name
	title := name + " is in AWS as declared"
	if it.AWS == nil || it.Problem != nil || it.Waits != "" {
		return judgeObstacle(title, it)
	}
	ask := fmt.Sprintf("the operator corrects it at its next check; at once: nexusctl reconcile %s/%s -n %s --wait", strings.ToLower(it.Kind),
		it.Name, it.Namespace)
	switch {
	case slices.Contains(unsettledCauses, it.AWS.Cause):
		return check.Warn(title, it.AWS.Cause+console.Prefixed(": ", it.AWS.Reason), "run the command again when AWS has settled")
	case it.Action == plan.Create:
		return check.Fail(title, "the object does not exist", "nexusctl monitor shows what the capability waits for").Follows()
	case it.AWS.Action == plan.Create:
		return check.Fail(title, "it does not exist in AWS account "+it.AWS.Account+", region "+it.AWS.Region, ask)
	case isLeftAlone(it.AWS):
		return check.Fail(title, fieldsText(it.AWS.Fields)+console.Prefixed("; ", it.AWS.Reason),
			"edit the object to what AWS has, or let the operator correct it (driftPolicy: Correct)")
	case it.Changes() || len(it.Fields) > 0 || len(it.AWS.Fields) > 0:
		return check.Fail(title, fieldsText(slices.Concat(it.Fields, it.AWS.Fields)), ask)
	default:
		return check.Pass(title, strings.TrimSpace(it.AWS.ID+" in "+it.AWS.Account+"/"+it.AWS.Region))
	}
}

// isLeftAlone reports whether a resource differs and the operator does not correct it.
func isLeftAlone(r *plan.Resource) bool { return len(r.Fields) > 0 && r.Action == plan.None }

// judgeObstacle is the check of an object that could not be compared, or that the operator cannot bring in line.
func judgeObstacle(title string, it plan.Item) check.Result {
	switch {
	case it.Problem != nil && slices.Contains(callersReasons, it.Problem.Reason):
		return check.Lacks(title, it.Problem.Reason+": "+plantext.ProblemText(it.Problem),
			"give AWS credentials (AWS_PROFILE, --profile) of the provider's account that may read the resource")
	case it.Problem != nil:
		return check.Fail(title, it.Problem.Reason+": "+plantext.ProblemText(it.Problem), "do what the message says; nexusctl plan shows more")
	case strings.HasPrefix(it.Waits, "the right to "):
		return check.Lacks(title, "comparing needs "+it.Waits, "ask for that right in the namespace")
	case it.Waits != "":
		return check.Fail(title, "it waits for "+it.Waits, "nexusctl monitor shows what the capability waits for").Follows()
	default:
		return check.Skip(title, "it was not compared with AWS")
	}
}

// fieldsText lists for each field the present and the declared value.
func fieldsText(fields []plan.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, fmt.Sprintf("%s: %s, declared is %s", f.Path, orNone(f.Have), orNone(f.Want)))
	}
	return strings.Join(out, "; ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// checkObjects looks whether the operator reports every AWS object of the capability as Ready.
func (v *verifier) checkObjects(ctx context.Context) error {
	found, waiting := 0, 0
	var wrong []string
	kinds := []string{"AWSProvider"}
	for _, e := range v.Kinds() {
		kinds = append(kinds, e.Name())
	}
	for _, kind := range kinds {
		objects, err := v.objectsOf(ctx, kind)
		if err != nil {
			return err
		}
		found += len(objects)
		for _, u := range objects {
			why := notReadyBecause(u)
			if why != "" {
				wrong = append(wrong, kind+"/"+u.GetName()+": "+why)
			}
			if isWaiting(why) {
				waiting++
			}
		}
	}
	title := fmt.Sprintf("%d objects of AWS resources are Ready", found)
	switch {
	case len(wrong) > 0:
		r := check.Fail(title, strings.Join(wrong, "; "), "do what the messages say; nexusctl monitor "+v.key()+" shows when it is done")
		return v.add(r.FollowsIf(waiting == len(wrong)))
	case found == 0:
		return v.add(check.Skip(title, "the capability has none"))
	default:
		return v.add(check.Pass(title, ""))
	}
}

// objectsOf lists the capability's objects of a kind; none where the installed operator does not have the kind yet.
func (v *verifier) objectsOf(ctx context.Context, kind string) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
	if err := v.client.List(ctx, list, client.InNamespace(v.subject.Namespace)); meta.IsNoMatchError(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("listing %s objects: %w", kind, err)
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil && owner.UID == v.subject.UID {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

// isWaiting reports whether the reason of an object that is not ready is that it needs another one first.
func isWaiting(why string) bool {
	reason, _, _ := strings.Cut(why, ":")
	return inspect.NeedsAnother(reason)
}

// notReadyBecause says why an object is not Ready at its generation; "" when it is.
func notReadyBecause(u *unstructured.Unstructured) string {
	list, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return err.Error()
	}
	for _, item := range list {
		c := metav1.Condition{}
		m, ok := item.(map[string]any)
		if !ok || runtime.DefaultUnstructuredConverter.FromUnstructured(m, &c) != nil || c.Type != progress.ConditionReady {
			continue
		}
		switch {
		case c.Status != metav1.ConditionTrue:
			return c.Reason + ": " + c.Message
		case c.ObservedGeneration != u.GetGeneration():
			return "the operator has not seen its last edit"
		default:
			return ""
		}
	}
	return "it has no condition Ready: the operator has not seen it"
}

// checkSecrets warns of secrets with placeholders that were not replaced.
func (v *verifier) checkSecrets(context.Context) error {
	const title = "every secret has its value"
	c := meta.FindStatusCondition(v.subject.Status.Conditions, nexusv1.ConditionSecretsPopulated)
	switch {
	case c == nil:
		return v.add(check.Skip(title, "the operator has not reported it"))
	case c.Reason == status.ReasonSkipped:
		return v.add(check.Skip(title, c.Message))
	case c.Status == metav1.ConditionTrue:
		return v.add(check.Pass(title, ""))
	default:
		return v.add(check.Warn(title, c.Reason+console.Prefixed(": ", c.Message),
			"fill the secrets in, by spec.secrets[].valueFrom or in AWS").FollowsIf(inspect.NeedsAnother(c.Reason)))
	}
}

// checkPolicies looks up the coverage of each declared intent by the policy engines.
func (v *verifier) checkPolicies(context.Context) error {
	security := v.subject.Spec.Security
	if security == nil || len(security.Intents) == 0 {
		return v.add(check.Skip("the security intents are in force", "none is declared"))
	}
	title := fmt.Sprintf("%d security intents are in force", len(security.Intents))
	c := meta.FindStatusCondition(v.subject.Status.Conditions, nexusv1.ConditionPoliciesReady)
	first := check.Pass(title, "")
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != v.subject.Generation {
		first = v.judgePolicies(title, c)
	}
	if err := v.add(first); err != nil {
		return err
	}
	return errors.Join(v.addCoverage()...)
}

// judgePolicies is the failed check of the policies of a capability, with the condition that reports them, if there is one.
func (v *verifier) judgePolicies(title string, c *metav1.Condition) check.Result {
	why := "the operator has not reported it for this generation"
	if c != nil && c.Message != "" {
		why = c.Reason + ": " + c.Message
	}
	r := check.Fail(title, why, "do what the message says, or install an engine that enforces the intent; see status.coverage")
	return r.FollowsIf(v.cause != nil && (c == nil || c.Reason == v.cause.Cause.Reason || inspect.NeedsAnother(c.Reason)))
}

// levels of coverage, the best first.
var levels = []string{"Enforced", "Audited", "Partial", "None"}

// addCoverage adds a check for each intent: the best coverage of any engine.
func (v *verifier) addCoverage() []error {
	best := map[string]nexusv1.PolicyCoverage{}
	var order []string
	for _, row := range v.subject.Status.Coverage {
		key := row.Intent + console.Prefixed(" of ", string(row.Component))
		old, known := best[key]
		if !known {
			order = append(order, key)
		}
		if !known || slices.Index(levels, row.Level) < slices.Index(levels, old.Level) {
			best[key] = row
		}
	}
	var errs []error
	for _, key := range order {
		row := best[key]
		title, seen := "intent "+key+" is enforced", fmt.Sprintf("%s: %s%s", row.Engine, row.Level, console.Prefixed(", ", row.Message))
		var err error
		switch row.Level {
		case "Enforced":
			err = v.add(check.Pass(title, seen))
		case "None":
			err = v.add(check.Fail(title, seen, "install an engine that enforces the intent"))
		default:
			err = v.add(check.Warn(title, seen, "see docs/intents.md for what each engine covers"))
		}
		if errs = append(errs, err); err != nil {
			break
		}
	}
	return errs
}
