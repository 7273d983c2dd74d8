// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/plantext"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/validate"
)

// planFlags are the flags of the verb.
type planFlags struct {
	files             resource.FilenameOptions
	previous          []string
	output            string
	exitCode, skipAWS bool
	failOnDataLoss    bool
	all, everywhere   bool
	server, remove    bool
	serverTimeout     time.Duration
}

// planVerb is a run of plan or diff.
type planVerb struct {
	*connection.Connection
}

func planCommand(s *connection.Connection) *cobra.Command {
	f := &planFlags{}
	cmd := &cobra.Command{
		Use:   "plan (-f FILE | -k DIR | KIND/NAME... | --all)",
		Short: "Show what the operator would do in Kubernetes and AWS, and change nothing",
		Long: "plan says which Kubernetes objects and AWS resources would change, field by field, with the AWS calls and\n" +
			"the worst that they do, and changes nothing. It asks the code that the operator itself runs.\n\n" +
			"With -f or -k: what follows when the manifests are applied. With names, or --all: what the operator does about\n" +
			"objects as they are, such as the correction of drift; after an upgrade, what the new version would do.\n\n" +
			"It reads the cluster and AWS with your own credentials and rights: those to get what is compared, and in\n" +
			"Kubernetes also those to create or patch the manifests' objects, which are sent as server-side dry runs.\n" +
			"With --server the operator plans instead: you need the right to create, get and delete PlanRequests in the\n" +
			"namespace, and no AWS credentials. The request is deleted once its answer was read.",
		Example: "  nexusctl plan -f capability.yaml\n" +
			"  nexusctl plan ncap/myapp -n team-a\n" +
			"  nexusctl plan -f capability.yaml -o markdown > comment.md\n" +
			"  nexusctl plan -f capability.yaml --server\n" +
			"  nexusctl plan -R -f deploy/ --previous main/deploy/\n" +
			"  nexusctl plan --all -A --exit-code",
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&planVerb{Connection: s}).plan(cmd.Context(), f, args)
		},
	}
	addPlanFlags(s, cmd, f)
	cmd.Flags().BoolVar(&f.exitCode, "exit-code", false, "exit with 1 when something would change")
	return cmd
}

// diffCommand is plan for those who look for it under the name that kubectl has for it, and with its exit code.
func diffCommand(s *connection.Connection) *cobra.Command {
	f := &planFlags{exitCode: true}
	cmd := &cobra.Command{
		Use:   "diff (-f FILE | -k DIR | KIND/NAME... | --all)",
		Short: "Show what the operator would do, as plan does, and exit with 1 when it would change something",
		Long:  "diff is plan --exit-code: it exits with 0 when nothing would change, and with 1 when something would.",
		Example: "  nexusctl diff -f capability.yaml\n" +
			"  nexusctl diff --all -A && echo 'nothing would change'",
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&planVerb{Connection: s}).plan(cmd.Context(), f, args)
		},
	}
	addPlanFlags(s, cmd, f)
	return cmd
}

// addPlanFlags adds the flags for the objects to plan and the format of the output.
func addPlanFlags(s *connection.Connection, cmd *cobra.Command, f *planFlags) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.files.Filenames, "filename", "f", nil, "files, directories or URLs of manifests; - reads standard input")
	flags.StringVarP(&f.files.Kustomize, "kustomize", "k", "", "a kustomization directory")
	flags.BoolVarP(&f.files.Recursive, "recursive", "R", false, "read the directories of --filename recursively")
	flags.StringSliceVar(&f.previous, "previous", nil,
		"with -f or -k: the files or directories that these replace; what they declare and -f does not is planned as deleted")
	flags.BoolVar(&f.all, "all", false, "plan every capability, and every AWS resource object that belongs to none")
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "with --all: in every namespace")
	flags.StringVarP(&f.output, "output", "o", "text", "output format: text, wide (with what stays as it is), markdown, json or yaml")
	completeOutput(cmd, "text", "wide", "markdown", "json", "yaml")
	flags.BoolVar(&f.remove, "delete", false,
		"plan what follows when the objects are deleted: capabilities, AWS objects, AWSProviders and bindings")
	flags.BoolVar(&f.server, "server", false,
		"let the operator plan with its own AWS identity, by a PlanRequest: for users without AWS credentials")
	flags.DurationVar(&f.serverTimeout, "server-timeout", 90*time.Second, "with --server: how long to wait for the operator's answer")
	flags.BoolVar(&f.failOnDataLoss, "fail-on-data-loss", false,
		"exit with 5 when the plan deletes data, and has no problem, with which the exit code is 1")
	flags.BoolVar(&f.skipAWS, "skip-aws", false, "compare the Kubernetes objects only, without AWS credentials")
	flags.StringArrayVar(&s.OperatorArgs, "operator-arg", nil,
		"a flag of the operator to plan with, beside those of its Deployment, such as --operator-arg=--region=eu-west-1")
}

func (s *planVerb) plan(ctx context.Context, f *planFlags, args []string) error {
	if err := f.Check(args); err != nil {
		return err
	}
	if err := f.checkFiles(s.Connection); err != nil {
		return err
	}
	found, err := s.findPlan(ctx, f, args)
	if err != nil {
		return err
	}
	if err := s.printPlan(f.output, found); err != nil {
		return err
	}
	switch {
	case found.Summary.Problems > 0:
		return &exit.Failure{Code: exit.CodeFailed}
	case f.failOnDataLoss && found.Summary.Risk == plan.DataLoss:
		return &exit.Failure{Code: exit.CodeDataLoss}
	case f.exitCode && !found.Empty():
		return &exit.Failure{Code: exit.CodeFailed}
	default:
		return nil
	}
}

