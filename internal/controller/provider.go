package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
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
		r.checks.forget(req.NamespacedName)
		if client.IgnoreNotFound(err) == nil { // its finalizer may have been cut
			err = r.sweep(ctx, req.Namespace, "")
		}
		return reconcile.Result{}, err
	}
	was := provider.DeepCopy()
	if provider.DeletionTimestamp != nil {
		return r.release(ctx, provider, was)
	}
	if controllerutil.AddFinalizer(provider, Finalizer("AWSProvider")) {
		// Before anything is made through it: a provider must not vanish from under its dependents.
		if err := r.Client.Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
			return r.retry(provider, err)
		}
		was = provider.DeepCopy()
	}
	if wait := r.rest(provider); wait > 0 {
		return atRest(wait), nil
	}
	return r.settle(ctx, provider, was)
}

// rest is how long a provider that is ready is left alone, so that a restart asks STS nothing before its
// time. One with credentials of its own is always looked at: its Secret may be what woke us.
func (r *Provider) rest(provider *v1alpha1.AWSProvider) time.Duration {
	if hasCredentials(provider) || !status.ReadyAt(provider.Status.Conditions, provider.Generation) ||
		reconcileAt(provider) != provider.Status.LastHandledReconcileAt {
		return 0
	}
	key := client.ObjectKeyFromObject(provider)
	due, ok := r.checks.due(key)
	if !ok {
		due = r.Clock.Now().Add(time.Duration(rand.Int64N(int64(r.Pace.CheckEvery))))
		r.checks.set(key, due)
	}
	return max(0, due.Sub(r.Clock.Now()))
}

// settle authenticates, and writes down who that is and what keeps the provider or its Secret.
func (r *Provider) settle(ctx context.Context, provider, was *v1alpha1.AWSProvider) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(provider)
	going, err := r.hold(ctx, provider)
	if err != nil {
		return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
	}
	if len(going) > 0 || provider.Status.ObservedGeneration != provider.Generation { // a reference may have been dropped
		if err := r.sweep(ctx, provider.Namespace, ""); err != nil {
			return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
		}
	}
	inUse, err := r.use(ctx, provider, going)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = r.authenticate(ctx, provider)
	r.summarise(provider, was, err)
	if werr := r.patchStatus(ctx, provider, was); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	switch {
	case err != nil:
		return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
	case inUse:
		r.pauses.forget(key)
		return reconcile.Result{RequeueAfter: r.Pace.jitter(inUsePoll)}, nil
	default:
		r.pauses.forget(key)
		after := r.Pace.jitter(r.Pace.CheckEvery)
		r.checks.set(key, r.Clock.Now().Add(after))
		return atRest(after), nil
	}
}

// use says in a condition who keeps a provider, or a Secret of it, that is to be deleted.
func (r *Provider) use(ctx context.Context, provider *v1alpha1.AWSProvider, going []string) (bool, error) {
	what := "this provider"
	if provider.DeletionTimestamp == nil {
		if len(going) == 0 {
			meta.RemoveStatusCondition(&provider.Status.Conditions, conditionInUse)
			return false, nil
		}
		what = "Secret " + strings.Join(going, ", ")
	}
	n, err := r.Dependents(ctx, provider.Namespace, provider.Name)
	if err != nil || n == 0 {
		return false, err
	}
	status.Set(&provider.Status.Conditions, provider.Generation, r.Clock.Now(), metav1.Condition{Type: conditionInUse, Status: metav1.ConditionTrue,
		Reason: status.ReasonInUse, Message: fmt.Sprintf("%d objects still need %s, which goes when they are gone", n, what)})
	return true, nil
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
	ask := r.Providers.Sessions.Revalidate
	if provider.DeletionTimestamp != nil && status.ReadyAt(provider.Status.Conditions, provider.Generation) {
		ask = r.Providers.Sessions.Open // every dependent that goes brings us here: asked again only with other keys
	}
	session, err := ask(ctx, id)
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
	st.ObservedGeneration, st.LastHandledReconcileAt = provider.Generation, reconcileAt(provider)
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

// inUsePoll is how soon a provider that is to be deleted looks again at itself and its dependents, whose
// end it is told of besides.
const inUsePoll = 10 * time.Second

// release lets a deleted provider go once nothing depends on it. Until then it is kept fit for use,
// because its dependents cannot go without it.
func (r *Provider) release(ctx context.Context, provider, was *v1alpha1.AWSProvider) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(provider, Finalizer("AWSProvider")) {
		return reconcile.Result{}, nil
	}
	n, err := r.Dependents(ctx, provider.Namespace, provider.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if n > 0 {
		return r.settle(ctx, provider, was)
	}
	if err := r.sweep(ctx, provider.Namespace, provider.UID); err != nil {
		return reconcile.Result{RequeueAfter: r.pauses.after(client.ObjectKeyFromObject(provider), err)}, nil
	}
	controllerutil.RemoveFinalizer(provider, Finalizer("AWSProvider"))
	if err := r.Client.Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return r.retry(provider, err)
	}
	r.Providers.forget(provider.UID)
	return reconcile.Result{}, nil
}

// retry tries again what another writer came before in.
func (r *Provider) retry(provider *v1alpha1.AWSProvider, err error) (reconcile.Result, error) {
	if client.IgnoreNotFound(err) == nil {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: r.pauses.after(client.ObjectKeyFromObject(provider), err)}, nil
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
