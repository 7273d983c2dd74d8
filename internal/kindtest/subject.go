// SPDX-License-Identifier: Apache-2.0

// Package kindtest is the contract of kind.Kind as a suite that every kind runs, against an emulated
// AWS and through the real engine: no kind brings its own fakes.
package kindtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// The home of every test.
const (
	Account   = "123456789012"
	Region    = "ap-southeast-1"
	Partition = "aws"
	Cluster   = "cluster-under-test"
	Namespace = "team-a"
	Issuer    = world.DefaultIssuer
	// EKSCluster is the name of the operator's cluster.
	EKSCluster = "production"
)

// Rig is an AWS to test against.
type Rig struct {
	AWS *emulator.Proxy
	// Config is the way of tests to AWS, and of the engine unless its rights are limited, through the recording proxy.
	Config aws.Config
	// Region and Partition are where the objects live.
	Region, Partition string
}

// NewRig returns an empty AWS. The package's TestMain must be world.Main with NoKubernetes.
func NewRig(t testing.TB) *Rig {
	t.Helper()
	return newRigIn(t, Partition, Region)
}

func newRigIn(t testing.TB, partition, region string) *Rig {
	t.Helper()
	p := world.Shared(t).AWS()
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	r := &Rig{AWS: p, Region: region, Partition: partition, Config: aws.Config{
		Region: region, BaseEndpoint: aws.String(p.URL()), AppID: "nexus-operator", HTTPClient: awsclient.NewHTTPClient(),
		Credentials: credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}}
	if partition != Partition {
		r.Config.HTTPClient = mover{r}
	}
	return r
}

// ofEngine returns the engine's unchanged configuration for AWS.
func (r *Rig) ofEngine() aws.Config {
	config := r.Config.Copy()
	config.HTTPClient = awsclient.NewHTTPClient()
	return config
}

// Signer signs with the key of the operator of the tests.
var Signer = kind.SignerWith(func() ([][]byte, error) { return [][]byte{[]byte("the key of the operator of the tests")}, nil })

// Subject is one object under test: the content of the object in the API server, and a clock.
type Subject struct {
	Entry engine.Entry
	Rig   *Rig
	// Object is the object as stored.
	Object v1alpha1.Resource
	// Intent holds the intent that was persisted with the finalizer.
	Intent *engine.Intent
	// Targets answer references by Kind/name; Secrets answer by name/key.
	Targets map[string]kind.Target
	Secrets map[string]string
	// Deleting, AllowAdoption, Trusted, Boundary, RolePath and DefaultTags are facts beside the object.
	Deleting, AllowAdoption, Trusted bool
	// Guarded says that data must outlive the object.
	Guarded            bool
	Boundary, RolePath string
	DefaultTags        map[string]string
	// Types are the AWS resource types that objects may manage, and those of kinds; nil as in a plan without the settings of the operator.
	Types *engine.AllowedTypes
	// Callers are the ARNs of the identities as which AWS is called.
	Callers []string
	// Clock is moved on by waiting.
	Clock time.Time
	// Actions are the steps AWS accepted.
	Actions []string
	// Commits counts the writes of the intent.
	Commits int

	// comparesAnswers asks for a comparison of the export with every member of AWS's answers, which takes a second.
	comparesAnswers bool

	// forms records the forms of AWS's answers that the suite has used; nil outside of it.
	forms *forms

	working v1alpha1.Resource
	refs    map[string]kind.Target
	bound   engine.Binding
	config  aws.Config
	memory  *engine.Memory
}

// NewSubject stores an object: it gets a namespace, a UID and generation 1 where it has none.
func NewSubject(r *Rig, e engine.Entry, obj v1alpha1.Resource) *Subject {
	o := obj.DeepCopyObject().(v1alpha1.Resource)
	if o.GetNamespace() == "" {
		o.SetNamespace(Namespace)
	}
	if o.GetName() == "" {
		o.SetName("sample")
	}
	if o.GetUID() == "" {
		o.SetUID(types.UID("uid-of-" + o.GetName()))
	}
	if ref := &o.CommonSpec().ProviderRef; ref.Name == "" {
		ref.Name = "provider"
	}
	o.SetGeneration(max(1, o.GetGeneration()))
	// a provider that lets every role be used
	return &Subject{Entry: e, Rig: r, Object: o, Clock: time.Now(), RolePath: "/", config: r.ofEngine()}
}

