// Package options is every flag and environment variable of the operator, parsed and checked once.
package options

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Options are the operator's settings. The SDK reads its own environment (AWS_ENDPOINT_URL,
// AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, …) beside these.
type Options struct {
	// Region is where a capability without spec.region lives.
	Region string
	// EKSCluster is the name of the EKS cluster; empty when unknown.
	EKSCluster string
	// Namespace is the operator's own.
	Namespace string
	// LogLevel is DEBUG, INFO, WARN or ERROR.
	LogLevel string
	// Kubeconfig is a path; empty means in-cluster, or KUBECONFIG.
	Kubeconfig string
	// LeaderElect lets several replicas stand by; only the leader works.
	LeaderElect bool
	// LeaseDuration, RenewDeadline and RetryPeriod are those of leader election.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// MetricsAddress and HealthAddress are host:port; 0 switches metrics off.
	MetricsAddress, HealthAddress string
	// SecureMetrics serves metrics by TLS with authentication and authorization.
	SecureMetrics bool
	// AmbientNamespaces are patterns of namespaces whose providers may use the operator's own identity.
	AmbientNamespaces []string
	// AllowedEndpoints are patterns of endpoints that a provider may name.
	AllowedEndpoints []string
	// AllowedIngressGroups are patterns of ALB groups that a capability may join.
	AllowedIngressGroups []string
	// TrustUntaggedCreates takes an untagged resource for ours after a recorded attempt to create it.
	TrustUntaggedCreates bool
	// AllowCustomExternalID lets providers choose their ExternalID.
	AllowCustomExternalID bool
	// ClusterID marks resources in AWS; empty is the UID of namespace kube-system.
	ClusterID string
	// PreviousClusterIDs are clusters whose resources may be inherited.
	PreviousClusterIDs []string
	// QPS and Burst limit requests to the API server.
	QPS   float32
	Burst int
	// Adapters are the policy engines that security intents are translated for, in lower case; AllAdapters
	// stands for every one, none leaves the core alone.
	Adapters []string
	// MeshRootNamespace and MeshTrustDomain are Istio's.
	MeshRootNamespace, MeshTrustDomain string
	// Workers is how many objects of a kind are reconciled at a time; WorkersOf overrides it by kind.
	Workers   int
	WorkersOf map[string]int
	// CheckEvery is the interval of drift checks; CheckEveryOf overrides it by kind.
	CheckEvery   time.Duration
	CheckEveryOf map[string]time.Duration
	// AWSRates overrides the rates of AWS calls, by service ("iam") or operation ("ssm.PutParameter").
	AWSRates map[string]Rate
	// StalledEvery, RetryFirst and RetryMost are the pauses after failures.
	StalledEvery, RetryFirst, RetryMost time.Duration
}

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
	o := Options{}
	fs := pflag.NewFlagSet("nexus-operator", pflag.ContinueOnError)
	env := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return otherwise
	}
	fs.StringVar(&o.Region, "region", env("AWS_REGION", "ap-southeast-1"), "region of capabilities that name none (AWS_REGION)")
	fs.StringVar(&o.EKSCluster, "eks-cluster-name", env("EKS_CLUSTER_NAME", ""), "name of the EKS cluster (EKS_CLUSTER_NAME)")
	fs.StringVar(&o.Namespace, "namespace", env("OPERATOR_NAMESPACE", "nexus-system"), "the operator's own namespace (OPERATOR_NAMESPACE)")
	fs.StringVar(&o.LogLevel, "log-level", env("LOG_LEVEL", "INFO"), "DEBUG, INFO, WARN or ERROR (LOG_LEVEL)")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", "", "path of a kubeconfig file; default in-cluster or KUBECONFIG")
	addRuntimeFlags(fs, &o)
	addGuardFlags(fs, &o)
	addIntentFlags(fs, &o)
	kinds := fs.StringToString("kind-workers", nil, "workers of single kinds, such as S3Bucket=8")
	intervals := fs.StringToString("kind-check-interval", nil, "check intervals of single kinds, such as S3Bucket=10m")
	rates := fs.StringToString("aws-rates", nil, "AWS calls per second and burst by service or operation, such as ssm.PutParameter=10/40")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err := o.perKind(*kinds, *intervals); err != nil {
		return o, err
	}
	if err := o.rates(*rates); err != nil {
		return o, err
	}
	return o, o.validate()
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
	fs.BoolVar(&o.LeaderElect, "leader-elect", true, "work only while holding the lease")
	fs.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long a dead leader's lease is honoured")
	fs.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew before it gives up")
	fs.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "how often the lease is tried")
	fs.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8443", "host:port of /metrics; 0 switches it off")
	fs.BoolVar(&o.SecureMetrics, "metrics-secure", true, "serve metrics by TLS to authorized clients only; a loopback address is always plain")
	fs.StringVar(&o.HealthAddress, "health-probe-bind-address", ":8080", "host:port of /healthz and /readyz")
	fs.Float32Var(&o.QPS, "kube-api-qps", 200, "requests per second to the API server")
	fs.IntVar(&o.Burst, "kube-api-burst", 400, "requests to the API server in a burst")
	fs.IntVar(&o.Workers, "workers", 8, "objects of one kind that are reconciled at a time")
	fs.DurationVar(&o.CheckEvery, "check-interval", 5*time.Minute, "how often AWS is compared with what is declared")
	fs.DurationVar(&o.StalledEvery, "stalled-interval", time.Minute, "how often an object that only a person can help is tried again")
	fs.DurationVar(&o.RetryFirst, "retry-first", 500*time.Millisecond, "first pause after a passing failure")
	fs.DurationVar(&o.RetryMost, "retry-most", time.Minute, "longest pause after passing failures")
}

