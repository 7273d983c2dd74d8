// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// unchangeable returns the failure of the last request as that of a property which AWS does not let be changed; nil for every other
// failure.
func (s State) unchangeable(failed *kind.FailedRequest, diff kind.Diff) error {
	if failed == nil || failed.Action != actionUpdate {
		return nil
	}
	return s.immutable(failed, diff)
}

// immutable returns the refusal of an update as that of a property which the schema lets be changed under conditions, and AWS does not;
// nil for every other error. NotUpdatable is about such a property where one differs, and other refusals are where their text names it.
func (s State) immutable(refusal error, diff kind.Diff) error {
	api, ok := errors.AsType[smithy.APIError](refusal)
	if !ok {
		return nil
	}
	code := strings.TrimSuffix(api.ErrorCode(), "Exception")
	conditional := slices.DeleteFunc(slices.Clone(diff), func(c kind.Change) bool { return !s.isConditional(c) })
	i := slices.IndexFunc(conditional, func(c kind.Change) bool { return isNamed(awsschema.LastName(s.propertyAt(c)), api.ErrorMessage()) })
	switch {
	case i >= 0 && slices.Contains([]string{"NotUpdatable", "InvalidRequest", "Validation"}, code):
		return s.refusedChange(conditional[i], refusal)
	case len(conditional) > 0 && code == "NotUpdatable":
		return s.refusedChange(conditional[0], refusal)
	default:
		return nil
	}
}

// isConditional reports whether AWS decides by the values whether a difference can be settled.
func (s State) isConditional(c kind.Change) bool {
	at := s.propertyAt(c)
	return len(at) > 0 && s.schema.At(at...).Rule().Conditionally
}

// propertyAt returns the path of the property that differs; none where it is none.
func (s State) propertyAt(c kind.Change) []string {
	if c.At("Tags") {
		return []string{s.schema.Tags.Property()}
	}
	return documents.Members("Properties", c.Path)
}

// isNamed reports whether a text has a name as a word.
func isNamed(name, text string) bool {
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// remedy says how a person gets another value of a property that cannot be changed in place.
func (s State) remedy() string {
	return cmp.Or(s.schema.HowToReplace(), "declare what exists, or delete this object and create another")
}

// refusedChange says that AWS refuses to change a property, and gives the remedy.
func (s State) refusedChange(c kind.Change, refusal error) error {
	field := kind.Either(c.At("Tags"), "spec.tags", "spec.properties."+awsschema.Text(s.propertyAt(c)))
	return &status.Stalled{Reason: status.ReasonImmutable, Field: field, Cause: refusal,
		Message: fmt.Sprintf("cannot be changed in place: want %s, have %s; %s. %s", c.Want, c.Have, s.remedy(), awsclient.Explain(refusal, actionUpdate))}
}
