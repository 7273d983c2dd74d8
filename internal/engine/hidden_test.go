// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

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
			wellknown.TagOwner: []string{"S3Bucket/" + namespace + "/" + name, namespace, namespace + "/" + name, "S3Bucket/" + namespace}[rand.IntN(4)], wellknown.TagOwnerUID: uid}
		for _, key := range []string{wellknown.TagManagedBy, wellknown.TagCluster, wellknown.TagOwnerUID} {
			if rand.IntN(4) == 0 {
				delete(tags, key)
			}
		}
		o := Owner{Kind: "S3Bucket", Namespace: "ns", Name: "b", UID: "own", Cluster: "c1", Known: rand.IntN(2) == 0, Deleting: rand.IntN(2) == 0, OnlyOwn: rand.IntN(2) == 0}
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
	o := Owner{Kind: "S3Bucket", Namespace: "ns", Name: "b", UID: "own", Cluster: "c1"}
	for _, tags := range []map[string]string{{wellknown.TagOwner: "S3Bucket/ns/other"}, {wellknown.TagOwner: "S3Bucket/ns/b", wellknown.TagCluster: "earlier"}} {
		if _, why := Judge(o, tags, time.Time{}); !strings.Contains(why, "other") && !strings.Contains(why, "earlier") {
			t.Errorf("%v: %q", tags, why)
		}
	}
}

// The deletion of an object that nobody vouches for ends alike whether the resource exists or not, and whoever owns it.
func TestDecide_TellsNobodyWhatExists(t *testing.T) {
	o := us()
	o.Deleting, o.OnlyOwn = true, true
	var reasons []string
	for _, b := range []*box{{}, {exists: true}, {exists: true, tags: map[string]string{wellknown.TagOwner: "S3Bucket/other/b", wellknown.TagOwnerUID: "u", wellknown.TagCluster: o.Cluster}}} {
		e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
		p, err := e.Bind(aws.Config{}).Decide(t.Context(), kind.Scope{Tags: o.OwnerTags(), Partition: "aws", Account: "1", Region: "r"}, o, e.New())
		if err != nil || p.Cause != Gone || p.Writes() {
			t.Fatalf("%+v, %v", p, err)
		}
		reasons = append(reasons, p.Reason)
	}
	if len(slices.Compact(reasons)) != 1 {
		t.Errorf("%q", reasons)
	}
}
