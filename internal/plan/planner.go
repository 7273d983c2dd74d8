// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// Operator holds the settings of the operator that a plan is made for.
type Operator struct {
	// Settings apply to capabilities; ClusterID among them marks resources in AWS.
	capabilityfacts.Settings
	// PreviousClusterIDs, SharedNamespaces and ForeignResources are as in engine.Neighbors.
	PreviousClusterIDs, SharedNamespaces, ForeignResources []string
	// Types is that of engine.Facts.
	Types *engine.AllowedTypes
	// PlanGate holds patterns of namespaces that need approval of plans, in addition to namespaces with the label.
	PlanGate []string
	// Intents are the settings of security intents.
	Intents intentfacts.Settings
}

// Planner plans against one cluster, and the AWS that its providers lead to. Its fields are required, except Open.
type Planner struct {
	// Client has the rights of the user. It reads the API server itself, and writes only dry runs.
	Client   client.Client
	Kinds    []engine.Entry
	Engines  []intentfacts.Engine
	Schemas  *crdschema.Schemas
	Operator Operator
	// Open returns a session in a region with the credentials of the user. The endpoint is the provider's, empty
	// for AWS itself. Without it the plan says nothing of AWS.
	Open func(ctx context.Context, region, endpoint string) (*awsclient.Session, error)
	// Access leads to AWS where the operator itself plans; nil goes by Open, and by the rights of the user.
	Access Access
	// Refusal returns why the operator will not use a provider that the plan creates or edits; nil where it will, or where that is not known.
	Refusal func(provider *v1alpha1.AWSProvider) error
	// Reservation returns why the operator will not use a provider for an object that its capability does not make; nil where it will, or
	// where that is not known.
	Reservation func(provider *v1alpha1.AWSProvider, obj v1alpha1.Resource) error
	// Admit computes the object that results from a manifest and the live object, or nil if none exists. A nil Admit asks the API server by
	// a dry run. It returns a *status.Stalled for a manifest that is not valid.
	Admit func(ctx context.Context, live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Issuer returns the URL of the cluster's OIDC issuer, or a kind of failure.
	Issuer func(ctx context.Context) (string, error)
	// FieldManager is that of the dry runs.
	FieldManager string
	// SigningKeys are the operator's, which exist; nil where the plan is made without them.
	SigningKeys func(ctx context.Context) ([][]byte, error)
	// Clock judges the age of assessments of TLS.
	Clock clock.PassiveClock
	// Planned is called with each object of a capability as soon as it is planned; nil for no call.
	Planned func(Item)
	// Looking is called with the name of each object before its resource is read in AWS; nil for no call.
	Looking func(object string)
}

// Standing holds the facts that limit the operator's own identity for an object; see engine.Facts.
type Standing struct {
	// Vouched is true for an object that its capability compiles to, and Borrowed where the provider uses the operator's own identity
	// only because a capability generated it.
	Vouched, Borrowed bool
}

// Access leads to AWS by the providers of objects, under the limits that the administrator set.
type Access interface {
	// Session returns the session of the object's provider, which exists, and the standing of the object. Vouched says that a capability
	// compiles to the object.
	Session(ctx context.Context, obj v1alpha1.Resource, vouched bool) (*awsclient.Session, Standing, error)
	// Generated returns the session that a provider will have which a capability is yet to generate: for an object that refers to
	// it, or for the capability itself where obj is nil.
	Generated(ctx context.Context, provider *v1alpha1.AWSProvider, obj v1alpha1.Resource, vouched bool) (*awsclient.Session, error)
	// SecretKey reads a key of a Secret that an object refers to.
	SecretKey(ctx context.Context, namespace, name, key string) ([]byte, error)
}

// Apply plans the effects of applying the manifests together.
//
// A Problem of an item names an obstacle to the operator. An error is one of the API server or of AWS.
func (p *Planner) Apply(ctx context.Context, manifests []*unstructured.Unstructured) (Plan, error) {
	d, created := p.begin(), map[string]bool{}
	for _, m := range manifests {
		if m.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
			created[m.GetName()] = true
		}
	}
	at := admission{now: d.ahead.now, schemas: p.Schemas, clock: p.Clock, admit: p.Admit, fieldManager: p.FieldManager,
		newNamespaces: created}
	var items []Item
	after := make([]*unstructured.Unstructured, len(manifests))
	for i, m := range manifests {
		it, u, err := at.edit(ctx, m)
		if err != nil {
			return Plan{}, err
		}
		items = append(items, it)
		if after[i] = u; u != nil {
			d.ahead.declare(u)
		}
	}
	found, err := d.plan(ctx, items, after)
	if err != nil {
		return Plan{}, err
	}
	users, err := d.affectedByProviders(ctx, found)
	if err != nil {
		return Plan{}, err
	}
	others, err := d.bindings.affected(ctx, found)
	return Of(slices.Concat(found, users, others)), err
}

// Check plans the operator's actions for objects as they are: for drift, waiting edits, and deletions that have begun but are not complete.
func (p *Planner) Check(ctx context.Context, objects []*unstructured.Unstructured) (Plan, error) {
	d := p.begin()
	var staying, going []*unstructured.Unstructured
	var items []Item
	for _, u := range objects {
		if u.GetDeletionTimestamp() != nil && Removable(u.GroupVersionKind()) {
			going = append(going, u)
			continue
		}
		staying, items = append(staying, u), append(items, itemOf(u, None))
		d.ahead.declare(u)
	}
	found, err := d.plan(ctx, items, staying)
	if err != nil {
		return Plan{}, err
	}
	ending, err := d.remove(ctx, going)
	return Of(append(found, ending...)), err
}

// Remove plans the effects of deleting the objects together.
func (p *Planner) Remove(ctx context.Context, objects []*unstructured.Unstructured) (Plan, error) {
	items, err := p.begin().remove(ctx, objects)
	return Of(items), err
}

// begin returns a plan that has nothing yet, and knows nothing of the plans before it.
func (p *Planner) begin() *draft {
	now, kinds := newBatched(p.Client, p.Engines), entries(p.Kinds)
	next := ahead{now: now, declared: map[string]*unstructured.Unstructured{}, doomed: map[string]bool{}}
	d := &draft{kinds: kinds, operator: p.Operator, ahead: next, gate: gate{now: now, patterns: p.Operator.PlanGate}}
	aws := accounts{ahead: next, open: p.Open, access: p.Access, refusal: p.Refusal, reservation: p.Reservation}
	d.resources = &resources{kinds: kinds, schemas: p.Schemas, operator: p.Operator, ahead: next, gate: d.gate, accounts: aws,
		issuer: p.Issuer, signingKeys: p.SigningKeys, looking: p.Looking}
	d.bindings = &bindings{ahead: next, schemas: p.Schemas, engines: p.Engines, operatorNamespace: p.Operator.OperatorNamespace,
		posture: &posture{ahead: next, engines: p.Engines, settings: p.Operator.Intents, clock: p.Clock,
			divisions: map[string]intent.Facts{}, planned: map[string]bool{}, spaces: map[string][]intent.Namespace{}}}
	d.capabilities = &capabilities{kinds: kinds, schemas: p.Schemas, operator: p.Operator, ahead: next, accounts: aws,
		resources: d.resources, bindings: d.bindings, planned: p.Planned}
	return d
}
