// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// application answers for the fake pods of both workloads.
type application struct {
	host   string
	ports  [2]int32 // of backend and frontend
	status atomic.Int32
	asked  atomic.Int32
}

// newApplication listens on an address of this machine other than loopback, which EndpointSlices must not hold.
func newApplication(t testing.TB) *application {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	a := &application{}
	a.status.Store(http.StatusOK)
	for _, address := range addresses {
		if n, ok := address.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			a.host = n.IP.String()
			break
		}
	}
	if a.host == "" {
		t.Fatal("this machine has no IPv4 address besides loopback, at which an application could answer the API server")
	}
	for i := range a.ports {
		l, err := net.Listen("tcp4", a.host+":0")
		if err != nil {
			t.Fatal(err)
		}
		a.ports[i] = int32(l.Addr().(*net.TCPAddr).Port)
		server := &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	return a
}

// ServeHTTP implements http.Handler.
func (a *application) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/health" {
		a.asked.Add(1)
	}
	w.WriteHeader(int(a.status.Load()))
	_, _ = w.Write([]byte("the application's own words"))
}

// answering is a running capability whose pods answer.
func (x *tool) answering() (*nexusv1.NexusAICapability, *application) {
	x.Helper()
	a := newApplication(x)
	c := x.Capability("examples/test-capability.yaml")
	for i, component := range []*nexusv1.ComponentSpec{&c.Spec.Backend.ComponentSpec, &c.Spec.Frontend.ComponentSpec} {
		component.Port, component.Replicas = &a.ports[i], aws.Int32(1)
	}
	x.apply(x.manifest(c))
	x.Running(c)
	x.answerFor(a, c.Namespace)
	return c, a
}

