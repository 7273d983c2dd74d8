// SPDX-License-Identifier: Apache-2.0

package ecr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name   = "shop"
	stored = "team/shop"
	keyARN = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"

	create         = "ecr:CreateRepository"
	putMutability  = "ecr:PutImageTagMutability"
	putScanning    = "ecr:PutImageScanningConfiguration"
	putLifecycle   = "ecr:PutLifecyclePolicy"
	dropLifecycle  = "ecr:DeleteLifecyclePolicy"
	setPolicy      = "ecr:SetRepositoryPolicy"
	dropPolicy     = "ecr:DeleteRepositoryPolicy"
	tag            = "ecr:TagResource"
	untag          = "ecr:UntagResource"
	removeWhole    = "ecr:DeleteRepository"
	scheduleOf     = `{"rules":[{"rulePriority":1,"selection":{"tagStatus":"any","countType":"imageCountMoreThan","countNumber":%d},"action":{"type":"expire"}}]}`
	sameInWords    = `{"rules": [{"action": {"type": "expire"}, "rulePriority": 1, "selection": {"countNumber": 30, "countType": "imageCountMoreThan", "tagStatus": "any"}}]}`
	unordered      = `{"rules":[{"rulePriority":20,"selection":{"tagStatus":"any","countType":"imageCountMoreThan","countNumber":9},"action":{"type":"expire"}},{"rulePriority":10,"selection":{"tagStatus":"tagged","tagPrefixList":["rc","dev","beta"],"countType":"imageCountMoreThan","countNumber":3},"action":{"type":"expire"}}]}`
	ordered        = `{"rules":[{"rulePriority":10,"selection":{"tagStatus":"tagged","tagPrefixList":["beta","dev","rc"],"countType":"imageCountMoreThan","countNumber":3},"action":{"type":"expire"}},{"rulePriority":20,"selection":{"tagStatus":"any","countType":"imageCountMoreThan","countNumber":9},"action":{"type":"expire"}}]}`
	pulls          = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::210987654321:root"},"Action":"ecr:BatchGetImage"}]}`
	pullsInWords   = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::210987654321:root"]},"Action":["ECR:BatchGetImage"]}}`
	pullsAndLayers = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::210987654321:root"},"Action":["ecr:BatchGetImage","ecr:GetDownloadUrlForLayer"]}]}`
)

var keep30, keep9 = fmt.Sprintf(scheduleOf, 30), fmt.Sprintf(scheduleOf, 9)

type (
	spec = v1alpha1.ECRRepositorySpec
	edit = func(s *spec)
)

func repositoryOf(edits ...edit) *v1alpha1.ECRRepository {
	o := &v1alpha1.ECRRepository{}
	o.Name, o.Spec.RepositoryName = name, stored
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func mutability(v string) edit { return func(s *spec) { s.ImageTagMutability = &v } }

func scans(v bool) edit { return func(s *spec) { s.ScanOnPush = &v } }

func lifecycle(v string) edit {
	return func(s *spec) { s.LifecyclePolicy = &v1alpha1.ECRLifecyclePolicy{PolicyText: v} }
}

func policy(v string) edit { return func(s *spec) { s.RepositoryPolicy = &v } }

func encrypted(kindOfKey, key string) edit {
	return func(s *spec) {
		s.EncryptionConfiguration = &v1alpha1.ECREncryption{EncryptionType: kindOfKey, KMSKey: key}
	}
}

func keyRef(s *spec) {
	s.EncryptionConfiguration = &v1alpha1.ECREncryption{EncryptionType: "KMS", KMSKeyRef: &v1alpha1.ObjectReference{Name: "images"}}
}

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) edit { return func(s *spec) { s.DeletionPolicy = p } }

func force(s *spec) { s.ForceDelete = true }

func api(r *kindtest.Rig) *ecr.Client { return ecr.NewFromConfig(r.Config) }

