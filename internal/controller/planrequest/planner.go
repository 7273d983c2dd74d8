// SPDX-License-Identifier: Apache-2.0

package planrequest

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

// Contents holds the parts of the operator's own plans.
type Contents struct {
	// Settings apply to capabilities, and Intents to security intents.
	Settings  capabilityfacts.Settings
	Intents   intentfacts.Settings
	Kinds     []engine.Entry
	Engines   []intentfacts.Engine
	Providers *awssession.Directory
}

// Planner returns a planner with the operator's own identity, for one request.
func (c Contents) Planner(env reconciler.Environment) *plan.Planner {
	return &plan.Planner{
		Client: readOnly{Client: env.Client, live: env.Live}, Kinds: c.Kinds, Engines: c.Engines, Schemas: env.Schemas, Clock: env.Clock,
		Operator: plan.Operator{Settings: c.Settings, PreviousClusterIDs: env.PreviousClusterIDs, SharedNamespaces: env.SharedNamespaces,
			ForeignResources: env.ForeignResources, Types: env.Types, PlanGate: env.Gate.Namespaces, Intents: c.Intents},
		Access: access{c.Providers},
		Admit:  plan.InProcess{Scheme: env.Client.Scheme(), Schemas: env.Schemas, Clock: env.Clock}.Admit,
		Issuer: env.Issuer, SigningKeys: env.Signing.Existing,
	}
}

// access leads to AWS as reconcilers reach it: by the AWSProviders of a namespace, attested.
type access struct{ providers *awssession.Directory }

// Session implements plan.Access. An object that is planned alone is vouched for where its capability, as it is, compiles to it.
func (a access) Session(ctx context.Context, obj v1alpha1.Resource, vouched bool) (*awsclient.Session, plan.Standing, error) {
	if !vouched {
		var err error
		if vouched, err = a.providers.Provenance.IsGenerated(ctx, obj); err != nil {
			return nil, plan.Standing{}, err
		}
	}
	session, provider, err := a.providers.For(ctx, obj, vouched)
	if err != nil {
		return nil, plan.Standing{}, err
	}
	return session, plan.Standing{Vouched: vouched, Borrowed: a.providers.Borrowed(provider)}, nil
}

// Generated implements plan.Access.
func (a access) Generated(ctx context.Context, provider *v1alpha1.AWSProvider, obj v1alpha1.Resource, vouched bool) (*awsclient.Session,
	error) {
	return a.providers.Generated(ctx, provider, obj, vouched)
}

// SecretKey implements plan.Access.
func (a access) SecretKey(ctx context.Context, namespace, name, key string) ([]byte, error) {
	return a.providers.SecretKey(ctx, namespace, name, key)
}

// errReadOnly fails a write of a plan.
var errReadOnly = errors.New("a plan writes nothing")

// readOnly reads the operator's own kinds from the cache where they have a Go type, all other objects from the API server, and writes
// nothing.
type readOnly struct {
	client.Client
	live client.Reader
}

// of returns the reader of an object or a list.
func (c readOnly) of(obj runtime.Object) client.Reader {
	if _, ok := obj.(runtime.Unstructured); ok {
		return c.live
	}
	if gvk, err := apiutil.GVKForObject(obj, c.Scheme()); err == nil && isOwnGroup(gvk.Group) {
		return c.Client
	}
	return c.live
}

// Get implements client.Reader.
func (c readOnly) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.of(obj).Get(ctx, key, obj, opts...)
}

// List implements client.Reader.
func (c readOnly) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.of(list).List(ctx, list, opts...)
}

// Create implements client.Writer.
func (readOnly) Create(context.Context, client.Object, ...client.CreateOption) error {
	return errReadOnly
}

// Delete implements client.Writer.
func (readOnly) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errReadOnly
}

// Update implements client.Writer.
func (readOnly) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errReadOnly
}

// Patch implements client.Writer.
func (readOnly) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errReadOnly
}

// Apply implements client.Writer.
func (readOnly) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errReadOnly
}

// DeleteAllOf implements client.Writer.
func (readOnly) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errReadOnly
}

// Status implements client.StatusClient.
func (c readOnly) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource implements client.SubResourceClientConstructor.
func (readOnly) SubResource(string) client.SubResourceClient { return noSubResource{} }

// noSubResource reads and writes nothing.
type noSubResource struct{}

// Get implements client.SubResourceReader.
func (noSubResource) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return errReadOnly
}

// Create implements client.SubResourceWriter.
func (noSubResource) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return errReadOnly
}

// Update implements client.SubResourceWriter.
func (noSubResource) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return errReadOnly
}

// Patch implements client.SubResourceWriter.
func (noSubResource) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errReadOnly
}

// Apply implements client.SubResourceWriter.
func (noSubResource) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errReadOnly
}

var _ client.Client = readOnly{}
