// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/importer"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// importFlags are the flags of the verb.
type importFlags struct {
	terraform, provider, boundary, rolePath, output string
	adopt                                           bool
	tags                                            []string
}

// importVerb is a run of import.
type importVerb struct {
	*connection.Connection
	awstypes.Schemas
}

func importCommand(s *connection.Connection) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import (KIND/NAME... | TYPE IDENTIFIER... | ARN... | [KIND...] --tag KEY=VALUE | --from-terraform FILE)",
		Short: "Declare AWS resources that exist, and prove that nothing would change; needs no cluster",
		Long: "import reads AWS resources with your own credentials and prints a manifest of each. Before that it asks the\n" +
			"code that the operator runs what it would change: nothing, or the differences are listed.\n\n" +
			"The objects only observe the resources (managementPolicy: Observe), so that applying them changes nothing. With\n" +
			"--adopt they manage them: the operator then writes its owner tags, and nothing else. That needs their kinds in\n" +
			"adoptableKinds of the AWSProvider. In both cases the resources outlive the objects (deletionPolicy: Retain).\n\n" +
			"NAME is the name in AWS: the identifier of a network resource, DATABASE/TABLE of a GlueTable. A resource of a type without\n" +
			"a kind is named by its type and its primary identifier, whose parts are joined by |.\n" +
			"With --tag, the resources of all kinds, or of the kinds that you name, that carry all these tags are imported.",
		Example: "  nexusctl import s3bucket/my-bucket dynamodbtable/orders -n team-a > resources.yaml\n" +
			"  nexusctl import --tag team=a --tag stage=dev -n team-a > resources.yaml\n" +
			"  nexusctl import s3bucket,dynamodbtable --tag team=a -n team-a > buckets-and-tables.yaml\n" +
			"  nexusctl import --from-terraform terraform.tfstate --provider aws -n team-a > resources.yaml\n" +
			"  nexusctl import vpc/vpc-0a1b2c3d --adopt\n" +
			"  nexusctl import AWS::Kinesis::Stream my-stream",
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&importVerb{Connection: s}).importResources(cmd.Context(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.terraform, "from-terraform", "", "state file of Terraform, whose resources are imported; - reads standard input")
	flags.StringArrayVar(&f.tags, "tag", nil,
		"KEY=VALUE, or KEY for any value: a tag of the resources to import; repeat it for more tags, all of which they carry")
	flags.StringVar(&f.provider, "provider", "aws", "name of the AWSProvider that the objects refer to")
	flags.StringVar(&f.boundary, "permissions-boundary", "",
		"ARN that the AWSProvider has in permissionsBoundaryARN; roles with policies need one")
	flags.StringVar(&f.rolePath, "role-path-prefix", "",
		"path that the AWSProvider has in rolePathPrefix; with --adopt, resources that give a role to an AWS service need one")
	flags.BoolVar(&f.adopt, "adopt", false, "make objects that manage the resources, in place of objects that only observe them")
	outputFlag(cmd, &f.output, "yaml", "json")
	return cmd
}

func (s *importVerb) importResources(ctx context.Context, f *importFlags, args []string) error {
	wanted, err := s.toImport(f, args)
	if err != nil {
		return err
	}
	tags, err := tagsOf(f.tags)
	if err != nil {
		return err
	}
	im, err := s.importer(ctx, f)
	if err != nil {
		return err
	}
	if len(tags) > 0 {
		if wanted, err = s.tagged(ctx, im, tags, args); err != nil {
			return err
		}
	}
	return s.importEach(ctx, f, im, wanted)
}

