// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name   = "myapp/dev/llm-api-key"
	object = "myapp-dev-llm-api-key"
	canary = "canary-5f1c9e"
	keyID  = "1234abcd-12ab-34cd-56ef-1234567890ab"
	keyARN = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/" + keyID
)

type spec = v1alpha1.SecretsManagerSecretSpec

func secretOf(edits ...func(s *spec)) *v1alpha1.SecretsManagerSecret {
	o := &v1alpha1.SecretsManagerSecret{}
	o.Name = object
	o.Spec.SecretName = name
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

// capability is a secret as a capability compiles it.
func capability(s *spec) {
	s.Placeholder = map[string]v1alpha1.PlaceholderValue{"OPENAI_API_KEY": "CHANGE_ME", "SESSION_KEY": ""}
	s.Generate = &v1alpha1.SecretGenerate{Keys: []string{"SESSION_KEY"}}
}

func source(s *spec) { s.SecretStringRef = &v1alpha1.SecretKeyReference{Name: "k8s", Key: "value"} }

func kms(id string) func(s *spec) { return func(s *spec) { s.KmsKeyId = &id } }

func described(d string) func(s *spec) { return func(s *spec) { s.Description = &d } }

func window(days int64) func(s *spec) { return func(s *spec) { s.RecoveryWindowInDays = &days } }

func recreate(s *spec) { s.RecreateOnLoss = true }

func generate(g v1alpha1.SecretGenerate) func(s *spec) { return func(s *spec) { s.Generate = &g } }

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

func with(v string) func(s *kindtest.Subject) {
	return func(s *kindtest.Subject) { s.Secrets = map[string]string{"k8s/value": v} }
}

func api(r *kindtest.Rig) *secretsmanager.Client { return secretsmanager.NewFromConfig(r.Config) }

func describe(t *testing.T, r *kindtest.Rig) *secretsmanager.DescribeSecretOutput {
	t.Helper()
	out, err := api(r).DescribeSecret(t.Context(), &secretsmanager.DescribeSecretInput{SecretId: aws.String(name)})
	kindtest.Must(t, err)
	return out
}

// read returns the value of the secret, which only tests read. The emulator answers for the version put last, whatever is in force, so the
// version is named.
func read(t *testing.T, r *kindtest.Rig) string {
	t.Helper()
	in := &secretsmanager.GetSecretValueInput{SecretId: aws.String(name)}
	for id, labels := range describe(t, r).VersionIdsToStages {
		if slices.Contains(labels, current) {
			in.VersionId = &id
		}
	}
	out, err := api(r).GetSecretValue(t.Context(), in)
	kindtest.Must(t, err)
	return aws.ToString(out.SecretString)
}

func createSecret(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateSecret(t.Context(),
			&secretsmanager.CreateSecretInput{Name: aws.String(name), SecretString: aws.String("theirs"), Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
}

// person puts a value as a person would.
func person(v string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String(name), SecretString: &v})
		kindtest.Must(t, err)
	}
}

func schedule(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteSecret(t.Context(),
		&secretsmanager.DeleteSecretInput{SecretId: aws.String(name), RecoveryWindowInDays: aws.Int64(7)})
	kindtest.Must(t, err)
}

func destroy(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteSecret(t.Context(),
		&secretsmanager.DeleteSecretInput{SecretId: aws.String(name), ForceDeleteWithoutRecovery: aws.Bool(true)})
	kindtest.Must(t, err)
}

func exists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	out, err := api(r).DescribeSecret(t.Context(), &secretsmanager.DescribeSecretInput{SecretId: aws.String(name)})
	if err != nil && !awsclient.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil && out.DeletedDate == nil
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "SecretsManagerSecret", Namespace: kindtest.Namespace, Name: object, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

const (
	create  = "secretsmanager:CreateSecret"
	restore = "secretsmanager:RestoreSecret"
	update  = "secretsmanager:UpdateSecret"
	put     = "secretsmanager:PutSecretValue"
	promote = "secretsmanager:UpdateSecretVersionStage"
	tag     = "secretsmanager:TagResource"
	untag   = "secretsmanager:UntagResource"
	remove  = "secretsmanager:DeleteSecret"
)

