// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/awsprovider"
	"github.com/nexus-operator/nexus-operator/internal/controller/awsresource"
	capabilitycontroller "github.com/nexus-operator/nexus-operator/internal/controller/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/driftevents"
	"github.com/nexus-operator/nexus-operator/internal/controller/intentbinding"
	"github.com/nexus-operator/nexus-operator/internal/controller/planrequest"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/controller/securityintent"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// Contents lists the parts of the operator: every AWS kind and every policy engine.
type Contents struct {
	Kinds   []engine.Entry
	Engines []intent.Engine
}

// New wires the operator: a manager with every controller, ready to start. The context bounds the few
// requests made here (the cluster's identity), not the manager's life.
func New(ctx context.Context, cfg *rest.Config, o options.Options, contents Contents, log logr.Logger) (manager.Manager, error) {
	engines, err := chooseEngines(o, contents)
	if err != nil {
		return nil, err
	}
	types := engine.TypesOf(o.Guards.Types, contents.Kinds)
	contents.Kinds = servedKinds(o.Kinds, contents.Kinds, log)
	if !slices.Contains(regionsOf(o), o.AWS.Region) {
		return nil, fmt.Errorf("--region (AWS_REGION): %q is no AWS region that this version knows: correct it, or add a new region to --additional-regions",
			o.AWS.Region)
	}
	failures, large := reconciler.NewFailures(clock.RealClock{}), reconciler.NewLargeObjects()
	mgr, err := newManager(cfg, o, contents.Kinds, large, failures.Logger(log))
	if err != nil {
		return nil, err
	}
	recorder, err := setupMetrics(mgr, o, contents.Kinds, engines)
	if err := errors.Join(err, mgr.Add(&memoryReturner{}), mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", cachesSynced(mgr))); err != nil {
		return nil, err
	}
	env, err := newEnvironment(ctx, mgr, o)
	if err != nil {
		return nil, err
	}
	env.Metrics, env.Failures, env.Large, env.Types = recorder, failures, large, types
	sessions := awsclient.NewSessions(awsclient.Options{Now: env.Clock.Now, Region: o.AWS.Region, Registerer: ctrlmetrics.Registry,
		Limits: limitsOf(o.AWS.Rates), Shares: o.Shard.Shards()})
	issuer, err := awssession.NewIssuer(mgr.GetConfig(), o.AWS.EKSCluster, o.AWS.Region, sessions, env.Clock)
	if err != nil {
		return nil, err
	}
	env.Issuer, env.EKSCluster = issuer.URL, o.AWS.EKSCluster
	env.AutoMode = awssession.NewAutoMode(o.AWS.EKSCluster, o.AWS.Region, sessions, env.Clock).IsEnabled
	capabilities := capabilitycontroller.New(env, o, regionsOf(o))
	env.Gate.Covers = capabilities.Covers
	guards := awssession.Guards{AmbientNamespaces: o.Guards.AmbientNamespaces, CapabilityNamespaces: o.Guards.CapabilityNamespaces,
		DefaultBoundary:  o.Guards.DefaultPermissionsBoundary,
		AllowedEndpoints: o.Guards.AllowedEndpoints, AllowCustomExternalID: o.Guards.AllowCustomExternalID,
		Regions: capabilities.Facts.Regions}
	providers := &awssession.Directory{Client: env.Client, Live: env.Live, ClusterID: env.ClusterID, OperatorNamespace: o.Namespace,
		Guards: guards, Sessions: sessions, Provenance: capabilities}
	workers := workersOf(o.Pacing)
	events := &driftevents.Directory{Sessions: sessions, Providers: providers, Flow: driftevents.NewFlow(env.Clock), Queue: o.DriftQueue(),
		Region: o.AWS.Region}
	env.Covered, env.IndexResources = events.Flow.Covers, events.Queue != ""
	events.Env = env
	if err := setupAWS(mgr, env, awsSetup{providers, events, contents.Kinds, workers}); err != nil {
		return nil, err
	}
	if err := capabilities.SetupWithManager(mgr, contents.Kinds, workers("NexusAICapability")); err != nil {
		return nil, err
	}
	if o.PlanRequests {
		intents := intentfacts.SettingsOf(o)
		intents.AutoMode = env.AutoMode
		planning := planrequest.Contents{Settings: capabilities.Facts.Settings, Intents: intents, Kinds: contents.Kinds, Engines: engines,
			Providers: providers}
		if err := planrequest.New(env, planning).SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	return mgr, setupIntents(ctx, mgr, env, o, engines)
}

// setupIntents adds the controllers of security intents to the manager of the first shard. They are not divided: bindings of the
// cluster and of a namespace share the policies of its pods, and no two processes may change them at a time.
func setupIntents(ctx context.Context, mgr manager.Manager, env reconciler.Environment, o options.Options,
	engines []intentbinding.Engine) error {
	if !o.Shard.IsFirst() {
		return nil
	}
	env.Shard = shard.Shard{}
	known, err := intentbinding.NewEngineKinds(mgr, engines, env.Clock)
	if err != nil {
		return err
	}
	if err := (&securityintent.Reconciler{Environment: env}).SetupWithManager(mgr); err != nil {
		return err
	}
	return intentbinding.New(env, o, engines, known).SetupWithManager(ctx, mgr, workersOf(o.Pacing)("SecurityIntentBinding"))
}

// newManager returns a manager without controllers. Its configuration is cfg with the options' rate, and with a
// transport that waits out short outages of the API server.
func newManager(cfg *rest.Config, o options.Options, kinds []engine.Entry, large *reconciler.LargeObjects,
	log logr.Logger) (manager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst, cfg.UserAgent = o.QPS, o.Burst(), "nexus-operator"
	lock, err := newLeaseLock(cfg, o, clock.RealClock{}) // its requests wait out nothing: a lease is lost in time
	if err != nil {
		return nil, err
	}
	options := managerOptions(scheme, o, log)
	options.LeaderElectionResourceLockInterface = lock
	maps.Copy(options.Cache.ByObject, cachesOf(o.Shard, kinds, large))
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return outageTransport{next} })
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	lock.events = mgr.GetEventRecorder("nexus-operator")
	return mgr, nil
}

