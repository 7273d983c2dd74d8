// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// assistant is a client of nexusctl mcp. It keeps all that was answered.
type assistant struct {
	*tool
	session *mcp.ClientSession
	heard   strings.Builder
}

// assistant starts nexusctl mcp with a kubeconfig, as the configuration of an assistant does.
func (x *tool) assistant(kubeconfig string, args ...string) *assistant {
	x.Helper()
	cmd := exec.Command(x.binary(), append([]string{"mcp", "--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.TempDir(), "AWS_REGION=ap-southeast-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL=" + x.aws.URL(),
		"OPERATOR_NAMESPACE=default", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(x.Ctx(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() {
		if err := session.Close(); err != nil {
			x.Errorf("nexusctl mcp did not end with its input: %v", err)
		}
	})
	return &assistant{tool: x, session: session}
}

// input is that of a tool.
type input map[string]any

// ask calls a tool and returns the texts of its answer.
func (a *assistant) ask(name string, in input) (texts string, failed bool) {
	a.Helper()
	r, err := a.session.CallTool(a.Ctx(), &mcp.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		a.Fatalf("%s: %v", name, err)
	}
	var b strings.Builder
	for _, c := range r.Content {
		text, is := c.(*mcp.TextContent)
		if !is {
			a.Fatalf("%s answers with %T", name, c)
		}
		b.WriteString(text.Text + "\n")
	}
	structured, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.Fatal(err)
	}
	a.heard.WriteString(b.String())
	a.heard.Write(structured)
	return b.String(), r.IsError
}

// answers calls a tool that must not fail, and reads its structured answer.
func (a *assistant) answers(into any, name string, in input) {
	a.Helper()
	r, err := a.session.CallTool(a.Ctx(), &mcp.CallToolParams{Name: name, Arguments: in})
	if err != nil || r.IsError {
		a.Fatalf("%s %v: %v, %+v", name, in, err, r)
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.Fatal(err)
	}
	a.heard.Write(b)
	if err := json.Unmarshal(b, into); err != nil {
		a.Fatalf("%s: %v\n%s", name, err, b)
	}
}

// same expects of a tool the answer that a command prints as JSON.
func (a *assistant) same(name string, in input, stdin string, args ...string) {
	a.Helper()
	var got, want any
	a.answers(&got, name, in)
	ran := a.run(stdin, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(ran.out), &want); err != nil {
		a.Fatalf("%v: %v\n%s%s", args, err, ran.out, ran.err)
	}
	if !reflect.DeepEqual(got, want) {
		a.Errorf("%s answers\n%v\nand nexusctl %s prints\n%v", name, got, strings.Join(args, " "), want)
	}
}

// fails expects a tool to fail with these texts.
func (a *assistant) fails(name string, in input, texts ...string) {
	a.Helper()
	got, failed := a.ask(name, in)
	for _, text := range texts {
		if !failed || !strings.Contains(got, text) {
			a.Errorf("%s %v: failed is %v, and the answer lacks %q:\n%s", name, in, failed, text, got)
		}
	}
}

// writesNothing expects only reads and dry runs of nexusctl in Kubernetes, and only reads in AWS, while do runs.
func (a *assistant) writesNothing(do func()) {
	a.Helper()
	aws, kube := a.Mark()
	do()
	events, err := a.World.Audit().Since(kube, world.AuditFilter{UserAgent: "nexusctl"})
	if err != nil {
		a.Fatal(err)
	}
	if len(events) == 0 {
		a.Error("the audit log has no request of nexusctl")
	}
	for _, e := range events {
		if e.Write() && !strings.Contains(e.URI, "dryRun=All") {
			a.Errorf("nexusctl mcp wrote: %s", e)
		}
	}
	if w := a.ownWrites(aws); len(w) > 0 {
		a.Errorf("nexusctl mcp wrote to AWS: %v", w)
	}
}

func TestMCP_AnswersAsTheCommandsDo(t *testing.T) {
	x := newTool(t)
	x.foreignBucket("mcp-taken")
	common := v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}
	bucket := func(name string) *v1alpha1.S3Bucket {
		return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: x.Namespace},
			Spec: v1alpha1.S3BucketSpec{CommonSpec: common, BucketName: "mcp-" + name}}
	}
	p, free, taken := provider(x.Namespace), bucket("free"), bucket("taken")
	x.Create(p, free, taken)
	x.Ready(p, free)
	x.Shows(taken, "Ready", metav1.ConditionFalse, "Conflict")
	a := x.assistant(x.World.Kubeconfig(), "--namespace="+x.Namespace)
	a.writesNothing(func() {
		in := []string{"-n", x.Namespace}
		a.same("list", nil, "", append([]string{"list"}, in...)...)
		a.same("list", input{"kinds": []string{"s3bucket"}, "ready": false}, "", append([]string{"list", "S3Bucket", "--ready=false"}, in...)...)
		a.same("status", input{"objects": []string{"s3bucket/free", "s3bucket/taken"}}, "",
			append([]string{"status", "s3bucket/free", "s3bucket/taken"}, in...)...)
		a.same("tree", input{"object": "s3bucket/free"}, "", append([]string{"tree", "s3bucket/free"}, in...)...)
		a.same("explain", input{"object": "s3bucket/taken"}, "", append([]string{"explain", "s3bucket/taken"}, in...)...)
		a.same("explain", input{"object": "NX-IAM-001"}, "", "explain", "NX-IAM-001")
		a.same("drift", nil, "", append([]string{"drift"}, in...)...)
		edited := bucket("free")
		edited.Spec.Versioning = &v1alpha1.S3Versioning{Enabled: true}
		m := x.manifest(edited, bucket("more"))
		a.same("plan", input{"manifest": m}, m, append([]string{"plan", "-f", "-"}, in...)...)
		a.same("plan", input{"manifest": m, "skipAWS": true}, m, append([]string{"plan", "-f", "-", "--skip-aws"}, in...)...)
		a.same("validate", input{"manifest": m}, m, append([]string{"validate", "-f", "-"}, in...)...)
		var removed struct{ Items []item }
		if a.answers(&removed, "plan", input{"manifest": x.manifest(free), "delete": true}); len(removed.Items) != 1 ||
			removed.Items[0].Action != "Delete" {
			t.Errorf("%+v", removed)
		}
	})
	var found struct {
		Total   int
		Objects []struct{ Kind, Name, Reason, Message string }
	}
	if a.answers(&found, "list", input{"limit": 1, "allNamespaces": true}); found.Total < 3 || len(found.Objects) != 1 {
		t.Errorf("%+v", found)
	}
	a.answers(&found, "list", input{"ready": false})
	if found.Total != 1 || found.Objects[0].Name != "taken" || found.Objects[0].Reason != "Conflict" ||
		!strings.Contains(found.Objects[0].Message, "(NX-SPEC-005)") {
		t.Errorf("%+v", found)
	}
	a.fails("status", input{"objects": []string{"s3bucket/none"}}, `"none" not found in namespace `+x.Namespace)
	a.fails("tree", input{"object": "--all-namespaces"}, "--all-namespaces")
	a.fails("explain", input{"object": "secret/none"}, "not found")
	a.fails("list", input{"namespace": "nowhere"}, "namespace nowhere does not exist")
	a.fails("list", input{"kinds": []string{"Bucket"}}, `kind: "Bucket" is no kind of Nexus Operator`, "S3Bucket")
	a.fails("plan", input{"manifest": "kind: {"}, "standard input")
	a.fails("plan", input{"manifest": x.manifest(free), "namespace": "default"}, "default", x.Namespace)
	a.fails("plan", input{}, `"manifest"`)
	a.fails("tree", input{"object": "s3bucket/free", "output": "text"}, `"output"`)
	var refused struct{ Items []item }
	if a.answers(&refused, "plan", input{"manifest": strings.Replace(x.manifest(bucket("bad")), "bucketName: mcp-bad", "bucketName: Bad_Name",
		1)}); len(refused.Items) != 1 ||
		refused.Items[0].Problem == nil || !strings.Contains(refused.Items[0].Problem.Field+refused.Items[0].Problem.Message, "spec.bucketName") {
		t.Errorf("%+v", refused)
	}
}

