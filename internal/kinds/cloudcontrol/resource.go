// SPDX-License-Identifier: Apache-2.0

// Package cloudcontrol is the kind AWSResource: a resource of any type that AWS offers through Cloud Control API.
package cloudcontrol

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// State is a resource as both the spec and AWS can express it.
type State struct {
	TypeName string `drift:"identity"`
	// Name is the primary identifier where the properties contain all of it; empty where AWS assigns it.
	Name string `drift:"identity"`
	// Identifier is the primary identifier, as far as it is known.
	Identifier string      `drift:"id"`
	ARN        string      `drift:"observed"`
	Search     kind.Search `drift:"id"`
	// Request is the request that the status records; nil for none.
	Request *v1alpha1.AWSResourceRequest `drift:"observed"`
	// Assigned are the properties that AWS assigned, without secrets; nil while a request is under way.
	Assigned map[string]any `drift:"observed"`
	// Guarded is set while the resource must not be deleted, because it holds data that no one gave up.
	Guarded bool `drift:"id"`

	Properties *kind.Document
	Tags       map[string]string `drift:"tags"`

	// given are the tags that a create gives the resource.
	given    map[string]string
	schema   *awsschema.Type
	recorded func(id string) bool
	declared []string // the texts in the declared properties
	notes    []kind.Note
	// isRead is set once a look showed the resource: a create may have failed until then.
	isRead bool
}

// hasTags reports whether the resource has tags that show its owner.
func (s State) hasTags() bool { return s.schema.Tags.Property() != "" }

// The IAM actions of Cloud Control API have the prefix of CloudFormation.
const (
	actionDescribeType = "cloudformation:DescribeType"
	actionGet          = "cloudformation:GetResource"
	actionStatus       = "cloudformation:GetResourceRequestStatus"
	actionCreate       = "cloudformation:CreateResource"
	actionUpdate       = "cloudformation:UpdateResource"
	actionDelete       = "cloudformation:DeleteResource"
	actionSearch       = "tag:GetResources"
)

type resource struct {
	api     *cloudcontrol.Client
	tags    *tagging.Client
	schemas schemas
}

// NewResource binds the AWSResource kind to an identity. AWS checks the IAM actions of the type's handlers in addition to its own:
// https://docs.aws.amazon.com/cloudcontrolapi/latest/userguide/security.html
func NewResource(cfg aws.Config) kind.Kind[*v1alpha1.AWSResource, State] {
	return &resource{api: cloudcontrol.NewFromConfig(cfg), tags: tagging.NewFromConfig(cfg), schemas: schemas{api: cloudformation.NewFromConfig(cfg)}}
}

// Meta implements kind.Kind.
func (*resource) Meta() kind.Meta {
	return kind.Meta{
		Facts: resourceFacts(), Identity: kind.ByToken, NoCreationTime: true, References: []string{kind.AnyKind}, Ignores: "spec.ignore", JudgesAdoption: true,
		Reads:  []string{actionDescribeType, actionGet, actionStatus, actionSearch},
		Writes: []string{actionCreate, actionDelete, actionUpdate},
	}
}

// Prepare implements kind.Preparer: it reads the schema of the type. A deletion needs it, too: it says where the tags of the owner are.
func (r *resource) Prepare(ctx context.Context, sc kind.Scope, cr *v1alpha1.AWSResource) (any, error) {
	if !sc.Deleting {
		if err := checkConsent(sc.AllowedTypes, cr.Spec.TypeName); err != nil {
			return nil, err
		}
	}
	return r.schemas.of(ctx, cr.Spec.TypeName)
}

// Desired implements kind.Kind.
func (*resource) Desired(sc kind.Scope, cr *v1alpha1.AWSResource) (State, error) {
	schema := sc.Prepared.(*awsschema.Type)
	want := State{TypeName: cr.Spec.TypeName, Search: sc.Search, Request: cr.Status.Request, schema: schema,
		recorded: sc.Recorded, isRead: cr.IsRead()}
	properties := map[string]any{}
	if raw := cr.Spec.Properties.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &properties); err != nil {
			return want, status.Invalid("spec.properties", "cannot be read: %v", err)
		}
	}
	declared, err := resolved(properties, kind.Either[documents.Values](sc.Deleting, recordedLookups{sc, schema}, lookups{sc, schema}))
	if err != nil && !sc.Deleting {
		return want, err
	}
	want.declared = documents.Texts(documents.Shown(declared))
	if schema.Identity.IsNamed && (!sc.Deleting || sc.ID == "") { // a deletion uses the recorded identifier, not the one in the spec
		want.Name = schema.Identity.Of(declared)
	}
	want.Identifier = cmp.Or(sc.ID, want.Name)
	want.setTags(sc, cr)
	if sc.Deleting {
		want.Guarded = schema.HoldsData() && !sc.Data.MayDelete
		return want, nil
	}
	want.notes = notesOn(schema, declared)
	want.Properties = documentOf(schema, sc.UID, declared, awsschema.PathsOf(cr.Spec.Ignore))
	return want, checkDeclared(sc, cr, want, declared)
}

