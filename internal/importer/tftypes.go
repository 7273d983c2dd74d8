// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ResourceTypes are the resource types of AWS.
type ResourceTypes interface {
	// Names returns the names of all types.
	Names() []string
	// Type returns the schema of a type; nil for one that does not exist.
	Type(name string) (*awsschema.Type, error)
}

// namesOfTerraform are the prefixes of the types of Terraform's two providers for AWS. The types of awscc are made of the schemas of AWS,
// and have its names: https://registry.terraform.io/providers/hashicorp/awscc/latest/docs
var namesOfTerraform = []string{providerOfSchemas, "aws_"}

const providerOfSchemas = "awscc_"

// typeOf returns the resource type that a type of Terraform has the name of, such as AWS::Kinesis::Stream for awscc_kinesis_stream and
// aws_kinesis_stream; empty for none. The provider aws uses some names of IAM for other things: its aws_iam_policy is no AWS::IAM::Policy.
func (r *stateReader) typeOf(terraformType string) string {
	for _, prefix := range namesOfTerraform {
		if name, ok := strings.CutPrefix(terraformType, prefix); ok {
			found := r.typeNames()[strings.ReplaceAll(name, "_", "")]
			return kind.Either(prefix != providerOfSchemas && kind.IsGuardedType(found), "", found)
		}
	}
	return ""
}

// typeNames returns the types of AWS by their names in one lower-case word. No two of these are the same.
func (r *stateReader) typeNames() map[string]string {
	if r.byWord == nil {
		r.byWord = map[string]string{}
		for _, name := range r.resourceTypes.Names() {
			r.byWord[strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "AWS::"), "::", ""))] = name
		}
	}
	return r.byWord
}

// findType adds a resource of a type without a kind, or says why it is not imported. It returns false for a type that AWS does not have.
func (r *stateReader) findType(at addressed) (bool, error) {
	if r.resourceTypes == nil || len(at.Attributes) == 0 {
		return false, nil
	}
	name := r.typeOf(at.typeName)
	if name == "" {
		return false, nil
	}
	if own := engine.TypesOf(nil, r.types).Kinds[name]; own != "" {
		r.pass(at.address, fmt.Sprintf("kind %s manages resources of type %s: import it as %s/NAME", own, name, strings.ToLower(own)))
		return true, nil
	}
	schema, err := r.resourceTypes.Type(name)
	if err != nil || schema == nil {
		return false, err
	}
	if why := schema.Unmanageable(); why != "" {
		r.pass(at.address, why)
		return true, nil
	}
	identifier, missing := identifierIn(at, schema)
	if missing != "" {
		r.pass(at.address, fmt.Sprintf("%s identifies a %s, and the state does not say it: import it by its identifier, nexusctl import %s IDENTIFIER", missing, name, name))
		return true, nil
	}
	found := OfType(name, identifier)
	home := Resource{ARN: arnOf(at.stateInstance), Region: at.text("region"), Account: accountOf(at.stateInstance)}.home()
	found.Address, found.Partition, found.Account, found.Region = at.address, home.partition, home.account, home.region
	r.addFound(at, found)
	return true, nil
}

// identifierIn returns the primary identifier of an instance, or the property that the state lacks. In the provider awscc it is the
// attribute id; otherwise its parts are attributes with the names of the properties.
func identifierIn(at addressed, schema *awsschema.Type) (identifier, missing string) {
	if id := at.text("id"); strings.HasPrefix(at.typeName, providerOfSchemas) && id != "" {
		return id, ""
	}
	var parts []string
	for _, property := range schema.Identity.Parts() {
		text := at.text(attributeOf(property))
		if text == "" {
			return "", property
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "|"), ""
}

// wordBegins matches the places in the name of a property where a word of an attribute begins.
var wordBegins = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// attributeOf returns the attribute of Terraform that has a property: vector_bucket_arn for VectorBucketArn.
func attributeOf(property string) string {
	return strings.ToLower(wordBegins.ReplaceAllString(property, "${1}${3}_${2}${4}"))
}

// addFound adds a resource with the state's remark about it.
func (r *stateReader) addFound(at addressed, found Resource) {
	if at.Status == "tainted" {
		found.Remark = "Terraform has marked it as tainted and replaces it when it is applied next"
	}
	r.Found, r.found = append(r.Found, found), append(r.found, at.stateInstance)
}