func TestSecret(t *testing.T) {
	promoted := kindtest.Case{Name: "a source that was changed back", Existing: secretOf(source), Object: secretOf(source), Drift: true,
		Cause: engine.Drifted,
		Diff:  []string{"SourceVersion"}, Actions: []string{promote}}
	var s *kindtest.Subject
	promoted.Facts = func(sub *kindtest.Subject) { s = sub; with("a")(sub) }
	promoted.Before = func(t *testing.T, _ *kindtest.Rig) {
		with("b")(s)
		_, err := s.Settle(t.Context(), nil)
		kindtest.Must(t, err)
		s.Actions = nil
		with("a")(s)
	}
	kindtest.Run(t, engine.For(NewSecret),
		slices.Concat([]kindtest.Case{promoted}, lives(), refusals(), edits(), drifts(), deletions(), owners(), accessRows()))
}

func lives() []kindtest.Case {
	return []kindtest.Case{
		{Name: "absent is created, and only the create is planned",
			Object: secretOf(capability, described("keys"), kms(keyARN), tagged("team", "a")), Cause: engine.New, Actions: []string{create}},
		{Name: "without a value", Object: secretOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with a random value", Object: secretOf(generate(v1alpha1.SecretGenerate{})), Cause: engine.New, Actions: []string{create}},
		{Name: "with a value from a Kubernetes Secret", Object: secretOf(source), Facts: with("v"), Cause: engine.New, Actions: []string{create}},
		{Name: "the key is the same by its id", Existing: secretOf(kms(keyARN)), Object: secretOf(kms(keyID)), Cause: engine.InSync},
		{Name: "the default key is the same by any name", Existing: secretOf(), Object: secretOf(kms("alias/aws/secretsmanager")),
			Cause: engine.InSync},
		{Name: "an empty key is the default key", Existing: secretOf(), Object: secretOf(kms("")), Cause: engine.InSync},
		{Name: "no description is the same as an empty one", Existing: secretOf(), Object: secretOf(described("")), Cause: engine.InSync},
		{Name: "what is no longer declared stays as it is", Existing: secretOf(capability, described("d"), kms(keyID)), Object: secretOf(),
			Cause: engine.InSync},
		{Name: "a placeholder declared later is not put", Existing: secretOf(), Object: secretOf(capability), Cause: engine.InSync},
		{Name: "a changed placeholder is not put", Existing: secretOf(capability),
			Object: secretOf(func(s *spec) { s.Placeholder = map[string]v1alpha1.PlaceholderValue{"X": "y"} }), Cause: engine.InSync},
		{Name: "a secret that vanished is reported and not recreated", Existing: secretOf(), Object: secretOf(), Drift: true, Before: destroy,
			Stalled: status.ReasonMissing},
		{Name: "a secret that vanished is recreated with recreateOnLoss", Existing: secretOf(capability, recreate),
			Object: secretOf(capability, recreate), Drift: true, Before: destroy,
			Cause: engine.New, Actions: []string{create}},
	}
}

func refusals() []kindtest.Case {
	row := func(name, reason string, edits ...func(*spec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: secretOf(edits...), Facts: with("v"), Stalled: reason}
	}
	elsewhere := func(s *spec) { source(s); s.SecretStringRef.Namespace = "team-b" }
	missing := func(s *spec) { source(s); s.SecretStringRef.Key = "other" }
	cases := []kindtest.Case{
		row("a source and a placeholder", status.ReasonInvalidSpec, source,
			func(s *spec) { s.Placeholder = map[string]v1alpha1.PlaceholderValue{"a": ""} }),
		row("a source and random values", status.ReasonInvalidSpec, source, generate(v1alpha1.SecretGenerate{})),
		row("a placeholder, and random values for which keys", status.ReasonInvalidSpec, capability, generate(v1alpha1.SecretGenerate{})),
		row("random values of too few characters", status.ReasonInvalidSpec, generate(v1alpha1.SecretGenerate{Exclude: alphabet[9:]})),
		row("random values that are too short", status.ReasonInvalidSpec, generate(v1alpha1.SecretGenerate{Length: 4})),
		row("random values that are too many", status.ReasonInvalidSpec,
			generate(v1alpha1.SecretGenerate{Length: 1024, Keys: make([]string, 40)})),
		row("a recovery window that AWS does not know", status.ReasonInvalidSpec, window(3)),
		row("a source in another namespace", status.ReasonNotPermitted, elsewhere),
		row("a source that is not there", status.ReasonCredentialsMissing, missing),
	}
	cases = append(cases, kindtest.Case{Name: "a binary source that is too long", Object: secretOf(binary),
		Facts: with(strings.Repeat("x", maxValue+1)), Stalled: status.ReasonInvalidSpec},
		row("a binary source beside one of text", status.ReasonInvalidSpec, source, binary),
		row("a binary source and random values", status.ReasonInvalidSpec, binary, generate(v1alpha1.SecretGenerate{})),
		row("a binary source in another namespace", status.ReasonNotPermitted,
			func(s *spec) { binary(s); s.SecretBinaryRef.Namespace = "team-b" }))
	for what, v := range map[string]string{"empty": "", "too long": strings.Repeat("x", maxValue+1), "not text": "\xff\xfe"} {
		cases = append(cases, kindtest.Case{Name: "a source that is " + what, Object: secretOf(source), Facts: with(v),
			Stalled: status.ReasonInvalidSpec})
	}
	return cases
}

func edits() []kindtest.Case {
	return []kindtest.Case{
		{Name: "the description", Existing: secretOf(described("a"), kms(keyID)), Object: secretOf(described("b"), kms(keyID)),
			Cause: engine.Edited, Diff: []string{"Description"}, Actions: []string{update}},
		{Name: "an empty description clears it", Existing: secretOf(described("a")), Object: secretOf(described("")),
			Cause: engine.Edited, Diff: []string{"Description"}, Actions: []string{update}},
		{Name: "a key", Existing: secretOf(), Object: secretOf(kms(keyARN)), Cause: engine.Edited, Diff: []string{"KMSKeyID"},
			Actions: []string{update}},
		{Name: "an empty key is the default one", Existing: secretOf(kms(keyARN)), Object: secretOf(kms("")), Cause: engine.Edited,
			Diff: []string{"KMSKeyID"}, Actions: []string{update}},
		{Name: "tags are added and dropped", Existing: secretOf(tagged("old", "1")), Object: secretOf(tagged("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "a source declared later is put", Existing: secretOf(capability), Object: secretOf(source), Facts: with("v"),
			Cause: engine.Edited, Diff: []string{"SourceVersion"}, Actions: []string{put}},
		{Name: "a source declared later is put where there is no value", Existing: secretOf(), Object: secretOf(source), Facts: with("v"),
			Cause: engine.Edited, Diff: []string{"SourceVersion"}, Actions: []string{put}},
		{Name: "a source no longer declared leaves its value", Existing: secretOf(source), Object: secretOf(), Facts: with("v"),
			Cause: engine.InSync},
	}
}

func drifts() []kindtest.Case {
	return []kindtest.Case{
		{Name: "a person's value wins over the source", Existing: secretOf(source), Object: secretOf(source), Facts: with("v"), Drift: true,
			Before: person("p"), Cause: engine.InSync},
		{Name: "a person's third value wins over the source", Existing: secretOf(source), Object: secretOf(source), Facts: with("v"), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) { person("p")(t, r); person("q")(t, r); person("r")(t, r) }, Cause: engine.InSync},
		{Name: "a deletion scheduled by a person is undone", Existing: secretOf(capability), Object: secretOf(capability), Drift: true,
			Before: schedule,
			Cause:  engine.Drifted, Diff: []string{"ScheduledForDeletion"}, Actions: []string{restore}},
		{Name: "the source is judged after the restore", Existing: secretOf(), Object: secretOf(source, tagged("a", "b")), Facts: with("v"),
			Before: schedule,
			Cause:  engine.Edited, Diff: []string{"ScheduledForDeletion", "SourceVersion", "Tags[a]"}, Actions: []string{restore, tag}},
	}
}

func deletions() []kindtest.Case {
	row := func(n string, c kindtest.Case, edits ...func(*spec)) kindtest.Case {
		c.Name, c.Existing, c.Object, c.Deleting, c.Drift = n, secretOf(edits...), secretOf(edits...), true, true
		return c
	}
	return []kindtest.Case{
		row("deleting", kindtest.Case{Cause: engine.Deleting, Actions: []string{remove}}, capability),
		{Name: "a replicated secret is held", Existing: secretOf(capability), Object: secretOf(capability), Deleting: true, Drift: true,
			OnRun: true, Waiting: status.ReasonInUse,
			Before: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				_, err := api(r).ReplicateSecretToRegions(t.Context(), &secretsmanager.ReplicateSecretToRegionsInput{SecretId: aws.String(name),
					AddReplicaRegions: []types.ReplicaRegionType{{Region: aws.String("eu-west-1")}}})
				kindtest.Must(t, err)
			}},
		row("deleting at once", kindtest.Case{Cause: engine.Deleting, Actions: []string{remove}}, window(0)),
		row("a secret in its recovery window is deleted", kindtest.Case{Before: schedule, Cause: engine.Gone}),
		row("deleting what is gone", kindtest.Case{Before: destroy, Cause: engine.Gone}),
		row("deleting with Orphan removes only the owner tags", kindtest.Case{Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
			deletion(v1alpha1.DeletionOrphan)),
	}
}

func owners() []kindtest.Case {
	always := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }
	before := func(tags map[string]string, then func(*testing.T, *kindtest.Rig)) func(*testing.T, *kindtest.Rig) {
		return func(t *testing.T, r *kindtest.Rig) { createSecret(tags)(t, r); then(t, r) }
	}
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: secretOf(),
			Before: createSecret(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "deleted with an earlier object of this name, it is restored", Object: secretOf(capability),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster), schedule),
			Cause:  engine.Edited, Diff: []string{"ScheduledForDeletion", "Tags[nexus.ai/owner-uid]"}, Actions: []string{restore, tag}},
		{Name: "adoptionPolicy Never refuses an earlier object's secret",
			Object: secretOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: createSecret(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: secretOf(), Before: createSecret(ownerTags("uid-of-"+object, "another")),
			Stalled: status.ReasonConflict},
		{Name: "another's deletion is not undone", Object: secretOf(), Before: before(ownerTags("uid-of-"+object, "another"), schedule),
			Stalled: status.ReasonConflict},
		{Name: "an untagged secret is left alone", Object: secretOf(), Before: createSecret(nil), Stalled: status.ReasonConflict},
		{Name: "an untagged secret is adopted with allowAdoption", Object: secretOf(always), Before: createSecret(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited, Diff: ownerPaths, Actions: []string{tag}},
	}
}

