// SPDX-License-Identifier: Apache-2.0

// Package options is every flag and environment variable of the operator, parsed and checked once.
package options

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// Options are the operator's settings. The SDK reads its own environment (AWS_ENDPOINT_URL,
// AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, …) beside these.
type Options struct {
	AWS     AWS
	Log     Log
	Trace   Trace
	Leader  Leader
	Serving Serving
	Guards  Guards
	Intents Intents
	Pacing  Pacing
	Grace   Grace

	// Namespace is the operator's own.
	Namespace string
	// Kubeconfig is a path; empty means in-cluster, or KUBECONFIG.
	Kubeconfig string
	// QPS limits requests to the API server.
	QPS float32
	// Shard is the part of the cluster's namespaces that this operator serves; the zero value is every namespace.
	Shard shard.Shard
	// Kinds are the AWS kinds that are served; the zero value is every one.
	Kinds Kinds
	// PlanRequests has the operator answer PlanRequests with its own AWS identity.
	PlanRequests bool
	// ClusterID marks resources in AWS; empty is the UID of namespace kube-system.
	ClusterID string
	// PreviousClusterIDs are clusters with resources that may be inherited.
	PreviousClusterIDs []string
}

// AWS are the settings of the calls to AWS.
type AWS struct {
	// Region is the region of a capability without spec.region.
	Region string
	// AdditionalRegions are regions newer than the operator's SDK.
	AdditionalRegions []string
	// EKSCluster is the name of the EKS cluster in Region, the second source of the OIDC issuer; empty when unknown.
	EKSCluster string
	// InjectsCredentials is true where the cluster gave the operator's own pod its credentials, as it gives them to the pods of capabilities.
	InjectsCredentials bool
	// Rates overrides the rates of AWS calls, by service ("iam") or operation ("ssm.PutParameter").
	Rates map[string]Rate
	// DriftEventsQueue is the URL of the SQS queue with CloudTrail's events of changes; empty is none. {shard} in it stands for the number
	// of the shard.
	DriftEventsQueue string
}

// Log are the settings of the log.
type Log struct {
	// Level is DEBUG, INFO, WARN or ERROR.
	Level string
	// Format is json or text.
	Format string
}

// Trace are the settings of traces.
type Trace struct {
	// Endpoint is the base URL of an OTLP receiver; empty exports no traces.
	Endpoint string
	// SampleRatio is the share of reconciles that are traced, from 0 to 1.
	SampleRatio float64
}

// Leader are the settings of leader election.
type Leader struct {
	// Elect lets several replicas stand by; only the leader works.
	Elect         bool
	LeaseDuration time.Duration
}

// Serving are the settings of the operator's own servers.
type Serving struct {
	// MetricsAddress and HealthAddress are host:port; 0 switches metrics off.
	MetricsAddress, HealthAddress string
	// SecureMetrics serves metrics by TLS with authentication and authorization.
	SecureMetrics bool
}

// Grace are the times in which a deletion can be undone.
type Grace struct {
	// Deletion limits how long the stores of a deleted capability are kept that does not set it, and Production is the limit
	// of a production capability if its deletion deletes them, where it is longer.
	Deletion, Production time.Duration
}

// RenewDeadline limits how long the leader retries to renew its lease before it stops.
func (l Leader) RenewDeadline() time.Duration { return l.LeaseDuration * 2 / 3 }

// RetryPeriod is the time between two renewals of the lease.
func (l Leader) RetryPeriod() time.Duration { return l.LeaseDuration / 6 }

// Burst limits the requests to the API server that come at once.
func (o *Options) Burst() int { return int(2 * o.QPS) }

// maxDeletionGrace is that of spec.deletion.graceful.
const maxDeletionGrace = 720 * time.Hour

// AllAdapters names every policy engine.
const AllAdapters = "all"

// Rate is calls per second, and how many may come at once.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Parse reads flags, then environment, then defaults. Errors name the flag or variable.
// pflag.ErrHelp is returned after usage was printed.
func Parse(args []string, getenv func(string) string) (Options, error) {
	o := Options{AWS: AWS{InjectsCredentials: areInjected(getenv)}}
	fs, maps := newFlags(&o, getenv)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err := o.Pacing.perKind(*maps.workers, *maps.intervals); err != nil {
		return o, err
	}
	if err := errors.Join(o.AWS.limit(*maps.rates), o.Guards.quota(*maps.quota), o.shard(*maps.shard)); err != nil {
		return o, err
	}
	return o, o.validate()
}

// areInjected reports whether the EKS pod identity webhook gave a pod its credentials: by the place of the token that it mounts, or by the
// address of the EKS Pod Identity Agent.
// https://github.com/aws/amazon-eks-pod-identity-webhook, https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
func areInjected(getenv func(string) string) bool {
	return strings.HasPrefix(getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), "/var/run/secrets/eks.amazonaws.com/serviceaccount/") ||
		slices.Contains([]string{"http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/v1/credentials"},
			getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
}