func TestMCP_ReadsWithTheRightsOfItsUser(t *testing.T) {
	x := newTool(t)
	x.Create(provider(x.Namespace))
	x.bind("mcp-viewer", "view", x.Namespace)
	as := func(user string) *assistant {
		config, err := x.World.UserConfig(user)
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/kubeconfig"
		if err := world.WriteKubeconfig(path, config); err != nil {
			t.Fatal(err)
		}
		return x.assistant(path, "--namespace="+x.Namespace)
	}
	viewer := as("mcp-viewer")
	var found struct{ Objects []struct{ Kind, Name string } }
	if viewer.answers(&found, "list", nil); len(found.Objects) != 1 || found.Objects[0].Kind != "AWSProvider" {
		t.Errorf("%+v", found)
	}
	viewer.fails("list", input{"kinds": []string{"AWSProvider"}, "namespace": "kube-system"}, "forbidden", "(NX-CLI-003)")
	viewer.fails("drift", input{"allNamespaces": true}, "forbidden")
	stranger := as("mcp-stranger")
	stranger.fails("list", nil, "listing objects of any kind", "forbidden", "(NX-CLI-003)")
	stranger.fails("status", input{"objects": []string{"awsprovider/aws"}}, "forbidden", "(NX-CLI-003)")
}

