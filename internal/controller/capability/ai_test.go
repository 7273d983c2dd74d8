// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// withKnowledge declares a vector store of two indexes.
func withKnowledge(c *nexusv1.NexusAICapability) {
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "team"}
	c.Spec.AI = &nexusv1.AISpec{VectorStores: []nexusv1.VectorStoreSpec{{Name: "vectors", Indexes: []nexusv1.VectorIndexSpec{{Name: "text", Dimension: 8}, {Name: "images", Dimension: 16}}}}}
}

// An index that is dropped is held until a person gives its data up, and the message names the field of AI parts.
func TestAI_ADroppedIndexIsHeld(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	c := b.capability(withKnowledge)
	b.run(c)
	index := b.anyResource("vectors-images")
	b.edit(index, func() { index.Finalizers = append(index.Finalizers, holdsData) })
	b.Cleanup(func() {
		if b.person.Get(b.ctx(), client.ObjectKeyFromObject(index), index) == nil {
			index.Finalizers = nil
			_ = b.person.Update(b.ctx(), index)
		}
	})
	b.run(c)
	b.edit(c, func() { c.Spec.AI.VectorStores[0].Indexes = c.Spec.AI.VectorStores[0].Indexes[:1] })
	b.run(c)
	b.read(index)
	status.Summarize(&index.Status.Conditions, status.Result{Generation: index.Generation, Now: b.clock.Now(),
		Err: &status.Stalled{Reason: status.ReasonDataWouldBeLost, Message: "waiting for the data: it may hold data"}})
	if err := b.person.Status().Update(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	_, _ = b.reconcile(c)
	b.read(c)
	if m := b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonDataWouldBeLost); !strings.Contains(m, "spec.ai: AWSResource/"+index.Name) {
		t.Errorf("%s", m)
	}
}

// The API server refuses changes that AWS does not allow, and names a remedy.
func TestAI_WhatCannotChangeIsRefused(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	c := b.capability(withKnowledge, func(c *nexusv1.NexusAICapability) {
		c.Spec.AI.InferenceProfiles = []nexusv1.InferenceProfileSpec{{Name: "chat", ModelID: "amazon.nova-lite-v1:0"}}
		c.Spec.AI.KnowledgeBases = []nexusv1.KnowledgeBaseSpec{{Name: "handbook", Create: nexusv1.KnowledgeBaseCreateSpec{EmbeddingModelID: "amazon.titan-embed-text-v2:0",
			VectorIndex: nexusv1.VectorIndexReference{Store: "vectors", Index: "text"}, Source: nexusv1.KnowledgeSourceSpec{Bucket: "documents"}}}}
	})
	for want, edit := range map[string]func(*nexusv1.AISpec){
		"dimension is immutable":      func(ai *nexusv1.AISpec) { ai.VectorStores[0].Indexes[0].Dimension = 9 },
		"distanceMetric is immutable": func(ai *nexusv1.AISpec) { ai.VectorStores[0].Indexes[0].DistanceMetric = "euclidean" },
		"nonFilterableKeys are immutable": func(ai *nexusv1.AISpec) {
			ai.VectorStores[0].Indexes[0].NonFilterableKeys = []nexusv1.MetadataKey{"text"}
		},
		"modelID is immutable": func(ai *nexusv1.AISpec) { ai.InferenceProfiles[0].ModelID = "amazon.nova-pro-v1:0" },
		"systemProfile is immutable": func(ai *nexusv1.AISpec) {
			ai.InferenceProfiles[0].SystemProfile = "eu.amazon.nova-lite-v1:0"
		},
		"embeddingModelID is immutable": func(ai *nexusv1.AISpec) { ai.KnowledgeBases[0].Create.EmbeddingModelID = "cohere.embed-english-v3" },
		"vectorIndex is immutable":      func(ai *nexusv1.AISpec) { ai.KnowledgeBases[0].Create.VectorIndex.Index = "images" },
	} {
		b.read(c)
		edit(c.Spec.AI)
		if err := b.person.Update(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	b.read(c)
	c.Spec.AI.VectorStores[0].Indexes[0].DistanceMetric = "cosine" // which it is
	c.Spec.AI.KnowledgeBases[0].Create.Source.Prefix = "handbook/"
	if err := b.person.Update(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// The pods apply the former version of a guardrail until they are replaced.
func TestAI_AFormerGuardrailVersionGoesAfterTheRollout(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	c := b.capability(withKnowledge, func(c *nexusv1.NexusAICapability) { c.Spec.AI.Guardrails = []nexusv1.GuardrailSpec{{Name: "safety"}} })
	versions := func() (out []string) {
		list := &v1alpha1.AWSResourceList{}
		if err := b.person.List(t.Context(), list, client.InNamespace(b.ns)); err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Items {
			if r.Spec.TypeName == "AWS::Bedrock::GuardrailVersion" && r.DeletionTimestamp == nil {
				out = append(out, r.Name)
			}
		}
		return out
	}
	b.run(c)
	before := versions()
	b.edit(c, func() { c.Spec.AI.Guardrails[0].Create.ContentFilters = "LOW" })
	b.run(c)
	b.eventually("the former version to go", func() error {
		b.answer()
		_, _ = b.reconcile(c)
		if after := versions(); len(before) != 1 || len(after) != 1 || before[0] == after[0] {
			return errorf(c)
		}
		return nil
	})
}