// answerFor gives the pods of a namespace the address of the application.
func (x *tool) answerFor(a *application, namespace string) {
	x.Helper()
	pods := &corev1.PodList{}
	if err := x.Client.List(x.Ctx(), pods, client.InNamespace(namespace)); err != nil {
		x.Fatal(err)
	}
	for i := range pods.Items {
		patch := fmt.Sprintf(`{"status":{"podIP":%q,"podIPs":[{"ip":%q}]}}`, a.host, a.host)
		if err := x.Client.Status().Patch(x.Ctx(), &pods.Items[i], client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			x.Fatal(err)
		}
	}
	x.Eventually(30*time.Second, "the Services to lead to the application", func() error {
		slices := &discoveryv1.EndpointSliceList{}
		if err := x.Client.List(x.Ctx(), slices, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, s := range slices.Items {
			for _, e := range s.Endpoints {
				if e.Addresses[0] != a.host {
					return fmt.Errorf("%s leads to %s", s.Name, e.Addresses[0])
				}
			}
			if len(s.Endpoints) == 0 {
				return errors.New(s.Name + " leads nowhere")
			}
		}
		return nil
	})
}

// verified holds what the tests read of a verification.
type verified struct {
	APIVersion, Kind, Name string
	Checks                 []verifiedCheck
	Summary                struct{ Passed, Warnings, Failed, Skipped int }
}

type verifiedCheck struct {
	Number                               int
	Group, Title, Outcome, Evidence, Fix string
	MissingRight                         bool
}

// of returns the outcomes of a group, each once.
func (v verified) of(group string) []string {
	var out []string
	for _, c := range v.Checks {
		if c.Group == group && !slices.Contains(out, c.Outcome) {
			out = append(out, c.Outcome)
		}
	}
	return out
}

// with returns the check whose title contains a text.
func (v verified) with(t testing.TB, title string) verifiedCheck {
	t.Helper()
	for _, c := range v.Checks {
		if strings.Contains(c.Title, title) {
			return c
		}
	}
	t.Errorf("no check %q in %+v", title, v.Checks)
	return verifiedCheck{}
}

// verify runs the verb and reads its JSON.
func (x *tool) verify(env []string, args ...string) (verified, answer) {
	x.Helper()
	mark := x.World.AWS().Mark()
	a := x.runAs(env, "", append([]string{"verify-capability", "-o", "json"}, args...)...)
	var v verified
	if err := json.Unmarshal([]byte(a.out), &v); err != nil {
		x.Fatalf("exit code %d, %v\n%s\n%s", a.code, err, a.out, a.err)
	}
	if w := x.World.AWS().Since(mark).From(x.aws.Name()).Writes(); len(w) > 0 {
		x.Errorf("verifying wrote to AWS:\n%s", w)
	}
	return v, a
}

// tokens are the beginning of every JSON Web Token, and an access key of a session.
var tokens = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{20}|ASIA[A-Z0-9]{12}`)

func TestVerify_ACapabilityThatIsAsDeclaredPasses(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	c, app := x.answering()
	report := filepath.Join(t.TempDir(), "report.xml")
	a := x.run("", "verify-capability", "-n", c.Namespace, "--junit", report)
	if a.code != 0 || !regexp.MustCompile(`\n\d\d passed, 3 warnings, 0 failed, 1 skipped\n$`).MatchString(a.out) ||
		strings.Count(a.err, "\n") != 1 {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	for _, want := range []string{" 1 PASS  capability ", "S3Bucket/myapp-dev-call-data is in AWS as declared",
		"backend answers its health check", "frontend answers its health check",
		"does not enforce IAM", "PlaceholdersEmpty: ", "CredentialsNotInPods: "} {
		if !strings.Contains(a.out, want) {
			t.Errorf("no %q in\n%s", want, a.out)
		}
	}
	if n := app.asked.Load(); n != 2 {
		t.Errorf("the application was asked %d times for its health, want 2", n)
	}
	junit, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suite struct {
			Tests int `xml:"tests,attr"`
			Cases []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(junit, &suites); err != nil || suites.Suite.Tests != len(suites.Suite.Cases) || suites.Suite.Tests < 25 {
		t.Errorf("%v: %s", err, junit)
	}
	v, a := x.verify(x.admin(), c.Namespace+"/"+c.Name)
	if v.APIVersion != "verify.nexus.ai/v1alpha1" || v.Kind != "Verification" || a.code != 0 || len(v.Checks) != suites.Suite.Tests {
		t.Errorf("exit code %d, %+v", a.code, v)
	}
	if found := tokens.FindString(a.out + string(junit)); found != "" {
		t.Errorf("a token or a key was printed: %s", found)
	}
	yaml := x.run("", "verify", c.Namespace+"/"+c.Name, "-o", "yaml", "--only", "workloads,endpoints")
	if yaml.code != 0 || !strings.Contains(yaml.out, "kind: Verification\n") || strings.Contains(yaml.out, "group: resources") {
		t.Errorf("exit code %d\n%s%s", yaml.code, yaml.out, yaml.err)
	}
}

func TestVerify_DriftAndLossBehindTheBackFail(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.suspendVersioning("myapp-dev-call-data")
	x.loseBucket("myapp-dev-journey-logs")
	v, a := x.verify(x.admin(), "-n", c.Namespace, "--only", "resources")
	if a.code != 1 || v.Summary.Failed != 2 {
		t.Errorf("exit code %d, %+v", a.code, v.Summary)
	}
	if drift := v.with(t, "S3Bucket/myapp-dev-call-data"); drift.Outcome != "FAIL" || !strings.Contains(drift.Evidence, "Versioning") ||
		!strings.Contains(drift.Fix, "nexusctl reconcile s3bucket/myapp-dev-call-data") {
		t.Errorf("%+v", drift)
	}
	if loss := v.with(t, "S3Bucket/myapp-dev-journey-logs"); loss.Outcome != "FAIL" || !strings.Contains(loss.Evidence, "Missing") {
		t.Errorf("%+v", loss)
	}
	fast := x.run("", "verify", "-n", c.Namespace, "--only", "resources,objects", "--fail-fast")
	if fast.code != 1 || strings.Count(fast.out, " FAIL ") != 1 || strings.Contains(fast.out, " objects ") {
		t.Errorf("--fail-fast: exit code %d\n%s", fast.code, fast.out)
	}
}

// iam is a client of an administrator of the account.
func (x *tool) iam() *iam.Client {
	return iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
}

// enforced runs the verb against an AWS that enforces IAM, as a user with every right.
func (x *tool) enforced(args ...string) (verified, answer) {
	x.Helper()
	id, secret, err := x.World.AWS().CreateUser(x.Ctx(), fmt.Sprintf("person-%d", time.Now().UnixNano()),
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)
	if err != nil {
		x.Fatal(err)
	}
	x.World.AWS().EnforceIAM(true)
	defer x.World.AWS().EnforceIAM(false)
	return x.verify([]string{"KUBECONFIG=" + x.World.Kubeconfig(), "AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=" + secret}, args...)
}

func TestVerify_ProvesTheRoleWhereIAMIsEnforced(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.Op.Stop()
	only := []string{"-n", c.Namespace, "--only", "identity"}
	v, a := x.enforced(only...)
	if a.code != 0 || v.Summary.Passed != 8 || v.with(t, "denies iam:ListRoles").Outcome != "PASS" {
		t.Errorf("exit code %d, %+v\n%s", a.code, v, a.err)
	}
	role, policy := aws.String("myapp-dev-app-role"), aws.String("more")
	if _, err := x.iam().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: role, PolicyName: policy,
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:ListRoles","Resource":"*"}]}`)}); err != nil {
		t.Fatal(err)
	}
	v, a = x.enforced(only...)
	if denied := v.with(t, "denies iam:ListRoles"); a.code != 1 || denied.Outcome != "FAIL" ||
		!strings.Contains(denied.Evidence, "may list the roles") {
		t.Errorf("a role that may do more: exit code %d, %+v", a.code, denied)
	}
	if _, err := x.iam().DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: aws.String("app")}); err != nil {
		t.Fatal(err)
	}
	v, a = x.enforced(only...)
	for _, action := range []string{"dynamodb:DescribeTable", "s3:GetBucketLocation", "glue:GetDatabase", "ssm:GetParameter",
		"secretsmanager:DescribeSecret"} {
		if read := v.with(t, "allows "+action); a.code != 1 || read.Outcome != "FAIL" || read.Evidence == "" {
			t.Errorf("a role without its policy: exit code %d, %+v", a.code, read)
		}
	}
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::123456789012:root"}}]}`
	if _, err := x.iam().UpdateAssumeRolePolicy(t.Context(),
		&iam.UpdateAssumeRolePolicyInput{RoleName: role, PolicyDocument: &trust}); err != nil {
		t.Fatal(err)
	}
	v, a = x.verify(x.admin(), only...)
	if assume := v.with(t, "can be assumed with the token"); a.code != 1 || assume.Outcome != "FAIL" ||
		!strings.Contains(assume.Evidence, "AccessDenied") {
		t.Errorf("a role that does not trust the ServiceAccount: exit code %d, %+v", a.code, assume)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-app-sa", Namespace: c.Namespace}}
	x.Edit(account, func() { account.Annotations = nil })
	if v, a = x.verify(x.admin(), only...); a.code != 1 ||
		!strings.Contains(v.with(t, "can be assumed with the token").Evidence, "annotation") {
		t.Errorf("without the annotation: exit code %d, %+v", a.code, v)
	}
	if err := x.Client.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if v, a = x.verify(x.admin(), only...); a.code != 1 || v.with(t, "gets a token").Outcome != "FAIL" {
		t.Errorf("without the ServiceAccount: exit code %d, %+v", a.code, v)
	}
}