// setTags sets the tags that the resource is to have. Where no update can change them, only those of the spec are compared: those of the
// owner and of the provider stay as they were at the creation, or at the adoption.
func (s *State) setTags(sc kind.Scope, cr *v1alpha1.AWSResource) {
	if !s.hasTags() {
		return
	}
	s.Tags, s.given = sc.Tags, sc.Tags
	if s.schema.Tags.AreFixed() {
		s.Tags = kind.Only(sc.Tags, kind.SortedKeys(cr.Spec.Tags))
	}
}

// comparedTags returns those of the tags of the resource that are compared with the wanted ones.
func (s State) comparedTags(tags map[string]string) map[string]string {
	if !s.schema.Tags.AreFixed() {
		return tags
	}
	out := maps.Clone(tags)
	maps.DeleteFunc(out, func(key, _ string) bool {
		_, isDeclared := s.Tags[key]
		_, isGiven := s.given[key]
		return isGiven && !isDeclared
	})
	return out
}

// documentOf returns declared properties with the rules of the schema, and without those that are ignored.
func documentOf(schema *awsschema.Type, uid string, properties map[string]any, ignored awsschema.Paths) *kind.Document {
	plain, _ := withRoles(properties).(map[string]any)
	hidden := documents.Hide(uid, plain, func(at []string) bool { return schema.At(at...).Rule().WriteOnly })
	secrets := secretsIn(nil, properties)
	return &kind.Document{Value: hidden, Rule: func(at []string) kind.DocumentRule {
		place := schema.At(at...)
		rule := place.Rule()
		mode := modeOf(schema, rule)
		if slices.ContainsFunc(secrets, func(secret []string) bool { return slices.Equal(secret, at) }) {
			mode = kind.Secret // AWS may show it
		}
		isIgnored, isTags := ignored.Contain(at), len(at) > 0 && at[0] == schema.Tags.Property()
		return kind.DocumentRule{Skip: rule.ReadOnly || isIgnored || isTags, Ignored: isIgnored, Mode: mode, Unordered: rule.Unordered, Same: sameBy(schema.TransformAt(at...), hidden),
			Omitted: func(want any) bool { return !rule.WriteOnly && place.SaysNothing(want) }}
	}}
}

// modeOf returns the mode of the differences of a property. A property that AWS does not show is only set at the creation if the type has
// no update; a difference in a shown property of such a type is refused with another message.
func modeOf(schema *awsschema.Type, rule awsschema.Rule) kind.Mode {
	switch {
	case rule.CreateOnly, rule.WriteOnly && !schema.Handlers.Support(awsschema.Update):
		return kind.Immutable
	case rule.Conditionally:
		return kind.Conditional
	default:
		return kind.Mutable
	}
}

// sameBy returns a function that asks a transform whether AWS shows a value of properties as it was written; nil without a transform. A
// value with parts that AWS hides is never asked for.
func sameBy(transform *awsschema.Transform, properties map[string]any) func(within map[string]any, want, have any) bool {
	if transform == nil {
		return nil
	}
	return func(within map[string]any, want, have any) bool {
		return len(secretsIn(nil, want)) == 0 && transform.Same(documents.Shown(properties), documents.Shown(within), want, have)
	}
}

// checkDeclared refuses a spec that AWS would refuse.
func checkDeclared(sc kind.Scope, cr *v1alpha1.AWSResource, want State, properties map[string]any) error {
	if why := want.schema.Unmanageable(); why != "" {
		return status.Invalid("spec.typeName", "%s", why)
	}
	problems := want.schema.Problems(properties, isHidden)
	if cr.Spec.ImportID != "" || sc.Observing {
		problems = awsschema.OfExisting(problems)
	}
	if at, text := awsschema.Joined("spec.properties", problems); text != "" {
		return status.Invalid(at, "%s", text)
	}
	if err := checkIgnored(want.schema, cr.Spec.Ignore); err != nil {
		return err
	}
	if !want.hasTags() && len(cr.Spec.Tags) > 0 {
		return status.Invalid("spec.tags", "%s has no tags that Cloud Control API can set", want.TypeName)
	}
	if id := cr.Spec.ImportID; id != "" && want.Name != "" && id != want.Name {
		return status.Invalid("spec.importID", "is %q, and the properties name %q", id, want.Name)
	}
	return cmp.Or(checkSecrets(want.schema, properties, want.Properties), checkRoles(sc, want.schema, properties))
}

