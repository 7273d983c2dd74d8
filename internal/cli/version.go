// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// versions holds the versions of the client and, unless only the client's was asked for, of the operator's image.
type versions struct {
	Client string `json:"client"`
	// Operator is the image that the operator's Deployment or StatefulSet names.
	Operator string `json:"operator,omitempty"`
}

// versionVerb is a run of version.
type versionVerb struct {
	*connection.Connection
}

func versionCommand(s *connection.Connection) *cobra.Command {
	var onlyClient bool
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of nexusctl and of the operator in the cluster",
		Example: "  nexusctl version\n  nexusctl version --client -o json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{Client: s.Version}
			var err error
			if !onlyClient {
				v.Operator, err = (&versionVerb{Connection: s}).operatorImage(cmd.Context())
			}
			return errors.Join((&versionVerb{Connection: s}).printVersions(v, output), err)
		},
	}
	cmd.Flags().BoolVar(&onlyClient, "client", false, "print the version of nexusctl only; needs no cluster")
	outputFlag(cmd, &output, "text", "json", "yaml")
	return cmd
}

func (s *versionVerb) operatorImage(ctx context.Context) (string, error) {
	_, c, err := s.Connect()
	if err != nil {
		return "", err
	}
	namespace := s.NamespaceOfOperator()
	workloads, err := inspect.Workloads(ctx, c, namespace)
	if err == nil && len(workloads) == 0 && s.Getenv(connection.EnvOperatorArgs) != "" {
		return "runs outside of the cluster", nil
	}
	if err == nil && len(workloads) == 0 {
		err = fmt.Errorf("namespace %s has neither a Deployment nor a StatefulSet %s", namespace, connection.OperatorName)
	}
	if err != nil {
		return "", exit.Precondition(fmt.Errorf("finding the operator (--operator-namespace, or --client for nexusctl alone): %w", err))
	}
	if workloads[0].Image == "" {
		return "", fmt.Errorf("the %s %s/%s has no container of the operator", workloads[0].Kind, namespace, connection.OperatorName)
	}
	return workloads[0].Image, nil
}

func (s *versionVerb) printVersions(v versions, output string) error {
	if output == "json" { // in one line, as always
		return json.NewEncoder(s.Out).Encode(v)
	}
	return console.PrintAs(s.Out, output, v, func() string {
		text := "Client: " + v.Client + "\n"
		if v.Operator != "" {
			text += "Operator: " + v.Operator + "\n"
		}
		return text
	})
}
