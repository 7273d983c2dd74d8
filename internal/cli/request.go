// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// requestFlags are the flags of the verbs that ask the operator for something by a change of objects.
type requestFlags struct {
	all, everywhere, dryRun bool
}

// requestVerb is a run of a verb that asks the operator for something.
type requestVerb struct {
	*connection.Connection
}

func (f *requestFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&f.all, "all", false, what+" every capability, and every AWS resource object that belongs to none")
	cmd.Flags().BoolVarP(&f.everywhere, "all-namespaces", "A", false, "with --all: in every namespace")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "send the changes as server-side dry runs, and change nothing")
}

// Check refuses command lines that name nothing, or two things.
func (f *requestFlags) Check(args []string) error {
	switch {
	case f.all == (len(args) > 0):
		return exit.Usage("name objects as KIND/NAME, or use --all, and one of them")
	case f.everywhere && !f.all:
		return exit.Usage("--all-namespaces goes with --all")
	default:
		return nil
	}
}

// targets are the objects that a command line names.
func (s *requestVerb) targets(ctx context.Context, r *inspect.Reader, f *requestFlags, args []string) ([]*unstructured.Unstructured,
	error) {
	if !f.all {
		return s.NamedObjects(args)
	}
	objects, err := everyObject(ctx, s.Connection, r.Client, r.Kinds, f.everywhere)
	if err == nil && len(objects) == 0 {
		s.Say("There are no capabilities and no AWS resource objects there.")
	}
	return objects, err
}