func secretLives() map[string]kindtest.Life {
	lives := map[string]kindtest.Life{
		"rotation": {Sample: secretOf(binary, window(0), policy(reader), rotates(function, 30)),
			Edited: secretOf(binary, window(0), policy(""), noRotation), Facts: with("\xff\x00"),
			Invalid: []v1alpha1.Resource{secretOf(binary, window(0), policy("{")), secretOf(binary, source, window(0))}},
		"placeholder": {Sample: secretOf(capability), Edited: secretOf(capability, described("d"), tagged("team", "b")),
			Invalid: []v1alpha1.Resource{secretOf(capability, generate(v1alpha1.SecretGenerate{})), secretOf(window(3))}},
		"source": {Sample: secretOf(source, window(0)), Edited: secretOf(source, window(0), kms(keyARN)), Facts: with("v"),
			Invalid: []v1alpha1.Resource{secretOf(source, capability, window(0)),
				secretOf(source, window(0), func(s *spec) { s.SecretStringRef.Key = "missing" })}},
	}
	for what, life := range lives {
		life.Exists, life.Foreign = exists, createSecret(map[string]string{"owner": "somebody"})
		lives[what] = life
	}
	return lives
}

func TestSecretSurvivesFaults(t *testing.T) {
	for what, life := range secretLives() {
		t.Run(what, func(t *testing.T) { kindtest.Faults(t, engine.For(NewSecret), life) })
	}
}

