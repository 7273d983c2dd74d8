// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakests"
)

// drawer is a kind with one resource, in memory.
type drawer struct {
	built  int
	exists bool
	tags   map[string]string
}

type drawerState struct {
	Tags map[string]string `drift:"tags"`
}

func (d *drawer) Meta() kind.Meta { return kind.Meta{} }

func (d *drawer) Desired(sc kind.Scope, _ *v1alpha1.S3Bucket) (drawerState, error) {
	return drawerState{Tags: sc.Tags}, nil
}

func (d *drawer) Observe(context.Context, drawerState, kind.Look) (kind.Seen[drawerState], error) {
	return kind.Seen[drawerState]{Exists: d.exists, State: drawerState{Tags: d.tags}, Tags: d.tags, Created: noon}, nil
}

func (d *drawer) Converge(want drawerState, _ kind.Seen[drawerState], _ kind.Diff) []kind.Step {
	return []kind.Step{{Action: "s3:CreateBucket", Effect: kind.Creates, Do: func(context.Context, string) (string, error) {
		d.exists, d.tags = true, want.Tags
		return "", nil
	}}}
}

func (d *drawer) Remove(drawerState, kind.Seen[drawerState]) []kind.Step {
	return []kind.Step{{Action: "s3:DeleteBucket", Effect: kind.Deletes, Do: func(context.Context, string) (string, error) {
		d.exists = false
		return "", nil
	}}}
}

func (d *drawer) Publish(cr *v1alpha1.S3Bucket, _ drawerState) {
	cr.Status.ARN, cr.Status.ID = "arn:aws:s3:::media", "media"
}

// newDrawer is a room with a ready provider, and with drawers as its objects.
func newDrawer(t *testing.T, o *v1alpha1.S3Bucket) (*room, *drawer) {
	t.Helper()
	provider := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "aws", UID: "uid-aws", Generation: 1}}
	provider.Spec.Region, provider.Spec.CredentialsSecret = "eu-central-1", &v1alpha1.SecretReference{Name: "keys"}
	provider.Status.AccountID, provider.Status.Partition = "123456789012", "aws"
	status.Summarize(&provider.Status.Conditions, status.Result{Generation: 1, Now: noon})
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"},
		Data: map[string][]byte{"AWS_ACCESS_KEY_ID": []byte("AKIAUSER"), "AWS_SECRET_ACCESS_KEY": []byte("secret")}}
	r, d := newRoom(t, "S3Bucket", o, provider, keys), &drawer{}
	sts := fakests.New()
	sts.Caller("AKIAUSER", "arn:aws:iam::123456789012:user/tester")
	r.Reconciler.Sessions.Sessions = awsclient.NewSessions(awsclient.Options{Now: r.clock.Now, HTTPClient: sts,
		Ambient: func(context.Context) (aws.Config, error) {
			return aws.Config{BaseEndpoint: aws.String("http://sts.example")}, nil
		}})
	r.Issuer = func(context.Context) (string, error) { return "", nil }
	r.Entry = engine.For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, drawerState] {
		d.built++
		return d
	})
	d.built = 0
	return r, d
}

// fresh is an object that the operator has not seen yet.
func fresh(o *v1alpha1.S3Bucket) {
	o.Finalizers, o.Annotations, o.Status = nil, nil, v1alpha1.S3BucketStatus{}
}

// pass reconciles the object, reads it again and reports whether it still exists.
func (r *room) pass(o *v1alpha1.S3Bucket) bool {
	r.Helper()
	if _, err := r.reconcile(o); err != nil {
		r.Fatal(err)
	}
	r.clock.SetTime(r.clock.Now().Add(time.Minute))
	return r.read(o)
}

// A manifest may be copied or exported with the operator's annotations, and a finalizer may be removed by hand.
func TestReconcile_ARecordWithoutAFinalizerLeaksNothing(t *testing.T) {
	recordOf := func(uid string) func(*v1alpha1.S3Bucket) {
		return func(o *v1alpha1.S3Bucket) {
			o.Annotations, _ = (&engine.Intent{UID: uid, Cluster: "cluster-1", Attempt: 1, At: noon,
				Home: "aws/123456789012/eu-central-1"}).Annotations()
		}
	}
	for name, tc := range map[string]struct {
		record func(*v1alpha1.S3Bucket)
		strips bool
	}{
		"no record":                    {fresh, false},
		"the record of another object": {recordOf("uid-2"), false},
		"its own record":               {recordOf("uid-1"), false},
		"the finalizer is stripped":    {recordOf("uid-1"), true},
	} {
		t.Run(name, func(t *testing.T) {
			o := bucket(fresh, tc.record)
			r, d := newDrawer(t, o)
			for range 2 {
				r.pass(o)
			}
			if tc.strips {
				o.Finalizers = nil
				if err := r.client.Update(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				r.pass(o)
			}
			if !d.exists || !slices.Contains(o.Finalizers, v1alpha1.FinalizerOf("S3Bucket")) {
				t.Fatalf("exists %v, finalizers %q", d.exists, o.Finalizers)
			}
			if err := r.client.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if r.pass(o) || d.exists {
				t.Errorf("the object is there: %v; exists in AWS: %v", r.read(o), d.exists)
			}
		})
	}
}

// An SDK client learns how far the clock is off, which one that is built for each decision never does.
func TestReconcile_BuildsAKindOncePerSession(t *testing.T) {
	o := bucket(fresh)
	r, d := newDrawer(t, o)
	for range 3 {
		r.pass(o)
		o.Generation++
		if err := r.client.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if !d.exists || d.built != 1 {
		t.Errorf("exists %v, built %d times", d.exists, d.built)
	}
}
