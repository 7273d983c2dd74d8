// SPDX-License-Identifier: Apache-2.0

// Package cloudcontrol answers Cloud Control API, and DescribeType of CloudFormation, from memory, for every resource type with a schema:
// it validates requests by the schema, assigns identifiers and all other values that are read only, fills in defaults, hides values that
// can only be written, and carries requests out after a time that a test sets.
//
// The double has no other knowledge of the types, except of a few values that AWS shows in another form (rewrites): it lacks all further
// checks and changes of the handlers of AWS.
package cloudcontrol

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// maxBody is the largest request body that the double reads.
const maxBody = 4 << 20

// Schemas gives the schemas of resource types.
type Schemas interface {
	// Schema returns the schema of a type; nil for a type that does not exist.
	Schema(typeName string) ([]byte, error)
}

// Double is Cloud Control API in memory. It is an http.Handler and safe for concurrent use.
type Double struct {
	account account
	schemas Schemas

	mu        sync.Mutex
	models    map[string]*model
	resources map[string]*resource
	requests  *requests
	habits    habits
	rights    rights
	// allowsOrphans lets resources be created within others that do not exist.
	allowsOrphans bool
}

// resource is one that exists.
type resource struct {
	typeName, identifier, region string
	properties                   map[string]any // with those that are only written
}

// existing returns the properties of a resource; nil where there is none.
func (r *resource) existing() map[string]any {
	if r == nil {
		return nil
	}
	return r.properties
}

// Failure describes the end of a request that fails.
type Failure struct {
	// Code is one of the error codes of handlers, such as NotStabilized.
	// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
	Code, Message string
	// Leaves is true where the request has its effect and fails nevertheless.
	Leaves bool
}

// New returns an empty account.
func New(id string, schemas Schemas, now func() time.Time) *Double {
	return &Double{account: account{id, now}, schemas: schemas, models: map[string]*model{}, resources: map[string]*resource{},
		requests: newRequests(now), habits: habits{returning: map[string]map[string]any{}}, rights: rights{account: id}}
}

// Live returns an empty account with the clock of the machine.
func Live(id string, schemas Schemas) *Double { return New(id, schemas, time.Now) }

// SetDuration sets how long the requests take that are sent from now on. Zero lets them succeed at once.
func (d *Double) SetDuration(duration time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests.duration = duration
}

// Fail lets the next request of an operation (CREATE, UPDATE, DELETE) fail.
func (d *Double) Fail(operation string, f Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests.failures[operation] = f
}

// Reset gives properties of a type the values that they get when an update removes them, as handlers of AWS do.
func (d *Double) Reset(typeName string, values map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.habits.returning[typeName] = values
}

// Properties returns the properties of a resource, with those that AWS never shows; nil where it does not exist. A test may look at
// them, and Set changes them.
func (d *Double) Properties(typeName, identifier string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests.settle()
	for _, r := range d.resources {
		if r.typeName == typeName && r.identifier == identifier {
			return clone(r.properties)
		}
	}
	return nil
}

// Set changes a top-level property of a resource, as another client of its service would; nil removes it.
func (d *Double) Set(typeName, identifier, property string, value any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.resources {
		if r.typeName != typeName || r.identifier != identifier {
			continue
		}
		if value == nil {
			delete(r.properties, property)
			return nil
		}
		changed := clone(map[string]any{property: value})
		r.properties[property] = changed[property]
		return nil
	}
	return fmt.Errorf("%s %s does not exist", typeName, identifier)
}

// Identifiers returns the identifiers of the resources of a type in order.
func (d *Double) Identifiers(typeName string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests.settle()
	var out []string
	for _, r := range d.resources {
		if r.typeName == typeName {
			out = append(out, r.identifier)
		}
	}
	slices.Sort(out)
	return out
}

// input is a request of any operation.
type input struct {
	TypeName, Identifier, ClientToken, DesiredState, PatchDocument, RequestToken, ResourceModel, NextToken string
	MaxResults                                                                                             int

	region, accessKey, body string
}

// client is the key of a client token.
func (in input) client() string {
	if in.ClientToken == "" {
		return ""
	}
	return in.region + "/" + in.ClientToken
}

