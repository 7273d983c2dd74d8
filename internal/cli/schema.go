// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/crdschema/manifest"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// formatEditor is the format for editors.
const formatEditor = "json-schema"

// schemaVerb is a run of schema.
type schemaVerb struct {
	*connection.Connection
	awstypes.Schemas
}

func schemaCommand(s *connection.Connection) *cobra.Command {
	var output string
	depth := 1
	verb := &schemaVerb{Connection: s}
	cmd := &cobra.Command{
		Use:   "schema TYPE",
		Short: "Show the properties of an AWS resource type for an AWSResource; needs no cluster",
		Long: "schema shows what AWS publishes of a resource type: what identifies a resource, the properties with their types, which of\n" +
			"them are required and which cannot be changed, and the IAM actions that Cloud Control API uses. A part of a name lists the\n" +
			"types that contain it. The schemas are those of the day that the output names.\n" +
			"Output json-schema is a JSON schema of the manifest, for editors.",
		Example: "  nexusctl schema AWS::Kinesis::Stream\n  nexusctl schema kinesis\n  nexusctl schema AWS::Kinesis::Stream -o json-schema > stream.json",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return verb.schema(args[0], depth, output)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			b, err := verb.Bundle()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return b.Types, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().IntVar(&depth, "depth", depth, "how many levels of members are shown below the properties")
	outputFlag(cmd, &output, "text", "json", "yaml", formatEditor)
	return cmd
}

func (s *schemaVerb) schema(name string, depth int, output string) error {
	b, err := s.Bundle()
	if err != nil {
		return err
	}
	t, err := awstypes.In(b, name)
	if err != nil {
		return err
	}
	switch {
	case t == nil:
		return s.listTypes(b, name, output)
	case output == formatEditor:
		return s.printEditorSchema(t)
	default:
		return s.printType(b, t, depth, output)
	}
}

// typeList lists types.
type typeList struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Date       string   `json:"date"`
	Types      []string `json:"types"`
}

// listTypes prints the types that have a part in their names, in any case.
func (s *schemaVerb) listTypes(b *bundled.Bundle, part, output string) error {
	found := slices.DeleteFunc(slices.Clone(b.Types),
		func(name string) bool { return !strings.Contains(strings.ToLower(name), strings.ToLower(part)) })
	switch meant := crdschema.ClosestOf(part, b.Types); {
	case len(found) == 0 && meant != "":
		return exit.Usage("AWS has no resource type %s in the schemas of %s; did you mean %s?", part, b.Date, meant)
	case len(found) == 0 || output == formatEditor:
		return exit.Usage("AWS has no resource type %s in the schemas of %s", part, b.Date)
	}
	list := typeList{APIVersion: inspect.APIVersion, Kind: "ResourceTypeList", Date: b.Date, Types: found}
	return console.PrintAs(s.Out, output, list, func() string { return strings.Join(found, "\n") + "\n" })
}

// typeReport describes a type.
type typeReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	TypeName   string `json:"typeName"`
	Date       string `json:"date"`
	// Refused says why no AWSResource can have the type; empty where one can.
	Refused string `json:"refused,omitempty"`
	// OwnKind is the kind that manages the type.
	OwnKind    string   `json:"ownKind,omitempty"`
	Identifier []string `json:"identifier"`
	// AssignsIdentifier is true where AWS assigns the identifier.
	AssignsIdentifier bool   `json:"assignsIdentifier,omitempty"`
	Tags              string `json:"tags,omitempty"`
	// TagsAreFixed is true where only a create gives the tags.
	TagsAreFixed bool                `json:"tagsAreFixed,omitempty"`
	Properties   []fieldReport       `json:"properties"`
	Permissions  map[string][]string `json:"permissions,omitempty"`
}

