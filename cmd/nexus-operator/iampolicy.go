// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// iamPolicyCommand is the argument that makes the program print IAM policies instead of running the operator.
const iamPolicyCommand = "iam-policy"

// printIAMPolicies prints the policies of the operator's role, or of who installs it, one JSON document after the other.
func printIAMPolicies(out io.Writer, args []string) error {
	scope := permissions.Scope{}
	fs := pflag.NewFlagSet("nexus-operator "+iamPolicyCommand+" operator|installer", pflag.ContinueOnError)
	scope.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 1 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(1))
	}
	documents, warning, err := permissions.Named(fs.Arg(0), metas(), scope)
	if err != nil {
		return fmt.Errorf("%s: %w", iamPolicyCommand, err)
	}
	if warning != "" {
		fmt.Fprintln(os.Stderr, "nexus-operator: "+warning)
	}
	text, err := permissions.Text(documents)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

func metas() []kind.Meta {
	var out []kind.Meta
	for _, k := range catalog.Kinds() {
		out = append(out, k.Meta())
	}
	return out
}