// key is the key of a resource.
func (in input) key(identifier string) string {
	return strings.Join([]string{in.region, in.TypeName, identifier}, "/")
}

// errand is the work of a handler for the request.
func (in input) errand(m *model, handler string, before, after map[string]any) errand {
	return errand{handler: handler, accessKey: in.accessKey, region: in.region, before: before, after: after,
		named: m.identified(in.Identifier)}
}

// refusal is an error of the API.
type refusal struct{ code, message string }

// target begins the names of the operations in the header X-Amz-Target.
const target = "CloudApiService."

// ServeHTTP implements http.Handler.
func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client closed the connection
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests.settle()
	operation, isControl := strings.CutPrefix(r.Header.Get("X-Amz-Target"), target)
	if !isControl {
		d.serveQuery(w, string(body))
		return
	}
	in := input{region: signedRegion(r), accessKey: signingKey(r), body: string(body)}
	answer, refused := any(nil), &refusal{"SerializationException", "the request is no JSON"}
	if json.Unmarshal(body, &in) == nil {
		answer, refused = d.answer(operation, in)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if refused != nil {
		answer = map[string]string{"__type": "com.amazonaws.cloudapiservice#" + refused.code, "Message": refused.message,
			"message": refused.message}
		w.WriteHeader(http.StatusBadRequest)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// answer answers an operation of the API.
func (d *Double) answer(operation string, in input) (any, *refusal) {
	switch operation {
	case "GetResourceRequestStatus":
		return d.requests.status(in)
	case "CancelResourceRequest":
		return d.requests.cancel(in)
	}
	m, refused := d.model(in.TypeName)
	if refused != nil {
		return nil, refused
	}
	in.Identifier = d.account.named(m, in.region, in.Identifier)
	handlers := map[string]string{"CreateResource": "create", "GetResource": "read", "UpdateResource": "update", "DeleteResource": "delete",
		"ListResources": "list"}
	name, known := handlers[operation]
	if !known {
		return nil, &refusal{"UnknownOperationException", ""}
	}
	if m.provisioning() == "NON_PROVISIONABLE" || !m.has(name) {
		return nil, &refusal{"UnsupportedActionException",
			fmt.Sprintf("Resource type %s does not support %s action", in.TypeName, strings.ToUpper(name))}
	}
	return map[string]func(*model, input) (any, *refusal){"create": d.create, "read": d.get, "update": d.update, "delete": d.delete,
		"list": d.list}[name](m, in)
}

// model returns the model of a type.
func (d *Double) model(typeName string) (*model, *refusal) {
	if m := d.models[typeName]; m != nil {
		return m, nil
	}
	text, err := d.schemas.Schema(typeName)
	if text == nil && err == nil {
		return nil, &refusal{"TypeNotFoundException", "The type '" + typeName + "' cannot be found."}
	}
	var m *model
	if err == nil {
		m, err = modelOf(text)
	}
	if err != nil {
		return nil, &refusal{"ServiceInternalErrorException", "the schema of " + typeName + ": " + err.Error()}
	}
	d.models[typeName] = m
	return m, nil
}

// create answers CreateResource. A name that is taken shows when the request ends.
func (d *Double) create(m *model, in input) (any, *refusal) {
	if r, refused := d.requests.repeated(in.client(), in.body); r != nil || refused != nil {
		return d.requests.progress(r), refused
	}
	wanted := map[string]any{}
	if err := json.Unmarshal([]byte(in.DesiredState), &wanted); err != nil {
		return nil, &refusal{"InvalidRequestException", "The desired state is no object: " + err.Error()}
	}
	if set := present(wanted, m.ReadOnly); len(set) > 0 {
		return nil, &refusal{"ValidationException", fmt.Sprintf("Invalid request: readOnlyProperties %v cannot be specified", set)}
	}
	if reason := m.validate(wanted); reason != "" {
		return nil, &refusal{"ValidationException", reason}
	}
	r := &request{operation: "CREATE", typeName: in.TypeName, fingerprint: in.body,
		identifier: m.identifier(d.account.asShown(m, in.region, wanted)), denied: d.rights.refused(m, in.errand(m, "create", nil, wanted))}
	if r.identifier != "" {
		if d.requests.busyWith(in.key(r.identifier)) != nil {
			return nil, concurrent(in.TypeName, r.identifier)
		}
		r.key = in.key(r.identifier)
	}
	return map[string]any{"ProgressEvent": d.requests.begin(r, in.client(), func(r *request) { d.finishCreate(m, in, r, wanted) })}, nil
}

func (d *Double) finishCreate(m *model, in input, r *request, wanted map[string]any) {
	properties := d.account.asShown(m, in.region, wanted)
	if lacks := d.missingParent(m.TypeName, in.region, properties); lacks != "" {
		r.fail("NotFound", lacks)
		return
	}
	m.fillDefaults(properties)
	d.account.assign(m, in.region, d.requests.next(), properties)
	identifier := m.identifier(properties)
	key := in.key(identifier)
	if d.resources[key] != nil {
		r.fail("AlreadyExists", fmt.Sprintf("Resource of type '%s' with identifier '%s' already exists.", in.TypeName, identifier))
		return
	}
	r.key, r.identifier = key, identifier
	d.resources[key] = &resource{in.TypeName, identifier, in.region, d.habits.stored(m, properties)}
}

// get answers GetResource. A resource that is being created does not exist yet.
func (d *Double) get(m *model, in input) (any, *refusal) {
	r := d.resources[in.key(in.Identifier)]
	if text := d.rights.refused(m, in.errand(m, "read", r.existing(), nil)); text != "" {
		return nil, denied(in, text)
	}
	if r == nil {
		return nil, notFound(in)
	}
	return map[string]any{"TypeName": in.TypeName, "ResourceDescription": d.describe(m, r)}, nil
}

// describe returns AWS's description of a resource.
func (d *Double) describe(m *model, r *resource) map[string]any {
	text, err := json.Marshal(m.reordered(d.habits.answered(m, without(r.properties, m.WriteOnly))))
	if err != nil {
		panic(fmt.Sprintf("cloudcontrol: rendering %s: %v", r.identifier, err)) // it was read as JSON
	}
	return map[string]any{"Identifier": r.identifier, "Properties": string(text)}
}

// update answers UpdateResource. The patch is applied to the properties that AWS shows, so that a property that is only written and is not
// in the patch is missing: https://docs.aws.amazon.com/cloudcontrolapi/latest/userguide/resource-operations-update.html
func (d *Double) update(m *model, in input) (any, *refusal) {
	if r, refused := d.requests.repeated(in.client(), in.body); r != nil || refused != nil {
		return d.requests.progress(r), refused
	}
	found := d.resources[in.key(in.Identifier)]
	if found == nil {
		return nil, notFound(in)
	}
	if d.requests.busyWith(in.key(in.Identifier)) != nil {
		return nil, concurrent(in.TypeName, in.Identifier)
	}
	before := d.habits.answered(m, without(found.properties, m.WriteOnly))
	wanted, err := patched(before, in.PatchDocument)
	if errors.Is(err, jsonpatch.ErrMissing) {
		return nil, &refusal{"ValidationException", "[PATCH Operation] noSuchPath in source: " + err.Error()}
	}
	if err != nil {
		return nil, &refusal{"InvalidRequestException", "The patch document cannot be applied: " + err.Error()}
	}
	if differ := differing(before, wanted, m.ReadOnly); len(differ) > 0 {
		return nil, &refusal{"ValidationException", fmt.Sprintf("Invalid patch update: readOnlyProperties %v cannot be updated", differ)}
	}
	if differ := differing(before, wanted, m.CreateOnly); len(differ) > 0 {
		return nil, &refusal{"NotUpdatableException", fmt.Sprintf("Invalid patch update: createOnlyProperties %v cannot be updated", differ)}
	}
	if reason := m.validate(without(wanted, m.ReadOnly)); reason != "" {
		return nil, &refusal{"ValidationException", reason}
	}
	d.habits.reset(in.TypeName, wanted)
	r := &request{operation: "UPDATE", typeName: in.TypeName, identifier: in.Identifier, key: in.key(in.Identifier), fingerprint: in.body,
		denied: d.rights.refused(m, in.errand(m, "update", found.properties, wanted))}
	return map[string]any{"ProgressEvent": d.requests.begin(r, in.client(), func(r *request) {
		if f := d.habits.refusedChange(in.TypeName, before, wanted); f != nil {
			r.fail(f.Code, f.Message)
			return
		}
		found.properties = d.habits.stored(m, d.account.asShown(m, in.region, wanted))
	})}, nil
}

// patched applies a JSON patch (RFC 6902) to a copy of properties.
func patched(properties map[string]any, document string) (map[string]any, error) {
	patch, err := jsonpatch.DecodePatch([]byte(document))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(properties)
	if err != nil {
		return nil, err
	}
	if text, err = patch.Apply(text); err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(text, &out)
}

// delete answers DeleteResource. That the resource does not exist shows when the request ends.
func (d *Double) delete(m *model, in input) (any, *refusal) {
	if r, refused := d.requests.repeated(in.client(), in.body); r != nil || refused != nil {
		return d.requests.progress(r), refused
	}
	key := in.key(in.Identifier)
	if d.requests.busyWith(key) != nil {
		return nil, concurrent(in.TypeName, in.Identifier)
	}
	r := &request{operation: "DELETE", typeName: in.TypeName, identifier: in.Identifier, key: key, fingerprint: in.body,
		denied: d.rights.refused(m, in.errand(m, "delete", d.resources[key].existing(), nil))}
	return map[string]any{"ProgressEvent": d.requests.begin(r, in.client(), func(r *request) {
		if d.resources[key] == nil {
			r.fail("NotFound", notFound(in).message)
		}
		delete(d.resources, key)
	})}, nil
}

// list answers ListResources.
func (d *Double) list(m *model, in input) (any, *refusal) {
	parents := map[string]any{}
	if in.ResourceModel != "" && json.Unmarshal([]byte(in.ResourceModel), &parents) != nil {
		return nil, &refusal{"InvalidRequestException", "The resource model is no object."}
	}
	for _, name := range m.Handlers["list"].HandlerSchema.Required {
		if parents[name] == nil {
			return nil, &refusal{"InvalidRequestException", "Missing or invalid ResourceModel property in list operation: required key [" + name +
				"] not found"}
		}
	}
	e := in.errand(m, "list", nil, nil)
	e.named = parents
	if text := d.rights.refused(m, e); text != "" {
		return nil, denied(in, text)
	}
	var keys []string
	for key, r := range d.resources {
		if r.typeName == in.TypeName && r.region == in.region && contains(r.properties, parents) && r.identifier > in.NextToken {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	size := 100
	if in.MaxResults > 0 {
		size = in.MaxResults
	}
	out := map[string]any{"TypeName": in.TypeName}
	if len(keys) > size {
		keys = keys[:size]
		out["NextToken"] = d.resources[keys[size-1]].identifier
	}
	found := []any{}
	for _, key := range keys {
		found = append(found, d.describe(m, d.resources[key]))
	}
	out["ResourceDescriptions"] = found
	return out, nil
}

// contains reports whether properties have all of some values.
func contains(properties, values map[string]any) bool {
	for name, value := range values {
		if fmt.Sprint(properties[name]) != fmt.Sprint(value) {
			return false
		}
	}
	return true
}

func notFound(in input) *refusal {
	return &refusal{"ResourceNotFoundException",
		fmt.Sprintf("Resource of type '%s' with identifier '%s' was not found.", in.TypeName, in.Identifier)}
}

func concurrent(typeName, identifier string) *refusal {
	return &refusal{"ConcurrentOperationException",
		fmt.Sprintf("Another operation on resource of type %s with identifier %s is in progress.", typeName, identifier)}
}

var credential = regexp.MustCompile(`Credential=[^/,\s]+/\d+/([^/]+)/`)

// signedRegion is the region of the request's signature.
func signedRegion(r *http.Request) string {
	if m := credential.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		return m[1]
	}
	return "us-east-1"
}