// cachesOf configures the cache for shards and large objects. Of AWS resources that another shard serves, the cache keeps only the names:
// nothing refers to them from another namespace. Of the large resources and capabilities of a namespace, it keeps no more than the
// namespace may have.
func cachesOf(s shard.Shard, kinds []engine.Entry, large *reconciler.LargeObjects) map[client.Object]cache.ByObject {
	out := map[client.Object]cache.ByObject{&nexusv1.NexusAICapability{}: {Transform: large.Transform(capabilitycontroller.Kind)}}
	for _, e := range kinds {
		out[e.New()] = cache.ByObject{Transform: func(o any) (any, error) {
			obj, ok := o.(v1alpha1.Resource)
			if !ok {
				return o, nil
			}
			if s.Owns(obj.GetNamespace()) {
				return large.Transform(e.Name())(obj)
			}
			name := e.New()
			name.SetNamespace(obj.GetNamespace())
			name.SetName(obj.GetName())
			name.SetUID(obj.GetUID())
			name.SetResourceVersion(obj.GetResourceVersion())
			return name, nil
		}}
	}
	return out
}

// awsSetup holds the additional inputs for the controllers of AWS kinds, apart from the environment.
type awsSetup struct {
	providers *awssession.Directory
	events    *driftevents.Directory
	kinds     []engine.Entry
	workers   func(kind string) int
}

