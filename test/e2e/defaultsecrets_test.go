// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// secretsIn maps the secrets of a capability in AWS to "live", or to "deleted" for those in their recovery window.
func (b *bed) secretsIn(path string) map[string]string {
	b.Helper()
	list, err := secretsmanager.NewFromConfig(b.admin(homeAccount)).ListSecrets(b.Ctx(),
		&secretsmanager.ListSecretsInput{IncludePlannedDeletion: aws.Bool(true), MaxResults: aws.Int32(100)})
	must(b, list, err)
	out := map[string]string{}
	for _, s := range list.SecretList {
		name, is := strings.CutPrefix(*s.Name, path+"/")
		if !is {
			continue
		}
		if out[name] = "live"; s.DeletedDate != nil {
			out[name] = "deleted"
		}
	}
	return out
}

// readableSecrets are the secrets whose values a role may read.
func (b *bed) readableSecrets(role string) (arns []string) {
	b.Helper()
	for _, s := range b.statements(role) {
		if slices.Contains(s.Action, "secretsmanager:GetSecretValue") {
			arns = append(arns, s.Resource...)
		}
	}
	return arns
}

// A capability of one component without secrets runs with none in AWS. The default secrets come and go by edits, as entries of
// spec.secrets do: those that go are recoverable, and come back with their values.
func TestDefaultSecrets_ComeAndGoByEdits(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("bare")
	c.Spec.Frontend, c.Spec.Backend, c.Spec.DefaultSecrets = nexusv1.FrontendSpec{}, nexusv1.BackendSpec{}, nexusv1.DefaultSecretsNone
	c.Spec.Components = []nexusv1.NamedComponentSpec{{Name: "web", ComponentSpec: nexusv1.ComponentSpec{Image: "registry.example/web:1"}}}
	b.Create(c)
	b.Running(c)
	if said := b.Shows(c, nexusv1.ConditionSecretsPopulated, metav1.ConditionTrue, "Skipped"); said != "the capability has no secrets" {
		t.Errorf("the condition says %q", said)
	}
	becomes := func(what string, want map[string]string) {
		t.Helper()
		b.Running(c)
		b.Eventually(30*time.Second, what, func() error {
			if got := b.secretsIn("bare/dev"); !maps.Equal(got, want) {
				return fmt.Errorf("there are the secrets %v, want %v", got, want)
			}
			return nil
		})
	}
	all := func(state string) map[string]string {
		out := map[string]string{}
		for _, name := range []string{"anthropic", "api-keys", "github", "license", "openai", "wxcc"} {
			out[name] = state
		}
		return out
	}
	rights := func() []string { return b.readableSecrets("bare-dev-app-role") }
	becomes("no secrets", map[string]string{})
	if got := rights(); len(got) > 0 {
		t.Errorf("without secrets the role may read %v", got)
	}

	b.Edit(c, func() { c.Spec.DefaultSecrets = nexusv1.DefaultSecretsAll })
	becomes("the default secrets", all("live"))
	b.Shows(c, nexusv1.ConditionSecretsPopulated, metav1.ConditionFalse, "PlaceholdersEmpty")
	if got := rights(); len(got) != 6 {
		t.Errorf("with the six secrets the role may read %v", got)
	}
	admin := secretsmanager.NewFromConfig(b.admin(homeAccount))
	must(b, 0, failed(admin.PutSecretValue(b.Ctx(),
		&secretsmanager.PutSecretValueInput{SecretId: aws.String("bare/dev/github"), SecretString: aws.String(`{"token":"typed in"}`)})))

	b.Edit(c, func() {
		c.Spec.DefaultSecrets, c.Spec.Secrets = nexusv1.DefaultSecretsNone, []nexusv1.SecretSpec{{Name: "license"}}
	})
	one := all("deleted")
	one["license"] = "live"
	becomes("the listed secret alone", one)
	b.Shows(c, nexusv1.ConditionSecretsPopulated, metav1.ConditionTrue, "Populated")
	if got := rights(); len(got) != 1 || !strings.Contains(got[0], ":secret:bare/dev/license-") {
		t.Errorf("with one secret the role may read %v", got)
	}

	b.Edit(c, func() { c.Spec.DefaultSecrets, c.Spec.Secrets = "", nil })
	becomes("the default secrets again", all("live"))
	value, err := admin.GetSecretValue(b.Ctx(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("bare/dev/github")})
	if must(b, value, err); *value.SecretString != `{"token":"typed in"}` {
		t.Error("the value of a secret that came back is another one")
	}

	b.Edit(c, func() { c.Spec.DeletionPolicy = nexusv1.DeletionRetain })
	b.Running(c)
	b.Edit(c, func() { c.Spec.DefaultSecrets = nexusv1.DefaultSecretsNone })
	b.Running(c)
	b.Eventually(30*time.Second, "the objects of the secrets to go", func() error {
		left := &v1alpha1.SecretsManagerSecretList{}
		if err := b.Client.List(b.Ctx(), left, client.InNamespace(c.Namespace)); err != nil || len(left.Items) > 0 {
			return fmt.Errorf("%d are left: %w", len(left.Items), err)
		}
		return nil
	})
	becomes("what is retained to stay", all("live"))
	b.Shows(c, nexusv1.ConditionSecretsPopulated, metav1.ConditionTrue, "Skipped")
}
