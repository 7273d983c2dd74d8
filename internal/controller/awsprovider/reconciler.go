// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// conditionInUse names the objects that use a provider that is being deleted.
const conditionInUse = "InUse"

// Reconciler reconciles AWSProviders: it finds the identity and the account of the credentials, and keeps a provider in use.
type Reconciler struct {
	reconciler.Environment
	Sessions *awssession.Directory
	// Dependents names the objects of every kind that use a provider, except other providers, in a stable order.
	Dependents func(ctx context.Context, namespace, name string) ([]string, error)
	// Watch makes sure that changes of Secrets in the namespace come back as requests.
	Watch func(ctx context.Context, namespace string)

	// Drift reads the queues that report changes; nil where none is read.
	Drift DriftEvents

	retries *reconciler.Backoff
	checks  *reconciler.Schedule
	shown   shown
}

// New prepares the reconciler.
func New(env reconciler.Environment, providers *awssession.Directory, dependents func(context.Context, string, string) ([]string, error),
	watch func(context.Context, string)) *Reconciler {
	return &Reconciler{Environment: env, Sessions: providers, Dependents: dependents, Watch: watch,
		retries: reconciler.NewBackoff(env.Intervals, env.Clock), checks: reconciler.NewSchedule()}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	provider := &v1alpha1.AWSProvider{}
	if err := r.Client.Get(ctx, req.NamespacedName, provider); err != nil {
		r.retries.Drop(req.NamespacedName)
		r.checks.Forget(req.NamespacedName)
		r.dropQueue(req.NamespacedName)
		if client.IgnoreNotFound(err) == nil { // its finalizer may have been cut
			err = r.removeSecretFinalizers(ctx, req.Namespace, "")
		}
		return reconcile.Result{}, err
	}
	if held, err := r.Frozen(ctx, provider); held || err != nil {
		return reconcile.Result{}, err
	}
	ctx = awsclient.WithObject(ctx, "AWSProvider", provider.Namespace, provider.Name)
	was := provider.DeepCopy()
	if provider.DeletionTimestamp != nil {
		return r.release(ctx, provider, was)
	}
	if controllerutil.AddFinalizer(provider, v1alpha1.FinalizerOf("AWSProvider")) {
		// Before anything is made through it: a provider must not vanish from under its dependents.
		if err := r.Client.Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
			return r.retries.Failed(client.ObjectKeyFromObject(provider), err)
		}
		was = provider.DeepCopy()
	}
	if wait := r.timeToNextCheck(provider); wait > 0 {
		return reconciler.RequeueAtRest(wait), nil
	}
	return r.reconcileReady(ctx, provider, was)
}

// timeToNextCheck returns how long a provider that is ready is left alone, so that a restart asks STS nothing before its time. A provider
// with its own credentials is always looked at: a change of its Secret may have caused this pass.
func (r *Reconciler) timeToNextCheck(provider *v1alpha1.AWSProvider) time.Duration {
	if awssession.HasCredentials(provider) || !status.ReadyAt(provider.Status.Conditions, provider.Generation) ||
		reconciler.RequestedAt(provider) != provider.Status.LastHandledReconcileAt {
		return 0
	}
	key := client.ObjectKeyFromObject(provider)
	due, ok := r.checks.Due(key)
	if !ok {
		due = r.Clock.Now().Add(time.Duration(rand.Int64N(int64(r.Intervals.Check))))
		r.checks.Set(key, due)
	}
	return max(0, due.Sub(r.Clock.Now()))
}