// checkIgnored refuses to ignore properties that the schema does not have, or that identify the resource.
func checkIgnored(schema *awsschema.Type, pointers []string) error {
	for i, pointer := range pointers {
		if text := schema.IgnoreProblem(pointer); text != "" {
			return status.Invalid(fmt.Sprintf("spec.ignore[%d]", i), "%s", text)
		}
	}
	return nil
}

// Observe implements kind.Kind: a request that is under way is asked for first, because no other operation is possible until it ends.
func (r *resource) Observe(ctx context.Context, want State, look kind.Look) (kind.Seen[State], error) {
	event, err := r.progress(ctx, want.Request)
	if err != nil {
		return kind.Seen[State]{}, err
	}
	if event != nil && isUnderWay(event.OperationStatus) {
		return kind.Seen[State]{Exists: true, Proven: true, NotRead: true, Usable: event.Operation == types.OperationUpdate, LookAt: aws.ToTime(event.RetryAfter), Busy: want.progressOf(event),
			State: State{TypeName: want.TypeName, Name: want.Name, Request: want.Request, schema: want.schema}}, nil
	}
	if made := want.createdBy(event); made != "" {
		want.Identifier, want.Search.ID = made, made
	}
	found, duplicates, err := r.find(ctx, want)
	if err != nil || found == nil {
		return kind.Seen[State]{Failed: want.failureOf(event), Notes: want.notes}, err
	}
	seen := kind.Seen[State]{Exists: true, Tags: want.schema.Tags.Read(found.properties), TagsFixed: want.schema.Tags.AreFixed(),
		Duplicates: duplicates, Failed: want.failureOf(event), State: want.stateOf(found), Holds: holds(want), Notes: want.notes}
	if !want.isProven(event) && !want.hasTags() && failedAsExisting(event) {
		return r.untaggedConflict(want, look)
	}
	want.prove(&seen, event)
	return seen, nil
}

// prove sets the proofs, other than tags that an update could write, that the resource is this object's.
func (s State) prove(seen *kind.Seen[State], event *types.ProgressEvent) {
	switch {
	case seen.TagsFixed:
		seen.Proven = s.isProven(event)
	case !s.schema.Tags.OnCreate():
		seen.Proven, seen.AskByCreate = s.isProven(event), !s.Search.Imported
	}
}

// isProven reports whether the status, which tenants cannot write, or the request that created the resource shows that it is this object's.
func (s State) isProven(event *types.ProgressEvent) bool {
	return s.createdBy(event) != "" || s.Identifier != "" && s.recorded != nil && s.recorded(s.Identifier)
}

// untaggedConflict refuses a resource without tags that exists although the create of this object failed for that reason.
func (*resource) untaggedConflict(want State, look kind.Look) (kind.Seen[State], error) {
	if look.Deleting {
		return kind.Seen[State]{}, nil
	}
	return kind.Seen[State]{}, &status.Stalled{Reason: status.ReasonConflict, Message: want.TypeName + " " + want.Identifier +
		" exists, and this object did not create it: choose another name, or adopt it with importID, adoptionPolicy: Always and an explicit deletionPolicy"}
}

// found is a resource that AWS shows.
type found struct {
	identifier string
	properties map[string]any
}

// find returns the resource; nil where there is none.
func (r *resource) find(ctx context.Context, want State) (*found, []string, error) {
	switch {
	case want.Identifier == "" && !want.hasTags():
		return nil, nil, nil
	case want.Identifier != "" && want.schema.Identity.IsNamed, !want.hasTags():
		f, err := r.get(ctx, want.TypeName, want.Identifier)
		return f, nil, err
	}
	byTags := kind.Finder[found]{
		ByID: func(ctx context.Context, id string) (*found, error) { return r.get(ctx, want.TypeName, id) },
		ByTags: func(ctx context.Context, tags map[string][]string) ([]found, error) {
			return r.search(ctx, want.TypeName, tags)
		},
		Unfiltered: true,
		ID:         func(f found) string { return f.identifier },
		Tags:       func(f found) map[string]string { return want.schema.Tags.Read(f.properties) },
	}
	return byTags.Find(ctx, want.Search)
}