// The role of each access allows what the access names, and denies the rest: both are proven for each ServiceAccount.
func TestVerify_ProvesTheRoleOfEachAccess(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/batch-worker.yaml")
	c.Spec.DefaultSecrets = nexusv1.DefaultSecretsAll // more than any access names
	x.apply(x.manifest(c))
	x.Running(c)
	x.Op.Stop()
	only := []string{"-n", c.Namespace, "--only", "identity"}
	v, a := x.enforced(only...)
	count := func(part, outcome string) (n int) {
		for _, check := range v.Checks {
			if strings.Contains(check.Title, part) && check.Outcome == outcome {
				n++
			}
		}
		return n
	}
	for title, want := range map[string]int{"gets a token for AWS": 2, "allows s3:GetBucketLocation on bucket batch-dev-results": 2,
		"allows secretsmanager:DescribeSecret on secret batch/dev/anthropic": 1, "denies secretsmanager:DescribeSecret": 2,
		"denies iam:ListRoles": 2} {
		if got := count(title, "PASS"); got != want {
			t.Errorf("%d checks %q pass, want %d: %+v", got, title, want, v.Checks)
		}
	}
	if a.code != 0 || v.Summary.Failed != 0 {
		t.Errorf("exit code %d, %+v\n%s", a.code, v, a.err)
	}
	for _, role := range capability.Roles(c) {
		if _, err := x.iam().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: &role, PolicyName: aws.String("more"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"secretsmanager:DescribeSecret","Resource":"*"}]}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if v, a = x.enforced(only...); a.code != 1 || count("denies secretsmanager:DescribeSecret", "FAIL") != 2 ||
		count("denies iam:ListRoles", "PASS") != 2 {
		t.Errorf("roles that may read each secret: exit code %d, %+v", a.code, v.Checks)
	}
}

