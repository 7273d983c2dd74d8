// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
)

func (s *shared) validateCommand() *cobra.Command {
	var files resource.FilenameOptions
	cmd := &cobra.Command{
		Use:   "validate (-f FILE | -k DIR)",
		Short: "Check manifests against schemas, rules and the compiler; needs no cluster",
		Long: "validate checks the objects of our kinds in the manifests: unknown fields, the schema, the rules that the API\n" +
			"server evaluates, and for a NexusAICapability everything that the operator itself would refuse.\n" +
			"It exits with 2 when an object is invalid. Objects of other kinds are passed over.",
		Example: "  nexusctl validate -f examples/",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.validate(cmd.Context(), &files) },
	}
	s.addFileFlags(cmd, &files)
	return cmd
}

func (s *shared) validate(ctx context.Context, files *resource.FilenameOptions) error {
	objects, schemas, err := s.manifests(files)
	if err != nil {
		return err
	}
	invalid := 0
	var lines strings.Builder
	for _, u := range objects {
		if !schemas.Has(u.GetKind()) {
			fmt.Fprintf(&lines, "%s: not checked, its kind is not ours\n", titleOfObject(u))
			continue
		}
		if err := s.validateObject(ctx, schemas, u); err != nil {
			invalid++
			fmt.Fprintf(&lines, "%s: invalid: %s\n", titleOfObject(u), err)
			continue
		}
		fmt.Fprintf(&lines, "%s: valid\n", titleOfObject(u))
	}
	if _, err := io.WriteString(s.Out, lines.String()); err != nil {
		return err
	}
	if invalid > 0 {
		return usage("%d of %d objects are invalid", invalid, len(objects))
	}
	return nil
}

func (s *shared) validateObject(ctx context.Context, schemas *crdschema.Schemas, u *unstructured.Unstructured) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, nexusv1.AddToScheme, intentv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	typed, err := scheme.New(u.GroupVersionKind())
	if err != nil {
		return fmt.Errorf("apiVersion: %s is not known: %w", u.GetAPIVersion(), err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true); err != nil {
		return err
	}
	if err := schemas.Default(u); err != nil {
		return err
	}
	if err := schemas.Validate(ctx, u.GetKind(), u); err != nil {
		return err
	}
	if !isCapability(u) {
		return nil
	}
	c, err := capabilityOf(schemas, u)
	if err != nil {
		return err
	}
	o, err := s.offlineOptions()
	if err != nil {
		return err
	}
	_, err = capability.Compile(c, settingsOf(o).Facts(c))
	return err
}
