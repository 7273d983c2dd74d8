// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// TestCompileAfter_IsCompile lets proofs come, change and go, and now and then another fact, or the key and the users.
func TestCompileAfter_IsCompile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		f := bounded(c, facts())
		f.Owned = map[string]capability.Proof{}
		g := compile(t, c, f)
		all := everything(t, g, c, f)
		ids := slices.Sorted(maps.Keys(all))
		kept := "KMSKey/" + capability.NamesOf(c).Of("data") // of a key that is declared no more
		all[kept] = capability.Proof{ARN: "arn:aws:kms:eu-central-1:123456789012:key/kept", UID: "kept"}
		ids = append(ids, kept)
		var last *capability.Compilation
		for range rapid.IntRange(2, 6).Draw(t, "steps") {
			f.Owned = maps.Clone(f.Owned)
			for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, len(ids)).Draw(t, "ids") {
				p := all[id]
				switch rapid.IntRange(0, 4).Draw(t, "proof") {
				case 0:
					delete(f.Owned, id)
					continue
				case 1:
					p.ARN += "-other"
				case 2:
					p.UID, p.Client = "another", "another"
				case 3:
					p.Names = p.Names[:len(p.Names)/2]
				}
				f.Owned[id] = p
			}
			if rapid.IntRange(0, 4).Draw(t, "other") == 0 {
				f.Provider.Account = rapid.SampledFrom([]string{"", "123456789012", "210987654321"}).Draw(t, "account")
			}
			want, wrong := capability.Compile(c, f)
			got, err := capability.CompileAfter(last, c, f)
			if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
				t.Fatalf("got the error %v, want %v", err, wrong)
			}
			if err != nil {
				continue
			}
			if a, b := manifests(t, got.Graph), manifests(t, want); a != b {
				t.Fatalf("after another compilation it is\n%s\nand without\n%s", a, b)
			}
			last = got
		}
	})
}

// TestCompileAfter_TakesOverWhatAProofDoesNotChange names the objects that are compiled again for one more proof.
func TestCompileAfter_TakesOverWhatAProofDoesNotChange(t *testing.T) {
	c := minimal(withData, func(c *nexusv1.NexusAICapability) {
		c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "token", Generate: &nexusv1.GenerateSpec{}}}
	})
	f := facts()
	all := everything(t, compile(t, c, f), c, f)
	for id, want := range map[string][]string{
		"DynamoDBTable/myapp-dev-license":      {"IAMRole/myapp-dev-app-role"},
		"S3Bucket/myapp-dev-call-data":         {"GlueCrawler/myapp-dev-call-data-crawler", "IAMRole/myapp-dev-app-role", "IAMRole/myapp-dev-glue-role"},
		"SecretsManagerSecret/myapp-dev-token": {"IAMRole/myapp-dev-app-role"},
		"IAMRole/myapp-dev-app-role":           nil,
	} {
		f.Owned = maps.Clone(all)
		delete(f.Owned, id)
		before, err := capability.CompileAfter(nil, c, f)
		if err != nil {
			t.Fatal(err)
		}
		f.Owned = all
		after, err := capability.CompileAfter(before, c, f)
		if err != nil {
			t.Fatal(err)
		}
		if got := compiledAgain(before.Graph, after.Graph); !slices.Equal(got, want) {
			t.Errorf("once %s is proven, %q are compiled again, want %q", id, got, want)
		}
	}
}

// compiledAgain returns the nodes with other objects than in the graph before.
func compiledAgain(before, after *graph.Graph) (out []string) {
	for _, n := range after.Nodes() {
		if was, _ := before.Node(n.ID); was.Object != n.Object {
			out = append(out, n.ID)
		}
	}
	slices.Sort(out)
	return out
}