func TestVerify_EveryCheckOfTheClusterCanFail(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c, app := x.answering()
	x.Op.Stop() // or it would heal what the test breaks
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: c.Namespace} }
	// fails wants that a check of a group fails, and says what.
	fails := func(group, title, evidence string) {
		t.Helper()
		v, a := x.verify(x.admin(), "-n", c.Namespace, "--only", group)
		if got := v.with(t, title); a.code != 1 || got.Outcome != "FAIL" || !strings.Contains(got.Evidence, evidence) || got.Fix == "" {
			t.Errorf("%s: exit code %d, %+v", group, a.code, got)
		}
	}
	app.status.Store(http.StatusServiceUnavailable)
	v, _ := x.verify(x.admin(), "-n", c.Namespace, "--only", "health")
	if got := v.with(t, "backend answers"); got.Outcome != "SKIP" || !strings.Contains(got.Evidence, "kwok") { // on a real node it fails
		t.Errorf("%+v", got)
	}
	if a := x.run("", "verify", "-n", c.Namespace, "--only", "health"); strings.Contains(a.out, "own words") {
		t.Errorf("the application's answer was printed:\n%s", a.out)
	}
	app.status.Store(http.StatusOK)

	bucket := &v1alpha1.S3Bucket{ObjectMeta: meta("myapp-dev-call-data")}
	x.Edit(bucket, func() { bucket.Spec.Versioning.Enabled = false })
	fails("objects", "objects of AWS resources are Ready", "S3Bucket/myapp-dev-call-data: the operator has not seen its last edit")
	fails("resources", "S3Bucket/myapp-dev-call-data is in AWS as declared", "spec.versioning.enabled: false, declared is true")

	back := &appsv1.Deployment{ObjectMeta: meta("myapp-dev-backend")}
	x.Edit(back, func() { back.Spec.Template.Spec.Containers[0].Image = "app:ImagePullBackOff" })
	fails("workloads", "the pods of Deployment/myapp-dev-backend", "of 1 available")
	fails("resources", "Kubernetes objects are as declared", "Deployment myapp-dev/myapp-dev-backend: update spec.template.spec.containers")
	x.Edit(back, func() { back.Spec.Replicas = aws.Int32(0) })
	x.Eventually(30*time.Second, "the Service to lead nowhere", func() error {
		v, _ := x.verify(x.admin(), "-n", c.Namespace, "--only", "endpoints")
		if got := v.with(t, "Service/myapp-dev-backend-svc-internal has"); got.Outcome != "FAIL" {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	fails("endpoints", "Service/myapp-dev-backend-svc has", "0 of 0 endpoints")
	fails("health", "backend answers", "the API server reaches no pod")

	in := &networkingv1.Ingress{ObjectMeta: meta("myapp-dev-app-ingress")}
	x.Edit(in, func() { in.Spec.IngressClassName = aws.String("other") })
	if err := x.Client.Status().Patch(t.Context(), in,
		client.RawPatch("application/merge-patch+json", []byte(`{"status":{"loadBalancer":null}}`))); err != nil {
		t.Fatal(err)
	}
	fails("address", "Ingress/myapp-dev-app-ingress", "status.loadBalancer is empty")

	for _, o := range []client.Object{in, &corev1.Service{ObjectMeta: meta("myapp-dev-frontend-svc")},
		&appsv1.Deployment{ObjectMeta: meta("myapp-dev-frontend")}} {
		if err := x.Client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	fails("address", "Ingress/myapp-dev-app-ingress", "does not exist")
	fails("endpoints", "Service/myapp-dev-frontend-svc", "does not exist")
	fails("workloads", "Deployment/myapp-dev-frontend", "does not exist")
	fails("health", "frontend answers", "does not exist")

	x.Edit(c, func() { c.Spec.Version = "2.0.0" })
	fails("capability", "is Running at generation 2", "has not processed generation 2")
}

func TestVerify_TellsOfPoliciesThatAreNotInForce(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	intent := func(name, id string, params intentv1alpha1.Params) *intentv1alpha1.SecurityIntent {
		return &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: intentv1alpha1.SecurityIntentSpec{
			Intent: intentv1alpha1.Intent{ID: id, Action: "Block", Params: params}}}
	}
	dns, host := intent("verified-dns", "dnsManipulation", intentv1alpha1.Params{"otherEgress": {"allow"}}),
		intent("verified-host", "escapeToHost", nil)
	for _, o := range []client.Object{dns, host} {
		if err := x.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Remove(o) })
	}
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: dns.Name}}}
	x.apply(x.manifest(c))
	x.Running(c)
	only := []string{"-n", c.Namespace, "--only", "policies,capability"}
	v, a := x.verify(x.admin(), only...)
	if a.code != 0 || v.with(t, "1 security intents are in force").Outcome != "PASS" ||
		v.with(t, "intent dnsManipulation is enforced").Outcome != "PASS" {
		t.Errorf("in force: exit code %d, %+v", a.code, v)
	}
	x.Edit(c, func() {
		c.Spec.Security.Intents = append(c.Spec.Security.Intents, nexusv1.IntentReference{Name: host.Name},
			nexusv1.IntentReference{Name: "of-no-name"})
	})
	x.Eventually(60*time.Second, "the operator to report the policies", func() error {
		got, err := x.Condition(c, nexusv1.ConditionPoliciesReady)
		if err == nil && (got.Status != metav1.ConditionFalse || got.ObservedGeneration != c.Generation || len(c.Status.Coverage) < 2) {
			err = fmt.Errorf("%+v", got)
		}
		return err
	})
	v, a = x.verify(x.admin(), "-n", c.Namespace, "--only", "policies") // with the check of the capability, they follow from it
	if got := v.with(t, "3 security intents are in force"); a.code != 1 || got.Outcome != "FAIL" || got.Evidence == "" {
		t.Errorf("not in force: exit code %d, %+v", a.code, got)
	}
	if got := v.with(t, "intent escapeToHost is enforced"); got.Outcome != "FAIL" || !strings.Contains(got.Evidence, ": None") {
		t.Errorf("without an engine: %+v", got)
	}
}