// importEach prints the manifests of the resources, and reports the result of each.
func (s *importVerb) importEach(ctx context.Context, f *importFlags, im *importer.Importer, wanted []importer.Resource) error {
	failed, wrote := 0, false
	for _, r := range wanted {
		result, err := im.Import(ctx, r)
		if err != nil {
			return importFailure(err, r.String())
		}
		isPassedOver := result.IsManaged && len(f.tags) > 0 // a search also finds the resources of capabilities
		if !s.told(result, f.adopt, isPassedOver) && !isPassedOver {
			failed++
		}
		if result.Object == nil {
			continue
		}
		if err := s.printManifest(f.output, result, wrote); err != nil {
			return err
		}
		wrote = true
	}
	if failed > 0 {
		return &exit.Failure{Code: exit.CodeFailed, Err: fmt.Errorf("%d of %s not declared as in AWS", failed,
			status.Counted(len(wanted), "resource is", "resources are"))}
	}
	return nil
}

// tagsOf are the values by key that the flags name; none for a key without a value.
func tagsOf(flags []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, f := range flags {
		key, value, hasValue := strings.Cut(f, "=")
		if _, again := out[key]; again || key == "" {
			return nil, exit.Usage("--tag %q: name each key once, as KEY=VALUE or KEY", f)
		}
		if out[key] = nil; hasValue {
			out[key] = []string{value}
		}
	}
	return out, nil
}

// tagged are the resources that carry the tags, of the kinds that the command line names, or of all.
func (s *importVerb) tagged(ctx context.Context, im *importer.Importer, tags map[string][]string, args []string) ([]importer.Resource,
	error) {
	var kinds []string
	for _, a := range args {
		kinds = append(kinds, strings.Split(a, ",")...)
	}
	found, others, err := im.Tagged(ctx, tags, kinds)
	if err != nil {
		return nil, importFailure(err, "resources by their tags")
	}
	for _, o := range others {
		s.Say("%s: passed over, no kind can be imported by such an ARN", o)
	}
	if len(found) == 0 {
		s.Say("found no resource with these tags that can be imported in account %s, region %s", im.Session.Account, im.Session.Region)
	}
	return found, nil
}

// toImport are the resources that the command line names, or the state file. Those that are searched for are not among them.
func (s *importVerb) toImport(f *importFlags, args []string) ([]importer.Resource, error) {
	if len(f.tags) > 0 {
		if f.terraform != "" {
			return nil, exit.Usage("--tag does not go with --from-terraform")
		}
		return nil, nil
	}
	if (len(args) > 0) == (f.terraform != "") {
		return nil, exit.Usage("say what to import: KIND/NAME, --tag KEY=VALUE or --from-terraform FILE, and one of them")
	}
	out, err := s.named(args)
	if err != nil {
		return nil, err
	}
	if f.terraform == "" {
		return out, nil
	}
	state, err := s.readFile(f.terraform)
	if err != nil {
		return nil, &exit.Failure{Code: exit.CodeUsage, Err: err}
	}
	b, err := s.Bundle()
	if err != nil {
		return nil, err
	}
	found, err := importer.FromTerraform(s.Kinds(), awstypes.OfBundle{Bundle: b}, state)
	if err != nil {
		return nil, &exit.Failure{Code: exit.CodeUsage, Err: fmt.Errorf("%s: %w", f.terraform, err)}
	}
	for _, sentence := range found.PassedOver {
		s.Say("%s", sentence)
	}
	if found.Nothing != "" {
		return nil, &exit.Failure{Code: exit.CodeFailed, Err: fmt.Errorf("%s: %s", f.terraform, found.Nothing)}
	}
	return found.Found, nil
}

// named are the resources of arguments.
func (s *importVerb) named(args []string) ([]importer.Resource, error) {
	var out []importer.Resource
	for _, a := range withIdentifiers(args) {
		if typeName, identifier, _ := strings.Cut(a, "/"); importer.IsType(typeName) {
			if identifier == "" {
				return nil, exit.Usage("%s: name the resource by its primary identifier, such as %s my-name", typeName, typeName)
			}
			out = append(out, importer.OfType(typeName, identifier))
			continue
		}
		if strings.HasPrefix(a, "arn:") {
			r, ok := importer.FromARN(s.Kinds(), a)
			if !ok {
				return nil, exit.Usage("%s: no kind can be imported by such an ARN; name it as KIND/NAME", a)
			}
			out = append(out, r)
			continue
		}
		kindName, name, ok := strings.Cut(a, "/")
		if !ok || kindName == "" || name == "" {
			return nil, exit.Usage("%q is not KIND/NAME", a)
		}
		out = append(out, importer.Resource{Kind: kindName, Name: name})
	}
	return out, nil
}

