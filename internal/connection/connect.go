// SPDX-License-Identifier: Apache-2.0

// Package connection leads from the flags of nexusctl to a cluster, to an AWS account, and to the operator that runs there.
package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

// defaultOperatorNamespace is the namespace of the operator by default, and operatorName is the name of its Deployment or StatefulSet.
const (
	defaultOperatorNamespace = "nexus-system"
	OperatorName             = wellknown.OperatorName
)

// Product is the operator, as this program knows it.
type Product struct {
	// Kinds returns every AWS kind; called by verbs that need them.
	Kinds func() []engine.Entry
	// Engines returns every policy engine; called by verbs that need them.
	Engines func() []intent.Engine
	// CRDs are the CustomResourceDefinitions of the operator.
	CRDs fs.FS
	// Version is that of the binary.
	Version string
}

// Connection leads to a cluster, to an AWS account and to the operator, as the flags of every verb say.
type Connection struct {
	*console.Console
	Product
	Cluster *genericclioptions.ConfigFlags

	Profile, Endpoint, Region, OperatorNamespace string
	// OperatorArgs are the flags of the operator that a verb was given with --operator-arg.
	OperatorArgs []string
	// assumed is true when the operator's settings are known from nowhere, and its defaults stand for them.
	assumed bool
}

// PrintingTo returns the connection of a command within another one, with its output redirected.
func (s *Connection) PrintingTo(out io.Writer) *Connection {
	own := *s
	own.Console = s.Console.PrintingTo(out)
	return &own
}

// WithoutOperatorArgs is a connection that takes the flags of the operator from its Deployment.
func (s *Connection) WithoutOperatorArgs() *Connection {
	own := *s
	own.OperatorArgs = nil
	return &own
}

// Connect returns the configuration and a client of the cluster that the flags lead to.
func (s *Connection) Connect() (*rest.Config, client.Client, error) {
	cfg, err := s.Cluster.ToRESTConfig()
	if err == nil && s.namesNoCluster(cfg) {
		err = errors.New("no kubeconfig names one, and this is no pod of a cluster; for an EKS cluster, nexusctl kubeconfig writes the entry")
	}
	if err != nil {
		return nil, nil, exit.Precondition(fmt.Errorf("finding the cluster (--kubeconfig, --context, KUBECONFIG): %w", err))
	}
	cfg.QPS, cfg.Burst = -1, 0 // the API server's own fairness limits a person's requests
	cfg.UserAgent = "nexusctl"
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme),
		intentv1alpha1.AddToScheme(scheme)); err != nil {
		return nil, nil, err
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, exit.Precondition(fmt.Errorf("reaching the cluster: %w", err))
	}
	return cfg, c, nil
}

// namesNoCluster reports whether the configuration is the one that client-go makes up where nothing names a cluster: a server on this
// machine that is not reachable.
func (s *Connection) namesNoCluster(cfg *rest.Config) bool {
	raw, err := s.Cluster.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && *s.Cluster.APIServer == "" && cfg.Host == "http://localhost:8080"
}

// NamespaceOfOperator returns where the operator is looked for.
func (s *Connection) NamespaceOfOperator() string {
	return cmp.Or(s.OperatorNamespace, s.Getenv("OPERATOR_NAMESPACE"), defaultOperatorNamespace)
}

// EnvOperatorArgs holds the flags, divided by spaces, of an operator that runs outside of the cluster, as in a local world. A Deployment or
// StatefulSet of the operator has precedence.
const EnvOperatorArgs = "NEXUS_OPERATOR_ARGS"

// OperatorOptions are the options that the operator runs with, read from its Deployment or StatefulSet. Where there is
// none, they are the defaults of an operator started in this environment.
func (s *Connection) OperatorOptions(ctx context.Context, c client.Client) (options.Options, error) {
	namespace := s.NamespaceOfOperator()
	workloads, err := inspect.Workloads(ctx, c, namespace)
	if err != nil && !apierrors.IsForbidden(err) {
		return options.Options{}, err
	}
	s.assumed = len(workloads) == 0 && s.Getenv(EnvOperatorArgs) == "" && len(s.OperatorArgs) == 0
	if len(workloads) == 0 && s.Getenv(EnvOperatorArgs) == "" {
		s.Say("The operator's settings cannot be read from a Deployment or StatefulSet %s/%s; the defaults are taken. Use --operator-namespace, or --operator-arg for each flag it runs with.", namespace, OperatorName)
	}
	return s.OptionsOf(workloads, namespace)
}

