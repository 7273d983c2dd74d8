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
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/importer"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

// importFlags are the flags of the verb.
type importFlags struct {
	terraform, provider, boundary, output string
	adopt                                 bool
}

func (s *shared) importCommand() *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import (KIND/NAME... | --from-terraform FILE)",
		Short: "Declare AWS resources that exist, and prove that nothing would change; needs no cluster",
		Long: "import reads AWS resources with your own credentials and prints a manifest of each. Before that it asks the\n" +
			"code that the operator runs what it would change: nothing, or the differences are listed.\n\n" +
			"The objects only observe the resources (managementPolicy: Observe), so that applying them changes nothing. With\n" +
			"--adopt they manage them: the operator then writes its owner tags, and nothing else. That needs allowAdoption: true\n" +
			"on the AWSProvider. In both cases the resources outlive the objects (deletionPolicy: Retain).\n\n" +
			"NAME is the name in AWS: the identifier of a network resource, DATABASE/TABLE of a GlueTable.",
		Example: "  nexusctl import s3bucket/my-bucket dynamodbtable/orders -n team-a > resources.yaml\n" +
			"  nexusctl import --from-terraform terraform.tfstate --provider aws -n team-a > resources.yaml\n" +
			"  nexusctl import vpc/vpc-0a1b2c3d --adopt",
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error { return s.importResources(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.terraform, "from-terraform", "", "state file of Terraform, whose resources are imported; - reads standard input")
	flags.StringVar(&f.provider, "provider", "aws", "name of the AWSProvider that the objects refer to")
	flags.StringVar(&f.boundary, "permissions-boundary", "", "ARN that the AWSProvider has in permissionsBoundaryARN; roles with policies need one")
	flags.BoolVar(&f.adopt, "adopt", false, "make objects that manage the resources, in place of objects that only observe them")
	outputFlag(cmd, &f.output, "yaml", "json")
	return cmd
}

func (s *shared) importResources(ctx context.Context, f *importFlags, args []string) error {
	wanted, err := s.toImport(f, args)
	if err != nil {
		return err
	}
	im, err := s.importer(ctx, f)
	if err != nil {
		return err
	}
	failed, wrote := 0, false
	for _, r := range wanted {
		result, err := im.Import(ctx, r)
		if err != nil {
			return importFailure(r, err)
		}
		if !s.told(result, f.adopt) {
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
		return &failure{code: exitFailed, err: fmt.Errorf("%d of %d resources are not declared as they are", failed, len(wanted))}
	}
	return nil
}

// toImport are the resources that the command line names, or the state file.
func (s *shared) toImport(f *importFlags, args []string) ([]importer.Resource, error) {
	if (len(args) > 0) == (f.terraform != "") {
		return nil, usage("say what to import: KIND/NAME or --from-terraform FILE, and one of them")
	}
	var out []importer.Resource
	for _, a := range args {
		kindName, name, ok := strings.Cut(a, "/")
		if !ok || kindName == "" || name == "" {
			return nil, usage("%q is not KIND/NAME", a)
		}
		out = append(out, importer.Resource{Kind: kindName, Name: name})
	}
	if f.terraform == "" {
		return out, nil
	}
	state, err := s.readFile(f.terraform)
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	out, others, err := importer.FromTerraform(state)
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	for _, o := range others {
		s.say("%s: passed over, no kind declares it", o)
	}
	return out, nil
}

// readFile reads a file, or standard input where its name is "-".
func (s *shared) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(s.In)
	}
	return os.ReadFile(name)
}

func (s *shared) importer(ctx context.Context, f *importFlags) (*importer.Importer, error) {
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return nil, err
	}
	o, err := s.offlineOptions()
	if err != nil {
		return nil, err
	}
	namespace := "default"
	if s.enforcesNamespace() {
		namespace = *s.cluster.Namespace
	}
	session, err := s.sessions().Open(ctx, awsclient.Identity{Key: o.Region, Region: o.Region})
	if err != nil {
		return nil, &plan.AccessError{Err: err}
	}
	return &importer.Importer{Kinds: s.Kinds(), Schemas: schemas, Session: session, Namespace: namespace, Provider: f.provider, Boundary: f.boundary, Adopt: f.adopt}, nil
}

// importFailure is a mistake in the command line, or what kept nexusctl from reading AWS.
func importFailure(r importer.Resource, err error) error {
	_, unknown := errors.AsType[*importer.UnknownKindError](err)
	_, malformed := errors.AsType[*importer.MalformedError](err)
	if unknown || malformed {
		return &failure{code: exitUsage, err: err}
	}
	return precondition(fmt.Errorf("reading %s: %w", r, err))
}

// told says what became of a resource, and reports whether its object changes nothing.
func (s *shared) told(r importer.Result, adopt bool) bool {
	switch {
	case r.Problem != "":
		s.say("%s: %s", r.Resource, r.Problem)
		return false
	case len(r.Differences) > 0:
		s.say("%s: cannot be declared as it is; the object would change %s", r.Resource, strings.Join(r.Differences, "; "))
		return false
	case adopt:
		s.say("%s: declared as it is; applying the object writes owner tags and nothing else", r.Resource)
	default:
		s.say("%s: declared as it is; applying the object changes nothing", r.Resource)
	}
	return true
}

func (s *shared) printManifest(format string, r importer.Result, another bool) error {
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