// Edit replaces the spec by another object's, as a user would: the generation rises.
func (s *Subject) Edit(to v1alpha1.Resource) {
	o := to.DeepCopyObject().(v1alpha1.Resource)
	o.SetNamespace(s.Object.GetNamespace())
	o.SetName(s.Object.GetName())
	o.SetUID(s.Object.GetUID())
	o.SetGeneration(s.Object.GetGeneration() + 1)
	if ref := &o.CommonSpec().ProviderRef; ref.Name == "" {
		ref.Name = s.Object.CommonSpec().ProviderRef.Name
	}
	const field = "Status"
	reflect.ValueOf(o).Elem().FieldByName(field).Set(reflect.ValueOf(s.Object).Elem().FieldByName(field))
	s.Object = o
}

// Facts returns the facts that the controller would gather for the object.
func (s *Subject) Facts() engine.Facts {
	provider := v1alpha1.AWSProviderSpec{AllowAdoption: s.AllowAdoption, PermissionsBoundaryARN: s.Boundary, RolePathPrefix: s.RolePath,
		DefaultTags: map[string]v1alpha1.TagValue{}}
	for k, v := range s.DefaultTags {
		provider.DefaultTags[k] = v1alpha1.TagValue(v)
	}
	return engine.Facts{
		Cluster: Cluster, Types: s.Types, Data: kind.DataGuard{Guarded: s.Guarded}, Trusted: s.Trusted, Provider: provider,
		Place:      kind.Place{Partition: s.Rig.Partition, Account: Account, Region: s.Rig.Region},
		Federation: kind.Federation{Issuer: Issuer, EKSCluster: EKSCluster, OIDCProvider: s.oidcProvider},
		Lookups:    kind.Lookups{Ref: s.ref, Secret: s.secret, Callers: func() ([]string, error) { return s.Callers, nil }}, Signer: Signer,
	}
}

// Owner is the engine's view of the object.
func (s *Subject) Owner() engine.Owner {
	return engine.OwnerOf(s.Entry, s.stored(), s.Intent, s.Facts())
}

// stored is the object with the metadata that the API server would hold.
func (s *Subject) stored() v1alpha1.Resource {
	o := s.Object.DeepCopyObject().(v1alpha1.Resource)
	if s.Intent != nil {
		o.SetFinalizers([]string{v1alpha1.FinalizerOf(s.Entry.Name())})
	}
	if s.Deleting {
		now := metav1.NewTime(s.Clock)
		o.SetDeletionTimestamp(&now)
	}
	return o
}

// Scope returns the scope that Desired gets.
func (s *Subject) Scope() kind.Scope {
	s.refs = map[string]kind.Target{}
	o := s.stored()
	sc, err := engine.ScopeOf(o, s.Owner(), s.Facts())
	if err != nil {
		panic(err) // a row declares more tags than the API server admits
	}
	return sc
}

// oidcProvider asks the emulated IAM at each call.
func (s *Subject) oidcProvider(issuer string) (kind.OIDCProvider, error) {
	found, err := awsclient.ReadOIDCProvider(context.Background(), iam.NewFromConfig(s.config).GetOpenIDConnectProvider, s.Rig.Partition,
		Account, issuer)
	return found, awsclient.Explain(err, "")
}

func (s *Subject) ref(kindName, name string) (kind.Target, error) {
	t, ok := s.Targets[kindName+"/"+name]
	if s.Deleting && s.Intent != nil { // the targets may be gone: the recorded ones are used
		t, ok = s.Intent.Refs[kindName+"/"+name]
	}
	if !ok {
		return t, &status.Waiting{For: kindName + "/" + name}
	}
	s.refs[kindName+"/"+name] = t
	return t, nil
}

func (s *Subject) secret(name, key string) ([]byte, error) {
	v, ok := s.Secrets[name+"/"+key]
	if !ok {
		return nil, &status.Stalled{Reason: status.ReasonCredentialsMissing, Message: name + "/" + key}
	}
	return []byte(v), nil
}

// Decide makes a plan and does nothing.
func (s *Subject) Decide(ctx context.Context) (engine.Plan, error) {
	if err := s.validate(ctx); err != nil {
		return engine.Plan{}, err
	}
	return s.binding().Decide(ctx, s.Scope(), s.Owner(), s.stored())
}

