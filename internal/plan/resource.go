// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// resources plans the actions in AWS for objects. Its functions are those of Planner.
type resources struct {
	kinds       entries
	schemas     *crdschema.Schemas
	operator    Operator
	ahead       ahead
	gate        gate
	accounts    accounts
	issuer      func(ctx context.Context) (string, error)
	signingKeys func(ctx context.Context) ([][]byte, error)
	looking     func(object string)
}

// look is one decision about one object.
type look struct {
	rs      *resources
	entry   engine.Entry
	obj     v1alpha1.Resource
	session *awsclient.Session
	// standing limits the rights that the operator lends to the object.
	standing Standing
	// unknown holds the objects with identifiers that AWS has not assigned yet.
	unknown []string
	// covered says that an approval of the object's capability holds for the object.
	covered bool
}

// plan adds the actions in AWS to an item. Trusted says that a capability compiles to the object.
func (rs *resources) plan(ctx context.Context, it *Item, u *unstructured.Unstructured, trusted bool) error {
	e := rs.kinds.entry(u.GetKind())
	obj, err := toTyped(e, u)
	if err != nil {
		return err
	}
	if stays(e, obj) {
		it.AWS = &Resource{Action: None, Reason: "deletionPolicy keeps the resource in AWS", ID: obj.CommonStatus().ID}
		return nil
	}
	if obj.GetDeletionTimestamp() == nil {
		if err := rs.schemas.ValidatePlanned(ctx, e.Name(), obj, isPlaceholder); err != nil {
			return problemOf(it, err)
		}
	}
	if !rs.accounts.areOpen() {
		return nil
	}
	provider, err := rs.accounts.usedProvider(ctx, it, obj)
	if err != nil || provider == nil {
		return err
	}
	session, standing, err := rs.accounts.session(ctx, provider, obj, trusted)
	if err != nil {
		return problemOf(it, err)
	}
	l := &look{rs: rs, entry: e, obj: obj, session: session, standing: standing, covered: trusted}
	if rs.looking != nil {
		rs.looking(it.Kind + " " + it.Namespace + "/" + it.Name)
	}
	return l.decide(ctx, it, provider)
}

// placeholder is the prefix of the text in place of a value that is known only once another object has it.
const placeholder = "<known after "

func isPlaceholder(value string) bool { return strings.Contains(value, placeholder) }

// stays reports whether a deletion leaves AWS alone.
func stays(e engine.Entry, obj v1alpha1.Resource) bool {
	return obj.GetDeletionTimestamp() != nil &&
		(engine.DeletionPolicyOf(obj, e.Meta()) == v1alpha1.DeletionRetain || obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve)
}

// owner returns who asks for the resource, and the record of its creation.
func (l *look) owner(ctx context.Context, provider *v1alpha1.AWSProvider) (engine.Owner, engine.Facts, *engine.Intent, error) {
	engine.ForgetObserved(l.obj)
	intent, err := engine.ReadIntent(l.obj.GetAnnotations(), string(l.obj.GetUID()))
	if err != nil {
		return engine.Owner{}, engine.Facts{}, nil, &status.Stalled{Reason: status.ReasonInvalidSpec, Message: err.Error()}
	}
	facts := l.facts(ctx, provider)
	facts.Covered = l.covered
	if facts.Gated, err = l.rs.gate.isGated(ctx, l.obj.GetNamespace(), l.obj.CommonStatus().Conditions); err == nil {
		err = facts.CheckSignature(l.entry.Name(), l.obj, intent)
	}
	if err != nil {
		return engine.Owner{}, engine.Facts{}, nil, err
	}
	return engine.OwnerOf(l.entry, l.obj, intent, facts), facts, intent, nil
}