// withIdentifiers joins each name of a resource type with the identifier that follows it.
func withIdentifiers(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		if importer.IsType(args[i]) && i+1 < len(args) {
			out = append(out, args[i]+"/"+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// readFile reads a file, or standard input where its name is "-".
func (s *importVerb) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(s.In)
	}
	return os.ReadFile(name)
}

func (s *importVerb) importer(ctx context.Context, f *importFlags) (*importer.Importer, error) {
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return nil, err
	}
	o, err := s.OfflineOptions()
	if err != nil {
		return nil, err
	}
	namespace := "default"
	if s.EnforcesNamespace() {
		namespace = *s.Cluster.Namespace
	}
	session, err := s.Sessions().Open(ctx, awsclient.Identity{Key: o.AWS.Region, Region: o.AWS.Region})
	if err != nil {
		return nil, &plan.AccessError{Err: err}
	}
	return &importer.Importer{Kinds: s.Kinds(), Schemas: schemas, Session: session, Namespace: namespace, Provider: f.provider,
		Boundary: f.boundary, RolePath: f.rolePath, Adopt: f.adopt}, nil
}

// importFailure is a mistake in the command line, or the reason why nexusctl could not read AWS.
func importFailure(err error, what string) error {
	_, unknown := errors.AsType[*importer.UnknownKindError](err)
	_, malformed := errors.AsType[*importer.MalformedError](err)
	if unknown || malformed {
		return &exit.Failure{Code: exit.CodeUsage, Err: err}
	}
	return exit.Precondition(fmt.Errorf("reading %s: %w", what, err))
}

// told prints the result for a resource, and reports whether its object changes nothing.
func (s *importVerb) told(r importer.Result, adopt, isPassedOver bool) bool {
	for _, o := range r.Omitted {
		s.Say("%s: left out %s", r.Resource, o)
	}
	if len(r.NotDeclared) > 0 {
		s.Say("%s: not declared, because no field says it, and left in AWS as it is: %s", r.Resource, strings.Join(r.NotDeclared, ", "))
	}
	if len(r.Unknown) > 0 {
		s.Say("%s: not known whether it has more that no field says: %s", r.Resource, strings.Join(r.Unknown, ", "))
	}
	if r.Remark != "" {
		s.Say("%s: %s", r.Resource, r.Remark)
	}
	switch {
	case isPassedOver:
		s.Say("%s: passed over, it %s", r.Resource, r.Problem)
		return false
	case r.Problem != "":
		s.Say("%s: %s", r.Resource, r.Problem)
		return false
	case len(r.Differences) > 0:
		s.Say("%s: cannot be declared as it is; the object would change %s", r.Resource, strings.Join(r.Differences, "; "))
		return false
	case adopt:
		s.Say("%s: declared as it is; applying the object writes owner tags and nothing else", r.Resource)
	default:
		s.Say("%s: declared as it is; applying the object changes nothing", r.Resource)
	}
	return true
}

func (s *importVerb) printManifest(format string, r importer.Result, another bool) error {
	if format == "json" {
		return json.NewEncoder(s.Out).Encode(r.Object.Object)
	}
	text, err := yaml.Marshal(r.Object.Object)
	if err != nil {
		return err
	}
	separator := ""
	if another {
		separator = "---\n"
	}
	_, err = fmt.Fprintf(s.Out, "%s%s", separator, text)
	return err
}
