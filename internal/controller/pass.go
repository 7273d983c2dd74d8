package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// pass is one look at one object. It is the engine's Host.
type pass struct {
	r    *Resource
	obj  v1alpha1.Resource
	was  v1alpha1.Resource // as read
	home string
	refs map[string]kind.Target
	did  []string
	// propagating is true once AWS answered that it does not know a role yet.
	propagating bool
}

func newPass(r *Resource, obj v1alpha1.Resource) *pass {
	return &pass{r: r, obj: obj, was: obj.DeepCopyObject().(v1alpha1.Resource), refs: map[string]kind.Target{}}
}

// advance gathers what the engine needs and lets it work. What needs no AWS is settled before.
func (p *pass) advance(ctx context.Context) (engine.Outcome, error) {
	intent, done, err := p.without()
	if done || err != nil {
		return engine.Outcome{Gone: done}, err
	}
	trusted, err := p.r.Vouch.Vouches(ctx, p.obj)
	if err != nil {
		return engine.Outcome{}, err
	}
	session, provider, err := p.r.Providers.For(ctx, p.obj, trusted)
	if err != nil {
		return engine.Outcome{}, err
	}
	if err := p.fits(session, intent); err != nil {
		return engine.Outcome{}, err
	}
	p.home = engine.Home(session.Partition, session.Account, session.Region)
	owner := p.owner(provider, intent)
	// Where nobody vouches for what is written in the object, only its UID, which is the server's, counts.
	owner.OnlyOwn = owner.Deleting && (intent == nil || !trusted && p.r.Providers.borrowed(provider))
	sc, err := p.scope(ctx, session, provider, owner)
	if err != nil {
		return engine.Outcome{}, err
	}
	sc.Trusted = trusted
	return engine.Advance(ctx, p.decider(session, sc), p.r.Entry.Meta(), owner, p)
}

// decider decides for the object under one identity, and keeps what AWS assigned.
func (p *pass) decider(session *awsclient.Session, sc kind.Scope) engine.Decider {
	return func(ctx context.Context, o engine.Owner) (engine.Plan, error) {
		plan, err := p.r.Entry.Decide(ctx, session.Config, sc, o, p.obj)
		if plan.Publish != nil {
			plan.Publish(p.obj)
		}
		return plan, err
	}
}

// fits says whether a session leads to where the resource lives, when the record of it was taken away
// and only the ARN in the status tells.
func (p *pass) fits(session *awsclient.Session, intent *engine.Intent) error {
	parts := strings.SplitN(p.obj.CommonStatus().ARN, ":", 6)
	if intent != nil || len(parts) < 6 {
		return nil
	}
	region, account := parts[3], parts[4] // S3 names neither, IAM no region
	if region != "" && region != session.Region || account != "" && account != session.Account {
		return &status.Stalled{Reason: status.ReasonProviderMoved, Field: "spec.providerRef", Message: fmt.Sprintf(
			"the resource is %s and the provider leads to account %s, region %s; point the provider back", p.obj.CommonStatus().ARN, session.Account, session.Region)}
	}
	return nil
}

// without settles what needs neither AWS nor credentials: a pause, and deletions that leave AWS alone.
// Done says that the object may go; the intent is what was recorded otherwise.
func (p *pass) without() (intent *engine.Intent, done bool, err error) {
	deleting := p.obj.GetDeletionTimestamp() != nil
	if deleting && !controllerutil.ContainsFinalizer(p.obj, Finalizer(p.r.Entry.Name())) {
		return nil, true, nil
	}
	intent, err = engine.ReadIntent(p.obj.GetAnnotations())
	if err != nil {
		return nil, false, &status.Stalled{Reason: status.ReasonInvalidSpec, Message: err.Error()}
	}
	// Without a record nothing was ever made, unless the status knows better: then the annotation was
	// taken away. With Retain what was made stays, as does what was only observed.
	st, spec := p.obj.CommonStatus(), p.obj.CommonSpec()
	nothing := intent == nil && st.ARN == "" && st.ID == ""
	stays := p.deletionPolicy() == v1alpha1.DeletionRetain || spec.ManagementPolicy == v1alpha1.ManageObserve
	return intent, deleting && (nothing || stays), nil
}

func (p *pass) deletionPolicy() v1alpha1.DeletionPolicy {
	if d := p.obj.CommonSpec().DeletionPolicy; d != "" {
		return d
	}
	if p.r.Entry.Meta().Retains {
		return v1alpha1.DeletionRetain
	}
	return v1alpha1.DeletionDelete
}