func addGuardFlags(fs *pflag.FlagSet, o *Options) {
	fs.StringSliceVar(&o.AmbientNamespaces, "ambient-namespaces", nil, "namespaces (patterns) whose AWSProviders may use the operator's own identity")
	fs.StringSliceVar(&o.AllowedEndpoints, "allowed-endpoints", nil, "endpoints (patterns) that an AWSProvider may name")
	fs.StringSliceVar(&o.AllowedIngressGroups, "allowed-ingress-groups", nil, "ALB groups (patterns) that a capability may join")
	fs.BoolVar(&o.TrustUntaggedCreates, "trust-untagged-creates", false, "for AWS-compatible endpoints whose creates drop tags: take an untagged resource for ours after a recorded attempt; never where tenants create objects")
	fs.BoolVar(&o.AllowCustomExternalID, "allow-custom-external-id", false, "let AWSProviders choose their ExternalID")
	fs.StringVar(&o.ClusterID, "cluster-id", "", "marks our resources in AWS; default the UID of namespace kube-system")
	fs.StringSliceVar(&o.PreviousClusterIDs, "previous-cluster-ids", nil, "clusters whose AWS resources this one inherits")
}

func addIntentFlags(fs *pflag.FlagSet, o *Options) {
	fs.StringSliceVar(&o.Adapters, "adapters", []string{AllAdapters}, "policy engines that security intents are translated for; what one left out has made is removed")
	fs.StringVar(&o.MeshRootNamespace, "mesh-root-namespace", "istio-system", "Istio's root namespace, in which no policy is made")
	fs.StringVar(&o.MeshTrustDomain, "mesh-trust-domain", "cluster.local", "Istio's trust domain")
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

func (o *Options) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	o.LogLevel = strings.ToUpper(o.LogLevel)
	for i := range o.Adapters {
		o.Adapters[i] = strings.ToLower(o.Adapters[i])
	}
	check(slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR"}, o.LogLevel), "--log-level (LOG_LEVEL): %q is not DEBUG, INFO, WARN or ERROR", o.LogLevel)
	check(o.Workers > 0, "--workers: must be positive")
	check(o.QPS > 0 && o.Burst > 0, "--kube-api-qps and --kube-api-burst: must be positive")
	check(o.CheckEvery >= minInterval, "--check-interval: must be at least %s", minInterval)
	check(o.RetryFirst > 0 && o.RetryFirst <= o.RetryMost, "--retry-first: must be positive and at most --retry-most")
	check(o.StalledEvery > 0, "--stalled-interval: must be positive")
	for _, p := range append(append([]string{}, o.AmbientNamespaces...), o.AllowedIngressGroups...) {
		_, err := path.Match(p, "")
		check(err == nil, "pattern %q is malformed", p)
	}
	for _, e := range o.AllowedEndpoints {
		check(isEndpointPattern(e), "--allowed-endpoints: %q is not of the form https://host or https://host:port, with * and ? as wildcards", e)
	}
	return errors.Join(errs...)
}

func isEndpointPattern(e string) bool {
	scheme, host, _ := strings.Cut(e, "://")
	_, err := path.Match(host, "")
	return (scheme == "https" || scheme == "http") && host != "" && err == nil && !strings.ContainsAny(host, "/@")
}
