// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Importer reads one account and region with the credentials of its caller.
type Importer struct {
	Kinds   []engine.Entry
	Schemas *crdschema.Schemas
	Session *awsclient.Session
	// Namespace and Provider are those of the objects; the AWSProvider need not exist.
	Namespace, Provider string
	// Boundary is the permissions boundary that the AWSProvider requires of roles; empty for none.
	Boundary string
	// RolePath is the rolePathPrefix of the AWSProvider; empty for none.
	RolePath string
	// Adopt creates objects that manage their resources. Otherwise they only observe them.
	Adopt bool

	names map[string]bool
}

// Resource names an AWS resource: by its kind, in any case, and by the values of the fields that identify it, the outermost
// first and with a slash between them.
type Resource struct {
	Kind, Name string
	// Parameters lists the parameters that an SSMParameterSet declares, relative to its path; empty for all below the path.
	Parameters []string
	// ARN is the one that named the resource; empty where its kind and name did.
	ARN string
	// Partition, Account and Region are where the resource was said to be; empty where that is not known or the ARN says it.
	Partition, Account, Region string
	// Address is the place of the resource in a Terraform state, and Remark the state's remark about it; empty for others.
	Address, Remark string
}

// String returns KIND/NAME, or TYPE/IDENTIFIER of a resource without a kind.
func (r Resource) String() string {
	if strings.EqualFold(r.Kind, kindOfAnyType) {
		return r.Name
	}
	return r.Kind + "/" + r.Name
}

// kindOfAnyType is the kind of resources of types without a kind.
const kindOfAnyType = "AWSResource"

// IsType reports whether a text is the name of a resource type, such as AWS::Kinesis::Stream.
func IsType(text string) bool { return typeForm.MatchString(text) }

var typeForm = regexp.MustCompile(`^AWS::[A-Za-z0-9]{1,64}::[A-Za-z0-9]{1,64}$`)

// OfType names the resource of a type by its primary identifier, with its parts joined by |.
func OfType(typeName, identifier string) Resource {
	return Resource{Kind: kindOfAnyType, Name: typeName + "/" + identifier}
}

// objectName returns the text that the name of the object is made from: for an identifier that is an ARN, the part that names the resource.
func (r Resource) objectName() string {
	if r.Kind != kindOfAnyType {
		return r.Name
	}
	_, identifier, _ := strings.Cut(r.Name, "/")
	if fields := strings.SplitN(identifier, ":", 6); len(fields) == 6 && fields[0] == "arn" {
		return fields[5]
	}
	return identifier
}

// Result holds the outcome of an import of one resource.
type Result struct {
	Resource
	// Object declares the resource; nil when there is a Problem.
	Object *unstructured.Unstructured
	// Differences are the fields that the object would change in AWS.
	Differences []string
	// Omitted lists the parts of the resource that the object leaves out, and why. They stay in AWS as they are.
	Omitted []string
	// NotDeclared are the settings, by the names that AWS gives them, that AWS answered with and that no field of the object says. They
	// stay in AWS as they are.
	NotDeclared []string
	// Unknown are further settings without a field, with the reason why AWS did not answer whether the resource has them.
	Unknown []string
	// IsManaged is true where the Problem is that another object manages the resource.
	IsManaged bool
	// Problem is why the resource cannot be declared, or not so that nothing changes.
	Problem string
}