// Flags returns the operator's flags with their defaults, for tests of the manifests that set them.
func Flags() *pflag.FlagSet {
	fs, _ := newFlags(&Options{}, func(string) string { return "" })
	return fs
}

// unparsed are the flags with values that are checked after parsing.
type unparsed struct {
	workers, intervals, rates, quota *map[string]string
	shard                            *string
}

// newFlags returns flags that fill in o, with defaults from the environment.
func newFlags(o *Options, getenv func(string) string) (*pflag.FlagSet, unparsed) {
	fs := pflag.NewFlagSet("nexus-operator", pflag.ContinueOnError)
	env := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return otherwise
	}
	fs.StringVar(&o.AWS.Region, "region", env("AWS_REGION", "ap-southeast-1"),
		"default AWS region of capabilities that do not set spec.region (AWS_REGION)")
	fs.StringVar(&o.AWS.EKSCluster, "eks-cluster-name", env("EKS_CLUSTER_NAME", ""),
		"name of the EKS cluster in --region; its OIDC issuer is read from EKS when the API server does not publish one that AWS can reach, and EKS Pod Identity is possible in it alone (EKS_CLUSTER_NAME)")
	fs.StringVar(&o.Namespace, "namespace", env("OPERATOR_NAMESPACE", "nexus-system"),
		"namespace of the operator; default: the namespace of its pod, or nexus-system outside a cluster (OPERATOR_NAMESPACE)")
	fs.StringVar(&o.Log.Level, "log-level", env("LOG_LEVEL", "INFO"),
		"minimum log level: DEBUG, INFO, WARN or ERROR; WARNING and CRITICAL are also accepted (LOG_LEVEL)")
	fs.StringVar(&o.Log.Format, "log-format", env("LOG_FORMAT", "json"), "log format: json, or text for people (LOG_FORMAT)")
	fs.StringVar(&o.Trace.Endpoint, "trace-endpoint", env("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
		"base URL of an OTLP receiver (protobuf over HTTP) that traces are sent to, such as http://collector:4318; empty: no traces (OTEL_EXPORTER_OTLP_ENDPOINT)")
	fs.Float64Var(&o.Trace.SampleRatio, "trace-sample-ratio", 1, "share of reconciles that are traced, from 0 to 1")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", "", "path to a kubeconfig file; default: KUBECONFIG, or the ServiceAccount of the pod")
	part := fs.String("shard", "",
		"part of the namespaces to serve, as i/n: shard i, from 0, of n shards that are separate processes with a lease each; an i of n or more stands for i modulo n, such as the ordinal of a standby in a StatefulSet; default: all namespaces")
	addRuntimeFlags(fs, o)
	addPacingFlags(fs, &o.Pacing)
	addKindsFlag(fs, o, env)
	addDriftEventFlags(fs, o)
	quota := addGuardFlags(fs, &o.Guards)
	addIntentFlags(fs, &o.Intents)
	workers := fs.StringToString("kind-workers", nil,
		"maximum concurrent reconciles of single kinds, such as S3Bucket=16; overrides --workers")
	intervals := fs.StringToString("kind-check-interval", nil,
		"drift check interval of single kinds, such as S3Bucket=10m; overrides --check-interval")
	rates := fs.StringToString("aws-rates", nil,
		"client-side rate limits of AWS calls by service or operation, as calls per second and burst, such as iam=15/60 or ssm.PutParameter=10/40; each entry replaces the default of that name, which may be adaptive")
	return fs, unparsed{workers: workers, intervals: intervals, rates: rates, quota: quota, shard: part}
}

func (o *Options) shard(text string) (err error) {
	if text == "" {
		return nil
	}
	if o.Shard, err = shard.Parse(text); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	return nil
}

func (a *AWS) limit(rates map[string]string) error {
	a.Rates = map[string]Rate{}
	for k, v := range rates {
		var r Rate
		if n, err := fmt.Sscanf(v, "%f/%d", &r.PerSecond, &r.Burst); err != nil || n != 2 || r.PerSecond <= 0 || r.Burst < 1 {
			return fmt.Errorf("--aws-rates: %s=%s is not of the form per-second/burst, such as 10/40", k, v)
		}
		a.Rates[k] = r
	}
	return nil
}