// existing makes a repository outside the operator.
func existing(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateRepository(t.Context(),
			&ecr.CreateRepositoryInput{RepositoryName: aws.String(stored), Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
}

// except lets tags that match be replaced in a repository with immutable tags.
func except(filter string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutImageTagMutability(t.Context(),
			&ecr.PutImageTagMutabilityInput{RepositoryName: aws.String(stored), ImageTagMutability: types.ImageTagMutabilityImmutableWithExclusion,
				ImageTagMutabilityExclusionFilters: []types.ImageTagMutabilityExclusionFilter{{Filter: &filter,
					FilterType: types.ImageTagMutabilityExclusionFilterTypeWildcard}}})
		kindtest.Must(t, err)
	}
}

// push stores an image with two tags, and another one.
func push(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	const manifest = `{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":{"mediaType":"application/vnd.docker.container.image.v1+json","size":1,"digest":"sha256:%064[1]d"},"layers":[{"mediaType":"application/vnd.docker.image.rootfs.diff.tar.gzip","size":1,"digest":"sha256:%064[1]d"}]}`
	for i, tag := range []string{"latest", "v1", "v2"} {
		_, err := api(r).PutImage(t.Context(),
			&ecr.PutImageInput{RepositoryName: aws.String(stored), ImageTag: &tag, ImageManifest: aws.String(fmt.Sprintf(manifest, i/2))})
		kindtest.Must(t, err)
	}
}

func repositories(t *testing.T, r *kindtest.Rig) []types.Repository {
	t.Helper()
	out, err := api(r).DescribeRepositories(t.Context(), &ecr.DescribeRepositoriesInput{})
	kindtest.Must(t, err)
	return out.Repositories
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "ECRRepository", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func targets(s *kindtest.Subject) { s.Targets = map[string]kind.Target{"KMSKey/images": {ARN: keyARN}} }

func TestRepository(t *testing.T) {
	kindtest.Run(t, engine.For(NewRepository), slices.Concat(lives(), edits(), drifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	refused := func(name string, edits ...edit) kindtest.Case {
		return kindtest.Case{Name: name, Object: repositoryOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: repositoryOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with everything that a create sets",
			Object: repositoryOf(mutability("IMMUTABLE"), scans(true), encrypted("KMS", keyARN), tagged("team", "a")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "with a key by reference", Object: repositoryOf(keyRef), Facts: targets, Cause: engine.New, Actions: []string{create}},
		{Name: "with policies", Object: repositoryOf(lifecycle(keep30), policy(pulls)), Cause: engine.New,
			Actions: []string{create, putLifecycle, setPolicy}},
		{Name: "rules and tags in any order", Object: repositoryOf(lifecycle(unordered)), Cause: engine.New,
			Actions: []string{create, putLifecycle}},
		{Name: "the same rules in another order", Existing: repositoryOf(lifecycle(unordered)), Object: repositoryOf(lifecycle(ordered)),
			Cause: engine.InSync},
		{Name: "another priority", Existing: repositoryOf(lifecycle(unordered)),
			Object: repositoryOf(lifecycle(strings.Replace(unordered, "20", "30", 1))), Cause: engine.Edited, Diff: []string{"Lifecycle"},
			Actions: []string{putLifecycle}},
		{Name: "settings that a new repository has",
			Object: repositoryOf(mutability("MUTABLE"), scans(false), encrypted("AES256", ""), lifecycle(""), policy("")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "settings that are no longer declared stay",
			Existing: repositoryOf(mutability("IMMUTABLE"), scans(true), lifecycle(keep30), policy(pulls)), Object: repositoryOf(),
			Cause: engine.InSync},
		refused("a policy that is no document", policy("{")),
		refused("a lifecycle policy that is no document", lifecycle("{")),
		refused("a name in capitals", func(s *spec) { s.RepositoryName = "Shop" }),
		refused("a key without KMS", encrypted("AES256", keyARN)),
	}
}

// ofLambda is a policy with a statement as Lambda adds it for functions of an account.
func ofLambda(account string) string {
	return `{"Version":"2008-10-17","Statement":[{"Sid":"LambdaECRImageRetrievalPolicy","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":["ecr:BatchGetImage","ecr:GetDownloadUrlForLayer"],` +
		`"Condition":{"StringLike":{"aws:sourceArn":"arn:aws:lambda:eu-central-1:` + account + `:function:*"}}}]}`
}

func setsPolicy(text string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		_, err := api(r).SetRepositoryPolicy(t.Context(), &ecr.SetRepositoryPolicyInput{RepositoryName: aws.String(stored), PolicyText: &text})
		kindtest.Must(t, err)
	}
}

// addsStatement adds the statement of Lambda to a policy.
func addsStatement(to string) func(*testing.T, *kindtest.Rig) {
	added, _ := iampolicy.Parse(ofLambda("123456789012"))
	doc, _ := iampolicy.Parse(to)
	added.Version, added.Statement = cmp.Or(doc.Version, added.Version), append(doc.Statement, added.Statement...)
	text, _ := added.Encode()
	return setsPolicy(text)
}

func TestRepository_KeepsWhatLambdaAdded(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRepository), repositoryOf(policy(pulls)))
	kindtest.Settled(t, s)
	addsStatement(pulls)(t, r)
	for i, text := range []string{pullsAndLayers, "", pulls, ""} {
		s.Edit(repositoryOf(policy(text)))
		kindtest.Settled(t, s)
		out, err := api(r).GetRepositoryPolicy(t.Context(), &ecr.GetRepositoryPolicyInput{RepositoryName: aws.String(stored)})
		kindtest.Must(t, err)
		found, err := iampolicy.Parse(*out.PolicyText)
		kindtest.Must(t, err)
		if !found.Names("LambdaECRImageRetrievalPolicy") || (len(found.Statement) > 1) != (text != "") {
			t.Errorf("edit %d: %s", i, *out.PolicyText)
		}
	}
}

func edits() []kindtest.Case {
	row := func(name, path, action string, from, to edit) kindtest.Case {
		return kindtest.Case{Name: name, Existing: repositoryOf(from), Object: repositoryOf(to), Cause: engine.Edited, Diff: []string{path},
			Actions: []string{action}}
	}
	none := func(*spec) {}
	return []kindtest.Case{
		row("immutable tags", "Mutability", putMutability, none, mutability("IMMUTABLE")),
		row("mutable tags", "Mutability", putMutability, mutability("IMMUTABLE"), mutability("MUTABLE")),
		row("scans", "ScanOnPush", putScanning, none, scans(true)),
		row("no scans", "ScanOnPush", putScanning, scans(true), scans(false)),
		row("a lifecycle policy", "Lifecycle", putLifecycle, none, lifecycle(keep30)),
		row("another lifecycle policy", "Lifecycle", putLifecycle, lifecycle(keep30), lifecycle(keep9)),
		row("no lifecycle policy", "Lifecycle", dropLifecycle, lifecycle(keep30), lifecycle("")),
		row("a policy", "Policy", setPolicy, none, policy(pulls)),
		row("another policy", "Policy", setPolicy, policy(pulls), policy(pullsAndLayers)),
		row("no policy", "Policy", dropPolicy, policy(pulls), policy("")),
		{Name: "what Lambda added to a policy stays", Existing: repositoryOf(policy(pulls)), Object: repositoryOf(policy(pulls)), Drift: true,
			Before: addsStatement(pulls), Cause: engine.InSync},
		{Name: "what Lambda added to no policy stays", Existing: repositoryOf(policy("")), Object: repositoryOf(policy("")), Drift: true,
			Before: addsStatement(""), Cause: engine.InSync},
		{Name: "what Lambda added is removed where the spec declares it", Existing: repositoryOf(policy(ofLambda("a"))),
			Object: repositoryOf(policy(ofLambda("a"))), Drift: true,
			Before: setsPolicy(ofLambda("b")), Cause: engine.Drifted, Diff: []string{"Policy"}, Actions: []string{setPolicy}},
		{Name: "a statement of Lambda's Sid for somebody else is removed", Existing: repositoryOf(policy("")), Object: repositoryOf(policy("")),
			Drift:  true,
			Before: setsPolicy(strings.Replace(ofLambda("a"), `{"Service":"lambda.amazonaws.com"}`, `"*"`, 1)), Cause: engine.Drifted,
			Diff: []string{"Policy"}, Actions: []string{dropPolicy}},
		{Name: "the same policies in other words", Existing: repositoryOf(policy(pulls), lifecycle(keep30)),
			Object: repositoryOf(policy(pullsInWords), lifecycle(sameInWords)), Cause: engine.InSync},
		{Name: "tags are added and dropped", Existing: repositoryOf(tagged("old", "1")), Object: repositoryOf(tagged("team", "a")),
			Cause: engine.Edited,
			Diff:  []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "the key of AWS for ECR by its alias", Object: repositoryOf(encrypted("KMS", "alias/aws/ecr")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "a key by its ID", Object: repositoryOf(encrypted("KMS", "1234abcd-12ab-34cd-56ef-1234567890ab")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "an alias, of which ECR shows the key", Object: repositoryOf(encrypted("KMS", "alias/images")), Stalled: status.ReasonInvalidSpec},
		{Name: "exceptions that the plan would remove", Existing: repositoryOf(mutability("IMMUTABLE")),
			Object: repositoryOf(mutability("IMMUTABLE")), Drift: true,
			Before: except("latest*"), Cause: engine.Drifted, Diff: []string{"Mutability"}, Actions: []string{putMutability}},
		{Name: "another type of encryption", Existing: repositoryOf(encrypted("AES256", "")), Object: repositoryOf(encrypted("KMS", keyARN)),
			Stalled: status.ReasonImmutable},
		{Name: "another key", Existing: repositoryOf(encrypted("KMS", keyARN)),
			Object: repositoryOf(encrypted("KMS", strings.Replace(keyARN, "1234abcd", "4321abcd", 1))), Stalled: status.ReasonImmutable},
		{Name: "another name", Existing: repositoryOf(), Object: repositoryOf(func(s *spec) { s.RepositoryName = "other" }),
			Stalled: status.ReasonIdentityChanged},
	}
}

func drifts() []kindtest.Case {
	repo := aws.String(stored)
	row := func(path, action string, object *v1alpha1.ECRRepository, change func(*testing.T, *kindtest.Rig)) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: object, Object: object, Drift: true, Before: change, Cause: engine.Drifted,
			Diff: []string{path}, Actions: []string{action}}
	}
	return []kindtest.Case{
		row("Mutability", putMutability, repositoryOf(mutability("IMMUTABLE")), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).PutImageTagMutability(t.Context(),
				&ecr.PutImageTagMutabilityInput{RepositoryName: repo, ImageTagMutability: types.ImageTagMutabilityMutable})
			kindtest.Must(t, err)
		}),
		row("ScanOnPush", putScanning, repositoryOf(scans(true)), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).PutImageScanningConfiguration(t.Context(),
				&ecr.PutImageScanningConfigurationInput{RepositoryName: repo, ImageScanningConfiguration: &types.ImageScanningConfiguration{}})
			kindtest.Must(t, err)
		}),
		row("Lifecycle", putLifecycle, repositoryOf(lifecycle(keep30)), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).DeleteLifecyclePolicy(t.Context(), &ecr.DeleteLifecyclePolicyInput{RepositoryName: repo})
			kindtest.Must(t, err)
		}),
		row("Policy", setPolicy, repositoryOf(policy(pulls)), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).SetRepositoryPolicy(t.Context(),
				&ecr.SetRepositoryPolicyInput{RepositoryName: repo, PolicyText: aws.String(pullsAndLayers)})
			kindtest.Must(t, err)
		}),
		row("Tags[team]", tag, repositoryOf(tagged("team", "a")), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).TagResource(t.Context(),
				&ecr.TagResourceInput{ResourceArn: repositories(t, r)[0].RepositoryArn, Tags: kind.SDKTags[types.Tag](map[string]string{"team": "b"})})
			kindtest.Must(t, err)
		}),
		{Name: "images are none of the operator's business", Existing: repositoryOf(), Object: repositoryOf(), Drift: true, Before: push,
			Cause: engine.InSync},
		{Name: "a repository that vanished is reported", Existing: repositoryOf(), Object: repositoryOf(), Drift: true, Before: drop,
			Stalled: status.ReasonMissing},
	}
}