// reconcileReady authenticates, and records the identity and the reasons why the provider or its Secret stays.
func (r *Reconciler) reconcileReady(ctx context.Context, provider, was *v1alpha1.AWSProvider) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(provider)
	going, err := r.addSecretFinalizers(ctx, provider)
	if err != nil {
		return r.retries.Failed(key, err)
	}
	if len(going) > 0 || provider.Status.ObservedGeneration != provider.Generation { // a reference may have been dropped
		if err := r.removeSecretFinalizers(ctx, provider.Namespace, ""); err != nil {
			return r.retries.Failed(key, err)
		}
	}
	if !hasWorked(provider) {
		going = nil
	}
	inUse, err := r.reportUse(ctx, provider, going)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = r.authenticate(ctx, provider)
	r.summarize(provider, was, err)
	r.showDriftEvents(provider, was)
	if werr := r.patchStatus(ctx, provider, was); werr != nil {
		return r.retries.Failed(key, werr)
	}
	switch {
	case err != nil:
		return r.retries.Failed(key, err)
	case inUse:
		return reconcile.Result{RequeueAfter: r.Intervals.Jitter(inUsePoll)}, nil
	default:
		after := r.Intervals.Jitter(r.Intervals.Check)
		r.checks.Set(key, r.Clock.Now().Add(after))
		return reconciler.RequeueAtRest(after), nil
	}
}

// reportUse says in a condition who keeps a provider, or a Secret of it, that is to be deleted.
func (r *Reconciler) reportUse(ctx context.Context, provider *v1alpha1.AWSProvider, going []*metav1.PartialObjectMetadata) (bool, error) {
	what := "this provider, which goes when they are gone"
	if provider.DeletionTimestamp == nil {
		if len(going) == 0 {
			meta.RemoveStatusCondition(&provider.Status.Conditions, conditionInUse)
			return false, nil
		}
		what = "Secret " + namesOf(going) + ", which goes when they are gone or the provider reads another one"
	}
	users, err := r.Dependents(ctx, provider.Namespace, provider.Name)
	if err != nil || len(users) == 0 {
		return false, err
	}
	r.tellSecrets(provider, going, users)
	status.Set(&provider.Status.Conditions, provider.Generation, r.Clock.Now(),
		metav1.Condition{Type: conditionInUse, Status: metav1.ConditionTrue,
			Reason: status.ReasonInUse, Message: inUseMessage(users, what)})
	return true, nil
}

func namesOf(objects []*metav1.PartialObjectMetadata) string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Name)
	}
	return strings.Join(out, ", ")
}