// schemas lists the schemas of the CRDs, compiled once.
var schemas = sync.OnceValues(func() (*crdschema.Schemas, error) { return crdschema.Load(crd.Bases) })

// validate checks the object against its CRD, as the controller does before it calls the engine.
func (s *Subject) validate(ctx context.Context) error {
	all, err := schemas()
	if err != nil || s.Deleting {
		return err
	}
	return all.Validate(ctx, s.Entry.Name(), s.stored())
}

// binding is the kind bound to the rig, built once, as the controller keeps it with the session.
func (s *Subject) binding() engine.Binding {
	if s.bound == nil {
		s.bound = s.Entry.Bind(answers.Instrument(s.config))
	}
	return s.bound
}

// Pass is one pass of the engine. The status is stored only when the pass ends, as the controller does,
// and not at all when kill says that the operator died during the pass; its memory is lost with it.
func (s *Subject) Pass(ctx context.Context, kill func() bool) (engine.Outcome, error) {
	working := s.stored()
	s.working = working
	if s.memory == nil {
		s.memory = &engine.Memory{}
	}
	out, err := engine.Outcome{}, s.validate(ctx)
	if err == nil {
		out, err = engine.Advance(ctx, engine.Attend(s.binding(), s.Scope(), working), s.Entry.Meta(), s.Owner(), s)
	}
	if kill != nil && kill() {
		s.memory = nil
		return out, errKilled
	}
	engine.Summarize(working, out, err, s.Clock, time.Time{})
	working.SetFinalizers(nil)
	working.SetDeletionTimestamp(nil)
	s.Object = working
	return out, err
}

// Forget drops the memory of the process, as a restart of the operator does.
func (s *Subject) Forget() { s.memory = nil }

var errKilled = errors.New("the operator was killed")

// Settle passes until AWS is as declared or the deletion is complete, moving the clock over every wait.
// A Stalled ends it, and so does waiting for ever.
func (s *Subject) Settle(ctx context.Context, kill func() bool) (engine.Outcome, error) {
	var last error
	for range 25 {
		out, err := s.Pass(ctx, kill)
		if err == nil {
			return out, nil
		}
		last = err
		if _, ok := status.AsStalled(err); ok {
			return out, err
		}
		s.Clock = s.Clock.Add(time.Second)
		if w, ok := status.AsWaiting(err); ok {
			s.Clock = s.Clock.Add(w.After)
		}
	}
	return engine.Outcome{}, fmt.Errorf("does not settle: %w", last)
}

// Commit implements engine.Host.
func (s *Subject) Commit(_ context.Context, i *engine.Intent) error {
	next := *i
	next.Home = engine.Home(s.Rig.Partition, Account, s.Rig.Region)
	s.Intent = &next
	s.Commits++
	*i = next
	return nil
}

// Store implements engine.Host.
func (s *Subject) Store(_ context.Context, a kind.Accepted) error {
	engine.RecordAccepted(s.working, a, s.Clock)
	return nil
}

// Explain implements engine.Host.
func (s *Subject) Explain(err error, action string) error { return awsclient.Explain(err, action) }

// HadNoEffect implements engine.Host.
func (s *Subject) HadNoEffect(err error) bool { return awsclient.HadNoEffect(err) }

// AlreadyExists implements engine.Host.
func (s *Subject) AlreadyExists(err error) bool { return awsclient.FoundExisting(err) }

// Home implements engine.Host.
func (s *Subject) Home() string { return engine.Home(s.Rig.Partition, Account, s.Rig.Region) }

// Approve implements engine.Host: no plan needs approval.
func (s *Subject) Approve(context.Context, engine.Owner, string) error { return nil }

// MayTakeOver implements engine.Host.
func (s *Subject) MayTakeOver(context.Context) (bool, error) { return true, nil }

// Refs implements engine.Host.
func (s *Subject) Refs() map[string]kind.Target { return s.refs }

// Memory implements engine.Host.
func (s *Subject) Memory() *engine.Memory { return s.memory }

// Now implements engine.Host.
func (s *Subject) Now() time.Time { return s.Clock }

// Running implements engine.Host.
func (s *Subject) Running(context.Context, func(string) int) func() { return func() {} }

// Did implements engine.Host.
func (s *Subject) Did(_ engine.Plan, done []kind.Step) {
	for _, st := range done {
		s.Actions = append(s.Actions, st.Action)
	}
}

// Must ends a test that cannot go on after an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