func (l *look) decide(ctx context.Context, it *Item, provider *v1alpha1.AWSProvider) error {
	owner, facts, intent, err := l.owner(ctx, provider)
	if err != nil {
		return problemOf(it, err)
	}
	owner.Recent.NotEmpty = owner.Deleting // so that what is in the resource is read before AWS refuses its deletion
	sc, err := engine.ScopeOf(l.obj, owner, facts)
	if err != nil {
		return problemOf(it, err)
	}
	binding := l.session.Memo(l.entry.Name(), func() any { return l.entry.Bind(l.session.Config) }).(engine.Binding)
	decided, err := binding.Decide(ctx, sc, owner, l.obj)
	if len(l.unknown) > 0 && intent == nil && !owner.Deleting {
		// AWS can only be asked about the resource if the unknown identifiers are not part of its identity.
		if again, e := l.decideUnseen(ctx, binding, sc, owner); e == nil {
			decided, err = again, nil
		}
	}
	if waits := l.waitsInstead(err); waits != nil {
		return problemOf(it, waits)
	}
	it.AWS = l.outcome(owner, decided)
	if err == nil {
		it.AWS.Approval = l.approval(owner, decided)
	}
	it.addNotes(decided.Notes)
	if err == nil && decided.Cause == engine.Lost {
		err = owner.ExplainLoss()
	}
	return problemOf(it, awsclient.ExplainOnce(err, ""))
}

// approval returns the approval that a plan at the gate waits for; nil if the plan does not wait.
func (l *look) approval(owner engine.Owner, decided engine.Plan) *Approval {
	hash, waits := owner.WaitsForApproval(decided, l.referrer().Home)
	if !waits {
		return nil
	}
	return &Approval{Hash: kind.Either(len(l.unknown) == 0, hash, "")}
}

// waitsInstead replaces a failure that may result from a placeholder text by the objects that must exist first; nil if the failure stays.
func (l *look) waitsInstead(err error) error {
	if stalled, ok := status.AsStalled(err); err == nil || len(l.unknown) == 0 || ok && stalled.Certain {
		return nil
	}
	return &status.Waiting{For: strings.Join(slices.Compact(slices.Sorted(slices.Values(l.unknown))), ", ") + " to exist in AWS"}
}

// decideUnseen decides for an object without any resource in AWS yet.
func (l *look) decideUnseen(ctx context.Context, b engine.Binding, sc kind.Scope, owner engine.Owner) (engine.Plan, error) {
	owner.Recent.First = true
	return b.Decide(ctx, sc, owner, l.obj)
}

// guardsData reports whether the data of a capability's store must outlive its object: no person gave it up, and the capability stays.
func (l *look) guardsData() bool {
	if l.obj.GetDeletionTimestamp() == nil || !l.entry.Meta().HoldsData || engine.MayDeleteData(l.obj, l.obj.GetName()) {
		return false
	}
	owner := metav1.GetControllerOf(l.obj)
	return owner == nil || !l.rs.ahead.doomed[keyOf(owner.Kind, l.obj.GetNamespace(), owner.Name)]
}

func (l *look) facts(ctx context.Context, provider *v1alpha1.AWSProvider) engine.Facts {
	issuer, noIssuer := l.rs.issuer(ctx)
	o := l.rs.operator
	return engine.Facts{
		Cluster: o.ClusterID, Types: o.Types,
		Neighbors: engine.Neighbors{Previous: o.PreviousClusterIDs, Shared: o.SharedNamespaces, Foreign: o.ForeignResources},
		Trusted:   l.standing.Vouched, Borrowed: l.standing.Borrowed,
		Provider: provider.Spec, Place: kind.Place{Partition: l.session.Partition, Account: l.session.Account, Region: l.session.Region},
		Data: kind.DataGuard{Guarded: l.standing.Vouched && l.guardsData()},
		Federation: kind.Federation{Issuer: issuer, NoIssuer: noIssuer, EKSCluster: o.EKSCluster,
			OIDCProvider: func(issuer string) (kind.OIDCProvider, error) {
				return l.session.OIDCProvider(ctx, issuer, time.Minute, time.Minute)
			}},
		Lookups: kind.Lookups{
			Ref:      func(kindName, name string) (kind.Target, error) { return l.target(ctx, kindName, name) },
			Secret:   func(name, key string) ([]byte, error) { return l.secret(ctx, name, key) },
			OwnersOf: l.session.OwnersOf, Callers: func() ([]string, error) { return l.session.Callers, nil },
		},
		Signer: l.rs.signer(ctx),
	}
}

// signer signs and verifies owner records; nil where the plan is made without the operator's keys.
func (rs *resources) signer(ctx context.Context) kind.Signer {
	if rs.signingKeys == nil {
		return nil
	}
	return kind.SignerWith(func() ([][]byte, error) { return rs.signingKeys(ctx) })
}

