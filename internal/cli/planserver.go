// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// answerPoll is the pause between two looks at a request.
const answerPoll = 250 * time.Millisecond

// planOnServer asks the operator to plan.
func (s *planVerb) planOnServer(ctx context.Context, f *planFlags, args []string) (plan.Plan, error) {
	_, c, err := s.Connect()
	if err != nil {
		return plan.Plan{}, err
	}
	if _, err := c.RESTMapper().RESTMapping(nexusv1.GroupVersion.WithKind("PlanRequest").GroupKind()); err != nil {
		return plan.Plan{}, explainNoKind(err)
	}
	requests, err := s.planRequests(f, args)
	if err != nil {
		return plan.Plan{}, err
	}
	found := plan.Of(nil)
	for _, q := range requests {
		next, err := s.planOfRequest(ctx, c, q, f.serverTimeout)
		if err != nil {
			return plan.Plan{}, err
		}
		found = found.With(next)
	}
	return found, nil
}

// planOfRequest creates a request, and deletes it once it was answered.
func (s *planVerb) planOfRequest(ctx context.Context, c client.Client, q *nexusv1.PlanRequest, timeout time.Duration) (plan.Plan, error) {
	if err := c.Create(ctx, q); err != nil {
		return plan.Plan{}, explainNoRequest(q, err)
	}
	answered, err := awaitAnswer(ctx, c, q, timeout)
	if derr := deleteRequest(ctx, c, q); derr != nil {
		s.Say("PlanRequest %s/%s was not deleted; the operator deletes it within ten minutes: %v", q.Namespace, q.Name, derr)
	}
	if err != nil {
		return plan.Plan{}, err
	}
	found := plan.Plan{}
	if err := json.Unmarshal([]byte(answered.Status.Plan), &found); err != nil {
		return plan.Plan{}, fmt.Errorf("reading status.plan of the PlanRequest: %w", err)
	}
	if found.APIVersion != plan.APIVersion {
		return plan.Plan{}, exit.Precondition(fmt.Errorf("the operator answers with a plan of %s, and this nexusctl reads %s: use the nexusctl of the operator's version", found.APIVersion, plan.APIVersion))
	}
	if n := answered.Status.ItemsLeftOut; n > 0 {
		s.Say("The plan is too long for a PlanRequest: its last %d of %d items are left out. The summary counts them all.", n,
			int(n)+len(found.Items))
	}
	return found, nil
}

// planRequests are the requests for the objects that a command line names: one, or a second one for the objects that are no longer
// declared.
func (s *planVerb) planRequests(f *planFlags, args []string) ([]*nexusv1.PlanRequest, error) {
	namespace, _, err := s.Cluster.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, exit.Precondition(fmt.Errorf("finding the namespace: %w", err))
	}
	if len(args) > 0 {
		q := newRequest(namespace, f.remove)
		return []*nexusv1.PlanRequest{q}, s.addObjects(q, args)
	}
	c, err := s.readChangeset(f)
	if err != nil {
		return nil, err
	}
	if namespace, err = onlyNamespace(namespace, slices.Concat(c.declared, c.dropped)); err != nil {
		return nil, err
	}
	var out []*nexusv1.PlanRequest
	if len(c.declared) > 0 {
		out = append(out, newRequest(namespace, f.remove))
	}
	for _, m := range c.declared {
		if err := addManifest(out[0], m); err != nil {
			return nil, err
		}
	}
	if len(c.dropped) > 0 {
		q := newRequest(namespace, true)
		q.Spec.IgnoreNotFound = true
		for _, m := range c.dropped {
			if err := addManifest(q, m); err != nil {
				return nil, err
			}
		}
		out = append(out, q)
	}
	return out, nil
}

func newRequest(namespace string, deletion bool) *nexusv1.PlanRequest {
	return &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-", Namespace: namespace},
		Spec: nexusv1.PlanRequestSpec{Deletion: deletion}}
}

// onlyNamespace returns the namespace of manifests, or a default one for those that name none.
func onlyNamespace(namespace string, manifests []*unstructured.Unstructured) (string, error) {
	for i, m := range manifests {
		if i > 0 && m.GetNamespace() != "" && m.GetNamespace() != namespace {
			return "", exit.Usage("%s: --server plans the manifests of one namespace at a time, and the first is in %s", console.TitleOf(m),
				namespace)
		}
		if i == 0 && m.GetNamespace() != "" {
			namespace = m.GetNamespace()
		}
	}
	return namespace, nil
}