func drop(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteRepository(t.Context(), &ecr.DeleteRepositoryInput{RepositoryName: aws.String(stored), Force: true})
	kindtest.Must(t, err)
}

func deletions() []kindtest.Case {
	row := func(name string, o *v1alpha1.ECRRepository, before func(*testing.T, *kindtest.Rig), actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Before: before, Cause: engine.Deleting,
			Actions: actions}
	}
	gone := row("deleting what is gone", repositoryOf(), drop)
	gone.Cause = engine.Gone
	orphan := row("Orphan removes the owner tags and nothing else", repositoryOf(deletion(v1alpha1.DeletionOrphan)), nil, untag)
	orphan.Diff = ownerPaths
	return []kindtest.Case{
		row("deleting", repositoryOf(lifecycle(keep30)), nil, removeWhole), gone, orphan,
		{Name: "deleting a repository with images waits", Existing: repositoryOf(), Object: repositoryOf(), Deleting: true, Drift: true,
			Before: push, Waiting: status.ReasonRepositoryNotEmpty, OnRun: true},
		row("deleting images with it, as declared", repositoryOf(force), push, removeWhole),
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over",
			Object: repositoryOf(func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete }),
			Before: existing(ownerTags("an-earlier-one", kindtest.Cluster)), Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"},
			Actions: []string{tag}},
		{Name: "without an owner it is adopted where allowed",
			Object: repositoryOf(scans(true), func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete }),
			Before: existing(nil), Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited,
			Diff: append([]string{"ScanOnPush"}, ownerPaths...), Actions: []string{tag, putScanning}},
		{Name: "another cluster's is not taken", Object: repositoryOf(), Before: existing(ownerTags("theirs", "another")),
			Stalled: status.ReasonConflict, OnRun: true},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample:  repositoryOf(scans(true), lifecycle(keep30), policy(pulls), tagged("team", "a")),
		Foreign: existing(map[string]string{"theirs": "1"}),
		Exists:  func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return len(repositories(t, r)) > 0 },
		Edited:  repositoryOf(scans(false), mutability("IMMUTABLE"), lifecycle(keep9), policy(""), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{repositoryOf(policy("{")), repositoryOf(lifecycle("{"))},
	}
}

func TestRepositorySurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewRepository), life())
}

func TestRepositorySurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewRepository), life())
}

func subject(t *testing.T, o *v1alpha1.ECRRepository) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewRepository), o), r
}

// Images are lost with a repository: without forceDelete, and while a capability guards them, it is kept.
func TestADeletionWaitsForImages(t *testing.T) {
	for _, c := range []struct {
		name, reason, says string
		guarded            bool
		object             *v1alpha1.ECRRepository
	}{
		{"unforced", status.ReasonRepositoryNotEmpty, "holds 2 images; delete them, set forceDelete: true", false, repositoryOf()},
		{"guarded", status.ReasonDataWouldBeLost, "holds 2 images", true, repositoryOf(force)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := subject(t, c.object)
			kindtest.Settled(t, s)
			push(t, r)
			s.Deleting, s.Guarded = true, c.guarded
			for range 3 {
				_, err := s.Pass(t.Context(), nil)
				if w, ok := status.AsWaiting(err); !ok || w.Reason != c.reason || !strings.Contains(w.Error(), c.says) {
					t.Fatalf("got %v, want %s with %q", err, c.reason, c.says)
				}
			}
			if len(repositories(t, r)) != 1 {
				t.Fatal("the repository is gone with its images")
			}
			_, err := api(r).BatchDeleteImage(t.Context(), &ecr.BatchDeleteImageInput{RepositoryName: aws.String(stored), ImageIds: digests(t, r)})
			kindtest.Must(t, err)
			kindtest.Settled(t, s)
		})
	}
}