// fieldReport describes a property, or a member of one.
type fieldReport struct {
	Path      string `json:"path"`
	Type      string `json:"type"`
	Required  bool   `json:"required,omitempty"`
	Immutable bool   `json:"immutable,omitempty"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	WriteOnly bool   `json:"writeOnly,omitempty"`
	Unordered bool   `json:"unordered,omitempty"`
	// Conditionally is true where AWS decides by the values whether the property can be changed.
	Conditionally bool     `json:"conditionallyImmutable,omitempty"`
	Deprecated    bool     `json:"deprecated,omitempty"`
	Choices       []string `json:"choices,omitempty"`
}

func (s *schemaVerb) printType(b *bundled.Bundle, t *awsschema.Type, depth int, output string) error {
	r := typeReport{APIVersion: inspect.APIVersion, Kind: "ResourceType", TypeName: t.Name, Date: b.Date, Refused: t.Unmanageable(),
		OwnKind:    engine.TypesOf(nil, s.Kinds()).Kinds[t.Name],
		Identifier: t.Identity.Parts(), AssignsIdentifier: !t.Identity.IsNamed, Tags: t.Tags.Property(), TagsAreFixed: t.Tags.AreFixed(),
		Permissions: map[string][]string{}}
	for _, operation := range []awsschema.Operation{awsschema.Create, awsschema.Read, awsschema.Update, awsschema.Delete} {
		if actions := t.Handlers.Permissions(operation); len(actions) > 0 {
			r.Permissions[string(operation)] = actions
		}
	}
	for _, f := range t.Fields(depth) {
		if name, _, _ := strings.Cut(f.Path, "["); name == r.Tags && r.Tags != "" {
			continue
		}
		r.Properties = append(r.Properties,
			fieldReport{Path: f.Path, Type: f.Type, Required: f.Required && !f.ReadOnly, Immutable: f.CreateOnly && !f.ReadOnly,
				ReadOnly: f.ReadOnly, Conditionally: f.Conditionally, Deprecated: f.Deprecated,
				WriteOnly: f.WriteOnly, Unordered: f.Unordered, Choices: f.Choices})
	}
	return console.PrintAs(s.Out, output, r, r.Text)
}

func (r typeReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, as AWS published it until %s\n\n", r.TypeName, r.Date)
	switch {
	case r.Refused != "":
		fmt.Fprintf(&b, "Managed by:   nothing: %s\n", r.Refused)
	case r.OwnKind != "":
		fmt.Fprintf(&b, "Managed by:   %s; an AWSResource only where --types has this exact name\n", r.OwnKind)
	default:
		b.WriteString("Managed by:   AWSResource, where --types allows it\n")
	}
	by := "declared in the properties"
	if r.AssignsIdentifier {
		by = "assigned by AWS"
	}
	fmt.Fprintf(&b, "Identifier:   %s, %s\n", strings.Join(r.Identifier, "|"), by)
	if r.Tags != "" {
		fmt.Fprintf(&b, "Tags:         spec.tags, which property %s gets%s\n", r.Tags,
			kind.Either(r.TagsAreFixed, " at the creation, and which cannot be changed", ""))
	} else {
		b.WriteString("Tags:         none\n")
	}
	b.WriteString("\n")
	rows := [][]string{{"PROPERTY", "TYPE", "NOTES"}}
	for _, f := range r.Properties {
		rows = append(rows, []string{f.Path, f.Type, f.notes()})
	}
	b.WriteString(console.Table(rows))
	b.WriteString("\n")
	for _, operation := range []awsschema.Operation{awsschema.Create, awsschema.Read, awsschema.Update, awsschema.Delete} {
		if actions := r.Permissions[string(operation)]; len(actions) > 0 {
			fmt.Fprintf(&b, "To %s: %s\n", operation, strings.Join(actions, ", "))
		}
	}
	return b.String()
}

// maxChoices limits the choices in a line of a table.
const maxChoices = 8

func (f fieldReport) notes() string {
	var out []string
	for _, note := range []struct {
		holds bool
		text  string
	}{
		{f.Required, "required"}, {f.Immutable, "cannot be changed"}, {f.ReadOnly, "assigned by AWS"}, {f.WriteOnly, "never shown by AWS"},
		{f.Unordered, "in any order"}, {f.Conditionally, "may not be changeable"}, {f.Deprecated, "deprecated"},
		{len(f.Choices) > maxChoices, fmt.Sprintf("one of %d values", len(f.Choices))},
		{len(f.Choices) > 0 && len(f.Choices) <= maxChoices, "one of " + strings.Join(f.Choices, ", ")},
	} {
		if note.holds {
			out = append(out, note.text)
		}
	}
	return strings.Join(out, "; ")
}

// printEditorSchema prints a JSON schema of the manifest of an AWSResource of one type.
func (s *schemaVerb) printEditorSchema(t *awsschema.Type) error {
	if why := t.Unmanageable(); why != "" {
		return exit.Usage("%s", why)
	}
	text, err := fs.ReadFile(s.CRDs, "aws-infra-operator.runner.codes_awsresources.yaml")
	if err != nil {
		return err
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return err
	}
	out := manifest.Schema(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, v1alpha1.GroupVersion.String(), "AWSResource")
	properties, definitions := t.ForEditors()
	spec := out["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)
	spec["typeName"] = map[string]any{"const": t.Name}
	spec["properties"] = properties
	out["definitions"], out["title"] = definitions, "AWSResource of type "+t.Name
	e := json.NewEncoder(s.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}
