// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// iamPolicyCommand is the argument that makes the program print IAM policies instead of running the operator.
const iamPolicyCommand = "iam-policy"

// printIAMPolicies prints the policies of the operator's role, or of who installs it, one JSON document after the other.
func printIAMPolicies(out io.Writer, args []string) error {
	scope := permissions.Scope{}
	fs := pflag.NewFlagSet("nexus-operator "+iamPolicyCommand+" operator|installer", pflag.ContinueOnError)
	scope.AddFlags(fs)
	var selected options.Kinds
	fs.StringSliceVar((*[]string)(&selected), "kinds", []string{options.AllKinds}, options.KindsUsage+"; operator only")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 1 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(1))
	}
	metas, err := metasOf(selected)
	if err != nil {
		return fmt.Errorf("%s: %w", iamPolicyCommand, err)
	}
	scope.TypedTypes = engine.TypesOf(nil, catalog.Kinds()).Kinds
	documents, notices, err := permissions.Named(fs.Arg(0), metas, scope)
	if err != nil {
		return fmt.Errorf("%s: %w", iamPolicyCommand, err)
	}
	for _, notice := range notices {
		fmt.Fprintln(os.Stderr, "nexus-operator: "+notice)
	}
	text, err := permissions.Text(documents)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// metasOf describe the selected AWS kinds.
func metasOf(selected options.Kinds) ([]kind.Meta, error) {
	var out []kind.Meta
	var names []string
	for _, k := range catalog.Kinds() {
		if names = append(names, k.Name()); selected.Serves(k.Name()) {
			out = append(out, k.Meta())
		}
	}
	return out, selected.Check(names)
}
