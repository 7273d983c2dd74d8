// SPDX-License-Identifier: Apache-2.0

// Package scan checks that a cluster and an AWS account are ready for the operator.
package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// Options are the flags of the verb.
type Options struct {
	Output, EKS string
	Image       string
	Only        []string
	Timeout     time.Duration
}

// Groups are the groups of checks in their order of execution: earlier groups find facts that later ones need.
var Groups = []struct {
	Name, What string
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

// Check refuses invalid options.
func (f *Options) Check() error {
	var known []string
	for _, g := range Groups {
		known = append(known, g.Name)
	}
	for _, name := range f.Only {
		if !slices.Contains(known, name) {
			return exit.Usage("--only: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	if f.Timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	}
	return nil
}

// scanner is a run of the verb.
type scanner struct {
	*connection.Connection
	*Options
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

// Run makes the checks, and prints them. The error has the matching exit code.
func Run(ctx context.Context, s *connection.Connection, f *Options) error {
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
	f.EKS = s.EKSCluster(f.EKS)
	issuer, err := awssession.NewIssuer(config, f.EKS, o.AWS.Region, sessions, s.Clock)
	if err != nil {
		return err
	}
	x := &scanner{Connection: s, Options: f, config: config, client: c, issuer: issuer, autoMode: s.AutoModeOf(f.EKS), lapse: s.Clock.Now(),
		report: scanReport{APIVersion: scanAPIVersion, Kind: "Scan", Server: config.Host, List: check.List{Checks: []check.Result{}}},
		open: func(ctx context.Context) (*awsclient.Session, error) {
			return sessions.Open(ctx, awsclient.Identity{Key: "caller", Region: o.AWS.Region})
		}}
	limited, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	x.run(limited)
	if err := console.PrintAs(s.Out, f.Output, x.report, func() string { return x.Text() }); err != nil {
		return err
	}
	return x.verdict(ctx, limited)
}

// run makes the checks of the groups that were asked for.
func (x *scanner) run(ctx context.Context) {
	for _, g := range Groups {
		if ctx.Err() != nil {
			return
		}
		if len(x.Only) > 0 && !slices.Contains(x.Only, g.Name) {
			continue
		}
		x.group = g.Name
		if err := g.run(x, ctx); err != nil && ctx.Err() == nil {
			x.add(check.Unmade(g.What, err))
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
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("the checks did not end within %s", x.Timeout)}
	case x.report.Summary.Failed > 0:
		return &exit.Failure{Code: exit.CodeFailed}
	case x.report.LacksRights():
		return exit.Precondition(errors.New("some checks could not be made for want of a right or of credentials"))
	default:
		return nil
	}
}
