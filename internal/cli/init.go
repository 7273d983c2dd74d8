// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/internal/appmodel"
	"github.com/nexus-operator/nexus-operator/internal/appmodel/questions"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/validate"
)

// initFlags are the flags of the verb that are no answers to its questions.
type initFlags struct {
	compose, chart, envFile, output string
	values, single, profiles, keep  []string
	force, yes                      bool
}

// initVerb is a run of init.
type initVerb struct {
	*connection.Connection
}

func initCommand(s *connection.Connection) *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init [--from-compose FILE | --from-chart DIR]",
		Short: "Write the capability of an application, from questions, a Compose file or a Helm chart; needs no cluster",
		Long: "init writes a NexusAICapability. On a terminal it asks what the application needs; every question has a flag, and --yes takes\n" +
			"the defaults. With --from-compose it reads the services of a Compose file, and with --from-chart it renders a Helm chart and reads\n" +
			"its workloads. It names everything that a capability cannot express, with the field, in a line on standard error and in a\n" +
			"comment of the manifest. It writes no value that may be a secret: the variable then reads a Secret that you create.\n\n" +
			"The manifest is validated before it is written. A file that exists is overwritten only with --force.",
		Example: "  nexusctl init\n" +
			"  nexusctl init --from-compose docker-compose.yaml\n" +
			"  nexusctl init --from-chart ./chart --values values-prod.yaml --environment prod -o prod.yaml\n" +
			"  nexusctl init --yes --name shop --image frontend=registry.example/web:1 --image backend=registry.example/api:1 --bucket documents",
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&initVerb{Connection: s}).initCapability(cmd.Context(), f, cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.compose, "from-compose", "", "Compose file whose services become the components; - reads standard input")
	flags.StringVar(&f.chart, "from-chart", "", "folder or archive of a Helm chart whose workloads become the components")
	flags.StringVar(&f.envFile, "env-file", "", "file with the variables that the Compose file names; default .env beside it")
	flags.StringArrayVar(&f.values, "values", nil, "file with values of the chart")
	flags.StringArrayVar(&f.single, "set", nil, "value of the chart, such as replicaCount=1")
	flags.StringSliceVar(&f.profiles, "compose-profile", nil, "profile of the Compose file whose services are read, too")
	flags.StringSliceVar(&f.keep, "keep", nil,
		"service or workload that becomes a component although AWS has a service in its place, such as redis")
	flags.StringVarP(&f.output, "output", "o", "capability.yaml", "file to write; - for standard output")
	flags.BoolVar(&f.force, "force", false, "overwrite the file")
	flags.BoolVarP(&f.yes, "yes", "y", false, "ask nothing, and take the defaults")
	answerFlags(flags)
	return cmd
}

// answerFlags adds the flags that answer the questions. Their values are looked up by name.
func answerFlags(flags *pflag.FlagSet) {
	flags.String("name", "", "name of the application, the first part of every derived name")
	flags.String("environment", "", "environment, the second part of every derived name (default dev)")
	flags.String("app-version", "", "version of the application (default 1.0.0, or that of the chart)")
	flags.String("provider", "", "AWSProvider that names the account; default: none, for the operator's own")
	flags.String("frontend", "", "component that becomes spec.frontend, with the path /; default: one of this name")
	flags.String("backend", "", "component that becomes spec.backend, with the path /api; default: one of this name")
	flags.StringArray("route", nil, "NAME=PATH: a path that leads requests from outside to a component")
	flags.StringArray("type", nil, "NAME=Service or NAME=Worker: a Worker answers no requests")
	flags.StringArray("image", nil, "NAME=IMAGE: a component, or another image of one")
	flags.StringArray("port", nil, "NAME=PORT: the port on which a component answers requests")
	flags.StringArray("replicas", nil, "NAME=NUMBER: the pods of a component")
	flags.StringSlice("table", nil, "DynamoDB table, with the key id")
	flags.StringSlice("bucket", nil, "S3 bucket")
	flags.StringSlice("queue", nil, "SQS queue, with a dead-letter queue")
	flags.StringSlice("topic", nil, "SNS topic")
	flags.StringSlice("model", nil, "NAME=MODEL: a model of Amazon Bedrock, such as chat=amazon.nova-lite-v1:0")
	flags.StringArray("secret", nil, "NAME=KEY,KEY: a secret in AWS Secrets Manager, whose values are filled in later")
	flags.Bool("no-ingress", false, "leave the application reachable only inside the cluster")
	flags.Bool("public", false, "make the load balancer reachable from the internet")
	flags.String("host", "", "host name of the application")
	flags.String("health-path", "", "path that answers 2xx when a component can serve (default /health)")
	flags.String("deletion-policy", "",
		"Delete, Retain or Orphan: AWS resources at the deletion of the capability (default Delete, and Retain for prod)")
}

