// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// tagged returns the life of a box with a provider that has a default tag.
func tagged(t *testing.T, b *box) *machineLife {
	e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
	l := lifeOfEntry(t, &machine{}, e, nil)
	l.defaultTags = map[string]v1alpha1.TagValue{"team": "b"}
	return l
}

// The provider is edited again before AWS was seen as declared once: the status has no record of the tags that were
// written until then.
func TestTags_WrittenUnseenAreRemovedAgain(t *testing.T) {
	lost := errors.New("the answer was lost")
	for action, prepare := range map[string]func(l *machineLife, b *box){
		"box:Create": func(*machineLife, *box) {},
		"box:Tag": func(l *machineLife, b *box) {
			l.defaultTags = nil
			l.synced()
			l.defaultTags = map[string]v1alpha1.TagValue{"team": "b"}
		},
	} {
		b := &box{}
		l := tagged(t, b)
		prepare(l, b)
		b.fail = map[string]error{action: lost}
		if _, err := l.pass(); err == nil || b.tags["team"] != "b" {
			t.Fatalf("%s: %v, tags %v", action, err, b.tags)
		}
		b.fail, l.defaultTags = nil, nil
		l.h.mem = Memory{} // another process goes on
		l.synced()
		if value, there := b.tags["team"]; there {
			t.Errorf("%s: the dropped tag is still %q", action, value)
		}
	}
}

func TestTags_DroppedOnesAreSomebodyElsesFromThenOn(t *testing.T) {
	b := &box{}
	l := tagged(t, b)
	l.synced()
	l.defaultTags = nil
	l.synced()
	if _, there := b.tags["team"]; there {
		t.Fatal("the dropped tag is still there")
	}
	b.tags["team"] = "theirs"
	l.synced()
	if b.tags["team"] != "theirs" {
		t.Error("the tag of somebody else was removed")
	}
}

// A create needs no separate write of the record, and a tag that is added later needs one.
func TestTags_RecordsAreFew(t *testing.T) {
	b := &box{}
	l := tagged(t, b)
	l.synced()
	l.synced()
	if n := len(l.h.committed); n != 1 {
		t.Errorf("%d records of a create", n)
	}
	l.defaultTags["cost"] = "c"
	l.synced()
	l.synced()
	if n := len(l.h.committed); n != 2 {
		t.Errorf("%d records after a tag was added", n)
	}
	l.defaultTags["cost"] = "d"
	l.synced()
	if n := len(l.h.committed); n != 2 || b.tags["cost"] != "d" {
		t.Errorf("%d records after a value changed, tags %v", n, b.tags)
	}
}