func TestMCP_ShowsNoValueOfASecret(t *testing.T) {
	const canary = "canary-5b20ce"
	x := newTool(t)
	x.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "operator-secrets"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator.User}}})
	p := provider(x.Namespace)
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "source", Namespace: x.Namespace},
		StringData: map[string]string{"value": canary, "other": canary + "-other"}}
	stored := &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Name: "stored", Namespace: x.Namespace},
		Spec: v1alpha1.SecretsManagerSecretSpec{
			CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, SecretName: "mcp/stored",
			SecretStringRef: &v1alpha1.SecretKeyReference{Name: "source", Key: "value"}}}
	x.Create(p, source, stored)
	x.Ready(p, stored)
	a := x.assistant(x.World.Kubeconfig(), "--namespace="+x.Namespace)
	edited := stored.DeepCopy()
	edited.Spec.SecretStringRef.Key = "other"
	missing := stored.DeepCopy()
	missing.Spec.SecretStringRef.Key = "no-such-key"
	replaced := "apiVersion: v1\nkind: Secret\nmetadata: {name: source, namespace: " + x.Namespace + "}\nstringData: {value: another}\n"
	a.writesNothing(func() {
		object := input{"object": "secretsmanagersecret/stored"}
		for _, q := range []struct {
			name string
			in   input
		}{
			{"list", nil}, {"list", input{"allNamespaces": true}}, {"status", nil},
			{"status", input{"objects": []string{"secretsmanagersecret/stored"}}}, {"status", input{"objects": []string{"secret/source"}}},
			{"tree", object}, {"explain", object}, {"tree", input{"object": "secret/source"}}, {"drift", nil},
			{"validate", input{"manifest": x.manifest(edited)}},
			{"plan", input{"manifest": x.manifest(edited)}}, {"plan", input{"manifest": x.manifest(missing)}},
			{"plan", input{"manifest": x.manifest(stored), "delete": true}},
			{"plan", input{"manifest": replaced}},
		} {
			a.ask(q.name, q.in)
		}
	})
	heard := a.heard.String()
	if strings.Contains(heard, canary) {
		t.Errorf("an answer has the value of the Secret:\n%s", heard)
	}
	// The answers were about the Secret: the value is compared, and its change is planned.
	for _, want := range []string{"secretsmanager:PutSecretValue", "Secret source has no key no-such-key", `"***"`,
		"is not of a kind of Nexus Operator"} {
		if !strings.Contains(heard, want) {
			t.Errorf("no answer has %q:\n%s", want, heard)
		}
	}
}
