// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

const (
	keyNode  = "KMSKey/myapp-dev-data"
	keyARN   = "arn:aws:kms:eu-central-1:123456789012:key/of-myapp-dev-data"
	otherKey = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
)

// encrypted is a capability with a key and every store that it can encrypt.
func encrypted(edits ...func(*nexusv1.DataServicesSpec)) *nexusv1.NexusAICapability {
	return minimal(withData, func(c *nexusv1.NexusAICapability) {
		d := c.Spec.DataServices
		d.KMS = &nexusv1.KMSSpec{}
		d.Queues = []nexusv1.QueueSpec{{Name: "jobs", DeadLetter: &nexusv1.DeadLetterSpec{}}}
		d.Topics = []nexusv1.TopicSpec{{Name: "news", SubscribeQueues: []nexusv1.QueueName{"jobs"}}, {Name: "quiet"}}
		for _, edit := range edits {
			edit(d)
		}
	})
}

// keys are the keys of the compiled stores by kind; "" stands for a store without one.
func keys(t *testing.T, g *graph.Graph) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for kind, path := range map[string][]string{
		"DynamoDBTable": {"spec", "sse", "kmsKeyID"}, "S3Bucket": {"spec", "encryption", "kmsKeyID"}, "SecretsManagerSecret": {"spec", "kmsKeyId"},
		"SQSQueue": {"spec", "kmsMasterKeyId"}, "SNSTopic": {"spec", "kmsMasterKeyId"},
	} {
		for _, o := range ofKind(g, kind) {
			key, _, err := unstructured.NestedString(o.Object, path...)
			if err != nil {
				t.Fatal(err)
			}
			out[kind] = append(out[kind], key)
		}
		slices.Sort(out[kind])
		out[kind] = slices.Compact(out[kind])
	}
	return out
}

// wantKeys compares the keys of the stores with one for all kinds, except for those that are listed.
func wantKeys(t *testing.T, g *graph.Graph, all string, except map[string]string) {
	t.Helper()
	for kind, got := range keys(t, g) {
		want := all
		if e, ok := except[kind]; ok {
			want = e
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("the keys of %s are %q, want %q", kind, got, want)
		}
	}
}

func TestKey_EncryptsEveryStoreOnceItIsKnown(t *testing.T) {
	g := compile(t, encrypted(), facts())
	wantKeys(t, g, keyARN, nil)
	for _, n := range g.Nodes() {
		if kind := n.Object.GetKind(); keys(t, g)[kind] != nil && !slices.Contains(n.After, graph.Edge{To: keyNode, Need: graph.Ready}) {
			t.Errorf("%s does not wait for the key", n.ID)
		}
	}
	for _, o := range ofKind(g, "SQSQueue") {
		if at(t, o, "spec", "sqsManagedSseEnabled") != nil {
			t.Errorf("%s has two types of encryption", o.GetName())
		}
	}
	f := facts()
	all := everything(t, g, encrypted(), f)
	delete(all, keyNode)
	f.Owned = all
	g = compile(t, encrypted(), f)
	for _, n := range g.Nodes() {
		_, store := keys(t, g)[n.Object.GetKind()]
		if waits := n.Unresolved == keyNode; store && !waits || strings.HasPrefix(n.ID, "KMSKey/") && waits {
			t.Errorf("%s waits for %q while the key is not known", n.ID, n.Unresolved)
		}
	}
	if role := mustJSON(t, object(t, g, "IAMRole/myapp-dev-app-role").Object); strings.Contains(role, "kms:") {
		t.Errorf("the role has rights on a key that is not known: %s", role)
	}
}