// setupAWS adds the controllers of every AWS kind, and of AWSProvider, to the manager.
func setupAWS(mgr manager.Manager, env reconciler.Environment, s awsSetup) error {
	secrets := reconciler.NewSecretWatch(env, mgr.GetConfig())
	if err := mgr.Add(secrets); err != nil {
		return err
	}
	byName := map[string]engine.Entry{}
	for _, e := range s.kinds {
		byName[e.Name()] = e
	}
	for _, e := range s.kinds {
		r := awsresource.New(env, e, byName, s.providers)
		s.events.Watchers = append(s.events.Watchers, r.Watcher())
		if err := r.SetupWithManager(mgr, secrets, s.workers(e.Name())); err != nil {
			return fmt.Errorf("setting up %s: %w", e.Name(), err)
		}
	}
	dependents := awsprovider.FindDependents(env.Client, s.kinds,
		func(e engine.Entry) client.ObjectList { return reconciler.NewList(env.Client, e) })
	r := awsprovider.New(env, s.providers, dependents, secrets.Ensure)
	r.Drift, s.events.ShowChange = s.events, r.ShowDriftEvents
	if err := r.SetupWithManager(mgr, s.kinds, secrets, s.workers("AWSProvider")); err != nil {
		return err
	}
	return mgr.Add(s.events)
}

func limitsOf(rates map[string]options.Rate) awsclient.Limits {
	limits := awsclient.Limits{}
	for k, rate := range rates {
		limits[k] = awsclient.Rate{PerSecond: rate.PerSecond, Burst: rate.Burst}
	}
	return limits
}

// workersOf returns how many objects of a kind are reconciled at a time.
func workersOf(p options.Pacing) func(kind string) int {
	return func(kind string) int {
		if n, ok := p.WorkersOf[kind]; ok {
			return n
		}
		return p.Workers
	}
}

// servedKinds returns the kinds that --kinds selects, and logs which it leaves out.
func servedKinds(selected options.Kinds, all []engine.Entry, log logr.Logger) []engine.Entry {
	var served []engine.Entry
	var leftOut []string
	for _, e := range all {
		if selected.Serves(e.Name()) {
			served = append(served, e)
		} else {
			leftOut = append(leftOut, e.Name())
		}
	}
	if len(leftOut) > 0 {
		log.Info("Objects of some AWS kinds are not reconciled, because --kinds leaves the kinds out", "kinds", leftOut)
	}
	return served
}

// knownKinds refuses settings of kinds that there are not: they would silently do nothing.
func knownKinds(o options.Options, entries []engine.Entry) error {
	var aws []string
	for _, e := range entries {
		aws = append(aws, e.Name())
	}
	all := append([]string{"AWSProvider", "NexusAICapability", "SecurityIntentBinding"}, aws...)
	for _, k := range slices.Sorted(maps.Keys(o.Pacing.WorkersOf)) {
		if !slices.Contains(all, k) {
			return fmt.Errorf("--kind-workers: %q is not one of %s", k, strings.Join(all, ", "))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(o.Pacing.CheckEveryOf)) {
		if !slices.Contains(aws, k) {
			return fmt.Errorf("--kind-check-interval: %q is not one of %s", k, strings.Join(aws, ", "))
		}
	}
	return o.Kinds.Check(aws)
}

// chooseEngines checks the settings that name kinds and engines against those there are, and marks the engines.
func chooseEngines(o options.Options, contents Contents) ([]intentbinding.Engine, error) {
	if err := knownKinds(o, contents.Kinds); err != nil {
		return nil, err
	}
	return intentfacts.EnabledEngines(contents.Engines, o.Intents.Adapters)
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s), nexusv1.AddToScheme(s), intentv1alpha1.AddToScheme(s),
		apiextensionsv1.AddToScheme(s))
}

// regionsOf are the AWS regions that may be named.
func regionsOf(o options.Options) []string {
	return append(awsclient.Regions(), o.AWS.AdditionalRegions...)
}

