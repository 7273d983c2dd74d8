// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// anyTypeKind is the kind of this package, which may have resources of every type.
const anyTypeKind = "AWSResource"

// maxSecrets limits the write-only values of an object: the status has a version of each.
const maxSecrets = 16

// passedRole is a value of an IAMRole of the namespace. The object of the role was judged, so that the role may be passed.
type passedRole string

// passedProfile is the name, or the ARN, of the instance profile that such an IAMRole owns: it has no other role.
type passedProfile string

// passedTemplate is the identifier of the launch template that an AWSResource of the namespace owns: the instance profile in it was judged
// with that object.
type passedTemplate string

// profileFields are the values of an IAMRole that name its instance profile.
var profileFields = []string{"instanceProfileArn", "instanceProfileName"}

// lookups answer the references in properties by the lookups of a scope.
type lookups struct {
	sc     kind.Scope
	schema *awsschema.Type
}

// ValueOf implements documents.Values.
func (l lookups) ValueOf(field string, r documents.Reference) (any, error) {
	target, err := l.sc.Ref(r.Kind, r.Name)
	if wrong := l.checkRelation(field, r, target, err); wrong != nil {
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	value, err := r.Value(field, target)
	switch {
	case err != nil:
		return nil, err
	case r.Kind == "IAMRole" && slices.Contains(profileFields, r.Field):
		return passedProfile(value), nil
	case r.Kind == "IAMRole":
		return passedRole(value), nil
	case r.Kind == anyTypeKind:
		return valueOfAnyType(field, r, target, value)
	default:
		return value, nil
	}
}

// valueOfAnyType returns the value of a reference to a resource of any type.
func valueOfAnyType(field string, r documents.Reference, target kind.Target, value string) (any, error) {
	switch {
	case isForeignARN(value, target.ARN):
		return nil, &status.Stalled{Reason: status.ReasonNotPermitted, Field: field,
			Message: "status." + r.Field + " of AWSResource/" + r.Name + " is the ARN of another resource, whose owner has to be judged: refer to its object, or declare the ARN"}
	case target.Type == kind.LaunchTemplate && value == target.ID:
		return passedTemplate(value), nil
	default:
		return value, nil
	}
}

// propertyOf is the path of the property that messages call field.
func propertyOf(field string) []string {
	return awsschema.PathOf(strings.TrimPrefix(field, "spec.properties."))
}

// checkRelation refuses a reference to an object with a resource of another type than the schema names for the property. The kind decides
// before the object exists. A deletion is not checked, because it counts only created resources, and a plan without the settings of the
// operator does not know the types of kinds.
func (l lookups) checkRelation(field string, r documents.Reference, target kind.Target, failed error) error {
	related := l.schema.At(propertyOf(field)...).Related()
	_, waits := status.AsWaiting(failed)
	if len(related) == 0 || l.sc.Deleting || failed != nil && !waits {
		return nil
	}
	if r.Kind == anyTypeKind {
		if target.Type == "" || slices.Contains(related, target.Type) {
			return nil
		}
		return refusedRelation(l.sc, field, related, "AWSResource/"+r.Name+" is of type "+target.Type)
	}
	if l.sc.AllowedTypes == nil || slices.ContainsFunc(related, func(name string) bool { return l.sc.AllowedTypes.Kinds[name] == r.Kind }) {
		return nil
	}
	return refusedRelation(l.sc, field, related, r.Kind+"/"+r.Name+" has no such resource")
}

// refusedRelation says which objects a property may refer to.
func refusedRelation(sc kind.Scope, field string, related []string, but string) error {
	var kinds []string
	if sc.AllowedTypes != nil {
		for _, name := range related {
			if of := sc.AllowedTypes.Kinds[name]; of != "" && !slices.Contains(kinds, of) {
				kinds = append(kinds, of)
			}
		}
	}
	refused := status.Invalid(field, "names a resource of type %s, and %s: refer to %s, or declare the value", strings.Join(related, " or "), but,
		strings.Join(append(kinds, "an AWSResource of that type"), " or "))
	refused.Certain = true
	return refused
}

// isForeignARN reports whether a text is an ARN, and neither that of a resource nor of a part of it.
func isForeignARN(text, own string) bool {
	rest, isOwn := strings.CutPrefix(text, own)
	return strings.HasPrefix(text, "arn:") && !(own != "" && isOwn && (rest == "" || rest[0] == ':' || rest[0] == '/'))
}

// SecretOf implements documents.Values. An ARN is judged by its owner, and no one sees one that is in a Secret.
func (l lookups) SecretOf(field string, k documents.SecretKey) (any, error) {
	if related := l.schema.At(propertyOf(field)...).Related(); len(related) > 0 {
		return nil, status.Invalid(field, "names a resource of type %s, whose owner has to be judged, and cannot be in a Secret: declare the value, or refer to the object with $ref", strings.Join(related, " or "))
	}
	value, err := l.sc.Secret(k.Name, k.Key)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(value), "arn:") || roleARN.MatchString(unescaped(string(value))) ||
		len(kind.ARNsByForm(l.sc.Place, string(value))) > 0 {
		return nil, &status.Stalled{Reason: status.ReasonNotPermitted, Field: field,
			Message: "the value in key " + k.Key + " of Secret " + k.Name + " has the form of an ARN or an identifier, whose owner has to be judged: declare it in spec.properties"}
	}
	text, err := json.Marshal(string(value))
	return kind.NewWriteOnly(l.sc.UID, string(text)), err
}

