// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ExportIdentity implements kind.Exporter.
func (*resource) ExportIdentity() []string { return []string{"typeName", "importID"} }

// SeparateSettings implements kind.Exporter.
func (*resource) SeparateSettings() []kind.SeparateSetting[State] { return nil }

// Export implements kind.Exporter. It declares the properties that AWS shows, without those that AWS assigns and without defaults of the
// schema.
func (r *resource) Export(ctx context.Context, _ kind.Scope, cr *v1alpha1.AWSResource) (kind.Seen[State], error) {
	schema, err := r.schemas.of(ctx, cr.Spec.TypeName)
	if err != nil {
		return kind.Seen[State]{}, err
	}
	if why := schema.Unmanageable(); why != "" {
		return kind.Seen[State]{}, status.Invalid("spec.typeName", "%s", why)
	}
	f, err := r.get(ctx, cr.Spec.TypeName, cr.Spec.ImportID)
	if err != nil || f == nil {
		return kind.Seen[State]{}, err
	}
	declared := schema.Declarable(f.properties)
	text, err := json.Marshal(declared)
	if err != nil {
		return kind.Seen[State]{}, err
	}
	cr.Spec.Properties, cr.Spec.ImportID = runtime.RawExtension{Raw: text}, f.identifier
	want := State{TypeName: cr.Spec.TypeName, Identifier: f.identifier, schema: schema}
	return kind.Seen[State]{Exists: true, Tags: schema.Tags.Read(f.properties), State: want.stateOf(f),
		Omitted: required(schema, declared), Unread: hidden(schema)}, nil
}

// required names the properties that AWS requires and never shows: an object manages the resource without it, and AWS may refuse updates.
func required(schema *awsschema.Type, declared map[string]any) []string {
	var out []string
	for _, at := range schema.RequiredHidden(declared) {
		out = append(out, fmt.Sprintf("%s: AWS requires it and never shows it; declare it, such as {$secret: NAME, key: KEY}, before you change another property or create the resource again", at))
	}
	return out
}

// hidden names the properties that AWS never shows, so that it is unknown if they have a value.
func hidden(schema *awsschema.Type) []string {
	if names := schema.Hidden(); len(names) > 0 {
		return []string{strings.Join(names, ", ") + " (AWS never shows it)"}
	}
	return nil
}
