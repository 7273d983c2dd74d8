// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
)

// Names implements kind.Namer: properties name resources by ARNs, by identifiers with a form that shows their type, and by names if the
// name of the property shows the type.
func (*resource) Names(sc kind.Scope, cr *v1alpha1.AWSResource) []kind.Naming {
	schema := sc.Prepared.(*awsschema.Type)
	return documents.Names(sc, "spec.properties", cr.Spec.Properties.Raw, func(at []string, value string) []string { return guessARNs(sc, schema, at, value) })
}

// plainName matches texts that may be the name of a resource, with its path.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_./#@+=-]{1,256}$`)

// guessARNs returns the ARNs of the resources that a property may name by its own name. A property that identifies the resource of the
// object is judged as the object's, by the tags of that resource. The identifier of a resource without tags, such as the policy of a
// bucket, may be the name of another one.
func guessARNs(sc kind.Scope, schema *awsschema.Type, at []string, value string) []string {
	isOwn := schema.Tags.Property() != "" && slices.Equal(schema.Identity.Parts(), []string{awsschema.Text(at)})
	if isOwn || !plainName.MatchString(value) {
		return nil
	}
	var out []string
	for _, template := range schema.NamedAt(at...) {
		if template.Service == "kms" {
			out = append(out, kind.ARNsOf(sc.Place, "kms:key", value)...)
			continue
		}
		for _, name := range []string{value, strings.ToLower(value)} { // some services have one name in both
			out = append(out, template.Fill(sc.Partition, sc.Region, sc.Account, name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
