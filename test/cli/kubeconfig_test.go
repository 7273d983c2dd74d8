// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// eksCluster creates a cluster in a region of the emulator until the test ends, and returns its name, ARN and endpoint.
func (x *tool) eksCluster(region string) (name, arn, endpoint string) {
	x.Helper()
	api := eks.NewFromConfig(aws.Config{Region: region, BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	name = strings.ToLower(x.Namespace)
	out, err := api.CreateCluster(x.Ctx(),
		&eks.CreateClusterInput{Name: &name, RoleArn: aws.String("arn:aws:iam::" + account + ":role/cluster"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{}})
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() {
		if _, err := api.DeleteCluster(x.Ctx(), &eks.DeleteClusterInput{Name: &name}); err != nil {
			x.Error(err)
		}
	})
	return name, *out.Cluster.Arn, *out.Cluster.Endpoint
}

// another is a kubeconfig with the entry of another cluster.
const another = `apiVersion: v1
kind: Config
current-context: other
clusters:
- {name: other, cluster: {server: "https://other.example.com", proxy-url: "http://proxy.example.com"}}
users:
- {name: other, user: {token: secret-of-the-other}}
contexts:
- {name: other, context: {cluster: other, user: other, namespace: team}}
`

// on runs nexusctl with a kubeconfig.
func (x *tool) on(file string, args ...string) answer {
	x.Helper()
	return x.runAs([]string{"KUBECONFIG=" + file, "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}, "", args...)
}

func (x *tool) kubeconfigIn(file string) *clientcmdapi.Config {
	x.Helper()
	c, err := clientcmd.LoadFromFile(file)
	if err != nil {
		x.Fatal(err)
	}
	return c
}

func TestKubeconfig_WritesOneEntryAndRefreshesIt(t *testing.T) {
	x := newTool(t)
	name, arn, endpoint := x.eksCluster("ap-southeast-1")
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(another), 0o600); err != nil {
		t.Fatal(err)
	}

	x.wants(x.on(file, "kubeconfig", "--cluster-name", name, "--dry-run"), 0, "Would write context "+arn, endpoint, file)
	if text, _ := os.ReadFile(file); string(text) != another {
		t.Errorf("a dry run wrote %s", text)
	}
	x.wants(x.on(file, "kubeconfig", "--cluster-name", name, "--alias", "dev"), 0, "Wrote context dev")
	c := x.kubeconfigIn(file)
	if c.CurrentContext != "dev" || c.Contexts["dev"].Cluster != arn || c.Clusters[arn].Server != endpoint ||
		len(c.Clusters[arn].CertificateAuthorityData) == 0 {
		t.Errorf("%+v %+v", c.Contexts["dev"], c.Clusters[arn])
	}
	if o := c.AuthInfos["other"]; o == nil || o.Token != "secret-of-the-other" || c.Clusters["other"].ProxyURL == "" ||
		c.Contexts["other"].Namespace != "team" {
		t.Error("the entry of the other cluster changed")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	before, _ := os.ReadFile(file)
	x.wants(x.on(file, "kubeconfig", "--alias", "dev"), 0, "up to date") // the cluster is that of the context
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("a second run changed the file")
	}

	// The cluster was created again: it has another endpoint. A person's own settings stay.
	c.Clusters[arn].Server, c.Clusters[arn].ProxyURL, c.Contexts["dev"].Namespace = "https://gone.example.com",
		"http://proxy.example.com", "mine"
	c.AuthInfos[arn].Exec.Command, c.AuthInfos[arn].Exec.Args = "aws", []string{"eks", "get-token", "--cluster-name", name}
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	x.wants(x.on(file, "kubeconfig", "--alias", "dev", "-o", "json"), 0, `"changed": true`, `"server": "`+endpoint)
	c = x.kubeconfigIn(file)
	if c.Clusters[arn].Server != endpoint || c.Clusters[arn].ProxyURL == "" || c.Contexts["dev"].Namespace != "mine" ||
		c.AuthInfos[arn].Exec.Command != "aws" {
		t.Errorf("%+v %+v %+v", c.Clusters[arn], c.Contexts["dev"], c.AuthInfos[arn].Exec)
	}

	x.wants(x.on(file, "kubeconfig", "--cluster-name", name, "--alias", "other"), 2, "--alias", "of the cluster other")
	x.wants(x.on(file, "kubeconfig", "--cluster-name", name, "--keep-current", "--context", "other"), 0, "Wrote context "+arn)
	if c := x.kubeconfigIn(file); c.CurrentContext != "dev" {
		t.Errorf("the current context is %s", c.CurrentContext)
	}
}

func TestKubeconfig_FindsTheRegionOfItsContext(t *testing.T) {
	x := newTool(t)
	_, arn, endpoint := x.eksCluster("eu-west-1")
	file := filepath.Join(t.TempDir(), "config")
	stale := strings.ReplaceAll(another, "name: other, cluster", "name: \""+arn+"\", cluster")
	stale = strings.ReplaceAll(stale, "cluster: other,", "cluster: \""+arn+"\",")
	if err := os.WriteFile(file, []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	a := x.runAs([]string{"KUBECONFIG=" + file, "AWS_REGION=", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}, "",
		"kubeconfig", "--alias", "other")
	x.wants(a, 0, "Wrote context other", endpoint)
	if c := x.kubeconfigIn(file); c.AuthInfos["other"].Token == "" || c.AuthInfos["other"].Exec != nil {
		t.Error("the person's own token was replaced")
	}
}

func TestKubeconfig_SaysWhatIsMissing(t *testing.T) {
	x := newTool(t)
	file := filepath.Join(t.TempDir(), "config")
	x.wants(x.on(file, "kubeconfig"), 2, "--cluster-name")
	x.wants(x.on(file, "kubeconfig", "--cluster-name", "none"), 4, "no EKS cluster none in ap-southeast-1", "--region")
	x.wants(x.on(file, "kubeconfig", "--cluster-name", "none", "-o", "wide"), 2, "--output")
	x.wants(x.runAs([]string{"KUBECONFIG=" + file}, "", "kubeconfig", "--cluster-name", "none"), 4, "credentials")
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused run left a file behind")
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.wants(x.on(file, "kubeconfig", "--cluster-name", "none"), 4, "reading the kubeconfig")
	x.wants(x.on(file, "token"), 2, "--cluster-name")
	x.wants(x.runAs(nil, "", "token", "--cluster-name", "none"), 4, "credentials")
}

// The program that the kubeconfig names prints a signed question to STS, by which EKS learns who the caller is.
func TestToken_IsASignedQuestionToSTS(t *testing.T) {
	x := newTool(t)
	name, arn, _ := x.eksCluster("ap-southeast-1")
	file := filepath.Join(t.TempDir(), "config")
	x.wants(x.on(file, "kubeconfig", "--cluster-name", name), 0, "Wrote")
	exec := x.kubeconfigIn(file).AuthInfos[arn].Exec
	if exec.Command != "nexusctl" {
		t.Fatalf("%+v", exec)
	}
	mark := x.World.AWS().Mark()
	a := x.on(file, exec.Args...)
	x.wants(a, 0)
	if calls := x.World.AWS().Since(mark); len(calls) > 0 {
		t.Errorf("it called AWS: %v", calls.Labels())
	}
	var credential clientauthv1.ExecCredential
	if err := json.Unmarshal([]byte(a.out), &credential); err != nil || credential.APIVersion != exec.APIVersion || credential.Status == nil {
		t.Fatalf("%v: %s", err, a.out)
	}
	if left := time.Until(credential.Status.ExpirationTimestamp.Time); left < 13*time.Minute || left > 14*time.Minute {
		t.Errorf("it expires in %s", left)
	}
	encoded, ok := strings.CutPrefix(credential.Status.Token, "k8s-aws-v1.")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil {
		t.Fatalf("%v: %s", err, credential.Status.Token)
	}
	signed, err := url.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	q := signed.Query()
	if q.Get("Action") != "GetCallerIdentity" || q.Get("X-Amz-Expires") != "60" ||
		!strings.Contains(q.Get("X-Amz-SignedHeaders"), "x-k8s-aws-id") ||
		!strings.Contains(q.Get("X-Amz-Credential"), "/ap-southeast-1/sts/") || strings.Contains(string(text), name) {
		t.Errorf("%s", text)
	}
	if got := q.Get("X-Amz-Signature"); got != x.signature(signed, name) || got == x.signature(signed, "another") {
		t.Errorf("the signature is not that of a request for the cluster: %s", text)
	}
}

// signature is that of the request to STS that EKS sends for a cluster: it has the header with the cluster's name. The
// emulator accepts any signature, so that it is computed here.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func (x *tool) signature(signed *url.URL, cluster string) string {
	x.Helper()
	q := signed.Query()
	at, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
	if err != nil {
		x.Fatal(err)
	}
	unsigned := *signed
	for _, key := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature"} {
		q.Del(key)
	}
	unsigned.RawQuery = q.Encode()
	request, err := http.NewRequestWithContext(x.Ctx(), http.MethodGet, unsigned.String(), nil)
	if err != nil {
		x.Fatal(err)
	}
	request.Header.Set("x-k8s-aws-id", cluster)
	nothing := sha256.Sum256(nil)
	uri, _, err := v4.NewSigner().PresignHTTP(x.Ctx(), aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "a"}, request,
		hex.EncodeToString(nothing[:]), "sts", "ap-southeast-1", at)
	if err != nil {
		x.Fatal(err)
	}
	again, err := url.Parse(uri)
	if err != nil {
		x.Fatal(err)
	}
	return again.Query().Get("X-Amz-Signature")
}