func digests(t *testing.T, r *kindtest.Rig) []types.ImageIdentifier {
	t.Helper()
	out, err := api(r).ListImages(t.Context(), &ecr.ListImagesInput{RepositoryName: aws.String(stored)})
	kindtest.Must(t, err)
	var ids []types.ImageIdentifier
	for _, id := range out.ImageIds {
		ids = append(ids, types.ImageIdentifier{ImageDigest: id.ImageDigest})
	}
	return ids
}

func TestAReferenceToAKeyThatIsNotReadyIsWaitedFor(t *testing.T) {
	s, r := subject(t, repositoryOf(keyRef))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "KMSKey/images" || r.AWS.Calls().Count() > 0 {
		t.Fatalf("got %v, want to wait for the key\n%s", err, r.AWS.Calls())
	}
	targets(s)
	kindtest.Settled(t, s)
	if got := repositories(t, r)[0].EncryptionConfiguration; got.EncryptionType != types.EncryptionTypeKms ||
		aws.ToString(got.KmsKey) != keyARN {
		t.Errorf("%+v", got)
	}
}

func TestRepositoryCosts(t *testing.T) {
	s, _ := subject(t, repositoryOf(scans(true), lifecycle(keep30)))
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create",
			Calls: map[string]int{"CreateRepository": 1, "PutLifecyclePolicy": 1, "DescribeRepositories": 1, "GetLifecyclePolicy": 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"DescribeRepositories": 1, "ListTagsForResource": 1, "GetLifecyclePolicy": 1},
			Change: s.Forget},
		kindtest.Cost{Name: "delete", Calls: map[string]int{"DescribeRepositories": 2, "ListTagsForResource": 1, "DeleteRepository": 1},
			Change: func() { s.Deleting = true }})
}

