// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

func api(r *kindtest.Rig) *glue.Client { return glue.NewFromConfig(r.Config) }

// ownerPaths are the diff paths of a resource that carries no owner yet.
var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

// leftBehind are the owner tags of an earlier object of the kind and name.
func leftBehind(kindName, name string) map[string]string {
	return map[string]string{wellknown.TagManagedBy: "nexus-operator", wellknown.TagCluster: kindtest.Cluster,
		wellknown.TagOwner: kindName + "/" + kindtest.Namespace + "/" + name, wellknown.TagOwnerUID: "an-earlier-one"}
}

func with(tags map[string]string, k, v string) map[string]string {
	out := maps.Clone(tags)
	out[k] = v
	return out
}

func makeDatabase(name string, tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateDatabase(t.Context(), &glue.CreateDatabaseInput{DatabaseInput: &types.DatabaseInput{Name: &name}, Tags: tags})
		kindtest.Must(t, err)
	}
}

// tag sets tags on the resource that the end of an ARN names, such as database/lake.
func tag(resource string, add map[string]string) func(*testing.T, *kindtest.Rig) {
	arn := arn(kind.Scope{Place: kind.Place{Partition: kindtest.Partition, Region: kindtest.Region, Account: kindtest.Account}}, resource)
	return edit(func(c *glue.Client) func(context.Context, *glue.TagResourceInput, ...func(*glue.Options)) (*glue.TagResourceOutput, error) {
		return c.TagResource
	}, glue.TagResourceInput{ResourceArn: &arn, TagsToAdd: add})
}

// found turns the error of a read into existence.
func found(t *testing.T, err error) bool {
	t.Helper()
	if awsclient.IsNotFound(err) {
		return false
	}
	kindtest.Must(t, err)
	return true
}

func params(kv ...string) map[string]v1alpha1.GlueParameter {
	out := map[string]v1alpha1.GlueParameter{}
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = v1alpha1.GlueParameter(kv[i+1])
	}
	return out
}

// costs asserts the calls of a life: writes to create, calls of a check, writes to delete.
func costs(t *testing.T, e engine.Entry, obj v1alpha1.Resource, before func(*testing.T, *kindtest.Rig), check int) {
	t.Helper()
	r := kindtest.NewRig(t)
	if before != nil {
		before(t, r)
	}
	s := kindtest.NewSubject(r, e, obj)
	mark := r.AWS.Mark()
	settle(t, s)
	if c := r.AWS.Since(mark); c.Count() != 2 || !c[0].Write || c[1].Write { // the tags are known
		t.Errorf("create took %d calls, want the create and 1 read:\n%s", c.Count(), c)
	}
	mark = r.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	if c := r.AWS.Since(mark); c.Count() != check {
		t.Errorf("a check took %d calls, want %d:\n%s", c.Count(), check, c)
	}
	mark = r.AWS.Mark()
	s.Deleting = true
	settle(t, s)
	if w := r.AWS.Since(mark).Writes(); w.Count() != 1 {
		t.Errorf("delete took %d writes, want 1:\n%s", w.Count(), w)
	}
}

func settle(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	out, err := s.Settle(t.Context(), nil)
	if err != nil || !out.Synced && !out.Gone {
		t.Fatalf("does not settle: %v\n%s", err, s.Rig.AWS.Calls())
	}
}

func scope(deleting bool) kind.Scope {
	o := engine.Identity{Kind: "K", Namespace: "ns", Name: "n", UID: "u", Cluster: "c"}
	return kind.Scope{Place: kind.Place{Partition: "aws-cn", Account: "1", Region: "cn-north-1"}, Tags: with(o.OwnerTags(), "team", "a"),
		Search: kind.Search{OwnerTags: o.OwnerTags(), Deleting: deleting},
		Lookups: kind.Lookups{Ref: func(kindName, name string) (kind.Target, error) {
			if name == "late" {
				return kind.Target{}, &status.Waiting{For: kindName + "/" + name}
			}
			return kind.Target{ID: name + "-id", ARN: "arn:aws:iam::1:role/path/" + name}, nil
		}}}
}

func stalledAt(t *testing.T, err error, field string) {
	t.Helper()
	if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonInvalidSpec || !strings.HasPrefix(s.Field, field) {
		t.Errorf("got %v, want InvalidSpec at %s", err, field)
	}
}

func waitsFor(t *testing.T, err error, what string) {
	t.Helper()
	if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.For, what) {
		t.Errorf("got %v, want to wait for %s", err, what)
	}
}

// ask runs a read of Glue for its answer.
func ask[I, O any](t *testing.T, call func(context.Context, *I, ...func(*glue.Options)) (*O, error), in *I) *O {
	t.Helper()
	out, err := call(t.Context(), in)
	kindtest.Must(t, err)
	return out
}

func edit[I, O any](call func(*glue.Client) func(context.Context, *I, ...func(*glue.Options)) (*O, error), in I) func(*testing.T,
	*kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := call(api(r))(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

// sent is the body of the one write.
func sent[T any](t *testing.T, writes emulator.Calls) T {
	t.Helper()
	if len(writes) != 1 {
		t.Fatalf("%d writes, want 1:\n%s", len(writes), writes)
	}
	var in T
	kindtest.Must(t, json.Unmarshal([]byte(writes[0].Body), &in))
	return in
}

var str = aws.String