// A setting that a person removes returns to its default: a store without a key declares that.
func TestKey_WithoutItEveryStoreSaysSo(t *testing.T) {
	for name, edit := range map[string]func(*nexusv1.DataServicesSpec){
		"absent": func(d *nexusv1.DataServicesSpec) { d.KMS = nil },
		"off":    func(d *nexusv1.DataServicesSpec) { d.KMS.Enabled = new(false) },
	} {
		t.Run(name, func(t *testing.T) {
			g := compile(t, encrypted(edit), facts())
			wantKeys(t, g, "", nil)
			if len(ofKind(g, "KMSKey")) > 0 || strings.Contains(manifests(t, g), "kms:") || strings.Contains(manifests(t, g), "KMS_KEY") {
				t.Error("something of the key is left")
			}
			for _, o := range ofKind(g, "SQSQueue") {
				if at(t, o, "spec", "sqsManagedSseEnabled") != true {
					t.Errorf("%s is not encrypted", o.GetName())
				}
			}
			for _, path := range [][]string{{"SecretsManagerSecret", "kmsKeyId"}, {"SNSTopic", "kmsMasterKeyId"}} {
				for _, o := range ofKind(g, path[0]) {
					if at(t, o, "spec", path[1]) != "" {
						t.Errorf("%s does not take a key away", o.GetName())
					}
				}
			}
		})
	}
}

func TestKey_AStoreWithAnotherKeyKeepsIt(t *testing.T) {
	g := compile(t, encrypted(func(d *nexusv1.DataServicesSpec) { d.S3.KMSKeyArn, d.DynamoDB.KMSKeyArn = otherKey, otherKey }), facts())
	wantKeys(t, g, keyARN, map[string]string{"S3Bucket": otherKey, "DynamoDBTable": otherKey})
	for _, n := range g.Nodes() {
		kind := n.Object.GetKind()
		if (kind == "S3Bucket" || kind == "DynamoDBTable") && slices.ContainsFunc(n.After, func(e graph.Edge) bool { return e.To == keyNode }) {
			t.Errorf("%s waits for a key that it does not use", n.ID)
		}
	}
}

func TestKey_DeclaresEverySetting(t *testing.T) {
	const account = `{"Sid":"Account","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"kms:*","Resource":"*"}`
	for name, tc := range map[string]struct {
		edit     func(*nexusv1.DataServicesSpec)
		rotation bool
		window   int64
		topics   bool
	}{
		"the defaults": {func(*nexusv1.DataServicesSpec) {}, true, 30, true},
		"other settings": {func(d *nexusv1.DataServicesSpec) {
			*d.KMS = nexusv1.KMSSpec{Rotation: new(false), DeletionWindowDays: new(int32(7))}
		}, false, 7, true},
		"no topic that does": {func(d *nexusv1.DataServicesSpec) { d.Topics = d.Topics[1:] }, true, 30, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, compile(t, encrypted(tc.edit), facts()), keyNode)
			spec := at(t, o, "spec").(map[string]any)
			if spec["enableKeyRotation"] != tc.rotation || spec["pendingWindowInDays"] != tc.window || spec["enabled"] != true ||
				!slices.Equal(spec["aliases"].([]any), []any{"alias/myapp-dev-data"}) || spec["deletionPolicy"] != "Delete" {
				t.Errorf("%v", spec)
			}
			policy := spec["keyPolicy"].(string)
			topic := `"Condition":{"ArnEquals":{"aws:SourceArn":"arn:aws:sns:eu-central-1:123456789012:myapp-dev-news"}}`
			if !strings.Contains(policy, account) || strings.Contains(policy, topic) != tc.topics || strings.Contains(policy, "quiet") || strings.Contains(policy, "sns.amazonaws.com") != tc.topics {
				t.Errorf("the key policy is %s", policy)
			}
		})
	}
}

