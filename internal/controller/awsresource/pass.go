// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// pass is one reconcile of one object. It is the engine's Host.
type pass struct {
	r       *Reconciler
	obj     v1alpha1.Resource // of the subject
	subject *subject
	home    string
	// signs is true where the record of the object is signed, because a capability lends it the operator's identity.
	signs bool
	refs  map[string]kind.Target
	work  *work

	usage       *usage
	propagation *propagation
	pacing      *pacing
	reports     *reports
	readAt      *reading
	// requested counts the checks of the object that had been requested when the pass began.
	requested int
}

func newPass(r *Reconciler, obj v1alpha1.Resource) *pass {
	s, w := newSubject(r, obj), &work{}
	return &pass{r: r, obj: obj, subject: s, refs: map[string]kind.Target{}, work: w, usage: newUsage(r, obj),
		propagation: newPropagation(r, obj), pacing: newPacing(s, w, r.Intervals), reports: newReports(r, s, w), readAt: newReading(r, obj)}
}

// advance gathers the facts for the engine and lets it work. Passes that need no AWS end before.
func (p *pass) advance(ctx context.Context) (engine.Outcome, error) {
	engine.ForgetObserved(p.obj)
	intent, done, err := p.finishWithoutAWS()
	if done || err != nil {
		return engine.Outcome{Gone: done}, err
	}
	trusted, err := p.r.Sessions.Provenance.IsGenerated(ctx, p.obj)
	if err == nil && p.obj.GetDeletionTimestamp() == nil {
		err = p.r.mayBeApplied(ctx, p.obj, trusted)
	}
	if err != nil {
		return engine.Outcome{}, err
	}
	session, provider, err := p.r.Sessions.For(ctx, p.obj, trusted)
	if err != nil {
		return engine.Outcome{}, err
	}
	if err := p.checkHome(session, intent); err != nil {
		return engine.Outcome{}, err
	}
	p.home, p.signs = engine.Home(session.Partition, session.Account, session.Region), awssession.IsLent(provider)
	facts := p.facts(ctx, session, provider, intent)
	facts.Trusted, facts.Check = trusted, p.r.cadence().checkOf(p.obj)
	if err := p.addGuards(ctx, &facts); err != nil {
		return engine.Outcome{}, err
	}
	if err := facts.CheckSignature(p.r.Entry.Name(), p.obj, intent); err != nil {
		return engine.Outcome{}, err
	}
	owner := engine.OwnerOf(p.r.Entry, p.obj, intent, facts)
	sc, err := engine.ScopeOf(p.obj, owner, facts)
	if err != nil {
		return engine.Outcome{}, err
	}
	return engine.Advance(ctx, p.decider(session, provider, sc), p.r.Entry.Meta(), owner, p)
}

// addGuards adds the facts that hold writes and deletions back.
func (p *pass) addGuards(ctx context.Context, facts *engine.Facts) (err error) {
	if facts.Data.Guarded, err = p.r.guardsData(ctx, p.obj, facts.Trusted); err != nil {
		return err
	}
	if facts.Data.NeededDays, err = p.usage.neededDays(ctx); err != nil {
		return err
	}
	if facts.Gated, err = p.r.Gate.IsClosed(ctx, p.obj.GetNamespace()); facts.Gated && p.r.Gate.Covers != nil {
		facts.Covered, err = p.r.Gate.Covers(ctx, p.obj)
	}
	return err
}

// mayBeApplied checks the spec of an object. An object that its capability compiles to is valid: the rules of a kind, once they are
// prepared, take about 1 MB.
func (r *Reconciler) mayBeApplied(ctx context.Context, obj v1alpha1.Resource, generated bool) error {
	if !generated {
		if err := r.validate(ctx, obj); err != nil {
			return err
		}
	}
	return r.checkParameterPath(ctx, obj)
}

// validate checks an object against the schema of its kind, once for each generation: no other part of an object that the rules read can
// change, and a pass has no other part that takes as long.
func (r *Reconciler) validate(ctx context.Context, obj v1alpha1.Resource) error {
	key := client.ObjectKeyFromObject(obj)
	if r.memories.isValid(key, obj.GetUID(), obj.GetGeneration()) {
		return nil
	}
	err := r.Schemas.Validate(ctx, r.Entry.Name(), obj)
	if err == nil {
		r.memories.recordValid(key, obj.GetUID(), obj.GetGeneration())
	}
	return err
}