// target resolves a reference to the identifiers that the other object published, or to a placeholder text for the identifiers that AWS has
// yet to assign to a declared object.
func (l *look) target(ctx context.Context, kindName, name string) (kind.Target, error) {
	if !l.rs.operator.Kinds.Serves(kindName) {
		return kind.Target{}, engine.ErrorOfLeftOut(kindName, name)
	}
	e := l.rs.kinds.entry(kindName)
	if e == nil {
		return kind.Target{}, engine.ErrorOfNoKind(kindName, name)
	}
	found := e.New()
	err := l.rs.ahead.now.Get(ctx, client.ObjectKey{Namespace: l.obj.GetNamespace(), Name: name}, found)
	if client.IgnoreNotFound(err) != nil {
		return kind.Target{}, fmt.Errorf("reading %s/%s: %w", kindName, name, err)
	}
	if err != nil {
		found = nil
	}
	t, err := engine.TargetOf(l.referrer(), e, name, found)
	_, waits := status.AsWaiting(err)
	declared, _ := l.rs.ahead.find(kindName, l.obj.GetNamespace(), name)
	if waits && declared != nil {
		id := kindName + "/" + name
		l.unknown = append(l.unknown, id)
		return kind.Target{ID: placeholder + id + ">", ARN: placeholder + id + ">", Type: typeOf(e, declared)}, nil
	}
	return t, err
}

// referrer describes the object that is planned to those that it refers to.
func (l *look) referrer() engine.Referrer {
	return engine.Referrer{Home: engine.Home(l.session.Partition, l.session.Account, l.session.Region),
		Foreign: l.rs.operator.ForeignResources}
}

// typeOf returns the AWS resource type of a declared object; empty where its kind says it.
func typeOf(e engine.Entry, declared *unstructured.Unstructured) string {
	o, err := toTyped(e, declared)
	if err != nil {
		return "" // the plan of the object itself says why
	}
	return kind.TypeOf(o)
}

// secret reads a key of a Secret: as the operator does, or with the rights of the user.
func (l *look) secret(ctx context.Context, name, key string) ([]byte, error) {
	if l.rs.accounts.access != nil {
		return l.rs.accounts.access.SecretKey(ctx, l.obj.GetNamespace(), name, key)
	}
	s := &corev1.Secret{}
	err := l.rs.ahead.now.Get(ctx, client.ObjectKey{Namespace: l.obj.GetNamespace(), Name: name}, s)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &status.Stalled{Reason: status.ReasonCredentialsMissing, Message: "Secret " + name + " does not exist"}
	case apierrors.IsForbidden(err):
		return nil, &status.Waiting{For: "the right to read Secret " + name + ", whose value is compared with the one in AWS"}
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	v, ok := s.Data[key]
	if !ok {
		return nil, &status.Stalled{Reason: status.ReasonCredentialsMissing, Message: "Secret " + name + " has no key " + key}
	}
	return v, nil
}

// outcome is a decision as it prints.
func (l *look) outcome(owner engine.Owner, decided engine.Plan) *Resource {
	r := &Resource{Account: l.session.Account, Region: l.session.Region, ID: engine.IDOf(l.obj), Action: None,
		Cause: string(decided.Cause), Reason: decided.Reason, Ignored: fieldsIn(decided.Ignored)}
	if decided.Cause != engine.New {
		r.Fields = fieldsIn(decided.Diff)
	}
	if owner.ReportsOnly(decided) {
		r.Reason, r.Reported = "not corrected: the object's managementPolicy or driftPolicy only reports differences",
			len(r.Fields) > 0 || decided.Writes()
		return r
	}
	if !decided.Writes() {
		return r
	}
	switch {
	case owner.Deleting:
		r.Action = Delete
	case decided.Cause == engine.New:
		r.Action = Create
	default:
		r.Action = Update
	}
	for _, s := range slices.Concat(decided.Steps, decided.Later) {
		c := Call{Action: s.Action, Count: 1, Risk: riskOfCall(s, decided.HoldsData)}
		r.Risk = worst(r.Risk, c.Risk)
		r.Calls = append(r.Calls, c)
	}
	r.Calls = sortCalls(r.Calls)
	return r
}

// riskOfCall returns the risk of one call to a resource that may lose data.
func riskOfCall(s kind.Step, holdsData bool) Risk {
	switch s.Effect {
	case kind.Empties:
		return DataLoss
	case kind.Deletes, kind.Ends:
		if holdsData && !s.Spares {
			return DataLoss
		}
		return Destroys
	default:
		return Safe
	}
}
