// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// workload returns a component of a capability.
func workload(c *nexusv1.NexusAICapability, name string) capability.Workload {
	all := capability.Workloads(c)
	return all[slices.IndexFunc(all, func(w capability.Workload) bool { return w.Component == name })]
}

// The examples with components run, a component is renamed, added in place of the frontend and removed, and all go without residue.
func TestComponents_RunAreEditedAndGoWithoutResidue(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	for _, path := range []string{"examples/capability-with-components.yaml", "examples/batch-worker.yaml"} {
		c := b.Capability(path)
		b.Create(c)
		b.Running(c)
		if len(c.Status.Components) != len(c.Spec.Components) {
			t.Errorf("%s: status.components %+v", path, c.Status.Components)
		}
		b.Shows(c, nexusv1.ConditionComponentsReady, metav1.ConditionTrue, "Ready")
		b.Shows(c, nexusv1.ConditionFrontendReady, metav1.ConditionTrue, "Skipped")
		for _, w := range capability.Workloads(c) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: w.Deployment}}
			if err := b.Get(d); err != nil || d.Spec.Template.Spec.ServiceAccountName != w.ServiceAccount {
				t.Errorf("%s runs as %s, want %s: %v", d.Name, d.Spec.Template.Spec.ServiceAccountName, w.ServiceAccount, err)
			}
		}
		last := len(c.Spec.Components) - 1
		before, renamed := workload(c, c.Spec.Components[0].Name), workload(c, c.Spec.Components[last].Name)
		b.Edit(c, func() {
			c.Spec.Components[last].Name = "renamed"
			first := c.Spec.Components[0]
			c.Spec.Components = c.Spec.Components[1:]
			c.Spec.Frontend = nexusv1.FrontendSpec{ComponentSpec: first.ComponentSpec}
		})
		b.Running(c)
		for _, gone := range []string{before.Deployment, renamed.Deployment} {
			b.Eventually(time.Minute, gone+" to be gone", func() error {
				if err := b.Get(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: gone}}); !apierrors.IsNotFound(err) {
					return fmt.Errorf("it is there: %v", err)
				}
				return nil
			})
		}
		b.Remove(c)
		b.nothingLeft(c.Namespace)
	}
}

// Under the rules of IAM the pods of each access can use what it names, and nothing else. When an access is narrowed, the role that pods
// had stays until the last of them has ended.
func TestPrivilege_EachAccessReachesWhatItNames(t *testing.T) {
	extent.Full(t)
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	b := &bed{kit.Limited(t, []string{everything})}
	c := b.Capability("examples/capability-with-components.yaml")
	b.Create(c)
	b.Running(c)
	uses := map[string]func(a *app) error{
		"conversations": func(a *app) error {
			return failed(a.dynamodb.Scan(a.Ctx(), &dynamodb.ScanInput{TableName: aws.String("studio-dev-conversations")}))
		},
		"documents": func(a *app) error {
			return failed(a.s3.ListObjectsV2(a.Ctx(),
				&s3.ListObjectsV2Input{Bucket: aws.String("studio-dev-documents-123456789012-ap-southeast-1-an")}))
		},
		"users": func(a *app) error {
			return failed(a.dynamodb.Scan(a.Ctx(), &dynamodb.ScanInput{TableName: aws.String("studio-dev-users")}))
		},
		"openai": func(a *app) error {
			return failed(a.secrets.GetSecretValue(a.Ctx(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("studio/dev/openai")}))
		},
		"mails": func(a *app) error {
			return failed(a.sqs.GetQueueUrl(a.Ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String("studio-dev-mails")}))
		},
	}
	reaches := func(component string, want ...string) {
		a := b.applicationOf(c, workload(c, component).ServiceAccount)
		for name, use := range uses {
			err := use(a)
			if may := slices.Contains(want, name); may != (err == nil) || !may && !awsclient.Is(err, awsclient.Denied) {
				t.Errorf("%s uses %s: %v", component, name, err)
			}
		}
	}
	reaches("api", "conversations", "users", "openai", "mails", "documents")
	reaches("search", "documents")
	reaches("ingest", "documents")
	reaches("chat", "conversations", "openai")
	reaches("admin", "users")
	reaches("mailer", "mails")
	reaches("web")

	old := workload(c, "chat")
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: old.Role}}
	b.withoutKubelets(func() { // the pods of before go on, as no other ones become ready
		b.Edit(c, func() { c.Spec.Components[2].Access = &[]nexusv1.AccessName{"conversations"} })
		b.Eventually(time.Minute, "the capability to wait for the pods of the role", func() error {
			if err := b.Get(c); err != nil {
				return err
			}
			if ready := meta.FindStatusCondition(c.Status.Conditions, "Ready"); ready == nil ||
				!strings.Contains(ready.Message, "which runs with a role that is no longer declared") {
				return fmt.Errorf("phase %s: %s", c.Status.Phase, c.Status.Message)
			}
			return nil
		})
		if err := b.Get(role); err != nil || role.DeletionTimestamp != nil {
			t.Errorf("the role of a running pod: %v, %v", role.DeletionTimestamp, err)
		}
		if err := uses["openai"](b.applicationOf(c, old.ServiceAccount)); err != nil {
			t.Errorf("a pod that runs lost its rights: %v", err)
		}
	})
	b.Running(c)
	b.Eventually(time.Minute, "the role to be gone", func() error {
		if err := b.Get(role); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	})
	reaches("chat", "conversations")
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}