// recordedLookups answer the references of an object that is being deleted; a value that nothing records is absent.
type recordedLookups lookups

// ValueOf implements documents.Values.
func (l recordedLookups) ValueOf(field string, r documents.Reference) (any, error) {
	value, err := lookups(l).ValueOf(field, r)
	if err != nil {
		return nil, nil //nolint:nilerr // only the record of what was created counts
	}
	return value, nil
}

// SecretOf implements documents.Values.
func (recordedLookups) SecretOf(string, documents.SecretKey) (any, error) { return nil, nil }

// resolved returns properties with values in the place of references.
func resolved(properties map[string]any, values documents.Values) (map[string]any, error) {
	out, err := documents.Resolve("spec.properties", properties, values)
	if err != nil {
		return nil, err
	}
	object, ok := out.(map[string]any)
	if !ok {
		return nil, status.Invalid("spec.properties", "is a reference, and has to be an object with the properties of the type")
	}
	return object, nil
}

// withRoles returns a value with texts for roles, instance profiles and launch templates.
func withRoles(value any) any {
	switch value := value.(type) {
	case passedRole:
		return string(value)
	case passedProfile:
		return string(value)
	case passedTemplate:
		return string(value)
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			out[name] = withRoles(member)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = withRoles(element)
		}
		return out
	default:
		return value
	}
}

// secretsIn returns the paths of a value that have keys of Secrets, or other write-only values.
func secretsIn(at []string, value any) [][]string {
	var out [][]string
	switch value := value.(type) {
	case *kind.WriteOnly:
		out = append(out, at)
	case map[string]any:
		for _, name := range kind.SortedKeys(value) {
			out = append(out, secretsIn(append(slices.Clone(at), name), value[name])...)
		}
	case []any:
		for _, element := range value {
			out = append(out, secretsIn(append(slices.Clone(at), awsschema.Every), element)...)
		}
	}
	return out
}

// isHidden reports whether a value is a key of a Secret, so that no message may describe it.
func isHidden(value any) bool {
	_, is := value.(*kind.WriteOnly)
	return is
}

// checkSecrets refuses keys of Secrets where their values would be shown, and more of them than the status can record.
func checkSecrets(schema *awsschema.Type, properties map[string]any, all *kind.Document) error {
	for _, at := range secretsIn(nil, properties) {
		if schema.Identity.Contains(at...) {
			return status.Invalid("spec.properties."+awsschema.Text(at), "identifies the resource, and the status shows what identifies it: declare a value that is no secret")
		}
	}
	if n := len(secretsIn(nil, all.Value)); n > maxSecrets {
		return status.Invalid("spec.properties", "has %d values that AWS never shows or that are keys of Secrets; at most %d are possible", n, maxSecrets)
	}
	return nil
}

// withoutSecrets returns an error of AWS with stars in place of the secrets of the wanted state: AWS repeats values that it refuses.
func (s State) withoutSecrets(operation string, err error) error {
	if err == nil {
		return nil
	}
	code, text := "", err.Error()
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		code, text = api.ErrorCode(), api.ErrorMessage()
	}
	shown := s.masked(text)
	if shown == text && s.masked(err.Error()) == err.Error() {
		return err
	}
	return &smithy.OperationError{ServiceID: cloudcontrol.ServiceID, OperationName: operation, Err: &smithy.GenericAPIError{Code: code, Message: shown}}
}

func (s State) masked(text string) string {
	if s.Properties == nil {
		return text
	}
	for _, secret := range documents.Secrets(s.Properties.Value) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
			quoted, _ := json.Marshal(secret) // as within JSON
			text = strings.ReplaceAll(text, strings.Trim(string(quoted), `"`), "***")
		}
	}
	return text
}
