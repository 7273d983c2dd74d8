// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// randomName makes a name that appears in no message by chance.
func randomName() string {
	const letters = "bcdfghjkmnpqrstvwxz"
	var b strings.Builder
	for range 12 {
		b.WriteByte(letters[rand.IntN(len(letters))])
	}
	return b.String()
}

// People of one namespace learn nothing of objects in another one from the owner tags of a resource: neither from a conflict nor
// while deleting, whatever is on record and however the tags are made.
func TestJudge_NamesNoOwnerOfAnotherNamespace(t *testing.T) {
	for range 300 {
		namespace, name, cluster, uid := randomName(), randomName(), randomName(), randomName()
		tags := map[string]string{wellknown.TagManagedBy: wellknown.OperatorName, wellknown.TagCluster: cluster,
			wellknown.TagOwner: []string{"S3Bucket/" + namespace + "/" + name, namespace, namespace + "/" + name,
				"S3Bucket/" + namespace}[rand.IntN(4)], wellknown.TagOwnerUID: uid}
		for _, key := range []string{wellknown.TagManagedBy, wellknown.TagCluster, wellknown.TagOwnerUID} {
			if rand.IntN(4) == 0 {
				delete(tags, key)
			}
		}
		o := Owner{Identity: Identity{Kind: "S3Bucket", Namespace: "ns", Name: "b", UID: "own", Cluster: "c1"},
			Record: Record{Known: rand.IntN(2) == 0}, Deleting: rand.IntN(2) == 0,
			OnlyOwn: rand.IntN(2) == 0}
		verdict, why := Judge(o, tags, time.Time{})
		if verdict != Foreign {
			t.Fatalf("%v of %v", verdict, tags)
		}
		for _, secret := range []string{namespace, name, cluster, uid} {
			if strings.Contains(why, secret) {
				t.Errorf("%q tells %s of %v", why, secret, tags)
			}
		}
	}
}

// The owner of the same namespace, and an earlier cluster of the object's own, are named: the remedy needs them.
func TestJudge_NamesAnOwnerOfTheNamespace(t *testing.T) {
	o := Owner{Identity: Identity{Kind: "S3Bucket", Namespace: "ns", Name: "b", UID: "own", Cluster: "c1"}}
	for _, tags := range []map[string]string{{wellknown.TagOwner: "S3Bucket/ns/other"},
		{wellknown.TagOwner: "S3Bucket/ns/b", wellknown.TagCluster: "earlier"}} {
		if _, why := Judge(o, tags, time.Time{}); !strings.Contains(why, "other") && !strings.Contains(why, "earlier") {
			t.Errorf("%v: %q", tags, why)
		}
	}
}

// If no one vouches for an object, and only its author claims that it has a resource, its deletion always ends the same way, at once, and
// without a call: whether the resource exists or not, and no matter who owns it.
func TestDecide_TellsNobodyWhatExists(t *testing.T) {
	tagged := func(owner, uid string) map[string]string {
		return map[string]string{wellknown.TagManagedBy: wellknown.OperatorName, wellknown.TagOwner: owner, wellknown.TagOwnerUID: uid,
			wellknown.TagCluster: us().Cluster}
	}
	forged := &Intent{UID: us().UID, Attempt: 1, At: time.Unix(0, 0), Home: "aws/1/r", Identity: map[string]string{"Name": "b"},
		Signature: "00"}
	for name, intent := range map[string]*Intent{"no record": nil, "a forged record": forged} {
		for world, b := range map[string]*box{"absent": {}, "of nobody": {exists: true},
			"of another namespace": {exists: true, tags: tagged("S3Bucket/other/b", "u")},
			"of an earlier object": {exists: true, tags: tagged("S3Bucket/ns/b", "u0")},
			"failing":              {fail: map[string]error{"observe": errors.New("AccessDenied")}}} {
			e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
			obj := e.New()
			now := metav1.Now()
			obj.SetDeletionTimestamp(&now)
			f := Facts{Borrowed: true, Signer: kind.SignerWith(func() ([][]byte, error) { return [][]byte{[]byte("key")}, nil }), Place: aPlace}
			if err := f.CheckSignature(e.Name(), obj, intent); err != nil {
				t.Fatal(err)
			}
			o := OwnerOf(e, obj, intent, f)
			h := &host{t: t, b: b, now: noon}
			out, err := Advance(t.Context(), func(ctx context.Context, o Owner) (Plan, error) {
				return e.Bind(aws.Config{}).Decide(ctx, kind.Scope{Tags: o.OwnerTags(), Place: aPlace}, o, obj)
			}, e.Meta(), o, h)
			if err != nil || !out.Gone || out.Plan.Exists || out.Plan.Reason != NothingOwn || b.looks > 0 {
				t.Errorf("%s, %s: %+v, %d looks, %v", name, world, out, b.looks, err)
			}
		}
	}
}