// initCapability reads the application, asks for the missing values, and writes the manifest.
func (s *initVerb) initCapability(ctx context.Context, f *initFlags, flags *pflag.FlagSet) error {
	if f.compose != "" && f.chart != "" {
		return exit.Usage("--from-compose and --from-chart exclude each other")
	}
	if err := f.mayWrite(); err != nil {
		return err
	}
	app, from, err := s.readApplication(ctx, f)
	if err != nil {
		return err
	}
	roles, err := s.interview(ctx, f, flags).Fill(app, s.initDefaults(f))
	switch {
	case ctx.Err() != nil:
		return &exit.Interruption{Text: "The command was interrupted, and no file was written."}
	case err != nil:
		return exit.Usage("%w; nothing was written", err)
	}
	m, err := app.Write(roles, from)
	if err != nil {
		return exit.Usage("%w; nothing was written", err)
	}
	if err := s.checkWritten(ctx, m); err != nil {
		return err
	}
	return s.writeManifest(f, m)
}

// mayWrite refuses to overwrite a file, before any question.
func (f *initFlags) mayWrite() error {
	if f.output == "" {
		return exit.Usage("--output: name a file, or - for standard output")
	}
	if f.output == connection.StandardInput || f.force {
		return nil
	}
	if _, err := os.Lstat(f.output); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("%s exists: overwrite it with --force, or name another file with -o", f.output)
	}
	return nil
}

// initDefaults are the answers that come from the folder and the environment.
func (s *initVerb) initDefaults(f *initFlags) questions.Defaults {
	out := questions.Defaults{Region: s.Getenv("AWS_REGION")}
	near := "."
	if f.compose != "" && f.compose != connection.StandardInput {
		near = filepath.Dir(f.compose)
	}
	if folder, err := filepath.Abs(near); err == nil {
		out.Name = filepath.Base(folder)
	}
	return out
}

// interview answers questions by flags, and by a person where standard input is a terminal.
func (s *initVerb) interview(ctx context.Context, f *initFlags, flags *pflag.FlagSet) *questions.Interview {
	i := &questions.Interview{Out: s.ErrOut, Flag: func(name string) ([]string, bool) {
		flag := flags.Lookup(name)
		if flag == nil || !flag.Changed {
			return nil, false
		}
		if list, is := flag.Value.(pflag.SliceValue); is {
			return list.GetSlice(), true
		}
		return []string{flag.Value.String()}, true
	}}
	if in, is := s.In.(*os.File); is && !f.yes && f.compose != connection.StandardInput && term.IsTerminal(int(in.Fd())) {
		lines := bufio.NewReader(in)
		i.ReadLine = func() (string, error) {
			b, err := console.WithContext(ctx, func() ([]byte, error) { return lines.ReadBytes('\n') })
			return string(b), err
		}
	}
	return i
}

// checkWritten validates the text of a manifest as nexusctl validate does.
func (s *initVerb) checkWritten(ctx context.Context, m *appmodel.Manifest) error {
	files := &resource.FilenameOptions{Filenames: []string{connection.StandardInput}}
	v := &validate.Validator{Connection: s.Connection}
	objects, schemas, err := v.ReadableManifests(files, m.Text)
	if err != nil {
		return err
	}
	found, err := v.Validation(ctx, nil, objects, schemas)
	if err != nil {
		return err
	}
	if found.Valid {
		return nil
	}
	var problems []string
	for _, o := range found.Objects {
		problems = append(problems, o.Problems...)
	}
	return exit.Usage("the application cannot be a capability: %s; nothing was written", strings.Join(problems, "; "))
}

// writeManifest writes the manifest, the parts that it does not carry over, and the next commands.
func (s *initVerb) writeManifest(f *initFlags, m *appmodel.Manifest) error {
	name := f.output
	if f.output == connection.StandardInput {
		name = "capability.yaml"
		if _, err := io.Copy(s.Out, bytes.NewReader(m.Text)); err != nil {
			return err
		}
	} else if err := f.writeFile(m.Text); err != nil {
		return err
	}
	for _, n := range m.Notes {
		s.Say("%s", n)
	}
	if f.output != connection.StandardInput {
		s.Say("%s: written, and valid", f.output)
	}
	s.Say("Next:")
	for _, command := range m.NextCommands(name) {
		s.Say("  %s", command)
	}
	return nil
}

// writeFile writes the file, which exists only where --force allows to overwrite it.
func (f *initFlags) writeFile(text []byte) error {
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(f.output, how, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage("%s exists: overwrite it with --force, or name another file with -o", f.output)
	}
	if err != nil {
		return exit.Usage("%w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", f.output, err)
	}
	return nil
}