// get reads a resource; nil where there is none.
func (r *resource) get(ctx context.Context, typeName, id string) (*found, error) {
	out, err := r.api.GetResource(ctx, &cloudcontrol.GetResourceInput{TypeName: &typeName, Identifier: &id})
	if awsclient.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || out.ResourceDescription == nil {
		return nil, err
	}
	f := &found{identifier: cmp.Or(aws.ToString(out.ResourceDescription.Identifier), id), properties: map[string]any{}}
	return f, json.Unmarshal([]byte(aws.ToString(out.ResourceDescription.Properties)), &f.properties)
}

// search returns the resources that have the tags in AWS's index. An ARN is the identifier of some types, and ends with that of most
// others.
func (r *resource) search(ctx context.Context, typeName string, tags map[string][]string) ([]found, error) {
	arns, err := awsclient.TaggedARNs(ctx, r.tags.GetResources, "", tags)
	if err != nil {
		return nil, err
	}
	var out []found
	for _, arn := range arns {
		for _, id := range identifiersIn(arn) {
			f, err := r.get(ctx, typeName, id)
			if err != nil && !awsclient.Is(err, awsclient.Invalid) { // not every text is a possible identifier
				return nil, err
			}
			if f != nil {
				out = append(out, *f)
				break
			}
		}
	}
	return out, nil
}

// stateOf returns the state that AWS shows.
func (s State) stateOf(f *found) State {
	return State{TypeName: s.TypeName, Name: s.Name, Identifier: f.identifier, ARN: arnOf(f), schema: s.schema,
		Tags: s.comparedTags(s.schema.Tags.Read(f.properties)), Properties: &kind.Document{Value: f.properties}, Assigned: s.assigned(f.properties)}
}

// Publish implements kind.Kind. While a request is under way, the status stays as it is.
func (*resource) Publish(cr *v1alpha1.AWSResource, s State) {
	if s.Assigned == nil {
		return
	}
	st := &cr.Status
	st.ID, st.Identifier, st.ARN, st.Request = s.Identifier, s.Identifier, s.ARN, nil
	st.Properties = publishedProperties(s.Assigned)
}

// Refuse implements kind.Refuser.
func (*resource) Refuse(want State, seen kind.Seen[State], diff kind.Diff) error {
	if want.schema.Handlers.Support(awsschema.Update) {
		return cmp.Or(want.refuseTags(diff), refuseRemoval(want.schema, diff), want.unchangeable(seen.Failed, diff))
	}
	return &status.Stalled{Reason: status.ReasonImmutable, Message: diff[0].Path + " cannot be changed in place: AWS has no update of " + want.TypeName + "; " + want.remedy()}
}

// refuseTags refuses to change tags that only a create gives.
func (s State) refuseTags(diff kind.Diff) error {
	i := slices.IndexFunc(diff, func(c kind.Change) bool { return c.At("Tags") })
	if i < 0 || !s.schema.Tags.AreFixed() {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.tags", Message: fmt.Sprintf("%s cannot be changed: want %s, have %s, and AWS gives a %s its tags only when it creates it; %s",
		diff[i].Path, diff[i].Want, diff[i].Have, s.TypeName, s.remedy())}
}

// refuseRemoval refuses to remove a property without which AWS would refuse the resource.
func refuseRemoval(schema *awsschema.Type, diff kind.Diff) error {
	for _, c := range diff {
		if at := documents.Members("Properties", c.Path); c.Gone && len(at) > 0 && schema.At(at...).IsRequired() {
			return status.Invalid("spec.properties."+awsschema.Text(at), "is required by %s and cannot be removed: declare it, or remove what contains it", schema.Name)
		}
	}
	return nil
}

// Converge implements kind.Kind.
func (r *resource) Converge(want State, seen kind.Seen[State], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: actionCreate, Effect: kind.Creates, Submit: func(ctx context.Context, token string) (kind.Accepted, error) {
			return r.create(ctx, want, token)
		}}}
	}
	return []kind.Step{{Action: actionUpdate, Fixes: []string{"Properties", "Tags"}, Submit: func(ctx context.Context, _ string) (kind.Accepted, error) {
		return r.update(ctx, want, seen, diff)
	}}}
}

// create sends the token of the attempt: AWS answers a repeated request with the one that it got before.
func (r *resource) create(ctx context.Context, want State, token string) (kind.Accepted, error) {
	properties := documents.Plain(want.Properties.Value)
	if want.schema.Tags.OnCreate() {
		properties[want.schema.Tags.Property()] = want.schema.Tags.Write(want.given)
	}
	text, err := json.Marshal(properties)
	if err != nil {
		return kind.Accepted{}, err
	}
	out, err := r.api.CreateResource(ctx, &cloudcontrol.CreateResourceInput{TypeName: &want.TypeName, DesiredState: aws.String(string(text)), ClientToken: &token})
	if err != nil {
		return kind.Accepted{}, want.withoutSecrets(names[types.OperationCreate], err)
	}
	return want.accepted(out.ProgressEvent), nil
}