func TestVerify_AMissingRightIsNeverAPass(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	if a := x.runAs(x.withoutRights(), "", "verify", c.Namespace+"/"+c.Name); a.code != 4 || a.out != "" ||
		!strings.Contains(a.err, `"nobody" cannot get resource "nexuscapabilities"`) {
		t.Errorf("nobody: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.rights("reader", c.Namespace, rule("get,list", nexusv1.GroupVersion.Group, "nexuscapabilities"),
		rule("get", "", "serviceaccounts", "services"), rule("get", "apps", "deployments"))
	reader := append(x.admin(), "KUBECONFIG="+x.kubeconfigOf("reader"))
	v, a := x.verify(reader, "-n", c.Namespace)
	if a.code != 4 || v.Summary.Failed != 0 || !strings.Contains(a.err, "want of a right") {
		t.Errorf("exit code %d, %+v\n%s", a.code, v, a.err)
	}
	for group, right := range map[string]string{"resources": `cannot get resource "namespaces"`,
		"objects": `cannot list resource "awsproviders"`, "endpoints": `cannot list resource "endpointslices"`,
		"health": "cannot get resource", "address": `cannot get resource "ingresses"`,
		"identity": `cannot create resource "serviceaccounts/token"`} {
		var said []string
		for _, got := range v.Checks {
			if got.Group != group {
				continue
			}
			if got.MissingRight && got.Outcome == "SKIP" {
				said = append(said, got.Evidence)
			}
		}
		if len(said) == 0 || !strings.Contains(said[0], right) {
			t.Errorf("%s: %q, want %q: %+v", group, said, right, v.of(group))
		}
	}
	v, a = x.verify([]string{"KUBECONFIG=" + x.World.Kubeconfig()}, "-n", c.Namespace, "--only", "resources")
	if a.code != 4 || v.Summary.Passed != 0 || !slices.Equal(v.of("resources"), []string{"SKIP"}) {
		t.Errorf("without AWS credentials: exit code %d, %+v", a.code, v)
	}
	x.World.AWS().Fault(emulator.Match{Service: "dynamodb", Endpoint: x.aws.Name()},
		emulator.Fail(400, "AccessDeniedException", "User is not authorized to perform: dynamodb:DescribeTable"))
	v, a = x.verify(x.admin(), "-n", c.Namespace, "--only", "resources")
	if got := v.with(t, "DynamoDBTable/myapp-dev-license"); a.code != 4 || got.Outcome != "SKIP" || !got.MissingRight ||
		!strings.Contains(got.Evidence, "dynamodb:DescribeTable") {
		t.Errorf("without a right in AWS: exit code %d, %+v", a.code, got)
	}
}

func TestVerify_EndsInTimeOrWhenInterrupted(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.World.AWS().Fault(emulator.Match{Service: "s3", Endpoint: x.aws.Name()}, emulator.Hang())
	a := x.run("", "verify", "-n", c.Namespace, "--only", "capability,resources", "--timeout", "3s")
	if a.code != 124 || !strings.Contains(a.out, " 1 PASS  capability") || !strings.Contains(a.out, "--timeout=3s is over") ||
		!strings.Contains(a.out, "1 failed") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	s := x.begin(x.admin(), "verify", "-n", c.Namespace)
	s.shows("DynamoDBTable/")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if a := s.ends(); a.code != 130 || !strings.Contains(a.err, "has changed nothing") || !strings.Contains(a.out, " passed, ") {
		t.Errorf("interrupted: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}
