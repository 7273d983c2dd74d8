// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Operator holds the settings of the operator that a plan is made for.
type Operator struct {
	// Settings apply to capabilities; ClusterID among them marks resources in AWS.
	capabilityfacts.Settings
	// PreviousClusterIDs, SharedNamespaces and ForeignResources are as in engine.Facts.
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

	// declared holds the objects that are to exist after the plan, keyed by the names that References use.
	declared map[string]*unstructured.Unstructured
	// newNamespaces holds the namespaces that the manifests declare.
	newNamespaces map[string]bool
	// doomed holds the objects that the plan deletes, with the keys of declared.
	doomed map[string]bool
	// bindings are the security posture of the cluster, as far as this plan has needed it.
	bindings *posture
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
	p.begin()
	for _, m := range manifests {
		if m.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
			p.newNamespaces[m.GetName()] = true
		}
	}
	var items []Item
	after := make([]*unstructured.Unstructured, len(manifests))
	for i, m := range manifests {
		it, u, err := p.edit(ctx, m)
		if err != nil {
			return Plan{}, err
		}
		items = append(items, it)
		if after[i] = u; u != nil {
			p.declare(u)
		}
	}
	found, err := p.plan(ctx, items, after)
	if err != nil {
		return Plan{}, err
	}
	users, err := p.affectedByProviders(ctx, found)
	if err != nil {
		return Plan{}, err
	}
	others, err := p.affectedBindings(ctx, found)
	return Of(slices.Concat(found, users, others)), err
}

// begin forgets the plan before this one.
func (p *Planner) begin() {
	p.Client = newBatched(p.Client, p.Engines)
	p.declared, p.newNamespaces, p.bindings, p.doomed = map[string]*unstructured.Unstructured{}, map[string]bool{}, nil, map[string]bool{}
}

// Check plans the operator's actions for objects as they are: for drift, waiting edits, and deletions that have begun but are not complete.
func (p *Planner) Check(ctx context.Context, objects []*unstructured.Unstructured) (Plan, error) {
	p.begin()
	var staying, going []*unstructured.Unstructured
	var items []Item
	for _, u := range objects {
		if u.GetDeletionTimestamp() != nil && Removable(u.GroupVersionKind()) {
			going = append(going, u)
			continue
		}
		staying, items = append(staying, u), append(items, itemOf(u, None))
		p.declare(u)
	}
	found, err := p.plan(ctx, items, staying)
	if err != nil {
		return Plan{}, err
	}
	ending, err := p.remove(ctx, going)
	return Of(append(found, ending...)), err
}

// plan adds the operator's actions for each object to the items.
func (p *Planner) plan(ctx context.Context, items []Item, after []*unstructured.Unstructured) ([]Item, error) {
	var out []Item
	for i := range items {
		if after[i] == nil {
			out = append(out, items[i])
			continue
		}
		follow, err := p.consequences(ctx, &items[i], after[i])
		if err != nil {
			return nil, err
		}
		items[i].tellWhatStays()
		out = append(append(out, items[i]), follow...)
	}
	return out, nil
}

// tellWhatStays adds a note if a manifest drops fields and AWS keeps their values.
func (it *Item) tellWhatStays() {
	if it.Action != Update || it.AWS == nil || it.AWS.Action != None || it.AWS.Reason != "" {
		return
	}
	for _, f := range it.Fields {
		if f.Want == "" && strings.HasPrefix(f.Path, "spec.") {
			it.AWS.Reason = "AWS keeps the values of fields that are no longer declared: they are not managed any more"
		}
	}
}

