// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const handbookRole = "agent-dev-handbook.service"

// roleExists reports whether a role exists in AWS.
func (b *bed) roleExists(name string) bool {
	b.Helper()
	_, err := iam.NewFromConfig(b.admin(homeAccount)).GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: aws.String(name)})
	if _, absent := errors.AsType[*types.NoSuchEntityException](err); err != nil && !absent {
		b.Fatal(err)
	}
	return err == nil
}

// An edit that drops a knowledge base deletes its role after it, and leaves the index and the documents.
func TestKnowledge_AnEditDropsTheRoleAfterTheKnowledgeBase(t *testing.T) {
	extent.Full(t)
	b := newBed(t, aiTypes, aiNamespaces, aiBoundary)
	d := b.controls()
	c := b.agent()
	b.Create(c)
	b.Running(c)
	calls, _ := b.Mark()
	b.Edit(c, func() {
		c.Spec.AI.KnowledgeBases = nil
		c.Spec.Components[1].Access = &[]nexusv1.AccessName{"chat", "safety", "sessions", "knowledge", "tools"}
		c.Annotations = map[string]string{"nexus.ai/delete-data": "agent-dev-handbook"}
	})
	b.Eventually(time.Minute, "the role to be gone", func() error {
		if b.roleExists(handbookRole) {
			return errors.New("it exists")
		}
		return nil
	})
	b.Running(c)
	b.deletedBefore(b.World.AWS().Since(calls), "AWS::Bedrock::KnowledgeBase", handbookRole)
	if left := append(d.Identifiers("AWS::Bedrock::KnowledgeBase"), d.Identifiers("AWS::Bedrock::DataSource")...); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if left := d.Identifiers("AWS::S3Vectors::Index"); len(left) != 1 {
		t.Errorf("the indexes are %v", left)
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}

// While a deletion can be undone, a knowledge base keeps its role, and an undo takes both over.
func TestKnowledge_AnUndoKeepsTheRole(t *testing.T) {
	extent.Full(t)
	b := newBed(t, aiTypes, aiNamespaces, aiBoundary)
	d := b.controls()
	c := b.agent()
	c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: time.Hour}}
	b.Create(c)
	b.Running(c)
	before := d.Identifiers("AWS::Bedrock::KnowledgeBase")
	b.deleteRecoverably(c)
	if !b.roleExists(handbookRole) || b.roleExists(workload(c, "agent").Role) {
		t.Errorf("the service role exists: %v, that of the workloads: %v", b.roleExists(handbookRole), b.roleExists(workload(c, "agent").Role))
	}
	if answer := b.nexusctl("undo", "ncap/"+c.Name, "-n", c.Namespace); answer.Code != 0 {
		t.Fatalf("nexusctl undo ends with %d:\n%s%s", answer.Code, answer.Out, answer.Err)
	}
	next := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}}
	b.Running(next)
	after, sources := d.Identifiers("AWS::Bedrock::KnowledgeBase"), d.Identifiers("AWS::Bedrock::DataSource")
	if strings.Join(after, " ") != strings.Join(before, " ") || len(sources) != 1 || !b.roleExists(handbookRole) {
		t.Errorf("the knowledge bases were %v, and are %v with the sources %v after the undo", before, after, sources)
	}
	b.Edit(next, func() { next.Spec.Deletion.Graceful.Duration = 0 })
	b.Remove(next)
	b.nothingLeft(next.Namespace)
}