// A record counts for the object and the resource that it was signed for. Where it is genuine, the resource is looked for.
func TestCheckSignature_HoldsForOneObjectAndItsResource(t *testing.T) {
	signer := kind.SignerWith(func() ([][]byte, error) { return [][]byte{[]byte("key")}, nil })
	now := metav1.Now()
	obj := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b", DeletionTimestamp: &now}}
	signed := func() *Intent {
		i := &Intent{UID: "own", Home: "aws/1/r", Identity: map[string]string{"Name": "b"}}
		if err := i.Sign(signer, "S3Bucket", obj); err != nil {
			t.Fatal(err)
		}
		i.Attempt, i.Tags = 7, []string{"a"} // which need no proof
		return i
	}
	for name, c := range map[string]struct {
		edit func(*Intent)
		kind string
		by   kind.Signer
		want bool
	}{
		"as it was written":   {func(*Intent) {}, "S3Bucket", signer, true},
		"of another object":   {func(i *Intent) { i.UID = "another" }, "S3Bucket", signer, false},
		"of another resource": {func(i *Intent) { i.Identity = map[string]string{"Name": "finance"} }, "S3Bucket", signer, false},
		"in another place":    {func(i *Intent) { i.Home = "aws/2/r" }, "S3Bucket", signer, false},
		"of another kind":     {func(*Intent) {}, "DynamoDBTable", signer, false},
		"without a signature": {func(i *Intent) { i.Signature = "" }, "S3Bucket", signer, false},
		"by another key": {func(*Intent) {}, "S3Bucket", kind.SignerWith(func() ([][]byte, error) { return [][]byte{[]byte("other")}, nil }),
			false},
	} {
		i := signed()
		c.edit(i)
		f := Facts{Borrowed: true, Signer: c.by}
		if err := f.CheckSignature(c.kind, obj, i); err != nil || f.Signed != c.want {
			t.Errorf("%s: signed %v, %v", name, f.Signed, err)
		}
	}
	f := Facts{Borrowed: true, Signer: kind.SignerWith(func() ([][]byte, error) { return nil, errors.New("the keys cannot be read") })}
	if err := f.CheckSignature("S3Bucket", obj, signed()); err == nil {
		t.Error("a deletion goes on although the keys cannot be read")
	}
	if o := OwnerOf(For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return &box{} }), obj, signed(),
		Facts{Borrowed: true, Signed: true}); o.ProvesNothing || !o.OnlyOwn {
		t.Errorf("the resource of a signed record is not looked for, or one of an earlier object counts: %+v", o)
	}
}

// Where the record is genuine, the end of the deletion names no owner either.
func TestDecide_TheEndOfAnUnvouchedDeletionNamesNoOwner(t *testing.T) {
	o := us()
	o.Deleting, o.OnlyOwn = true, true
	for _, b := range []*box{{}, {exists: true},
		{exists: true, tags: map[string]string{wellknown.TagOwner: "Box/other/b", wellknown.TagOwnerUID: "another",
			wellknown.TagCluster: o.Cluster}}} {
		e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
		p, err := e.Bind(aws.Config{}).Decide(t.Context(), kind.Scope{Tags: o.OwnerTags(), Place: aPlace}, o,
			e.New())
		if err != nil || p.Cause != Gone || p.Writes() || p.Reason != NothingOwn {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
