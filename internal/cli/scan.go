// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// scanAPIVersion is that of a scan as JSON or YAML.
const scanAPIVersion = "scan.nexus.ai/v1alpha1"

// scanReport is the report of scan.
type scanReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Server is the address of the API server; Account and Region are those of AWS, empty when unknown.
	Server  string `json:"server"`
	Account string `json:"account,omitempty"`
	Region  string `json:"region,omitempty"`
	check.List
}

// scanFlags are the flags of the verb.
type scanFlags struct {
	output, eks string
	image       string
	only        []string
	timeout     time.Duration
}

// scanGroups are the groups of checks in the order in which they run: what later groups need is found by earlier ones.
var scanGroups = []struct {
	name, what string
	run        func(*scanner, context.Context) error
}{
	{"aws", "AWS accepts your credentials", (*scanner).scanAWS},
	{"image", "the operator's image is in the account's registry", (*scanner).scanImage},
	{"cluster", "the API server answers, and its version is served", (*scanner).scanCluster},
	{"identity", "IAM accepts the tokens of pods, and pods are given them", (*scanner).scanIdentity},
	{"nodes", "nodes are ready and have room for the operator", (*scanner).scanNodes},
	{"network", "the load balancer controller finds subnets", (*scanner).scanNetwork},
	{"ingress", "a load balancer controller serves Ingresses", (*scanner).scanIngress},
	{"engines", "policy engines are present", (*scanner).scanEngines},
	{"facts", "DNS is where intents keep it open, and something enforces NetworkPolicies", (*scanner).scanFacts},
	{"access", "you may install the operator", (*scanner).scanAccess},
}

func (s *shared) scanCommand() *cobra.Command {
	f := &scanFlags{}
	var groups strings.Builder
	for _, g := range scanGroups {
		fmt.Fprintf(&groups, "  %-11s %s\n", g.name, g.what)
	}
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Check that a cluster and an AWS account are ready for the operator",
		Long: "scan checks what the operator and its capabilities need from a cluster and an AWS account, with your own rights, and\n" +
			"changes nothing. The groups of checks, for --only:\n\n" + groups.String() + "\n" +
			"Each check ends with PASS, WARN, FAIL or SKIP, with what was seen and what to do. The exit code is 0 when no check\n" +
			"failed, 1 when one failed, and 4 when none failed and some could not be made for want of a right or of credentials.",
		Example: "  nexusctl scan\n  nexusctl scan --cluster-name production --only aws,identity,network\n  nexusctl scan -o json",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.scan(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	flags.StringVar(&f.eks, "cluster-name", "", "name of the EKS cluster (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringVar(&f.image, "image", "", "container image of the operator; default: that of this version in the account's repository "+connection.DefaultRepository)
	flags.StringSliceVar(&f.only, "only", nil, "names of groups of checks to make; default: all")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "how long all checks may take")
	return cmd
}

func (f *scanFlags) Check() error {
	var known []string
	for _, g := range scanGroups {
		known = append(known, g.name)
	}
	for _, name := range f.only {
		if !slices.Contains(known, name) {
			return exit.Usage("--only: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	if f.timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	}
	return nil
}

// scanner is a run of the verb.
type scanner struct {
	*shared
	*scanFlags
	config *rest.Config
	client client.Client
	report scanReport
	issuer *awssession.Issuer
	// autoMode asks EKS about EKS Auto Mode.
	autoMode clusterfacts.AutoMode
	// open opens the AWS account; its answer is kept.
	open func(context.Context) (*awsclient.Session, error)
	// group is the group that runs, and lapse is when its last check ended.
	group string
	lapse time.Time
}

func (s *shared) scan(ctx context.Context, f *scanFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	config, c, err := s.Connect()
	if err != nil {
		return err
	}
	o, err := s.OfflineOptions()
	if err != nil {
		return err
	}
	sessions := s.Sessions()
	f.eks = s.EKSCluster(f.eks)
	issuer, err := awssession.NewIssuer(config, f.eks, o.Region, sessions, s.Clock)
	if err != nil {
		return err
	}
	x := &scanner{shared: s, scanFlags: f, config: config, client: c, issuer: issuer, autoMode: s.AutoModeOf(f.eks), lapse: s.Clock.Now(),
		report: scanReport{APIVersion: scanAPIVersion, Kind: "Scan", Server: config.Host, List: check.List{Checks: []check.Result{}}},
		open: func(ctx context.Context) (*awsclient.Session, error) {
			return sessions.Open(ctx, awsclient.Identity{Key: "caller", Region: o.Region})
		}}
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	x.run(limited)
	if err := console.PrintAs(s.Out, f.output, x.report, func() string { return x.Text() }); err != nil {
		return err
	}
	return x.verdict(ctx, limited)
}

// run makes the checks of the groups that were asked for.
func (x *scanner) run(ctx context.Context) {
	for _, g := range scanGroups {
		if ctx.Err() != nil {
			return
		}
		if len(x.only) > 0 && !slices.Contains(x.only, g.name) {
			continue
		}
		x.group = g.name
		if err := g.run(x, ctx); err != nil && ctx.Err() == nil {
			x.add(check.Unmade(g.what, err))
		}
	}
}

func (x *scanner) add(r check.Result) {
	now := x.Clock.Now()
	r.Group, r.Number, r.DurationSeconds = x.group, len(x.report.Checks)+1, console.Seconds(now.Sub(x.lapse))
	x.lapse = now
	x.report.Add(r)
}

func (x *scanner) Text() string {
	var b strings.Builder
	for _, r := range x.report.Checks {
		b.WriteString(check.Text(r))
	}
	b.WriteString(x.report.Summary.Text() + "\n")
	return b.String()
}

// verdict is the exit code.
func (x *scanner) verdict(ctx, limited context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("the checks did not end within %s", x.timeout)}
	case x.report.Summary.Failed > 0:
		return &exit.Failure{Code: exit.CodeFailed}
	case x.report.LacksRights():
		return exit.Precondition(errors.New("some checks could not be made for want of a right or of credentials"))
	default:
		return nil
	}
}