// facts gathers the facts that the engine cannot read from the object itself.
func (p *pass) facts(ctx context.Context, session *awsclient.Session, provider *v1alpha1.AWSProvider, intent *engine.Intent) engine.Facts {
	deleting := p.obj.GetDeletionTimestamp() != nil
	issuer, noIssuer := p.r.Issuer(ctx)
	return engine.Facts{
		Cluster: p.r.ClusterID, Types: p.r.Types,
		Neighbors: engine.Neighbors{Previous: p.r.PreviousClusterIDs, Shared: p.r.SharedNamespaces, Foreign: p.r.ForeignResources},
		Borrowed:  p.r.Sessions.Borrowed(provider), Provider: provider.Spec,
		Place: kind.Place{Partition: session.Partition, Account: session.Account, Region: session.Region},
		Federation: kind.Federation{Issuer: issuer, NoIssuer: noIssuer,
			OIDCProvider: p.r.oidcProvider(ctx, session, p.obj), EKSCluster: p.r.EKSCluster},
		Lookups: kind.Lookups{
			Ref: func(kind, name string) (kind.Target, error) {
				if t, ok := recordedTarget(intent, kind, name); deleting && ok {
					return t, nil
				}
				return p.resolve(ctx, engine.Referrer{Home: engine.Home(session.Partition, session.Account, session.Region),
					Foreign: p.r.ForeignResources}, kind, name)
			},
			OwnersOf: session.OwnersOf, Callers: func() ([]string, error) { return p.r.Sessions.Callers(ctx, session) },
			Secret: func(name, key string) ([]byte, error) {
				if p.r.watchSecrets != nil {
					p.r.watchSecrets(ctx, p.obj.GetNamespace())
				}
				return p.r.Sessions.SecretKey(ctx, p.obj.GetNamespace(), name, key)
			},
		},
		Signer: p.signer(ctx),
	}
}

// signer signs and verifies with the operator's keys.
func (p *pass) signer(ctx context.Context) kind.Signer {
	return kind.SignerWith(func() ([][]byte, error) { return p.r.Signing.Ensured(ctx) })
}

// checkHome reports whether a session leads to where the resource lives, when the record of it was removed
// and only the ARN in the status remains.
func (p *pass) checkHome(session *awsclient.Session, intent *engine.Intent) error {
	parts := strings.SplitN(p.obj.CommonStatus().ARN, ":", 6)
	if intent != nil || len(parts) < 6 {
		return nil
	}
	region, account := parts[3], parts[4] // S3 names neither, IAM no region
	if region != "" && region != session.Region || account != "" && account != session.Account {
		return &status.Stalled{Reason: status.ReasonProviderMoved, Field: "spec.providerRef", Message: fmt.Sprintf(
			"the resource is %s and the provider leads to account %s, region %s; point the provider back", p.obj.CommonStatus().ARN, session.Account,
			session.Region)}
	}
	return nil
}

// finishWithoutAWS handles deletions that leave AWS alone, which need neither AWS nor credentials. Done says that the object may go; the
// intent is the record of earlier writes.
func (p *pass) finishWithoutAWS() (intent *engine.Intent, done bool, err error) {
	deleting := p.obj.GetDeletionTimestamp() != nil
	intent, err = engine.ReadIntent(p.obj.GetAnnotations(), string(p.obj.GetUID()))
	if err != nil {
		return nil, false, &status.Stalled{Reason: status.ReasonInvalidSpec, Message: err.Error()}
	}
	// Without a record, or after a refused create, nothing was ever created, unless the status has it: then the annotation was removed.
	// With Retain the resource stays, as does one that was only observed. An object that lost its finalizer is still processed as long as
	// another finalizer keeps it.
	st, spec := p.obj.CommonStatus(), p.obj.CommonSpec()
	nothing := !intent.MayHaveCreated() && st.ARN == "" && st.ID == ""
	stays := engine.DeletionPolicyOf(p.obj, p.r.Entry.Meta()) == v1alpha1.DeletionRetain || spec.ManagementPolicy == v1alpha1.ManageObserve
	return intent, deleting && (nothing || stays), nil
}

