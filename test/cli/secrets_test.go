// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func (x *tool) secretsManager() *secretsmanager.Client {
	return secretsmanager.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
}

// secretValues reads a secret past nexusctl.
func (x *tool) secretValues(name string) map[string]string {
	x.Helper()
	found, err := x.secretsManager().GetSecretValue(x.Ctx(), &secretsmanager.GetSecretValueInput{SecretId: &name})
	if err != nil {
		x.Fatal(err)
	}
	out := map[string]string{}
	if err := json.Unmarshal([]byte(aws.ToString(found.SecretString)), &out); err != nil {
		x.Fatal(err)
	}
	return out
}

func TestSecrets_AreFilledInAndNeverShown(t *testing.T) {
	const value = "never-to-be-shown"
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	in := []string{"-n", c.Namespace}
	x.wants(x.run("", append([]string{"secrets", "status", "--exit-code"}, in...)...), 1, "myapp-dev-openai myapp/dev/openai False apiKey",
		"myapp-dev-wxcc myapp/dev/wxcc False clientId,clientSecret,refreshToken")
	x.wants(x.as("stranger", append([]string{"secrets", "status"}, in...)...), 4, `cannot list resource "secretsmanagersecrets"`)

	before := x.secretValues("myapp/dev/wxcc")
	set := append([]string{"secrets", "set", "awssecret/myapp-dev-wxcc"}, in...)
	x.wants(x.run(value, append(set, "--from-file", "clientId=-", "--dry-run")...), 0, "set clientId (dry run)")
	if got := x.secretValues("myapp/dev/wxcc"); got["clientId"] != "" {
		t.Errorf("a dry run put %q", got)
	}
	file := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(file, []byte(value+"-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := x.run(value+"\n", append(set, "--from-file", "clientId=-", "--from-file", "clientSecret="+file)...)
	x.wants(a, 0, "SecretsManagerSecret myapp-dev/myapp-dev-wxcc: set clientId, clientSecret", "still empty: refreshToken")
	if strings.Contains(a.out+a.err, value) {
		t.Errorf("a value is shown:\n%s%s", a.out, a.err)
	}
	got := x.secretValues("myapp/dev/wxcc")
	if got["clientId"] != value || got["clientSecret"] != value+"-2" || got["webhookSecret"] == "" ||
		got["webhookSecret"] != before["webhookSecret"] {
		t.Errorf("the secret has %q, before %q", got, before)
	}
	x.Eventually(20*time.Second, "the status to show the values without a request", func() error {
		if a := x.run("", append([]string{"secrets", "status"},
			in...)...); !regexp.MustCompile(`myapp-dev-wxcc\s+myapp/dev/wxcc\s+True`).MatchString(a.out) {
			return errors.New(a.out)
		}
		return nil
	})

	const large = `"large": 12345678901234567890`
	if _, err := x.secretsManager().PutSecretValue(x.Ctx(),
		&secretsmanager.PutSecretValueInput{SecretId: aws.String("myapp/dev/wxcc"), SecretString: aws.String("{" + large + "}")}); err != nil {
		t.Fatal(err)
	}
	x.wants(x.run(value, append(set, "--from-file", "clientId=-")...), 0, "set clientId")
	found, err := x.secretsManager().GetSecretValue(x.Ctx(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("myapp/dev/wxcc")})
	if err != nil || !strings.Contains(*found.SecretString, strings.ReplaceAll(large, " ", "")) {
		t.Errorf("a number that people put is %q now, %v", aws.ToString(found.SecretString), err)
	}

	x.wants(x.run(value, append(set, "--from-file", "webhookSecret=-")...), 2,
		"has no key webhookSecret to fill in; it has: clientId, clientSecret, refreshToken")
	x.wants(x.run("\n", append(set, "--from-file", "refreshToken=-")...), 2, "the value of refreshToken is empty")
	x.wants(x.run("", append(set, "--from-file", "refreshToken=nowhere.txt")...), 2, "nowhere.txt")
	x.wants(x.run(value, append([]string{"secrets", "set", "s3bucket/myapp-dev-call-data", "--from-file", "a=-"}, in...)...), 2,
		"is no SecretsManagerSecret")
	x.wants(x.runAs([]string{"KUBECONFIG=" + x.World.Kubeconfig()}, value, append(set, "--from-file", "refreshToken=-")...), 4, "AWS")
}

func TestSecrets_WritesNothingWithoutARightOrOwnership(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	set := []string{"secrets", "set", "awssecret/myapp-dev-openai", "-n", c.Namespace, "--from-file", "apiKey=-"}
	x.World.AWS().Fault(emulator.Match{Service: "secretsmanager", Op: "PutSecretValue"}, emulator.Fail(400, "AccessDeniedException",
		"User: arn:aws:iam::123456789012:user/dev is not authorized to perform: secretsmanager:PutSecretValue"))
	x.wants(x.run("value", set...), 4, "secretsmanager:PutSecretValue")
	x.World.AWS().ClearFaults()
	name := "myapp/dev/openai"
	x.Outside(func(ctx context.Context) error {
		_, err := x.secretsManager().UntagResource(ctx,
			&secretsmanager.UntagResourceInput{SecretId: &name, TagKeys: []string{"nexus.ai/owner-uid"}})
		return err
	})
	x.wants(x.run("value", set...), 1, "does not carry the owner tags")
	if got := x.secretValues(name); got["apiKey"] != "" {
		t.Errorf("something was written: %q", got)
	}
}