func managerOptions(scheme *runtime.Scheme, o options.Options, log logr.Logger) manager.Options {
	short := func(o any) (any, error) {
		_, _ = apply.WithoutUnusedFields(o) // it returns no error
		return apply.WithoutLongContents(o)
	}
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{wellknown.LabelManagedBy: apply.FieldOwner}), Transform: short}
	small := ours
	small.Transform = apply.WithoutBulk
	m := manager.Options{
		Scheme: scheme, Logger: log,
		LeaderElection: o.Leader.Elect, LeaderElectionID: o.Shard.Lease(), LeaderElectionReleaseOnCancel: true,
		LeaseDuration: &o.Leader.LeaseDuration, RenewDeadline: new(o.Leader.RenewDeadline()),
		RetryPeriod:            new(min(takeoverPoll, o.Leader.RetryPeriod())),
		HealthProbeBindAddress: o.Serving.HealthAddress,
		Metrics:                metricsserver.Options{BindAddress: o.Serving.MetricsAddress},
		Cache: cache.Options{NewInformer: newInformers(), DefaultTransform: apply.WithoutLongMetadata, ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}: ours, &batchv1.Job{}: ours, &batchv1.CronJob{}: ours, &corev1.Service{}: ours, &corev1.ConfigMap{}: small,
			&corev1.ServiceAccount{}: ours,
			&corev1.ResourceQuota{}:  ours, &corev1.Pod{}: ours, &networkingv1.Ingress{}: ours, &policyv1.PodDisruptionBudget{}: ours,
			&autoscalingv2.HorizontalPodAutoscaler{}:    ours,
			&apiextensionsv1.CustomResourceDefinition{}: {Transform: intentbinding.WithoutSchemas},
			&networkingv1.NetworkPolicy{}:               {Transform: intentbinding.WithoutForeignRules},
			&intentv1alpha1.SecurityIntentBinding{}:     {Transform: intentbinding.WithoutLongLabels},
		}},
		// Secrets are read live, and only where an administrator bound the right to.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		// The process ends right after: no other controller may use the name. A standby keeps its caches and queues filled, so that it
		// works as soon as it leads.
		Controller: config.Controller{SkipNameValidation: new(true), EnableWarmup: new(true)},
	}
	if o.Serving.SecureMetrics && !awssession.IsLoopback(o.Serving.MetricsAddress) {
		m.Metrics.SecureServing = true
		m.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return m
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

func newEnvironment(ctx context.Context, mgr manager.Manager, o options.Options) (reconciler.Environment, error) {
	id := o.ClusterID
	if id == "" {
		ns := &corev1.Namespace{}
		if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: "kube-system"}, ns); err != nil {
			return reconciler.Environment{}, fmt.Errorf("reading namespace kube-system, whose UID names the cluster (or set --cluster-id): %w", err)
		}
		id = string(ns.UID)
	}
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		return reconciler.Environment{}, err
	}
	served, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return reconciler.Environment{}, err
	}
	server, err := served.ServerVersion()
	if err != nil {
		return reconciler.Environment{}, fmt.Errorf("reading the version of the API server: %w", err)
	}
	return reconciler.Environment{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Discovery: served, Version: *server,
		Events: reconciler.Events{Recorder: mgr.GetEventRecorder("nexus-operator")}, Clock: clock.RealClock{},
		Signing:   &reconciler.SigningKeys{Client: mgr.GetClient(), Namespace: o.Namespace, Clock: clock.RealClock{}},
		Gate:      reconciler.PlanGate{Namespaces: o.Guards.PlanGate, Client: mgr.GetClient()},
		ClusterID: id, PreviousClusterIDs: o.PreviousClusterIDs, SharedNamespaces: o.Guards.SharedNamespaces,
		ForeignResources: o.Guards.ForeignResources,
		Shard:            o.Shard, Schemas: schemas,
		DeletionGrace: capability.DefaultGrace{All: o.Grace.Deletion, Production: o.Grace.Production},
		Intervals: reconciler.Intervals{Check: o.Pacing.CheckEvery, CheckOf: o.Pacing.CheckEveryOf, WithEvents: o.Pacing.CheckEveryWithEvents,
			Stalled: o.Pacing.StalledEvery, RetryFirst: o.Pacing.RetryFirst, RetryMost: o.Pacing.RetryMost},
	}, nil
}