func TestSecretSurvivesLag(t *testing.T) {
	for what, life := range secretLives() {
		t.Run(what, func(t *testing.T) { kindtest.Lag(t, engine.For(NewSecret), life) })
	}
}

func settled(t *testing.T, o *v1alpha1.SecretsManagerSecret, facts func(*kindtest.Subject)) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewSecret), o)
	if facts != nil {
		facts(s)
	}
	settle(t, s)
	return s
}

func settle(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced && !out.Gone {
		t.Fatalf("%v\n%s", err, s.Rig.AWS.Calls())
	}
}

func statusOf(s *kindtest.Subject) v1alpha1.SecretsManagerSecretStatus {
	return s.Object.(*v1alpha1.SecretsManagerSecret).Status
}

func TestSecretCosts(t *testing.T) {
	s := settled(t, secretOf(capability), nil)
	if got := s.Rig.AWS.Calls(); got.Count() != 2 || got[0].Op != "CreateSecret" || got[1].Op != "DescribeSecret" {
		t.Errorf("create took %d calls, want the create and 1 describe:\n%s", got.Count(), got)
	}
	mark := s.Rig.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	if got := s.Rig.AWS.Since(mark); got.Count() != 1 || got[0].Op != "DescribeSecret" {
		t.Errorf("a check took %d calls, want 1 describe:\n%s", got.Count(), got)
	}
	mark = s.Rig.AWS.Mark()
	s.Deleting = true
	settle(t, s)
	// The recovery window begins when the call succeeds, so no second look follows.
	if got := s.Rig.AWS.Since(mark); got.Count() != 2 || got.Writes().Count() != 1 {
		t.Errorf("delete took %d calls, want a look and the delete:\n%s", got.Count(), got)
	}
	for _, c := range s.Rig.AWS.Calls() {
		if strings.Contains(c.Op, "GetSecretValue") {
			t.Errorf("a plaintext read: %s", c)
		}
	}
}

