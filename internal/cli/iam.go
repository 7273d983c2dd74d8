// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// iamVerb is a run of one of the commands of iam.
type iamVerb struct {
	*connection.Connection
}

func iamCommand(s *connection.Connection) *cobra.Command {
	iam := &cobra.Command{
		Use:     "iam",
		Short:   "Print least-privilege IAM policies",
		Example: "  nexusctl iam policy operator --name-prefix team-",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return exit.Usage("name what to print: iam policy") },
	}
	policy := &cobra.Command{
		Use:   "policy",
		Short: "Print the IAM policies of the operator, of who installs it, or of an application",
		Example: "  nexusctl iam policy operator --account 123456789012 --region eu-west-1 --name-prefix team-\n" +
			"  nexusctl iam policy app -f capability.yaml --account 123456789012",
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage("name whose policy to print: operator, installer or app")
		},
	}
	verb := &iamVerb{Connection: s}
	policy.AddCommand(verb.rolePolicyCommand(permissions.NameOperator, "the operator's role: the actions of every kind, and no others"),
		verb.rolePolicyCommand(permissions.NameInstaller, "the person or pipeline that installs the operator"), verb.appPolicyCommand())
	iam.AddCommand(policy)
	return iam
}

// rolePolicyCommand prints the policies that do not depend on a capability.
func (s *iamVerb) rolePolicyCommand(name, whose string) *cobra.Command {
	scope := &permissions.Scope{}
	var selected options.Kinds
	cmd := &cobra.Command{
		Use:     name,
		Aliases: map[string][]string{permissions.NameInstaller: {"deployer"}}[name],
		Short:   "Print the IAM policies of " + whose,
		Long: name + " prints the IAM policies of " + whose +
			".\nIt prints one JSON document after the other; more than one when AWS's limit of their length needs it. It needs no cluster.",
		Example: "  nexusctl iam policy " + name + " --account 123456789012 --region eu-west-1",
		Args:    arguments(cobra.NoArgs),
		RunE: func(_ *cobra.Command, _ []string) error {
			metas, err := s.MetasOf(selected)
			if err != nil {
				return exit.Usage("%w", err)
			}
			scope.TypedTypes = engine.TypesOf(nil, s.Kinds()).Kinds
			documents, notices, err := permissions.Named(name, metas, *scope)
			if err != nil {
				return exit.Usage("%w", err)
			}
			for _, notice := range notices {
				s.Say("%s", notice)
			}
			return s.printPolicies(documents)
		},
	}
	scope.AddFlags(cmd.Flags())
	if name == permissions.NameOperator {
		cmd.Flags().StringSliceVar((*[]string)(&selected), "kinds", []string{options.AllKinds}, options.KindsUsage)
	}
	return cmd
}

func (s *iamVerb) printPolicies(documents []iampolicy.Document) error {
	text, err := permissions.Text(documents)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.Out, text)
	return err
}

func (s *iamVerb) appPolicyCommand() *cobra.Command {
	var files resource.FilenameOptions
	var account string
	cmd := &cobra.Command{
		Use:   "app (-f FILE | -k DIR | ncap/NAME)",
		Short: "Print the IAM policies of the role of an application",
		Long: "app prints the IAM policies that the role of a capability's workloads has once every AWS resource exists.\n" +
			"With -f or -k it needs no cluster, and --account completes the ARNs. With a name it reads the capability, its\n" +
			"AWSProvider and the settings of the operator.",
		Example: "  nexusctl iam policy app -f capability.yaml --account 123456789012\n  nexusctl iam policy app ncap/myapp -n team-a",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0) == (len(files.Filenames) > 0 || files.Kustomize != "") {
				return exit.Usage("say whose role: -f FILE, -k DIR or ncap/NAME, and one of them")
			}
			if len(args) > 0 {
				return s.livePolicies(cmd.Context(), args, account)
			}
			return s.manifestPolicies(&files, account)
		},
	}
	addFileFlags(s.Connection, cmd, &files)
	cmd.Flags().StringVar(&account, "account", "", "AWS account ID for ARNs; default: that of the AWSProvider")
	return cmd
}