func TestPublishedFields(t *testing.T) {
	s, r := subject(t, repositoryOf())
	kindtest.Settled(t, s)
	st, d := s.Object.(*v1alpha1.ECRRepository).Status, repositories(t, r)[0]
	if st.ID != stored || st.ARN != *d.RepositoryArn || st.RepositoryARN != st.ARN || st.RepositoryURI != *d.RepositoryUri ||
		st.RegistryID != kindtest.Account {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["repositoryUri"] != st.RepositoryURI {
		t.Error(a)
	}
}

// A declared mutability has no exceptions: a plan names those that it would remove, and an edit of another field leaves undeclared settings
// as they are. https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
func TestMutability_APlanNamesTheExceptionsThatItRemoves(t *testing.T) {
	declared, r := subject(t, repositoryOf(mutability("IMMUTABLE")))
	kindtest.Settled(t, declared)
	except("latest*")(t, r)
	p, err := declared.Decide(t.Context())
	if err != nil || len(p.Diff) != 1 || p.Diff[0].Have != "IMMUTABLE_WITH_EXCLUSION latest*" || p.Diff[0].Want != "IMMUTABLE" {
		t.Errorf("%v: %+v", err, p.Diff)
	}
	other, r := subject(t, repositoryOf())
	kindtest.Settled(t, other)
	except("latest*")(t, r)
	other.Edit(repositoryOf(scans(true), lifecycle(keep30)))
	kindtest.Settled(t, other)
	if d := repositories(t, r)[0]; d.ImageTagMutability != types.ImageTagMutabilityImmutableWithExclusion ||
		len(d.ImageTagMutabilityExclusionFilters) != 1 {
		t.Errorf("an edit of other settings left %s with %+v", d.ImageTagMutability, d.ImageTagMutabilityExclusionFilters)
	}
}
