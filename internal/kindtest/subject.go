// Package kindtest is the contract of kind.Kind as a suite that every kind runs, against an emulated
// AWS and through the real engine: no kind brings fakes of its own.
package kindtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
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
)

// Rig is an AWS to test against.
type Rig struct {
	AWS *awsproxy.Proxy
	// Config is the engine's way to AWS, through the recording proxy.
	Config aws.Config
}

// NewRig returns an empty AWS. The package's TestMain must be world.Main with NoKubernetes.
func NewRig(t testing.TB) *Rig {
	t.Helper()
	p := world.Shared(t).AWS()
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	return &Rig{AWS: p, Config: aws.Config{
		Region: Region, BaseEndpoint: aws.String(p.URL()), AppID: "nexus-operator",
		Credentials: credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}}
}

// Subject is one object under test: what the API server would hold of it, and a clock.
type Subject struct {
	Entry engine.Entry
	Rig   *Rig
	// Object is the object as stored.
	Object v1alpha1.Resource
	// Intent is what was persisted with the finalizer.
	Intent *engine.Intent
	// Targets answer references by Kind/name; Secrets answer by name/key.
	Targets map[string]kind.Target
	Secrets map[string]string
	// Deleting, AllowAdoption, Trusted, Boundary, RolePath and DefaultTags are facts beside the object.
	Deleting, AllowAdoption, Trusted bool
	// TrustAttempts is for endpoints whose creates drop tags.
	TrustAttempts      bool
	Boundary, RolePath string
	DefaultTags        map[string]string
	// Clock is moved on by waiting.
	Clock time.Time
	// Actions are the steps AWS accepted.
	Actions []string

	refs map[string]kind.Target
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
	o.SetGeneration(max(1, o.GetGeneration()))
	return &Subject{Entry: e, Rig: r, Object: o, Clock: time.Now()}
}

// Edit replaces the spec by another object's, as a user would: the generation rises.
func (s *Subject) Edit(to v1alpha1.Resource) {
	o := to.DeepCopyObject().(v1alpha1.Resource)
	o.SetNamespace(s.Object.GetNamespace())
	o.SetName(s.Object.GetName())
	o.SetUID(s.Object.GetUID())
	o.SetGeneration(s.Object.GetGeneration() + 1)
	const field = "Status"
	reflect.ValueOf(o).Elem().FieldByName(field).Set(reflect.ValueOf(s.Object).Elem().FieldByName(field))
	s.Object = o
}

// Owner is the engine's view of the object.
func (s *Subject) Owner() engine.Owner {
	spec, st := s.Object.CommonSpec(), s.Object.CommonStatus()
	o := engine.Owner{
		Kind: s.Entry.Name(), Namespace: s.Object.GetNamespace(), Name: s.Object.GetName(), UID: string(s.Object.GetUID()), Cluster: Cluster,
		Generation: s.Object.GetGeneration(), SyncedGeneration: st.SyncedGeneration, Deleting: s.Deleting,
		Deletion: spec.DeletionPolicy, Adoption: spec.AdoptionPolicy, Management: spec.ManagementPolicy, Drift: spec.DriftPolicy,
		AllowAdoption: s.AllowAdoption && spec.DeletionPolicy != "", Intent: s.Intent, TrustAttempts: s.TrustAttempts,
		Known: st.ARN != "" || st.ID != "", ManagedTagKeys: st.ManagedTagKeys,
	}
	if o.Deletion == "" {
		o.Deletion = v1alpha1.DeletionDelete
	}
	if r, ok := s.Object.(interface{ RecreatesOnLoss() bool }); ok {
		o.RecreateOnLoss = r.RecreatesOnLoss()
	}
	return o
}

// Scope is what Desired gets.
func (s *Subject) Scope() kind.Scope {
	o := s.Owner()
	tags := maps.Clone(s.DefaultTags)
	if tags == nil {
		tags = map[string]string{}
	}
	for k, v := range s.Object.CommonSpec().Tags {
		tags[k] = string(v)
	}
	maps.Copy(tags, o.OwnerTags())
	s.refs = map[string]kind.Target{}
	return kind.Scope{
		Tags: tags, OwnerTags: o.OwnerTags(), Partition: Partition, Account: Account, Region: Region,
		UID: o.UID, Namespace: o.Namespace, Deleting: o.Deleting, DeletionPolicy: string(o.Deletion),
		Issuer: Issuer, Trusted: s.Trusted, Boundary: s.Boundary, RolePath: s.RolePath,
		Ref: s.ref, Secret: s.secret,
	}
}

func (s *Subject) ref(kindName, name string) (kind.Target, error) {
	t, ok := s.Targets[kindName+"/"+name]
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
	return s.Entry.Decide(ctx, s.Rig.Config, s.Scope(), s.Owner(), s.Object.DeepCopyObject().(v1alpha1.Resource))
}

// Pass is one pass of the engine; the status is stored only when the pass ends, as the controller does,
// and not at all when kill says that the operator died under way.
func (s *Subject) Pass(ctx context.Context, kill func() bool) (engine.Outcome, error) {
	working := s.Object.DeepCopyObject().(v1alpha1.Resource)
	sc := s.Scope()
	out, err := engine.Advance(ctx, func(ctx context.Context, o engine.Owner) (engine.Plan, error) {
		p, err := s.Entry.Decide(ctx, s.Rig.Config, sc, o, working)
		if p.Publish != nil {
			p.Publish(working)
		}
		return p, err
	}, s.Entry.Meta(), s.Owner(), s)
	if kill != nil && kill() {
		return out, errKilled
	}
	st := working.CommonStatus()
	if out.Synced && err == nil {
		st.SyncedGeneration = working.GetGeneration()
		st.ManagedTagKeys = out.Plan.TagKeys
	}
	s.Object = working
	return out, err
}

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
	next.Home = engine.Home(Partition, Account, Region)
	s.Intent = &next
	*i = next
	return nil
}

// Store implements engine.Host.
func (s *Subject) Store(_ context.Context, id string) error {
	s.Object.CommonStatus().ID = id
	return nil
}

// Explain implements engine.Host.
func (s *Subject) Explain(err error, action string) error { return awsclient.Explain(err, action) }

// AlreadyExists implements engine.Host.
func (s *Subject) AlreadyExists(err error) bool { return awsclient.Is(err, awsclient.Exists) }

// Refs implements engine.Host.
func (s *Subject) Refs() map[string]kind.Target { return s.refs }

// Now implements engine.Host.
func (s *Subject) Now() time.Time { return s.Clock }

// Did implements engine.Host.
func (s *Subject) Did(p engine.Plan) {
	for _, st := range p.Steps {
		s.Actions = append(s.Actions, st.Action)
	}
}