func recordedTarget(i *engine.Intent, kindName, name string) (kind.Target, bool) {
	if i == nil {
		return kind.Target{}, false
	}
	t, ok := i.Refs[kindName+"/"+name]
	return t, ok
}

// resolve answers a reference from the status of the referenced object, and records the answer.
func (p *pass) resolve(ctx context.Context, by engine.Referrer, kindName, name string) (kind.Target, error) {
	id := kindName + "/" + name
	target, err := p.r.referencedObject(ctx, p.obj.GetNamespace(), kindName, name)
	if err != nil {
		return kind.Target{}, err
	}
	t, err := engine.TargetOf(by, p.r.Kinds[kindName], name, target)
	if err != nil {
		return kind.Target{}, err
	}
	p.refs[id] = t
	if made := target.GetCreationTimestamp().Time; kindName == "KMSKey" && made.After(p.propagation.newestKey) {
		p.propagation.newestKey = made
	}
	return t, nil
}

// referencedObject finds the object a reference names; nil when it is absent. The kinds of references are those of the catalog.
func (r *Reconciler) referencedObject(ctx context.Context, namespace, kind, name string) (v1alpha1.Resource, error) {
	e, ok := r.Kinds[kind]
	if !ok && !r.Client.Scheme().Recognizes(v1alpha1.GroupVersion.WithKind(kind)) {
		return nil, engine.ErrorOfNoKind(kind, name)
	}
	if !ok {
		return nil, engine.ErrorOfLeftOut(kind, name)
	}
	obj := e.New()
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// Commit implements engine.Host.
func (p *pass) Commit(ctx context.Context, i *engine.Intent) error {
	i.Home = p.home
	if p.signs {
		if err := i.Sign(p.signer(ctx), p.r.Entry.Name(), p.obj); err != nil {
			return err
		}
	}
	annotations, err := i.Annotations()
	if err != nil {
		return err
	}
	was, next := p.subject.metadata(), p.subject.metadata()
	controllerutil.AddFinalizer(next, v1alpha1.FinalizerOf(p.r.Entry.Name()))
	all := maps.Clone(next.GetAnnotations())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, annotations)
	next.SetAnnotations(all)
	err = p.readAt.confirmed(func() error {
		return p.r.Client.Patch(ctx, next, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
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
func (p *pass) Store(ctx context.Context, a kind.Accepted) error {
	p.subject.writing.Lock()
	defer p.subject.writing.Unlock()
	p.propagation.recordTags()
	engine.RecordAccepted(p.obj, a, p.r.Clock.Now())
	return p.subject.patchStatus(ctx)
}

// AlreadyExists implements engine.Host.
func (p *pass) AlreadyExists(err error) bool { return awsclient.FoundExisting(err) }

// HadNoEffect implements engine.Host.
func (p *pass) HadNoEffect(err error) bool { return awsclient.HadNoEffect(err) }

// Home implements engine.Host.
func (p *pass) Home() string { return p.home }

// Memory implements engine.Host.
func (p *pass) Memory() *engine.Memory {
	return p.r.memories.of(client.ObjectKeyFromObject(p.obj), p.obj.GetUID())
}

// Now implements engine.Host.
func (p *pass) Now() time.Time { return p.r.Clock.Now() }

// Did implements engine.Host.
func (p *pass) Did(plan engine.Plan, done []kind.Step) {
	if slices.ContainsFunc(done, func(s kind.Step) bool { return isTagging(s.Action) }) {
		p.propagation.recordTags()
	}
	p.work.add(plan, done)
}

// summarize turns the pass into the object's status, in memory.
func (p *pass) summarize(out engine.Outcome, err error) {
	first := p.obj.CommonStatus().SyncedGeneration == 0
	since := p.r.retries.Observe(client.ObjectKeyFromObject(p.obj), err)
	engine.Summarize(p.obj, out, err, p.r.Clock.Now(), since)
	p.reports.summarized(out, err, first)
}