// update sends a patch without a client token: the same patch may be needed again.
func (r *resource) update(ctx context.Context, want State, seen kind.Seen[State], diff kind.Diff) (kind.Accepted, error) {
	patch := documents.Patch("Properties", want.Properties, seen.State.Properties, diff)
	if diff.Under("Tags") {
		set, remove := diff.Keys("Tags")
		all := kind.MergeTags(seen.Tags, kind.Only(want.Tags, set), remove)
		patch = append(patch, documents.Set(want.schema.Tags.Property(), want.schema.Tags.Write(kind.Only(all, tagKeys(all)))))
	}
	patch = append(patch, want.withoutUnacceptable(seen.State.Properties, patch)...)
	text, err := json.Marshal(patch)
	if err != nil {
		return kind.Accepted{}, err
	}
	out, err := r.api.UpdateResource(ctx, &cloudcontrol.UpdateResourceInput{TypeName: &want.TypeName, Identifier: &seen.State.Identifier, PatchDocument: aws.String(string(text))})
	if err != nil {
		err = want.explained(want.withoutSecrets(names[types.OperationUpdate], err))
		return kind.Accepted{}, cmp.Or(want.immutable(err, diff), err)
	}
	return want.accepted(out.ProgressEvent), nil
}

// explained adds to a refusal of an update why no update of the type can succeed.
func (s State) explained(err error) error {
	unseen := s.schema.RequiredUnseen()
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || len(unseen) == 0 || !strings.Contains(api.ErrorMessage(), "required key") {
		return err
	}
	text := fmt.Sprintf("%s. Cloud Control API cannot change a resource of type %s: it requires %s, does not show it, and refuses to set it again. Change the resource with the API of its service, "+
		"or delete the object and create it again", api.ErrorMessage(), s.TypeName, strings.Join(unseen, ", "))
	return &smithy.OperationError{ServiceID: cloudcontrol.ServiceID, OperationName: names[types.OperationUpdate], Err: &smithy.GenericAPIError{Code: api.ErrorCode(), Message: text}}
}

// withoutUnacceptable removes the empty values that AWS stored for undeclared properties, and that its own schema refuses: AWS validates
// all of the resource at each update (github.com/hashicorp/terraform-provider-awscc/issues/3186). Values that the patch sets anyway are
// left to it.
func (s State) withoutUnacceptable(shown *kind.Document, patch []documents.Operation) []documents.Operation {
	if shown == nil || len(patch) == 0 {
		return nil
	}
	var out []documents.Operation
	for _, at := range s.schema.EmptyRefused(shown.Value) {
		of := elements(shown.Value, at)
		if rule := s.schema.At(of...).Rule(); rule.ReadOnly || rule.CreateOnly || s.Properties.RuleAt(of).Ignored {
			continue // AWS refuses their removal, or the object leaves them alone
		}
		o := documents.Unset(at)
		if !slices.ContainsFunc(patch, func(other documents.Operation) bool {
			return other.Path == o.Path || strings.HasPrefix(o.Path, other.Path+"/")
		}) {
			out = append(out, o)
		}
	}
	return out
}

// elements returns a path through a value with the mark of every element in the place of the numbers of elements.
func elements(value any, at []string) []string {
	out := slices.Clone(at)
	for i, name := range at {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			out[i] = kind.EveryElement
			n, _ := strconv.Atoi(name) // the schema's own path
			value = v[n]
		}
	}
	return out
}

// Remove implements kind.Kind.
func (r *resource) Remove(_ State, seen kind.Seen[State]) []kind.Step {
	have := seen.State
	return []kind.Step{{Action: actionDelete, Effect: kind.Deletes, Submit: func(ctx context.Context, _ string) (kind.Accepted, error) {
		out, err := r.api.DeleteResource(ctx, &cloudcontrol.DeleteResourceInput{TypeName: &have.TypeName, Identifier: &have.Identifier})
		if err != nil {
			return kind.Accepted{}, err
		}
		return have.accepted(out.ProgressEvent), nil
	}}}
}

// tagKeys returns the keys of tags in order, without those that only AWS may set.
func tagKeys(tags map[string]string) []string {
	return slices.DeleteFunc(kind.SortedKeys(tags), func(key string) bool { return len(key) >= 4 && key[:4] == "aws:" })
}