func (p *pass) owner(provider *v1alpha1.AWSProvider, intent *engine.Intent) engine.Owner {
	spec, st := p.obj.CommonSpec(), p.obj.CommonStatus()
	o := engine.Owner{
		Kind: p.r.Entry.Name(), Namespace: p.obj.GetNamespace(), Name: p.obj.GetName(), UID: string(p.obj.GetUID()),
		Cluster: p.r.ClusterID, Previous: p.r.PreviousClusterIDs,
		Generation: p.obj.GetGeneration(), SyncedGeneration: st.SyncedGeneration,
		Deleting: p.obj.GetDeletionTimestamp() != nil, Deletion: p.deletionPolicy(),
		Adoption: spec.AdoptionPolicy, Management: spec.ManagementPolicy, Drift: spec.DriftPolicy,
		AllowAdoption: provider.Spec.AllowAdoption && spec.DeletionPolicy != "", TrustAttempts: p.r.TrustAttempts,
		Intent: intent, Known: st.ARN != "" || st.ID != "", ManagedTagKeys: st.ManagedTagKeys,
	}
	if s, ok := p.obj.(interface{ RecreatesOnLoss() bool }); ok {
		o.RecreateOnLoss = s.RecreatesOnLoss()
	}
	return o
}

// maxTags is what is left to users of AWS's 50 tags a resource.
const maxTags = 40

func (p *pass) scope(ctx context.Context, session *awsclient.Session, provider *v1alpha1.AWSProvider, o engine.Owner) (kind.Scope, error) {
	tags := map[string]string{}
	for k, v := range provider.Spec.DefaultTags {
		tags[k] = string(v)
	}
	for k, v := range p.obj.CommonSpec().Tags {
		tags[k] = string(v)
	}
	if len(tags) > maxTags {
		return kind.Scope{}, status.Invalid("spec.tags", "%d tags with the provider's defaultTags, at most %d are possible", len(tags), maxTags)
	}
	if o.Management != v1alpha1.ManageObserve { // who only looks owns nothing
		maps.Copy(tags, o.OwnerTags())
	}
	return kind.Scope{
		Tags: tags, OwnerTags: o.OwnerTags(),
		Partition: session.Partition, Account: session.Account, Region: session.Region,
		UID: o.UID, Namespace: o.Namespace, Deleting: o.Deleting, DeletionPolicy: string(o.Deletion),
		Issuer: p.r.Issuer(ctx), Boundary: provider.Spec.PermissionsBoundaryARN, RolePath: provider.Spec.RolePathPrefix,
		Ref:    func(kind, name string) (kind.Target, error) { return p.resolve(ctx, o, kind, name) },
		Secret: func(name, key string) ([]byte, error) { return p.r.Providers.secretKey(ctx, o.Namespace, name, key) },
	}, nil
}

// resolve answers a reference from the other object's status; while deleting, from what was recorded,
// because the other object may be gone by then.
func (p *pass) resolve(ctx context.Context, o engine.Owner, kindName, name string) (kind.Target, error) {
	id := kindName + "/" + name
	if o.Deleting && o.Intent != nil {
		if t, ok := o.Intent.Refs[id]; ok {
			return t, nil
		}
	}
	wait := &status.Waiting{Reason: status.ReasonWaiting, For: id + " to be ready", After: 30 * time.Second}
	target, err := p.r.Providers.target(ctx, p.obj.GetNamespace(), kindName, name)
	if err != nil {
		return kind.Target{}, err
	}
	if target == nil {
		return kind.Target{}, wait
	}
	st := target.CommonStatus()
	if !st.Ready || st.ID == "" && st.ARN == "" {
		return kind.Target{}, wait
	}
	t := kind.Target{ID: st.ID, ARN: st.ARN}
	p.refs[id] = t
	return t, nil
}