// The role uses the key through the services of the stores only, and the crawler's through its bucket.
func TestKey_RightsOfTheRoles(t *testing.T) {
	g := compile(t, encrypted(), facts())
	for role, want := range map[string]string{
		"myapp-dev-app-role": `dynamodb.eu-central-1.amazonaws.com s3.eu-central-1.amazonaws.com secretsmanager.eu-central-1.amazonaws.com ` +
			`sns.eu-central-1.amazonaws.com sqs.eu-central-1.amazonaws.com`,
		"myapp-dev-glue-role": "s3.eu-central-1.amazonaws.com",
	} {
		found := 0
		for _, p := range policies(t, object(t, g, "IAMRole/"+role)) {
			for _, s := range p.Statement {
				if !slices.ContainsFunc(s.Action, func(a string) bool { return strings.HasPrefix(a, "kms:") }) {
					continue
				}
				found++
				if !slices.Equal(s.Resource, []string{keyARN}) || strings.Join(s.Condition["StringEquals"]["kms:ViaService"], " ") != want {
					t.Errorf("%s: %+v", role, s)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s has %d statements on keys", role, found)
		}
	}
}

// Objects and messages that a dropped key has encrypted stay readable until people give the key up.
func TestKey_ADroppedKeyIsReadWithUntilItIsGone(t *testing.T) {
	declared := encrypted()
	f := facts()
	f.Owned = everything(t, compile(t, declared, f), declared, f)
	dropped := encrypted(func(d *nexusv1.DataServicesSpec) { d.KMS = nil })
	for _, gone := range []bool{false, true} {
		if gone {
			delete(f.Owned, keyNode)
		}
		g := compile(t, dropped, f)
		wantKeys(t, g, "", nil)
		for _, role := range []string{"myapp-dev-app-role", "myapp-dev-glue-role"} {
			text := mustJSON(t, object(t, g, "IAMRole/"+role).Object)
			if strings.Contains(text, keyARN) == gone || strings.Contains(text, "kms:Decrypt") == gone || strings.Contains(text, "kms:GenerateDataKey") {
				t.Errorf("the key is given up: %v; the rights of %s are %s", gone, role, text)
			}
		}
	}
}

func TestKey_TheApplicationFindsIt(t *testing.T) {
	g := compile(t, encrypted(), facts())
	parameters := at(t, object(t, g, "SSMParameterSet/myapp-dev"), "spec", "parameters").(map[string]any)
	if p, ok := parameters["kms/key-arn"].(map[string]any); !ok || p["value"] != keyARN {
		t.Errorf("the parameter is %v", parameters["kms/key-arn"])
	}
	if got := at(t, object(t, g, "ConfigMap/myapp-dev-config"), "data", "NEXUS_KMS_KEY_ARN"); got != keyARN {
		t.Errorf("the setting is %v", got)
	}
}

// The stores go before the key that their data needs, and the provider last.
func TestKey_GoesAfterEveryStore(t *testing.T) {
	place := map[string]int{}
	for i, stage := range capability.DeletionOrder {
		for _, k := range stage.Kinds {
			place[k.Kind] = i
		}
	}
	for kind := range maps.Keys(keys(t, compile(t, encrypted(), facts()))) {
		if place[kind] >= place["KMSKey"] || place["KMSKey"] >= place["AWSProvider"] {
			t.Errorf("%s is deleted at %d, the key at %d and the provider at %d", kind, place[kind], place["KMSKey"], place["AWSProvider"])
		}
	}
}

func TestKey_TheDeletionWindowIsThatOfKMS(t *testing.T) {
	for days, legal := range map[int32]bool{6: false, 7: true, 30: true, 31: false} {
		err := capability.Validate(encrypted(func(d *nexusv1.DataServicesSpec) { d.KMS.DeletionWindowDays = &days }), facts())
		if (err == nil) != legal || err != nil && !strings.Contains(err.Error(), "spec.dataServices.kms.deletionWindowDays") {
			t.Errorf("%d days: %v", days, err)
		}
	}
}

// A key must not be scheduled for deletion while a store is still encrypted with it.
func TestKey_IsPrunedAfterEveryStoreIsWithoutIt(t *testing.T) {
	c := encrypted(func(d *nexusv1.DataServicesSpec) { d.KMS = nil })
	g := compile(t, c, facts())
	o := capability.Observed{Capability: c, Facts: facts(), Graph: g, States: map[string]capability.State{}}
	for _, id := range g.IDs() {
		o.States[id] = capability.State{Applied: true, Ready: true}
	}
	if !o.Prunable("KMSKey") {
		t.Error("the key stays although every store is done")
	}
	for _, n := range g.Nodes() {
		done := o.States[n.ID]
		o.States[n.ID] = capability.State{Applied: true}
		if _, store := keys(t, g)[n.Object.GetKind()]; store == o.Prunable("KMSKey") {
			t.Errorf("the key may be pruned while %s is not done: %v", n.ID, !store)
		}
		o.States[n.ID] = done
	}
}