// consequences completes the item of an object, and returns the items of the objects that the operator makes for it.
func (p *Planner) consequences(ctx context.Context, it *Item, u *unstructured.Unstructured) ([]Item, error) {
	if reason := frozen(u); reason != "" {
		it.Waits = reason
		return nil, nil
	}
	switch gvk := u.GroupVersionKind(); {
	case gvk.Group == nexusv1.GroupVersion.Group && gvk.Kind == "NexusAICapability":
		c := &nexusv1.NexusAICapability{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
			return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
		}
		if err := p.awaitApproval(ctx, it, c); err != nil {
			return nil, err
		}
		return p.capability(ctx, it, c)
	case !p.Operator.Serves(gvk): // an operator that plans has no entry of such a kind
		return nil, problemOf(it, p.Operator.MayApply(gvk, u.GetName()))
	case gvk.Group == v1alpha1.GroupName && p.entry(gvk.Kind) != nil:
		return nil, p.resource(ctx, it, u, false)
	case gvk.Group == intentv1alpha1.GroupName:
		return p.intention(ctx, it, u)
	default:
		return nil, nil
	}
}

// frozen returns why the operator leaves an object alone.
func frozen(u *unstructured.Unstructured) string {
	switch {
	case isPaused(u):
		return "annotation " + wellknown.AnnotationPaused + " to be removed: it freezes the object"
	case u.GetDeletionTimestamp() != nil:
		return "the object to be gone: it is being deleted"
	default:
		return ""
	}
}

// isPaused reports whether an annotation freezes an object. It freezes none of the security intents.
func isPaused(u *unstructured.Unstructured) bool {
	return u.GetAnnotations()[wellknown.AnnotationPaused] == "true" && u.GroupVersionKind().Group != intentv1alpha1.GroupName
}

func (p *Planner) entry(kind string) engine.Entry {
	for _, e := range p.Kinds {
		if e.Name() == kind {
			return e
		}
	}
	return nil
}

func (p *Planner) declare(u *unstructured.Unstructured) {
	p.declared[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())] = u
}

func keyOf(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

// edit asks the API server for the resulting object, with its defaults, its rules and its admission, by a dry run or by Admit. The object
// is nil if the API server refuses it; then the item says why.
func (p *Planner) edit(ctx context.Context, manifest *unstructured.Unstructured) (Item, *unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(manifest), live)
	if apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err != nil {
		return Item{}, nil, fmt.Errorf("reading %s: %w", apply.RefOf(manifest), err)
	}
	admit := p.Admit
	if admit == nil {
		admit = p.dryRun
	}
	after, err := admit(ctx, live, manifest)
	it := itemOf(manifest, Create)
	if namespace := manifest.GetNamespace(); isMissingNamespace(err, namespace) {
		after, err = p.admitAhead(ctx, manifest)
		if !p.newNamespaces[namespace] { // the plan shows the object beside the problem
			it.Problem = &Problem{Reason: status.ReasonInvalidSpec, Code: status.CodeOf(status.ReasonInvalidSpec), Field: "metadata.namespace",
				Message: fmt.Sprintf("namespace %s does not exist: create it first, or add it to the manifests", namespace)}
		}
	}
	if refused := refusal(err); refused != nil {
		it.Action, it.Problem = None, refused
		return it, nil, nil
	}
	if err != nil {
		return Item{}, nil, fmt.Errorf("asking the API server what %s would be (dry run): %w", apply.RefOf(manifest), err)
	}
	if live == nil {
		it.Fields = contentOf(after)
		return it, after, nil
	}
	it.Action, it.Fields = None, fieldsBetween(live, after)
	if len(it.Fields) > 0 {
		it.Action = Update
	}
	return it, after, nil
}

// isMissingNamespace reports whether the API server refused an object because its namespace does not exist.
func isMissingNamespace(err error, namespace string) bool {
	var s apierrors.APIStatus
	if !errors.As(err, &s) || !apierrors.IsNotFound(err) {
		return false
	}
	d := s.Status().Details
	return d != nil && d.Kind == "namespaces" && d.Name == namespace
}

// admitAhead returns an object of a namespace that is created with it: the API server admits none there, not even as a dry run. Objects of
// the operator's own kinds get the defaults and rules of their definitions, and others stay as the manifest has them.
func (p *Planner) admitAhead(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	switch manifest.GroupVersionKind().Group {
	case nexusv1.GroupVersion.Group, v1alpha1.GroupName, intentv1alpha1.GroupName:
		return InProcess{Scheme: p.Client.Scheme(), Schemas: p.Schemas, Clock: p.Clock}.Admit(ctx, nil, manifest)
	default:
		return manifest.DeepCopy(), nil
	}
}

