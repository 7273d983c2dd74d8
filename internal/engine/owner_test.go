// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestJudge(t *testing.T) {
	us := Owner{Identity: Identity{Kind: "S3Bucket", Namespace: "ns", Name: "n", UID: "u1", Cluster: "c1"}}
	tags := func(edit map[string]string) map[string]string {
		m := us.OwnerTags()
		maps.Copy(m, edit)
		return m
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	with := func(edit func(*Owner)) Owner { o := us; edit(&o); return o }
	adopting := func(o *Owner) {
		o.Policy.Adoption, o.Policy.AllowAdoption, o.Policy.Deletion = v1alpha1.AdoptAlways, true, v1alpha1.DeletionRetain
	}
	for _, c := range []struct {
		name    string
		o       Owner
		tags    map[string]string
		created time.Time
		want    Verdict
	}{
		{name: "our UID", o: us, tags: tags(nil), want: Ours},
		{name: "our UID, whatever the adoption policy", o: with(func(o *Owner) { o.Policy.Adoption = v1alpha1.AdoptNever }), tags: tags(nil),
			want: Ours},
		{name: "no tags on what shows in another way that it is ours", o: with(func(o *Owner) { o.Proven = true }), want: Ours},
		{name: "another object's tags on what we made", o: with(func(o *Owner) { o.Proven = true }),
			tags: tags(map[string]string{wellknown.TagOwner: "S3Bucket/ns/other"}), want: Foreign},
		{name: "an earlier object of the name", o: us, tags: tags(map[string]string{wellknown.TagOwnerUID: "u0"}), want: TakeOver},
		{name: "an earlier object's tags that nothing can change, on what we took over",
			o: with(func(o *Owner) { o.Proven, o.TagsFixed = true, true }), tags: tags(map[string]string{wellknown.TagOwnerUID: "u0"}), want: Ours},
		{name: "an earlier object's tags that nothing can change", o: with(func(o *Owner) { o.TagsFixed = true }),
			tags: tags(map[string]string{wellknown.TagOwnerUID: "u0"}), want: TakeOver},
		{name: "another object's tags that nothing can change", o: with(func(o *Owner) { o.Proven, o.TagsFixed = true, true }),
			tags: tags(map[string]string{wellknown.TagOwner: "S3Bucket/ns/other"}), want: Foreign},
		{name: "an earlier object, adoption refused", o: with(func(o *Owner) { o.Policy.Adoption = v1alpha1.AdoptNever }),
			tags: tags(map[string]string{wellknown.TagOwnerUID: "u0"}), want: Foreign},
		{name: "another object", o: us, tags: tags(map[string]string{wellknown.TagOwner: "S3Bucket/ns/other"}), want: Foreign},
		{name: "another object, adoption always", o: with(func(o *Owner) {
			o.Policy.Adoption, o.Policy.AllowAdoption, o.Policy.Deletion = v1alpha1.AdoptAlways, true, v1alpha1.DeletionRetain
		}),
			tags: tags(map[string]string{wellknown.TagOwner: "S3Bucket/ns/other"}), want: Foreign},
		{name: "another cluster", o: us, tags: tags(map[string]string{wellknown.TagCluster: "c0"}), want: Foreign},
		{name: "a previous cluster", o: with(func(o *Owner) { o.Neighbors.Previous = []string{"c0"} }),
			tags: tags(map[string]string{wellknown.TagCluster: "c0", wellknown.TagOwnerUID: "u0"}), want: TakeOver},
		{name: "our UID, the other owner tags removed", o: us, tags: map[string]string{wellknown.TagOwnerUID: "u1"}, want: Ours},
		{name: "our UID beside another owner's name", o: us, tags: tags(map[string]string{wellknown.TagOwner: "S3Bucket/ns/other"}),
			want: Foreign},
		{name: "owner tags without the UID, nothing on record", o: us,
			tags: map[string]string{wellknown.TagOwner: us.OwnerTags()[wellknown.TagOwner]}, want: Foreign},
		{name: "untagged", o: us, tags: map[string]string{"team": "a"}, want: Foreign},
		{name: "untagged, adoption always", o: with(adopting), want: Adopt},
		{name: "untagged, the provider forbids adoption",
			o: with(func(o *Owner) { o.Policy.Adoption, o.Policy.Deletion = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }), want: Foreign},
		{name: "untagged, deleting, adoption always, nothing on record", o: with(func(o *Owner) { adopting(o); o.Deleting = true }),
			want: Foreign},

		{name: "untagged, the status records it", o: with(func(o *Owner) { o.Record.Known, o.Record.CreatedAt = true, at }),
			created: at, want: Unknown},
		{name: "untagged, an annotation records it", o: with(func(o *Owner) { o.Record.Intent = &Intent{At: at} }), created: at.Add(time.Minute),
			want: Unknown},
		{name: "untagged, deleting, the status records it",
			o:       with(func(o *Owner) { o.Record.Known, o.Record.CreatedAt, o.Deleting, o.OnlyOwn = true, at, true, true }),
			created: at, want: Unknown},
		{name: "untagged for long, the status records its creation",
			o:       with(func(o *Owner) { o.Record.Known, o.Record.CreatedAt = true, at; o.Recent.UntaggedSettled = true }),
			created: at.Truncate(time.Second),
			want:    Ours},
		{name: "untagged for long, of a kind without creation times", o: with(func(o *Owner) {
			o.Record.Known, o.Record.CreatedAt, o.Record.NoCreationTime = true, at, true
			o.Recent.UntaggedSettled = true
		}), created: at.Add(time.Hour), want: Ours},
		{name: "untagged for long, without creation times, never seen tagged",
			o:    with(func(o *Owner) { o.Record.Known, o.Record.NoCreationTime = true, true; o.Recent.UntaggedSettled = true }),
			want: Unproven},
		{name: "untagged for long, created again by another",
			o: with(func(o *Owner) { o.Record.Known, o.Record.CreatedAt = true, at; o.Recent.UntaggedSettled = true }), created: at.Add(time.Hour),
			want: Unproven},
		{name: "untagged for long, AWS reports no creation time",
			o:    with(func(o *Owner) { o.Record.Known = true; o.Recent.UntaggedSettled = true }),
			want: Unproven},
		{name: "untagged for long, only an annotation records it",
			o:       with(func(o *Owner) { o.Record.Intent = &Intent{At: at}; o.Recent.UntaggedSettled = true }),
			created: at.Add(time.Minute), want: Unproven},
		{name: "untagged for long, on record, adoption always",
			o: with(func(o *Owner) { adopting(o); o.Record.Known = true; o.Recent.UntaggedSettled = true }), want: Adopt},
		{name: "untagged right after our acknowledged create",
			o:    with(func(o *Owner) { o.Record.Intent = &Intent{At: at}; o.Recent.Created = true }),
			want: Ours},
		{name: "another owner, although on record", o: with(func(o *Owner) { o.Record.Known, o.Record.CreatedAt = true, at }), created: at,
			tags: tags(map[string]string{wellknown.TagOwner: "S3Bucket/ns/other"}), want: Foreign},

		{name: "deletion that no capability vouches for: an earlier object's", o: with(func(o *Owner) { o.OnlyOwn = true }),
			tags: tags(map[string]string{wellknown.TagOwnerUID: "u0"}), want: Foreign},
		{name: "deletion that no capability vouches for: our UID", o: with(func(o *Owner) { o.OnlyOwn = true }), tags: tags(nil), want: Ours},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := Judge(c.o, c.tags, c.created)
			if got != c.want {
				t.Errorf("got %v (%s), want %v", got, why, c.want)
			}
			if stops := got == Foreign || got == Unknown || got == Unproven; stops != (why != "") {
				t.Errorf("verdict %v comes with %q", got, why)
			}
		})
	}
}