// OptionsOf are the options that the operator's container is given, with those of the command line.
func (s *Connection) OptionsOf(workloads []inspect.Workload, namespace string) (options.Options, error) {
	args, getenv := strings.Fields(s.Getenv(EnvOperatorArgs)), s.Getenv
	if len(workloads) > 0 && workloads[0].Container() != nil {
		args, getenv = workloads[0].Args(namespace), workloads[0].Getenv(namespace)
	}
	o, err := options.Parse(append(args, s.OperatorArgs...), getenv)
	if err != nil {
		return o, exit.Usage("the operator's flags: %w", err)
	}
	o.Namespace = cmp.Or(o.Namespace, namespace)
	o.AWS.Region = cmp.Or(s.Region, o.AWS.Region)
	return o, nil
}

// Planner prepares to plan with the caller's rights in the cluster and in AWS.
func (s *Connection) Planner(ctx context.Context, skipAWS bool) (*plan.Planner, error) {
	cfg, c, err := s.Connect()
	if err != nil {
		return nil, err
	}
	o, err := s.OperatorOptions(ctx, c)
	if err != nil {
		return nil, err
	}
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return nil, err
	}
	if o.ClusterID == "" {
		ns := &corev1.Namespace{}
		if err := c.Get(ctx, client.ObjectKey{Name: "kube-system"}, ns); err != nil {
			return nil, exit.Precondition(fmt.Errorf("reading namespace kube-system, whose UID identifies the cluster in AWS tags (or name it: --operator-arg=--cluster-id=ID): %w", err))
		}
		o.ClusterID = string(ns.UID)
	}
	sessions := s.Sessions()
	issuer, err := awssession.NewIssuer(cfg, o.AWS.EKSCluster, o.AWS.Region, sessions, s.Clock)
	if err != nil {
		return nil, err
	}
	engines, err := intentfacts.EnabledEngines(s.Engines(), o.Intents.Adapters)
	if err != nil {
		return nil, exit.Usage("the operator's flags: %w", err)
	}
	settings := capabilityfacts.SettingsOf(o, o.ClusterID, append(awsclient.Regions(), o.AWS.AdditionalRegions...))
	if settings.NoDrain, err = lacksDrain(cfg); err != nil {
		return nil, err
	}
	p := &plan.Planner{
		Client: c, Kinds: s.Kinds(), Engines: engines, Clock: s.Clock, Schemas: schemas, FieldManager: "nexusctl", Issuer: issuer.URL,
		Operator: s.operatorOf(o, settings),
	}
	p.Looking = s.LookingAt
	if !s.assumed {
		guards := awssession.Guards{AmbientNamespaces: o.Guards.AmbientNamespaces}
		p.Refusal, p.Reservation = guards.Refusal, guards.Reservation
	}
	if !skipAWS {
		autoMode := awssession.NewAutoMode(o.AWS.EKSCluster, o.AWS.Region, sessions, s.Clock).IsEnabled
		p.Operator.Settings.AutoMode, p.Operator.Intents.AutoMode = autoMode, autoMode
		p.Open = func(ctx context.Context, region, endpoint string) (*awsclient.Session, error) {
			return sessions.Open(ctx, awsclient.Identity{Key: region + " " + endpoint, Region: region, Endpoint: endpoint})
		}
	}
	return p, nil
}

// operatorOf returns the facts about an operator with these options that plans use.
func (s *Connection) operatorOf(o options.Options, settings capabilityfacts.Settings) plan.Operator {
	return plan.Operator{Settings: settings, PreviousClusterIDs: o.PreviousClusterIDs, SharedNamespaces: o.Guards.SharedNamespaces,
		ForeignResources: o.Guards.ForeignResources, PlanGate: o.Guards.PlanGate,
		Types: engine.TypesOf(o.Guards.Types, s.Kinds()), Intents: intentfacts.SettingsOf(o)}
}

// lacksDrain reports whether the cluster does not know the hook that drains pods.
func lacksDrain(cfg *rest.Config) (bool, error) {
	d, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return false, err
	}
	info, err := d.ServerVersion()
	if err != nil {
		return false, fmt.Errorf("reading the version of the API server: %w", err)
	}
	return capabilityfacts.LacksDrain(*info), nil
}

// Sessions opens AWS accounts with the caller's own credentials.
func (s *Connection) Sessions() *awsclient.Sessions {
	return awsclient.NewSessions(awsclient.Options{Now: s.Clock.Now, Ambient: s.Ambient, Person: true})
}

// Ambient loads the caller's own AWS configuration.
func (s *Connection) Ambient(ctx context.Context) (aws.Config, error) {
	var more []func(*awsconfig.LoadOptions) error
	if s.Profile != "" {
		more = append(more, awsconfig.WithSharedConfigProfile(s.Profile))
	}
	if s.Region != "" {
		more = append(more, awsconfig.WithDefaultRegion(s.Region))
	}
	if s.Endpoint != "" {
		more = append(more, awsconfig.WithBaseEndpoint(s.Endpoint))
	}
	return awsclient.LoadAmbient(ctx, more...)
}
