// SPDX-License-Identifier: Apache-2.0

// Package awstypes opens the schemas of AWS resource types once they are needed.
package awstypes

import (
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
)

// Schemas are the schemas of AWS resource types, for a verb that reads them.
type Schemas struct {
	// types is nil until the verb reads them.
	types *bundled.Bundle
}

// Bundle opens the schemas of AWS resource types, once.
func (s *Schemas) Bundle() (*bundled.Bundle, error) {
	if s.types != nil {
		return s.types, nil
	}
	b, err := bundled.Open()
	s.types = b
	return b, err
}

// OfBundle are the types of a bundle as an import of a Terraform state needs them.
type OfBundle struct{ *bundled.Bundle }

// Names implements importer.ResourceTypes.
func (b OfBundle) Names() []string { return b.Types }

// Type implements importer.ResourceTypes.
func (b OfBundle) Type(name string) (*awsschema.Type, error) { return In(b.Bundle, name) }

// In returns the interpreted schema of a type; nil for a type that the bundle does not have.
func In(b *bundled.Bundle, name string) (*awsschema.Type, error) {
	text, err := b.Schema(name)
	if err != nil || text == nil {
		return nil, err
	}
	return awsschema.Parse(text)
}