func TestJudge_AdvisesNoOtherNameWhereAWSAssignsIdentifiers(t *testing.T) {
	for _, known := range []bool{false, true} { // found by its identifier, and recorded
		o := Owner{Identity: Identity{Kind: "NATGateway", Namespace: "team", Name: "exit", UID: "u", Cluster: "c"},
			Record: Record{Known: known}, Unnamed: true}
		o.Recent.UntaggedSettled = true
		if _, why := Judge(o, nil, time.Time{}); strings.Contains(why, "another name") ||
			!strings.Contains(why, "delete this object and create another") {
			t.Errorf("recorded %t: %s", known, why)
		}
		o.Unnamed = false
		if _, why := Judge(o, nil, time.Time{}); !strings.Contains(why, "choose another name") {
			t.Errorf("of a name, recorded %t: %s", known, why)
		}
	}
}

func TestLongOwnersStayApart(t *testing.T) {
	long := strings.Repeat("n", 260)
	a, b := Identity{Name: long + "a"}.OwnerTags()[wellknown.TagOwner], Identity{Name: long + "b"}.OwnerTags()[wellknown.TagOwner]
	if a == b || len(a) > 256 || len(b) > 256 {
		t.Errorf("%d %d %v", len(a), len(b), a == b)
	}
}

func TestIntentSurvivesItsAnnotations(t *testing.T) {
	i := &Intent{Home: "aws/1/r", UID: "u", Attempt: 3, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Refused: true,
		Refs: map[string]kind.Target{"IAMRole/a": {ID: "x", ARN: "y"}}}
	a, err := i.Annotations()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadIntent(a, "u")
	if err != nil || got.Home != i.Home || got.Attempt != 3 || !got.At.Equal(i.At) || !got.Refused || got.Refs["IAMRole/a"].ARN != "y" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := ReadIntent(nil, "u"); got != nil || err != nil {
		t.Errorf("nothing recorded: %v %v", got, err)
	}
	if _, err := ReadIntent(map[string]string{AnnotationHome: "h", AnnotationIntent: "{"}, "u"); err == nil {
		t.Error("an unreadable record was taken for none")
	}
}

// Annotations are copied with a manifest.
func TestReadIntent_IgnoresTheRecordOfAnotherObject(t *testing.T) {
	a, err := (&Intent{Home: "aws/1/r", UID: "u", Attempt: 1}).Annotations()
	if err != nil {
		t.Fatal(err)
	}
	if copied, err := ReadIntent(a, "another"); copied != nil || err != nil {
		t.Errorf("%+v %v", copied, err)
	}
}

func TestTokensAreStableAndApart(t *testing.T) {
	o := Owner{Identity: Identity{UID: "u"}}
	if first, second := Token(o, "a"), Token(o, "a"); first != second {
		t.Error("not stable")
	}
	others := []string{Token(Owner{Identity: Identity{UID: "v"}}, "a"), Token(o, "b"),
		Token(Owner{Identity: Identity{UID: "u"}, Record: Record{Intent: &Intent{Attempt: 2}}}, "a")}
	for _, other := range others {
		if other == Token(o, "a") {
			t.Error("two calls share a token")
		}
	}
	if len(Token(o, "a")) != 36 {
		t.Errorf("%q is no UUID", Token(o, "a"))
	}
}