// refusal returns the objection of the API server to a manifest itself; nil for other errors.
func refusal(err error) *Problem {
	if s, ok := status.AsStalled(err); ok {
		return &Problem{Reason: s.Reason, Code: status.CodeOf(s.Reason), Field: s.Field, Message: s.Message}
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) && typedPatch.MatchString(err.Error()) {
		return untyped(typedPatch.ReplaceAllString(err.Error(), ""))
	}
	if !errors.As(err, &s) || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !apierrors.IsNotFound(err) {
		return nil
	}
	problem := &Problem{Reason: status.ReasonInvalidSpec, Code: status.CodeOf(status.ReasonInvalidSpec), Message: err.Error()}
	if d := s.Status().Details; d != nil && len(d.Causes) > 0 {
		problem.Field, problem.Message = d.Causes[0].Field, d.Causes[0].Message
	}
	return problem
}

// typedPatch matches the beginning of the internal error that server-side apply returns for a manifest with fields or types that the schema
// does not have: https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/structuredmerge.go
var typedPatch = regexp.MustCompile(`^failed to create typed patch object \(.*?\): (errors:\n\s*)?`)

// untyped is the problem of fields that the schema does not have as they are. Each line of the text begins with a field.
func untyped(text string) *Problem {
	problem := &Problem{Reason: status.ReasonInvalidSpec, Code: status.CodeOf(status.ReasonInvalidSpec)}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	problem.Message = strings.Join(lines, "; ")
	if path, message, found := strings.Cut(problem.Message, ": "); found && len(lines) == 1 {
		problem.Field, problem.Message = strings.TrimPrefix(path, "."), message
	}
	return problem
}

func itemOf(u *unstructured.Unstructured, a Action) Item {
	return Item{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Action: a}
}

// AccessError says that the user cannot reach AWS.
type AccessError struct{ Err error }

// Error implements error.
func (e *AccessError) Error() string { return "reaching AWS: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *AccessError) Unwrap() error { return e.Err }

// problemOf puts a failure that a person must resolve, or the condition that the object waits for, into the item. It returns errors of
// other kinds.
func problemOf(it *Item, err error) error {
	if _, ok := errors.AsType[*AccessError](err); ok {
		return err
	}
	if s, ok := status.AsStalled(err); ok {
		if it.Problem != nil { // the first one comes before it
			return nil
		}
		it.Problem = &Problem{Reason: s.Reason, Code: status.CodeOf(s.Reason), Field: s.Field, Message: s.Message}
		return nil
	}
	if w, ok := status.AsWaiting(err); ok {
		it.Waits = w.For
		return nil
	}
	return err
}

// toTyped reads an object through the Go type of its kind.
func toTyped(e engine.Entry, u *unstructured.Unstructured) (v1alpha1.Resource, error) {
	obj := e.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	return obj, nil
}

// provider reads the provider of an object as it will be; nil when there is none and none is declared.
func (p *Planner) provider(ctx context.Context, namespace, name string) (*v1alpha1.AWSProvider, error) {
	found := &v1alpha1.AWSProvider{}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	u, declared := p.declared[keyOf("AWSProvider", namespace, name)]
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("reading AWSProvider %s/%s: %w", namespace, name, err)
	case !declared && apierrors.IsNotFound(err):
		return nil, nil
	case !declared:
		return found, nil
	}
	next := &v1alpha1.AWSProvider{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, next); err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	next.ObjectMeta.UID, next.Status = found.UID, found.Status
	return next, nil
}

// plannedDeletion marks an object as one that is being deleted; no decision depends on the time.
func plannedDeletion() *metav1.Time { return &metav1.Time{Time: metav1.Unix(1, 0).Time} }