// findPlan plans with the caller's own rights, or asks the operator to.
func (s *planVerb) findPlan(ctx context.Context, f *planFlags, args []string) (plan.Plan, error) {
	if f.server {
		return s.planOnServer(ctx, f, args)
	}
	p, err := s.Planner(ctx, f.skipAWS)
	if err != nil {
		return plan.Plan{}, err
	}
	return s.planned(ctx, p, f, args)
}

// ways counts how often a command line names objects to plan.
func (f *planFlags) ways(args []string) int {
	n := 0
	for _, asked := range []bool{len(f.files.Filenames) > 0, f.files.Kustomize != "", len(args) > 0, f.all} {
		if asked {
			n++
		}
	}
	return n
}

// Check refuses command lines that ask for nothing, or for two things.
func (f *planFlags) Check(args []string) error {
	if err := f.checkSources(args); err != nil {
		return err
	}
	if f.everywhere && !f.all {
		return exit.Usage("--all-namespaces goes with --all")
	}
	if f.server && (f.all || f.skipAWS) {
		return exit.Usage("--server goes with -f, -k or KIND/NAME: --all and --skip-aws plan with your own rights")
	}
	switch f.output {
	case "text", "wide", "markdown", "json", "yaml":
		return nil
	default:
		return exit.Usage("--output: %q is none of text, wide, markdown, json and yaml", f.output)
	}
}

// checkSources checks from where a plan has its objects.
func (f *planFlags) checkSources(args []string) error {
	if f.ways(args) != 1 {
		return exit.Usage("say what to plan: -f FILE, -k DIR, KIND/NAME or --all, and one of them")
	}
	if len(args) > 0 && validate.IsManifest(args[0]) {
		return exit.Usage("name files with -f: -f %s", args[0])
	}
	if len(f.previous) > 0 && (f.remove || len(f.files.Filenames) == 0 && f.files.Kustomize == "") {
		return exit.Usage("--previous goes with -f or -k, and without --delete")
	}
	return nil
}

func (s *planVerb) planned(ctx context.Context, p *plan.Planner, f *planFlags, args []string) (plan.Plan, error) {
	switch {
	case f.all:
		objects, err := everyObject(ctx, s.Connection, p.Client, p.Kinds, f.everywhere)
		if err != nil {
			return plan.Plan{}, err
		}
		return s.checked(ctx, f.look(p), p.Client, objects, f.everywhere)
	case len(args) > 0:
		objects, err := s.Objects(s.Builder().ResourceTypeOrNameArgs(true, args...).Latest().Flatten())
		if err != nil {
			return plan.Plan{}, err
		}
		return s.checked(ctx, f.look(p), p.Client, objects, false)
	case f.remove:
		objects, err := s.Objects(s.FromFiles(s.Builder(), &f.files).Latest().Flatten())
		if err != nil {
			return plan.Plan{}, err
		}
		return p.Remove(ctx, objects)
	default:
		return s.planChangeset(ctx, p, f)
	}
}

// look plans existing objects.
type look func(context.Context, []*unstructured.Unstructured) (plan.Plan, error)

// look returns how the flags ask existing objects to be planned.
func (f *planFlags) look(p *plan.Planner) look {
	if f.remove {
		return p.Remove
	}
	return p.Check
}

// refuseMissingNamespace returns an error where nothing was found because the namespace does not exist. A person who may not read
// namespaces is believed.
func refuseMissingNamespace(ctx context.Context, c client.Client, namespace string, found int) error {
	if found > 0 || namespace == "" {
		return nil
	}
	if err := c.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}); apierrors.IsNotFound(err) {
		return exit.Precondition(fmt.Errorf("namespace %s does not exist: choose one with -n, or look at all of them with -A", namespace))
	}
	return nil
}

// checked plans objects as they are, and prints their number: a plan of nothing in a mistyped namespace must not pass for
// one without changes.
func (s *planVerb) checked(ctx context.Context, look look, c client.Client, objects []*unstructured.Unstructured,
	everywhere bool) (plan.Plan, error) {
	namespace, err := s.NamespaceOf(everywhere)
	if err != nil {
		return plan.Plan{}, err
	}
	where := "all namespaces"
	if namespace != "" {
		where = "namespace " + namespace
		if err := refuseMissingNamespace(ctx, c, namespace, len(objects)); err != nil {
			return plan.Plan{}, err
		}
	}
	found, err := look(ctx, objects)
	if len(objects) == 0 && namespace != "" {
		where += "; -A looks in all of them"
	}
	if err == nil {
		s.Say("Looked at %s in %s.", status.Counted(len(objects), "object", "objects"), where)
	}
	return found, err
}

// printPlan writes a plan in one of the formats, with colors on a terminal.
func (s *planVerb) printPlan(format string, p plan.Plan) error {
	return console.PrintAs(s.Out, format, p, func() string {
		if format == "markdown" {
			return plantext.Markdown(p)
		}
		text := plantext.Text(p, format == "wide")
		if v := s.Canvas("text"); v != nil && v.IsColored() {
			return plantext.Painted(text)
		}
		return text
	})
}