// manifestPolicies prints the policies of the capabilities in manifests.
func (s *iamVerb) manifestPolicies(files *resource.FilenameOptions, account string) error {
	objects, schemas, err := s.Manifests(files)
	if err != nil {
		return err
	}
	o, err := s.OfflineOptions()
	if err != nil {
		return err
	}
	found := false
	for _, u := range objects {
		if !connection.IsCapability(u) {
			continue
		}
		found = true
		c, err := connection.CapabilityOf(schemas, u)
		if err != nil {
			return &exit.Failure{Code: exit.CodeUsage, Err: err}
		}
		facts := connection.SettingsOf(o).Facts(c)
		facts.Provider.Account = account
		if err := s.printAppPolicies(c, facts); err != nil {
			return exit.Usage("%s: %w", console.TitleOf(u), err)
		}
	}
	if !found {
		return exit.Usage("the manifests hold no NexusAICapability")
	}
	return nil
}

// livePolicies prints the policies of a capability in the cluster.
func (s *iamVerb) livePolicies(ctx context.Context, args []string, account string) error {
	r, u, err := s.ObjectReader(args)
	if err != nil {
		return err
	}
	if !connection.IsCapability(u) {
		return exit.Usage("%s is no NexusAICapability", console.TitleOf(u))
	}
	c := &nexusv1.NexusAICapability{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
		return err
	}
	o, err := s.OperatorOptions(ctx, r.Client)
	if err != nil {
		return err
	}
	gatherer := capabilityfacts.Gatherer{Settings: connection.SettingsOf(o), Client: r.Client, Live: r.Client, Scheme: r.Client.Scheme()}
	facts, err := gatherer.Gather(ctx, c)
	if err != nil {
		return err
	}
	facts.Provider.Account = cmp.Or(account, facts.Provider.Account)
	return s.printAppPolicies(c, facts)
}

// printAppPolicies prints the policies that the compiler makes for the role of a capability's workloads.
func (s *iamVerb) printAppPolicies(c *nexusv1.NexusAICapability, facts capability.Facts) error {
	g, err := capability.Compile(c, capability.Expect(facts, c, func(string) bool { return false }))
	if err != nil {
		return err
	}
	var documents []iampolicy.Document
	for _, n := range g.Nodes() {
		if n.Object.GetKind() != "IAMRole" || !slices.Contains(capability.Roles(c), n.Object.GetName()) {
			continue
		}
		role := &v1alpha1.IAMRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(n.Object.Object, role); err != nil {
			return err
		}
		for _, p := range role.Spec.InlinePolicies {
			d, err := iampolicy.Parse(p.PolicyDocument)
			if err != nil {
				return fmt.Errorf("the policy %s of role %s: %w", p.PolicyName, role.Spec.RoleName, err)
			}
			if !completeARNs(d) {
				s.Say("The ARNs in policy %s of role %s are not complete: name the account with --account.", p.PolicyName, role.Spec.RoleName)
			}
			documents = append(documents, d)
		}
	}
	return s.printPolicies(documents)
}

// secretSuffix matches the hyphen and the six characters that AWS adds to the name of a secret.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/auth-and-access_examples.html
var secretSuffix = regexp.MustCompile(`<known after SecretsManagerSecret/[^>]+>`)

// completeARNs replaces the part of a secret's ARN that AWS assigns by wildcards, and reports whether no other part is missing.
func completeARNs(d iampolicy.Document) bool {
	complete := true
	for _, statement := range d.Statement {
		for i, arn := range statement.Resource {
			statement.Resource[i] = secretSuffix.ReplaceAllString(arn, "??????")
			complete = complete && !strings.Contains(statement.Resource[i], "<known after")
		}
	}
	return complete
}