// Commit implements engine.Host.
func (p *pass) Commit(ctx context.Context, i *engine.Intent) error {
	i.Home = p.home
	annotations, err := i.Annotations()
	if err != nil {
		return err
	}
	next := p.obj.DeepCopyObject().(v1alpha1.Resource)
	controllerutil.AddFinalizer(next, Finalizer(p.r.Entry.Name()))
	all := maps.Clone(next.GetAnnotations())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, annotations)
	next.SetAnnotations(all)
	if err := p.r.Client.Patch(ctx, next, client.MergeFromWithOptions(p.obj, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	p.obj.SetResourceVersion(next.GetResourceVersion())
	p.obj.SetAnnotations(next.GetAnnotations())
	p.obj.SetFinalizers(next.GetFinalizers())
	return nil
}

// Refs implements engine.Host.
func (p *pass) Refs() map[string]kind.Target { return p.refs }

// Store implements engine.Host.
func (p *pass) Store(ctx context.Context, id string) error {
	p.obj.CommonStatus().ID = id
	return p.patchStatus(ctx)
}

// AlreadyExists implements engine.Host.
func (p *pass) AlreadyExists(err error) bool { return awsclient.Is(err, awsclient.Exists) }

// Now implements engine.Host.
func (p *pass) Now() time.Time { return p.r.Clock.Now() }

// Did implements engine.Host.
func (p *pass) Did(plan engine.Plan) {
	var actions []string
	for _, s := range plan.Steps {
		actions = append(actions, s.Action)
	}
	slices.Sort(actions)
	actions = slices.Compact(actions)
	p.did = append(p.did, actions...)
	note := fmt.Sprintf("%s: %v", plan.Cause, actions)
	if plan.Cause == engine.Drifted {
		note = fmt.Sprintf("corrected %d fields changed outside: %v", len(plan.Diff), actions)
	}
	p.event("Normal", string(plan.Cause), "Apply", note)
}

func (p *pass) event(kind, reason, action, note string) {
	p.r.Events.Eventf(p.obj, nil, kind, reason, action, "%s", status.Bound(note, 1000))
}

// summarise turns the pass into the object's status, in memory.
func (p *pass) summarise(out engine.Outcome, err error) {
	st, now := p.obj.CommonStatus(), p.r.Clock.Now()
	meta.RemoveStatusCondition(&st.Conditions, conditionPaused)
	status.Summarise(&st.Conditions, status.Result{Err: err, Generation: p.obj.GetGeneration(), Now: now})
	for _, n := range out.Plan.Notes {
		c := metav1.Condition{Type: n.Type, Status: metav1.ConditionFalse, Reason: n.Reason, Message: n.Message}
		if n.True {
			c.Status = metav1.ConditionTrue
		}
		status.Set(&st.Conditions, p.obj.GetGeneration(), now, c)
	}
	st.Ready = status.ReadyAt(st.Conditions, p.obj.GetGeneration())
	st.Drift = driftEntries(out.Drift)
	if out.Synced && err == nil {
		st.SyncedGeneration = p.obj.GetGeneration()
		if out.Plan.Cause == engine.InSync {
			st.ManagedTagKeys = out.Plan.TagKeys
		}
		st.LastHandledReconcileAt = reconcileAt(p.obj)
	}
	if _, transient := errors.AsType[*status.Retrying](err); !transient {
		st.ObservedGeneration = p.obj.GetGeneration()
	}
	p.warn(err)
}

// warn makes an event of a failure when it is news.
func (p *pass) warn(err error) {
	s, ok := status.AsStalled(err)
	if !ok {
		return
	}
	for _, c := range p.was.CommonStatus().Conditions {
		if c.Type == status.Stall && c.Status == metav1.ConditionTrue && c.Reason == s.Reason {
			return
		}
	}
	p.event("Warning", s.Reason, "Reconcile", s.Error())
}

// patchStatus writes the status if anything but its times changed.
func (p *pass) patchStatus(ctx context.Context) error {
	st, was := p.obj.CommonStatus(), p.was.CommonStatus()
	st.LastSyncTime = was.LastSyncTime
	if equality.Semantic.DeepEqual(p.obj, p.wasWithMeta()) {
		return nil
	}
	now := metav1.NewTime(p.r.Clock.Now())
	st.LastSyncTime = &now
	next := p.obj.DeepCopyObject().(v1alpha1.Resource)
	if err := p.r.Client.Status().Patch(ctx, next, client.MergeFrom(p.wasWithMeta())); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	p.obj.SetResourceVersion(next.GetResourceVersion())
	p.was = p.obj.DeepCopyObject().(v1alpha1.Resource)
	return nil
}

// wasWithMeta is the object as read, with the metadata of now: the status patch carries only status.
func (p *pass) wasWithMeta() v1alpha1.Resource {
	was := p.was.DeepCopyObject().(v1alpha1.Resource)
	was.SetResourceVersion(p.obj.GetResourceVersion())
	was.SetAnnotations(p.obj.GetAnnotations())
	was.SetFinalizers(p.obj.GetFinalizers())
	return was
}

// maxDrift and maxDriftValue are the bounds of status.drift in the schema.
const (
	maxDrift      = 32
	maxDriftPath  = 256
	maxDriftValue = 512
)

func driftEntries(d kind.Diff) []v1alpha1.DriftEntry {
	var out []v1alpha1.DriftEntry
	for _, c := range d[:min(len(d), maxDrift)] {
		out = append(out, v1alpha1.DriftEntry{Path: status.Bound(c.Path, maxDriftPath),
			Want: status.Bound(c.Want, maxDriftValue), Have: status.Bound(c.Have, maxDriftValue)})
	}
	return out
}

func ownNamespace(field, namespace string, obj client.Object) error {
	if namespace != "" && namespace != obj.GetNamespace() {
		return status.Invalid(field, "must be empty or the object's own namespace %s", obj.GetNamespace())
	}
	return nil
}