// addManifest adds the objects that a manifest declares, or, for a deletion, names.
func addManifest(q *nexusv1.PlanRequest, m *unstructured.Unstructured) error {
	if q.Spec.Deletion {
		q.Spec.Objects = append(q.Spec.Objects, nexusv1.PlannedObject{Kind: m.GetKind(), Name: m.GetName()})
		return nil
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return fmt.Errorf("%s: %w", console.TitleOf(m), err)
	}
	q.Spec.Manifests = append(q.Spec.Manifests, nexusv1.PlannedManifest(strings.TrimSpace(string(text))))
	return nil
}

// addObjects adds existing objects, as KIND/NAME.
func (s *planVerb) addObjects(q *nexusv1.PlanRequest, args []string) error {
	mapper, err := s.Cluster.ToRESTMapper()
	if err != nil {
		return exit.Precondition(fmt.Errorf("reading the API server's kinds: %w", err))
	}
	for _, arg := range args {
		kind, name, ok := strings.Cut(arg, "/")
		if !ok || kind == "" || name == "" {
			return exit.Usage("--server: name objects as KIND/NAME, and not as %q", arg)
		}
		gvk, err := mapper.KindFor(schema.GroupVersionResource{Resource: strings.ToLower(kind)})
		if err != nil {
			return exit.Precondition(fmt.Errorf("%s: %w", arg, err))
		}
		q.Spec.Objects = append(q.Spec.Objects, nexusv1.PlannedObject{Kind: gvk.Kind, Name: name})
	}
	return nil
}

// explainNoKind explains why the API server does not know the kind of requests.
func explainNoKind(err error) error {
	if meta.IsNoMatchError(err) {
		return exit.Precondition(errors.New("the cluster knows no PlanRequests: install the operator's CustomResourceDefinitions of this version, or plan without --server"))
	}
	return err
}

// explainNoRequest explains why a request could not be created.
func explainNoRequest(q *nexusv1.PlanRequest, err error) error {
	switch {
	case apierrors.IsInvalid(err), apierrors.IsRequestEntityTooLargeError(err):
		return exit.Usage("the manifests do not fit into a PlanRequest: %w", err)
	default:
		return fmt.Errorf("creating a PlanRequest in namespace %s: %w", q.Namespace, err)
	}
}

// awaitAnswer waits until a request is answered.
func awaitAnswer(ctx context.Context, c client.Client, q *nexusv1.PlanRequest, timeout time.Duration) (*nexusv1.PlanRequest, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errNoAnswer)
	defer cancel()
	ticks := time.NewTicker(answerPoll)
	defer ticks.Stop()
	for {
		now := &nexusv1.PlanRequest{}
		err := c.Get(ctx, client.ObjectKeyFromObject(q), now)
		if err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("reading PlanRequest %s/%s: %w", q.Namespace, q.Name, err)
		}
		if err == nil && now.Status.ObservedGeneration == now.Generation {
			return now, failureOf(now)
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errNoAnswer) {
				return nil, exit.Precondition(fmt.Errorf("the operator has not answered PlanRequest %s/%s within %s%s: check that it runs (nexusctl status) and that --plan-requests is not false, or plan without --server",
					q.Namespace, q.Name, timeout, lastFailure(now)))
			}
			return nil, ctx.Err()
		case <-ticks.C:
		}
	}
}

var errNoAnswer = errors.New("no answer")

// failureOf returns the problem of a request that was answered; nil where there is a plan.
func failureOf(q *nexusv1.PlanRequest) error {
	c := meta.FindStatusCondition(q.Status.Conditions, status.Stall)
	switch {
	case c == nil || c.Status != metav1.ConditionTrue:
		return nil
	case c.Reason == status.ReasonInvalidSpec:
		return exit.Usage("%s", c.Message)
	default:
		return exit.Precondition(fmt.Errorf("%s: %s", c.Reason, c.Message))
	}
}

// lastFailure returns the last message of the operator about a request that it has not answered.
func lastFailure(q *nexusv1.PlanRequest) string {
	if c := meta.FindStatusCondition(q.Status.Conditions, status.Reconciling); c != nil && c.Message != "" {
		return ": " + c.Message
	}
	return ""
}

// deleteRequest deletes a request, also after an interruption.
func deleteRequest(ctx context.Context, c client.Client, q *nexusv1.PlanRequest) error {
	ctx, cancel := exit.Uncut(ctx, enact.PatchTimeout)
	defer cancel()
	return client.IgnoreNotFound(c.Delete(ctx, q))
}