func TestCheckOfASourceCostsOneDescribe(t *testing.T) {
	s := settled(t, secretOf(source), with("v"))
	for _, v := range []string{"p", "q", "r"} { // the source's version has no label left after two
		person(v)(t, s.Rig)
		mark := s.Rig.AWS.Mark()
		settle(t, s)
		if got := s.Rig.AWS.Since(mark); got.Count() != 1 {
			t.Errorf("%d calls:\n%s", got.Count(), got)
		}
	}
	if v := read(t, s.Rig); v != "r" {
		t.Errorf("the person's value became %q", v)
	}
}

func TestSourceHistory(t *testing.T) {
	for _, h := range []struct {
		steps string // small letters are sources, capital ones are a person's values
		want  string
	}{
		{"ab", "b"},
		{"aP", "P"},
		{"aPa", "P"},
		{"aPb", "b"},
		{"aba", "a"},   // back again: AWS has the version, as the previous one
		{"abca", "a"},  // and without a label
		{"abPa", "a"},  // the source changed, so it wins again
		{"abPQb", "Q"}, // it did not
	} {
		s := settled(t, secretOf(source), with(h.steps[:1]))
		for _, v := range strings.Split(h.steps[1:], "") {
			if v == strings.ToUpper(v) {
				person(v)(t, s.Rig)
			} else {
				with(v)(s)
			}
			settle(t, s)
		}
		if v := read(t, s.Rig); v != h.want {
			t.Errorf("%s: the value is %q, want %q", h.steps, v, h.want)
		}
	}
}

