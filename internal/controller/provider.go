package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// conditionInUse says how many objects use a provider that is being deleted.
const conditionInUse = "InUse"

// Provider reconciles AWSProviders: who are we, in which account; and a provider in use stays.
type Provider struct {
	Environment
	Providers *Providers
	// Dependents counts the objects of every kind that use a provider, except other providers.
	Dependents func(ctx context.Context, namespace, name string) (int, error)
	// Watch makes sure that changes of Secrets in the namespace come back as requests.
	Watch func(ctx context.Context, namespace string)

	pauses *pauses
	checks *schedule
}

// NewProvider prepares the reconciler.
func NewProvider(p *Providers, dependents func(context.Context, string, string) (int, error), watch func(context.Context, string)) *Provider {
	return &Provider{Environment: p.Environment, Providers: p, Dependents: dependents, Watch: watch, pauses: newPauses(p.Pace, p.Clock), checks: newSchedule()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Provider) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	provider := &v1alpha1.AWSProvider{}
	if err := r.Client.Get(ctx, req.NamespacedName, provider); err != nil {
		r.pauses.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	was := provider.DeepCopy()
	if provider.DeletionTimestamp != nil {
		return r.release(ctx, provider, was)
	}
	if controllerutil.AddFinalizer(provider, Finalizer("AWSProvider")) {
		// Before anything is made through it: a provider must not vanish from under its dependents.
		if err := r.Client.Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		was = provider.DeepCopy()
	}
	err := r.authenticate(ctx, provider)
	r.summarise(provider, was, err)
	if werr := r.patchStatus(ctx, provider, was); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	if err != nil {
		return reconcile.Result{RequeueAfter: r.pauses.after(req.NamespacedName, err)}, nil
	}
	r.pauses.forget(req.NamespacedName)
	return atRest(r.Pace.jitter(r.Pace.CheckEvery)), nil
}

// authenticate asks STS who the provider's identity is and holds the answer against the guards.
func (r *Provider) authenticate(ctx context.Context, provider *v1alpha1.AWSProvider) error {
	provider.Status.ExternalID = awsclient.ExternalID(r.ClusterID, provider.Namespace, provider.Name)
	id, err := r.Providers.resolve(ctx, provider)
	if hasCredentials(provider) {
		r.Watch(ctx, provider.Namespace)
	}
	if err != nil {
		return err
	}
	session, err := r.Providers.Sessions.Revalidate(ctx, id)
	if err != nil {
		return err
	}
	if allowed := provider.Spec.AllowedAccountIDs; len(allowed) > 0 {
		found := false
		for _, a := range allowed {
			found = found || string(a) == session.Account
		}
		if !found {
			return &status.Stalled{Reason: status.ReasonAccountNotAllowed, Field: "spec.allowedAccountIDs",
				Message: fmt.Sprintf("the credentials belong to account %s, which is not listed", session.Account)}
		}
	}
	st := &provider.Status
	st.AccountID, st.CallerIdentity, st.Partition = session.Account, session.CallerARN, session.Partition
	return nil
}

func (r *Provider) summarise(provider, was *v1alpha1.AWSProvider, err error) {
	st := &provider.Status
	status.Summarise(&st.Conditions, status.Result{Err: err, ReadyReason: status.ReasonAuthenticated,
		ReadyMessage: st.CallerIdentity, Generation: provider.Generation, Now: r.Clock.Now()})
	st.Ready = status.ReadyAt(st.Conditions, provider.Generation)
	st.ObservedGeneration = provider.Generation
	s, ok := status.AsStalled(err)
	if ok && !stalledFor(was.Status.Conditions, s.Reason) {
		r.Events.Eventf(provider, nil, "Warning", s.Reason, "Authenticate", "%s", status.Bound(s.Error(), maxNote))
	}
}

// maxNote is what an event's note holds, in bytes, with room to spare.
const maxNote = 1000

func stalledFor(conds []metav1.Condition, reason string) bool {
	for _, c := range conds {
		if c.Type == status.Stall && c.Status == metav1.ConditionTrue && c.Reason == reason {
			return true
		}
	}
	return false
}

func (r *Provider) patchStatus(ctx context.Context, provider, was *v1alpha1.AWSProvider) error {
	if equality.Semantic.DeepEqual(provider.Status, was.Status) {
		return nil
	}
	now := metav1.NewTime(r.Clock.Now())
	if provider.Status.Ready && !was.Status.Ready {
		provider.Status.LastAuthenticationTime = &now
	}
	return r.Client.Status().Patch(ctx, provider, client.MergeFrom(was))
}

// inUsePoll is how soon a provider in deletion counts its dependents again.
const inUsePoll = 2 * time.Second

// release lets a deleted provider go once nothing depends on it.
func (r *Provider) release(ctx context.Context, provider, was *v1alpha1.AWSProvider) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(provider, Finalizer("AWSProvider")) {
		return reconcile.Result{}, nil
	}
	n, err := r.Dependents(ctx, provider.Namespace, provider.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if n > 0 {
		status.Set(&provider.Status.Conditions, provider.Generation, r.Clock.Now(), metav1.Condition{Type: conditionInUse, Status: metav1.ConditionTrue,
			Reason: status.ReasonInUse, Message: fmt.Sprintf("%d objects still use this provider; it goes when they are gone", n)})
		// A deletion counts as a new generation: without a look at it the dependents, which need the
		// provider for their own deletion, would take it for not ready, for ever.
		r.summarise(provider, was, r.authenticate(ctx, provider))
		return reconcile.Result{RequeueAfter: inUsePoll}, client.IgnoreNotFound(r.patchStatus(ctx, provider, was))
	}
	controllerutil.RemoveFinalizer(provider, Finalizer("AWSProvider"))
	if err := r.Client.Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	r.Providers.forget(provider.UID)
	return reconcile.Result{}, nil
}

// CountDependents counts through the cache's index on the provider's name.
func CountDependents(c client.Reader, entries []engine.Entry, list func(engine.Entry) client.ObjectList) func(context.Context, string, string) (int, error) {
	return func(ctx context.Context, namespace, name string) (int, error) {
		n := 0
		for _, e := range entries {
			l := list(e)
			if err := c.List(ctx, l, client.InNamespace(namespace), client.MatchingFields{ProviderIndex: name}); err != nil {
				return 0, fmt.Errorf("counting %s: %w", e.Name(), err)
			}
			n += lenOf(l)
		}
		return n, nil
	}
}
