// SPDX-License-Identifier: Apache-2.0

// Package verify checks that a capability is in AWS and Kubernetes as it declares to be.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// Options are the flags of the verb.
type Options struct {
	Output, JUnit string
	Only          []string
	FailFast      bool
	Verbose       bool
	Timeout       time.Duration
}

// checkGroup is a group of checks, chosen by its name with --only.
type checkGroup struct {
	Name string
	// What the checks of the group prove.
	What string
	// run adds the results of the checks. An error ends the group.
	run func(v *verifier, ctx context.Context) error
}

// Groups are all groups in their order of execution.
var Groups = []checkGroup{
	{"capability", "the operator reports the capability as Running", (*verifier).checkCapability},
	{"resources", "every AWS resource and object exists and is as declared, compared by the operator's own code", (*verifier).checkResources},
	{"objects", "the objects of AWS resources are Ready", (*verifier).checkObjects},
	{"secrets", "no secret holds a placeholder", (*verifier).checkSecrets},
	{"workloads", "the pods of the declared version are available", (*verifier).checkWorkloads},
	{"endpoints", "every Service has ready endpoints", (*verifier).checkEndpoints},
	{"health", "frontend and backend answer their health checks through the API server", (*verifier).checkHealth},
	{"address", "the load balancer has an address", (*verifier).checkAddress},
	{"identity", "the application's role can be assumed, and allows what is declared only", (*verifier).checkIdentity},
	{"policies", "the security intents are in force", (*verifier).checkPolicies},
}

func groupNames() []string {
	var out []string
	for _, g := range Groups {
		out = append(out, g.Name)
	}
	return out
}

// Check refuses invalid options.
func (f *Options) Check() error {
	for _, name := range f.Only {
		if !slices.Contains(groupNames(), name) {
			return exit.Usage("--only: %q is none of %s", name, strings.Join(groupNames(), ", "))
		}
	}
	switch {
	case !slices.Contains([]string{"text", "json", "yaml"}, f.Output):
		return exit.Usage("--output: %q is none of text, json and yaml", f.Output)
	case f.Timeout <= 0:
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	default:
		return nil
	}
}

// Run makes the checks of a capability, and prints them. The error has the matching exit code.
func Run(ctx context.Context, s *connection.Connection, f *Options, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	at, err := s.OpenCapability(ctx, args)
	if err != nil {
		return err
	}
	v := &verifier{Connection: s, Options: f, config: at.Config, client: at.Client, subject: at.Subject, lapse: s.Clock.Now(),
		report: newVerification(at.Subject, s.Clock.Now())}
	limited, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	err = v.run(limited)
	if finish := v.finish(); finish != nil {
		return finish
	}
	if ctx.Err() != nil {
		s.Say("The checks so far are above; run the same command again for all of them.")
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return v.verdict(limited)
}

// verifier is a run of the verb.
type verifier struct {
	*connection.Connection
	*Options
	config  *rest.Config
	client  client.Client
	subject *nexusv1.NexusAICapability
	report  verification
	// cause keeps the capability from running, and causeCheck is the number of the check that names it; nil for a capability that runs,
	// and where the check was not made.
	cause      *inspect.Explanation
	causeCheck int
	// group is the group that runs, and lapse is when its last check ended.
	group string
	lapse time.Time
	// folded are the skipped checks that one line stands for.
	folded foldedSkips
}

// errEnough ends the checks after a failure with --fail-fast.
var errEnough = errors.New("a check failed")

// run makes the checks. An error is one of the output.
func (v *verifier) run(ctx context.Context) error {
	for _, g := range Groups {
		if len(v.Only) > 0 && !slices.Contains(v.Only, g.Name) {
			continue
		}
		v.group = g.Name
		err := v.ended(ctx, g, g.run(v, ctx))
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ended adds the error of a group as a check that could not be made. It returns errEnough when no group is to follow.
func (v *verifier) ended(ctx context.Context, g checkGroup, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err := v.add(check.Fail("the checks end in time", "--timeout="+v.Timeout.String()+" is over",
			"give a longer --timeout, or --only some of the groups"))
		return cmp.Or(err, errEnough)
	case ctx.Err() != nil:
		return errEnough
	case err == nil || errors.Is(err, errEnough):
		return err
	default:
		return v.add(check.Unmade(g.What, err))
	}
}

// add records a result and prints it, one that only follows from the cause as skipped. With --fail-fast it returns errEnough after a
// failure.
func (v *verifier) add(r check.Result) error {
	now := v.Clock.Now()
	r = v.consequence(r)
	r.Group, r.Number, r.DurationSeconds = v.group, len(v.report.Checks)+1, console.Seconds(now.Sub(v.lapse))
	v.lapse = now
	v.report.Add(r)
	if v.Output == "text" && (v.Verbose || !v.folded.takes(r)) {
		if _, err := io.WriteString(v.Out, check.Text(r)); err != nil {
			return err
		}
	}
	if v.FailFast && r.Outcome == check.OutcomeFail {
		return errEnough
	}
	return nil
}

// finish prints the summary, or the whole report, and writes the JUnit file.
func (v *verifier) finish() error {
	v.report.DurationSeconds = console.Seconds(v.Clock.Now().Sub(v.report.began))
	if err := console.PrintAs(v.Out, v.Output, v.report, func() string {
		return v.folded.Text(v.report.Checks) + v.report.Summary.Text() + "\n"
	}); err != nil {
		return err
	}
	if v.JUnit == "" {
		return nil
	}
	text, err := junitOf(v.report)
	if err != nil {
		return err
	}
	if err := os.WriteFile(v.JUnit, text, 0o644); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}

// verdict is the exit code.
func (v *verifier) verdict(ctx context.Context) error {
	s := v.report.Summary
	switch {
	case ctx.Err() != nil:
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("the checks did not end within %s", v.Timeout)}
	case s.Failed > 0:
		return &exit.Failure{Code: exit.CodeFailed}
	case v.report.LacksRights():
		return exit.Precondition(errors.New("some checks could not be made for want of a right or of credentials"))
	default:
		return nil
	}
}
