package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// Contents is what the operator is built of: every AWS kind and every policy engine.
type Contents struct {
	Kinds   []engine.Entry
	Engines []intent.Engine
}

// New wires the operator: a manager with every controller, ready to start. The context bounds the few
// requests made here (the cluster's identity), not the manager's life.
func New(ctx context.Context, cfg *rest.Config, o options.Options, contents Contents, log logr.Logger) (manager.Manager, error) {
	engines, err := chosen(o, contents)
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst, cfg.UserAgent = o.QPS, o.Burst, "nexus-operator"
	mgr, err := ctrl.NewManager(cfg, managerOptions(scheme, o, log))
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", cachesSynced(mgr))); err != nil {
		return nil, err
	}
	env, err := newEnvironment(ctx, mgr, cfg, o)
	if err != nil {
		return nil, err
	}
	limits := awsclient.Limits{}
	for k, rate := range o.AWSRates {
		limits[k] = awsclient.Rate{PerSecond: rate.PerSecond, Burst: rate.Burst}
	}
	sessions := awsclient.NewSessions(awsclient.Options{Now: env.Clock.Now, Registerer: metrics.Registry, Limits: limits})
	capabilities := NewCapability(env, o)
	guards := Guards{AmbientNamespaces: o.AmbientNamespaces, AllowedEndpoints: o.AllowedEndpoints, AllowCustomExternalID: o.AllowCustomExternalID}
	providers := NewProviders(env, guards, sessions, contents.Kinds, capabilities)
	workers := func(kind string) int {
		if n, ok := o.WorkersOf[kind]; ok {
			return n
		}
		return o.Workers
	}
	if err := Setup(mgr, providers, capabilities, workers); err != nil {
		return nil, err
	}
	if err := capabilities.Setup(mgr, contents.Kinds, workers("NexusAICapability")); err != nil {
		return nil, err
	}
	known, err := newEngineKinds(mgr, cfg, engines)
	if err != nil {
		return nil, err
	}
	return mgr, NewBindings(env, o, engines, known).Setup(mgr, workers("SecurityIntentBinding"))
}

// knownKinds refuses settings of kinds that there are not: they would silently do nothing.
func knownKinds(o options.Options, entries []engine.Entry) error {
	var aws []string
	for _, e := range entries {
		aws = append(aws, e.Name())
	}
	all := append([]string{"AWSProvider", "NexusAICapability", "SecurityIntentBinding"}, aws...)
	for _, k := range slices.Sorted(maps.Keys(o.WorkersOf)) {
		if !slices.Contains(all, k) {
			return fmt.Errorf("--kind-workers: %q is not one of %s", k, strings.Join(all, ", "))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(o.CheckEveryOf)) {
		if !slices.Contains(aws, k) {
			return fmt.Errorf("--kind-check-interval: %q is not one of %s", k, strings.Join(aws, ", "))
		}
	}
	return nil
}

// chosen checks the settings that name kinds and engines against those there are, and marks the engines.
func chosen(o options.Options, contents Contents) ([]Engine, error) {
	if err := knownKinds(o, contents.Kinds); err != nil {
		return nil, err
	}
	return adapters(contents.Engines, o.Adapters)
}

// adapters marks the engines that --adapters names.
func adapters(engines []intent.Engine, names []string) ([]Engine, error) {
	out := make([]Engine, len(engines))
	known := []string{options.AllAdapters}
	for i, e := range engines {
		name := strings.ToLower(e.Name())
		known = append(known, name)
		out[i] = Engine{Engine: e, Enabled: slices.Contains(names, name) || slices.Contains(names, options.AllAdapters)}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("--adapters: %q is not one of %s", n, strings.Join(known, ", "))
		}
	}
	return out, nil
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s), nexusv1.AddToScheme(s), intentv1alpha1.AddToScheme(s), apiextensionsv1.AddToScheme(s))
}

// LabelManagedBy and its value select, among objects that anybody may have made, those we made.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "nexus-operator"
)

func managerOptions(scheme *runtime.Scheme, o options.Options, log logr.Logger) manager.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{LabelManagedBy: ManagedBy})}
	m := manager.Options{
		Scheme: scheme, Logger: log,
		LeaderElection: o.LeaderElect, LeaderElectionID: "nexus-operator.nexus.ai", LeaderElectionNamespace: o.Namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.LeaseDuration, RenewDeadline: &o.RenewDeadline, RetryPeriod: &o.RetryPeriod,
		HealthProbeBindAddress: o.HealthAddress,
		Metrics:                metricsserver.Options{BindAddress: o.MetricsAddress},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}: ours, &corev1.Service{}: ours, &corev1.ConfigMap{}: ours, &corev1.ServiceAccount{}: ours,
			&corev1.Pod{}: ours, &networkingv1.Ingress{}: ours, &policyv1.PodDisruptionBudget{}: ours,
			&apiextensionsv1.CustomResourceDefinition{}: {Transform: withoutSchemas},
		}},
		// Secrets are read live, and only where an administrator bound the right to.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		// The process ends right after: nothing else may use the name.
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
	if o.SecureMetrics && !loopback(o.MetricsAddress) {
		m.Metrics.SecureServing = true
		m.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return m
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// cachesSynced is readiness: the API server was reached and its objects are known. AWS being down never
// makes the operator unready.
func cachesSynced(mgr manager.Manager) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("caches are not in sync")
		}
		return nil
	}
}

func newEnvironment(ctx context.Context, mgr manager.Manager, cfg *rest.Config, o options.Options) (Environment, error) {
	id := o.ClusterID
	if id == "" {
		ns := &corev1.Namespace{}
		if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: "kube-system"}, ns); err != nil {
			return Environment{}, fmt.Errorf("reading namespace kube-system, whose UID names the cluster (or set --cluster-id): %w", err)
		}
		id = string(ns.UID)
	}
	issuer, err := newIssuer(cfg)
	if err != nil {
		return Environment{}, err
	}
	return Environment{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("nexus-operator"), Clock: clock.RealClock{},
		ClusterID: id, PreviousClusterIDs: o.PreviousClusterIDs, TrustAttempts: o.TrustUntaggedCreates, Issuer: issuer.get,
		Pace: Pace{CheckEvery: o.CheckEvery, CheckEveryOf: o.CheckEveryOf, StalledEvery: o.StalledEvery, RetryFirst: o.RetryFirst, RetryMost: o.RetryMost},
	}, nil
}
