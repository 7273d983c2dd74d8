// SPDX-License-Identifier: Apache-2.0

// Package options is every flag and environment variable of the operator, parsed and checked once.
package options

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// Options are the operator's settings. The SDK reads its own environment (AWS_ENDPOINT_URL,
// AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, …) beside these.
type Options struct {
	// Region is the region of a capability without spec.region.
	Region string
	// AdditionalRegions are regions newer than the operator's SDK.
	AdditionalRegions []string
	// EKSCluster is the name of the EKS cluster in Region, the second source of the OIDC issuer; empty when unknown.
	EKSCluster string
	// InjectsCredentials is true where the cluster gave the operator's own pod its credentials, as it gives them to the pods of capabilities.
	InjectsCredentials bool
	// Namespace is the operator's own.
	Namespace string
	// LogLevel is DEBUG, INFO, WARN or ERROR.
	LogLevel string
	// LogFormat is json or text.
	LogFormat string
	// TraceEndpoint is the base URL of an OTLP receiver; empty exports no traces.
	TraceEndpoint string
	// TraceSampleRatio is the share of reconciles that are traced, from 0 to 1.
	TraceSampleRatio float64
	// Kubeconfig is a path; empty means in-cluster, or KUBECONFIG.
	Kubeconfig string
	// LeaderElect lets several replicas stand by; only the leader works.
	LeaderElect bool
	// Shard is the part of the cluster's namespaces that this operator serves; the zero value is every namespace.
	Shard shard.Shard
	// LeaseDuration is that of leader election.
	LeaseDuration time.Duration
	// MetricsAddress and HealthAddress are host:port; 0 switches metrics off.
	MetricsAddress, HealthAddress string
	// SecureMetrics serves metrics by TLS with authentication and authorization.
	SecureMetrics bool
	// AmbientNamespaces are patterns of namespaces. Their providers may use the operator's own identity.
	AmbientNamespaces []string
	// CapabilityNamespaces are patterns of namespaces. Their capabilities need no spec.providerRef: the AWSProvider that the operator
	// generates for them uses the operator's own identity.
	CapabilityNamespaces []string
	// DefaultPermissionsBoundary is the ARN of the policy that bounds every role made through a generated AWSProvider,
	// and that allows generated AWSProviders in every namespace; empty is none.
	DefaultPermissionsBoundary string
	// WorkloadNamespaces are patterns of namespaces that the operator may create for the workloads of a capability.
	WorkloadNamespaces []string
	// WorkloadNamespaceQuota is the hard limit of the ResourceQuota in every namespace that the operator created; empty
	// is no ResourceQuota.
	WorkloadNamespaceQuota corev1.ResourceList
	// AllowedEndpoints are patterns of endpoints that a provider may name.
	AllowedEndpoints []string
	// AllowedIngressGroups are patterns of ALB groups that a capability may join.
	AllowedIngressGroups []string
	// AllowedExternalARNs are patterns of ARNs that limit the allowedExternalARNs of AWSProviders; none does not.
	AllowedExternalARNs []string
	// AllowCustomExternalID lets providers choose their ExternalID.
	AllowCustomExternalID bool
	// PlanGate are patterns of namespaces. Edits in them wait until their plans are approved.
	PlanGate []string
	// PlanRequests has the operator answer PlanRequests with its own AWS identity.
	PlanRequests bool
	// ClusterID marks resources in AWS; empty is the UID of namespace kube-system.
	ClusterID string
	// Types are names and patterns of the AWS resource types that AWSResource objects may manage.
	Types []string
	// SharedNamespaces are namespaces with AWS resources that objects of other namespaces may name: NAMESPACE of this cluster, or
	// CLUSTER-ID/NAMESPACE.
	SharedNamespaces []string
	// ForeignResources are patterns of the ARNs of resources without an owner that objects may name; none allows all.
	ForeignResources []string
	// PreviousClusterIDs are clusters with resources that may be inherited.
	PreviousClusterIDs []string
	// QPS limits requests to the API server.
	QPS float32
	// Adapters are the policy engines that security intents are translated for, in lower case; AllAdapters
	// stands for every one, none leaves the core alone.
	Adapters []string
	// ClusterDNSService is namespace/name of the Service of the cluster's DNS. Intents keep its pods and ports open. ClusterDNSPorts are the
	// pods' ports where the Service does not define them.
	ClusterDNSService string
	ClusterDNSPorts   []int
	// NetworkPolicyEnforcer is the name of the enforcer of NetworkPolicies in the cluster; empty finds the common ones.
	NetworkPolicyEnforcer string
	// VirtualPatches is namespace/name of the ConfigMap with the catalog of virtual patches; empty is none.
	VirtualPatches string
	// TLSAssessorImage is the container image that assesses TLS for intent assessTLS; empty is none.
	TLSAssessorImage string
	// MeshRootNamespace and MeshTrustDomain are Istio's.
	MeshRootNamespace, MeshTrustDomain string
	// Kinds are the AWS kinds that are served; the zero value is every one.
	Kinds Kinds
	// Workers limits the objects of a kind that are reconciled at a time; WorkersOf overrides it by kind.
	Workers   int
	WorkersOf map[string]int
	// CheckEvery is the interval of drift checks; CheckEveryOf overrides it by kind.
	CheckEvery   time.Duration
	CheckEveryOf map[string]time.Duration
	// DriftEventsQueue is the URL of the SQS queue with CloudTrail's events of changes; empty is none. {shard} in it stands for the number
	// of the shard.
	DriftEventsQueue string
	// CheckEveryWithEvents is the interval of drift checks of resources with events that arrive, where it is longer than CheckEvery.
	CheckEveryWithEvents time.Duration
	// AWSRates overrides the rates of AWS calls, by service ("iam") or operation ("ssm.PutParameter").
	AWSRates map[string]Rate
	// DeletionGrace limits how long the stores of a deleted capability are kept that does not set it, and ProductionDeletionGrace is the limit
	// of a production capability if its deletion deletes them, where it is longer.
	DeletionGrace, ProductionDeletionGrace time.Duration
	// StalledEvery, RetryFirst and RetryMost are the pauses after failures.
	StalledEvery, RetryFirst, RetryMost time.Duration
}