// inUseMessage names the first objects that need something, and counts the others.
func inUseMessage(users []string, what string) string {
	const most = 5
	text := status.Counted(len(users), "object still needs ", "objects still need ") + what + ": " +
		strings.Join(users[:min(most, len(users))], ", ")
	if more := len(users) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// authenticate asks STS who the provider's identity is and holds the answer against the guards.
func (r *Reconciler) authenticate(ctx context.Context, provider *v1alpha1.AWSProvider) error {
	provider.Status.ExternalID = awsclient.ExternalID(r.ClusterID, provider.Namespace, provider.Name)
	id, err := r.Sessions.Resolve(ctx, provider)
	if awssession.HasCredentials(provider) {
		r.Watch(ctx, provider.Namespace)
		if ref := provider.Spec.CredentialsSecret; ref != nil && ref.Namespace == r.Sessions.OperatorNamespace && ref.Namespace != "" {
			r.Watch(ctx, ref.Namespace)
		}
	}
	if err != nil {
		return err
	}
	ask := r.Sessions.Sessions.Revalidate
	if provider.DeletionTimestamp != nil && status.ReadyAt(provider.Status.Conditions, provider.Generation) {
		ask = r.Sessions.Sessions.Open // every dependent that goes brings us here: asked again only with other keys
	}
	session, err := ask(ctx, id)
	if err != nil {
		return err
	}
	if err := awssession.AccountAllowed(provider, session); err != nil {
		return err
	}
	st := &provider.Status
	st.AccountID, st.CallerIdentity, st.Partition = session.Account, session.Identity(), session.Partition
	return nil
}

func (r *Reconciler) summarize(provider, was *v1alpha1.AWSProvider, err error) {
	st := &provider.Status
	since := r.retries.Observe(client.ObjectKeyFromObject(provider), err)
	status.Summarize(&st.Conditions, status.Result{Err: err, ReadyReason: status.ReasonAuthenticated,
		ReadyMessage: readyMessage(provider), Generation: provider.Generation, Now: r.Clock.Now(), FailingSince: since})
	st.Ready = status.ReadyAt(st.Conditions, provider.Generation)
	st.ObservedGeneration, st.LastHandledReconcileAt = provider.Generation, reconciler.RequestedAt(provider)
	s, ok := status.AsStalled(err)
	if ok && !reconciler.StalledFor(was.Status.Conditions, s.Reason) {
		r.Events.Warning(provider, s.Reason, "Authenticate", s.Error())
	}
}

// readyMessage names the identity, and warns of a consent that holds for every kind.
func readyMessage(p *v1alpha1.AWSProvider) string {
	if !p.Spec.AllowAdoption || len(p.Spec.AdoptableKinds) > 0 {
		return p.Status.CallerIdentity
	}
	return p.Status.CallerIdentity +
		"; allowAdoption lets objects of every kind adopt resources, IAMRole included: list the kinds in spec.adoptableKinds"
}

func (r *Reconciler) patchStatus(ctx context.Context, provider, was *v1alpha1.AWSProvider) error {
	if equality.Semantic.DeepEqual(provider.Status, was.Status) {
		return nil
	}
	now := metav1.NewTime(r.Clock.Now())
	provider.Status.LastSyncTime = &now
	if provider.Status.Ready && !was.Status.Ready {
		provider.Status.LastAuthenticationTime = &now
	}
	// A patch that is computed from an outdated status would leave stale fields in the present status.
	return r.Client.Status().Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
}

// inUsePoll is the pause before a provider that is to be deleted looks again at itself and its dependents: the status mentions when they
// end.
const inUsePoll = 10 * time.Second

// release lets a deleted provider go once nothing depends on it. Until then it is kept fit for use,
// because its dependents cannot go without it.
func (r *Reconciler) release(ctx context.Context, provider, was *v1alpha1.AWSProvider) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(provider, v1alpha1.FinalizerOf("AWSProvider")) {
		return reconcile.Result{}, nil
	}
	users, err := r.Dependents(ctx, provider.Namespace, provider.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(users) > 0 {
		if free, err := r.isReplaceable(ctx, provider); err != nil || !free {
			return r.reconcileReady(ctx, provider, was)
		}
	}
	if err := r.removeSecretFinalizers(ctx, provider.Namespace, provider.UID); err != nil {
		return r.retries.Failed(client.ObjectKeyFromObject(provider), err)
	}
	controllerutil.RemoveFinalizer(provider, v1alpha1.FinalizerOf("AWSProvider"))
	if err := r.Client.Patch(ctx, provider, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return r.retries.Failed(client.ObjectKeyFromObject(provider), err)
	}
	r.Sessions.Forget(provider.UID)
	return reconcile.Result{}, nil
}

// FindDependents names the objects through the cache's index on the provider's name, as "S3Bucket team-a/logs".
func FindDependents(c client.Reader, entries []engine.Entry, list func(engine.Entry) client.ObjectList) func(context.Context, string,
	string) ([]string, error) {
	return func(ctx context.Context, namespace, name string) ([]string, error) {
		var out []string
		for _, e := range entries {
			l := list(e)
			if err := c.List(ctx, l, client.InNamespace(namespace), client.MatchingFields{reconciler.ProviderIndex: name}); err != nil {
				return nil, fmt.Errorf("listing the %s objects that use a provider: %w", e.Name(), err)
			}
			err := meta.EachListItem(l, func(item runtime.Object) error {
				o := item.(client.Object)
				out = append(out, fmt.Sprintf("%s %s/%s", e.Name(), o.GetNamespace(), o.GetName()))
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		slices.Sort(out) // lists from a cache have no order, and the message must not change without a cause
		return out, nil
	}
}
