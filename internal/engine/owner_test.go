package engine

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestJudge(t *testing.T) {
	us := Owner{Kind: "S3Bucket", Namespace: "ns", Name: "n", UID: "u1", Cluster: "c1"}
	tags := func(edit map[string]string) map[string]string {
		m := us.OwnerTags()
		maps.Copy(m, edit)
		return m
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	with := func(edit func(*Owner)) Owner { o := us; edit(&o); return o }
	for _, c := range []struct {
		name    string
		o       Owner
		tags    map[string]string
		created time.Time
		want    Verdict
	}{
		{name: "our UID", o: us, tags: tags(nil), want: Ours},
		{name: "our UID, whatever the adoption policy", o: with(func(o *Owner) { o.Adoption = v1alpha1.AdoptNever }), tags: tags(nil), want: Ours},
		{name: "an earlier object of the name", o: us, tags: tags(map[string]string{TagOwnerUID: "u0"}), want: TakeOver},
		{name: "an earlier object, adoption refused", o: with(func(o *Owner) { o.Adoption = v1alpha1.AdoptNever }), tags: tags(map[string]string{TagOwnerUID: "u0"}), want: Foreign},
		{name: "another object", o: us, tags: tags(map[string]string{TagOwner: "S3Bucket/ns/other"}), want: Foreign},
		{name: "another object, adoption always", o: with(func(o *Owner) {
			o.Adoption, o.AllowAdoption, o.Deletion = v1alpha1.AdoptAlways, true, v1alpha1.DeletionRetain
		}),
			tags: tags(map[string]string{TagOwner: "S3Bucket/ns/other"}), want: Foreign},
		{name: "another cluster", o: us, tags: tags(map[string]string{TagCluster: "c0"}), want: Foreign},
		{name: "a previous cluster", o: with(func(o *Owner) { o.Previous = []string{"c0"} }), tags: tags(map[string]string{TagCluster: "c0", TagOwnerUID: "u0"}), want: TakeOver},
		{name: "half of our tags", o: us, tags: map[string]string{TagOwnerUID: "u1"}, want: Foreign},
		{name: "nobody", o: us, tags: map[string]string{"team": "a"}, want: Foreign},
		{name: "nobody, adoption always", o: with(func(o *Owner) {
			o.Adoption, o.AllowAdoption, o.Deletion = v1alpha1.AdoptAlways, true, v1alpha1.DeletionRetain
		}), want: Adopt},
		{name: "nobody, the provider forbids adoption", o: with(func(o *Owner) { o.Adoption, o.Deletion = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }), want: Foreign},
		{name: "nobody, made after our recorded attempt", o: with(func(o *Owner) { o.Intent, o.TrustAttempts = &Intent{At: at}, true }), created: at.Truncate(time.Second), want: Ours},
		{name: "nobody, made after a recorded attempt that a tenant could have forged", o: with(func(o *Owner) { o.Intent = &Intent{At: at} }), created: at.Add(time.Minute), want: Foreign},
		{name: "an earlier object's, in a deletion nobody vouches for", o: with(func(o *Owner) { o.OnlyOwn = true }), tags: tags(map[string]string{TagOwnerUID: "u0"}), want: Foreign},
		{name: "our own, in a deletion nobody vouches for", o: with(func(o *Owner) { o.OnlyOwn = true }), tags: tags(nil), want: Ours},
		{name: "nobody's, in a deletion nobody vouches for", o: with(func(o *Owner) { o.OnlyOwn, o.TrustAttempts, o.Intent = true, true, &Intent{At: at} }), created: at.Add(time.Minute), want: Foreign},
		{name: "nobody, made before our recorded attempt", o: with(func(o *Owner) { o.Intent, o.TrustAttempts = &Intent{At: at}, true }), created: at.Add(-time.Minute), want: Foreign},
		{name: "nobody, no creation time", o: with(func(o *Owner) { o.Intent, o.TrustAttempts = &Intent{At: at}, true }), want: Foreign},
		{name: "nobody, no attempt recorded", o: with(func(o *Owner) { o.Intent, o.TrustAttempts = &Intent{}, true }), created: at, want: Foreign},
		{name: "somebody's, made after our attempt", o: with(func(o *Owner) { o.Intent, o.TrustAttempts = &Intent{At: at}, true }), tags: tags(map[string]string{TagCluster: "c0"}), created: at.Add(time.Minute), want: Foreign},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := Judge(c.o, c.tags, c.created)
			if got != c.want {
				t.Errorf("got %v (%s), want %v", got, why, c.want)
			}
			if (got == Foreign) != (why != "") {
				t.Errorf("verdict %v comes with %q", got, why)
			}
		})
	}
}

func TestLongOwnersStayApart(t *testing.T) {
	long := strings.Repeat("n", 260)
	a, b := Owner{Name: long + "a"}.OwnerTags()[TagOwner], Owner{Name: long + "b"}.OwnerTags()[TagOwner]
	if a == b || len(a) > 256 || len(b) > 256 {
		t.Errorf("%d %d %v", len(a), len(b), a == b)
	}
}

func TestIntentSurvivesItsAnnotations(t *testing.T) {
	i := &Intent{Home: "aws/1/r", Attempt: 3, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Refs: map[string]kind.Target{"IAMRole/a": {ID: "x", ARN: "y"}}}
	a, err := i.Annotations()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadIntent(a)
	if err != nil || got.Home != i.Home || got.Attempt != 3 || !got.At.Equal(i.At) || got.Refs["IAMRole/a"].ARN != "y" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := ReadIntent(nil); got != nil || err != nil {
		t.Errorf("nothing recorded: %v %v", got, err)
	}
	if _, err := ReadIntent(map[string]string{AnnotationHome: "h", AnnotationIntent: "{"}); err == nil {
		t.Error("an unreadable record was taken for none")
	}
}

func TestTokensAreStableAndApart(t *testing.T) {
	o := Owner{UID: "u"}
	if first, second := Token(o, "a"), Token(o, "a"); first != second {
		t.Error("not stable")
	}
	others := []string{Token(Owner{UID: "v"}, "a"), Token(o, "b"), Token(Owner{UID: "u", Intent: &Intent{Attempt: 2}}, "a")}
	for _, other := range others {
		if other == Token(o, "a") {
			t.Error("two calls share a token")
		}
	}
	if len(Token(o, "a")) != 36 {
		t.Errorf("%q is no UUID", Token(o, "a"))
	}
}