// RenewDeadline limits how long the leader retries to renew its lease before it stops.
func (o *Options) RenewDeadline() time.Duration { return o.LeaseDuration * 2 / 3 }

// RetryPeriod is the time between two renewals of the lease.
func (o *Options) RetryPeriod() time.Duration { return o.LeaseDuration / 6 }

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
	o := Options{InjectsCredentials: areInjected(getenv)}
	fs, maps := newFlags(&o, getenv)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err := o.perKind(*maps.workers, *maps.intervals); err != nil {
		return o, err
	}
	if err := errors.Join(o.rates(*maps.rates), o.quota(*maps.quota), o.shard(*maps.shard)); err != nil {
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
	fs.StringVar(&o.Region, "region", env("AWS_REGION", "ap-southeast-1"),
		"default AWS region of capabilities that do not set spec.region (AWS_REGION)")
	fs.StringVar(&o.EKSCluster, "eks-cluster-name", env("EKS_CLUSTER_NAME", ""),
		"name of the EKS cluster in --region; its OIDC issuer is read from EKS when the API server does not publish one that AWS can reach, and EKS Pod Identity is possible in it alone (EKS_CLUSTER_NAME)")
	fs.StringVar(&o.Namespace, "namespace", env("OPERATOR_NAMESPACE", "nexus-system"),
		"namespace of the operator; default: the namespace of its pod, or nexus-system outside a cluster (OPERATOR_NAMESPACE)")
	fs.StringVar(&o.LogLevel, "log-level", env("LOG_LEVEL", "INFO"),
		"minimum log level: DEBUG, INFO, WARN or ERROR; WARNING and CRITICAL are also accepted (LOG_LEVEL)")
	fs.StringVar(&o.LogFormat, "log-format", env("LOG_FORMAT", "json"), "log format: json, or text for people (LOG_FORMAT)")
	fs.StringVar(&o.TraceEndpoint, "trace-endpoint", env("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
		"base URL of an OTLP receiver (protobuf over HTTP) that traces are sent to, such as http://collector:4318; empty: no traces (OTEL_EXPORTER_OTLP_ENDPOINT)")
	fs.Float64Var(&o.TraceSampleRatio, "trace-sample-ratio", 1, "share of reconciles that are traced, from 0 to 1")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", "", "path to a kubeconfig file; default: KUBECONFIG, or the ServiceAccount of the pod")
	part := fs.String("shard", "",
		"part of the namespaces to serve, as i/n: shard i, from 0, of n shards that are separate processes with a lease each; an i of n or more stands for i modulo n, such as the ordinal of a standby in a StatefulSet; default: all namespaces")
	addRuntimeFlags(fs, o)
	addKindsFlag(fs, o, env)
	addDriftEventFlags(fs, o)
	quota := addGuardFlags(fs, o)
	addIntentFlags(fs, o)
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

func (o *Options) rates(rates map[string]string) error {
	o.AWSRates = map[string]Rate{}
	for k, v := range rates {
		var r Rate
		if n, err := fmt.Sscanf(v, "%f/%d", &r.PerSecond, &r.Burst); err != nil || n != 2 || r.PerSecond <= 0 || r.Burst < 1 {
			return fmt.Errorf("--aws-rates: %s=%s is not of the form per-second/burst, such as 10/40", k, v)
		}
		o.AWSRates[k] = r
	}
	return nil
}

func addRuntimeFlags(fs *pflag.FlagSet, o *Options) {
	fs.BoolVar(&o.LeaderElect, "leader-elect", true, "reconcile only while holding the leader election lease")
	fs.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 12*time.Second,
		"how long a standby waits after the last renewal before it takes over the lease; the leader renews it after each sixth of this time, and stops when two thirds of it have passed without a renewal")
	fs.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8443", "host:port on which /metrics is served; 0 disables it")
	fs.BoolVar(&o.SecureMetrics, "metrics-secure", true,
		"serve metrics over TLS, to clients that the API server authenticates and authorizes; a loopback address is served without TLS")
	fs.StringVar(&o.HealthAddress, "health-probe-bind-address", ":8080",
		"host:port on which /healthz and /readyz are served; an outage of AWS affects neither")
	fs.Float32Var(&o.QPS, "kube-api-qps", 200,
		"maximum requests per second to the API server, for the objects of each kind; twice as many may come at once")
	fs.IntVar(&o.Workers, "workers", 8, "maximum concurrent reconciles of each kind; one namespace has three quarters of them at most")
	fs.BoolVar(&o.PlanRequests, "plan-requests", true,
		"answer PlanRequests (nexusctl plan --server), which plan with the operator's AWS identity for users who have no AWS credentials")
	fs.DurationVar(&o.CheckEvery, "check-interval", 5*time.Minute,
		"how often each AWS resource is checked for drift, plus or minus 10 percent")
	fs.DurationVar(&o.DeletionGrace, "deletion-grace", 0,
		"how long the stores of a deleted capability without spec.deletion.graceful are kept, during which nexusctl undo brings it back; at most 720h")
	fs.DurationVar(&o.ProductionDeletionGrace, "production-deletion-grace", 24*time.Hour,
		"the same for capabilities whose environment is prod or production and whose deletionPolicy is Delete, where it is longer than --deletion-grace; 0s for none, at most 720h")
	fs.DurationVar(&o.StalledEvery, "stalled-interval", time.Minute, "retry interval of stalled objects, which need a change by a person")
	fs.DurationVar(&o.RetryFirst, "retry-first", 500*time.Millisecond, "initial backoff after a transient failure")
	fs.DurationVar(&o.RetryMost, "retry-most", time.Minute, "maximum backoff after transient failures")
}

// addKindsFlag adds --kinds. Its default is that of the environment.
func addKindsFlag(fs *pflag.FlagSet, o *Options, env func(name, otherwise string) string) {
	fs.StringSliceVar((*[]string)(&o.Kinds), "kinds", strings.Split(env("NEXUS_KINDS", AllKinds), ","),
		KindsUsage+"; objects of other kinds are not reconciled, and their definitions and rights may be absent (NEXUS_KINDS)")
}

func addIntentFlags(fs *pflag.FlagSet, o *Options) {
	fs.StringSliceVar(&o.Adapters, "adapters", []string{AllAdapters},
		"policy engines to use: all, or a list of networkpolicy, kubearmor, kyverno, istio, cilium, eksautomode and tlsassessor; objects of other engines are removed")
	fs.StringVar(&o.ClusterDNSService, "cluster-dns-service", "kube-system/kube-dns",
		"namespace/name of the Service of the cluster DNS; security intents always allow traffic to its pods")
	fs.IntSliceVar(&o.ClusterDNSPorts, "cluster-dns-ports", nil,
		"ports on which the pods of the cluster DNS listen; default: the target ports of the Service")
	fs.StringVar(&o.NetworkPolicyEnforcer, "network-policy-enforcer", "",
		"name of what enforces NetworkPolicies in the cluster; default: found by the DaemonSets of the common network plugins and the settings of EKS")
	fs.StringVar(&o.VirtualPatches, "virtual-patches", "",
		"namespace/name of the ConfigMap with the catalog of virtual patches; without it, the intent virtualPatch is not enforced")
	fs.StringVar(&o.TLSAssessorImage, "tls-assessor-image", "",
		"container image that runs TLS assessments for the intent assessTLS; without it, that intent is not enforced")
	fs.StringVar(&o.MeshRootNamespace, "mesh-root-namespace", "istio-system",
		"root namespace of Istio, in which the operator creates no policies")
	fs.StringVar(&o.MeshTrustDomain, "mesh-trust-domain", "cluster.local",
		"trust domain of Istio, used in principals of AuthorizationPolicies")
}

func (o *Options) perKind(workers, intervals map[string]string) error {
	o.WorkersOf, o.CheckEveryOf = map[string]int{}, map[string]time.Duration{}
	for k, v := range workers {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return fmt.Errorf("--kind-workers: %s=%s is not a positive number", k, v)
		}
		o.WorkersOf[k] = n
	}
	for k, v := range intervals {
		d, err := time.ParseDuration(v)
		if err != nil || d < minInterval {
			return fmt.Errorf("--kind-check-interval: %s=%s is not a duration of at least %s", k, v, minInterval)
		}
		o.CheckEveryOf[k] = d
	}
	return nil
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
	o.LogLevel = levelOf(o.LogLevel)
	for i := range o.Adapters {
		o.Adapters[i] = strings.ToLower(o.Adapters[i])
	}
	check(slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR"}, o.LogLevel),
		"--log-level (LOG_LEVEL): %q is not DEBUG, INFO, WARN or ERROR", o.LogLevel)
	check(o.LogFormat == "json" || o.LogFormat == "text", "--log-format (LOG_FORMAT): %q is not json or text", o.LogFormat)
	check(o.TraceSampleRatio >= 0 && o.TraceSampleRatio <= 1, "--trace-sample-ratio: must be from 0 to 1")
	check(o.TraceEndpoint == "" || isHTTP(o.TraceEndpoint),
		"--trace-endpoint (OTEL_EXPORTER_OTLP_ENDPOINT): %q is not a URL such as http://collector:4318", o.TraceEndpoint)
	check(o.Workers > 0, "--workers: must be positive")
	check(o.QPS > 0, "--kube-api-qps: must be positive")
	check(o.CheckEvery >= minInterval, "--check-interval: must be at least %s", minInterval)
	check(o.LeaseDuration >= minInterval, "--leader-elect-lease-duration: must be at least %s", minInterval)
	check(o.RetryFirst > 0 && o.RetryFirst <= o.RetryMost, "--retry-first: must be positive and at most --retry-most")
	check(isGrace(o.ProductionDeletionGrace), "--production-deletion-grace: must be from 0s to %s", maxDeletionGrace)
	check(isGrace(o.DeletionGrace), "--deletion-grace: must be from 0s to %s", maxDeletionGrace)
	check(o.StalledEvery > 0, "--stalled-interval: must be positive")
	check(isImage(o.TLSAssessorImage), "--tls-assessor-image: %q is not the reference of a container image", o.TLSAssessorImage)
	return errors.Join(append(errs, o.validateGuards(), o.validateDriftEvents())...)
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