// A status that was lost, as in a restore from a backup, must not cost a person's value.
func TestSourceIsNotPutAgainAfterALostStatus(t *testing.T) {
	for _, values := range [][]string{{"p"}, {"p", "q", "r"}} {
		s := settled(t, secretOf(source), with("v"))
		for _, v := range values {
			person(v)(t, s.Rig)
		}
		s.Object.(*v1alpha1.SecretsManagerSecret).Status = v1alpha1.SecretsManagerSecretStatus{}
		mark := s.Rig.AWS.Mark()
		settle(t, s)
		if w := s.Rig.AWS.Since(mark).Writes(); w.Count() > 0 || read(t, s.Rig) != values[len(values)-1] {
			t.Errorf("%v: written to:\n%s", values, w)
		}
		if statusOf(s).SourceVersionId == "" {
			t.Error("not recorded again")
		}
	}
}

func TestPlaceholderIsReportedUntilItIsReplaced(t *testing.T) {
	s := settled(t, secretOf(capability), nil)
	check := func(when string, want bool, reason string) {
		t.Helper()
		p, err := s.Decide(t.Context())
		kindtest.Must(t, err)
		settle(t, s)
		n := p.Notes
		if len(n) != 1 || n[0].Type != "SecretsPopulated" || n[0].True != want || n[0].Reason != reason || !strings.Contains(n[0].Message, name) {
			t.Errorf("%s: notes %+v", when, n)
		}
		st := statusOf(s)
		if aws.ToBool(st.Populated) != want || st.InitialVersionId == "" || st.VersionId == st.InitialVersionId == want {
			t.Errorf("%s: %+v", when, st)
		}
	}
	check("at first", false, status.ReasonPlaceholdersEmpty)
	first := read(t, s.Rig)
	person(`{"OPENAI_API_KEY":"sk"}`)(t, s.Rig)
	check("filled in", true, status.ReasonPopulated)

	// A deleted and recreated object restores the secret with the value that a person put.
	s.Deleting = true
	settle(t, s)
	again := kindtest.NewSubject(s.Rig, engine.For(NewSecret), secretOf(capability))
	again.Object.SetUID("another")
	settle(t, again)
	if v := read(t, s.Rig); v == first || !strings.Contains(v, "sk") {
		t.Error("a person's value was lost")
	}
	if st := statusOf(again); !aws.ToBool(st.Populated) {
		t.Errorf("%+v", st)
	}
}

func TestPlaceholderIsRecognizedByALaterObject(t *testing.T) {
	s := settled(t, secretOf(capability), nil)
	s.Deleting = true
	settle(t, s)
	again := kindtest.NewSubject(s.Rig, engine.For(NewSecret), secretOf(capability))
	again.Object.SetUID("another")
	settle(t, again)
	if st := statusOf(again); st.Populated == nil || *st.Populated || st.InitialVersionId != st.VersionId {
		t.Errorf("%+v", st)
	}
}

func TestFirstValues(t *testing.T) {
	for what, c := range map[string]struct {
		edits   []func(*spec)
		pattern string
	}{
		"a random string": {[]func(*spec){generate(v1alpha1.SecretGenerate{})}, `^[A-Za-z0-9]{32}$`},
		"of a length": {[]func(*spec){generate(v1alpha1.SecretGenerate{Length: 100, Exclude: "abcdefghijklmnopqrstuvwxyz"})},
			`^[A-Z0-9]{100}$`},
		"random values by key": {[]func(*spec){generate(v1alpha1.SecretGenerate{Keys: []string{"b", "a"}})},
			`^{"a":"[A-Za-z0-9]{32}","b":"[A-Za-z0-9]{32}"}$`},
		"placeholders and both": {[]func(*spec){capability}, `^{"OPENAI_API_KEY":"CHANGE_ME","SESSION_KEY":"[A-Za-z0-9]{32}"}$`},
	} {
		s := settled(t, secretOf(c.edits...), nil)
		if v := read(t, s.Rig); !regexp.MustCompile(c.pattern).MatchString(v) {
			t.Errorf("%s: the value is not of the form %s", what, c.pattern)
		}
	}
}