// ImportableKinds returns the kinds that can declare existing resources.
func (im *Importer) ImportableKinds() []string {
	var out []string
	for _, e := range im.importable() {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}

func (im *Importer) importable() []engine.Entry {
	return slices.DeleteFunc(slices.Clone(im.Kinds), func(e engine.Entry) bool { return len(e.ExportIdentity()) == 0 })
}

// UnknownKindError says that existing resources of a kind cannot be declared, or not found by their tags.
type UnknownKindError struct {
	Resource
	Known []string
	// ByTags is true where the resource has no name because it is searched for.
	ByTags bool
}

// Error implements error.
func (e *UnknownKindError) Error() string {
	if e.ByTags {
		return fmt.Sprintf("%s is none of the kinds that are found by tags: %s", e.Kind, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("%s: %s is none of the kinds that can be imported: %s", e.Resource, e.Kind, strings.Join(e.Known, ", "))
}

// MalformedError says that a name does not have the parts that identify a resource of its kind.
type MalformedError struct {
	Resource
	Fields []string
}

// Error implements error.
func (e *MalformedError) Error() string {
	return fmt.Sprintf("%s: name it as %s/%s", e.Resource, e.Kind, strings.ToUpper(strings.Join(e.Fields, "/")))
}

// Import declares a resource. If it cannot be declared, the Problem of the result says why. Errors are *UnknownKindError, *MalformedError,
// or failures to reach AWS.
func (im *Importer) Import(ctx context.Context, r Resource) (Result, error) {
	r = im.byARN(r)
	e, obj, err := im.identified(r)
	if err != nil {
		return Result{}, err
	}
	r.Kind = e.Name()
	if own := im.ownKind(r); own != "" {
		return Result{Resource: r, Problem: "kind " + own + " manages resources of this type: import it as " + strings.ToLower(own) +
			"/NAME"}, nil
	}
	if where := im.elsewhere(r); where != "" {
		return Result{Resource: r, Problem: where}, nil
	}
	return im.declare(ctx, e, obj, Result{Resource: r})
}

// ownKind returns the kind that manages resources of the type that a resource is named by; empty for none.
func (im *Importer) ownKind(r Resource) string {
	if r.Kind != kindOfAnyType {
		return ""
	}
	typeName, _, _ := strings.Cut(r.Name, "/")
	return engine.TypesOf(nil, im.Kinds).Kinds[typeName]
}

// declare declares the identified resource.
func (im *Importer) declare(ctx context.Context, e engine.Entry, obj v1alpha1.Resource, out Result) (Result, error) {
	binding := im.Session.Memo("import "+e.Name(), func() any { return e.Bind(answers.Instrument(im.Session.Config)) }).(engine.Binding)
	_, sc, err := im.scope(ctx, e, obj)
	if err != nil {
		return out, err
	}
	found, err := ExportOf(ctx, e, binding, sc, obj)
	if err != nil {
		return out, problem(&out, awsclient.Explain(err, ""))
	}
	if im.refuse(found.Exported, &out); out.Problem != "" {
		return out, nil
	}
	if out.NotDeclared, err = found.NotDeclared(ctx); err != nil {
		return out, err
	}
	separate, unknown := readSeparately(ctx, found.Separate)
	out.NotDeclared, out.Unknown = append(out.NotDeclared, separate...), append(unknown, found.Unread...)
	if err := im.validate(ctx, e.Name(), obj, out.NotDeclared); err != nil {
		return out, problem(&out, err)
	}
	out.Omitted = found.Omitted
	owner, sc, err := im.scope(ctx, e, obj) // with the tags of the spec
	if err != nil {
		return out, err
	}
	decided, err := binding.Decide(ctx, sc, owner, obj)
	if err != nil {
		return out, problem(&out, awsclient.Explain(err, ""))
	}
	for _, c := range decided.Diff {
		if !c.MarksOwner() {
			out.Differences = append(out.Differences, fmt.Sprintf("%s: %s -> %s", c.Path, c.Have, c.Want))
		}
	}
	out.Object, err = manifest(e, obj, out.NotDeclared)
	return out, err
}

// validate returns why the schema refuses the object. No one wrote it, so the reason may be a setting of the resource that no field says.
func (im *Importer) validate(ctx context.Context, kindName string, obj v1alpha1.Resource, notDeclared []string) error {
	err := im.Schemas.Validate(ctx, kindName, obj)
	if s, ok := status.AsStalled(err); ok && len(notDeclared) > 0 {
		return &status.Stalled{Reason: s.Reason, Field: s.Field,
			Message: fmt.Sprintf("%s; a %s has no fields for these settings of the resource: %s", s.Message, kindName,
				strings.Join(notDeclared, ", "))}
	}
	return err
}

// refuse puts into the result why a resource is not to be declared that was, or was not, found.
func (im *Importer) refuse(found engine.Exported, out *Result) {
	switch {
	case !found.Exists && out.Address != "":
		out.Problem = fmt.Sprintf("does not exist in %s, although the Terraform state has it as %s", im.place(), out.Address)
	case !found.Exists:
		out.Problem = "does not exist in " + im.place()
	case found.Tags[wellknown.TagOwnerUID] != "":
		out.IsManaged = true
		out.Problem = fmt.Sprintf("is managed already: its tags name the owner %s in cluster %s", found.Tags[wellknown.TagOwner],
			found.Tags[wellknown.TagCluster])
	default:
		out.Problem = another(out.Resource, found.Published.CommonStatus().ARN)
	}
}

// identified makes an object with only the fields that identify the resource.
func (im *Importer) identified(r Resource) (engine.Entry, v1alpha1.Resource, error) {
	i := slices.IndexFunc(im.Kinds, func(e engine.Entry) bool { return strings.EqualFold(e.Name(), r.Kind) && len(e.ExportIdentity()) > 0 })
	if i < 0 {
		return nil, nil, &UnknownKindError{Resource: r, Known: im.ImportableKinds()}
	}
	e := im.Kinds[i]
	fields := e.ExportIdentity()
	spec, ok := identityIn(r.Name, fields)
	if !ok {
		return nil, nil, &MalformedError{Resource: r, Fields: fields}
	}
	if len(r.Parameters) > 0 {
		named := map[string]any{}
		for _, p := range r.Parameters {
			named[p] = map[string]any{"value": ""}
		}
		spec["parameters"] = named
	}
	spec["providerRef"] = map[string]any{"name": im.Provider}
	obj := e.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": spec}, obj); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r, err)
	}
	obj.SetNamespace(im.Namespace)
	obj.SetName(im.nameOf(e.Name(), r.objectName()))
	obj.SetUID(types.UID("import"))
	obj.SetGeneration(1)
	common := obj.CommonSpec()
	common.ManagementPolicy = v1alpha1.ManageObserve
	if im.Adopt {
		common.ManagementPolicy, common.AdoptionPolicy = "", v1alpha1.AdoptAlways
	}
	common.DeletionPolicy = v1alpha1.DeletionRetain
	return e, obj, nil
}

// identityIn divides a name into the fields of the spec that identify the resource. The last one is left out where it may be.
func identityIn(name string, fields []string) (spec map[string]any, ok bool) {
	values := strings.SplitN(name, "/", len(fields))
	last, optional := strings.CutSuffix(fields[len(fields)-1], kind.OptionalIdentity)
	if optional && len(values) == len(fields)-1 {
		values = append(values, "")
	}
	if len(values) != len(fields) || slices.Contains(values[:len(values)-1], "") {
		return nil, false
	}
	spec = map[string]any{}
	for i, value := range values[:len(values)-1] {
		spec[fields[i]] = value
	}
	if value := values[len(values)-1]; value != "" {
		spec[last] = value
		return spec, true
	}
	return spec, optional
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// maxName is the length of the names of objects, in characters.
const maxName = 150

// nameOf makes the name of an object that no other object of the import has.
func (im *Importer) nameOf(kindName, name string) string {
	base := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if base == "" {
		base = strings.ToLower(kindName)
	}
	base = strings.TrimRight(base[:min(len(base), maxName)], "-")
	if im.names == nil {
		im.names = map[string]bool{}
	}
	unique := base
	for n := 2; im.names[kindName+"/"+unique]; n++ {
		suffix := fmt.Sprintf("-%d", n)
		unique = base[:min(len(base), maxName-len(suffix))] + suffix
	}
	im.names[kindName+"/"+unique] = true
	return unique
}

// scope returns the facts that the operator would have for the object, with a provider that allows adoption.
func (im *Importer) scope(ctx context.Context, e engine.Entry, obj v1alpha1.Resource) (engine.Owner, kind.Scope, error) {
	facts := engine.Facts{
		Cluster: "import",
		Provider: v1alpha1.AWSProviderSpec{Region: im.Session.Region, AllowAdoption: true, PermissionsBoundaryARN: im.Boundary,
			RolePathPrefix: im.RolePath},
		Place: kind.Place{Partition: im.Session.Partition, Account: im.Session.Account, Region: im.Session.Region},
		Federation: kind.Federation{EKSCluster: kind.AnyCluster,
			NoIssuer: &status.Waiting{For: "a cluster"},
			OIDCProvider: func(issuer string) (kind.OIDCProvider, error) {
				return im.Session.OIDCProvider(ctx, issuer, time.Minute, time.Minute)
			}},
	}
	owner := engine.OwnerOf(e, obj, nil, facts)
	sc, err := engine.ScopeOf(obj, owner, facts)
	return owner, sc, err
}

// problem puts a problem that only a person can remove into the result, and returns other errors.
func problem(out *Result, err error) error {
	if s, ok := status.AsStalled(err); ok {
		out.Problem = status.WithCode(s.Reason, s.Error(), math.MaxInt)
		return nil
	}
	if w, ok := status.AsWaiting(err); ok {
		out.Problem = "waits for " + w.For
		return nil
	}
	return err
}

// manifest is an object as a person would write it, with an annotation that names the settings that it does not declare.
func manifest(e engine.Entry, obj v1alpha1.Resource, notDeclared []string) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("writing %s/%s: %w", e.Name(), obj.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": content["spec"]}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(e.Name()))
	u.SetNamespace(obj.GetNamespace())
	u.SetName(obj.GetName())
	if len(notDeclared) > 0 {
		u.SetAnnotations(map[string]string{wellknown.AnnotationNotDeclared: strings.Join(notDeclared, ", ")})
	}
	return u, nil
}