func addRuntimeFlags(fs *pflag.FlagSet, o *Options) {
	fs.StringSliceVar(&o.AWS.AdditionalRegions, "additional-regions", nil,
		"AWS regions to accept although this version of the operator does not know them")
	fs.StringVar(&o.ClusterID, "cluster-id", "",
		"cluster identity in the ownership tags of AWS resources; default: the UID of the namespace kube-system")
	fs.StringSliceVar(&o.PreviousClusterIDs, "previous-cluster-ids", nil,
		"identities of earlier clusters whose AWS resources this cluster takes over")
	fs.BoolVar(&o.Leader.Elect, "leader-elect", true, "reconcile only while holding the leader election lease")
	fs.DurationVar(&o.Leader.LeaseDuration, "leader-elect-lease-duration", 12*time.Second,
		"how long a standby waits after the last renewal before it takes over the lease; the leader renews it after each sixth of this time, and stops when two thirds of it have passed without a renewal")
	fs.StringVar(&o.Serving.MetricsAddress, "metrics-bind-address", ":8443", "host:port on which /metrics is served; 0 disables it")
	fs.BoolVar(&o.Serving.SecureMetrics, "metrics-secure", true,
		"serve metrics over TLS, to clients that the API server authenticates and authorizes; a loopback address is served without TLS")
	fs.StringVar(&o.Serving.HealthAddress, "health-probe-bind-address", ":8080",
		"host:port on which /healthz and /readyz are served; an outage of AWS affects neither")
	fs.Float32Var(&o.QPS, "kube-api-qps", 200,
		"maximum requests per second to the API server, for the objects of each kind; twice as many may come at once")
	fs.BoolVar(&o.PlanRequests, "plan-requests", true,
		"answer PlanRequests (nexusctl plan --server), which plan with the operator's AWS identity for users who have no AWS credentials")
	fs.DurationVar(&o.Grace.Deletion, "deletion-grace", 0,
		"how long the stores of a deleted capability without spec.deletion.graceful are kept, during which nexusctl undo brings it back; at most 720h")
	fs.DurationVar(&o.Grace.Production, "production-deletion-grace", 24*time.Hour,
		"the same for capabilities whose environment is prod or production and whose deletionPolicy is Delete, where it is longer than --deletion-grace; 0s for none, at most 720h")
}

// addKindsFlag adds --kinds. Its default is that of the environment.
func addKindsFlag(fs *pflag.FlagSet, o *Options, env func(name, otherwise string) string) {
	fs.StringSliceVar((*[]string)(&o.Kinds), "kinds", strings.Split(env("NEXUS_KINDS", AllKinds), ","),
		KindsUsage+"; objects of other kinds are not reconciled, and their definitions and rights may be absent (NEXUS_KINDS)")
}

// minInterval keeps a typing error from hammering AWS.
const minInterval = time.Second

// isHTTP reports whether a text is the URL of a server: http or https, a host, and no query.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == "" && u.Fragment == ""
}

// isImage reports whether a text is the reference of a container image, or empty.
func isImage(text string) bool {
	_, err := reference.ParseNormalizedNamed(text)
	return text == "" || err == nil
}

// isGrace reports whether deletions can be undone for a time.
func isGrace(d time.Duration) bool { return d >= 0 && d <= maxDeletionGrace }

func (o *Options) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	o.Log.Level = levelOf(o.Log.Level)
	for i := range o.Intents.Adapters {
		o.Intents.Adapters[i] = strings.ToLower(o.Intents.Adapters[i])
	}
	check(slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR"}, o.Log.Level),
		"--log-level (LOG_LEVEL): %q is not DEBUG, INFO, WARN or ERROR", o.Log.Level)
	check(o.Log.Format == "json" || o.Log.Format == "text", "--log-format (LOG_FORMAT): %q is not json or text", o.Log.Format)
	check(o.Trace.SampleRatio >= 0 && o.Trace.SampleRatio <= 1, "--trace-sample-ratio: must be from 0 to 1")
	check(o.Trace.Endpoint == "" || isHTTP(o.Trace.Endpoint),
		"--trace-endpoint (OTEL_EXPORTER_OTLP_ENDPOINT): %q is not a URL such as http://collector:4318", o.Trace.Endpoint)
	check(o.Pacing.Workers > 0, "--workers: must be positive")
	check(o.QPS > 0, "--kube-api-qps: must be positive")
	check(o.Pacing.CheckEvery >= minInterval, "--check-interval: must be at least %s", minInterval)
	check(o.Leader.LeaseDuration >= minInterval, "--leader-elect-lease-duration: must be at least %s", minInterval)
	check(o.Pacing.RetryFirst > 0 && o.Pacing.RetryFirst <= o.Pacing.RetryMost, "--retry-first: must be positive and at most --retry-most")
	check(isGrace(o.Grace.Production), "--production-deletion-grace: must be from 0s to %s", maxDeletionGrace)
	check(isGrace(o.Grace.Deletion), "--deletion-grace: must be from 0s to %s", maxDeletionGrace)
	check(o.Pacing.StalledEvery > 0, "--stalled-interval: must be positive")
	check(isImage(o.Intents.TLSAssessorImage),
		"--tls-assessor-image: %q is not the reference of a container image", o.Intents.TLSAssessorImage)
	return errors.Join(append(errs, o.Guards.validate(), o.validateDriftEvents())...)
}

// levelOf returns the name of a log level; other programs' names for WARN and ERROR are understood.
func levelOf(name string) string {
	switch name = strings.ToUpper(name); name {
	case "WARNING":
		return "WARN"
	case "CRITICAL", "FATAL":
		return "ERROR"
	default:
		return name
	}
}