func TestRecoveryWindow(t *testing.T) {
	for _, c := range []struct {
		edits []func(*spec)
		days  int
	}{{nil, 30}, {[]func(*spec){window(7)}, 7}} {
		s := settled(t, secretOf(c.edits...), nil)
		s.Deleting = true
		settle(t, s)
		at := aws.ToTime(describe(t, s.Rig).DeletedDate)
		if d := time.Until(at).Hours() / 24; d < float64(c.days)-1 || d > float64(c.days)+1 {
			t.Errorf("deleted in %.1f days, want %d", d, c.days)
		}
	}
	s := settled(t, secretOf(window(0)), nil)
	s.Deleting = true
	settle(t, s)
	if _, err := api(s.Rig).DescribeSecret(t.Context(),
		&secretsmanager.DescribeSecretInput{SecretId: aws.String(name)}); !awsclient.IsNotFound(err) {
		t.Errorf("not gone at once: %v", err)
	}
}

func TestValueShowsOnlyInTheCallThatCarriesIt(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewSecret), secretOf(source))
	with(canary)(s)
	k := NewSecret(s.Rig.Config)
	want, err := k.Desired(s.Scope(), s.Object.(*v1alpha1.SecretsManagerSecret))
	kindtest.Must(t, err)
	encoded, err := json.Marshal(want)
	kindtest.Must(t, err)
	texts := []string{string(encoded), fmt.Sprintf("%v %+v %#v %s", want, want, want, want.Source)}
	settle(t, s)
	with(canary + "2")(s)
	p, err := s.Decide(t.Context())
	kindtest.Must(t, err)
	texts = append(texts, fmt.Sprintf("%+v", p.Diff))
	if len(p.Diff) != 1 || p.Diff[0].Want != "***" {
		t.Errorf("%+v", p.Diff)
	}
	settle(t, s)
	encoded, err = json.Marshal(s.Object)
	kindtest.Must(t, err)
	for _, text := range append(texts, string(encoded)) {
		if strings.Contains(text, canary) {
			t.Errorf("the value shows: %s", text)
		}
	}
	carriers := map[string]bool{}
	for _, c := range s.Rig.AWS.Calls() {
		if strings.Contains(c.Body, canary) {
			carriers[c.Op] = true
		}
	}
	if got := slices.Sorted(maps.Keys(carriers)); !slices.Equal(got, []string{"CreateSecret", "PutSecretValue"}) {
		t.Errorf("carried by %v", got)
	}
}

func TestPublishedFields(t *testing.T) {
	s := settled(t, secretOf(source), with("v"))
	st := statusOf(s)
	if !strings.HasPrefix(st.ARN, "arn:aws:secretsmanager:") || st.ID != name || st.VersionId == "" || st.CreationTime == nil ||
		st.SourceVersionId != st.VersionId || st.Populated != nil || st.InitialVersionId != "" {
		t.Errorf("%+v", st)
	}
}

// CreateSecret answers with success, and changes nothing, where a secret of the name has a version of the same ID and
// value: the placeholder of an object of the same name, in another cluster or before it was orphaned.
func TestASuccessfulCreateDoesNotProveANewSecret(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"of another cluster": {"nexus.ai/cluster": "another"}, "of nobody": {"owner": "somebody"},
	} {
		t.Run(name, func(t *testing.T) {
			r := kindtest.NewRig(t)
			createSecret(tags)(t, r)
			rule := r.AWS.Fault(emulator.Match{Service: "secretsmanager", Op: "CreateSecret", Times: 1}, emulator.Fail(200, "", ""))
			mark := r.AWS.Mark()
			_, err := kindtest.NewSubject(r, engine.For(NewSecret), secretOf(capability, described("mine"))).Settle(t.Context(), nil)
			if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict && st.Reason != status.ReasonOwnershipUnknown {
				t.Fatalf("got %v, want Conflict or OwnershipUnknown", err)
			}
			if w := r.AWS.Since(mark).Writes(); len(w) != 1 || rule.Hits() != 1 {
				t.Errorf("wrote:\n%s", w)
			}
		})
	}
}
