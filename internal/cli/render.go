// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

func renderCommand(s *connection.Connection) *cobra.Command {
	var files resource.FilenameOptions
	var account string
	cmd := &cobra.Command{
		Use:   "render (-f FILE | -k DIR)",
		Short: "Print every object that the operator makes of a capability; needs no cluster",
		Long: "render prints, as YAML and in the order in which the operator creates them, all objects that the\n" +
			"NexusAICapability objects of the manifests become once every AWS resource exists. What AWS is yet to assign\n" +
			"stands as <known after KIND/NAME>.",
		Example: "  nexusctl render -f capability.yaml --account 123456789012",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(_ *cobra.Command, _ []string) error { return render(s, &files, account) },
	}
	addFileFlags(s, cmd, &files)
	cmd.Flags().StringVar(&account, "account", "", "AWS account ID for ARNs")
	return cmd
}

// addFileFlags adds the flags of verbs that read manifests without a cluster.
func addFileFlags(s *connection.Connection, cmd *cobra.Command, files *resource.FilenameOptions) {
	cmd.Flags().StringSliceVarP(&files.Filenames, "filename", "f", nil, "files, directories or URLs of manifests; - reads standard input")
	cmd.Flags().StringVarP(&files.Kustomize, "kustomize", "k", "", "a kustomization directory")
	cmd.Flags().BoolVarP(&files.Recursive, "recursive", "R", false, "read the directories of --filename recursively")
	cmd.Flags().StringArrayVar(&s.OperatorArgs, "operator-arg", nil,
		"a flag that the operator runs with, such as --operator-arg=--region=eu-west-1")
}

func render(s *connection.Connection, files *resource.FilenameOptions, account string) error {
	objects, schemas, err := s.Manifests(files)
	if err != nil {
		return err
	}
	o, err := s.OfflineOptions()
	if err != nil {
		return err
	}
	found := 0
	for _, u := range objects {
		if !connection.IsCapability(u) {
			continue
		}
		found++
		c, err := connection.CapabilityOf(schemas, u)
		if err != nil {
			return &exit.Failure{Code: exit.CodeUsage, Err: err}
		}
		facts := connection.SettingsOf(o).Facts(c)
		facts.Provider.Account = account
		g, err := capability.Compile(c, capability.Expect(facts, c, func(string) bool { return false }))
		if err != nil {
			return exit.Usage("%s: %w", console.TitleOf(u), err)
		}
		for _, n := range g.Nodes() {
			b, err := yaml.Marshal(n.Object.Object)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(s.Out, "---\n%s", b); err != nil {
				return err
			}
		}
	}
	if found == 0 {
		return exit.Usage("the manifests hold no NexusAICapability")
	}
	return nil
}
